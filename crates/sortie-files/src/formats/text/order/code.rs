//! The leading part of a key as an integer, which decides most comparisons.

use std::cmp::Ordering;

use super::padded;

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
        let length = text.len().min(BYTES + 1);
        Code { bits: first_bytes(text) & !LENGTH | length as u128, exact: length <= BYTES }
    }

    /// The code of [`Code::of_bytes`] for the text with its lowercase letters replaced by capital ones.
    #[inline]
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
    #[inline]
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

/// The first 16 bytes of a text as a number, the first one highest, and zeros after the last.
#[inline]
pub fn first_bytes(text: &[u8]) -> u128 {
    if let Some(first) = text.first_chunk() {
        return u128::from_be_bytes(*first);
    }
    // Both words overlap. The shift drops what the first word has already.
    if let (Some(first), Some(last)) = (text.first_chunk(), text.last_chunk()) {
        let last = u128::from(u64::from_be_bytes(*last)) << (8 * (16 - text.len()));
        return u128::from(u64::from_be_bytes(*first)) << 64 | u128::from(last as u64);
    }
    u128::from(padded(text).swap_bytes()) << 64
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
