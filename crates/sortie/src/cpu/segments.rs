//! Many arrays of keys of fixed width: finish alone, each array is already a bucket.

use std::ops::Range;

use super::vector::{self, Isa};
use super::{Job, counting, keys};
use crate::key::{Bits, Transform};
use crate::plan::PARALLEL_FROM;
use crate::{Error, Report, Segments};

/// Sorts every segment by itself, in place.
pub(crate) fn sort<B: Bits>(
    keys: &mut [B],
    segments: Segments<'_>,
    transform: Transform<B>,
    job: &Job,
) -> Result<Report, Error> {
    let mut report = Report::default();
    let bytes = size_of_val(keys);
    let isa = Isa::detect();
    let finish = |segment: &mut [B]| {
        if counting::applies::<B>(segment.len()) {
            return counting::sort(segment, transform);
        }
        vector::compiled_for(isa, || transform.encode_slice(segment));
        vector::sort(segment, isa);
        vector::compiled_for(isa, || transform.decode_slice(segment));
    };
    let count = segments.count(keys.len());
    if job.threads < 2 || count == 0 {
        report.phase("finish", bytes, bytes, || {
            (0..count).for_each(|i| finish(&mut keys[segments.range(i)]));
        });
        return Ok(report);
    }
    // Segments that are work for all threads go first, one by one; the others go side by side.
    let large = keys.len() / job.threads + 1;
    for i in (0..count).filter(|&i| segments.range(i).len() >= large) {
        report.absorb(keys::sort(&mut keys[segments.range(i)], transform, job)?);
    }
    report.phase("finish", bytes, bytes, || {
        side_by_side(keys, 0, 0..count, segments, &|segment: &mut [B]| {
            if segment.len() < large {
                finish(segment);
            }
        });
    });
    Ok(report)
}

/// Runs `finish` on the segments of a range; `keys` start at place `at`.
fn side_by_side<B: Bits>(
    keys: &mut [B],
    at: usize,
    range: Range<usize>,
    segments: Segments<'_>,
    finish: &(impl Fn(&mut [B]) + Sync),
) {
    if range.len() == 1 || keys.len() <= PARALLEL_FROM / 4 {
        for i in range {
            let places = segments.range(i);
            finish(&mut keys[places.start - at..places.end - at]);
        }
        return;
    }
    let middle = range.start + range.len() / 2;
    let boundary = segments.range(middle).start;
    let (low, high) = keys.split_at_mut(boundary - at);
    rayon::join(
        || side_by_side(low, at, range.start..middle, segments, finish),
        || side_by_side(high, boundary, middle..range.end, segments, finish),
    );
}
