//! Sorts many arrays of keys of fixed width: finish alone, because each array is already a bucket.

use std::ops::Range;

use super::vector::{self, Isa};
use super::{Job, compare, counting, keys};
use crate::cpu::sorts::CpuSorts;
use crate::key::Transform;
use crate::parallel;
use crate::parallel::ITEMS_A_TASK;
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
            let finish = |segment: &mut [B]| segment.sort_by(compare);
            side_by_side(keys, 0, 0..segments.count(keys.len()), segments, job.budget.threads, &finish);
        });
        return Ok(report);
    }
    let mut report = Report::default();
    let bytes = size_of_val(keys);
    let isa = Isa::detect();
    let finish = |segment: &mut [B]| {
        if counting::applies::<B>(segment.len()) {
            return counting::sort(segment, transform);
        }
        vector::compiled_for!(isa, || transform.encode_slice(segment));
        vector::sort(segment, isa);
        vector::compiled_for!(isa, || transform.decode_slice(segment));
    };
    let count = segments.count(keys.len());
    // Segments with enough work for all threads are sorted one by one, before the others, which are sorted in parallel.
    let large = if job.budget.threads > 1 { keys.len() / job.budget.threads + 1 } else { usize::MAX };
    for i in (0..count).filter(|&i| segments.range(i).len() >= large) {
        report.absorb(keys::sort(&mut keys[segments.range(i)], transform, job)?);
    }
    report.phase("finish", bytes, bytes, || {
        side_by_side(keys, 0, 0..count, segments, job.budget.threads, &|segment: &mut [B]| {
            if segment.len() < large {
                finish(segment);
            }
        });
    });
    Ok(report)
}

/// Runs `finish` on the segments of a range. `keys` start at position `at`.
pub(crate) fn side_by_side<K: Send>(
    keys: &mut [K],
    at: usize,
    range: Range<usize>,
    segments: Segments<'_>,
    threads: usize,
    finish: &(impl Fn(&mut [K]) + Sync),
) {
    if threads < 2 || range.len() <= 1 || keys.len() <= ITEMS_A_TASK / 4 {
        for i in range {
            let indices = segments.range(i);
            finish(&mut keys[indices.start - at..indices.end - at]);
        }
        return;
    }
    let middle = range.start + range.len() / 2;
    let boundary = segments.range(middle).start;
    let (low, high) = keys.split_at_mut(boundary - at);
    parallel::join(
        || side_by_side(low, at, range.start..middle, segments, threads, finish),
        || side_by_side(high, boundary, middle..range.end, segments, threads, finish),
    );
}
