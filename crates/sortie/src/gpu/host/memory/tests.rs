//! Plans, and sorts on the test bench that run out of memory at every step.

use sortie_simt::{Options, SHARED_48K, Sanitizer, or_skip};

use super::*;
use crate::gpu::host::{Allowed, HostPayload, segments};
use crate::gpu::on_bench::sort_array;
use crate::gpu::tuning::LEFT_FREE;
use crate::gpu::{Gpu, HostArray};
use crate::key::{Code, Form};
use crate::{Algorithm, Order, Report, TotalOrder};

fn request(segments: Segments<'_>, keys: usize, key_bytes: usize) -> Request<'_> {
    let content =
        Content { key_bytes, payload: Payload::None, code: Code::Unsigned, order: Order::default() };
    Request { segments, keys, content, pinned: false, shared_per_block: SHARED_48K }
}

/// Every key of a segment is in exactly one chunk, and no chunk is longer than necessary.
#[test]
fn chunks_hold_every_segment_once() {
    let mut random = fastrand::Rng::with_seed(1);
    let mut offsets = vec![7];
    for _ in 0..300 {
        offsets.push(offsets[offsets.len() - 1] + random.usize(0..50) * random.usize(0..3));
    }
    let keys = offsets[offsets.len() - 1] + 5;
    for segments in [Segments::Offsets(&offsets), Segments::Length(30), Segments::Length(keys.max(1))] {
        let keys = match segments {
            Segments::Length(length) => keys.next_multiple_of(length),
            Segments::Offsets(_) => keys,
        };
        for most in [0, 1, 30, 64, 1000, keys] {
            let chunks = request(segments, keys, 4).chunks(most);
            let mut next = 0;
            for chunk in &chunks {
                assert_eq!(chunk.segments.start, next);
                next = chunk.segments.end;
                let ranges: Vec<_> = chunk.segments.clone().map(|i| segments.range(i)).collect();
                assert_eq!(chunk.keys, ranges[0].start..ranges[ranges.len() - 1].end);
                assert_eq!(Some(chunk.longest), ranges.iter().map(Range::len).max());
                assert!(chunk.keys.len() <= most || ranges.len() == 1, "{chunk:?} of up to {most}");
            }
            assert_eq!(next, segments.count(keys));
            // Two neighbouring chunks would not have fit in one.
            let fits = |pair: &[SegmentChunk]| {
                pair[0].keys.len() + segments.range(pair[1].segments.start).len() <= most
            };
            assert!(!chunks.windows(2).any(fits), "{segments:?}, {most}");
        }
    }
}

#[test]
fn plans_shrink_before_they_fail() {
    let Some(device) = or_skip(sortie_simt::device(Options { memory: 1 << 40, ..Options::default() })) else {
        return;
    };
    const MIB: u64 = 1 << 20;
    let reserve = |keys: usize, length: usize, limit: u64| {
        let request = request(Segments::Length(length), keys, 4);
        request.reserve(&device, limit, |_| Ok(())).map(|(plan, ())| plan)
    };
    let shape = |limit| {
        let plan = reserve(1 << 30, 1 << 10, limit).unwrap();
        assert!(plan.bytes() <= limit && plan.bytes() == 2 * plan.pinned(), "{plan:?}");
        (plan.slots, (plan.keys * 4) as u64)
    };
    assert_eq!(shape(u64::MAX), (3, 64 * MIB));
    assert_eq!(shape(384 * MIB), (3, 64 * MIB));
    assert_eq!(shape(384 * MIB - 1), (3, 32 * MIB));
    assert_eq!(shape(24 * MIB), (3, 4 * MIB));
    assert_eq!(shape(24 * MIB - 1), (2, 4 * MIB));
    assert_eq!(shape(16 * MIB - 1), (1, 4 * MIB));
    assert_eq!(shape(128 << 10), (1, 64 << 10));
    let refused = |bound, needed, available| {
        move |error| match error {
            Error::Memory { bound: b, needed: n, available: a, .. } => {
                (b, n, a) == (bound, needed, available)
            }
            other => panic!("{other}"),
        }
    };
    let least = 128 << 10;
    assert!(reserve(1 << 30, 1 << 10, least - 1).is_err_and(refused(Bound::Limit, least, least - 1)));
    // A segment is not cut. If it is too long for a block, it needs a copy on the device, and the progress of its
    // merges.
    let whole = (3 << 20) * 4 * 3 + 256;
    assert_eq!(reserve(3 << 21, 3 << 20, whole).unwrap().scratch, (3 << 20) * 4 + 256);
    assert!(reserve(3 << 21, 3 << 20, whole - 1).is_err_and(refused(Bound::Limit, whole, whole - 1)));
    // No more than there is data.
    assert_eq!(reserve(1000, 10, u64::MAX).unwrap().bytes(), 8000);
    assert_eq!(reserve(0, 10, 0).unwrap().bytes(), 0);
}

/// Segments with and without a copy on the device, of one length and between offsets.
fn jobs() -> Vec<(&'static str, Vec<usize>, Option<usize>)> {
    let even = |length: usize, count: usize| (0..=count).map(|i| i * length).collect::<Vec<_>>();
    vec![
        ("short", even(100, 700), Some(100)),
        ("long", even(14_000, 5), Some(14_000)),
        ("ragged", [even(70, 200), vec![14_001, 14_001, 20_000, 34_000, 34_100, 50_000]].concat(), None),
    ]
}

/// Keys, and the same keys sorted.
fn keys(offsets: &[usize]) -> (Vec<f32>, Vec<f32>) {
    let mut random = fastrand::Rng::with_seed(3);
    let unsorted: Vec<f32> =
        (0..offsets[offsets.len() - 1]).map(|_| f32::from_bits(random.u32(..))).collect();
    let mut sorted = unsorted.clone();
    let sorter = crate::Sorter::builder().engine(crate::Engine::Cpu).build().unwrap();
    sorter.sort_segments(&mut sorted, Segments::Offsets(offsets)).unwrap();
    (unsorted, sorted)
}

fn sort(
    gpu: &Gpu,
    keys: &mut [f32],
    offsets: &[usize],
    length: Option<usize>,
    memory_limit: u64,
) -> Result<Report, Error> {
    let segments = as_segments(offsets, length);
    let Form::Bits(code) = f32::FORM else { unreachable!("floats have codes") };
    assert!(matches!(code, Code::Float { .. }));
    let bits: &mut [u32] = bytemuck::cast_slice_mut(keys);
    let array = HostArray::Sorted { keys: bits, payload: None };
    segments::sort_segments(
        gpu,
        array,
        segments,
        code,
        Order::default(),
        Allowed { threads: 1, memory_limit },
    )
}

fn as_segments(offsets: &[usize], length: Option<usize>) -> Segments<'_> {
    length.map_or(Segments::Offsets(offsets), Segments::Length)
}

