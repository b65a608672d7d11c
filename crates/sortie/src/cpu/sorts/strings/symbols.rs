//! Groups symbols into words: as many symbols of a string as fit in 64 bits, as digits in the base of the alphabet.
//!
//! A word holds 27 symbols of DNA, 13 letters or 7 arbitrary bytes. The end of a string is also a symbol, less than all
//! others. So words compare as the strings do, and equal words that contain the end mean equal strings.
//!
//! Source: Drozd, Pericas and Matsuoka, "Efficient string sorting on multi- and many-core architectures" (2014),
//! section III: groups of symbols, which are longer for smaller alphabets. Here, a group is as long as a word allows.

/// In the table, marks a byte outside the alphabet.
const UNKNOWN: u16 = 1 << 15;

/// An alphabet, and how many of its symbols fit in a word.
pub(super) struct Symbols {
    /// The number of each byte's symbol, counted from 1; 0 is the end.
    table: [u16; 256],
    base: u64,
    /// Symbols in a word.
    pub count: usize,
    /// The power of the base for each position.
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
        // With a base of one, which empty strings alone would give, any number of symbols would fit.
        let base = u64::from(base.max(2));
        let mut powers = vec![1u64];
        while let Some(next) = powers[powers.len() - 1].checked_mul(base) {
            powers.push(next);
        }
        // The largest value of a word is the last power minus one.
        Symbols { table, base, count: powers.len() - 1, powers }
    }

    /// The number of symbols, including the end.
    #[cfg(feature = "gpu")]
    pub(super) fn base(&self) -> u32 {
        self.base as u32
    }

    /// The alphabet of all bytes.
    #[cfg(feature = "gpu")]
    pub(super) fn bytes() -> Self {
        Self::new(&[true; 256])
    }

    /// The word of the first symbols of a string. `None` if a byte is outside the alphabet.
    #[inline(always)]
    pub(super) fn word(&self, string: &[u8]) -> Option<u64> {
        let (mut word, mut numbers) = (0u64, 0);
        let mut append = |&byte: &u8| {
            let number = self.table[usize::from(byte)];
            numbers |= number;
            word = word.wrapping_mul(self.base).wrapping_add(u64::from(number));
        };
        // Most strings fill the word. This loop has a predictable length.
        if let Some(filled) = string.get(..self.count) {
            filled.iter().for_each(append);
        } else {
            string.iter().for_each(&mut append);
            word = word.wrapping_mul(self.powers[self.count - string.len()]);
        }
        (numbers & UNKNOWN == 0).then_some(word)
    }

    /// Whether the word contains the end. Strings with the same such word are equal.
    #[inline(always)]
    pub(super) fn ends(&self, word: u64) -> bool {
        word.is_multiple_of(self.base)
    }

    /// The number of symbols in a word before the end.
    pub(super) fn length(&self, word: u64) -> usize {
        // The powers that divide the word are the first ones, starting with the power of 0.
        self.count + 1 - self.powers.partition_point(|&power| word.is_multiple_of(power))
    }

    /// The number of symbols at the start that two different words have in common, not counting the end.
    pub(super) fn shared(&self, a: u64, b: u64) -> usize {
        let (low, difference) = (a.min(b), a.abs_diff(b));
        // The words differ only below a power if adding the difference to the lower word causes no carry into it. The
        // first condition avoids most divisions.
        let differ_below = |power| difference < power && difference < power - low % power;
        let differing = self.powers.iter().position(|&power| differ_below(power));
        self.count - differing.expect("words are less than the last power")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words close to each other in every sense: with carries over many positions, and prefixes of one another, with
    /// few symbols.
    #[test]
    fn what_words_share_is_what_their_symbols_share() {
        for alphabet in [&b"a"[..], b"ab", b"ACGT", b"abcdefghijklmnopqrstuvwxyz"] {
            let mut seen = [false; 256];
            alphabet.iter().for_each(|&byte| seen[usize::from(byte)] = true);
            for symbols in [Symbols::new(&seen), Symbols::bytes()] {
                let (least, most) = (alphabet[0], alphabet[alphabet.len() - 1]);
                let mut strings: Vec<Vec<u8>> = vec![Vec::new()];
                for length in 1..=symbols.count {
                    for first in [least, most] {
                        for rest in [least, most] {
                            strings.push([vec![first], vec![rest; length - 1]].concat());
                            strings.push([vec![rest; length - 1], vec![first]].concat());
                        }
                    }
                }
                for a in &strings {
                    let word = symbols.word(a).unwrap();
                    assert_eq!(symbols.length(word), a.len());
                    for b in strings.iter().filter(|&b| b != a) {
                        let shared = a.iter().zip(b).take_while(|(a, b)| a == b).count();
                        assert_eq!(symbols.shared(word, symbols.word(b).unwrap()), shared, "{a:?}, {b:?}");
                    }
                }
            }
        }
    }
}
