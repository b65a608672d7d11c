//! The leading part of a key as an integer, which decides most comparisons.

use std::cmp::Ordering;

/// The bytes of a text that its code has. The last byte of the code is the length of the text, as far as it matters.
const BYTES: usize = 15;

/// A code compares as the key does that it was made from, as far as it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Code {
    bits: u128,
    /// Whether keys with this code are equal, if the codes of both are exact.
    exact: bool,
}

impl Code {
    /// The code of keys that compare as `bits` do, if `exact`, else of keys of which `bits` are the leading part.
    pub fn new(bits: impl Into<u128>, exact: bool) -> Code {
        Code { bits: bits.into(), exact }
    }

    /// The code of keys that compare as `bits` do.
    pub fn exact(bits: impl Into<u128>) -> Code {
        Code { bits: bits.into(), exact: true }
    }

    /// The code of keys that compare by their bytes.
    #[inline]
    pub fn of_bytes(text: &[u8]) -> Code {
        const LENGTH: u128 = 0xff;
        if let Some(first) = text.first_chunk::<16>() {
            return Code::new(u128::from_be_bytes(*first) & !LENGTH | (BYTES as u128 + 1), false);
        }
        let length = text.len() as u128;
        // Both words overlap if there are less than 16 bytes. The shift drops what the first word has already.
        if let (Some(first), Some(last)) = (text.first_chunk::<8>(), text.last_chunk::<8>()) {
            let [first, last] = [first, last].map(|word| u128::from(u64::from_be_bytes(*word)));
            let last = last << (8 * (16 - text.len())) & u128::from(u64::MAX);
            return Code::exact(first << 64 | last | length);
        }
        let word = text.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
        // The empty text has no bits to shift.
        let first = u128::from(word) << (8 * (16 - text.len()).min(15));
        Code::exact(first | length)
    }

    /// The code of [`Code::of_bytes`] for the text with its lowercase letters replaced by capital ones.
    pub fn capitalised(self) -> Code {
        const EACH: u128 = u128::MAX / 0xff;
        const HIGH: u128 = EACH << 7;
        let low = self.bits & !HIGH;
        // The high bit of each byte tells whether the byte is at least `a`, and whether it is more than `z`.
        let from_a = low + EACH * (0x80 - b'a' as u128);
        let after_z = low + EACH * (0x7f - b'z' as u128);
        let letters = (from_a & !after_z) & !self.bits & HIGH;
        Code { bits: self.bits - (letters >> 2), ..self }
    }

    /// The code for the reverse order.
    pub fn directed(self, descending: bool) -> Code {
        Code { bits: if descending { !self.bits } else { self.bits }, ..self }
    }

    /// How the keys compare, or `None` if their codes do not tell.
    #[inline(always)]
    pub fn compare(self, other: Code) -> Option<Ordering> {
        let ordering = self.bits.cmp(&other.bits);
        (ordering.is_ne() || self.exact && other.exact).then_some(ordering)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn codes_of_bytes_compare_as_the_bytes_do(
            same in prop::collection::vec(any::<u8>(), 0..18),
            a in prop::collection::vec(0u8..3, 0..6),
            b in prop::collection::vec(0u8..3, 0..6),
        ) {
            let [a, b] = [a, b].map(|rest| [&same[..], &rest].concat());
            let found = Code::of_bytes(&a).compare(Code::of_bytes(&b));
            prop_assert!(found.is_none_or(|found| found == a.cmp(&b)), "{:?}", found);
            prop_assert!(found.is_some() || a.len() > BYTES || b.len() > BYTES);
        }

        #[test]
        fn capitals_stand_for_letters(text in prop::collection::vec(any::<u8>(), 0..20)) {
            let capitals = Code::of_bytes(&text.to_ascii_uppercase());
            prop_assert_eq!(Code::of_bytes(&text).capitalised(), capitals);
        }
    }
}
