//! [`Sort`]: sorts a table to parts that are in order.
//!
//! Two jobs of the cluster, and what the client does between them:
//!
//! ```text
//!     scan the keys ── sample ──▶ choose cuts ──▶ scan ── distribute ══ shuffle ══ sort ── write parts ──▶ manifest
//! ```

use std::sync::Arc;
use std::time::Duration;

use ballista_core::extension::SessionConfigExt;
use datafusion::arrow::array::AsArray;
use datafusion::arrow::datatypes::{Schema, SchemaRef, UInt32Type, UInt64Type};
use datafusion::common::stats::Precision;
use datafusion::common::{
    Column, DataFusionError, Result, Statistics, exec_datafusion_err, exec_err, plan_err,
};
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::datasource::physical_plan::parquet::metadata::DFParquetMetadata;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::physical_expr::expressions;
use datafusion::physical_plan::repartition::RepartitionExec;
use datafusion::physical_plan::sorts::sort::SortExec;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::physical_plan::{ExecutionPlan, Partitioning};
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use futures::TryStreamExt;
use object_store::{ObjectMeta, ObjectStore};
use url::Url;

use crate::cuts::{Cut, choose};
use crate::distribute::Distribute;
use crate::job::Cluster;
use crate::keys::{Key, ordering};
use crate::output::{Manifest, Output};
use crate::sample::{Sample, VARIABLE_WIDTH, sampled};
use crate::step::{SortStepExec, Step};
use crate::write::Write;
use crate::{Stores, range};

/// Sorts a table in Parquet files to parts: files in one folder whose rows are in order over all of them.
///
/// A sample of the keys is drawn, which cuts the rows into ranges of about equal size. Rows go to the executor of their range,
/// which sorts them, on disk if they do not fit in its memory, and writes one part. Where a key has more rows than a range, several
/// parts have rows with this key. Equal rows come in any order.
///
/// - Local paths mean the same files for all processes of the cluster. Otherwise the table is in a store: see [`Stores`].
/// - The keys of all rows are read twice, the other columns once. All rows are written to disk twice, and sent once.
/// - The program that calls this keeps a sample in memory: 4,096 keys for each part.
/// - The result is there as a whole or not at all: [`MANIFEST`](crate::MANIFEST) is written last. If the sort fails or is stopped,
///   what was written is deleted. If this program is killed, what was written stays, without a manifest.
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
    /// How many parts are written. By default, one for each 256 MiB of input, but at most 4,096.
    pub parts: Option<u32>,
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
const PART_BYTES: u64 = 256 << 20;
const MOST_PARTS: u64 = 4096;
/// How much of the input a task reads.
const TASK_BYTES: u64 = 64 << 20;
const FEWEST_TASKS: u64 = 8;
const MOST_TASKS: u64 = 16_384;
const PROGRESS_INTERVAL: Duration = Duration::from_secs(1);

/// How large a message to the scheduler may be. A plan names all files of the table and all cuts.
const MESSAGE_BYTES: usize = 256 << 20;

/// How names of the files in a folder end.
const PARQUET: &str = ".parquet";

