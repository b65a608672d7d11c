//! What std's sort sorts in less time than the other sorts here, and integers by it.

use crate::cpu::sampled::{FEW_CODES, count_equal, sample};
use crate::cpu::tuning::{COMPARED, FEW, MERGED_BY_THREADS, PIVOT_OF, compared_integers};
use crate::cpu::vector::Isa;
use crate::key::{Bits, Transform};

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
pub(crate) fn sort_integers_by_std<B: Bits>(keys: &mut [B], transform: Transform<B>) {
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

/// The number of low bits of a code that do not fit in a word next to an index below [`FEW`], if all codes are in the
/// range of the sample. Codes that differ only in these bits are ordered separately.
fn dropped_bits<B: Bits>(sample: &[B; PIVOT_OF]) -> u32 {
    let ends = (B::MAX, B::ZERO);
    let (low, high) = sample.iter().fold(ends, |(low, high), &code| (low.min(code), high.max(code)));
    let span = B::WIDTH - high.wrapping_sub(low).leading_zeros();
    span.saturating_sub(u64::BITS - FEW.ilog2())
}
