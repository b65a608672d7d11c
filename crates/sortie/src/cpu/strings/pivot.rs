//! Strings that go on alike: each is compared with one of them, the pivot, by all that the two share.
//!
//! Words tell a few symbols a step, and so little of strings of which most begin as others do, such as the beginnings of one
//! long string. One comparison with a pivot says more. Of two strings less than the pivot, the one that shares more with it
//! is the greater; of two strings greater than the pivot, the lesser. Strings that share as much with it, on the same side,
//! go on behind what they share. So each step reads only bytes that no step before has read.

use std::cmp::Ordering;

use super::lcps;

/// What a string shares with the pivot, in bytes, and on which side of it the string is: in the order of the strings.
pub(super) fn code(string: &[u8], pivot: &[u8]) -> u64 {
    let shared = lcps::shared(string, pivot);
    match string[shared..].first().cmp(&pivot[shared..].first()) {
        Ordering::Less | Ordering::Equal => shared as u64,
        Ordering::Greater => u64::MAX - shared as u64,
    }
}

/// The bytes that a code says are shared.
pub(super) fn shared(code: u64) -> usize {
    // No string has half of all addresses.
    code.min(u64::MAX - code) as usize
}
