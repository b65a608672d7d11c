//! Sorts items in place by a code of each item, where no vector holds the codes or the items are not numbers. A
//! quicksort, until a part is small enough for `insert.rs`.
//!
//! Each part knows a lower bound of its codes. If a pivot equals the bound, the codes up to it are equal. After too many
//! bad pivots, std's sort takes over the part, so the time is O(n log n) for every input.
//!
//! Source: Peters, "Pattern-defeating quicksort" (2021) for the bound.

use rayon::slice::ParallelSliceMut;

use crate::cpu::compiled::CpuSorts;
use crate::cpu::insert;
use crate::cpu::sampled::has_few_codes;
use crate::cpu::tuning::{FEW, PIVOT_OF, PIVOT_OF_MANY, PIVOT_OF_MANY_FROM};
use crate::key::Bits;
use crate::parallel;
use crate::parallel::ITEMS_A_TASK;

/// Sorts items by code. `ties` gets parts that are sorted by code, and orders items with equal codes.
pub(crate) fn sort<T: Send, B: CpuSorts>(
    items: &mut [T],
    code: impl Fn(&T) -> B + Sync,
    ties: impl Fn(&mut [T]) + Sync,
    threads: usize,
) {
    if items.is_sorted_by_key(&code) {
        return ties(items);
    }
    // Std's sort takes less time if many codes are equal.
    if has_few_codes(items.len(), |i| code(&items[i])) {
        if threads > 1 {
            items.par_sort_unstable_by_key(&code);
        } else {
            items.sort_unstable_by_key(&code);
        }
        return ties(items);
    }
    let patience = 2 * (usize::BITS - items.len().leading_zeros());
    Quicksort { code, ties, threads }.sort(items, B::ZERO, patience);
}

struct Quicksort<C, E> {
    code: C,
    ties: E,
    threads: usize,
}

impl<C: Sync, E: Sync> Quicksort<C, E> {
    /// Sorts a part. No code is less than `lower`. `patience` is the number of bad pivots that it may still have.
    fn sort<T: Send, B: CpuSorts>(&self, mut items: &mut [T], mut lower: B, mut patience: u32)
    where
        C: Fn(&T) -> B,
        E: Fn(&mut [T]),
    {
        while items.len() > FEW && patience > 0 {
            let pivot = self.pivot(items);
            let equal_to_lower = pivot == lower;
            if equal_to_lower && pivot == B::MAX {
                return (self.ties)(items);
            }
            // If the pivot equals the lower bound, codes up to it are equal, and done.
            let bound = if equal_to_lower { pivot.wrapping_add(B::from_low(1)) } else { pivot };
            let (n, left) = (items.len(), self.partition(items, bound));
            let bad = left < n / 8 || (!equal_to_lower && n - left < n / 8);
            patience -= u32::from(bad);
            let (low, high) = items.split_at_mut(left);
            if equal_to_lower {
                (self.ties)(low);
            } else if self.threads > 1 && n >= ITEMS_A_TASK {
                parallel::join(|| self.sort(low, lower, patience), || self.sort(high, bound, patience));
                return;
            } else {
                self.sort(low, lower, patience);
            }
            (items, lower) = (high, bound);
        }
        if items.len() > FEW {
            items.sort_unstable_by_key(&self.code);
        } else {
            insert::sort_by_code(items, &self.code);
        }
        (self.ties)(items);
    }

    /// A code near the median.
    fn pivot<T, B: Bits>(&self, items: &[T]) -> B
    where
        C: Fn(&T) -> B,
    {
        let mut sample = [B::ZERO; PIVOT_OF_MANY];
        let n = if items.len() < PIVOT_OF_MANY_FROM { PIVOT_OF } else { PIVOT_OF_MANY };
        // The random numbers depend on a code, so no order of items is bad for all sets of codes.
        let mut state = items.len() as u64 ^ (self.code)(&items[items.len() / 2]).low();
        for slot in &mut sample[..n] {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let index = ((state >> 32) as u128 * items.len() as u128) >> 32;
            *slot = (self.code)(&items[index as usize]);
        }
        sample[..n].sort_unstable();
        sample[n / 2]
    }

    /// Moves the items with lesser codes to the front and returns their number. Has no branch that depends on a code.
    fn partition<T, B: Bits>(&self, items: &mut [T], bound: B) -> usize
    where
        C: Fn(&T) -> B,
    {
        let mut left = 0;
        for i in 0..items.len() {
            let less = (self.code)(&items[i]) < bound;
            items.swap(i, left);
            left += usize::from(less);
        }
        left
    }
}
