//! A quicksort whose partition moves whole registers in place, with a network as its base case.
//!
//! Pivots are medians of samples. Every range has a lower bound of its keys. If a pivot equals the bound, all keys up
//! to it are equal and are set apart, so few distinct keys take fewer passes and not more. After too many bad pivots,
//! std's sort takes over the range, so the time is O(n log n) for every input.
//!
//! Source: Bramas, "A novel hybrid quicksort algorithm vectorized using AVX-512" (2017) for the in-place partition;
//! Peters, "Pattern-defeating quicksort" (2021) for the bound.

use std::mem::MaybeUninit;

use super::{MOST_LANES, Vector, network};
use crate::key::Bits;

/// The registers that the partition reads at a time.
const UNROLL: usize = 8;

/// A range that still has to be sorted.
#[derive(Clone, Copy)]
struct Range<L> {
    start: usize,
    len: usize,
    /// No key of the range is less.
    lower: L,
    /// The number of bad pivots that it may still have.
    patience: u32,
}

/// # Safety
/// The machine supports the instructions of `V`; the caller is compiled for them.
#[inline(always)]
pub(super) unsafe fn sort<V: Vector>(keys: &mut [V::Lane]) {
    // The smaller part is sorted at once, and the larger one waits. So no more ranges wait than a length has bits.
    let mut waiting = [MaybeUninit::<Range<V::Lane>>::uninit(); usize::BITS as usize];
    let mut count = 0;
    let mut range = Range {
        start: 0,
        len: keys.len(),
        lower: V::Lane::ZERO,
        patience: 2 * (usize::BITS - keys.len().leading_zeros()),
    };
    loop {
        let part = &mut keys[range.start..range.start + range.len];
        if range.len <= network::capacity::<V>() {
            // SAFETY: `part` is valid; the machine supports the instructions.
            unsafe { network::sort::<V>(part.as_mut_ptr(), part.len()) };
        } else if range.patience == 0 {
            part.sort_unstable();
        } else {
            // SAFETY: `part` is longer than the base case; the machine supports the instructions.
            let pivot = unsafe { median_of_sample::<V>(part) };
            let equal_to_lower = pivot == range.lower;
            if !equal_to_lower || pivot != V::Lane::MAX {
                // If the pivot equals the lower bound, keys up to it are equal, and done.
                let bound = if equal_to_lower { pivot.wrapping_add(V::Lane::from_low(1)) } else { pivot };
                // SAFETY: as above.
                let left = unsafe { partition::<V>(part, bound) };
                let right = range.len - left;
                // The more equal keys are set apart, the fewer remain.
                let bad = left < range.len / 8 || (!equal_to_lower && right < range.len / 8);
                let patience = range.patience - u32::from(bad);
                let high = Range { start: range.start + left, len: right, lower: bound, patience };
                if equal_to_lower {
                    range = high;
                    continue;
                }
                let low = Range { len: left, patience, ..range };
                let (now, later) = if left < right { (low, high) } else { (high, low) };
                waiting[count].write(later);
                count += 1;
                range = now;
                continue;
            }
        }
        if count == 0 {
            return;
        }
        count -= 1;
        // SAFETY: the first `count` entries were written.
        range = unsafe { waiting[count].assume_init() };
    }
}

/// A key near the median: the median of keys at pseudo-random indices, four registers of them. The indices depend on
/// some of the keys, so no input is bad just because of its length.
#[inline(always)]
unsafe fn median_of_sample<V: Vector>(keys: &[V::Lane]) -> V::Lane {
    let mut sample = [V::Lane::ZERO; 4 * MOST_LANES];
    let n = 4 * V::LANES;
    let seeding = [keys[0], keys[keys.len() / 2], keys[keys.len() - 1]];
    let mut state = seeding.iter().fold(keys.len() as u64, |state, key| {
        (state ^ key.low()).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
    });
    for slot in &mut sample[..n] {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        let place = ((state >> 32) as u128 * keys.len() as u128) >> 32;
        *slot = keys[place as usize];
    }
    // SAFETY: the sample is as long as the block; the machine supports the instructions.
    unsafe { network::sort_block::<V, 4>(sample.as_mut_ptr(), n) };
    sample[n / 2]
}

/// Copies the keys less than `pivot` to one target and the others to another, both in order. Returns the number of the
/// former.
///
/// # Safety
/// The machine supports the instructions of `V`; the caller is compiled for them. Both targets have room for all keys.
#[inline(always)]
#[cfg(feature = "gpu")]
pub(super) unsafe fn split_to<V: Vector>(
    keys: &[V::Lane],
    pivot: V::Lane,
    less: *mut V::Lane,
    others: *mut V::Lane,
) -> usize {
    let mut count = 0;
    let registers = keys.chunks_exact(V::LANES);
    let rest = registers.remainder();
    // SAFETY: a register is stored after no more keys than were read before it, so it ends within the room.
    unsafe {
        let all = u32::MAX >> (32 - V::LANES);
        let bound = V::splat(pivot);
        for (i, register) in registers.enumerate() {
            let keys = V::load(register.as_ptr());
            let lanes = keys.less(bound);
            keys.compress(lanes).store(less.add(count));
            keys.compress(lanes ^ all).store(others.add(i * V::LANES - count));
            count += lanes.count_ones() as usize;
        }
        for (i, &key) in rest.iter().enumerate() {
            less.add(count).write(key);
            others.add(keys.len() - rest.len() + i - count).write(key);
            count += usize::from(key < pivot);
        }
    }
    count
}

