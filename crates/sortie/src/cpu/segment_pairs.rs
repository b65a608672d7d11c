//! Sorts many arrays with payloads, or computes the indices of their keys: finish alone, as for keys alone, but stable.

use std::ops::Range;

use super::order::Orderer;
use super::sorts::CpuSorts;
use super::vector::Isa;
use super::{Job, pairs, permute_pairs};
use crate::cpu::profile::{self, Runs};
use crate::cpu::tuning::{INSERT_UP_TO, PAIRS_A_BUCKET};
use crate::key::Transform;
use crate::parallel;
use crate::parallel::ITEMS_A_TASK;
use crate::request::Budget;
use crate::ways::CpuWay;
use crate::{Error, Index, Report, Segments};

/// The scratch memory of a thread for segments up to the size of a bucket. It is reused from segment to segment.
struct Room<B> {
    orderer: Orderer<B>,
    indices: Vec<u32>,
}

impl<B> Default for Room<B> {
    fn default() -> Self {
        Room { orderer: Orderer::default(), indices: Vec::new() }
    }
}

/// The bytes of a [`Room`] per key of `key` bytes: codes, words and indices, and the same again for ties, for each 64
/// bits of the key.
pub(crate) const fn room_bytes(key: usize) -> usize {
    if key > size_of::<u64>() { 84 } else { 40 }
}

/// Sorts every segment and moves each payload with its key. Stable.
pub(crate) fn sort<B: CpuSorts, V: Send>(
    keys: &mut [B],
    payload: &mut [V],
    segments: Segments<'_>,
    transform: Transform<B>,
    job: &Job,
) -> Result<Report, Error> {
    pairs::check(0, 0, job)?;
    let isa = Isa::detect();
    // If keys cannot be decoded from their codes, indices are sorted with the codes.
    let pair = if transform.is_bijection() { size_of::<B>() + size_of::<V>() } else { 16 + size_of::<B>() };
    let scratch = |length: usize| {
        let room = room_bytes(size_of::<B>()) * length.min(PAIRS_A_BUCKET);
        // Segments longer than a bucket need a copy, or the indices of a merge sort.
        room + if length > PAIRS_A_BUCKET {
            length * pair.max(16) + pairs::words(length, size_of::<B>())
        } else {
            0
        }
    };
    each(keys, payload, segments, &scratch, job, &|room: &mut Room<B>,
                                                   _,
                                                   keys: &mut [B],
                                                   payload: &mut [V],
                                                   job| {
        if job.way == CpuWay::Merge || keys.len() > PAIRS_A_BUCKET {
            pairs::sort(keys, payload, transform, job)
        } else {
            sort_bucket(room, keys, payload, transform, isa);
            Ok(Report::default())
        }
    })
}

/// Writes the sorting indices of the keys in every segment, counted from its start. Stable.
pub(crate) fn argsort<B: CpuSorts, I: Index>(
    keys: &[B],
    indices: &mut [I],
    segments: Segments<'_>,
    transform: Transform<B>,
    job: &Job,
) -> Result<Report, Error> {
    pairs::check(0, 0, job)?;
    let isa = Isa::detect();
    let scratch = |length: usize| {
        let room = room_bytes(size_of::<B>()) * length.min(PAIRS_A_BUCKET);
        // Segments longer than a bucket need a copy with indices, or the scratch memory of a merge sort.
        room + if length > PAIRS_A_BUCKET { length * (size_of::<B>() + size_of::<u64>()) } else { 0 }
    };
    // There is no payload to divide into segments.
    let none = &mut vec![(); keys.len()];
    each(none, indices, segments, &scratch, job, &|room: &mut Room<B>,
                                                   range,
                                                   _: &mut [()],
                                                   indices: &mut [I],
                                                   job| {
        let keys = &keys[range];
        if job.way == CpuWay::Merge || keys.len() > PAIRS_A_BUCKET {
            return pairs::argsort(keys, indices, transform, job);
        }
        room.orderer.order_keys(keys, transform, isa, |to, from| indices[to] = I::from_usize(from));
        Ok(Report::default())
    })
}

