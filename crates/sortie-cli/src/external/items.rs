//! Sorting items of one width that are larger than memory: runs, then windows over the runs.
//!
//! Runs are merged by the engine that sorted them. A window is what all runs hold up to a bound: the last item that was
//! read of one of them, so that nothing that is read later comes before it. Sorted, windows follow each other. That takes
//! fewer cycles an item than a tournament does, for the engine sorts by all threads and with vectors, and it is the relay
//! again that makes runs: one window is read, one sorted and one written at a time.

use std::cmp::Ordering;
use std::num::NonZeroUsize;
use std::time::Instant;

use super::buffer::Buffer;
use super::windows::{Source, Windows};
use super::{Part, Parts, RunFolder, Sink, relay, runners};
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

/// Where items come from: fills bytes with whole items, fewer of them at the end alone.
pub trait Feed: FnMut(&mut [u8]) -> Result<usize, Failure> + Send {}
impl<F: FnMut(&mut [u8]) -> Result<usize, Failure> + Send> Feed for F {}

/// A sort within a budget of memory.
pub struct Task<'a, I> {
    pub items: &'a I,
    pub budget: u64,
    pub folder: &'a RunFolder,
    /// The most runs that are merged at a time, where the command line says.
    pub at_once: Option<NonZeroUsize>,
    pub ledger: &'a Ledger,
}

/// Runs that a merge has room for where the command line does not say, as long as each has room for two blocks.
const AT_ONCE: u64 = 256;
/// Runs that are merged at a time however little memory there is.
const AT_ONCE_LEAST: u64 = 16;

impl<I: Items> Task<'_, I> {
    /// Sorts all of `feed`, which are so many bytes where that is known, into `sink`.
    pub fn sort(&self, mut feed: impl Feed, size: Option<u64>, sink: Sink<'_>) -> Result<(), Failure> {
        self.ledger.progress.stage("sorting", size.unwrap_or(0));
        let merge = |parts, budget, sink: Sink<'_>| self.merge(parts, budget, sink);
        let mut parts = Parts::new(self.at_once(), self.budget, self.folder, self.ledger, &merge);

        // What fits is sorted at once; of a pipe it shows so whether it does.
        let whole = self.stretch(1);
        if size.is_none_or(|size| size <= whole as u64) {
            // With room for one more than there should be, which tells the end.
            let room = size.map_or(whole, |size| size as usize + self.items.width());
            let mut buffer = Buffer::default();
            let ended = buffer.fill(room, &mut feed, self.ledger)?;
            let order = self.items.sort(buffer.filled_mut(), self.ledger)?;
            if ended {
                self.ledger.progress.stage("writing", buffer.filled().len() as u64);
                return self.write(&buffer, &order, &mut Vec::new(), sink);
            }
            parts.push(self.folder.write(|sink| self.write(&buffer, &order, &mut Vec::new(), sink))?)?;
        }

        let runners = runners(self.budget);
        let room = self.stretch(runners);
        let parts = relay(runners, feed, parts, |buffer: &mut Buffer, turn| {
            let ended = buffer.fill(room, turn.feed(), self.ledger)?;
            turn.sort(ended);
            let order = self.items.sort(buffer.filled_mut(), self.ledger)?;
            let Some(parts) = turn.write() else { return Ok(()) };
            if buffer.filled().is_empty() {
                return Ok(());
            }
            parts.push(self.folder.write(|sink| self.write(buffer, &order, &mut Vec::new(), sink))?)
        })?;
        parts.merge(sink)
    }

    fn write(
        &self,
        buffer: &Buffer,
        order: &I::Order,
        last: &mut Vec<u8>,
        sink: Sink<'_>,
    ) -> Result<(), Failure> {
        let items = buffer.filled();
        self.ledger.timed("write", items.len(), items.len(), || self.items.write(items, order, last, sink))
    }

    /// Bytes of whole items that so many runners have room for at a time, while one sorts them and another writes them.
    fn stretch(&self, runners: usize) -> usize {
        let width = self.items.width();
        let each = runners * width + runners.min(2) * self.items.beside();
        (self.budget / each as u64).clamp(2, u64::from(u32::MAX)) as usize * width
    }

    /// Bytes of a window, where the runs that it comes from have as many.
    fn window(&self, budget: u64) -> u64 {
        let (width, runners) = (self.items.width() as u64, runners(budget) as u64);
        let each = (1 + runners) * width + runners.min(2) * self.items.beside() as u64;
        budget / each * width
    }

    /// How many runs are merged at a time.
    fn at_once(&self) -> usize {
        let room = self.window(self.budget) / Source::least(self.items.width(), self.folder.block()) as u64;
        let most = self.at_once.map_or(AT_ONCE, |most| most.get() as u64);
        room.max(AT_ONCE_LEAST).min(most) as usize
    }

    /// Merges runs, which lie in the order in which they were read.
    fn merge(&self, parts: Vec<Part>, budget: u64, sink: Sink<'_>) -> Result<(), Failure> {
        let (width, runners) = (self.items.width(), runners(budget));
        let share = self.window(budget) as usize / parts.len().max(1);
        let open = |part: Part| {
            let bytes = part.bytes;
            Source::new(part.open()?, bytes, width, self.folder.block(), share)
        };
        let windows = Windows::new(self.items, parts.into_iter().map(open).collect::<Result<_, _>>()?);
        let written = (sink, Vec::new());
        relay(runners, windows, written, |buffer: &mut Buffer, turn| {
            let start = Instant::now();
            let ended = turn.feed().next(buffer)?;
            self.ledger.note("read runs", start.elapsed(), buffer.filled().len(), buffer.filled().len());
            turn.sort(ended);
            let order = self.items.sort(buffer.filled_mut(), self.ledger)?;
            let Some((sink, last)) = turn.write() else { return Ok(()) };
            self.write(buffer, &order, last, *sink)
        })
        .map(|_| ())
    }
}
