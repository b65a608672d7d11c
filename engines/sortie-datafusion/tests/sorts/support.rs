//! Sessions of both kinds, and what must hold after a query.

use std::cmp::Ordering;
use std::sync::Arc;
use std::time::{Duration, Instant};

use datafusion::arrow::array::{Array, Int64Array, RecordBatch, UInt64Array, make_comparator};
use datafusion::arrow::compute::{SortOptions, concat_batches, take_record_batch};
use datafusion::common::cast::as_int64_array;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::datasource::MemTable;
use datafusion::error::Result;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::disk_manager::DiskManagerBuilder;
use datafusion::execution::memory_pool::{FairSpillPool, GreedyMemoryPool, MemoryPool};
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::physical_plan::{ExecutionPlan, collect};
use datafusion::prelude::{SessionConfig, SessionContext};

use crate::generate::Table;

/// How a session may use memory and disk.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// In bytes; `None` for no limit.
    pub memory: Option<usize>,
    /// Whether each operator has an equal share of it.
    pub fair: bool,
    pub disk: u64,
}

pub const NO_LIMITS: Limits = Limits { memory: None, fair: false, disk: 1 << 30 };

pub fn config(partitions: usize, batch_rows: usize) -> SessionConfig {
    let config = SessionConfig::new().with_target_partitions(partitions).with_batch_size(batch_rows);
    config.with_sort_spill_reservation_bytes(16 << 10)
}

/// A session with Sortie.
pub fn with_sortie(config: SessionConfig, limits: Limits) -> SessionContext {
    SessionContext::new_with_state(sortie_datafusion::install(builder(config, limits)).build())
}

/// A session without.
pub fn without(config: SessionConfig) -> SessionContext {
    SessionContext::new_with_state(builder(config, NO_LIMITS).build())
}

fn builder(config: SessionConfig, limits: Limits) -> SessionStateBuilder {
    let disk = DiskManagerBuilder::default().with_max_temp_directory_size(limits.disk);
    let mut runtime = RuntimeEnvBuilder::new().with_disk_manager_builder(disk);
    if let Some(bytes) = limits.memory {
        let pool: Arc<dyn MemoryPool> = match limits.fair {
            true => Arc::new(FairSpillPool::new(bytes)),
            false => Arc::new(GreedyMemoryPool::new(bytes)),
        };
        runtime = runtime.with_memory_pool(pool);
    }
    let runtime = runtime.build_arc().unwrap();
    SessionStateBuilder::new().with_default_features().with_config(config).with_runtime_env(runtime)
}

pub fn register(session: &SessionContext, table: &Table) {
    let provider = MemTable::try_new(table.schema(), table.partitions.clone()).unwrap();
    session.register_table("t", Arc::new(provider)).unwrap();
}

pub async fn plan(session: &SessionContext, sql: &str) -> Result<Arc<dyn ExecutionPlan>> {
    session.sql(sql).await?.create_physical_plan().await
}

/// The result of a query as one batch, and how often it spilled.
pub async fn run(session: &SessionContext, sql: &str) -> Result<(RecordBatch, usize)> {
    let plan = plan(session, sql).await?;
    let batches = collect(Arc::clone(&plan), session.task_ctx()).await?;
    let most = session.state().config().batch_size();
    assert!(
        batches.iter().all(|batch| (1..=most).contains(&batch.num_rows())),
        "a batch has up to {most} rows"
    );
    Ok((concat_batches(&plan.schema(), &batches)?, spills(&plan)))
}

pub fn spills(plan: &Arc<dyn ExecutionPlan>) -> usize {
    let mut spills = 0;
    plan.apply(|node| {
        spills += node.metrics().and_then(|metrics| metrics.spill_count()).unwrap_or(0);
        Ok(TreeNodeRecursion::Continue)
    })
    .unwrap();
    spills
}

/// The session has given back all memory and deleted all files, at the latest after what was under way has ended.
pub async fn assert_nothing_is_left(session: &SessionContext) {
    let runtime = session.runtime_env();
    let files = || {
        let folders = runtime.disk_manager.temp_dir_paths().into_iter();
        folders.map(|folder| std::fs::read_dir(folder).unwrap().count()).sum::<usize>()
    };
    let start = Instant::now();
    while runtime.memory_pool.reserved() > 0 || runtime.disk_manager.used_disk_space() > 0 || files() > 0 {
        assert!(start.elapsed() < Duration::from_secs(20), "memory and files are still in use");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// The rows of a result are rows of the table, none of them twice.
pub fn assert_rows_of(table: &Table, result: &RecordBatch) {
    let ids = as_int64_array(result.column(0)).unwrap();
    let rows = UInt64Array::from_iter_values(ids.values().iter().map(|&id| id as u64));
    assert_same(&take_record_batch(&table.all, &rows).unwrap(), result, 0..result.num_columns());
    let mut ids = Int64Array::values(ids).to_vec();
    ids.sort_unstable();
    assert!(ids.is_sorted_by(|a, b| a < b), "a row came twice");
}

/// Some columns of two batches are equal.
pub fn assert_same(expected: &RecordBatch, found: &RecordBatch, columns: impl IntoIterator<Item = usize>) {
    assert_eq!(expected.num_rows(), found.num_rows());
    for i in columns {
        let (a, b) = (expected.column(i), found.column(i));
        let compare = make_comparator(a, b, SortOptions::default()).unwrap();
        let differ = (0..a.len()).find(|&row| compare(row, row) != Ordering::Equal);
        assert_eq!(differ, None, "the first row that differs in column {i}");
    }
}
