//! [`Sort`]: sorts a table to parts that are in order.
//!
//! Two jobs of the cluster, and what the client does between them:
//!
//! ```text
//!     scan the keys ── sample ──▶ choose cuts ──▶ scan ── distribute ══ shuffle ══ sort ── write parts ──▶ manifest
//! ```

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::datatypes::{UInt32Type, UInt64Type};
use datafusion::common::stats::Precision;
use datafusion::common::{Result, exec_datafusion_err, exec_err, plan_err};
use datafusion::physical_expr::expressions;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::{ExecutionPlan, Partitioning};
use url::Url;

use crate::MESSAGE_BYTES;
use crate::cuts::{Cut, Sampled, are_even, choose};
use crate::distribute::Distribute;
use crate::job::Cluster;
use crate::keys::{Key, ordering};
use crate::output::{Manifest, Output};
use crate::range;
use crate::sample::{Sample, sampled};
use crate::step::{SortStepExec, Step};
use crate::table::Table;
use crate::write::Write;

/// Sorts a table in Parquet files to parts: files in one folder whose rows are in order over all of them.
///
/// A sample of the keys is drawn, which cuts the rows into ranges of about equal size. Rows go to the executor of their range,
/// which sorts them, on disk if they do not fit in its memory, and writes one part. Where a key has more rows than a range, several
/// parts have rows with this key. Equal rows come in any order.
///
/// - Local paths mean the same files for all processes of the cluster. Otherwise the table is in a store: see [`Stores`](crate::Stores).
/// - The keys of all rows are read twice, the other columns once. All rows are written to disk twice, and sent once.
/// - The program that calls this keeps a sample in memory: 4,096 keys for each part.
/// - The result is there as a whole or not at all: the manifest, which is [beside the folder](crate::MANIFEST_SUFFIX), is written
///   last. If the sort fails or is stopped, what was written is deleted. If this program is killed, what was written stays, with the
///   file [`UNFINISHED`](crate::UNFINISHED) and without a manifest.
///
/// The method is sample sort. [`SortieEngine`](crate::SortieEngine) need not be installed, but sorts faster.
///
/// ```no_run
/// # async fn sort() -> datafusion::error::Result<()> {
/// let sort = sortie_ballista::Sort {
///     scheduler: "http://localhost:50050".to_owned(),
///     input: "s3://bucket/lineitem/".to_owned(),
///     by: "l_shipdate, l_comment DESC".to_owned(),
///     output: "s3://bucket/sorted/".to_owned(),
///     parts: None,
///     tasks: 16,
/// };
/// let manifest = sort.run(|_| (), std::future::pending()).await?;
/// println!("{} rows in {} parts", manifest.rows, manifest.parts.len());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Sort {
    /// The scheduler of the cluster, as in `http://localhost:50050`.
    pub scheduler: String,
    /// The table: a Parquet file, a folder of them, or a pattern, as a path or as a URL.
    pub input: String,
    /// The columns to sort by, as in SQL's ORDER BY: `a, b DESC NULLS LAST`.
    pub by: String,
    /// The folder to write to, as a path or as a URL. It must be empty or not exist.
    pub output: String,
    /// How many parts are written. By default, one for each 256 MiB of input, but at most 4,096; and one for each task, unless parts
    /// would be smaller than 4 MiB.
    pub parts: Option<u32>,
    /// How many tasks the cluster runs at once. It need not be exact.
    pub tasks: u32,
}

/// How far a sort is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Progress {
    /// The sample is being drawn.
    Sampling,
    /// Rows are on their way to their parts, of which some may be written.
    Sorting {
        /// How many parts are written.
        written: usize,
        /// How many there will be.
        parts: usize,
    },
}

/// Keys in the sample for each part. So the share of a part deviates by 1.6% (standard deviation), that of the largest of 4,096
/// parts by 6%.
const SAMPLED_PER_PART: u64 = 4096;
/// How many bytes of a key are kept in the sample. If parts would be uneven because keys agree on more, a sample with this many times
/// as many bytes of each is drawn, until all cuts take this many bytes. They go to all tasks.
const KEY_BYTES: u64 = 1024;
const LONGER_KEYS: u64 = 16;
const CUTS_BYTES: u64 = MESSAGE_BYTES as u64 / 4;
/// How many bytes a sample of long keys takes.
const LONG_SAMPLE_BYTES: u64 = 128 << 20;
const PART_BYTES: u64 = 256 << 20;
/// A part that is smaller is not worth a task.
const LEAST_PART_BYTES: u64 = 4 << 20;
const MOST_PARTS: u64 = 4096;
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

