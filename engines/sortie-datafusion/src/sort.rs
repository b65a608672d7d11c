//! [`Sort`]: one execution of the operator, from its inputs to its output.

use std::collections::VecDeque;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::runtime::SpawnedTask;
use datafusion::common::{DataFusionError, Result, internal_datafusion_err};
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::LexOrdering;
use datafusion::physical_plan::SpillManager;
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, SpillMetrics};
use futures::future::try_join_all;
use futures::lock::Mutex;
use futures::{StreamExt, TryStreamExt, stream};

use crate::BatchStream;
use crate::buffer::Buffer;
use crate::merge::merged;
use crate::part::Part;
use crate::sorted::Sorted;
use crate::spill::Run;
use crate::work::Work;

/// What the inputs of one output partition have in common.
pub(crate) struct Sort {
    partition: usize,
    schema: SchemaRef,
    ordering: LexOrdering,
    context: Arc<TaskContext>,
    spills: SpillManager,
    work: Work,
}

/// What has been read of the inputs.
struct Collected {
    /// Rows that fit in memory.
    buffer: Buffer,
    /// Those before.
    runs: VecDeque<Run>,
}

/// Batches in a file have about as many bytes. If they had more, a merge could take fewer files at once.
const FILE_BATCH_BYTES: usize = 512 << 10;
/// How much memory a merge takes for each run, in batches: one in use, one that has been read, one that is being read, and one
/// that threads still copy rows from.
const BATCHES_PER_RUN: usize = 4;

impl Sort {
    pub(crate) fn new(
        partition: usize,
        schema: SchemaRef,
        ordering: LexOrdering,
        context: Arc<TaskContext>,
        metrics: &ExecutionPlanMetricsSet,
        baseline: &BaselineMetrics,
    ) -> Sort {
        let config = context.session_config();
        let spill_metrics = SpillMetrics::new(metrics, partition);
        let spills = SpillManager::new(context.runtime_env(), spill_metrics, Arc::clone(&schema))
            .with_batch_read_buffer_capacity(1)
            .with_compression_type(config.spill_compression());
        let work = Work { threads: config.target_partitions(), time: baseline.elapsed_compute().clone() };
        Sort { partition, schema, ordering, context, spills, work }
    }

    /// All rows of the inputs in order.
    pub(crate) async fn run(self: Arc<Self>, inputs: Vec<SendableRecordBatchStream>) -> Result<BatchStream> {
        let merge_memory = self.merge_memory();
        let Collected { buffer, runs } = self.collect_all(inputs).await?;
        let kept = if buffer.is_empty() { None } else { Some(self.order(buffer).await?) };
        self.merge(runs, kept, merge_memory).await
    }

    /// Reserves the memory that DataFusion's configuration keeps for merges. Where there is less, a merge gets what is free then.
    fn merge_memory(&self) -> MemoryReservation {
        let runtime = self.context.runtime_env();
        let memory = MemoryConsumer::new(format!("SortieExecMerge[{}]", self.partition))
            .register(&runtime.memory_pool);
        if runtime.disk_manager.tmp_files_enabled() {
            let bytes = self.context.session_config().options().execution.sort_spill_reservation_bytes;
            let _ = memory.try_grow(bytes);
        }
        memory
    }

    /// Reads the inputs, each in a task of its own if there are several.
    async fn collect_all(self: &Arc<Self>, inputs: Vec<SendableRecordBatchStream>) -> Result<Collected> {
        let memory = MemoryConsumer::new(format!("SortieExec[{}]", self.partition)).with_can_spill(true);
        let memory = memory.register(&self.context.runtime_env().memory_pool);
        let collected = Collected { buffer: Buffer::new(memory), runs: VecDeque::new() };
        let shared = Arc::new(Mutex::new(collected));
        let mut collecting =
            inputs.into_iter().map(|input| Arc::clone(self).collect(input, Arc::clone(&shared)));
        if collecting.len() == 1 {
            try_join_all(collecting.next()).await?;
        } else {
            let tasks: Vec<_> = collecting.map(SpawnedTask::spawn).collect();
            let joined = tasks.into_iter().map(async |task| {
                task.join_unwind().await.map_err(|e| DataFusionError::ExecutionJoin(Box::new(e)))?
            });
            try_join_all(joined).await?;
        }
        let collected = Arc::into_inner(shared).map(Mutex::into_inner);
        collected.ok_or_else(|| internal_datafusion_err!("an input is still being read"))
    }

    /// Reads an input. When there is no memory left, the rows of all inputs are spilled.
    async fn collect(
        self: Arc<Self>,
        mut input: SendableRecordBatchStream,
        shared: Arc<Mutex<Collected>>,
    ) -> Result<()> {
        while let Some(batch) = input.try_next().await? {
            if batch.num_rows() == 0 {
                continue;
            }
            let part = Part::of(batch, &self.ordering)?;
            let mut collected = shared.lock().await;
            if let Err(full) = collected.buffer.push(&part, &self.ordering) {
                if collected.buffer.is_empty() || !matches!(full, DataFusionError::ResourcesExhausted(_)) {
                    return Err(too_little_memory(full));
                }
                let runs = self.spill(collected.buffer.take()).await?;
                collected.runs.extend(runs);
                collected.buffer.push(&part, &self.ordering).map_err(too_little_memory)?;
            }
        }
        Ok(())
    }

