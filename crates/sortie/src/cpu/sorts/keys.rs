//! Sorts keys alone, of fixed width: profile, distribute, finish.

use std::ops::Range;

use crate::cpu::distribute::{self, Classifier};
use crate::cpu::profile::{self, Runs};
use crate::cpu::runs::{self, InRun, Run};
use crate::cpu::sorts::CpuSorts;
use crate::cpu::tuning::{MERGED_BY_THREADS, RANGES_A_THREAD};
use crate::cpu::vector::{self, Isa};
use crate::cpu::{Job, compare, counting, long_runs, pace, parallel_partition, split_at_ranges};
use crate::cpu::{by_code, by_std};
use crate::key::{Bits, Transform};
use crate::parallel;
use crate::parallel::ITEMS_A_TASK;
use crate::scratch::Scratch;
use crate::ways::CpuWay;
use crate::{Error, Report};

/// Sorts keys in place.
pub(crate) fn sort<B: CpuSorts>(keys: &mut [B], transform: Transform<B>, job: &Job) -> Result<Report, Error> {
    if job.way == CpuWay::Merge {
        return compare::merge(keys, |a, b| transform.encode(*a).cmp(&transform.encode(*b)), job);
    }
    let mut report = Report::default();
    let bytes = size_of_val(keys);
    if const { B::WIDTH > u64::BITS }
        && job.way == CpuWay::Distribute
        && job.budget.threads <= MERGED_BY_THREADS
    {
        return sort_integers(keys, transform, job);
    }
    let runs =
        report.phase("profile", bytes, 0, || profile::runs(keys, transform, false, job.budget.threads));
    match runs {
        Runs::Ascending => {}
        Runs::Descending => report.phase("finish", bytes, bytes, || keys.reverse()),
        Runs::Mixed if merge_runs(keys, transform, job, &mut report) => {}
        Runs::Mixed
            if const { counting::are_narrow::<B>() }
                && counting::scratch::<B>() as u64 <= job.budget.memory
                && counting::pays(keys, transform, job.budget.threads) =>
        {
            job.budget.scratch(counting::scratch::<B>(), "counters", &mut report)?;
            report.phase("finish", bytes, bytes, || counting::sort(keys, transform));
        }
        Runs::Mixed => distribute_and_finish(keys, transform, job, &mut report),
    }
    Ok(report)
}

/// Sorts 128-bit integers on few threads. Merges the long runs with which they begin, and uses std's sort where it
/// takes less time.
fn sort_integers<B: CpuSorts>(keys: &mut [B], transform: Transform<B>, job: &Job) -> Result<Report, Error> {
    let (n, bytes, mut report) = (keys.len(), size_of_val(keys), Report::default());
    let runs = report.phase("profile", bytes, 0, || long_runs::of_integers(keys, transform));
    if let Some(runs) = runs
        && let room = runs.room(n)
        && job.budget.scratch(room * size_of::<B>(), "", &mut report).is_ok()
        && let Ok(mut scratch) = Scratch::new(room)
    {
        let (job, mut rest) = (job.holding(room * size_of::<B>()), Ok(Report::default()));
        report.phase("finish", bytes, bytes, || {
            let sort = |keys: &mut [B]| rest = sort(keys, transform, &job);
            long_runs::sort_integers(keys, &runs, transform, &mut scratch, sort);
        });
        report.scratch_peak = report.scratch_peak.max(rest?.scratch_peak);
        return Ok(report);
    }
    if by_std::are_integers_for_std(keys, transform, job.budget.threads) {
        report.phase("finish", bytes, bytes, || by_std::sort_integers_by_std(keys, transform));
    } else {
        distribute_and_finish(keys, transform, job, &mut report);
    }
    Ok(report)
}

/// Merges keys that are two runs, if there is room for the shorter one. Returns whether it did.
fn merge_runs<B: Bits>(keys: &mut [B], transform: Transform<B>, job: &Job, report: &mut Report) -> bool {
    // Counting takes less time for 8-bit keys.
    if B::WIDTH == u8::BITS || job.budget.threads > MERGED_BY_THREADS || job.way != CpuWay::Distribute {
        return false;
    }
    let isa = Isa::detect();
    let Some(runs) = runs::two(keys, transform) else { return false };
    if !runs::merge_pays(keys, &runs, transform, isa, job.budget.threads) {
        return false;
    }
    let shorter = runs.iter().map(|run| run.range.len()).min().unwrap_or(0);
    if job.budget.scratch(shorter * size_of::<B>(), "", report).is_err() {
        return false;
    }
    let Ok(mut room) = Scratch::new(shorter) else { return false };
    let bytes = size_of_val(keys);
    report.phase_of_one("finish", 2 * bytes, 2 * bytes, || {
        if let [_, Run { range, order: InRun::Mixed }] = &runs {
            let tail = &mut keys[range.clone()];
            vector::sort_keys(tail, &transform, isa);
        }
        runs::merge_in_place(keys, &runs, transform, &mut room);
    });
    true
}

