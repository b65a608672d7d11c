//! A blocked sort-based indexer: builds an inverted index of documents, which can be searched, checked and
//! exported.
//!
//! [`Builder`] builds an index. It parses documents into pairs of a term and a document, in blocks that fit in
//! memory. `sortie` sorts the pairs of a block on the CPU or a GPU. Sorted blocks are written to disk as runs, and
//! the runs are merged. [`Index`] reads the result.
//!
//! ```no_run
//! # fn main() -> Result<(), sortie_index::Error> {
//! use sortie_index::{Builder, Index};
//! let summary = Builder::default().memory_limit(4 << 30).build(&["docs".into()], "docs.index".as_ref(), |skipped| {
//!     eprintln!("{skipped}");
//! })?;
//! println!("{} documents, {} terms", summary.counts.documents, summary.counts.terms);
//! for hit in Index::open("docs.index".as_ref())?.search("sorting networks", 10)? {
//!     println!("{:.3} {}", hit.score, hit.name);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Words are those of UAX #29, case-folded, see [`Tokenizer`]. An index is a folder of files that never change. A new
//! index replaces an old one by one rename.

mod block;
mod build;
mod check;
mod ciff;
mod collection;
mod dictionary;
mod documents;
mod error;
mod format;
mod index;
mod merge;
mod names;
mod parse;
mod plan;
mod postings;
mod publish;
mod run;
mod search;
mod stored;
mod terms;
mod tokens;
mod varint;

pub use build::{Builder, Pipeline, Prepared, Summary, Times};
pub use documents::{Document, PassedOver};
pub use error::{Error, Reason, Skipped};
pub use format::Counts;
pub use index::{Index, Posting, Postings};
pub use postings::List;
pub use search::Hit;
pub use tokens::Tokenizer;
