//! Keys that are not numbers: tuples, byte arrays, options. If an integer of their size holds their order, they are sorted as such
//! integers (`coded.rs`). Else keys and indices are sorted by the first 64 bits of each key's code, and by comparison only where those
//! are equal.

use std::mem::MaybeUninit;

use rayon::slice::ParallelSliceMut;

use crate::cpu::batch::Batch;
use crate::cpu::by_code;
use crate::cpu::coded::Coded;
use crate::cpu::compiled::Payload;
use crate::cpu::long_runs::{self, LongRuns, MOST_RUNS};
use crate::cpu::scatter::Pointers;
use crate::cpu::segment_pairs::{GRANTED, each_of_indices};
use crate::cpu::sorts::CpuSorts;
use crate::cpu::tuning::{FEW, MERGED_BY_THREADS};
use crate::cpu::{Job, by_std, compare, permute_pairs, sampled, segments};
use crate::key::{Indices, Transform};
use crate::parallel::ITEMS_A_TASK;
use crate::scratch::Scratch;
use crate::ways::CpuWay;
use crate::{Error, Index, Order, Report, Segments, TotalOrder};

pub(crate) fn sort<K: TotalOrder>(keys: &mut [K], order: Order, job: &Job) -> Result<Report, Error> {
    if job.way == CpuWay::Merge {
        return compare::merge(keys, |a, b| a.compare(b, order), job);
    }
    let mut report = Report::default();
    if size_of::<K>() == 0 {
        return Ok(report);
    }
    let (bytes, n) = (size_of_val(keys), keys.len());
    let merges = job.budget.threads <= MERGED_BY_THREADS;
    let most = if merges { MOST_RUNS } else { 1 };
    let runs = report.phase("profile", bytes, 0, || long_runs(keys, most, order));
    if let Some(runs) = runs
        && (merges || runs.is_one(n))
        && let room = runs.room(n)
        && job.budget.scratch(room * size_of::<K>(), "", &mut report).is_ok()
        && let Ok(mut scratch) = Scratch::new(room)
    {
        let (job, mut rest) = (job.holding(room * size_of::<K>()), Ok(Report::default()));
        report.phase("finish", bytes, bytes, || {
            sort_and_merge(keys, &runs, order, &mut scratch, |keys| rest = sort(keys, order, &job));
        });
        report.scratch_peak = report.scratch_peak.max(rest?.scratch_peak);
        return Ok(report);
    }
    if let Some(coded) = coded(keys, order, job, &mut report) {
        coded.sort(job, &mut report)?;
        return Ok(report);
    }
    let by_std = are_for_std(keys, order, job.budget.threads);
    report.phase("finish", bytes, bytes, || sort_keys(keys, order, by_std, job.budget.threads));
    Ok(report)
}

/// Replaces keys by their codes, if these fit.
fn coded<'a, K: TotalOrder>(
    keys: &'a mut [K],
    order: Order,
    job: &Job,
    report: &mut Report,
) -> Option<Coded<'a, K>> {
    if const { !Coded::<K>::FITS } || job.way == CpuWay::Merge {
        return None;
    }
    let bytes = size_of_val(keys);
    report.phase("encode", bytes, bytes, || Coded::of(keys, order, job.budget.threads))
}

/// Sorts keys, by std's sort if that is asked for.
fn sort_keys<K: TotalOrder>(keys: &mut [K], order: Order, by_std: bool, threads: usize) {
    // Keys without a size are all equal.
    if size_of::<K>() == 0 {
        return;
    }
    if by_std {
        return sort_by_std(keys, order);
    }
    if !is_sorted(keys, order) {
        by_code::sort(keys, |key| key.prefix(order), |keys| sort_ties(keys, order, threads), threads);
    }
}

/// Whether std's sort is faster than a sort by prefixes on `threads` threads.
pub(crate) fn are_for_std<K: TotalOrder>(keys: &[K], order: Order, threads: usize) -> bool {
    let prefix = |i: usize| keys[i].prefix(order);
    let prefixes_repeat = || {
        if K::IS_PREFIX {
            sampled::has_few_codes(keys.len(), prefix)
        } else {
            // Keys with the same prefix are compared in any case.
            sampled::has_equal_codes(keys.len(), prefix)
        }
    };
    by_std::are_for_std(keys.len(), prefixes_repeat, threads)
}

