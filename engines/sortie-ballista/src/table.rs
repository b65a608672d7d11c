//! [`Table`]: the files that a sort reads, and what it sorts them by.

use std::sync::Arc;

use ballista_core::extension::SessionConfigExt;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::common::{
    Column, DataFusionError, Result, Statistics, exec_datafusion_err, exec_err, plan_err,
};
use datafusion::datasource::file_format::options::ReadOptions;
use datafusion::datasource::listing::{ListingTable, ListingTableConfig, ListingTableUrl};
use datafusion::datasource::physical_plan::parquet::metadata::DFParquetMetadata;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::runtime_env::{RuntimeEnv, RuntimeEnvBuilder};
use datafusion::logical_expr::{Expr, LogicalPlan};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::statistics::{StatisticsArgs, StatisticsContext};
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use futures::{StreamExt, TryStreamExt, stream};
use glob::Pattern;
use object_store::{ObjectMeta, ObjectStore};
use url::Url;

use crate::floats::InexactFloats;
use crate::keys::Key;
use crate::layout::{FileLayout, Layout};
use crate::sample::VARIABLE_WIDTH;
use crate::widen::Widened;
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

/// How names of the files in a folder end, in letters of any case.
const ENDINGS: [&str; 3] = [".parquet", ".parq", ".pq"];

/// A table that is sorted, as the session knows it.
const TABLE: &str = "input";

impl Table {
    /// Opens a file, a folder or a pattern, to be sorted by the columns of an ORDER BY.
    pub(crate) async fn open(input: &str, by: &str) -> Result<Table> {
        let Files { session, url, ending, widened, bytes, layouts } = Files::open(input).await?;
        let options = ParquetReadOptions::default().file_extension(&ending);
        let options = options.to_listing_options(&session.copied_config(), session.copied_table_options());
        let files = ListingTableConfig::new(url).with_listing_options(options);
        let files = match widened {
            Some(columns) => files.with_schema(columns),
            None => files.infer_schema(&session.state()).await?,
        };
        let statistics = session.runtime_env().cache_manager.get_file_statistic_cache();
        let files = ListingTable::try_new(files)?.with_cache(statistics);
        session.register_table(TABLE, session.read_table(Arc::new(files))?.into_view())?;
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
    url: ListingTableUrl,
    /// How their names end; empty for a file that was named itself.
    ending: String,
    /// The columns, if the files differ in them.
    widened: Option<SchemaRef>,
    bytes: u64,
    layouts: Vec<FileLayout>,
}

impl Files {
    async fn open(input: &str) -> Result<Files> {
        let stores = RuntimeEnvBuilder::new().with_object_store_registry(Arc::new(Stores::default()));
        let runtime = stores.build_arc()?;
        let with_tasks = |tasks: u64, subfolders: bool| {
            let config = SessionConfig::new_with_ballista()
                .with_target_partitions(tasks as usize)
                .set_bool("datafusion.execution.listing_table_ignore_subdirectory", !subfolders)
                // A task has one partition. That it reads its own files alone lets an error name them.
                .set_bool("datafusion.execution.enable_file_stream_work_stealing", false)
                .with_ballista_grpc_client_max_message_size(MESSAGE_BYTES);
            let builder =
                SessionStateBuilder::new().with_config(config).with_runtime_env(Arc::clone(&runtime));
            let builder =
                builder.with_default_features().with_physical_optimizer_rule(Arc::new(InexactFloats));
            SessionContext::new_with_state(builder.build())
        };
        let url = table_url(input)?;
        let store = runtime.object_store(url.object_store())?;
        let (url, is_file) = file_or_folder(url, store.as_ref()).await?;
        let listed = async |subfolders| {
            let state = with_tasks(FEWEST_TASKS, subfolders).state();
            let mut files: Vec<_> =
                url.list_all_files(&state, store.as_ref(), "").await?.try_collect().await?;
            files.retain(|file| is_file || ending(file).is_some());
            // Stores list files in any order. What is taken from the first is to be the same each time.
            files.sort_unstable_by(|a, b| a.location.cmp(&b.location));
            Ok::<_, DataFusionError>(files)
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
            return exec_err!("{input}: there is no file whose name ends in .parquet, .parq or .pq");
        };
        let is_hidden =
            |file: &&ObjectMeta| file.location.filename().is_some_and(|name| name.starts_with(['_', '.']));
        if let Some(hidden) = files.iter().find(is_hidden) {
            return exec_err!(
                "{input}: {} has the name of an unfinished file; move it away, or rename it",
                hidden.location
            );
        }
        if let Some(other) = files.iter().find(|file| !is_file && ending(file) != ending(first)) {
            return exec_err!(
                "{input}: {} and {} end differently; rename one",
                first.location,
                other.location
            );
        }
        let layouts = layouts(&files, store.as_ref(), &runtime).await?;
        layouts.iter().try_for_each(FileLayout::ensure_distinct_columns)?;
        let widened = widened(&layouts)?;
        let bytes = files.iter().map(|file| file.size).sum::<u64>();
        let session = with_tasks((bytes / TASK_BYTES).clamp(FEWEST_TASKS, MOST_TASKS), false);
        let ending = ending(first).filter(|_| !is_file).unwrap_or_default().to_owned();
        Ok(Files { session, url, ending, widened, bytes, layouts })
    }
}

/// How the name of a Parquet file ends, from the last dot on.
fn ending(file: &ObjectMeta) -> Option<&str> {
    let name = file.location.filename()?;
    let ending = &name[name.rfind('.')?..];
    ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)).then_some(ending)
}

