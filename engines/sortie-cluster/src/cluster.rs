//! The processes of a cluster.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use ballista_core::RuntimeProducer;
use ballista_core::config::TaskSchedulingPolicy;
use ballista_core::extension::{
    ballista_aggregate_functions, ballista_scalar_functions, ballista_window_functions,
};
use ballista_executor::executor_process::{ExecutorProcessConfig, start_executor_process};
use ballista_scheduler::cluster::BallistaCluster;
use ballista_scheduler::config::SchedulerConfig;
use ballista_scheduler::scheduler_process::{create_scheduler, start_grpc_service_with_listener};
use datafusion::common::exec_err;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::execution::{SessionState, SessionStateBuilder};
use datafusion::prelude::SessionConfig;
use datafusion_proto::protobuf::{LogicalPlanNode, PhysicalPlanNode};
use log::info;
use sortie_ballista::{InexactFloats, MESSAGE_BYTES, SortieCodec, SortieEngine, Stores};
use tokio::net::{TcpListener, TcpStream};

use crate::cli::{ExecutorOptions, Resources, SchedulerOptions};
use crate::work_folder::WorkFolder;

/// Executors ask for tasks. Where the scheduler hands them out, Ballista 55 forgets that an executor is free when it takes back
/// the task of a stage whose input was lost, and a job then waits for ever.
const POLICY: TaskSchedulingPolicy = TaskSchedulingPolicy::PullStaged;

/// Runs a scheduler until the process ends.
pub async fn run_scheduler(options: SchedulerOptions) -> Result<()> {
    let listener = TcpListener::bind(options.bind)
        .await
        .map_err(|error| DataFusionError::from(error).context(format!("listening on {}", options.bind)))?;
    println!("listening on {}", listener.local_addr()?);
    serve_scheduler(listener, options.executor_timeout).await
}

/// Runs a scheduler on a socket that listens already.
pub async fn serve_scheduler(listener: TcpListener, executor_timeout: u64) -> Result<()> {
    let address = listener.local_addr()?;
    let config = SchedulerConfig {
        bind_host: address.ip().to_string(),
        bind_port: address.port(),
        external_host: address.ip().to_string(),
        scheduling_policy: POLICY,
        grpc_server_max_decoding_message_size: MESSAGE_BYTES as u32,
        grpc_server_max_encoding_message_size: MESSAGE_BYTES as u32,
        grpc_client_max_message_size: MESSAGE_BYTES as u32,
        executor_timeout_seconds: executor_timeout,
        expire_dead_executor_interval_seconds: executor_timeout.div_ceil(4).max(1),
        override_session_builder: Some(Arc::new(session)),
        override_physical_codec: Some(Arc::new(SortieCodec::default())),
        ..SchedulerConfig::default()
    };
    let cluster = BallistaCluster::new_from_config(&config).await.map_err(external)?;
    let scheduler = create_scheduler::<LogicalPlanNode, PhysicalPlanNode>(cluster, Arc::new(config));
    start_grpc_service_with_listener(listener, scheduler.await.map_err(external)?).await.map_err(external)
}

/// A session that has Ballista's functions and reads from all stores.
pub fn session(config: SessionConfig) -> Result<SessionState> {
    state(config, RuntimeEnvBuilder::new())
}

/// The same with limits.
pub fn state(config: SessionConfig, limits: RuntimeEnvBuilder) -> Result<SessionState> {
    let runtime = limits.with_object_store_registry(Arc::new(Stores::default()));
    Ok(SessionStateBuilder::new()
        .with_config(config)
        .with_runtime_env(runtime.build_arc()?)
        .with_default_features()
        .with_scalar_functions(ballista_scalar_functions())
        .with_aggregate_functions(ballista_aggregate_functions())
        .with_window_functions(ballista_window_functions())
        .with_physical_optimizer_rule(Arc::new(InexactFloats))
        .build())
}

/// Runs an executor until the process is told to end. It keeps rows in the folder.
pub async fn run_executor(options: ExecutorOptions, rows: &Path) -> Result<()> {
    if options.bind.is_unspecified() && options.host.is_none() {
        return exec_err!(
            "--bind {} needs --host, the name by which other executors reach this one",
            options.bind
        );
    }
    wait_for(&host_and_port(&options.scheduler)?).await?;
    serve_executor(options, rows).await
}

/// The folder for the rows of an executor, which is deleted at the end: Ballista would leave the rows of the last jobs.
pub fn work_folder(resources: &Resources) -> Result<WorkFolder> {
    WorkFolder::new(resources.work_dir.as_deref().unwrap_or(&std::env::temp_dir()))
}

