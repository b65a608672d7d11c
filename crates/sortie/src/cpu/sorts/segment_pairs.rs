//! Sorts many arrays with payloads, or computes the indices of their keys: finish alone, as for keys alone, but stable.

use std::ops::Range;

use crate::cpu::batch::Batch;
use crate::cpu::order::Orderer;
use crate::cpu::profile::{self, Runs};
use crate::cpu::scatter::Pointers;
use crate::cpu::sorts::CpuSorts;
use crate::cpu::tuning::{INSERT_UP_TO, PAIRS_A_BUCKET};
use crate::cpu::{Job, pairs, permute_pairs};
use crate::key::{Indices, Transform};
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
    let bytes = size_of_val(keys) + size_of_val(payload);
    let batch = Batch { segments, keys: keys.len(), bytes };
    assert_eq!(keys.len(), payload.len());
    let (keys, payload) = (Pointers::of(keys), Pointers::of(payload));
    batch.each(&scratch, job, &|range, large, job| {
        let (mut room, mut report) = (Room::default(), Report::default());
        for segment in batch.ranges(range, large) {
            // SAFETY: segments do not overlap, and each is used by one thread.
            let (keys, payload) = unsafe { (keys.slice(segment.clone()), payload.slice(segment)) };
            if job.way == CpuWay::Merge || keys.len() > PAIRS_A_BUCKET {
                report.absorb(pairs::sort(keys, payload, transform, job).expect(GRANTED));
            } else {
                sort_bucket(&mut room, keys, payload, transform);
            }
        }
        report
    })
}

/// Why a segment cannot fail for want of memory.
pub(crate) const GRANTED: &str = "the system grants the scratch that the limit allows";

/// Writes the sorting indices of the keys in every segment, counted from its start. Stable.
pub(crate) fn argsort<B: CpuSorts>(
    keys: &[B],
    indices: Indices<'_>,
    segments: Segments<'_>,
    transform: Transform<B>,
    job: &Job,
) -> Result<Report, Error> {
    pairs::check(0, 0, job)?;
    let scratch = |length: usize| {
        let room = room_bytes(size_of::<B>()) * length.min(PAIRS_A_BUCKET);
        // Segments longer than a bucket need a copy with indices, or the scratch memory of a merge sort.
        room + if length > PAIRS_A_BUCKET { length * (size_of::<B>() + size_of::<u64>()) } else { 0 }
    };
    each_of_indices(keys.len(), indices, segments, &scratch, job, &|job, ranges| {
        let (mut orderer, mut report) = (Orderer::default(), Report::default());
        while let Some((range, indices)) = ranges() {
            let keys = &keys[range];
            if job.way == CpuWay::Merge || keys.len() > PAIRS_A_BUCKET {
                report.absorb(pairs::argsort(keys, indices, transform, job).expect(GRANTED));
            } else {
                orderer.order_keys(keys, transform).write(indices);
            }
        }
        report
    })
}

/// The ranges of the next segment, and its indices.
type Next<'a, 'i> = &'a mut dyn FnMut() -> Option<(Range<usize>, Indices<'i>)>;

/// Calls `sort` for the indices of segments of `n` keys, see [`Batch::each`].
pub(crate) fn each_of_indices<'i>(
    n: usize,
    indices: Indices<'i>,
    segments: Segments<'_>,
    scratch: &dyn Fn(usize) -> usize,
    job: &Job,
    sort: &(dyn Fn(&Job, Next<'_, 'i>) -> Report + Sync),
) -> Result<Report, Error> {
    match indices {
        Indices::Narrow(indices) => each_in(n, indices, Indices::Narrow, segments, scratch, job, sort),
        Indices::Wide(indices) => each_in(n, indices, Indices::Wide, segments, scratch, job, sort),
    }
}

fn each_in<'i, I: Index>(
    n: usize,
    indices: &'i mut [I],
    of_width: fn(&'i mut [I]) -> Indices<'i>,
    segments: Segments<'_>,
    scratch: &dyn Fn(usize) -> usize,
    job: &Job,
    sort: &(dyn Fn(&Job, Next<'_, 'i>) -> Report + Sync),
) -> Result<Report, Error> {
    assert_eq!(indices.len(), n);
    let batch = Batch { segments, keys: n, bytes: size_of_val(indices) };
    let indices = Pointers::of(indices);
    batch.each(scratch, job, &|range, large, job| {
        let mut ranges = batch.ranges(range, large);
        // SAFETY: segments do not overlap, and each is used by one thread.
        let next = |range: Range<usize>| (range.clone(), of_width(unsafe { indices.slice(range) }));
        sort(job, &mut || ranges.next().map(next))
    })
}

/// Sorts a segment that fits in a core's cache.
fn sort_bucket<B: CpuSorts, V>(
    room: &mut Room<B>,
    keys: &mut [B],
    payload: &mut [V],
    transform: Transform<B>,
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
            // `to` ascends, so the indices can be appended.
            orderer.order_keys(keys, transform).put(keys.len(), |_, from| indices.push(from as u32));
            permute_pairs(keys, payload, indices);
        }
    }
}
