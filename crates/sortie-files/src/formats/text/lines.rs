//! [`Lines`]: text in memory that is cut into lines.

use rayon::prelude::*;
use sortie_formats::lines;

use super::LineSort;
use super::cost::Cost;
use super::stretch::{PART, Text};
use crate::Error;
use crate::memory::filled;

/// Text in memory, and the number of lines in each of its parts.
pub struct Lines<'a> {
    parts: Vec<&'a [u8]>,
    counts: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// The lines of several texts in sequence. Each text ends with a terminator.
    pub fn of(texts: &'a [Vec<u8>], job: &LineSort<'_>) -> Self {
        let parts = |text: &[u8]| if job.is_alone() { 1 } else { text.len().div_ceil(PART) };
        let cut = |text: &'a Vec<u8>| lines::parts(text, job.terminator, parts(text));
        let parts: Vec<_> = texts.iter().flat_map(cut).collect();
        let count = |part: &&[u8]| lines::count(part, job.terminator);
        let counts = if job.is_alone() {
            parts.iter().map(count).collect()
        } else {
            parts.par_iter().map(count).collect()
        };
        Lines { parts, counts }
    }

    /// The lines of a text that was searched.
    pub fn of_text(text: &'a Text) -> Self {
        let (parts, counts) = text.parts().unzip();
        Lines { parts, counts }
    }

    /// The number of lines.
    pub fn count(&self) -> usize {
        self.counts.iter().sum()
    }

    /// The bytes of memory needed to sort the lines, including the text.
    pub fn cost(&self, job: &LineSort<'_>) -> Result<u64, Error> {
        let mut cost = Cost::default();
        for (part, &count) in self.parts.iter().zip(&self.counts) {
            cost.add(&job.order, count, part, job.terminator)?;
        }
        Ok(self.bytes() as u64 + cost.bytes())
    }

    /// The text.
    pub fn parts(&self) -> &[&'a [u8]] {
        &self.parts
    }

    /// The number of lines in each part.
    pub fn counts(&self) -> &[usize] {
        &self.counts
    }

    /// The bytes of the text.
    pub fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.len()).sum()
    }

    /// Cuts the text into lines.
    pub fn split(&self, job: &LineSort<'_>) -> Result<Vec<&'a [u8]>, Error> {
        let mut found = filled(self.count(), &[][..])?;
        let mut rest = &mut found[..];
        let rooms = self.counts.iter().map(|&count| rest.split_off_mut(..count).expect("as many as counted"));
        let work = self.parts.iter().zip(rooms);
        let split = |(part, room): (&&'a [u8], &mut [&'a [u8]])| match room {
            // The part is a single line, whose terminator is the last byte.
            [line] => *line = &part[..part.len() - 1],
            room => lines::split(part, job.terminator, room),
        };
        // Parts that are single lines are no work.
        if job.is_alone() || self.counts.iter().filter(|&&count| count > 1).count() < 2 {
            work.for_each(split);
        } else {
            work.collect::<Vec<_>>().into_par_iter().for_each(split);
        }
        Ok(found)
    }
}