fn bits(keys: &[f32]) -> &[u32] {
    bytemuck::cast_slice(keys)
}

/// Sorts with lower and lower limits, down to the first that is one byte too low.
#[test]
fn limits_are_kept_and_exact() {
    let options = Options { sanitizer: Sanitizer::Race, ..Options::default() };
    let Some(device) = or_skip(sortie_simt::device(options)) else { return };
    let gpu = Gpu::new(device);
    let free = gpu.device().free_memory().unwrap();
    for (name, offsets, length) in jobs() {
        let (unsorted, sorted) = keys(&offsets);
        let mut limit = u64::MAX;
        let mut sorts = 0;
        loop {
            let mut keys = unsorted.clone();
            match sort(&gpu, &mut keys, &offsets, length, limit) {
                Ok(report) => {
                    assert!(bits(&keys) == bits(&sorted), "{name} within {limit}");
                    assert!(report.scratch_peak <= limit, "{name}: held {}", report.scratch_peak);
                    limit = report.scratch_peak - 1;
                    sorts += 1;
                }
                Err(Error::Memory { bound: Bound::Limit, needed, available, .. }) => {
                    assert!(bits(&keys) == bits(&unsorted), "{name}: refused, but touched the keys");
                    assert_eq!((needed, available), (limit + 1, limit), "{name}");
                    break;
                }
                Err(other) => panic!("{name}: {other}"),
            }
        }
        assert!(sorts > 1, "{name}: nothing smaller was tried");
        // A device that has what the plan states, and next to nothing more.
        let limit = limit + 1;
        let request = request(as_segments(&offsets, length), unsorted.len(), size_of::<f32>());
        let (plan, ()) = request.reserve(gpu.device(), limit, |_| Ok(())).unwrap();
        let memory = plan.device() + plan.device() / (LEFT_FREE - 1) + 1;
        let small = Gpu::new(sortie_simt::device(Options { memory, ..Options::default() }).unwrap());
        let mut keys = unsorted.clone();
        sort(&small, &mut keys, &offsets, length, limit).unwrap();
        assert!(bits(&keys) == bits(&sorted), "{name} on a device of {memory} bytes");
        assert_eq!(gpu.device().free_memory(), Ok(free), "{name}: all was given back");
    }
}