/// [`partition`] for any number of keys.
///
/// # Safety
/// The machine supports the instructions of `V`; the caller is compiled for them.
#[inline(always)]
pub(super) unsafe fn partition_any<V: Vector>(keys: &mut [V::Lane], pivot: V::Lane) -> usize {
    if keys.len() < 2 * UNROLL * V::LANES {
        return super::partition_portable(keys, pivot);
    }
    // SAFETY: there are enough keys; the machine supports the instructions.
    unsafe { partition::<V>(keys, pivot) }
}

/// Moves the keys less than `pivot` to the front and returns their number.
///
/// Registers are read from the end with less room between the keys that were read and those that were written, so that
/// the keys of one step always fit on either side. The first registers of both ends, and a partial last one, are kept
/// aside meanwhile.
///
/// # Safety
/// `keys` has at least `2 * UNROLL` registers; the machine supports the instructions of `V`.
#[inline(always)]
unsafe fn partition<V: Vector>(keys: &mut [V::Lane], pivot: V::Lane) -> usize {
    let step = UNROLL * V::LANES;
    let n = keys.len();
    debug_assert!(n >= 2 * step);
    let at = keys.as_mut_ptr();
    // SAFETY: reads stay between the two read marks and writes outside of them, all within the slice.
    unsafe {
        let pivot_lanes = V::splat(pivot);
        let rest = (n - 2 * step) % step;
        let mut aside = MaybeUninit::<[V::Lane; UNROLL * MOST_LANES]>::uninit();
        let aside = aside.as_mut_ptr().cast::<V::Lane>();
        std::ptr::copy_nonoverlapping(at, aside, rest);
        let mut ends = [V::splat(V::Lane::ZERO); 2 * UNROLL];
        for i in 0..UNROLL {
            ends[i] = V::load(at.add(rest + i * V::LANES));
            ends[UNROLL + i] = V::load(at.add(n - step + i * V::LANES));
        }
        let (mut read_left, mut read_right) = (rest + step, n - step);
        let mut write = Write::<V> { left: at, right: at.add(n) };
        while read_left < read_right {
            let room_left = at.add(read_left).offset_from(write.left);
            let room_right = write.right.offset_from(at.add(read_right));
            // Without a branch, because the side cannot be predicted.
            let from_left = usize::from(room_left <= room_right);
            let from_right = 1 - from_left;
            let from = from_left * read_left + from_right * (read_right - step);
            read_left += from_left * step;
            read_right -= from_right * step;
            let mut registers = [pivot_lanes; UNROLL];
            for (i, register) in registers.iter_mut().enumerate() {
                *register = V::load(at.add(from + i * V::LANES));
            }
            for register in registers {
                write.split(register, pivot_lanes);
            }
        }
        // All keys that are not written yet are aside. The room between the marks is exactly as large.
        for register in &ends[..2 * UNROLL - 1] {
            write.split(*register, pivot_lanes);
        }
        write.split_first(ends[2 * UNROLL - 1], pivot_lanes, V::LANES);
        let mut from = 0;
        while from < rest {
            let count = (rest - from).min(V::LANES);
            write.split_first(V::load_first(aside.add(from), count, pivot_lanes), pivot_lanes, count);
            from += count;
        }
        debug_assert_eq!(write.left, write.right);
        write.left.offset_from(at) as usize
    }
}

/// The positions of the next writes: lesser keys go to `left` and upwards, the others below `right` and downwards.
struct Write<V: Vector> {
    left: *mut V::Lane,
    right: *mut V::Lane,
}

impl<V: Vector> Write<V> {
    /// Writes a register's keys to both sides. There is room for two registers.
    #[inline(always)]
    unsafe fn split(&mut self, keys: V, pivot: V) {
        // SAFETY: the caller guarantees it.
        unsafe {
            let less = keys.less(pivot);
            let lesser = less.count_ones() as usize;
            keys.split(less, self.left, self.right);
            self.left = self.left.add(lesser);
            self.right = self.right.sub(V::LANES - lesser);
        }
    }

    /// Writes the first `count` keys of a register to both sides, and nothing else.
    #[inline(always)]
    unsafe fn split_first(&mut self, keys: V, pivot: V, count: usize) {
        // SAFETY: the caller guarantees it.
        unsafe {
            let valid = (1u64 << count).wrapping_sub(1) as u32;
            let less = keys.less(pivot) & valid;
            let lesser = less.count_ones() as usize;
            let others = count - lesser;
            keys.compress(less).store_first(self.left, lesser);
            self.left = self.left.add(lesser);
            self.right = self.right.sub(others);
            keys.compress(!less & valid).store_first(self.right, others);
        }
    }
}