impl Sort {
    /// Sorts the table. `progress` is told how far it is. When `stop` returns a reason, the sort fails with it.
    ///
    /// # Errors
    ///
    /// - The input has no Parquet file, or a key is not one of its columns.
    /// - The output is not empty.
    /// - The cluster cannot be reached, or the job fails there: for want of disk space, for instance.
    /// - The input changes while it is sorted.
    /// - `stop` returned first.
    pub async fn run(
        &self,
        progress: impl Fn(Progress),
        stop: impl Future<Output = String>,
    ) -> Result<Manifest> {
        let name = format!("sortie-{}", uuid::Uuid::new_v4());
        let cluster = Cluster::new(self.scheduler.clone());
        let mut stop = pin!(stop);
        let input = tokio::select! {
            input = Input::open(self) => input?,
            reason = &mut stop => return exec_err!("{reason}"),
        };
        let folder = folder_url(&self.output)?;
        let output = Output::open(&folder, &input.table.session.runtime_env())?;
        let empty_part = input.table.layout.empty_part()?;
        output.begin(&name).await?;

        let write = Write { folder, ranges: input.parts, sort: name, empty_part: empty_part.clone() };
        let written = tokio::select! {
            written = input.sort(&cluster, write, &output, progress) => written,
            reason = stop => Err(exec_datafusion_err!("{reason}")),
        };
        let finished = match written {
            Ok(rows) => output.finish(self.by.clone(), &rows, &empty_part).await,
            Err(error) => Err(error),
        };
        let Err(error) = finished else { return finished };
        // The reason why it failed is what matters. If the scheduler cannot be reached, the tasks stop for want of the mark.
        let _ = cluster.cancel().await;
        match output.abandon().await {
            Ok(()) => Err(error),
            Err(left) => Err(error.context(format!("{} could not be emptied: {left}", self.output))),
        }
    }
}

/// A table, and the number of parts that it is sorted to.
struct Input {
    table: Table,
    parts: u32,
}

impl Input {
    async fn open(sort: &Sort) -> Result<Input> {
        let table = Table::open(&sort.input, &sort.by).await?;
        match sort.parts.unwrap_or_else(|| default_parts(table.bytes, sort.tasks)) {
            0 => plan_err!("a table cannot be sorted to 0 parts"),
            parts => Ok(Input { table, parts }),
        }
    }

    /// Runs both jobs, and returns the rows of each part that was written.
    async fn sort(
        &self,
        cluster: &Cluster,
        write: Write,
        output: &Output,
        progress: impl Fn(Progress),
    ) -> Result<Vec<Option<u64>>> {
        progress(Progress::Sampling);
        let cuts = self.cuts(cluster).await?;
        let parts = self.parts as usize;
        let told = async {
            loop {
                // It is only told. If the store fails, the sort will say so.
                let written = output.part_count().await.unwrap_or(0);
                progress(Progress::Sorting { written, parts });
                tokio::time::sleep(PROGRESS_INTERVAL).await;
            }
        };
        let plan = self.sorting(cuts, write).await?;
        let written = tokio::select! {
            written = self.run(cluster, plan) => written?,
            () = told => unreachable!("it never ends"),
        };
        let mut rows = vec![None; parts];
        for batch in &written {
            let numbers = batch.column(0).as_primitive::<UInt32Type>().values();
            for (&part, &count) in numbers.iter().zip(batch.column(1).as_primitive::<UInt64Type>().values()) {
                // A part is reported again if its task was repeated, with the same rows.
                if rows[part as usize].replace(count).is_some_and(|before| before != count) {
                    return exec_err!(
                        "part {part} was written twice, with different rows: the table has changed"
                    );
                }
            }
        }
        let (sorted, read) = (rows.iter().flatten().sum::<u64>() as usize, self.table.statistics.num_rows);
        if let Precision::Exact(read) = read
            && read != sorted
        {
            return exec_err!("the table had {read} rows, of which {sorted} were sorted: it has changed");
        }
        Ok(rows)
    }