/// Sorts a segment that fits in a core's cache.
fn sort_bucket<B: CpuSorts, V>(
    room: &mut Room<B>,
    keys: &mut [B],
    payload: &mut [V],
    transform: Transform<B>,
    isa: Isa,
) {
    match profile::runs(keys, transform, true, 1) {
        Runs::Ascending => {}
        Runs::Descending => {
            keys.reverse();
            payload.reverse();
        }
        Runs::Mixed if keys.len() <= INSERT_UP_TO => {
            for i in 1..keys.len() {
                let mut hole = i;
                while hole > 0 && transform.encode(keys[hole - 1]) > transform.encode(keys[hole]) {
                    keys.swap(hole - 1, hole);
                    payload.swap(hole - 1, hole);
                    hole -= 1;
                }
            }
        }
        Runs::Mixed => {
            let Room { orderer, indices } = room;
            indices.clear();
            orderer.order_keys(
                keys,
                transform,
                isa,
                // `to` ascends, so the indices can be appended.
                |_, from| indices.push(from as u32),
            );
            permute_pairs(keys, payload, indices);
        }
    }
}

/// Calls `sort` for every segment. Segments with enough work for all threads are sorted one by one, the others in
/// parallel.
///
/// `sort` gets the range of the segment. It needs `scratch(length)` bytes, and only fails if the system refuses them;
/// then this function panics. Each thread reuses one `R` for all its segments.
pub(crate) fn each<R: Default, K: Send, V: Send, S>(
    keys: &mut [K],
    payload: &mut [V],
    segments: Segments<'_>,
    scratch: &dyn Fn(usize) -> usize,
    job: &Job,
    sort: &S,
) -> Result<Report, Error>
where
    S: Fn(&mut R, Range<usize>, &mut [K], &mut [V], &Job) -> Result<Report, Error> + Sync,
{
    let bytes = size_of_val(keys) + size_of_val(payload);
    let lengths = || (0..segments.count(keys.len())).map(|i| segments.range(i).len());
    let large = if job.budget.threads > 1 { keys.len() / job.budget.threads + 1 } else { usize::MAX };
    let longest = lengths().filter(|&length| length < large).max().unwrap_or(0);
    let longest_of_all = lengths().max().unwrap_or(0);
    let mut report = Report::default();
    job.budget.scratch(
        scratch(longest_of_all).max(scratch(longest).saturating_mul(job.budget.threads)),
        "a stable sort of pairs needs a copy of the longest segment for each thread; use fewer threads",
        &mut report,
    )?;
    let granted = "the system grants the scratch that the limit allows";
    let count = segments.count(keys.len());
    let job = Job { budget: Budget { memory: u64::MAX, ..job.budget }, ..*job };
    for range in (0..count).map(|i| segments.range(i)).filter(|range| range.len() >= large) {
        let (keys, payload) = (&mut keys[range.clone()], &mut payload[range.clone()]);
        report.absorb(sort(&mut R::default(), range, keys, payload, &job).expect(granted));
    }
    let alone = Job { budget: Budget { threads: 1, ..job.budget }, ..job };
    report.phase("finish", bytes, bytes, || {
        side_by_side(
            keys,
            payload,
            0,
            0..count,
            segments,
            job.budget.threads,
            &|room, range, keys, payload| {
                if range.len() < large {
                    sort(room, range, keys, payload, &alone).expect(granted);
                }
            },
        );
    });
    Ok(report)
}

/// Runs `finish` on the segments of a range. `keys` and `payload` start at position `at`.
fn side_by_side<R: Default, K: Send, V: Send>(
    keys: &mut [K],
    payload: &mut [V],
    at: usize,
    range: Range<usize>,
    segments: Segments<'_>,
    threads: usize,
    finish: &(impl Fn(&mut R, Range<usize>, &mut [K], &mut [V]) + Sync),
) {
    if threads < 2 || range.len() <= 1 || keys.len() <= ITEMS_A_TASK / 4 {
        let mut room = R::default();
        for i in range {
            let range = segments.range(i);
            let within = range.start - at..range.end - at;
            finish(&mut room, range, &mut keys[within.clone()], &mut payload[within]);
        }
        return;
    }
    let middle = range.start + range.len() / 2;
    let boundary = segments.range(middle).start;
    let (low_keys, high_keys) = keys.split_at_mut(boundary - at);
    let (low_payload, high_payload) = payload.split_at_mut(boundary - at);
    parallel::join(
        || side_by_side(low_keys, low_payload, at, range.start..middle, segments, threads, finish),
        || side_by_side(high_keys, high_payload, boundary, middle..range.end, segments, threads, finish),
    );
}
