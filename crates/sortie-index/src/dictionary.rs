//! The terms that one thread has met in a block, numbered as they came.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::FixedState;
use hashbrown::HashTable;

/// What a term takes beside its bytes until its block is sorted, at most: an entry and its part of a table that has
/// just grown (46 bytes), its place (4), and for the sort of the dictionary a reference and a copy, two words, its place,
/// what it shares with its neighbour, and its rank (60).
pub const BYTES_A_TERM: usize = 110;

/// Numbers terms.
#[derive(Debug, Default)]
pub struct Dictionary {
    table: HashTable<Entry>,
    terms: Terms,
    state: FixedState,
}

/// The terms of a dictionary, end to end.
#[derive(Debug, Default)]
pub struct Terms {
    bytes: Vec<u8>,
    ends: Vec<u32>,
}

/// Where a term is; the length is that of its bytes.
#[derive(Debug, Clone, Copy)]
struct Entry {
    hash: u32,
    start: u32,
    length: u32,
    number: u32,
}

impl Dictionary {
    /// The number of a term, a new one where it is new.
    pub fn number(&mut self, term: &[u8]) -> u32 {
        let mut hasher = self.state.build_hasher();
        hasher.write(term);
        let hash = (hasher.finish() >> 32) as u32;
        let bytes = &self.terms.bytes;
        let is_it = |entry: &Entry| {
            entry.hash == hash && bytes[entry.start as usize..][..entry.length as usize] == *term
        };
        if let Some(entry) = self.table.find(spread(hash), is_it) {
            return entry.number;
        }
        let number = self.terms.len() as u32;
        let (start, length) = (self.terms.bytes.len() as u32, term.len() as u32);
        self.terms.push(term);
        self.table
            .insert_unique(spread(hash), Entry { hash, start, length, number }, |entry| spread(entry.hash));
        number
    }

    /// What it takes of memory, until its block is sorted.
    pub fn cost(&self) -> usize {
        self.terms.bytes.len() + BYTES_A_TERM * self.terms.len()
    }

    /// Whether places in it come near to what 32 bits can say.
    pub fn is_full(&self) -> bool {
        self.terms.bytes.len() > 1 << 31
    }

    pub fn into_terms(self) -> Terms {
        self.terms
    }
}

impl Terms {
    fn push(&mut self, term: &[u8]) {
        self.bytes.extend_from_slice(term);
        self.ends.push(self.bytes.len() as u32);
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn get(&self, number: usize) -> &[u8] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.bytes[start as usize..self.ends[number] as usize]
    }
}

/// The table takes groups by the low bits and tells entries apart by the high ones.
fn spread(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}
