//! Keys without a fixed-width code: tuples, byte arrays, options. Sorted by the first 64 bits of their code,
//! then by comparison.

use super::{Job, compare, permute};
use crate::{Error, Index, Key, Order, Report, Segments};

pub(crate) fn sort<K: Key>(keys: &mut [K], order: Order, job: &Job) -> Result<Report, Error> {
    // Equal keys cannot be told apart, so the merge sort is taken only where it is asked for.
    let job = Job { stable: false, ..*job };
    compare::sort(keys, |a, b| a.compare(b, order), &job)
}

pub(crate) fn sort_pairs<K: Key, V: Send>(
    keys: &mut [K],
    payload: &mut [V],
    order: Order,
    job: &Job,
) -> Result<Report, Error> {
    let mut places = vec![0usize; keys.len()];
    let report = argsort(keys, &mut places, order, job)?;
    permute(keys, &mut places.clone());
    permute(payload, &mut places);
    Ok(report)
}

pub(crate) fn argsort<K: Key, I: Index>(
    keys: &[K],
    places: &mut [I],
    order: Order,
    job: &Job,
) -> Result<Report, Error> {
    places.iter_mut().enumerate().for_each(|(i, place)| *place = I::from_place(i));
    compare::sort(places, |a, b| keys[a.place()].compare(&keys[b.place()], order), job)
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
        for i in 0..segments.count(keys.len()) {
            keys[segments.range(i)].sort_unstable_by(|a, b| a.compare(b, order));
        }
    });
    let _ = job;
    Ok(report)
}