/// With less and less memory on the device, the plan shrinks, and in the end the error gives both numbers.
#[test]
fn small_devices_sort_or_say_what_is_missing() {
    for (name, offsets, length) in jobs() {
        let (unsorted, sorted) = keys(&offsets);
        let mut memory = 2 << 20;
        let mut sorts = 0;
        while memory > 0 {
            let Some(device) = or_skip(sortie_simt::device(Options { memory, ..Options::default() })) else {
                return;
            };
            let mut keys = unsorted.clone();
            match sort(&Gpu::new(device), &mut keys, &offsets, length, u64::MAX) {
                Ok(_) => {
                    assert!(bits(&keys) == bits(&sorted), "{name} on a device of {memory} bytes");
                    sorts += 1;
                }
                Err(Error::Memory { bound: Bound::Device, needed, available, .. }) => {
                    assert!(bits(&keys) == bits(&unsorted), "{name}: refused, but touched the keys");
                    assert!(available <= memory && available < needed, "{name}: {needed} of {available}");
                }
                Err(other) => panic!("{name}: {other}"),
            }
            memory = memory * 2 / 3;
        }
        assert!((1..30).contains(&sorts), "{name}: {sorts} sorts");
    }
}

/// The first allocation is refused, then the second, and so on, also those of the last plan.
#[test]
fn an_allocation_that_fails_leaves_the_keys() {
    for (name, offsets, length) in jobs() {
        let (unsorted, sorted) = keys(&offsets);
        let mut refusals = Vec::new();
        for allocations in 0.. {
            let Some(device) = or_skip(sortie_simt::device(Options { allocations, ..Options::default() }))
            else {
                return;
            };
            let mut keys = unsorted.clone();
            match sort(&Gpu::new(device), &mut keys, &offsets, length, u64::MAX) {
                Ok(_) => {
                    assert!(bits(&keys) == bits(&sorted), "{name} by {allocations} allocations");
                    break;
                }
                Err(error @ Error::Memory { bound, needed, available, .. }) => {
                    assert!(bits(&keys) == bits(&unsorted), "{name}: refused, but touched the keys");
                    let text = error.to_string();
                    assert!(
                        text.contains(&needed.to_string()) && text.contains(&available.to_string()),
                        "{text}"
                    );
                    refusals.push(bound);
                }
                Err(other) => panic!("{name}: {other}"),
            }
        }
        assert!(refusals.contains(&Bound::Device) && refusals.contains(&Bound::Host), "{name}: {refusals:?}");
    }
}

