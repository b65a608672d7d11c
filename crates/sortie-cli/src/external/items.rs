//! Sorting items of one width that are larger than memory: runs, then windows over the runs.
//!
//! Runs are merged by the engine that sorted them: it sorts windows over all runs. That takes fewer cycles an item than a
//! tournament does, for the engine sorts by all threads and with vectors, and it is the relay again that makes runs: one
//! window is read, one sorted and one written at a time.

use std::cmp::Ordering;
use std::ops::Range;
use std::time::Instant;

use super::buffer::Buffer;
use super::pipeline::{Format, Sorted, Task};
use super::{Cut, Part, Sink, Window, Windows, relay, runners};
use crate::failure::Failure;
use crate::stats::Ledger;

/// What is to be sorted, and how that is done in memory.
pub trait Items: Sync {
    /// The order of items in memory, where they stay in their places until they are written.
    type Order: Send;

    /// Bytes of an item.
    fn width(&self) -> usize;

    /// Bytes that sorting an item takes beside it.
    fn beside(&self) -> usize;

    /// Sorts whole items, which lie at an address that any number may have. Stable.
    fn sort(&self, items: &mut [u8], ledger: &Ledger) -> Result<Self::Order, Failure>;

    /// Writes items that were sorted. `last` is the item that was written before them, or empty, and then the last of them.
    fn write(
        &self,
        items: &[u8],
        order: &Self::Order,
        last: &mut Vec<u8>,
        sink: Sink<'_>,
    ) -> Result<(), Failure>;

    /// Which of two items comes first.
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering;
}

/// Fills bytes with whole items, and returns how many bytes it filled. It fills fewer at the end only.
pub type Fill<'a> = &'a mut (dyn FnMut(&mut [u8]) -> Result<usize, Failure> + Send);

/// Sorts all items that `fill` returns into `sink`. They have `size` bytes, if that is known.
pub fn sort_items(
    items: &impl Items,
    task: &Task<'_>,
    fill: Fill<'_>,
    size: Option<u64>,
    sink: Sink<'_>,
) -> Result<(), Failure> {
    task.sort(&OneWidth { items, task }, Feed { fill, expected: None }, size, sink)
}

/// Where items come from.
struct Feed<'a> {
    fill: Fill<'a>,
    /// How many bytes of items there are, if these are expected to fit in memory, until the first were read.
    expected: Option<usize>,
}

/// Items of one width as a format.
struct OneWidth<'a, I> {
    items: &'a I,
    task: &'a Task<'a>,
}

/// Runs that a merge has room for where the command line does not say, as long as each has room for two blocks.
const AT_ONCE: usize = 256;
/// Runs that are merged at a time however little memory there is.
const AT_ONCE_LEAST: usize = 16;

impl<'a, I: Items> Format for OneWidth<'a, I> {
    type Feed = Feed<'a>;
    type Stretch = Buffer;

    const RUNS_AT_ONCE: usize = AT_ONCE;

    fn may_fit(&self, feed: &mut Feed<'a>, size: Option<u64>) -> Result<bool, Failure> {
        let whole = self.stretch(1) as u64;
        feed.expected = size.filter(|&size| size <= whole).map(|size| size as usize);
        Ok(size.is_none_or(|size| size <= whole))
    }

    fn fill(&self, buffer: &mut Buffer, feed: &mut Feed<'a>, runners: usize) -> Result<bool, Failure> {
        // With room for one more than there should be, which tells the end.
        let room = feed.expected.take().map(|size| size + self.items.width());
        buffer.fill(room.unwrap_or_else(|| self.stretch(runners)), feed.fill, self.task.ledger)
    }

    fn sort(
        &self,
        buffer: &mut Buffer,
        then: impl FnOnce(Sorted<'_>) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let order = self.items.sort(buffer.filled_mut(), self.task.ledger)?;
        then(Sorted {
            bytes: buffer.filled().len(),
            at_once: self.at_once(),
            write: &|sink| self.write(buffer, &order, &mut Vec::new(), sink),
        })
    }

    fn merge(&self, runs: Vec<Part>, budget: u64, sink: Sink<'_>) -> Result<(), Failure> {
        let share = (self.window(budget) as usize / runs.len()).max(self.least());
        let windows = Windows::new(self, runs, share)?;
        let written = (sink, Vec::new());
        relay(runners(budget), windows, written, |window: &mut Window, turn| {
            let start = Instant::now();
            let ended = turn.feed().next(window)?;
            let items = &mut window.items;
            let (time, bytes) = (start.elapsed(), items.filled().len());
            self.task.ledger.note("read runs", time, bytes, bytes);
            turn.sort(ended);
            let order = self.items.sort(items.filled_mut(), self.task.ledger)?;
            let Some((sink, last)) = turn.write() else { return Ok(()) };
            self.write(items, &order, last, *sink)
        })
        .map(|_| ())
    }
}

impl<I: Items> Cut for OneWidth<'_, I> {
    fn whole(&self, bytes: &[u8]) -> usize {
        bytes.len() - bytes.len() % self.items.width()
    }

    fn at(&self, _: &[u8], byte: usize) -> Range<usize> {
        let start = byte - byte % self.items.width();
        start..start + self.items.width()
    }

    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        self.items.compare(a, b)
    }
}

impl<I: Items> OneWidth<'_, I> {
    fn write(
        &self,
        buffer: &Buffer,
        order: &I::Order,
        last: &mut Vec<u8>,
        sink: Sink<'_>,
    ) -> Result<(), Failure> {
        let items = buffer.filled();
        let write = || self.items.write(items, order, last, sink);
        self.task.ledger.timed("write", items.len(), items.len(), write)
    }

    /// Bytes of whole items that so many runners have room for at a time, while one sorts them and another writes them.
    fn stretch(&self, runners: usize) -> usize {
        let width = self.items.width();
        let each = runners * width + runners.min(2) * self.items.beside();
        (self.task.budget / each as u64).clamp(2, u64::from(u32::MAX)) as usize * width
    }

    /// Bytes of a window, where the runs that it comes from have as many.
    fn window(&self, budget: u64) -> u64 {
        let (width, runners) = (self.items.width() as u64, runners(budget) as u64);
        let each = (1 + runners) * width + runners.min(2) * self.items.beside() as u64;
        budget / each * width
    }

    /// How many runs memory has room for in a merge.
    fn at_once(&self) -> usize {
        (self.window(self.task.budget) as usize / self.least()).max(AT_ONCE_LEAST)
    }

    /// The least memory of a run in a merge: for a part of an item, and two blocks.
    fn least(&self) -> usize {
        self.items.width() + 2 * self.task.folder.block()
    }
}