/// Sorts keys by comparison.
pub(crate) fn sort_by_std<K: TotalOrder>(keys: &mut [K], order: Order) {
    // Choosing the order once, here, avoids a choice for every key.
    if order == Order::default() {
        keys.sort_unstable_by(|a, b| a.compare(b, Order::default()));
    } else {
        keys.sort_unstable_by(|a, b| a.compare(b, order));
    }
}

/// The long runs with which keys begin, at most `most`.
fn long_runs<K: TotalOrder>(keys: &[K], most: usize, order: Order) -> Option<LongRuns> {
    // Choosing the order once, here, avoids a choice for every key.
    if order == Order::default() {
        LongRuns::of::<false, K>(keys, most, |a, b| a.compare(b, Order::default()).is_lt())
    } else {
        LongRuns::of::<false, K>(keys, most, |a, b| a.compare(b, order).is_lt())
    }
}

/// Sorts keys that begin with long runs: sorts the others with `sort`, and merges everything using the room.
fn sort_and_merge<K: TotalOrder>(
    keys: &mut [K],
    runs: &LongRuns,
    order: Order,
    room: &mut [MaybeUninit<K>],
    sort: impl FnOnce(&mut [K]),
) {
    // Choosing the order once, here, avoids a choice for every key.
    if order == Order::default() {
        runs.sort(keys, |a, b| a.compare(b, Order::default()).is_lt(), room, sort);
    } else {
        runs.sort(keys, |a, b| a.compare(b, order).is_lt(), room, sort);
    }
}

/// If up to [`FEW`] keys begin with a long run, sorts them, with `sort` for the other keys. Returns whether they do.
pub(crate) fn sort_few_runs<K: TotalOrder>(
    keys: &mut [K],
    order: Order,
    sort: impl FnOnce(&mut [K]),
) -> bool {
    // Choosing the order once, here, avoids a choice for every key.
    if order == Order::default() {
        long_runs::sort_few::<false, K>(keys, |a, b| a.compare(b, Order::default()).is_lt(), sort)
    } else {
        long_runs::sort_few::<false, K>(keys, |a, b| a.compare(b, order).is_lt(), sort)
    }
}

/// Whether keys are in order.
pub(crate) fn is_sorted<K: TotalOrder>(keys: &[K], order: Order) -> bool {
    // Choosing the order once, here, avoids a choice for every key.
    if order == Order::default() {
        keys.is_sorted_by(|a, b| !b.compare(a, Order::default()).is_lt())
    } else {
        keys.is_sorted_by(|a, b| !b.compare(a, order).is_lt())
    }
}

/// Sorts keys that are in the order of their prefixes.
pub(crate) fn sort_ties<K: TotalOrder>(keys: &mut [K], order: Order, threads: usize) {
    if K::IS_PREFIX {
        return;
    }
    for tie in keys.chunk_by_mut(|a, b| a.prefix(order) == b.prefix(order)) {
        if threads > 1 && tie.len() >= ITEMS_A_TASK {
            tie.par_sort_unstable_by(|a, b| a.compare(b, order));
        } else if tie.len() > 1 {
            tie.sort_unstable_by(|a, b| a.compare(b, order));
        }
    }
}

pub(crate) fn sort_pairs<K: TotalOrder, V: Send>(
    keys: &mut [K],
    payload: &mut [V],
    order: Order,
    job: &Job,
) -> Result<Report, Error> {
    if size_of::<K>() == 0 {
        // All are equal, and there may be more of them than there are addresses for indices.
        return Ok(Report::default());
    }
    // Larger payloads would take more scratch memory than their indices.
    if const { matches!(size_of::<K>(), 4 | 8) && matches!(size_of::<V>(), 4 | 8) }
        && job.way == CpuWay::Distribute
    {
        let mut report = Report::default();
        if let Some(coded) = coded(keys, order, job, &mut report) {
            // SAFETY: the sort leaves a permutation, and calls nothing that panics while payloads are elsewhere.
            coded.sort_pairs(unsafe { Payload::of(payload) }, job, &mut report)?;
            return Ok(report);
        }
    }
    let mut indices = vec![0usize; keys.len()];
    let held = size_of_val(&*indices);
    let mut report = argsort(keys, &mut indices, order, &job.holding(held))?;
    let bytes = size_of_val(keys) + size_of_val(payload);
    report.phase("move", bytes, bytes, || permute_pairs(keys, payload, &mut indices));
    Ok(report)
}

