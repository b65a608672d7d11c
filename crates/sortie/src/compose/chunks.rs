//! Sorts one array in host memory that is larger than the free device memory, or that several devices sort together.
//! All keys go to the devices and back twice.
//!
//! The first time, the array is sorted chunk by chunk into a copy, which then consists of sorted runs. The second time,
//! chunks of equal size are gathered from all runs, smallest keys first, and sorted back into the array. The part of
//! each run that belongs to a chunk is found by its exact rank and not by a sample, so skew and equal keys do no harm.
//!
//! The CPU only copies. Merging the runs on the CPU would take a comparison for each key and level of runs. The devices
//! sort faster than keys can be copied to them, so both trips take only as long as the copies. If the CPU distributed
//! keys to ranges, one trip would suffice, but that takes longer than a second trip: for 20 GB of u64 and 1024 ranges,
//! 1.9 s on 16 threads, compared with 0.9 s for a trip.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::time::Instant;

use sortie_device::Properties;

use crate::gpu::copy::bytes_mut;
use crate::gpu::{Allowed, ArrayChunk, Carriers, Crew, Gpu, HostArray, Work};
use crate::key::{Bits, Code, Transform};
use crate::parallel::{self, ITEMS_A_TASK};
use crate::request::Beside;
use crate::scratch::Scratch;
use crate::ways;
use crate::{Error, Order, Ran, Report};

/// Sorts the array. If a device fails on the second trip, the runs are copied back, so that the array stays a
/// permutation.
pub(crate) fn sort<B: Bits>(
    gpus: &[Arc<Gpu>],
    array: HostArray<'_, B>,
    code: Code,
    order: Order,
    allowed: Allowed,
) -> Result<Report, Error> {
    match array {
        HostArray::Sorted { keys, payload: None } => {
            by_trips(gpus, Keys::Sorted(keys), &mut [], code, order, true, allowed)
        }
        HostArray::Sorted { keys, payload: Some((mut payload, stable)) } => {
            let n = keys.len();
            by_trips(gpus, Keys::Sorted(keys), payload.range(0..n), code, order, stable, allowed)
        }
        HostArray::Argsorted { keys, .. } if keys.len() as u64 > 1 << 32 => Err(Error::Unsupported(format!(
            "indices of {} keys do not fit in 32 bits, which is what a GPU writes; use the CPU engine",
            keys.len()
        ))),
        HostArray::Argsorted { keys, indices } => {
            let parts = indices.chunks_mut(ITEMS_A_TASK).zip((0..).step_by(ITEMS_A_TASK));
            parallel::for_each(allowed.threads, parts, |(part, start): (&mut [u32], usize)| {
                part.iter_mut().zip(start..).for_each(|(index, i)| *index = i as u32);
            });
            // SAFETY: only indices are written, in another order.
            let indices = unsafe { bytes_mut(indices) };
            by_trips(gpus, Keys::Kept(keys), indices, code, order, true, allowed)
        }
    }
}

