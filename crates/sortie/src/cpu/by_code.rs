//! Sorts items in place by a code of each item, where no vector holds the codes or the items are not numbers. A
//! quicksort, until a part is small enough for `few.rs`. This file also decides what std's sort sorts in less time.
//!
//! As in the vectorised quicksort, each part knows a lower bound of its codes. If a pivot equals the bound, the codes
//! up to it are equal. After too many bad pivots, std's sort takes over the part, so the time is O(n log n) for every
//! input.

use rayon::slice::ParallelSliceMut;

use crate::cpu::few;
use crate::cpu::sorts::CpuSorts;
use crate::cpu::tuning::{
    COMPARED, FEW, MERGED_BY_THREADS, PIVOT_OF, PIVOT_OF_MANY, PIVOT_OF_MANY_FROM, compared_integers,
};
use crate::cpu::vector::Isa;
use crate::key::{Bits, Transform};
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

/// Whether std's sort is faster than a quicksort by code on `threads` threads: for few items, and if `codes_repeat`
/// says so. For `n` items that do not begin with long runs.
pub(crate) fn are_for_std(n: usize, codes_repeat: impl FnOnce() -> bool, threads: usize) -> bool {
    match threads {
        1 => n <= COMPARED || codes_repeat(),
        _ => n <= COMPARED && threads <= MERGED_BY_THREADS,
    }
}

/// [`are_for_std`] for integers.
pub(crate) fn are_integers_for_std<B: Bits>(keys: &[B], transform: Transform<B>, threads: usize) -> bool {
    if keys.len() <= compared_integers(Isa::detect()) {
        return true;
    }
    let codes_repeat = || {
        let sample = sample(keys.len(), |i| transform.encode_integer(keys[i]));
        match dropped_bits(&sample) {
            0 => count_equal(&sample) >= FEW_CODES,
            dropped => count_equal(&sample.map(|code| code.shr(dropped))) > 0,
        }
    };
    are_for_std(keys.len(), codes_repeat, threads)
}

/// Sorts integers with std's sort.
pub(crate) fn sort_integers_by_std<B: CpuSorts>(keys: &mut [B], transform: Transform<B>) {
    match native(keys, transform) {
        Some(Native::Unsigned(keys)) => keys.sort_unstable(),
        Some(Native::Signed(keys)) => keys.sort_unstable(),
        None => keys.sort_unstable_by_key(|&key| transform.encode_integer(key)),
    }
}

/// 128-bit integers as their own type, which processors compare faster than codes.
enum Native<'a> {
    Unsigned(&'a mut [u128]),
    Signed(&'a mut [i128]),
}

/// `None` for narrower integers, or if another order is requested.
fn native<B: Bits>(keys: &mut [B], transform: Transform<B>) -> Option<Native<'_>> {
    if B::WIDTH < u128::BITS {
        None
    } else if transform.is_identity() {
        Some(Native::Unsigned(bytemuck::cast_slice_mut(keys)))
    } else if transform.is_signed() {
        Some(Native::Signed(bytemuck::cast_slice_mut(keys)))
    } else {
        None
    }
}

/// Whether a sample shows that there are few distinct codes. `n` is not 0.
pub(crate) fn has_few_codes<B: Bits>(n: usize, code: impl Fn(usize) -> B) -> bool {
    count_equal(&sample(n, code)) >= FEW_CODES
}

/// Whether a sample has two codes that are equal. `n` is not 0.
pub(crate) fn has_equal_codes<B: Bits>(n: usize, code: impl Fn(usize) -> B) -> bool {
    count_equal(&sample(n, code)) > 0
}

/// Codes at equal distances.
fn sample<B: Bits>(n: usize, code: impl Fn(usize) -> B) -> [B; PIVOT_OF] {
    let mut sample = [B::ZERO; PIVOT_OF];
    for (i, slot) in sample.iter_mut().enumerate() {
        *slot = code((i as u64 * n as u64 / PIVOT_OF as u64) as usize);
    }
    sample
}

/// The number of equal pairs in a sample. Stops counting at [`FEW_CODES`].
fn count_equal<B: Bits>(sample: &[B; PIVOT_OF]) -> usize {
    let mut equal = 0;
    for (i, code) in sample.iter().enumerate() {
        equal += sample[..i].iter().filter(|&before| before == code).count();
        if equal >= FEW_CODES {
            break;
        }
    }
    equal
}

/// If a sample has at least this many equal pairs, the codes are assumed to have few distinct values.
const FEW_CODES: usize = PIVOT_OF / 4;

/// The number of low bits of a code that do not fit in a word next to an index below [`FEW`], if all codes are in the
/// range of the sample. Codes that differ only in these bits are ordered separately.
fn dropped_bits<B: Bits>(sample: &[B; PIVOT_OF]) -> u32 {
    let ends = (B::MAX, B::ZERO);
    let (low, high) = sample.iter().fold(ends, |(low, high), &code| (low.min(code), high.max(code)));
    let span = B::WIDTH - high.wrapping_sub(low).leading_zeros();
    span.saturating_sub(u64::BITS - FEW.ilog2())
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
