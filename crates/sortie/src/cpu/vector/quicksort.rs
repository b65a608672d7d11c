//! A quicksort whose partition moves whole registers in place, with a network as its base case.
//!
//! Pivots are medians of samples. If a sample shows that one key makes up half of a range, one pass sets all keys that are equal to it
//! apart. If the median occurs several times in the sample, it goes to the side that makes the parts more even. So few distinct keys
//! take fewer passes and not more. After too many bad pivots, std's sort takes over the range, so the time is O(n log n) for every
//! input.
//!
//! Source: Bramas, "A novel hybrid quicksort algorithm vectorized using AVX-512" (2017) for the in-place partition. The pass that sets
//! equal keys apart is ours.

use std::mem::MaybeUninit;

use super::{MOST_LANES, Vector, network};
use crate::key::Bits;

/// The registers that the partition reads at a time.
const UNROLL: usize = 8;

/// The number of keys whose median is a pivot. The network sorts that many in a fraction of the time of a partition.
const fn sampled<V: Vector>() -> usize {
    if 4 * V::LANES < MOST_SAMPLED { 4 * V::LANES } else { MOST_SAMPLED }
}

const MOST_SAMPLED: usize = 64;

/// The number of keys from which a partition may take less time than the network.
const FEW_FROM: usize = 256;

/// A range that still has to be sorted.
#[derive(Clone, Copy)]
struct Range {
    start: usize,
    len: usize,
    /// The number of bad pivots that it may still have.
    patience: u32,
}

/// # Safety
/// The machine supports the instructions of `V`; the caller is compiled for them.
#[inline(always)]
pub(super) unsafe fn sort<V: Vector>(keys: &mut [V::Lane]) {
    // The smaller part is sorted at once, and the larger one waits. So no more ranges wait than a length has bits.
    let mut waiting = [MaybeUninit::<Range>::uninit(); usize::BITS as usize];
    let mut count = 0;
    let mut range =
        Range { start: 0, len: keys.len(), patience: 2 * (usize::BITS - keys.len().leading_zeros()) };
    loop {
        let part = &mut keys[range.start..range.start + range.len];
        // SAFETY: `part` is valid; the machine supports the instructions.
        if unsafe { is_base_case::<V>(part) } {
            // SAFETY: as above.
            unsafe { network::sort::<V>(part.as_mut_ptr(), part.len()) };
        } else if range.patience == 0 {
            part.sort_unstable();
        } else {
            // SAFETY: `part` has enough registers; the machine supports the instructions.
            let (less, not_greater) = unsafe { divide::<V>(part) };
            let greater = range.len - not_greater;
            let patience = range.patience - u32::from(less.max(greater) > range.len / 8 * 7);
            let low = Range { len: less, patience, ..range };
            let high = Range { start: range.start + not_greater, len: greater, patience };
            let (now, later) = if less < greater { (low, high) } else { (high, low) };
            waiting[count].write(later);
            count += 1;
            range = now;
            continue;
        }
        if count == 0 {
            return;
        }
        count -= 1;
        // SAFETY: the first `count` entries were written.
        range = unsafe { waiting[count].assume_init() };
    }
}

/// Whether the network sorts these keys. It takes the same time for all keys, so it does not sort many that have few distinct values.
///
/// # Safety
/// The machine supports the instructions of `V`; the caller is compiled for them.
#[inline(always)]
unsafe fn is_base_case<V: Vector>(keys: &[V::Lane]) -> bool {
    if keys.len() > network::capacity::<V>() {
        return false;
    }
    let least = (2 * UNROLL * V::LANES).max(network::capacity::<V>() / 2).max(FEW_FROM);
    if keys.len() < least {
        return true;
    }
    let mut equal = 0;
    for i in 0..4 {
        // SAFETY: there are eight registers at least, and these are two of them.
        unsafe {
            let stretch = keys.len() / 8;
            let a = V::load(keys.as_ptr().add(i * stretch));
            let b = V::load(keys.as_ptr().add((i + 4) * stretch));
            equal += V::LANES as u32 - differ(a, b).count_ones();
        }
    }
    equal < V::LANES as u32 / 2
}