/// Chunks are in flight at the same time, and slots are used again.
#[test]
fn chunks_overlap() {
    let Some(device) = or_skip(sortie_simt::device(Options::default())) else { return };
    let gpu = Gpu::new(device);
    let mut random = fastrand::Rng::with_seed(5);
    let mut keys: Vec<u64> = (0..1_700_000).map(|_| random.u64(..)).collect();
    let mut expected = keys.clone();
    expected.chunks_mut(4).for_each(<[u64]>::sort_unstable);
    let allowed = Allowed { threads: 2, memory_limit: 24 << 20 };
    let segments = Segments::Length(4);
    let array = HostArray::Sorted { keys: &mut keys, payload: None };
    let report = segments::sort_segments(&gpu, array, segments, Code::Unsigned, Order::default(), allowed);
    assert_eq!(report.unwrap().scratch_peak, 24 << 20);
    assert!(keys == expected);
}

/// Device memory for a call on data that is already there.
#[test]
fn scratch_that_does_not_fit_is_refused_with_both_numbers() {
    let Some(device) = or_skip(sortie_simt::device(Options { memory: 100_000, ..Options::default() })) else {
        return;
    };
    let gpu = Gpu::new(device.clone());
    let stream = device.stream().unwrap();
    let unsorted: Vec<u32> = (0..15_000u32).rev().collect();
    let buffer = device.alloc::<u32>(unsorted.len()).unwrap();
    stream.copy_in(buffer.view(), &unsorted).unwrap();
    let offsets = device.alloc::<u64>(3).unwrap();
    stream.copy_in(offsets.view(), &[0, 13_000, 15_000]).unwrap();
    let offsets = crate::gpu::DeviceSegments::Offsets { offsets: offsets.view(), longest: 13_000 };
    for (segments, words) in [
        (crate::gpu::DeviceSegments::Length(15_000), 15_004),
        (offsets, 15_000 + crate::gpu::segments::listed_words(2)),
    ] {
        // SAFETY: nothing else uses the keys.
        let sorted = unsafe { gpu.sort_segments(&stream, buffer.view(), segments, Order::default()) };
        let available = 100_000 - 60_000 - 24;
        match sorted.map(drop) {
            Err(Error::Memory { bound: Bound::Device, needed, available: found, .. }) => {
                assert_eq!((needed, found), (words as u64 * 4, available));
            }
            other => panic!("{other:?}"),
        }
        let mut untouched = vec![0; unsorted.len()];
        stream.copy_out(&mut untouched, buffer.view()).unwrap();
        assert!(untouched == unsorted);
    }
}

/// The first launch, copy or fill fails, then the second, and so on: every segment stays a permutation of its keys.
#[test]
fn work_that_fails_leaves_segments_permuted() {
    for (name, offsets, length) in jobs() {
        let (unsorted, sorted) = keys(&offsets);
        for failing in 0.. {
            let Some(device) =
                or_skip(sortie_simt::device(Options { failing: Some(failing), ..Options::default() }))
            else {
                return;
            };
            let free = device.free_memory();
            let gpu = Gpu::new(device);
            let mut keys = unsorted.clone();
            // In several chunks.
            let sort = |keys: &mut [f32]| sort(&gpu, keys, &offsets, length, 1 << 20);
            match sort(&mut keys) {
                Ok(_) => {
                    assert!(bits(&keys) == bits(&sorted), "{name}, step {failing}");
                    assert!(failing > 2, "{name}: has no steps");
                    break;
                }
                Err(Error::Device(_)) => {}
                Err(other) => panic!("{name}, step {failing}: {other}"),
            }
            assert_eq!(gpu.device().free_memory(), free, "{name}: all was given back");
            // Sorted once more, they are right only if none is lost and none exists twice.
            sort(&mut keys).unwrap();
            assert!(bits(&keys) == bits(&sorted), "{name} after step {failing} failed");
        }
    }
}

