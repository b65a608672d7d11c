//! What ties after a sort by a part of the keys.

use std::ops::Range;

use crate::Error;
use crate::scratch::reserve;

/// Runs of indices, in ascending order, whose strings are equal as far as they were sorted and did not end before.
#[derive(Debug, Default)]
pub struct Ties {
    /// Where each string that ties belongs, run by run, and where the runs begin there and the last one ends.
    pub(crate) slots: Vec<u32>,
    pub(crate) starts: Vec<u64>,
}

impl Ties {
    /// With memory for so many strings in so many runs.
    pub(crate) fn with_room(strings: usize, runs: usize) -> Result<Ties, Error> {
        let (mut slots, mut starts) = (reserve(strings)?, reserve(runs + 1)?);
        slots.resize(strings, 0);
        starts.resize(runs + 1, 0);
        Ok(Ties { slots, starts })
    }

    /// How many runs there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// One of them.
    ///
    /// # Panics
    /// If there are not as many.
    #[must_use]
    pub fn get(&self, i: usize) -> Range<usize> {
        let (start, end) = (self.starts[i] as usize, self.starts[i + 1] as usize);
        let slot = self.slots[start] as usize;
        slot..slot + (end - start)
    }

    /// All of them, in ascending order. Allocates nothing.
    pub fn iter(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        (0..self.count()).map(|i| self.get(i))
    }

    /// Bytes that are held.
    pub(crate) fn bytes(&self) -> usize {
        size_of_val(&*self.slots) + size_of_val(&*self.starts)
    }
}
