//! Divides keys among threads in place: all threads together partition by a pivot, until each has a range.
//!
//! Each thread partitions a stripe. Then the keys on the wrong sides of the boundary are exchanged, an equal number
//! from each side. Each level reads and writes the keys once. There are log2(threads) levels, and no scratch memory.
//!
//! Source: Tsigas and Zhang, "A simple, fast parallel implementation of quicksort" (2003), with stripes instead of
//! blocks.

use std::ops::Range;

use crate::cpu::distribute;
use crate::cpu::tuning::{EXCHANGED_BY_A_TASK, PIVOT_SAMPLE};
use crate::cpu::vector::{self, Isa};
use crate::key::Bits;
use crate::parallel;
use crate::parallel::ITEMS_A_TASK;

/// Splits the keys into at least one range for each thread. All keys of a range are before those of the next. There may
/// be fewer ranges if there are few keys or many equal ones.
pub(crate) fn split<B: Bits>(keys: &mut [B], threads: usize, isa: Isa) -> Vec<Range<usize>> {
    if threads < 2 || keys.len() < ITEMS_A_TASK {
        return std::iter::once(0..keys.len()).collect();
    }
    let left = split_in_two(keys, threads, isa);
    if left == 0 || left == keys.len() {
        return std::iter::once(0..keys.len()).collect();
    }
    let (low, high) = keys.split_at_mut(left);
    let (below, above) = (threads / 2, threads.div_ceil(2));
    let (mut ranges, mut rest) = (Vec::new(), Vec::new());
    parallel::join(|| ranges = split(low, below, isa), || rest = split(high, above, isa));
    ranges.extend(rest.into_iter().map(|range| range.start + left..range.end + left));
    ranges
}

/// Moves about half of the keys, all less than the others, to the front, and returns their number.
pub(crate) fn split_in_two<B: Bits>(keys: &mut [B], threads: usize, isa: Isa) -> usize {
    let pivot = distribute::sample(keys.len(), |i| keys[i], PIVOT_SAMPLE, isa)[PIVOT_SAMPLE / 2];
    match partition(keys, pivot, threads, isa) {
        // The pivot is the smallest key, and there are many of it. All others are moved behind it.
        0 if pivot < B::MAX => partition(keys, pivot.wrapping_add(B::from_low(1)), threads, isa),
        left => left,
    }
}

/// Moves the keys less than `pivot` to the front and returns their number.
fn partition<B: Bits>(keys: &mut [B], pivot: B, threads: usize, isa: Isa) -> usize {
    if threads < 2 {
        return vector::partition(keys, pivot, isa);
    }
    let stripe = keys.len().div_ceil(threads);
    let lefts: Vec<usize> =
        parallel::map(threads, keys.chunks_mut(stripe), |keys| vector::partition(keys, pivot, isa));
    let boundary = lefts.iter().sum();
    // Ranges of greater keys below the boundary, and of lesser keys above it.
    let (mut greater, mut lesser) = (Vec::new(), Vec::new());
    for (i, left) in lefts.into_iter().enumerate() {
        let (start, end) = (i * stripe, keys.len().min((i + 1) * stripe));
        let middle = start + left;
        greater.push(middle..end.min(boundary).max(middle));
        lesser.push(start.max(boundary).min(middle)..middle);
    }
    let (low, high) = keys.split_at_mut(boundary);
    let pairs = pairs(cut(low, 0, greater), cut(high, boundary, lesser));
    parallel::for_each(threads, pairs, |(greater, lesser)| greater.swap_with_slice(lesser));
    boundary
}

/// The slices of `keys` at these positions. `at` is the position of the first key.
fn cut<B>(mut keys: &mut [B], mut at: usize, ranges: Vec<Range<usize>>) -> Vec<&mut [B]> {
    let mut slices = Vec::new();
    for range in ranges.into_iter().filter(|range| !range.is_empty()) {
        let (_, rest) = keys.split_at_mut(range.start - at);
        keys = rest;
        slices.push(keys.split_off_mut(..range.len()).expect("the ranges are within the keys"));
        at = range.end;
    }
    slices
}

/// Cuts the slices of two lists of equal total length so that they form pairs of equal length.
fn pairs<'a, B>(a: Vec<&'a mut [B]>, b: Vec<&'a mut [B]>) -> Vec<(&'a mut [B], &'a mut [B])> {
    let mut pairs = Vec::new();
    let mut b = b.into_iter();
    let mut right: &mut [B] = &mut [];
    for mut left in a {
        while !left.is_empty() {
            if right.is_empty() {
                right = b.next().expect("as many keys lie wrongly on either side");
            }
            let count = left.len().min(right.len()).min(EXCHANGED_BY_A_TASK);
            let (Some(low), Some(high)) = (left.split_off_mut(..count), right.split_off_mut(..count)) else {
                unreachable!("neither is shorter than the count");
            };
            pairs.push((low, high));
        }
    }
    pairs
}