/// The keys of an array.
enum Keys<'a, B> {
    Sorted(&'a mut [B]),
    /// An argsort, which does not move the keys.
    Kept(&'a [B]),
}

fn by_trips<B: Bits>(
    gpus: &[Arc<Gpu>],
    mut keys: Keys<'_, B>,
    payload: &mut [MaybeUninit<u8>],
    code: Code,
    order: Order,
    stable: bool,
    allowed: Allowed,
) -> Result<Report, Error> {
    let all = match &keys {
        Keys::Sorted(keys) => &**keys,
        Keys::Kept(keys) => keys,
    };
    let n = all.len();
    let payload_bytes = payload.len().checked_div(n).unwrap_or(0);
    let copied = size_of_val(all) + payload.len();
    let work = Work { code, order, payload_bytes, stable };
    let mut carriers = Carriers::<B>::new(gpus, n, work, held(copied), allowed)?;
    let (mut key_runs, mut payload_runs) = (Scratch::<B>::new(n)?, Scratch::<u8>::new(payload.len())?);
    let mut report = Report { scratch_peak: carriers.bytes, ..Report::default() };
    let each = n.div_ceil(n.div_ceil(carriers.most).max(1)).max(1);

    let start = Instant::now();
    let (mut keys_to, mut payload_to) = (key_runs.bytes_mut(), payload_runs.bytes_mut());
    let runs = all.chunks(each).enumerate().map(|(i, keys)| ArrayChunk {
        keys: vec![keys],
        payload: vec![&payload[i * each * payload_bytes..][..keys.len() * payload_bytes]],
        keys_to: Some(taken(&mut keys_to, size_of_val(keys))),
        payload_to: taken(&mut payload_to, keys.len() * payload_bytes),
    });
    carriers.sort(runs)?;
    report.push(Ran::Cuda, "sort runs", start.elapsed(), copied, copied);

    // SAFETY: the carriers have written every run.
    let run_keys = unsafe { key_runs.written() };
    let runs: Vec<&[B]> = run_keys.chunks(each).collect();
    let transform = Transform::new(code, order);
    let cuts: Vec<Vec<usize>> = report.phase("split", 0, 0, || {
        let cut = |i| parts_before(&runs, i * each, transform);
        parallel::map(allowed.threads, 0..runs.len() + 1, cut)
    });

    let start = Instant::now();
    let sorted = {
        let mut keys_to = match &mut keys {
            // SAFETY: only keys are written.
            Keys::Sorted(keys) => Some(unsafe { bytes_mut(keys) }),
            Keys::Kept(_) => None,
        };
        let mut payload_to = &mut *payload;
        let chunks = cuts.windows(2).map(|cut| {
            let parts = || runs.iter().enumerate().map(|(i, run)| (i * each, *run, cut[0][i]..cut[1][i]));
            let count = parts().map(|(.., part)| part.len()).sum::<usize>();
            let of_payload = |(first, _, part): (usize, &[B], Range<usize>)| {
                &payload_runs[(first + part.start) * payload_bytes..(first + part.end) * payload_bytes]
            };
            ArrayChunk {
                keys: parts().map(|(_, run, part)| &run[part]).collect(),
                payload: parts().map(of_payload).collect(),
                keys_to: keys_to.as_mut().map(|to| taken(to, count * size_of::<B>())),
                payload_to: taken(&mut payload_to, count * payload_bytes),
            }
        });
        // After a panic, some payloads would occur twice.
        panic::catch_unwind(AssertUnwindSafe(|| carriers.sort(chunks)))
    };
    if let (Err(_) | Ok(Err(_)), Keys::Sorted(keys)) = (&sorted, keys) {
        keys.copy_from_slice(run_keys);
        payload.copy_from_slice(&payload_runs);
    }
    sorted.unwrap_or_else(|panicked| panic::resume_unwind(panicked))?;
    report.push(Ran::Cuda, "sort ranges", start.elapsed(), copied, copied);
    if allowed.threads > 1 {
        key_runs.free_in_parallel();
        payload_runs.free_in_parallel();
    }
    Ok(report)
}

/// What [`sort`] takes, for each of its choices, or the error if that exceeds the limit, or what a device has available.
pub(crate) fn scratch<B: Bits>(
    n: usize,
    beside: Beside,
    devices: &[(&Properties, u64)],
    threads: usize,
    limit: u64,
) -> impl Iterator<Item = Result<ways::Scratch, Error>> {
    let payload_bytes = if beside.is_indices() { size_of::<u32>() } else { beside.payload_bytes() };
    let stable = beside.is_stable();
    let work = Work { code: Code::Unsigned, order: Order::default(), payload_bytes, stable };
    let copied = n * (size_of::<B>() + payload_bytes);
    let (properties, available): (Vec<_>, Vec<_>) = devices.iter().copied().unzip();
    let crews = Crew::choices::<B>(&properties, n, work, threads, held(copied)).collect::<Vec<_>>();
    crews.into_iter().map(move |crew| crew?.check(limit, &available))
}

/// The bytes that are held on the host for a number of runs: a copy of the array, and a table of the parts of chunks.
fn held(copied: usize) -> impl Fn(usize) -> u64 {
    move |runs| (copied + size_of::<usize>() * runs * (runs + 1)) as u64
}

/// How many keys of each run are among the first `rank` of all keys. Of equal keys, those of earlier runs come first.
fn parts_before<B: Bits>(runs: &[&[B]], rank: usize, transform: Transform<B>) -> Vec<usize> {
    let less = |run: &[B], within: Range<usize>, code: B| {
        within.start + run[within].partition_point(|&key| transform.encode(key) < code)
    };
    // Finds, bit by bit, the greatest code that has at most `rank` keys below it. `within` has its position in each
    // run.
    let mut code = B::ZERO;
    let mut within: Vec<Range<usize>> = runs.iter().map(|run| 0..run.len()).collect();
    for bit in (0..B::WIDTH).rev() {
        let next = code.or(B::from_low(1).shl(bit));
        let positions: Vec<usize> =
            runs.iter().zip(&within).map(|(run, within)| less(run, within.clone(), next)).collect();
        if positions.iter().sum::<usize>() <= rank {
            code = next;
            within.iter_mut().zip(positions).for_each(|(within, position)| within.start = position);
        } else {
            within.iter_mut().zip(positions).for_each(|(within, position)| within.end = position);
        }
    }
    // Of the keys equal to this code, the first ones fill the rank.
    let mut missing = rank - within.iter().map(|within| within.start).sum::<usize>();
    let part = |(run, within): (&&[B], Range<usize>)| {
        let equal = run[within.start..].partition_point(|&key| transform.encode(key) <= code);
        let taken = equal.min(missing);
        missing -= taken;
        within.start + taken
    };
    runs.iter().zip(within).map(part).collect()
}

fn taken<'a>(from: &mut &'a mut [MaybeUninit<u8>], count: usize) -> &'a mut [MaybeUninit<u8>] {
    from.split_off_mut(..count).expect("as long as what it is a copy of")
}

