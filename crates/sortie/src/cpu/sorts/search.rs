//! Where queries belong in sorted keys.
//!
//! Queries are searched in batches, one step of all of them at a time, so that the memory delivers the keys of several queries at once.
//! The steps have no branch on the keys. If the queries ascend, a batch begins where the one before ended, and a gallop for its last
//! query bounds it: sorted queries take little more than a read of both.

use std::hint::select_unpredictable;

use crate::cpu::Job;
use crate::key::{Bits, Index, Transform};
use crate::parallel::{self, ITEMS_A_TASK};
use crate::{Order, Report, Side, TotalOrder};

/// The queries that are searched at a time.
pub(crate) const BATCH: usize = 32;

/// Writes the position of each query in sorted numbers.
pub(crate) fn numbers<B: Bits, I: Index>(
    keys: &[B],
    queries: &[B],
    transform: Transform<B>,
    side: Side,
    positions: &mut [I],
    job: &Job,
) -> Report {
    let needle = |query: usize| transform.encode(queries[query]);
    let ascend = |a: B, b: B| a <= b;
    match side {
        Side::Left => {
            search(keys.len(), needle, |at, code| transform.encode(keys[at]) < code, ascend, positions, job)
        }
        Side::Right => {
            search(keys.len(), needle, |at, code| transform.encode(keys[at]) <= code, ascend, positions, job)
        }
    }
}

/// The same for keys of other types.
pub(crate) fn keys<K: TotalOrder, I: Index>(
    keys: &[K],
    queries: &[K],
    order: Order,
    side: Side,
    positions: &mut [I],
    job: &Job,
) -> Report {
    let needle = |query: usize| &queries[query];
    let ascend = |a: &K, b: &K| a.compare(b, order).is_le();
    let before = |at: usize, query: &K| match side {
        Side::Left => keys[at].compare(query, order).is_lt(),
        Side::Right => keys[at].compare(query, order).is_le(),
    };
    search(keys.len(), needle, before, ascend, positions, job)
}

/// Writes for each query how many of `n` keys are before it. `ascend` tells whether the first of two queries may come first.
fn search<T: Copy, I: Index>(
    n: usize,
    needle: impl Fn(usize) -> T + Sync,
    before: impl Fn(usize, T) -> bool + Sync,
    ascend: impl Fn(T, T) -> bool + Sync,
    positions: &mut [I],
    job: &Job,
) -> Report {
    let mut report = Report::default();
    let bytes = size_of_val(positions);
    report.phase("search", 0, bytes, || {
        let parts = positions.chunks_mut(ITEMS_A_TASK).zip((0..).step_by(ITEMS_A_TASK));
        parallel::for_each(job.budget.threads, parts, |(positions, first)| {
            let mut last: Option<(T, usize)> = None;
            for (batch, start) in positions.chunks_mut(BATCH).zip((first..).step_by(BATCH)) {
                let mut needles = [needle(start); BATCH];
                (0..batch.len()).for_each(|i| needles[i] = needle(start + i));
                let needles = &needles[..batch.len()];
                let greatest = needles[needles.len() - 1];
                let after = last.filter(|&(last, _)| ascend(last, needles[0]));
                let (mut from, mut to) = (0, n);
                if let Some((_, position)) = after
                    && needles.is_sorted_by(|&a, &b| ascend(a, b))
                {
                    (from, to) = (position, gallop(position, n, |at| before(at, greatest)));
                }
                let mut found = [from; BATCH];
                search_batch(needles, &mut found, to - from, &before);
                for (slot, &position) in batch.iter_mut().zip(&found) {
                    *slot = I::from_usize(position);
                }
                last = Some((greatest, found[needles.len() - 1]));
            }
        });
    });
    report
}

/// An upper bound of the first index from `from` on that is not before a query.
fn gallop(from: usize, n: usize, before: impl Fn(usize) -> bool) -> usize {
    let mut step = BATCH;
    while from + step < n && before(from + step) {
        step *= 2;
    }
    n.min(from + step)
}

/// Moves each position by the number of keys before the query, among the `len` keys from there.
pub(crate) fn search_batch<T: Copy>(
    needles: &[T],
    positions: &mut [usize; BATCH],
    mut len: usize,
    before: &impl Fn(usize, T) -> bool,
) {
    if len == 0 {
        return;
    }
    while len > 1 {
        let half = len / 2;
        for (position, &needle) in positions.iter_mut().zip(needles) {
            let next = *position + half;
            *position = select_unpredictable(before(next - 1, needle), next, *position);
        }
        len -= half;
    }
    for (position, &needle) in positions.iter_mut().zip(needles) {
        *position += usize::from(before(*position, needle));
    }
}
