//! Sorts files of any size.
//!
//! ```no_run
//! use std::path::Path;
//!
//! use sortie_files::Input;
//! use sortie_files::formats::{Choices, Lines, sort_layout};
//!
//! // Sorts a CSV file by its second column. The first line stays first.
//! let by_second = Lines {
//!     header: 1,
//!     key: |line: &[u8], key: &mut Vec<u8>| key.extend(line.split(|&byte| byte == b',').nth(1).unwrap_or(b"")),
//! };
//! let choices = Choices { memory: Some(1 << 30), ..Choices::default() };
//! sort_layout(&by_second, vec![Input::named(Path::new("in.csv"))], Some(Path::new("out.csv")), &choices)?;
//! # Ok::<(), sortie_files::Error>(())
//! ```
//!
//! # Formats
//!
//! [`formats`] has those that need no more than a call. A caller can add its own:
//!
//! | what it has | trait | function |
//! |---|---|---|
//! | items that follow each other, each with a key of bytes | [`formats::Layout`] | [`formats::sort_layout`] |
//! | items of one width, in any order | [`Items`] | [`sort_items`] |
//! | anything else | [`Format`] | [`Task::sort`] |
//!
//! # What always holds
//!
//! - *Order.* Sorts are stable, except where [`Items::sort`] of the caller is not, and where [`formats::text`] compares all bytes of lines
//!   with equal keys, as GNU sort does. The result does not depend on the memory, the threads or the folders.
//! - *Result.* An output appears complete, by a rename, or not at all: [`Output`]. An output may be one of the inputs. A process that is
//!   killed leaves no temporary files, if the file system has files without a name.
//! - *Memory.* All sizes are in bytes. A limit ([`memory::budget`]) is for the whole process; a single item that is larger than its share
//!   is sorted with more.
//! - *Time.* A sort reads and writes the data once if it fits in memory, else twice, plus once for each time that there are more runs
//!   than are merged together. It makes O(n log n) comparisons.
//! - *Disk.* Runs take as much space as the data. What was read of a run is given back while it is merged, if the file system can.
//!   Damage to a run is found by checksums, before any of it is used.
//! - *Failure.* An [`Error`] is one line: what was wrong, where, and what to do.

mod buffer;
pub mod compression;
mod error;
mod format;
pub mod formats;
mod gather;
#[cfg(test)]
mod gnu_sort;
mod input;
mod items;
mod ledger;
pub mod limits;
pub mod memory;
pub mod merge;
pub mod peek;
mod pipeline;
pub mod publish;
pub mod quote;
pub mod relay;
pub mod run;
pub mod shortage;
mod sink;
mod temporary;
pub mod threads;

pub use error::{Damaged, Error, Tight};
pub use format::{Format, Share, Sorted};
pub use gather::{Gather, Item, Keyed};
pub use input::{Input, Inputs, PARALLEL_FROM, binary};
pub use items::{Items, sort_items};
pub use ledger::{Ledger, Progress};
pub use pipeline::Task;
pub use publish::Output;
pub use sink::Sink;
pub use temporary::Temporary;