/// Moves lesser keys to the front and greater ones to the back. Returns the number of lesser keys, and of those that are not greater.
/// The keys between them are equal.
///
/// # Safety
/// `keys` has at least `2 * UNROLL` registers; the machine supports the instructions of `V`.
#[inline(always)]
unsafe fn divide<V: Vector>(keys: &mut [V::Lane]) -> (usize, usize) {
    // SAFETY: the caller guarantees it.
    unsafe {
        let mut sample = [V::Lane::ZERO; MOST_SAMPLED];
        let sample = &mut sample[..sampled::<V>()];
        take_sample::<V>(keys, sample);
        let pivot = sample[sample.len() / 2];
        let less = sample.iter().filter(|&&key| key < pivot).count();
        let not_greater = sample.iter().filter(|&&key| key <= pivot).count();
        if not_greater - less >= sample.len() / 2 {
            return set_apart::<V>(keys, pivot);
        }
        // Not all keys of the sample are equal, so both parts have keys.
        let with_lesser = sample.len() - less > not_greater;
        let bound = pivot.wrapping_add(V::Lane::from_low(u64::from(with_lesser)));
        let left = partition::<V>(keys, bound);
        (left, left)
    }
}

/// Takes keys from evenly distributed indices, and sorts them. The indices depend on some of the keys, so no input is bad just because
/// of its length.
///
/// # Safety
/// There are keys; the machine supports the instructions of `V`.
#[inline(always)]
unsafe fn take_sample<V: Vector>(keys: &[V::Lane], sample: &mut [V::Lane]) {
    let seeding = [keys[0], keys[keys.len() / 2], keys[keys.len() - 1]];
    let mut at = seeding.iter().fold(keys.len() as u64, |at, key| {
        (at ^ key.low()).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29)
    });
    for slot in &mut *sample {
        // Multiples of the golden ratio, modulo 1.
        at = at.wrapping_add(0x9E37_79B9_7F4A_7C15);
        *slot = keys[((at as u128 * keys.len() as u128) >> 64) as usize];
    }
    // SAFETY: the network has room for the sample; the machine supports the instructions.
    unsafe { network::sort::<V>(sample.as_mut_ptr(), sampled::<V>()) };
}

/// The lanes that differ.
#[inline(always)]
unsafe fn differ<V: Vector>(a: V, b: V) -> u32 {
    // SAFETY: the machine supports the instructions of `V`.
    unsafe { a.less(b) | b.less(a) }
}

/// [`divide`] by a key that is equal to most others. Those are read, and only rows with other keys are written.
///
/// # Safety
/// The machine supports the instructions of `V`; the caller is compiled for them.
#[inline(always)]
unsafe fn set_apart<V: Vector>(keys: &mut [V::Lane], pivot: V::Lane) -> (usize, usize) {
    let (at, n) = (keys.as_mut_ptr(), keys.len());
    let mut others = 0;
    // SAFETY: all registers are within the keys. The other keys were read before their new positions are written.
    unsafe {
        let equal = V::splat(pivot);
        let mut i = 0;
        while i + V::LANES <= n {
            let row = V::load(at.add(i));
            let lanes = differ(row, equal);
            if lanes != 0 {
                equal.store(at.add(i));
                // The lanes behind the other keys are overwritten by the next ones, or below.
                row.compress(lanes).store(at.add(others));
                others += lanes.count_ones() as usize;
            }
            i += V::LANES;
        }
        let clobbered = others..i.min(others + V::LANES);
        let mut last = [V::Lane::ZERO; MOST_LANES];
        std::ptr::copy_nonoverlapping(at.add(i), last.as_mut_ptr(), n - i);
        keys[clobbered].fill(pivot);
        for (&key, i) in last.iter().zip(i..n) {
            keys[i] = pivot;
            if key != pivot {
                keys[others] = key;
                others += 1;
            }
        }
        let less = partition_any::<V>(&mut keys[..others], pivot);
        let not_greater = n - (others - less);
        keys.copy_within(less..others, not_greater);
        keys[less..others.min(not_greater)].fill(pivot);
        (less, not_greater)
    }
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
