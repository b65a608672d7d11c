//! Words that stand for the next part of a string and sort as it does. They consist of bytes, of symbols, or of what
//! the string shares with a pivot.

use super::lcps::{Lcp, first_eight};
use super::symbols::Symbols;
use super::{Tie, pivot};
use crate::cpu::tuning::COMPARE_STRINGS_UP_TO;

/// The number of bytes in a word of bytes.
const BYTES: usize = 7;

/// The lowest bits of a word of bytes. They are 0, and have room for an index.
pub(super) const INDEX_BITS: u32 = 5;

/// What the words contain.
#[expect(clippy::large_enum_variant, reason = "there is one for many words, on the stack")]
pub(super) enum Words {
    /// Seven bytes, and how many of them the string has.
    Bytes,
    /// Symbols of an alphabet.
    Symbols(Symbols),
    /// What a string shares with a pivot of this many bytes.
    Pivot(usize),
}

impl Words {
    /// How many bytes strings with this word share, and whether the strings have no others.
    #[inline(always)]
    fn known(&self, word: u64) -> (usize, bool) {
        match self {
            Words::Bytes => (count(word), count(word) < BYTES),
            Words::Symbols(symbols) if symbols.ends(word) => (symbols.length(word), true),
            Words::Symbols(symbols) => (symbols.count, false),
            Words::Pivot(length) => (pivot::shared(word), word == *length as u64),
        }
    }

    /// How many bytes two strings with different words share.
    #[inline(always)]
    fn shared(&self, a: u64, b: u64) -> usize {
        match self {
            Words::Bytes => ((a ^ b).leading_zeros() as usize / 8).min(count(a)).min(count(b)),
            Words::Symbols(symbols) => symbols.shared(a, b),
            Words::Pivot(_) => pivot::shared(a).min(pivot::shared(b)),
        }
    }
}

/// The first bytes of a string, and their number below them.
#[inline(always)]
pub(super) fn of_bytes(string: &[u8]) -> u64 {
    let count = string.len().min(BYTES) as u64;
    (first_eight(string) & !0xff) | count << INDEX_BITS
}

/// The number of bytes in a word of bytes.
#[inline(always)]
fn count(word: u64) -> usize {
    (word as u8 >> INDEX_BITS) as usize
}

/// Receives items in the order of their words. Writes what neighbours share, and collects ties.
pub(super) struct Follow<'a, L> {
    words: &'a Words,
    lcps: &'a mut [L],
    /// Bytes that all the strings share.
    pub depth: usize,
    /// The index of the first item, by which the ranges of ties are shifted.
    base: usize,
    ties: &'a mut Vec<Tie>,
    /// Whether ties may be [`Tie::alike`].
    may_be_alike: bool,
    /// The word of the last items, and the index of the first of them.
    last: (u64, usize),
}

impl<'a, L: Lcp> Follow<'a, L> {
    pub fn new(
        words: &'a Words,
        lcps: &'a mut [L],
        depth: usize,
        base: usize,
        ties: &'a mut Vec<Tie>,
        may_be_alike: bool,
    ) -> Self {
        Follow { words, lcps, depth, base, ties, may_be_alike, last: (0, 0) }
    }

    /// Receives the next item and its word.
    #[inline(always)]
    pub fn next(&mut self, index: usize, word: u64) {
        if word == self.last.0 && index > 0 {
            return;
        }
        if index > 0 {
            self.close(index);
            if L::ASKED {
                self.lcps[index] = L::of(self.depth + self.words.shared(self.last.0, word));
            }
        }
        self.last = (word, index);
    }

    /// Ends the sequence, which had this many items.
    pub fn end(mut self, count: usize) {
        self.close(count);
    }

    #[inline(always)]
    fn close(&mut self, end: usize) {
        let (word, start) = self.last;
        if end - start < 2 {
            return;
        }
        let (shared, equal) = self.words.known(word);
        if !equal {
            let of = self.lcps.len();
            let alike = self.may_be_alike && end - start > COMPARE_STRINGS_UP_TO && end - start > of / 2;
            let range = self.base + start..self.base + end;
            self.ties.push(Tie { range, depth: self.depth + shared, alike });
        } else if L::ASKED {
            self.lcps[start + 1..end].fill(L::of(self.depth + shared));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_bytes_compare_as_strings_do() {
        let mut strings: Vec<Vec<u8>> = vec![Vec::new()];
        for length in 1..=10 {
            for (first, last) in [(0, 0), (0, 1), (1, 0), (1, 255), (255, 255)] {
                let mut string = vec![first; length];
                string[length - 1] = last;
                strings.push(string.clone());
                string[length / 2] = 7;
                strings.push(string);
            }
        }
        for a in &strings {
            for b in &strings {
                let words = [of_bytes(a), of_bytes(b)];
                let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
                match words[0].cmp(&words[1]) {
                    std::cmp::Ordering::Equal => {
                        let (shared, equal) = Words::Bytes.known(words[0]);
                        assert!(
                            if equal { a == b } else { same >= shared && shared == BYTES },
                            "{a:?} {b:?}"
                        );
                    }
                    order => {
                        assert_eq!(order, a.cmp(b), "{a:?} {b:?}");
                        assert_eq!(Words::Bytes.shared(words[0], words[1]), same, "{a:?} {b:?}");
                    }
                }
            }
        }
    }
}
