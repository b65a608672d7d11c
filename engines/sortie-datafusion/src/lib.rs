//! Lets [DataFusion](datafusion) sort with [Sortie](sortie_arrow).
//!
//! [`install`] adds a rule to a session. The rule replaces each sort without a limit by a [`SortieExec`].
//!
//! ```
//! use datafusion::arrow::array::AsArray;
//! use datafusion::arrow::datatypes::Int64Type;
//! use datafusion::execution::SessionStateBuilder;
//! use datafusion::prelude::SessionContext;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> datafusion::error::Result<()> {
//! let builder = SessionStateBuilder::new().with_default_features();
//! let session = SessionContext::new_with_state(sortie_datafusion::install(builder).build());
//!
//! let query = session.sql("SELECT x FROM (VALUES (3), (1), (2)) AS t(x) ORDER BY x DESC").await?;
//! let sorted = query.collect().await?;
//! assert_eq!(sorted[0].column(0).as_primitive::<Int64Type>().values(), &[3, 2, 1]);
//! # Ok(())
//! # }
//! ```
//!
//! SQL and configuration stay as they are: memory and disk limits, spilling, cancellation and metrics are those of DataFusion.
//!
//! # Features
//!
//! - `cli`: builds the example `cli`, DataFusion's command-line program with Sortie. Off by default.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod buffer;
mod exec;
mod merge;
mod part;
mod rule;
mod sort;
mod sorted;
mod spill;
mod work;

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::common::Result;
use datafusion::execution::SessionStateBuilder;
use futures::stream::BoxStream;

pub use exec::SortieExec;
pub use rule::SortWithSortie;

/// Batches that come one after another.
type BatchStream = BoxStream<'static, Result<RecordBatch>>;

/// Adds [`SortWithSortie`] to the rules of a session, after all other rules so far.
pub fn install(builder: SessionStateBuilder) -> SessionStateBuilder {
    builder.with_physical_optimizer_rule(Arc::new(SortWithSortie))
}