#[cfg(test)]
mod tests {
    use sortie_simt::{Options, or_skip};

    use super::*;
    use crate::gpu::HostPayload;
    use crate::gpu::on_bench::{ALLOWED, code};
    use crate::{Bound, Key, Sorter, key};

    /// Runs a test on this number of devices, each of which has memory for a part of the test's array.
    fn on_small_benches(count: usize, test: impl FnOnce(&[Arc<Gpu>])) {
        if let Some(gpus) = benches(count, Options { memory: 1 << 20, ..Options::default() }) {
            test(&gpus);
        }
    }

    fn benches(count: usize, options: Options) -> Option<Vec<Arc<Gpu>>> {
        let bench = |_| or_skip(sortie_simt::device(options.clone()));
        (0..count).map(bench).map(|device| Some(Arc::new(Gpu::new(device?)))).collect()
    }

    fn compare<K: Key + Copy>(gpus: &[Arc<Gpu>], keys: &[K], order: Order) {
        let n = keys.len();
        let bits = |keys: &[K]| key::as_bits(keys).to_vec();
        let builder = Sorter::builder().threads(1).descending(order.descending);
        let (mut expected, mut indices) = (keys.to_vec(), (0..n as u32).collect::<Vec<_>>());
        builder.build().unwrap().sort_pairs(&mut expected, &mut indices).unwrap();

        let mut sorted = bits(keys);
        let array = HostArray::Sorted { keys: &mut sorted, payload: None };
        let report = sort(gpus, array, code::<K>(), order, ALLOWED).unwrap();
        assert!(sorted == bits(&expected), "{n} keys, {order:?}");
        let phases: Vec<_> = report.phases.iter().map(|phase| phase.name).collect();
        assert_eq!(phases, ["sort runs", "split", "sort ranges"]);

        // Payloads that detect if one is lost or duplicated.
        let mut sorted = bits(keys);
        let mut boxes: Vec<Box<u32>> = (0..n as u32).map(Box::new).collect();
        // SAFETY: the sort leaves a permutation of the boxes.
        let payload = unsafe { HostPayload::of(&mut boxes) }.map(|payload| (payload, true));
        let array = HostArray::Sorted { keys: &mut sorted, payload };
        sort(gpus, array, code::<K>(), order, ALLOWED).unwrap();
        assert!(sorted == bits(&expected), "{n} pairs, {order:?}");
        assert!(boxes.iter().map(|index| **index).eq(indices.iter().copied()), "{n} payloads, {order:?}");

        let (mut found, before) = (vec![7; n], bits(keys));
        let array = HostArray::Argsorted { keys: &before, indices: &mut found };
        sort(gpus, array, code::<K>(), order, ALLOWED).unwrap();
        assert!(found == indices, "indices of {n}, {order:?}");
        assert!(before == bits(keys));
    }

