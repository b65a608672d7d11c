//! DataFusion's command-line program, sorting with Sortie. Arguments are commands; without any, they are read from the terminal.
//!
//! ```sh
//! cargo run --release --features cli --example cli
//! cargo run --release --features cli --example cli -- \
//!     "SET datafusion.runtime.memory_limit = '500M'" \
//!     "COPY (SELECT * FROM 'unsorted.parquet' ORDER BY a, b DESC) TO 'sorted.parquet'"
//! ```

use std::sync::Arc;

use datafusion::error::{DataFusionError, Result};
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use datafusion_cli::catalog::DynamicObjectStoreCatalog;
use datafusion_cli::exec::{exec_from_commands, exec_from_repl};
use datafusion_cli::object_storage::instrumented::InstrumentedObjectStoreRegistry;
use datafusion_cli::print_format::PrintFormat;
use datafusion_cli::print_options::{MaxRows, PrintOptions};
use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

#[tokio::main]
async fn main() -> Result<()> {
    let stores = Arc::new(InstrumentedObjectStoreRegistry::new());
    let runtime = RuntimeEnvBuilder::new().with_object_store_registry(stores.clone()).build_arc()?;
    let state = SessionStateBuilder::new()
        .with_default_features()
        .with_config(SessionConfig::new().with_information_schema(true))
        .with_runtime_env(runtime);
    let state = sortie_datafusion::install(state).build();
    // The names of files are names of tables.
    let session = SessionContext::new_with_state(state).enable_url_table();
    let catalogs =
        DynamicObjectStoreCatalog::new(session.state().catalog_list().clone(), session.state_weak_ref());
    session.register_catalog_list(Arc::new(catalogs));

    let commands: Vec<String> = std::env::args().skip(1).collect();
    let mut options = PrintOptions {
        format: PrintFormat::Automatic,
        quiet: false,
        maxrows: MaxRows::Limited(40),
        color: true,
        instrumented_registry: stores,
    };
    if commands.is_empty() {
        return exec_from_repl(&session, &mut options)
            .await
            .map_err(|e| DataFusionError::External(Box::new(e)));
    }
    exec_from_commands(&session, commands, &options).await
}