/// One array on the host: keys alone, with a payload, and an argsort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum One {
    Keys,
    Pairs,
    Indices,
}

/// The keys of one array, and its payload or indices.
type Arrays = (Vec<u32>, Vec<u32>);

impl One {
    fn sort(self, gpu: &Gpu, arrays: &mut Arrays) -> Result<Report, Error> {
        let (keys, beside) = (&mut arrays.0[..], &mut arrays.1[..]);
        let array = match self {
            One::Keys => HostArray::Sorted { keys, payload: None },
            One::Pairs => {
                let payload = HostPayload::of_pod(beside).map(|payload| (payload, true));
                HostArray::Sorted { keys, payload }
            }
            One::Indices => HostArray::Argsorted { keys, indices: beside },
        };
        let allowed = Allowed { threads: 1, memory_limit: u64::MAX };
        sort_array(gpu, array, Code::Unsigned, Algorithm::Auto, allowed)
    }

    /// Enough keys to be distributed on one multiprocessor, and the expected result.
    fn example(self) -> (Arrays, Arrays) {
        let mut random = fastrand::Rng::with_seed(4);
        let n = (1 << 15) + 3;
        let unsorted: Arrays = ((0..n).map(|_| random.u32(..)).collect(), (0..n).collect());
        let mut sorted = unsorted.clone();
        let indices = crate::argsort(&unsorted.0);
        if self != One::Keys {
            sorted.1 = indices.iter().map(|&index| index as u32).collect();
        }
        if self != One::Indices {
            sorted.0.sort_unstable();
        }
        (unsorted, sorted)
    }
}

/// If an allocation is refused or a step fails, the array on the host stays as it was, and the engine can still be
/// used.
#[test]
fn what_fails_leaves_one_array() {
    for one in [One::Keys, One::Pairs, One::Indices] {
        let (unsorted, sorted) = one.example();
        let mut refused = 0;
        for allocations in 0..16 {
            let options = Options { allocations, multiprocessors: 1, ..Options::default() };
            let Some(device) = or_skip(sortie_simt::device(options)) else { return };
            let free = device.free_memory();
            let gpu = Gpu::new(device);
            let mut arrays = unsorted.clone();
            match one.sort(&gpu, &mut arrays) {
                Ok(_) => assert!(arrays == sorted, "{one:?} by {allocations} allocations"),
                Err(Error::Memory { .. }) => {
                    assert!(arrays == unsorted, "{one:?}: refused, but changed the arrays");
                    assert_eq!(gpu.device().free_memory(), free, "{one:?}: all was given back");
                    refused += 1;
                }
                Err(other) => panic!("{one:?} by {allocations} allocations: {other}"),
            }
        }
        assert!((3..16).contains(&refused), "{one:?}: {refused} were refused");
        for failing in 0.. {
            let options = Options { failing: Some(failing), multiprocessors: 1, ..Options::default() };
            let gpu = Gpu::new(sortie_simt::device(options).unwrap());
            let free = gpu.device().free_memory();
            let mut arrays = unsorted.clone();
            match one.sort(&gpu, &mut arrays) {
                Ok(_) => {
                    assert!(arrays == sorted, "{one:?}, step {failing}");
                    assert!(failing > 4, "{one:?}: has no steps");
                    break;
                }
                Err(Error::Device(_)) => {}
                Err(other) => panic!("{one:?}, step {failing}: {other}"),
            }
            // One piece is copied back as a whole or not at all.
            assert!(arrays == unsorted, "{one:?}: step {failing} failed, and the arrays changed");
            assert_eq!(gpu.device().free_memory(), free, "{one:?}: all was given back");
            one.sort(&gpu, &mut arrays).unwrap();
            assert!(arrays == sorted, "{one:?} after step {failing} failed");
        }
    }
}
