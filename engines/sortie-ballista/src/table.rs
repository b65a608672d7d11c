//! [`Table`]: the files that a sort reads, and what it sorts them by.

use std::sync::Arc;

use ballista_core::extension::SessionConfigExt;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::{
    Column, DataFusionError, Result, Statistics, exec_datafusion_err, exec_err, plan_err,
};
use datafusion::datasource::listing::ListingTableUrl;
use datafusion::datasource::physical_plan::parquet::metadata::DFParquetMetadata;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use futures::{StreamExt, TryStreamExt, stream};
use object_store::{ObjectMeta, ObjectStore};
use url::Url;

use crate::floats::InexactFloats;
use crate::keys::Key;
use crate::layout::{FileLayout, Layout};
use crate::sample::VARIABLE_WIDTH;
use crate::{MESSAGE_BYTES, Stores};

/// A table in Parquet files.
pub(crate) struct Table {
    pub session: SessionContext,
    pub schema: SchemaRef,
    pub statistics: Arc<Statistics>,
    pub keys: Vec<Key>,
    /// The size of the files.
    pub bytes: u64,
    /// How the files store it.
    pub layout: Layout,
}

/// How much of the input a task reads.
const TASK_BYTES: u64 = 64 << 20;
const FEWEST_TASKS: u64 = 8;
const MOST_TASKS: u64 = 16_384;

/// How names of the files in a folder end.
const PARQUET: &str = ".parquet";

/// A table that is sorted, as the session knows it.
const TABLE: &str = "input";

impl Table {
    /// Opens a file, a folder or a pattern, to be sorted by the columns of an ORDER BY.
    pub(crate) async fn open(input: &str, by: &str) -> Result<Table> {
        let (url, extension) = table_url(input)?;
        let Files { session, bytes, layouts } = Files::open(&url, extension, input).await?;
        let options = ParquetReadOptions::default().file_extension(extension);
        session.register_table(TABLE, session.read_parquet(url, options).await?.into_view())?;
        let table = session.table(TABLE).await?;
        let schema = Arc::clone(table.schema().inner());
        let keys = keys(&session, by).await?;
        let plan = table.create_physical_plan().await?;
        let statistics = StatisticsContext::new().compute(plan.as_ref(), &StatisticsArgs::new())?;
        let layout = Layout::of(&layouts, &schema, &keys)?;
        Ok(Table { session, schema, statistics, keys, bytes, layout })
    }

    pub(crate) async fn scan(&self) -> Result<Arc<dyn ExecutionPlan>> {
        self.session.table(TABLE).await?.create_physical_plan().await
    }

    /// A scan whose columns are the keys.
    pub(crate) async fn scan_keys(&self) -> Result<Arc<dyn ExecutionPlan>> {
        let places = self.keys.iter().map(|key| key.column as usize);
        let columns = places.map(|place| Expr::Column(Column::from_name(self.schema.field(place).name())));
        self.session.table(TABLE).await?.select(columns)?.create_physical_plan().await
    }

    /// The bytes of a row without its keys, about.
    pub(crate) fn other_bytes(&self, rows: u64) -> u64 {
        let is_key = |place| self.keys.iter().any(|key| key.column as usize == place);
        let others = (0..self.schema.fields().len()).filter(|&place| !is_key(place));
        others
            .map(|place| match self.statistics.column_statistics[place].byte_size.get_value() {
                Some(&bytes) => bytes as u64 / rows.max(1),
                None => VARIABLE_WIDTH,
            })
            .sum()
    }
}

/// The files of a table.
struct Files {
    /// With as many tasks as they need.
    session: SessionContext,
    bytes: u64,
    /// Of files with the same layout that follow one another, one.
    layouts: Vec<FileLayout>,
}

impl Files {
    async fn open(url: &str, extension: &str, input: &str) -> Result<Files> {
        let stores = RuntimeEnvBuilder::new().with_object_store_registry(Arc::new(Stores::default()));
        let runtime = stores.build_arc()?;
        let with_tasks = |tasks: u64, subfolders: bool| {
            let config = SessionConfig::new_with_ballista()
                .with_target_partitions(tasks as usize)
                .set_bool("datafusion.execution.listing_table_ignore_subdirectory", !subfolders)
                .with_ballista_grpc_client_max_message_size(MESSAGE_BYTES);
            let builder =
                SessionStateBuilder::new().with_config(config).with_runtime_env(Arc::clone(&runtime));
            let builder =
                builder.with_default_features().with_physical_optimizer_rule(Arc::new(InexactFloats));
            SessionContext::new_with_state(builder.build())
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
        let layouts = layouts(&files, &store, &runtime).await?;
        let session = with_tasks((bytes / TASK_BYTES).clamp(FEWEST_TASKS, MOST_TASKS), false);
        Ok(Files { session, bytes, layouts })
    }
}

/// How many files are opened at once.
const OPENED_AT_ONCE: usize = 32;

async fn layouts(
    files: &[ObjectMeta],
    store: &Arc<dyn ObjectStore>,
    runtime: &RuntimeEnv,
) -> Result<Vec<FileLayout>> {
    let cache = runtime.cache_manager.get_file_metadata_cache();
    let layout = async |file: &ObjectMeta| {
        let metadata =
            DFParquetMetadata::new(store.as_ref(), file).with_file_metadata_cache(Some(Arc::clone(&cache)));
        Ok::<_, DataFusionError>(FileLayout::of(file.location.clone(), &*metadata.fetch_metadata().await?))
    };
    let mut opened = stream::iter(files).map(layout).buffered(OPENED_AT_ONCE);
    let mut layouts: Vec<FileLayout> = Vec::new();
    while let Some(layout) = opened.try_next().await? {
        if layouts.last().is_none_or(|last| !last.is_like(&layout)) {
            layouts.push(layout);
        }
    }
    Ok(layouts)
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