/// A table that is sorted, as the session knows it.
const TABLE: &str = "input";

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
        let input = Input::open(self).await?;
        let folder = folder_url(&self.output)?;
        let output = Output::open(&folder, &input.session.runtime_env())?;
        output.begin(&name).await?;

        let write = Write { folder, ranges: input.parts, sort: name };
        let written = tokio::select! {
            written = input.sort(&cluster, write, &output, progress) => written,
            reason = stop => Err(exec_datafusion_err!("{reason}")),
        };
        let finished = match written {
            Ok(rows) => output.finish(self.by.clone(), &rows, &input.schema).await,
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

/// A table that is sorted.
struct Input {
    session: SessionContext,
    schema: SchemaRef,
    statistics: Arc<Statistics>,
    keys: Vec<Key>,
    parts: u32,
}

impl Input {
    async fn open(sort: &Sort) -> Result<Input> {
        let (url, extension) = table_url(&sort.input)?;
        let (session, bytes) = session(&url, extension, &sort.input).await?;
        let options = ParquetReadOptions::default().file_extension(extension);
        session.register_table(TABLE, session.read_parquet(url, options).await?.into_view())?;
        let schema = Arc::clone(session.table(TABLE).await?.schema().inner());
        let keys = keys(&session, &sort.by).await?;
        let parts = sort.parts.unwrap_or_else(|| bytes.div_ceil(PART_BYTES).clamp(1, MOST_PARTS) as u32);
        if parts == 0 {
            return plan_err!("a table cannot be sorted to 0 parts");
        }
        let plan = session.table(TABLE).await?.create_physical_plan().await?;
        let statistics = StatisticsContext::new().compute(plan.as_ref(), &StatisticsArgs::new())?;
        Ok(Input { session, schema, statistics, keys, parts })
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
        let (sorted, read) = (rows.iter().flatten().sum::<u64>() as usize, self.statistics.num_rows);
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
        let places = self.keys.iter().map(|key| key.column as usize);
        let columns = places.map(|place| Expr::Column(Column::from_name(self.schema.field(place).name())));
        let scan = self.session.table(TABLE).await?.select(columns)?.create_physical_plan().await?;
        let rows = self.statistics.num_rows.get_value().copied().unwrap_or(0) as u64;
        let keys = self.keys.iter().enumerate().map(|(place, key)| Key { column: place as u32, ..*key });
        let sample = Sample {
            keys: keys.collect(),
            every: rows / (SAMPLED_PER_PART * u64::from(self.parts)),
            other_bytes: self.other_bytes(rows),
        };
        let plan = Arc::new(SortStepExec::new(Step::Sample(sample), scan));
        let sample: Vec<_> = self.run(cluster, plan).await?.iter().flat_map(sampled).collect();
        Ok(choose(&sample, self.parts as usize))
    }

    /// The bytes of a row without its keys, about.
    fn other_bytes(&self, rows: u64) -> u64 {
        let is_key = |place| self.keys.iter().any(|key| key.column as usize == place);
        let others = (0..self.schema.fields().len()).filter(|&place| !is_key(place));
        others
            .map(|place| match self.statistics.column_statistics[place].byte_size.get_value() {
                Some(&bytes) => bytes as u64 / rows.max(1),
                None => VARIABLE_WIDTH,
            })
            .sum()
    }

    async fn sorting(&self, cuts: Vec<Cut>, write: Write) -> Result<Arc<dyn ExecutionPlan>> {
        let scan = self.session.table(TABLE).await?.create_physical_plan().await?;
        let distribute = Distribute { keys: self.keys.clone(), cuts, ranges: self.parts };
        let labelled: Arc<dyn ExecutionPlan> =
            Arc::new(SortStepExec::new(Step::Distribute(distribute), scan));
        let label = Arc::new(expressions::Column::new(range::LABEL, self.schema.fields().len()));
        let partitioning = Partitioning::Hash(vec![label], self.parts as usize);
        let order = ordering(&self.keys, &labelled.schema())?;
        let ranges = Arc::new(RepartitionExec::try_new(labelled, partitioning)?);
        let sorted = Arc::new(SortExec::new(order, ranges).with_preserve_partitioning(true));
        Ok(Arc::new(SortStepExec::new(Step::Write(write), sorted)))
    }

    async fn run(
        &self,
        cluster: &Cluster,
        plan: Arc<dyn ExecutionPlan>,
    ) -> Result<Vec<datafusion::arrow::array::RecordBatch>> {
        cluster.run(plan, &self.session.copied_config()).await
    }
}

/// A session with as many tasks as the input needs, and the bytes of the input.
async fn session(url: &str, extension: &str, input: &str) -> Result<(SessionContext, u64)> {
    let stores = RuntimeEnvBuilder::new().with_object_store_registry(Arc::new(Stores::default()));
    let runtime = stores.build_arc()?;
    let with_tasks = |tasks: u64, subfolders: bool| {
        let config = SessionConfig::new_with_ballista()
            .with_target_partitions(tasks as usize)
            .set_bool("datafusion.execution.listing_table_ignore_subdirectory", !subfolders)
            .with_ballista_grpc_client_max_message_size(MESSAGE_BYTES);
        let builder = SessionStateBuilder::new().with_config(config).with_runtime_env(Arc::clone(&runtime));
        SessionContext::new_with_state(builder.with_default_features().build())
    };
    let url = ListingTableUrl::parse(url)?;
    let store = runtime.object_store(url.object_store())?;
    let listed = async |subfolders| {
        let state = with_tasks(FEWEST_TASKS, subfolders).state();
        url.list_all_files(&state, store.as_ref(), extension).await?.try_collect::<Vec<_>>().await
    };
    let is_deeper = |file: &&ObjectMeta| file.location.parts_count() > url.prefix().parts_count() + 1;
    if url.get_glob().is_none()
        && let Some(deeper) = listed(true).await?.iter().find(is_deeper)
    {
        return exec_err!(
            "{input}: {} is in a subfolder; a table is the files of one folder",
            deeper.location
        );
    }
    let files = listed(false).await?;
    let [first, ..] = files.as_slice() else {
        return exec_err!("{input}: there is no file whose name ends in .parquet");
    };
    let is_hidden =
        |file: &&ObjectMeta| file.location.filename().is_some_and(|name| name.starts_with(['_', '.']));
    if let Some(hidden) = files.iter().find(is_hidden) {
        return exec_err!(
            "{input}: {} has the name of an unfinished file; move it away, or rename it",
            hidden.location
        );
    }
    ensure_distinct_columns(store.as_ref(), first, input).await?;
    let bytes = files.iter().map(|file| file.size).sum::<u64>();
    Ok((with_tasks((bytes / TASK_BYTES).clamp(FEWEST_TASKS, MOST_TASKS), false), bytes))
}

/// Refuses a table with two columns of one name, of which DataFusion would read one.
async fn ensure_distinct_columns(store: &dyn ObjectStore, file: &ObjectMeta, input: &str) -> Result<()> {
    let metadata = DFParquetMetadata::new(store, file).fetch_metadata().await?;
    let columns = metadata.file_metadata().schema_descr().root_schema().get_fields();
    let mut names: Vec<_> = columns.iter().map(|column| column.name()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => exec_err!("{input}: {} has two columns named `{}`; rename one", file.location, pair[0]),
        None => Ok(()),
    }
}

/// The columns of an ORDER BY. A column counts once, where it is first.
async fn keys(session: &SessionContext, by: &str) -> Result<Vec<Key>> {
    let wrong = |error: DataFusionError| error.context(format!("cannot sort by `{by}`"));
    let query = format!("SELECT * FROM {TABLE} ORDER BY {by}");
    let plan = session.state().create_logical_plan(&query).await.map_err(wrong)?;
    let LogicalPlan::Sort(sort) = plan else {
        return plan_err!("`{by}` is more than the keys of an ORDER BY, as in: a, b DESC NULLS LAST");
    };
    let schema: &Schema = sort.input.schema().as_arrow();
    let mut keys: Vec<Key> = Vec::new();
    for key in &sort.expr {
        let Expr::Column(column) = &key.expr else {
            return plan_err!("`{}` is no column; a table is sorted by its columns", key.expr);
        };
        let place = schema.index_of(&column.name)? as u32;
        if keys.iter().all(|key| key.column != place) {
            keys.push(Key { column: place, descending: !key.asc, nulls_first: key.nulls_first });
        }
    }
    Ok(keys)
}

/// The URL of a table, and how its files' names end. A path that does not exist may be a pattern.
fn table_url(input: &str) -> Result<(String, &'static str)> {
    if Url::parse(input).is_ok() {
        return Ok((input.to_owned(), PARQUET));
    }
    let path = std::path::absolute(input)?;
    let url = match (path.is_dir(), path.exists()) {
        (true, _) => Url::from_directory_path(&path).map(|url| (url.to_string(), PARQUET)),
        (false, true) => Url::from_file_path(&path).map(|url| (url.to_string(), "")),
        (false, false) => Ok((path.to_string_lossy().into_owned(), PARQUET)),
    };
    url.map_err(|()| exec_datafusion_err!("{input}: not a path"))
}

fn folder_url(output: &str) -> Result<String> {
    let url = match Url::parse(output) {
        Ok(url) => url,
        Err(_) => Url::from_directory_path(std::path::absolute(output)?)
            .map_err(|()| exec_datafusion_err!("{output}: not a path of a folder"))?,
    };
    Ok(url.to_string())
}
