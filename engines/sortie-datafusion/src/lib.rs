//! Lets [DataFusion](datafusion) sort with [Sortie](sortie_arrow).
//!
//! [`install`] adds a rule to a session. The rule replaces each sort without a limit by a [`SortieExec`].
//!
//! ```
//! use datafusion::arrow::array::Int32Array;
//! use datafusion::prelude::SessionContext;
//! use datafusion::execution::SessionStateBuilder;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> datafusion::error::Result<()> {
//! let state = sortie_datafusion::install(SessionStateBuilder::new().with_default_features()).build();
//! let session = SessionContext::new_with_state(state);
//!
//! let sorted = session.sql("SELECT x FROM (VALUES (3), (1), (2)) AS t(x) ORDER BY x DESC").await?;
//! let batches = sorted.collect().await?;
//! # Ok(())
//! # }
//! ```

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