    #[test]
    fn what_does_not_fit_is_sorted_as_by_the_cpu() {
        for (devices, descending) in [(1, false), (3, true)] {
            on_small_benches(devices, |gpus| {
                what_does_not_fit(gpus, Order { descending, ..Order::default() })
            });
        }
    }

    fn what_does_not_fit(gpus: &[Arc<Gpu>], order: Order) {
        let mut random = fastrand::Rng::with_seed(1);
        for n in [0, 1, 2, 100_000] {
            compare(gpus, &(0..n).map(|_| random.u64(..)).collect::<Vec<_>>(), order);
        }
        let some = (0..150_000).map(|_| random.i32(-30..30)).collect::<Vec<_>>();
        compare(gpus, &some, order);
        let floats = (0..50_000).map(|_| f32::from_bits(random.u32(..))).collect::<Vec<_>>();
        compare(gpus, &floats, order);
        compare(gpus, &vec![5u32; 150_000], order);
        compare(gpus, &(0..100_000u64).collect::<Vec<_>>(), order);
        compare(gpus, &(0..60_000u32).map(|key| (key % 999) as u16).collect::<Vec<_>>(), order);
    }

    #[test]
    fn parts_are_those_of_the_least_keys() {
        let mut random = fastrand::Rng::with_seed(2);
        for most in [3, 1000, u32::MAX] {
            let mut runs: Vec<Vec<u32>> =
                (0..7).map(|i| (0..100 * i).map(|_| random.u32(0..most)).collect()).collect();
            runs.iter_mut().for_each(|run| run.sort_unstable());
            let runs: Vec<&[u32]> = runs.iter().map(|run| &run[..]).collect();
            let mut all: Vec<(u32, usize)> =
                runs.iter().enumerate().flat_map(|(i, run)| run.iter().map(move |&key| (key, i))).collect();
            all.sort();
            let transform = Transform::IDENTITY;
            for rank in (0..all.len()).step_by(37).chain([all.len(), all.len() + 5]) {
                let mut expected = vec![0; runs.len()];
                all.iter().take(rank).for_each(|&(_, run)| expected[run] += 1);
                assert_eq!(parts_before(&runs, rank, transform), expected, "{rank} of keys up to {most}");
            }
        }
    }

    #[test]
    fn too_little_memory_leaves_all_as_it_is() {
        on_small_benches(2, |gpus| {
            let descending: Vec<u64> = (0..100_000).rev().collect();
            let try_with = |memory_limit| {
                let mut keys = descending.clone();
                let array = HostArray::Sorted { keys: &mut keys, payload: None };
                let allowed = Allowed { memory_limit, ..ALLOWED };
                let result = sort(gpus, array, Code::Unsigned, Order::default(), allowed);
                assert!(if result.is_ok() { keys.is_sorted() } else { keys == descending });
                result
            };
            // The copy on the host also counts.
            let refused = try_with(800_000).unwrap_err();
            assert!(matches!(refused, Error::Memory { bound: Bound::Limit, needed, .. } if needed > 800_000));
            let report = try_with(2_000_000).unwrap();
            assert!(report.scratch_peak <= 2_000_000);
        });
    }

    /// Each copy, fill and launch fails once.
    #[test]
    fn whatever_fails_leaves_a_permutation() {
        let before: Vec<u32> = (0..20_000u32).map(|i| i.wrapping_mul(0x9E37_79B9)).collect();
        let mut sorted = before.clone();
        sorted.sort_unstable();
        for failing in 0.. {
            let options = Options { memory: 1 << 20, failing: Some(failing), ..Options::default() };
            let Some(gpus) = benches(2, options) else { return };
            let (mut keys, mut payload) = (before.clone(), before.clone());
            let moved = HostPayload::of_pod(&mut payload).map(|payload| (payload, true));
            let array = HostArray::Sorted { keys: &mut keys, payload: moved };
            let result = sort(&gpus, array, Code::Unsigned, Order::default(), ALLOWED);
            assert!(keys == payload, "point {failing}");
            if result.is_ok() {
                assert!(keys == sorted);
                assert!(failing > 10, "few points");
                return;
            }
            keys.sort_unstable();
            assert!(keys == sorted, "point {failing}");
        }
    }
}
