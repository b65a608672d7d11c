//! [`Cluster`]: runs plans on a Ballista cluster.
//!
//! Ballista's function for it, `execute_physical_plan`, does not tell the job's name, without which a job cannot be cancelled.

use std::sync::{Arc, Mutex, PoisonError};

use ballista_core::client::BallistaClient;
use ballista_core::config::{BALLISTA_SCHEDULER_MAX_PARTITIONS_PER_TASK, BallistaConfig};
use ballista_core::error::BallistaError;
use ballista_core::extension::SessionConfigExt;
use ballista_core::serde::protobuf::execute_query_params::Query;
use ballista_core::serde::protobuf::job_status::Status;
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_core::serde::protobuf::{
    CancelJobParams, ExecuteQueryParams, GetJobStatusResult, KeyValuePair, PartitionLocation,
};
use ballista_core::utils::{GrpcClientConfig, create_grpc_client_endpoint};
use ballista_core::version;
use datafusion::arrow::array::RecordBatch;
use datafusion::common::{DataFusionError, Result, exec_datafusion_err, exec_err};
use datafusion::physical_plan::{ExecutionPlan, common};
use datafusion::prelude::SessionConfig;
use datafusion_proto::physical_plan::AsExecutionPlan;
use datafusion_proto::protobuf::PhysicalPlanNode;
use tonic::Request;
use tonic::transport::Channel;

use crate::SortieCodec;

/// A cluster, and the job of ours that runs there.
pub(crate) struct Cluster {
    /// As in `http://localhost:50050`.
    scheduler: String,
    running: Mutex<Option<String>>,
}

impl Cluster {
    pub(crate) fn new(scheduler: String) -> Cluster {
        Cluster { scheduler, running: Mutex::new(None) }
    }

    /// Runs a plan, and returns the rows of all its partitions. One plan at a time.
    ///
    /// An executor keeps the rows of its tasks. If it ends after the job has finished, before its rows are fetched, the plan runs
    /// again, once: the scheduler repeats only the tasks of jobs that have not finished.
    pub(crate) async fn run(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        config: &SessionConfig,
    ) -> Result<Vec<RecordBatch>> {
        let plan = PhysicalPlanNode::try_from_physical_plan(plan, &SortieCodec::default())?;
        let mut bytes = Vec::new();
        plan.try_encode(&mut bytes)?;
        let network = config.ballista_config();
        match fetch(self.run_job(bytes.clone(), config).await?, &network).await {
            Ok(rows) => Ok(rows),
            Err(_) => fetch(self.run_job(bytes, config).await?, &network).await,
        }
    }

    /// Runs an encoded plan, and returns where the rows of its partitions are.
    async fn run_job(&self, plan: Vec<u8>, config: &SessionConfig) -> Result<Vec<PartitionLocation>> {
        // Rows draw their ranges by their place in a partition. Partitions in one task would share their files in any order.
        let config = config.clone().set_str(BALLISTA_SCHEDULER_MAX_PARTITIONS_PER_TASK, "1");
        let settings = config.options().entries().into_iter();
        let mut request = Request::new(ExecuteQueryParams {
            query: Some(Query::PhysicalPlan(plan)),
            settings: settings.map(|entry| KeyValuePair { key: entry.key, value: entry.value }).collect(),
            session_id: uuid::Uuid::new_v4().to_string(),
            operation_id: uuid::Uuid::new_v4().to_string(),
        });
        version::insert_version_header(request.metadata_mut());

        let mut scheduler = connect(&self.scheduler, &config.ballista_config()).await?;
        let mut states = scheduler.execute_query_push(request).await.map_err(|e| self.lost(e))?.into_inner();
        while let Some(state) = states.message().await.map_err(|e| self.lost(e))? {
            if let Some(partitions) = self.finished(state)? {
                return Ok(partitions);
            }
        }
        exec_err!("the scheduler at {} has ended", self.scheduler)
    }

    /// Stops what runs.
    pub(crate) async fn cancel(&self) -> Result<()> {
        let Some(job_id) = self.job().take() else { return Ok(()) };
        cancel_job(&self.scheduler, job_id).await
    }

    fn job(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the results are if the job has finished.
    fn finished(&self, state: GetJobStatusResult) -> Result<Option<Vec<PartitionLocation>>> {
        let Some(job) = state.status else { return Ok(None) };
        match job.status {
            Some(Status::Failed(failed)) => {
                self.job().take();
                exec_err!("the job failed on the cluster: {}", failed.error)
            }
            Some(Status::Successful(done)) => {
                self.job().take();
                Ok(Some(done.partition_location))
            }
            _ => {
                *self.job() = Some(job.job_id);
                Ok(None)
            }
        }
    }

    fn lost(&self, status: tonic::Status) -> DataFusionError {
        lost(&self.scheduler, &status)
    }
}

/// Cancels a job by its name. The scheduler is named as in `http://localhost:50050`.
///
/// # Errors
///
/// The scheduler does not answer.
pub async fn cancel_job(scheduler: &str, job_id: String) -> Result<()> {
    let mut client = connect(scheduler, &BallistaConfig::default()).await?;
    client.cancel_job(CancelJobParams { job_id }).await.map_err(|status| lost(scheduler, &status))?;
    Ok(())
}

async fn connect(scheduler: &str, config: &BallistaConfig) -> Result<SchedulerGrpcClient<Channel>> {
    let endpoint = create_grpc_client_endpoint(scheduler.to_owned(), Some(&GrpcClientConfig::from(config)))
        .map_err(|error| DataFusionError::External(error.into()))?;
    let channel = endpoint.connect().await.map_err(|error| {
        exec_datafusion_err!("{scheduler} does not answer as a scheduler of Ballista: {error}")
    })?;
    let bytes = config.grpc_client_max_message_size();
    let client = SchedulerGrpcClient::new(channel);
    Ok(client.max_encoding_message_size(bytes).max_decoding_message_size(bytes))
}

fn lost(scheduler: &str, status: &tonic::Status) -> DataFusionError {
    exec_datafusion_err!("the scheduler at {scheduler}: {}", status.message())
}

/// The rows of a result, from the executors that have them.
async fn fetch(partitions: Vec<PartitionLocation>, config: &BallistaConfig) -> Result<Vec<RecordBatch>> {
    let mut batches = Vec::new();
    let network = GrpcClientConfig::from(config);
    for partition in partitions {
        let layout = partition.layout();
        let (Some(executor), Some(id)) = (partition.executor_meta, partition.partition_id) else {
            return exec_err!("the scheduler did not tell where a result is");
        };
        let mut client = BallistaClient::try_new(
            &executor.host,
            executor.port as u16,
            network.max_message_size,
            network.use_tls,
            None,
            network.io_retries_times,
            network.io_retry_wait_time_ms,
            network.initial_connection_window_size,
            network.initial_stream_window_size,
        )
        .await
        .map_err(BallistaError::into_datafusion)?;
        let rows = client.fetch_partition(&executor.id, &id.into(), partition.file_id, layout, true).await;
        batches.extend(common::collect(rows.map_err(BallistaError::into_datafusion)?).await?);
    }
    Ok(batches)
}
