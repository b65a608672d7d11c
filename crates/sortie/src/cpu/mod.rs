//! The CPU engine.

pub(crate) mod sorts;
pub(crate) mod steps;
pub(crate) mod tuning;
pub(crate) mod vector;

use std::ops::Range;

use crate::Index;
use crate::request::Budget;
use crate::ways::CpuWay;
pub(crate) use sorts::{
    compare, few, histogram, keys, pairs, search, segment_pairs, segments, select, strings, top, wide,
};
pub(crate) use steps::{
    bands, batch, by_code, by_std, candidates, coded, compiled, counting, digits, distribute, draw, found,
    gather, insert, items, lines, long_runs, nth, order, pace, packed, parallel_partition, prefetch, profile,
    ranks, room, runs, sampled, scatter, stripes, widen,
};

/// How the engine must sort, and which resources it may use.
#[derive(Debug, Clone, Copy)]
pub struct Job {
    pub way: CpuWay,
    pub stable: bool,
    pub budget: Budget,
}

impl Job {
    /// The job for a part of a sort that holds `bytes` more bytes.
    pub fn holding(&self, bytes: usize) -> Job {
        Job { budget: self.budget.holding(bytes), ..*self }
    }
}

/// The slices at consecutive ranges that cover `items`.
fn split_at_ranges<'a, T>(mut items: &'a mut [T], ranges: &[Range<usize>]) -> Vec<&'a mut [T]> {
    ranges
        .iter()
        .map(|range| items.split_off_mut(..range.len()).expect("the ranges cover the items"))
        .collect()
}

/// Puts `v[indices[i]]` at index `i`, for all `i`. `indices`, a permutation, is overwritten.
pub(crate) fn permute<T, I: Index>(v: &mut [T], indices: &mut [I]) {
    permute_by(v.len(), indices, |a, b| v.swap(a, b));
}

/// [`permute`] for rows of `each` bytes.
pub(crate) fn permute_rows(rows: &mut [u8], each: usize, indices: &mut [usize]) {
    permute_by(indices.len(), indices, |a, b| {
        let (low, high) = (a.min(b), a.max(b));
        let (before, from_high) = rows.split_at_mut(high * each);
        before[low * each..][..each].swap_with_slice(&mut from_high[..each]);
    });
}

/// [`permute`] for keys and their payloads.
fn permute_pairs<K, V, I: Index>(keys: &mut [K], payload: &mut [V], indices: &mut [I]) {
    permute_by(keys.len(), indices, |a, b| {
        keys.swap(a, b);
        payload.swap(a, b);
    });
}

/// Follows the cycles of a permutation of `n` indices by exchanges. An index that is done refers to itself.
fn permute_by<I: Index>(n: usize, indices: &mut [I], mut swap: impl FnMut(usize, usize)) {
    for start in 0..n {
        let mut hole = start;
        loop {
            let from = indices[hole].to_usize();
            indices[hole] = I::from_usize(hole);
            if from == start {
                break;
            }
            swap(hole, from);
            hole = from;
        }
    }
}
