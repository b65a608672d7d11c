//! The code that all formats share to sort input that may not fit in memory: the steps from reading to merging, and
//! sorted runs on disk.

mod buffer;
mod gather;
mod inputs;
mod items;
mod merge;
mod pages;
mod parts;
mod pipeline;
mod relay;
mod runs;
mod source;
mod windows;

use crate::failure::Failure;
pub use gather::{Gather, Item, Keyed};
pub use inputs::Inputs;
pub use items::{Items, sort_items};
pub use merge::{Cursor, Order, merge_cursors};
pub use pages::Pages;
pub use parts::{Merges, Part, Parts};
pub use pipeline::{Format, Share, Sorted, Task};
pub use relay::relay;
pub use runs::{Content, RunFolder};
pub use source::Source;
pub use windows::{Cut, Window, Windows, end};

/// A smaller memory budget is not worth dividing among several runners.
const SHARED_FROM: u64 = 5 << 20;

/// The number of runners that share `budget` bytes of memory in a relay: one for each of its three steps, or only one.
pub fn runners(budget: u64) -> usize {
    if rayon::current_num_threads() > 1 && budget >= SHARED_FROM { 3 } else { 1 }
}

/// Receives sorted data in order.
pub type Sink<'a> = &'a mut (dyn FnMut(&[u8]) -> Result<(), Failure> + Send);