pub(crate) fn argsort<K: TotalOrder, I: Index>(
    keys: &[K],
    indices: &mut [I],
    order: Order,
    job: &Job,
) -> Result<Report, Error> {
    let compare = |a: &I, b: &I| keys[a.to_usize()].compare(&keys[b.to_usize()], order);
    if job.way != CpuWay::Distribute {
        compare::check(size_of_val(indices), job)?;
        indices.iter_mut().enumerate().for_each(|(i, index)| *index = I::from_usize(i));
        return compare::sort(indices, compare, job);
    }
    let prefixes: Vec<u64> = keys.iter().map(|key| key.prefix(order)).collect();
    let job = job.holding(size_of_val(&*prefixes));
    compare::check(size_of_val(indices), &job)?;
    let ascending = Transform::IDENTITY;
    let mut report = u64::argsort(&prefixes, I::by_width(indices), ascending, &job)?;
    if K::IS_PREFIX {
        return Ok(report);
    }
    for tie in indices.chunk_by_mut(|a, b| prefixes[a.to_usize()] == prefixes[b.to_usize()]) {
        match tie.len() {
            0 | 1 => {}
            // A report for each of these sorts would take longer than most of them.
            2..=FEW => tie.sort_by(compare),
            _ => report.absorb(compare::sort(tie, compare, &job)?),
        }
    }
    Ok(report)
}

pub(crate) fn sort_segments<K: TotalOrder>(
    keys: &mut [K],
    segments: Segments<'_>,
    order: Order,
    job: &Job,
) -> Result<Report, Error> {
    let mut report = Report::default();
    if let Some(coded) = coded(keys, order, job, &mut report) {
        coded.sort_segments(segments, job, &mut report)?;
        return Ok(report);
    }
    let bytes = size_of_val(keys);
    report.phase("finish", bytes, bytes, || {
        let finish = |segment: &mut [K]| sort_keys(segment, order, false, 1);
        segments::each(keys, segments, usize::MAX, job.budget.threads, finish);
    });
    Ok(report)
}

pub(crate) fn sort_pairs_segments<K: TotalOrder, V: Send>(
    keys: &mut [K],
    payload: &mut [V],
    segments: Segments<'_>,
    order: Order,
    job: &Job,
) -> Result<Report, Error> {
    // Indices, prefixes, the scratch memory of an argsort of those, and that of a merge sort of ties.
    let scratch = |length: usize| length.saturating_mul(8 + 8 + 16 + 8);
    let bytes = size_of_val(keys) + size_of_val(payload);
    let batch = Batch { segments, keys: keys.len(), bytes };
    assert_eq!(keys.len(), payload.len());
    let (keys, payload) = (Pointers::of(keys), Pointers::of(payload));
    batch.each(&scratch, job, &|range, large, job| {
        let mut report = Report::default();
        for segment in batch.ranges(range, large) {
            // SAFETY: segments do not overlap, and each is used by one thread.
            let (keys, payload) = unsafe { (keys.slice(segment.clone()), payload.slice(segment)) };
            report.absorb(sort_pairs(keys, payload, order, job).expect(GRANTED));
        }
        report
    })
}

pub(crate) fn argsort_segments<K: TotalOrder, I: Index>(
    keys: &[K],
    indices: &mut [I],
    segments: Segments<'_>,
    order: Order,
    job: &Job,
) -> Result<Report, Error> {
    // Prefixes, the scratch memory of an argsort of those, and that of a merge sort of ties.
    let scratch = |length: usize| length.saturating_mul(8 + 16 + 8);
    each_of_indices(keys.len(), I::by_width(indices), segments, &scratch, job, &|job, next| {
        let mut report = Report::default();
        while let Some((range, indices)) = next() {
            let sorted = match indices {
                Indices::Narrow(indices) => argsort(&keys[range], indices, order, job),
                Indices::Wide(indices) => argsort(&keys[range], indices, order, job),
            };
            report.absorb(sorted.expect(GRANTED));
        }
        report
    })
}
