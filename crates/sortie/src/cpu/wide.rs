//! Keys without a fixed-width code: tuples, byte arrays, options. Keys alone are compared. Places are sorted by the
//! first 64 bits of each key's code, and only where those are equal by comparison.

use super::{Job, compare, pairs, permute_pairs, segment_pairs, segments};
use crate::key::{Code, Transform};
use crate::plan::CpuWay;
use crate::{Error, Index, Key, Order, Report, Segments};

pub(crate) fn sort<K: Key>(keys: &mut [K], order: Order, job: &Job) -> Result<Report, Error> {
    compare::sort(keys, |a, b| a.compare(b, order), job)
}

pub(crate) fn sort_pairs<K: Key, V: Send>(
    keys: &mut [K],
    payload: &mut [V],
    order: Order,
    job: &Job,
) -> Result<Report, Error> {
    if size_of::<K>() == 0 {
        // All are equal, and there may be more of them than memory has addresses for places.
        return Ok(Report::default());
    }
    let mut places = vec![0usize; keys.len()];
    let held = size_of_val(&*places);
    let mut report = argsort(keys, &mut places, order, &job.holding(held))?;
    let bytes = size_of_val(keys) + size_of_val(payload);
    report.phase("move", bytes, bytes, || permute_pairs(keys, payload, &mut places));
    Ok(report)
}

pub(crate) fn argsort<K: Key, I: Index>(
    keys: &[K],
    places: &mut [I],
    order: Order,
    job: &Job,
) -> Result<Report, Error> {
    let compare = |a: &I, b: &I| keys[a.place()].compare(&keys[b.place()], order);
    if job.way != CpuWay::Distribute {
        compare::check(size_of_val(places), job)?;
        places.iter_mut().enumerate().for_each(|(i, place)| *place = I::from_place(i));
        return compare::sort(places, compare, job);
    }
    let prefixes: Vec<u64> = keys.iter().map(|key| key.prefix(order)).collect();
    let job = job.holding(size_of_val(&*prefixes));
    compare::check(size_of_val(places), &job)?;
    let ascending = Transform::new(Code::Unsigned, Order::default());
    let mut report = pairs::argsort(&prefixes, places, ascending, &job)?;
    for tie in places.chunk_by_mut(|a, b| prefixes[a.place()] == prefixes[b.place()]) {
        if tie.len() > 1 {
            report.absorb(compare::sort(tie, compare, &job)?);
        }
    }
    Ok(report)
}

pub(crate) fn sort_segments<K: Key>(
    keys: &mut [K],
    segments: Segments<'_>,
    order: Order,
    job: &Job,
) -> Result<Report, Error> {
    let mut report = Report::default();
    let bytes = size_of_val(keys);
    report.phase("finish", bytes, bytes, || {
        let finish = |segment: &mut [K]| segment.sort_unstable_by(|a, b| a.compare(b, order));
        let count = segments.count(keys.len());
        segments::side_by_side(keys, 0, 0..count, segments, job.budget.threads, &finish);
    });
    Ok(report)
}

pub(crate) fn sort_pairs_segments<K: Key, V: Send>(
    keys: &mut [K],
    payload: &mut [V],
    segments: Segments<'_>,
    order: Order,
    job: &Job,
) -> Result<Report, Error> {
    // Places, prefixes, the scratch of an argsort of those, and that of a merge sort of ties.
    let scratch = |length: usize| length.saturating_mul(8 + 8 + 12 + 8);
    segment_pairs::each(
        keys,
        payload,
        segments,
        &scratch,
        job,
        &|_, _, keys: &mut [K], payload: &mut [V], job| sort_pairs(keys, payload, order, job),
    )
}

pub(crate) fn argsort_segments<K: Key, I: Index>(
    keys: &[K],
    indices: &mut [I],
    segments: Segments<'_>,
    order: Order,
    job: &Job,
) -> Result<Report, Error> {
    // Prefixes, the scratch of an argsort of those, and that of a merge sort of ties.
    let scratch = |length: usize| length.saturating_mul(8 + 12 + 8);
    // The keys stay, so none are cut.
    let none = &mut vec![(); keys.len()];
    segment_pairs::each(
        none,
        indices,
        segments,
        &scratch,
        job,
        &|_, range, _: &mut [()], indices: &mut [I], job| argsort(&keys[range], indices, order, job),
    )
}
