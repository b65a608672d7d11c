//! The threads of a stable distribution: each counts the items of a stripe of its own, and then moves them.
//!
//! In every bucket, the items of a stripe come after those of earlier stripes, so the result is the same with any number of threads.
//!
//! Source: Drozd, Pericas and Matsuoka, "Efficient string sorting on multi- and many-core architectures" (2014), section III.A:
//! a histogram for each thread, their sum, and a move with pointers of each thread's own.

use std::ops::Range;

use crate::parallel;
use crate::report::Work;

/// Calls `count` with each stripe of `n` items, for the histogram of its buckets. Then calls `scatter` with each stripe and the index
/// from which it fills each bucket. Returns the ranges of the buckets.
///
/// Calls both through pointers, so that it is compiled once.
pub(crate) fn distribute(
    n: usize,
    work: &Work,
    count: &(dyn Fn(Range<usize>) -> Vec<usize> + Sync),
    scatter: &(dyn Fn(Range<usize>, Vec<usize>) + Sync),
) -> Vec<Range<usize>> {
    let threads = work.threads();
    let stripe = n.div_ceil(threads).max(1);
    let stripes: Vec<_> = (0..threads).map(|i| (i * stripe).min(n)..((i + 1) * stripe).min(n)).collect();
    let mut starts = parallel::map(threads, stripes.clone(), |stripe| work.task(|| count(stripe)));
    // Turns the counts of each stripe into its start in each bucket.
    let mut buckets = Vec::with_capacity(starts[0].len());
    let mut at = 0;
    for bucket in 0..starts[0].len() {
        let start = at;
        for counts in &mut starts {
            at += std::mem::replace(&mut counts[bucket], at);
        }
        buckets.push(start..at);
    }
    let stripes = stripes.into_iter().zip(starts);
    parallel::for_each(threads, stripes, |(stripe, starts)| work.task(|| scatter(stripe, starts)));
    buckets
}
