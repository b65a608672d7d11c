//! Sorts strings that share long prefixes: each is compared with one of them, the pivot, up to where the two differ.
//!
//! Words only cover a few symbols per step. That is slow if most strings have long common prefixes, such as the
//! prefixes of one long string. One comparison with a pivot tells more. Of two strings less than the pivot, the one
//! that shares more with it is greater. Of two strings greater than the pivot, the one that shares more is less.
//! Strings on the same side that share the same number of bytes are sorted further by the bytes after those. So each
//! step only reads bytes that no step before has read.

use std::cmp::Ordering;

use super::lcps;

/// The number of bytes that a string shares with the pivot, and on which side of it the string is. Codes are in the
/// order of the strings.
pub(super) fn code(string: &[u8], pivot: &[u8]) -> u64 {
    let shared = lcps::shared(string, pivot);
    match string[shared..].first().cmp(&pivot[shared..].first()) {
        Ordering::Less | Ordering::Equal => shared as u64,
        Ordering::Greater => u64::MAX - shared as u64,
    }
}

/// The number of shared bytes in a code.
pub(super) fn shared(code: u64) -> usize {
    // No string takes half of the address space.
    code.min(u64::MAX - code) as usize
}