/// Adds the slash to the URL of a folder, and tells whether it names a file. In a store, a folder is what has files.
async fn file_or_folder(url: ListingTableUrl, store: &dyn ObjectStore) -> Result<(ListingTableUrl, bool)> {
    if url.get_glob().is_some() || url.is_collection() {
        return Ok((url, false));
    }
    let is_folder = match Url::parse(url.as_str()).map(|url| url.to_file_path()) {
        Ok(Ok(path)) => !path.is_file(),
        _ => store.list(Some(url.prefix())).try_next().await?.is_some(),
    };
    match is_folder {
        true => Ok((ListingTableUrl::parse(format!("{}/", url.as_str()))?, false)),
        false => Ok((url, true)),
    }
}

/// How many files are opened at once.
const OPENED_AT_ONCE: usize = 32;

/// What the files say of their columns and of themselves. Of files that follow one another and say the same, one is kept.
async fn layouts(
    files: &[ObjectMeta],
    store: &dyn ObjectStore,
    runtime: &RuntimeEnv,
) -> Result<Vec<FileLayout>> {
    let cache = runtime.cache_manager.get_file_metadata_cache();
    let layout = async |file: &ObjectMeta| {
        let metadata = DFParquetMetadata::new(store, file).with_file_metadata_cache(Some(Arc::clone(&cache)));
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

/// The columns of a table whose files differ in them.
fn widened(files: &[FileLayout]) -> Result<Option<SchemaRef>> {
    let mut table: Option<Widened> = None;
    for file in files {
        let (columns, path) = (file.columns()?, file.path.as_ref());
        match &mut table {
            None => table = Some(Widened::new(&columns, path)),
            Some(table) => table.add(&columns, path)?,
        }
    }
    Ok(table.and_then(Widened::finish))
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

/// The URL of a table. A path that does not exist may be a pattern, and so may a URL.
fn table_url(input: &str) -> Result<ListingTableUrl> {
    if Url::parse(input).is_ok() {
        let Some(wildcard) = input.find(['*', '?', '[']) else { return ListingTableUrl::parse(input) };
        let start = input[..wildcard].rfind('/').map_or(0, |slash| slash + 1);
        let wrong = |error: String| exec_datafusion_err!("{input}: {error}");
        let pattern = Pattern::new(&input[start..]).map_err(|error| wrong(error.to_string()))?;
        let folder = Url::parse(&input[..start]).map_err(|error| wrong(error.to_string()))?;
        return ListingTableUrl::try_new(folder, Some(pattern));
    }
    let path = std::path::absolute(input)?;
    let url = match (path.is_dir(), path.exists()) {
        (true, _) => Url::from_directory_path(&path),
        (false, true) => Url::from_file_path(&path),
        (false, false) => return ListingTableUrl::parse(path.to_string_lossy()),
    };
    ListingTableUrl::try_new(url.map_err(|()| exec_datafusion_err!("{input}: not a path"))?, None)
}
