//! Windows over sorted runs of items of one width: what all runs hold up to a bound.

use std::cmp::Ordering;
use std::io::{self, Read};

use super::Content;
use super::buffer::Buffer;
use super::items::Items;
use crate::failure::Failure;

/// Runs, in the order in which their items were read at first.
pub struct Windows<'a, I> {
    items: &'a I,
    sources: Vec<Source>,
}

impl<'a, I: Items> Windows<'a, I> {
    pub fn new(items: &'a I, sources: Vec<Source>) -> Self {
        Windows { items, sources }
    }

    /// Puts the next window into `window`, one run after the other; true where it was the last.
    pub fn next(&mut self, window: &mut Buffer) -> Result<bool, Failure> {
        self.sources.iter_mut().try_for_each(Source::load)?;
        let ends = ends(&self.sources, |a, b| self.items.compare(a, b));
        let most = self.sources.iter().map(|source| source.read.len()).sum();
        window.fill_by(most, |window| {
            let mut filled = 0;
            for (source, end) in self.sources.iter_mut().zip(ends) {
                let items = &source.read[source.taken..end];
                window[filled..filled + items.len()].copy_from_slice(items);
                filled += items.len();
                source.taken = end;
            }
            Ok(filled)
        })?;
        Ok(self.sources.iter().all(|source| source.left == 0 && source.taken == source.filled))
    }
}

/// A run, a part of which is in memory.
pub trait Stretch {
    /// Whether it has more than what is in memory.
    fn goes_on(&self) -> bool;

    /// The last item in memory; one that goes on has one there.
    fn last(&self) -> &[u8];

    /// Where the items in memory end of which `is_in` is true; it is of the first ones alone.
    fn end(&self, is_in: impl Fn(&[u8]) -> bool) -> usize;

    /// Where the last whole item ends.
    fn whole(&self) -> usize;
}

/// Up to where each run belongs to the next window.
///
/// Of the runs that go on, the bound is the one whose last item comes first. All of it that is in memory belongs to the window.
/// Its next items may be equal to the bound, and come before their equals in the runs after it.
pub fn ends<S: Stretch>(runs: &[S], compare: impl Fn(&[u8], &[u8]) -> Ordering) -> Vec<usize> {
    let going_on = runs.iter().enumerate().filter(|(_, run)| run.goes_on());
    let last = going_on.map(|(place, run)| (place, run.last()));
    let bound = last.min_by(|(_, a), (_, b)| compare(a, b));
    let end = |(place, run): (usize, &S)| match bound {
        Some((at, bound)) if place != at => run.end(|item| {
            let order = compare(item, bound);
            if place < at { order.is_le() } else { order == Ordering::Less }
        }),
        _ => run.whole(),
    };
    runs.iter().enumerate().map(end).collect()
}

/// A run of items of one width.
pub struct Source {
    content: Content,
    /// Bytes that were not yet read.
    left: u64,
    width: usize,
    block: usize,
    /// As much as may be in memory; from `taken` to `filled` it is what was read and not yet taken.
    read: Vec<u8>,
    taken: usize,
    filled: usize,
}

impl Source {
    /// The least memory of a run: for a part of an item, and two blocks.
    pub fn least(width: usize, block: usize) -> usize {
        width + 2 * block
    }

    /// A run of so many bytes, which gets `share` bytes of memory, or the least.
    pub fn new(
        content: Content,
        bytes: u64,
        width: usize,
        block: usize,
        share: usize,
    ) -> Result<Source, Failure> {
        let most = share.max(Source::least(width, block)).min(usize::try_from(bytes).unwrap_or(usize::MAX));
        let read = bytemuck::try_zeroed_vec(most).map_err(|()| Failure::Memory(most as u64))?;
        Ok(Source { content, left: bytes, width, block, read, taken: 0, filled: 0 })
    }

    /// Reads whole blocks, as many as there is room for; so it has an item, where the run has.
    fn load(&mut self) -> Result<(), Failure> {
        let held = self.filled - self.taken;
        let room = (self.read.len() - held) as u64;
        let more = if room >= self.left { self.left } else { room - room % self.block as u64 } as usize;
        if more == 0 {
            return Ok(());
        }
        self.read.copy_within(self.taken..self.filled, 0);
        (self.taken, self.filled) = (0, held + more);
        self.left -= more as u64;
        let Content { reader, doing, name } = &mut self.content;
        let mut read = || {
            reader.read_exact(&mut self.read[held..held + more])?;
            // The end is looked at too.
            if self.left == 0 && reader.read(&mut [0])? > 0 {
                Err(io::ErrorKind::InvalidData.into())
            } else {
                Ok(())
            }
        };
        read().map_err(Failure::file(doing, name))
    }
}

impl Stretch for Source {
    fn goes_on(&self) -> bool {
        self.left > 0
    }

    fn last(&self) -> &[u8] {
        let whole = self.whole();
        &self.read[whole - self.width..whole]
    }

    fn whole(&self) -> usize {
        self.filled - (self.filled - self.taken) % self.width
    }

    fn end(&self, is_in: impl Fn(&[u8]) -> bool) -> usize {
        let (mut from, mut to) = (0, (self.whole() - self.taken) / self.width);
        while from < to {
            let middle = from.midpoint(to);
            let at = self.taken + middle * self.width;
            if is_in(&self.read[at..at + self.width]) { from = middle + 1 } else { to = middle }
        }
        self.taken + from * self.width
    }
}
