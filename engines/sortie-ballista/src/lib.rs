//! Lets a [Ballista](https://datafusion.apache.org/ballista/) cluster sort with [Sortie](sortie_datafusion).
//!
//! Two things, which do not depend on each other:
//!
//! - [`SortieEngine`] makes an executor sort with Sortie. Clients, SQL and the scheduler stay as they are.
//! - [`Sort`] sorts a table to files whose rows are in order over all of them. No node ever holds or merges the whole table. The
//!   scheduler and the executors need [`SortieCodec`] for it.
//!
//! The program `sortie-cluster` is made of both.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod codec;
mod connections;
mod cuts;
mod decimals;
mod distribute;
mod engine;
mod floats;
mod geo;
mod job;
mod keys;
mod layout;
mod output;
mod range;
mod sample;
mod scan;
mod sort;
mod step;
mod stores;
mod table;
mod widen;
mod write;

pub use codec::SortieCodec;
pub use engine::SortieEngine;
pub use floats::InexactFloats;
pub use job::cancel_job;
pub use output::{MANIFEST_SUFFIX, Manifest, Part, UNFINISHED};
pub use sort::{Progress, Sort};
pub use stores::Stores;

/// How large a message between the processes of a cluster may be. A plan names all files of a table and all cuts.
pub const MESSAGE_BYTES: usize = 256 << 20;
