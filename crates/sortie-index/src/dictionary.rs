//! The terms that one thread has found in a block, numbered in the order in which they first occur.

use std::hash::{BuildHasher, Hasher};

use foldhash::fast::RandomState;
use hashbrown::HashTable;

/// An upper bound on the memory that a term takes, besides its bytes, until its block is sorted: an entry and its
/// share of a table that has just grown (72 bytes); its position (8); and to sort the dictionary, a reference and a
/// copy, two words, its index, the length of the prefix shared with its neighbour, and its rank (60).
pub const BYTES_A_TERM: usize = 140;

/// Numbers terms.
///
/// Most words are short. They are stored in the table itself and compared as numbers.
#[derive(Debug, Default)]
pub struct Dictionary {
    short: HashTable<(Packed, u32)>,
    long: HashTable<Long>,
    terms: Terms,
    state: RandomState,
}

/// A term of up to 15 bytes, with its length in the sixteenth.
type Packed = [u64; 2];

/// A longer term.
#[derive(Debug, Clone, Copy)]
struct Long {
    hash: u64,
    number: u32,
}

/// The terms of a dictionary, one after the other.
#[derive(Debug, Default)]
pub struct Terms {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Dictionary {
    /// The number of a term; a new term gets the next number. `None` if there is no memory for it.
    pub fn number(&mut self, term: &[u8]) -> Option<u32> {
        let Some(packed) = pack(term) else { return self.number_long(term) };
        let hash = hash(&self.state, packed);
        if let Some((_, number)) = self.short.find(hash, |entry| entry.0 == packed) {
            return Some(*number);
        }
        let state = &self.state;
        let hash_of = |entry: &(Packed, u32)| self::hash(state, entry.0);
        self.short.try_reserve(1, hash_of).ok()?;
        let number = self.terms.push(term)?;
        self.short.insert_unique(hash, (packed, number), hash_of);
        Some(number)
    }

    #[cold]
    fn number_long(&mut self, term: &[u8]) -> Option<u32> {
        let mut hasher = self.state.build_hasher();
        hasher.write(term);
        let hash = hasher.finish();
        let terms = &self.terms;
        let is_it = |entry: &Long| entry.hash == hash && terms.get(entry.number as usize) == term;
        if let Some(entry) = self.long.find(hash, is_it) {
            return Some(entry.number);
        }
        self.long.try_reserve(1, |entry| entry.hash).ok()?;
        let number = self.terms.push(term)?;
        self.long.insert_unique(hash, Long { hash, number }, |entry| entry.hash);
        Some(number)
    }

    /// The memory in bytes that the dictionary takes until its block is sorted.
    pub fn cost(&self) -> usize {
        self.terms.bytes.len() + BYTES_A_TERM * self.terms.len()
    }

    /// Whether the numbers approach the limit of 32 bits.
    pub fn is_full(&self) -> bool {
        self.terms.len() > 1 << 31
    }

    pub fn into_terms(self) -> Terms {
        self.terms
    }
}

impl Terms {
    /// Adds a term and returns its number, or `None` if there is no memory for it.
    fn push(&mut self, term: &[u8]) -> Option<u32> {
        self.bytes.try_reserve(term.len()).ok()?;
        self.ends.try_reserve(1).ok()?;
        self.bytes.extend_from_slice(term);
        self.ends.push(self.bytes.len());
        Some(self.len() as u32 - 1)
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn get(&self, number: usize) -> &[u8] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.bytes[start..self.ends[number]]
    }
}

fn hash(state: &RandomState, packed: Packed) -> u64 {
    let mut hasher = state.build_hasher();
    hasher.write_u64(packed[0]);
    hasher.write_u64(packed[1]);
    hasher.finish()
}

/// A term packed into numbers, if it is short enough. Its bytes are loaded from both ends. If the loads overlap, they
/// put the same bytes in the same place.
fn pack(term: &[u8]) -> Option<Packed> {
    let length = term.len();
    let bits = match length {
        8..16 => {
            let (first, last) = (term.first_chunk()?, term.last_chunk()?);
            u128::from(u64::from_le_bytes(*first))
                | u128::from(u64::from_le_bytes(*last)) << (8 * (length - 8))
        }
        4..8 => {
            let (first, last) = (term.first_chunk()?, term.last_chunk()?);
            let last = u64::from(u32::from_le_bytes(*last)) << (8 * (length - 4));
            (u64::from(u32::from_le_bytes(*first)) | last).into()
        }
        1..4 => {
            let byte = |at: usize| u64::from(term[at]) << (8 * at);
            (byte(0) | byte(length / 2) | byte(length - 1)).into()
        }
        _ => return None,
    };
    Some([bits as u64, (bits >> 64) as u64 | (length as u64) << 56])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_term_has_one_number(terms in prop::collection::vec("[ab\u{0}]{1,20}", 1..300)) {
            let mut dictionary = Dictionary::default();
            let numbers: Vec<u32> = terms.iter().map(|term| dictionary.number(term.as_bytes()).unwrap()).collect();
            let all = dictionary.into_terms();
            for (term, &number) in terms.iter().zip(&numbers) {
                prop_assert_eq!(all.get(number as usize), term.as_bytes());
                let first = terms.iter().position(|other| other == term).unwrap();
                prop_assert_eq!(number, numbers[first]);
            }
            prop_assert_eq!(all.len(), terms.iter().collect::<std::collections::HashSet<_>>().len());
        }
    }
}
