//! Sorts what is in files, whether it fits in memory or not.

mod buffer;
pub mod compression;
mod error;
mod format;
mod gather;
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
pub mod threads;

pub use error::{Damaged, Error};
pub use format::{Format, Share, Sink, Sorted};
pub use gather::{Gather, Item, Keyed};
pub use input::{Input, Inputs, PARALLEL_FROM, binary};
pub use items::{Items, sort_items};
pub use ledger::{Ledger, Progress};
pub use pipeline::{Task, Temporary};
pub use publish::Output;