    /// Writes the rows of a buffer to as many files as there are threads. Each thread sorts a part of the rows.
    async fn spill(&self, buffer: Buffer) -> Result<Vec<Run>> {
        let parts = buffer.split(self.work.threads);
        let runs = parts.into_iter().map(async |part| self.write(self.order(part).await?).await);
        try_join_all(runs).await
    }

    async fn write(&self, sorted: Sorted) -> Result<Run> {
        let batch_rows = FILE_BATCH_BYTES / sorted.row_bytes().max(1);
        let batch_rows = batch_rows.clamp(1, self.context.session_config().batch_size());
        Run::write(self.gathered(sorted, batch_rows), &self.spills, &self.work).await
    }

    async fn order(&self, buffer: Buffer) -> Result<Sorted> {
        let schema = Arc::clone(&self.schema);
        self.work.clone().run(move || buffer.sort(&schema)).await
    }

    /// The rows in batches, of which each thread copies one.
    fn gathered(&self, sorted: Sorted, batch_rows: usize) -> BatchStream {
        let (rows, sorted, work) = (sorted.rows(), Arc::new(sorted), self.work.clone());
        let batches = (0..rows).step_by(batch_rows).map(move |start| {
            let sorted = Arc::clone(&sorted);
            work.clone().run(move || sorted.gather(start..rows.min(start + batch_rows)))
        });
        stream::iter(batches).buffered(self.work.threads).boxed()
    }

    /// Merges runs and the rows that were kept in memory, in several rounds if there is not enough memory for all at once.
    async fn merge(
        &self,
        mut runs: VecDeque<Run>,
        mut kept: Option<Sorted>,
        memory: MemoryReservation,
    ) -> Result<BatchStream> {
        let memory = Arc::new(memory);
        loop {
            match (self.reserve(&runs, &memory), kept.take()) {
                (Ok(count), kept) if count == runs.len() => {
                    return self.merged(runs.into(), kept, memory).await;
                }
                (_, Some(sorted)) => runs.push_back(self.write(sorted).await?),
                (Ok(count), None) => {
                    let first = self.merged(runs.drain(..count).collect(), None, Arc::clone(&memory)).await?;
                    runs.push_back(Run::write(first, &self.spills, &self.work).await?);
                }
                (Err(full), None) => {
                    let widest = (0..runs.len().min(2)).max_by_key(|&i| runs[i].batch_bytes).unwrap_or(0);
                    runs[widest] = self.shortened(&runs[widest], full).await?;
                }
            }
        }
    }

    /// Reserves memory for a merge of the first runs, at least two if there are as many, and returns how many they are.
    fn reserve(&self, runs: &VecDeque<Run>, memory: &MemoryReservation) -> Result<usize> {
        let files = match self.context.runtime_env().disk_manager.max_spill_merge_fan_in() {
            0 => runs.len(),
            files => runs.len().min(files.max(2)),
        };
        let mut bytes = 0;
        for (count, run) in runs.iter().take(files).enumerate() {
            bytes += BATCHES_PER_RUN * run.batch_bytes;
            if bytes > memory.size()
                && let Err(full) = memory.try_resize(bytes)
            {
                return if count < 2 { Err(full) } else { Ok(count) };
            }
        }
        Ok(files)
    }

    /// Writes a run anew with half as many rows in a batch.
    async fn shortened(&self, run: &Run, full: DataFusionError) -> Result<Run> {
        if run.batch_rows == 1 {
            return Err(too_little_memory(full));
        }
        let half = run.batch_rows.div_ceil(2);
        let halves = run.read(&self.spills)?.map_ok(move |batch| {
            let starts = (0..batch.num_rows()).step_by(half);
            let slices: Vec<_> =
                starts.map(|start| batch.slice(start, half.min(batch.num_rows() - start))).collect();
            stream::iter(slices).map(Ok)
        });
        Run::write(halves.try_flatten().boxed(), &self.spills, &self.work).await
    }

    async fn merged(
        &self,
        runs: Vec<Run>,
        kept: Option<Sorted>,
        memory: Arc<MemoryReservation>,
    ) -> Result<BatchStream> {
        let session = self.context.session_config().batch_size();
        let batch_rows = runs.iter().map(|run| run.batch_rows).max().unwrap_or(session);
        let files = runs.iter().map(|run| Ok(run.read(&self.spills)?.boxed()));
        let kept = kept.map(|sorted| Ok(self.gathered(sorted, batch_rows)));
        let mut inputs = files.chain(kept).collect::<Result<Vec<_>>>()?;
        if inputs.len() <= 1 {
            return Ok(inputs.pop().unwrap_or_else(|| stream::empty().boxed()));
        }
        let (schema, ordering) = (Arc::clone(&self.schema), self.ordering.clone());
        merged(inputs, schema, ordering, batch_rows, memory, self.work.clone()).await
    }
}

/// An error for want of memory, with what to do about it.
fn too_little_memory(error: DataFusionError) -> DataFusionError {
    match error {
        DataFusionError::ResourcesExhausted(_) => error.context(
            "Sortie has too little memory to sort, even through temporary files; raise datafusion.runtime.memory_limit, or \
             lower datafusion.execution.batch_size",
        ),
        other => other,
    }
}
