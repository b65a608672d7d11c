//! Items that are sorted in place by a code of each: those that no vector holds, or that are no numbers. Quicksort, until so few
//! are left that words of their codes put them in order.
//!
//! As in the vectorised quicksort, each part knows a lower bound of its codes: a pivot equal to it says that the codes up to
//! it are equal. Too many bad pivots hand the part to std's sort, hence O(n log n) whatever the input.

use crate::cpu::few;
use crate::key::Bits;
use crate::plan::{FEW, PARALLEL_FROM, PIVOT_OF, PIVOT_OF_MANY, PIVOT_OF_MANY_FROM};

/// Sorts items by code. `ties` gets parts that are in order of their codes, and orders those of one code.
pub(crate) fn sort<T: Send, B: Bits>(
    items: &mut [T],
    code: impl Fn(&T) -> B + Sync,
    ties: impl Fn(&mut [T]) + Sync,
    threads: usize,
) {
    if items.is_sorted_by_key(&code) {
        return ties(items);
    }
    // Std's sort sets equal codes apart sooner than they are few enough for words.
    if has_few_codes(items.len(), |i| code(&items[i])) {
        items.sort_unstable_by_key(&code);
        return ties(items);
    }
    let patience = 2 * (usize::BITS - items.len().leading_zeros());
    Quicksort { code, ties, threads }.sort(items, B::ZERO, patience);
}

/// Whether codes of a sample of `n`, of which there are some, repeat.
pub(crate) fn has_few_codes<B: Bits>(n: usize, code: impl Fn(usize) -> B) -> bool {
    let mut sample: [B; PIVOT_OF] = std::array::from_fn(|i| code(i * n / PIVOT_OF));
    sample.sort_unstable();
    sample.windows(2).filter(|pair| pair[0] == pair[1]).count() * 4 >= PIVOT_OF
}

struct Quicksort<C, E> {
    code: C,
    ties: E,
    threads: usize,
}

impl<C: Sync, E: Sync> Quicksort<C, E> {
    /// Sorts a part, none of whose codes is less than `lower`, and which may still take so many bad pivots.
    fn sort<T: Send, B: Bits>(&self, mut items: &mut [T], mut lower: B, mut patience: u32)
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
            // Where the pivot is the lower bound, codes up to it are equal and done.
            let bound = if equal_to_lower { pivot.wrapping_add(B::from_low(1)) } else { pivot };
            let (n, left) = (items.len(), self.partition(items, bound));
            let bad = left < n / 8 || (!equal_to_lower && n - left < n / 8);
            patience -= u32::from(bad);
            let (low, high) = items.split_at_mut(left);
            if equal_to_lower {
                (self.ties)(low);
            } else if self.threads > 1 && n >= PARALLEL_FROM {
                rayon::join(|| self.sort(low, lower, patience), || self.sort(high, bound, patience));
                return;
            } else {
                self.sort(low, lower, patience);
            }
            (items, lower) = (high, bound);
        }
        if items.len() > FEW {
            items.sort_unstable_by_key(&self.code);
        } else {
            few::sort_by_code(items, &self.code);
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
        let mut state = items.len() as u64;
        for slot in &mut sample[..n] {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            let index = ((state >> 32) as u128 * items.len() as u128) >> 32;
            *slot = (self.code)(&items[index as usize]);
        }
        sample[..n].sort_unstable();
        sample[n / 2]
    }

    /// Moves the items of lesser codes to the front and returns their number. Without a branch on a code.
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
