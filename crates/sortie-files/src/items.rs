//! Sorts items of one width that do not fit in memory: makes runs, then merges windows of all runs.
//!
//! The engine that sorted the runs also merges them: it sorts one window of all runs after the other. That takes fewer
//! cycles for each item than a tournament tree, because the engine uses all threads and vector instructions. As when runs
//! are made, a relay reads one window, sorts one and writes one at the same time.

use std::cmp::Ordering;
use std::ops::Range;
use std::time::Instant;

use crate::buffer::{Buffer, Fill};
use crate::format::{Format, Share, Sorted};
use crate::merge::windows::{Cut, Window, Windows};
use crate::pipeline::Task;
use crate::relay::relay;
use crate::run::Part;
use crate::sink::Sink;
use crate::{Error, Ledger};

/// Items of one width, and how they are sorted in memory.
pub trait Items: Sync {
    /// The result of [`Items::sort`] that [`Items::write`] needs: `()` if the items were sorted in place, or else their
    /// indices in order.
    type Order: Send;

    /// The bytes of an item.
    fn width(&self) -> usize;

    /// The bytes that the sort needs for each item in addition to the item itself.
    fn beside(&self) -> usize;

    /// Sorts whole items, whose memory is aligned for any number type. Stable.
    fn sort(&self, items: &mut [u8], ledger: &Ledger) -> Result<Self::Order, Error>;

    /// Writes items that were sorted. `last` is the last item written before, or empty if there is none. It is updated to
    /// the last of these items if they may be left out as equal.
    fn write(
        &self,
        items: &[u8],
        order: &Self::Order,
        last: &mut Vec<u8>,
        sink: Sink<'_>,
    ) -> Result<(), Error>;

    /// Compares two items.
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering;
}

/// Sorts all items that `fill` reads into `sink`. `size` is their number of bytes, if it is known.
pub fn sort_items(
    items: &impl Items,
    task: &Task<'_>,
    fill: Fill<'_>,
    size: Option<u64>,
    sink: Sink<'_>,
) -> Result<(), Error> {
    task.sort(&OneWidth { items, task }, Feed { fill, expected: None }, size, sink)
}

/// The source of the items.
struct Feed<'a> {
    fill: Fill<'a>,
    /// The bytes of all items, if they are expected to fit in memory. `None` once the first items were read.
    expected: Option<usize>,
}

/// Items of one width as a format.
struct OneWidth<'a, I> {
    items: &'a I,
    task: &'a Task<'a>,
}

/// The default number of runs to merge at a time. Memory may allow fewer, because each run needs room for two blocks.
const AT_ONCE: usize = 256;
/// The number of runs that may always be merged at a time, however little memory there is.
const AT_ONCE_LEAST: usize = 16;

impl<'a, I: Items> Format for OneWidth<'a, I> {
    type Feed = Feed<'a>;
    type Stretch = Buffer;

    const RUNS_AT_ONCE: usize = AT_ONCE;

    fn may_fit(&self, feed: &mut Feed<'a>, size: Option<u64>) -> Result<bool, Error> {
        let whole = self.stretch(1) as u64;
        feed.expected = size.filter(|&size| size <= whole).map(|size| size as usize);
        Ok(size.is_none_or(|size| size <= whole))
    }

    fn fill(&self, buffer: &mut Buffer, feed: &mut Feed<'a>, share: Share<'_>) -> Result<bool, Error> {
        // Leaves room for one item more than expected, so that a read can detect the end.
        let room = feed.expected.take().map(|size| size + self.items.width());
        buffer.fill(room.unwrap_or_else(|| self.stretch(share.runners)), feed.fill, self.task.ledger)
    }

    fn sort(
        &self,
        buffer: &mut Buffer,
        then: impl FnOnce(Sorted<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let order = self.items.sort(buffer.filled_mut(), self.task.ledger)?;
        then(Sorted {
            bytes: buffer.filled().len(),
            at_once: self.at_once(),
            write: &|sink| self.write(buffer, &order, &mut Vec::new(), sink),
        })
    }

    fn merge(&self, runs: Vec<Part>, budget: u64, sink: Sink<'_>) -> Result<(), Error> {
        let share = (self.window(budget) as usize / runs.len()).max(self.least());
        let windows = Windows::new(self, runs, share)?;
        let written = (sink, Vec::new());
        relay(self.task.runners(budget), windows, written, |window: &mut Window, turn| {
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
    ) -> Result<(), Error> {
        let items = buffer.filled();
        let write = || self.items.write(items, order, last, sink);
        self.task.ledger.timed("write", items.len(), items.len(), write)
    }

    /// The size of a stretch in bytes if each of `runners` runners holds one, of which one is being sorted and one is being
    /// written.
    fn stretch(&self, runners: usize) -> usize {
        let width = self.items.width();
        let each = runners * width + runners.min(2) * self.items.beside();
        (self.task.budget / each as u64).clamp(2, u64::from(u32::MAX)) as usize * width
    }

    /// The size of a window in bytes. The buffers of the runs that it comes from take as many bytes together.
    fn window(&self, budget: u64) -> u64 {
        let (width, runners) = (self.items.width() as u64, self.task.runners(budget) as u64);
        let each = (1 + runners) * width + runners.min(2) * self.items.beside() as u64;
        budget / each * width
    }

    /// The number of runs that can be merged at a time in memory.
    fn at_once(&self) -> usize {
        (self.window(self.task.budget) as usize / self.least()).max(AT_ONCE_LEAST)
    }

    /// The minimum memory of a run in a merge: for a part of an item, and two blocks.
    fn least(&self) -> usize {
        self.items.width() + 2 * self.task.folder.block()
    }
}
