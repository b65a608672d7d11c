//! The strings that still tie after a sort by a part of the keys.

use std::ops::Range;

use crate::Error;
use crate::scratch::reserve;

/// Runs of indices, in ascending order, whose strings are equal as far as they were sorted and are longer than that.
#[derive(Debug, Default)]
pub struct Ties {
    /// The slot of each string that ties, run by run; and where in these slots each run begins and the last one ends.
    pub(crate) slots: Vec<u32>,
    pub(crate) starts: Vec<u64>,
}

impl Ties {
    /// Allocates memory for this many strings in this many runs.
    pub(crate) fn with_room(strings: usize, runs: usize) -> Result<Ties, Error> {
        let (mut slots, mut starts) = (reserve(strings)?, reserve(runs + 1)?);
        slots.resize(strings, 0);
        starts.resize(runs + 1, 0);
        Ok(Ties { slots, starts })
    }

    /// The number of runs.
    #[must_use]
    pub fn count(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// One of the runs.
    ///
    /// # Panics
    /// If there is no run with this number.
    #[must_use]
    pub fn get(&self, i: usize) -> Range<usize> {
        let (start, end) = (self.starts[i] as usize, self.starts[i + 1] as usize);
        let slot = self.slots[start] as usize;
        slot..slot + (end - start)
    }

    /// All runs, in ascending order. Allocates nothing.
    pub fn iter(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        (0..self.count()).map(|i| self.get(i))
    }

    /// Bytes that it holds.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.slots) + size_of_val(&*self.starts)
    }
}
