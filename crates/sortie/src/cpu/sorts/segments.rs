//! Sorts many arrays of keys of fixed width: finish alone, because each array is already a bucket.

use crate::cpu::batch::Batch;
use crate::cpu::scatter::Pointers;
use crate::cpu::sorts::CpuSorts;
use crate::cpu::vector::{self, Isa};
use crate::cpu::{Job, compare, counting, keys};
use crate::key::Transform;
use crate::ways::CpuWay;
use crate::{Error, Report, Segments};

/// Sorts every segment in place.
pub(crate) fn sort<B: CpuSorts>(
    keys: &mut [B],
    segments: Segments<'_>,
    transform: Transform<B>,
    job: &Job,
) -> Result<Report, Error> {
    if job.way == CpuWay::Merge {
        let compare = |a: &B, b: &B| transform.encode(*a).cmp(&transform.encode(*b));
        let (_, mut report) = compare::check(size_of_val(keys), job)?;
        let bytes = size_of_val(keys);
        report.phase("finish", bytes, bytes, || {
            each(keys, segments, usize::MAX, job.budget.threads, |segment| segment.sort_by(compare));
        });
        return Ok(report);
    }
    let mut report = Report::default();
    let bytes = size_of_val(keys);
    let isa = Isa::detect();
    let finish = |segment: &mut [B]| {
        if const { counting::are_narrow::<B>() } && counting::pays(segment, transform, 1) {
            return counting::sort(segment, transform);
        }
        vector::sort_keys(segment, &transform, isa);
    };
    let count = segments.count(keys.len());
    // Segments with enough work for all threads are sorted one by one, before the others, which are sorted in parallel.
    let large = if job.budget.threads > 1 { keys.len() / job.budget.threads + 1 } else { usize::MAX };
    for i in (0..count).filter(|&i| segments.range(i).len() >= large) {
        report.absorb(keys::sort(&mut keys[segments.range(i)], transform, job)?);
    }
    report.phase("finish", bytes, bytes, || {
        each(keys, segments, large, job.budget.threads, finish);
    });
    Ok(report)
}

/// Calls `finish` with each segment of fewer than `large` keys.
pub(crate) fn each<K: Send>(
    keys: &mut [K],
    segments: Segments<'_>,
    large: usize,
    threads: usize,
    finish: impl Fn(&mut [K]) + Sync,
) {
    let batch = Batch { segments, keys: keys.len(), bytes: size_of_val(keys) };
    let keys = Pointers::of(keys);
    batch.side_by_side(0..segments.count(batch.keys), threads, &|range| {
        for segment in batch.ranges(range, large) {
            // SAFETY: segments do not overlap, and each is used by one thread.
            finish(unsafe { keys.slice(segment) });
        }
    });
}