/// How many tasks run at once in this process.
pub fn tasks_at_once(resources: &Resources) -> Result<usize> {
    match resources.tasks {
        Some(tasks) => Ok(tasks.into()),
        None => Ok(thread::available_parallelism()?.get()),
    }
}

/// Memory of a process that no pool counts.
const PROCESS_MEMORY: u64 = 64 << 20;
/// Memory of a task that no pool counts: pages of Parquet that it decodes and encodes, and rows on their way.
const TASK_MEMORY: u64 = 96 << 20;

/// How many bytes the memory pools of all tasks get, of the memory that is given to the process.
pub fn pooled_memory(resources: &Resources) -> Result<Option<u64>> {
    let Some(memory) = resources.memory.map(|mib| mib << 20) else { return Ok(None) };
    let others = PROCESS_MEMORY + TASK_MEMORY * tasks_at_once(resources)? as u64;
    Ok(Some(memory - others.min(memory / 2)))
}

/// Runs an executor of a scheduler that accepts connections. It keeps rows in the folder.
pub async fn serve_executor(options: ExecutorOptions, work: &Path) -> Result<()> {
    let ExecutorOptions { scheduler, bind, host, port, resources } = options;
    let scheduler = host_and_port(&scheduler)?;
    let folder = work.to_string_lossy().into_owned();
    let spills = folder.clone();
    let runtime: RuntimeProducer = Arc::new(move |_| {
        RuntimeEnvBuilder::new()
            .with_object_store_registry(Arc::new(Stores::default()))
            .with_temp_file_path(&spills)
            .build_arc()
    });
    let port = or_free(port, bind).await?;
    info!("executor: {}", SocketAddr::new(bind, port));
    let config = ExecutorProcessConfig {
        bind_host: bind.to_string(),
        external_host: Some(host.unwrap_or_else(|| bind.to_string())),
        port,
        scheduler_host: scheduler.0,
        scheduler_port: scheduler.1,
        task_scheduling_policy: POLICY,
        vcores: resources.tasks.unwrap_or(0).into(),
        memory_pool_size: pooled_memory(&resources)?,
        grpc_max_decoding_message_size: MESSAGE_BYTES as u32,
        grpc_max_encoding_message_size: MESSAGE_BYTES as u32,
        work_dir: Some(folder),
        override_execution_engine: Some(Arc::new(SortieEngine::new())),
        override_runtime_producer: Some(runtime),
        override_physical_codec: Some(Arc::new(SortieCodec::default())),
        ..Default::default()
    };
    start_executor_process(Arc::new(config)).await.map_err(external)
}

/// How long an executor waits for its scheduler to start.
const CONNECT_TIME: Duration = Duration::from_secs(30);

/// Waits until a scheduler accepts connections.
async fn wait_for((host, port): &(String, u16)) -> Result<()> {
    let start = Instant::now();
    while let Err(error) = TcpStream::connect(format!("{host}:{port}")).await {
        if start.elapsed() > CONNECT_TIME {
            return Err(no_scheduler(&format!("{host}:{port}"), error));
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    Ok(())
}

/// Fails unless something listens at the address.
pub async fn ensure_scheduler(address: &str) -> Result<()> {
    host_and_port(address)?;
    TcpStream::connect(address).await.map_err(|error| no_scheduler(address, error))?;
    Ok(())
}

fn no_scheduler(address: &str, error: std::io::Error) -> DataFusionError {
    let advice = format!("there is no scheduler at {address}; `sortie-cluster scheduler` starts one");
    DataFusionError::from(error).context(advice)
}

/// The host, which has brackets if it is an address of IPv6, and the port.
fn host_and_port(address: &str) -> Result<(String, u16)> {
    let parts = address.rsplit_once(':').and_then(|(host, port)| Some((host.to_owned(), port.parse().ok()?)));
    parts.ok_or_else(|| {
        DataFusionError::Configuration(format!(
            "`{address}` is not an address; write HOST:PORT, as in localhost:50050"
        ))
    })
}

/// The port, or else one that nobody listens on.
async fn or_free(port: Option<u16>, bind: std::net::IpAddr) -> Result<u16> {
    match port {
        Some(port) => Ok(port),
        None => Ok(TcpListener::bind((bind, 0)).await?.local_addr()?.port()),
    }
}

pub fn external(error: impl std::error::Error + Send + Sync + 'static) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}