    /// Draws a sample, and cuts it.
    async fn cuts(&self, cluster: &Cluster) -> Result<Vec<Cut>> {
        if self.parts == 1 {
            return Ok(vec![]);
        }
        let mut key_bytes = KEY_BYTES;
        loop {
            let sample = self.sample(cluster, key_bytes).await?;
            let cuts = choose(&sample, self.parts as usize);
            let longer = key_bytes * LONGER_KEYS;
            if longer * u64::from(self.parts) > CUTS_BYTES || are_even(&cuts, &sample, key_bytes as usize) {
                return Ok(cuts);
            }
            key_bytes = longer;
        }
    }

    /// Draws a sample, of which the first bytes of the keys are kept.
    async fn sample(&self, cluster: &Cluster, key_bytes: u64) -> Result<Vec<Sampled>> {
        let scan = self.table.scan_keys().await?;
        let rows = self.table.statistics.num_rows.get_value().copied().unwrap_or(0) as u64;
        let keys =
            self.table.keys.iter().enumerate().map(|(place, key)| Key { column: place as u32, ..*key });
        let most_keys = match SAMPLED_PER_PART * u64::from(self.parts) {
            keys if key_bytes == KEY_BYTES => keys,
            keys => keys.min(LONG_SAMPLE_BYTES / key_bytes),
        };
        let sample = Sample {
            keys: keys.collect(),
            every: rows / most_keys,
            other_bytes: self.table.other_bytes(rows),
            key_bytes,
        };
        let plan = Arc::new(SortStepExec::new(Step::Sample(sample), scan));
        Ok(self.run(cluster, plan).await?.iter().flat_map(sampled).collect())
    }

    async fn sorting(&self, cuts: Vec<Cut>, write: Write) -> Result<Arc<dyn ExecutionPlan>> {
        let scan = self.table.scan().await?;
        let distribute = Distribute { keys: self.table.keys.clone(), cuts, ranges: self.parts };
        let labelled: Arc<dyn ExecutionPlan> =
            Arc::new(SortStepExec::new(Step::Distribute(distribute), scan));
        let label = Arc::new(expressions::Column::new(range::LABEL, self.table.schema.fields().len()));
        let partitioning = Partitioning::Hash(vec![label], self.parts as usize);
        let order = ordering(&self.table.keys, &labelled.schema())?;
        let ranges = Arc::new(RepartitionExec::try_new(labelled, partitioning)?);
        let sorted = Arc::new(SortExec::new(order, ranges).with_preserve_partitioning(true));
        Ok(Arc::new(SortStepExec::new(Step::Write(write), sorted)))
    }

    async fn run(&self, cluster: &Cluster, plan: Arc<dyn ExecutionPlan>) -> Result<Vec<RecordBatch>> {
        cluster.run(plan, &self.table.session.copied_config()).await
    }
}

/// The number of parts for an input of this size.
fn default_parts(bytes: u64, tasks: u32) -> u32 {
    let one_per_task = u64::from(tasks).min(bytes / LEAST_PART_BYTES);
    bytes.div_ceil(PART_BYTES).max(one_per_task).clamp(1, MOST_PARTS) as u32
}

fn folder_url(output: &str) -> Result<String> {
    let url = match Url::parse(output) {
        Ok(url) => url,
        Err(_) => Url::from_directory_path(std::path::absolute(output)?)
            .map_err(|()| exec_datafusion_err!("{output}: not a path of a folder"))?,
    };
    Ok(url.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_as_many_parts_as_tasks_unless_the_table_is_small() {
        let cases = [
            (0, 8, 1),
            (1 << 20, 8, 1),
            (10 << 20, 8, 2),
            (200 << 20, 4, 4),
            (2 << 30, 4, 8),
            (2 << 30, 100, 100),
        ];
        for (bytes, tasks, parts) in cases {
            assert_eq!(default_parts(bytes, tasks), parts, "{bytes} bytes, {tasks} tasks");
        }
        assert_eq!(default_parts(u64::MAX, 1), 4096);
    }
}
