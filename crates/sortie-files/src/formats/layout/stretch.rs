//! Items in memory, and their keys.

use rayon::prelude::*;

use super::Layout;
use crate::memory::filled;
use crate::{Error, Keyed};

/// The memory for the ends of an item and of its key.
const ENDS: u64 = 2 * size_of::<usize>() as u64;
/// The memory for an item while it is sorted or written: two references, and two words of a sort of strings.
const SORTED: u64 = 2 * size_of::<Keyed<'_, '_>>() as u64 + 16;
/// One thread finds the keys of this many items.
const ITEMS_A_BLOCK: usize = 512;

/// Whole items and their keys.
#[derive(Default)]
pub struct Stretch {
    pub text: Vec<u8>,
    pub ends: Vec<usize>,
    keys: Vec<u8>,
    key_ends: Vec<usize>,
}

/// What is wrong with an item, and where it begins in the text.
pub struct Wrong {
    pub start: usize,
    pub problem: String,
}

impl Stretch {
    pub fn clear(&mut self) {
        self.text.clear();
        self.keys.clear();
        self.ends.clear();
        self.key_ends.clear();
    }

    /// The bytes of the whole items.
    pub fn whole(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Finds the items in the text after those that are known. Returns the number of these.
    pub fn cut(&mut self, layout: &(impl Layout + ?Sized)) -> Result<usize, Wrong> {
        let (known, mut start) = (self.ends.len(), self.whole());
        while start < self.text.len() {
            match layout.first(&self.text[start..]) {
                Ok(Some(bytes)) => start += bytes,
                Ok(None) => break,
                Err(problem) => return Err(Wrong { start, problem }),
            }
            self.ends.push(start);
        }
        Ok(known)
    }

    /// Finds the keys of the items after the first `known`.
    pub fn find_keys(&mut self, known: usize, layout: &(impl Layout + ?Sized)) -> Result<(), Wrong> {
        let new = self.ends.len() - known;
        if new <= ITEMS_A_BLOCK || rayon::current_num_threads() == 1 {
            for index in known..self.ends.len() {
                let start = before(&self.ends, index);
                let item = &self.text[start..self.ends[index]];
                layout.key(item, &mut self.keys).map_err(|problem| Wrong { start, problem })?;
                self.key_ends.push(self.keys.len());
            }
            return Ok(());
        }
        let blocks = (known..self.ends.len()).into_par_iter().step_by(ITEMS_A_BLOCK).map(|first| {
            let (mut keys, mut ends) = (Vec::new(), Vec::with_capacity(ITEMS_A_BLOCK));
            for index in first..(first + ITEMS_A_BLOCK).min(self.ends.len()) {
                let start = before(&self.ends, index);
                let item = &self.text[start..self.ends[index]];
                layout.key(item, &mut keys).map_err(|problem| Wrong { start, problem })?;
                ends.push(keys.len());
            }
            Ok((keys, ends))
        });
        for block in blocks.collect::<Vec<_>>() {
            let (keys, ends) = block?;
            let base = self.keys.len();
            self.keys.extend_from_slice(&keys);
            self.key_ends.extend(ends.into_iter().map(|end| base + end));
        }
        Ok(())
    }

    /// The memory that the stretch and its sort take if each of `runners` runners holds such a stretch.
    pub fn cost(&self, runners: u64) -> u64 {
        let items = self.ends.len() as u64;
        let held = (self.text.len() + self.keys.len()) as u64 + items * ENDS;
        runners * held + runners.min(2) * items * SORTED
    }

    pub fn items(&self) -> Result<Vec<Keyed<'_, '_>>, Error> {
        let mut items = filled(self.ends.len(), Keyed { key: &[], bytes: &[] })?;
        items.par_iter_mut().with_min_len(1 << 14).enumerate().for_each(|(index, item)| {
            *item = Keyed {
                key: &self.keys[before(&self.key_ends, index)..self.key_ends[index]],
                bytes: &self.text[before(&self.ends, index)..self.ends[index]],
            };
        });
        Ok(items)
    }
}

/// The end before that at `index`.
fn before(ends: &[usize], index: usize) -> usize {
    index.checked_sub(1).map_or(0, |before| ends[before])
}
