//! Groups of symbols as words: as many symbols of a string as fit 64 bits, in the base of the alphabet.
//!
//! A word holds 27 symbols of DNA, 13 letters or 7 bytes of any kind. The end of a string is a symbol too, less than
//! all others, so words compare as the strings do, and equal words that contain the end mean equal strings.
//!
//! Source: Drozd, Pericas and Matsuoka, "Efficient string sorting on multi- and many-core architectures" (2014),
//! section III: groups of symbols, the longer the smaller the alphabet. Here the group is as long as a word allows.

/// Set in the table for a byte outside the alphabet.
const UNKNOWN: u16 = 1 << 15;

/// An alphabet, and how many of its symbols a word takes.
pub(super) struct Symbols {
    /// The number of each byte's symbol, from 1; 0 is the end.
    table: [u16; 256],
    base: u64,
    /// Symbols in a word.
    pub count: usize,
    /// The base to the power of its place.
    powers: Vec<u64>,
}

impl Symbols {
    /// The alphabet of the bytes that are set.
    pub(super) fn new(seen: &[bool; 256]) -> Self {
        let mut table = [UNKNOWN; 256];
        let mut base = 1;
        for (number, _) in table.iter_mut().zip(seen).filter(|(_, seen)| **seen) {
            *number = base;
            base += 1;
        }
        // A base of one, from empty strings alone, would fit words without end.
        let base = u64::from(base.max(2));
        let mut powers = vec![1u64];
        while let Some(next) = powers[powers.len() - 1].checked_mul(base) {
            powers.push(next);
        }
        // The word's largest value is the power less one.
        Symbols { table, base, count: powers.len() - 1, powers }
    }

    /// The alphabet of all bytes.
    pub(super) fn bytes() -> Self {
        Self::new(&[true; 256])
    }

    /// The word of the first symbols of a string; none where a byte is outside the alphabet.
    #[inline(always)]
    pub(super) fn word(&self, string: &[u8]) -> Option<u64> {
        if string.is_empty() {
            return Some(0);
        }
        // Behind its end a string has the end's number. No branch depends on its length, and the two halves of the
        // word do not wait for each other.
        let half = self.count / 2;
        let mut numbers = 0;
        let mut number = |i: usize| {
            let inside = i < string.len();
            let number = self.table[usize::from(string[if inside { i } else { 0 }])];
            let number = if inside { number } else { 0 };
            numbers |= number;
            u64::from(number)
        };
        let (mut first, mut second) = (0u64, 0u64);
        for i in 0..half {
            first = first.wrapping_mul(self.base).wrapping_add(number(i));
            second = second.wrapping_mul(self.base).wrapping_add(number(half + i));
        }
        if self.count % 2 == 1 {
            second = second.wrapping_mul(self.base).wrapping_add(number(self.count - 1));
        }
        let word = first.wrapping_mul(self.powers[self.count - half]).wrapping_add(second);
        (numbers & UNKNOWN == 0).then_some(word)
    }

    /// Whether the word contains the end: strings with this word are equal.
    #[inline(always)]
    pub(super) fn ends(&self, word: u64) -> bool {
        word.is_multiple_of(self.base)
    }
}
