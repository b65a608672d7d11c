//! Strings that go on alike: each is compared with one of them, the pivot, by all that the two share.
//!
//! Words tell a few symbols a step, and so little of strings of which most begin as others do, such as the beginnings of one
//! long string. One comparison with a pivot says more. Of two strings less than the pivot, the one that shares more with it
//! is the greater; of two strings greater than the pivot, the lesser. Strings that share as much with it, on the same side,
//! go on behind what they share. So each step reads only bytes that no step before has read.

use std::cmp::Ordering;
use std::ops::Range;

use super::lcps::{self, Lcp};
use super::{Later, Sort, Strings};
use crate::plan::INSERT_UP_TO;

/// Whether what ties after a step of words is most of what was tied before it, and so should be compared with a pivot.
pub(super) fn is_alike(tie: &Range<usize>, before: usize) -> bool {
    tie.len() > INSERT_UP_TO && tie.len() > before / 2
}

impl<F> Sort<'_, F> {
    /// Sorts items whose strings share the first `depth` bytes by what they share with the longest of them; `later` takes
    /// what ties then.
    pub(super) fn sort_by_pivot<P, L: Lcp>(&self, items: &mut [P], lcps: &mut [L], depth: usize, later: Later)
    where
        F: Strings<P>,
    {
        // The longest tells the beginnings of one string apart at once.
        let longest = items.iter().max_by_key(|item| self.strings.get(item).len());
        let pivot = self.rest(longest.expect("a tie has items"), depth);
        let codes: Vec<u64> = items.iter().map(|item| code(self.rest(item, depth), pivot)).collect();
        let all = pivot.len();
        let ordered = self.order_by(items, &codes);
        let mut start = 0;
        for tie in ordered.chunk_by(|a, b| a == b) {
            let end = start + tie.len();
            if start > 0 {
                lcps[start] = L::of(depth + shared(ordered[start - 1]).min(shared(tie[0])));
            }
            if tie[0] == all as u64 {
                lcps[start + 1..end].fill(L::of(depth + all));
            } else if tie.len() > 1 {
                later(start..end, depth + shared(tie[0]));
            }
            start = end;
        }
    }
}

/// What a string shares with the pivot, in bytes, and on which side of it the string is: in the order of the strings.
fn code(string: &[u8], pivot: &[u8]) -> u64 {
    let shared = lcps::shared(string, pivot);
    match string[shared..].first().cmp(&pivot[shared..].first()) {
        Ordering::Less | Ordering::Equal => shared as u64,
        Ordering::Greater => u64::MAX - shared as u64,
    }
}

/// The bytes that a code says are shared.
fn shared(code: u64) -> usize {
    // No string has half of all addresses.
    code.min(u64::MAX - code) as usize
}
