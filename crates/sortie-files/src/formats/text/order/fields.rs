//! Finds the ends of fields, 8 bytes at a time.
//!
//! In a number that holds 8 bytes of a text, the first one lowest, the high bit of each byte tells something of that byte.

use super::padded;

const EACH: u64 = u64::MAX / 0xff;
const HIGH: u64 = EACH << 7;

/// The position of the separator that ends the `count`-th field.
pub fn end_before_separator(text: &[u8], separator: u8, count: usize) -> Option<usize> {
    nth(text, count, |bytes| equal(bytes, separator))
}

/// The position of the blank that ends the `count`-th field. Blanks before a field belong to it.
pub fn end_before_blank(text: &[u8], count: usize) -> Option<usize> {
    // Whether a blank is before the first byte, or nothing.
    let mut before = HIGH & 0xff;
    nth(text, count, |bytes| {
        let mut blanks = equal(bytes, b' ');
        // Other bytes that are as small are rare.
        if blanks != small(bytes) {
            blanks |= equal(bytes, b'\t') | equal(bytes, b'\n');
        }
        let ends = blanks & !(blanks << 8 | before);
        before = blanks >> 56;
        ends
    })
}

/// The bytes that are `byte`.
#[inline(always)]
fn equal(bytes: u64, byte: u8) -> u64 {
    let different = bytes ^ (EACH * u64::from(byte));
    !(((different & !HIGH) + (EACH * 0x7f)) | different) & HIGH
}

/// The bytes that are no more than a space.
#[inline(always)]
fn small(bytes: u64) -> u64 {
    !(((bytes & !HIGH) + (EACH * (0x7f - b' ' as u64))) | bytes) & HIGH
}

/// The position of the `count`-th of the bytes that `find` finds.
#[inline(always)]
fn nth(text: &[u8], mut count: usize, mut find: impl FnMut(u64) -> u64) -> Option<usize> {
    let (words, rest) = text.as_chunks();
    let mut at = 0;
    for word in words {
        if let Some(place) = nth_in_word(find(u64::from_le_bytes(*word)), &mut count) {
            return Some(at + place);
        }
        at += word.len();
    }
    // The zeros after the end may be separators, but no more than that.
    nth_in_word(find(padded(rest)), &mut count).map(|place| at + place).filter(|&end| end < text.len())
}

/// The place of the `count`-th byte that is found. Subtracts the number of those that are found from `count`, if it is more.
#[inline(always)]
fn nth_in_word(mut found: u64, count: &mut usize) -> Option<usize> {
    while found != 0 {
        if *count == 1 {
            return Some(found.trailing_zeros() as usize / 8);
        }
        *count -= 1;
        found &= found - 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::text::blank::is_blank;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn ends_are_those_that_are_found_byte_by_byte(
            text in prop::collection::vec(prop::sample::select(&b"ab \t\n,\0\x80\xff"[..]), 0..70),
            separator in prop::sample::select(&b"a,\0\x80"[..]),
            count in 1usize..8,
        ) {
            let separators = text.iter().enumerate().filter(|&(_, &byte)| byte == separator);
            let expected = separators.map(|(at, _)| at).nth(count - 1);
            prop_assert_eq!(end_before_separator(&text, separator, count), expected);
            let blanks = (1..text.len()).filter(|&at| is_blank(text[at]) && !is_blank(text[at - 1]));
            prop_assert_eq!(end_before_blank(&text, count), blanks.collect::<Vec<_>>().get(count - 1).copied());
        }
    }
}