fn distribute_and_finish<B: CpuSorts>(
    keys: &mut [B],
    transform: Transform<B>,
    job: &Job,
    report: &mut Report,
) {
    let isa = Isa::detect();
    let bytes = size_of_val(keys);
    if !transform.is_identity() {
        report.phase("encode", bytes, bytes, || {
            for_chunks(keys, job.budget.threads, |chunk| {
                vector::compiled_for!(isa, || transform.encode_slice(chunk))
            })
        });
    }
    // If the limit leaves no room for the buffers, the quicksort sorts everything.
    let scratch = job.budget.threads * distribute::scratch::<B>(keys.len() / job.budget.threads);
    let large = const { B::WIDTH > u16::BITS }
        && bytes >= distribute::from_bytes(size_of::<B>())
        && job.way != CpuWay::Quicksort
        && job.budget.scratch(scratch, "", report).is_ok();
    let buckets = if large || job.budget.threads > 1 {
        report.phase("distribute", 2 * bytes, 2 * bytes, || {
            let ranges = parallel_partition::split(keys, job.budget.threads, isa);
            if large { distribute_ranges(keys, &ranges, job.budget.threads, isa) } else { ranges }
        })
    } else {
        std::iter::once(0..keys.len()).collect()
    };
    let finish = |bucket: &mut [B]| {
        sort_codes(bucket, isa);
        vector::compiled_for!(isa, || transform.decode_slice(bucket));
    };
    report.phase("finish", bytes, bytes, || {
        let share = keys.len() / (job.budget.threads * RANGES_A_THREAD);
        let buckets = split_at_ranges(keys, &buckets);
        parallel::for_each(job.budget.threads, buckets, |bucket| match job.budget.threads {
            1 => finish(bucket),
            _ => finish_in_parallel(bucket, share, isa, &finish),
        });
    });
}

fn sort_codes<B: CpuSorts>(codes: &mut [B], isa: Isa) {
    if const { B::WIDTH > u64::BITS } {
        by_code::sort(codes, |&code| code, |_| {}, 1)
    } else {
        vector::sort(codes, isa)
    }
}

/// Distributes each range separately and returns all buckets.
fn distribute_ranges<B: Bits>(
    keys: &mut [B],
    ranges: &[Range<usize>],
    threads: usize,
    isa: Isa,
) -> Vec<Range<usize>> {
    let distribute = |(range, keys): (&Range<usize>, &mut [B])| -> Vec<Range<usize>> {
        let classifier = |keys: &[B]| Classifier::sampled(keys.len(), |i| keys[i], distribute::BUCKETS, isa);
        let distribute =
            |keys: &mut [B], classifier: &Classifier<B>| distribute::distribute(keys, classifier, isa);
        let buckets = pace::distribute(keys, classifier, distribute, isa).into_iter();
        buckets.map(|bucket| range.start + bucket.start..range.start + bucket.end).collect()
    };
    let parts = split_at_ranges(keys, ranges);
    parallel::map(threads, ranges.iter().zip(parts), distribute).concat()
}

/// Sorts a bucket; in two halves if it is more than a thread's share.
fn finish_in_parallel<B: Bits>(
    bucket: &mut [B],
    share: usize,
    isa: Isa,
    finish: &(impl Fn(&mut [B]) + Sync),
) {
    if bucket.len() <= share.max(ITEMS_A_TASK) {
        return finish(bucket);
    }
    let left = parallel_partition::split_in_two(bucket, 1, isa);
    // Uneven halves are left to the quicksort, which bounds its depth.
    if left.min(bucket.len() - left) < bucket.len() / 8 {
        return finish(bucket);
    }
    let (low, high) = bucket.split_at_mut(left);
    parallel::join(
        || finish_in_parallel(low, share, isa, finish),
        || finish_in_parallel(high, share, isa, finish),
    );
}

/// Runs `work` on all keys, one chunk at a time.
pub(crate) fn for_chunks<B: Bits>(keys: &mut [B], threads: usize, work: impl Fn(&mut [B]) + Sync) {
    if threads > 1 { parallel::for_each(threads, keys.chunks_mut(ITEMS_A_TASK), work) } else { work(keys) }
}
