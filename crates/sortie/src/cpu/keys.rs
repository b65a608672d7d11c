//! Keys alone, of fixed width: profile, distribute, finish.

use std::ops::Range;

use rayon::prelude::*;

use super::distribute::{self, Classifier};
use super::vector::{self, Isa};
use super::{Job, compare, counting, pairs, parallel_partition};
use crate::key::{Bits, Transform};
use crate::plan::{DISTRIBUTE_FROM_BYTES, RANGES_A_THREAD};
use crate::profile::{self, Runs};
use crate::{Algorithm, Error, Report};

/// Sorts keys in place.
pub(crate) fn sort<B: Bits>(keys: &mut [B], transform: Transform<B>, job: &Job) -> Result<Report, Error> {
    if job.algorithm == Algorithm::Merge {
        return compare::sort(keys, |a, b| transform.encode(*a).cmp(&transform.encode(*b)), job);
    }
    let mut report = Report::default();
    let bytes = size_of_val(keys);
    let runs = report.phase("profile", bytes, 0, || profile::runs(keys, transform, job.threads));
    match runs {
        Runs::Ascending => {}
        Runs::Descending => report.phase("finish", bytes, bytes, || keys.reverse()),
        Runs::Mixed if counting::applies::<B>(keys.len()) => {
            report.hold(counting::scratch::<B>());
            report.phase("finish", bytes, bytes, || counting::sort(keys, transform));
        }
        Runs::Mixed => distribute_and_finish(keys, transform, job, &mut report),
    }
    Ok(report)
}

fn distribute_and_finish<B: Bits>(keys: &mut [B], transform: Transform<B>, job: &Job, report: &mut Report) {
    let isa = Isa::detect();
    let bytes = size_of_val(keys);
    if !transform.is_identity() {
        report.phase("encode", bytes, bytes, || {
            for_chunks(keys, job.threads, |chunk| transform.encode_slice(chunk))
        });
    }
    let large = bytes >= DISTRIBUTE_FROM_BYTES && job.algorithm != Algorithm::Quicksort;
    let buckets = if large || job.threads > 1 {
        let scratch =
            if large { job.threads * distribute::scratch::<B>(keys.len() / job.threads) } else { 0 };
        report.hold(scratch);
        report.phase("distribute", 2 * bytes, 2 * bytes, || {
            let ranges = parallel_partition::split(keys, job.threads, isa);
            if large { distribute_ranges(keys, &ranges, job.threads, isa) } else { ranges }
        })
    } else {
        std::iter::once(0..keys.len()).collect()
    };
    let finish = |bucket: &mut [B]| {
        vector::sort(bucket, isa);
        transform.decode_slice(bucket);
    };
    report.phase("finish", bytes, bytes, || {
        let buckets = pairs::split(keys, &buckets);
        if job.threads > 1 {
            let share = bytes / size_of::<B>() / (job.threads * RANGES_A_THREAD);
            buckets.into_par_iter().for_each(|bucket| finish_in_parallel(bucket, share, isa, &finish));
        } else {
            buckets.into_iter().for_each(finish);
        }
    });
}

/// Distributes each range by itself and returns the buckets of all.
fn distribute_ranges<B: Bits>(
    keys: &mut [B],
    ranges: &[Range<usize>],
    threads: usize,
    isa: Isa,
) -> Vec<Range<usize>> {
    let distribute = |(range, keys): (&Range<usize>, &mut [B])| -> Vec<Range<usize>> {
        let classifier = Classifier::sampled(keys.len(), |place| keys[place], distribute::BUCKETS, isa);
        if !classifier.is_even() {
            return std::iter::once(range.clone()).collect();
        }
        let buckets = distribute::distribute(keys, &classifier, isa).into_iter();
        buckets.map(|bucket| range.start + bucket.start..range.start + bucket.end).collect()
    };
    let parts = pairs::split(keys, ranges);
    if threads > 1 {
        ranges.par_iter().zip(parts).flat_map_iter(distribute).collect()
    } else {
        ranges.iter().zip(parts).flat_map(distribute).collect()
    }
}

/// Finishes a bucket, in two where it is more than a thread's share.
fn finish_in_parallel<B: Bits>(
    bucket: &mut [B],
    share: usize,
    isa: Isa,
    finish: &(impl Fn(&mut [B]) + Sync),
) {
    if bucket.len() <= share.max(crate::plan::PARALLEL_FROM) {
        return finish(bucket);
    }
    let pivot = parallel_partition::pivot(bucket, isa);
    let left = vector::partition(bucket, pivot, isa);
    if left == 0 {
        // The pivot is the least: the quicksort sets equal keys apart.
        return finish(bucket);
    }
    let (low, high) = bucket.split_at_mut(left);
    rayon::join(
        || finish_in_parallel(low, share, isa, finish),
        || finish_in_parallel(high, share, isa, finish),
    );
}

/// Runs `work` on all keys, a stretch at a time.
fn for_chunks<B: Bits>(keys: &mut [B], threads: usize, work: impl Fn(&mut [B]) + Sync) {
    if threads > 1 { keys.par_chunks_mut(crate::plan::PARALLEL_FROM).for_each(&work) } else { work(keys) }
}
