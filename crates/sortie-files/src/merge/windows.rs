//! Windows over sorted runs. A window has the items of all runs up to a bound.
//!
//! The bound is the smallest of the last items in memory of all runs that have more to read. No item that is read later
//! comes before it, so the sorted windows follow each other.

use std::cmp::Ordering;
use std::ops::Range;

use crate::Error;
use crate::buffer::Buffer;
use crate::run::{Part, Source};

/// How to find items in bytes in which they follow each other, and how they compare.
pub trait Cut: Sync {
    /// The end of the last whole item. `bytes` begins with an item.
    fn whole(&self, bytes: &[u8]) -> usize;

    /// The range of the item that contains `byte`. `items` has only whole items.
    fn at(&self, items: &[u8], byte: usize) -> Range<usize>;

    /// Compares two items.
    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering;
}

/// Runs, in the order in which their items were read from the input.
pub struct Windows<'a, C> {
    cut: &'a C,
    runs: Vec<OpenRun>,
}

struct OpenRun {
    source: Source,
    /// The end of the whole items in [`Source::rest`].
    whole: usize,
}

impl OpenRun {
    fn items(&self) -> &[u8] {
        &self.source.rest()[..self.whole]
    }

    fn last(&self, cut: &impl Cut) -> &[u8] {
        let items = self.items();
        &items[cut.at(items, items.len() - 1)]
    }
}

/// The items of a window, one run after the other.
#[derive(Default)]
pub struct Window {
    pub items: Buffer,
    /// The end of the items of each run.
    ends: Vec<usize>,
}

impl Window {
    /// The items of each run.
    pub fn runs(&self) -> Vec<&[u8]> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.items.filled()[start..end]).collect()
    }
}

impl<'a, C: Cut> Windows<'a, C> {
    /// Opens runs, each with a buffer of `share` bytes.
    pub fn new(cut: &'a C, runs: Vec<Part>, share: usize) -> Result<Self, Error> {
        let open = |run: Part| Ok(OpenRun { source: Source::open(run, share)?, whole: 0 });
        Ok(Windows { cut, runs: runs.into_iter().map(open).collect::<Result<_, Error>>()? })
    }

    /// Puts the next window into `window`. Returns whether it is the last.
    pub fn next(&mut self, window: &mut Window) -> Result<bool, Error> {
        for OpenRun { source, whole } in &mut self.runs {
            source.load(|bytes| self.cut.whole(bytes) > 0)?;
            *whole = self.cut.whole(source.rest());
        }
        let ends = self.ends();
        window.ends.clear();
        let room = self.runs.iter().map(|run| run.source.room()).sum();
        window.items.fill_by(room, |to| {
            let mut filled = 0;
            for (run, end) in self.runs.iter_mut().zip(ends) {
                to[filled..filled + end].copy_from_slice(&run.source.rest()[..end]);
                run.source.take(end);
                filled += end;
                window.ends.push(filled);
            }
            Ok(filled)
        })?;
        Ok(self.runs.iter().all(|run| !run.source.goes_on() && run.source.rest().is_empty()))
    }

    /// The end of the next window's items in each run.
    ///
    /// Among the runs that have more to read, the one whose last item in memory is smallest gives the bound. All of its items
    /// in memory belong to the window. Items that are read later from this run may be equal to the bound. They come before
    /// equal items of the runs after it, so these do not belong to the window yet.
    fn ends(&self) -> Vec<usize> {
        let going_on = self.runs.iter().enumerate().filter(|(_, run)| run.source.goes_on());
        let last = going_on.map(|(place, run)| (place, run.last(self.cut)));
        let bound = last.min_by(|(_, a), (_, b)| self.cut.compare(a, b));
        let end_in = |(place, run): (usize, &OpenRun)| match bound {
            Some((at, bound)) if place != at => end(self.cut, run.items(), |item| {
                let order = self.cut.compare(item, bound);
                if place < at { order.is_le() } else { order == Ordering::Less }
            }),
            _ => run.whole,
        };
        self.runs.iter().enumerate().map(end_in).collect()
    }
}

/// The end of the items for which `is_in` is true. It must be true for the first items and false for all others.
pub fn end<C: Cut>(cut: &C, items: &[u8], is_in: impl Fn(&[u8]) -> bool) -> usize {
    let (mut from, mut to) = (0, items.len());
    while from < to {
        let item = cut.at(&items[from..to], (to - from) / 2);
        let item = from + item.start..from + item.end;
        if is_in(&items[item.clone()]) { from = item.end } else { to = item.start }
    }
    from
}
