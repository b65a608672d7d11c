//! One array in host memory: copied to the device, sorted there as a whole, and copied back.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::time::Instant;

use sortie_device::{Buffer, Properties};

use super::allowed::Allowed;
use super::payload::HostPayload;
use super::transport::{Lanes, Transport};
use crate::gpu::Gpu;
use crate::gpu::alloc::{available, scratch, workspace, workspace_bytes};
use crate::gpu::array::Wanted;
use crate::gpu::copy::{self, bytes, bytes_mut};
use crate::gpu::tuning::LEAST_TRIP_BYTES;
use crate::key::{Bits, Code};
use crate::request::Beside;
use crate::scratch::Scratch;
use crate::ways::{self, DeviceWay};
use crate::{Error, Order, Ran, Report};

/// An array, and what is to be done with it.
pub enum HostArray<'a, B> {
    Sorted {
        keys: &'a mut [B],
        /// The payload that moves with the keys, and whether equal keys keep their order.
        payload: Option<(HostPayload<'a>, bool)>,
    },
    /// The indices of the keys, in order, are written.
    Argsorted { keys: &'a [B], indices: &'a mut [u32] },
}

impl<B: Bits> HostArray<'_, B> {
    pub fn keys(&self) -> &[B] {
        match self {
            HostArray::Sorted { keys, .. } => keys,
            HostArray::Argsorted { keys, .. } => keys,
        }
    }

    /// The same array, borrowed for a first try.
    pub fn reborrow(&mut self) -> HostArray<'_, B> {
        self.range(0..self.keys().len())
    }

    /// A range of the keys, and what belongs to them.
    pub fn range(&mut self, range: Range<usize>) -> HostArray<'_, B> {
        match self {
            HostArray::Sorted { keys, payload } => {
                let payload =
                    payload.as_mut().map(|(payload, stable)| (payload.part(range.clone()), *stable));
                HostArray::Sorted { keys: &mut keys[range], payload }
            }
            HostArray::Argsorted { keys, indices } => {
                HostArray::Argsorted { keys: &keys[range.clone()], indices: &mut indices[range] }
            }
        }
    }

    /// What is sent to a device: keys, and what moves with them.
    pub fn sent(&mut self) -> [&[MaybeUninit<u8>]; 2] {
        match self {
            HostArray::Sorted { keys, payload } => {
                let payload = payload.as_mut().map_or(&[][..], |(payload, _)| payload.bytes());
                [bytes(keys), payload]
            }
            HostArray::Argsorted { keys, .. } => [bytes(keys), &[]],
        }
    }

    /// Where the results are written.
    ///
    /// # Safety
    /// Only keys, payloads or indices are written, as many of each as there are.
    pub unsafe fn received(&mut self) -> [&mut [MaybeUninit<u8>]; 2] {
        match self {
            HostArray::Sorted { keys, payload } => {
                let payload = payload.as_mut().map_or(&mut [][..], |(payload, _)| payload.bytes());
                // SAFETY: the caller guarantees it.
                [unsafe { bytes_mut(keys) }, payload]
            }
            // SAFETY: the caller guarantees it.
            HostArray::Argsorted { indices, .. } => [unsafe { bytes_mut(indices) }, &mut []],
        }
    }

    pub fn beside(&self) -> Beside {
        match self {
            HostArray::Sorted { payload: None, .. } => Beside::Nothing,
            HostArray::Sorted { payload: Some((payload, stable)), .. } => {
                Beside::Payload { bytes: payload.each(), stable: *stable }
            }
            HostArray::Argsorted { .. } => Beside::Indices { stable: true },
        }
    }
}

/// Bytes that are on the device for each key, besides the key.
fn each(beside: Beside) -> usize {
    if beside.is_indices() { size_of::<u32>() } else { beside.payload_bytes() }
}

/// How a sort in one way may copy, the fastest first, and what it then takes in all.
fn choices<B: Bits>(
    n: usize,
    beside: Beside,
    words: &[usize],
    threads: usize,
) -> impl Iterator<Item = (Lanes, ways::Scratch)> + use<B> {
    let device = (n * (size_of::<B>() + each(beside)) + workspace_bytes(words)) as u64;
    Lanes::choices(n * size_of::<B>().max(each(beside)), threads).map(move |lanes| {
        // A payload is copied back as a whole or not at all: half of one would have some elements twice.
        (lanes, ways::Scratch { host: (lanes.pinned() + n * beside.payload_bytes()) as u64, device })
    })
}

/// What [`sort`] takes in this way, for each of its choices.
pub(crate) fn array_scratch<B: Bits>(
    n: usize,
    beside: Beside,
    way: DeviceWay,
    device: &Properties,
    threads: usize,
) -> impl Iterator<Item = ways::Scratch> + use<B> {
    // The type of the keys makes no difference.
    let wanted = Wanted { beside, code: Code::Unsigned, order: Order::default() };
    let words = wanted.scratch_words::<B>(&wanted.in_way::<B>(way, n, device), n, device);
    choices::<B>(n, beside, &words, threads).map(|(_, scratch)| scratch)
}

/// All the memory of a sort.
struct Held {
    keys: Buffer<u32>,
    payload: Buffer<u32>,
    scratch: Buffer<u32>,
    transport: Transport,
    /// Where the payload is copied back to.
    back: Scratch<u8>,
    /// Bytes of all of it.
    bytes: u64,
}

/// Sorts the array in this way, and waits.
///
/// All memory is allocated before anything is copied. So if there is too little, the keys stay as they are; the same
/// holds if the device fails before the first of them is copied back.
pub(crate) fn sort<B: Bits>(
    gpu: &Gpu,
    mut array: HostArray<'_, B>,
    code: Code,
    order: Order,
    way: DeviceWay,
    allowed: Allowed,
) -> Result<Report, Error> {
    let (n, beside) = (array.keys().len(), array.beside());
    let wanted = Wanted { beside, code, order };
    let (key_bytes, payload_bytes) = (n * size_of::<B>(), n * each(beside));
    let way = wanted.in_way::<B>(way, n, gpu.device().properties());
    let words = gpu.array_words::<B>(&way, n, wanted);
    let hold = |(lanes, needed): (Lanes, ways::Scratch)| -> Result<Held, Error> {
        needed.check(allowed.memory_limit, available(gpu.device().free_memory()?), HINT)?;
        let transport = Transport::new(gpu, lanes, allowed.threads)?;
        let stream = transport.stream();
        let array = |bytes: usize| scratch(stream, bytes.div_ceil(size_of::<u32>()));
        let (keys, payload, scratch) = (array(key_bytes)?, array(payload_bytes)?, workspace(stream, &words)?);
        // Other streams copy as well.
        stream.wait()?;
        let back = Scratch::new(n * beside.payload_bytes())?;
        Ok(Held { keys, payload, scratch, transport, back, bytes: needed.bytes() })
    };
    let mut choices = choices::<B>(n, beside, &words, allowed.threads);
    let first = hold(choices.next().expect("there is one"));
    let held = choices.fold(first, |held, choice| match held {
        Err(Error::Memory { .. }) => hold(choice),
        decided => decided,
    })?;
    // The transport is dropped first, and waits for everything that it has enqueued.
    let Held { keys, payload, scratch, mut transport, mut back, bytes: needed } = held;
    let keys_there = keys.view().cast::<u8>().range(0..key_bytes);
    let payload_there = payload.view().cast::<u8>().range(0..payload_bytes);

    let mut report = Report { scratch_peak: needed, ..Report::default() };
    let start = Instant::now();
    transport.copy_in(gpu, keys_there, bytes(array.keys()))?;
    if let HostArray::Sorted { payload: Some((from, _)), .. } = &mut array {
        transport.copy_in(gpu, payload_there, from.range(0..n))?;
    }
    let copied = if beside.is_indices() { key_bytes } else { key_bytes + payload_bytes };
    report.push(Ran::Cuda, "copy in", start.elapsed(), copied, copied);
    let start = Instant::now();
    // SAFETY: the keys, the payload and the scratch are on the device for this sort alone.
    unsafe {
        let stream = transport.stream().with_workspace(scratch.view().cast());
        gpu.sort_array_by::<B>(way, &stream, keys_there.cast(), payload_there.address(), wanted)?.wait()?;
    }
    report.push(Ran::Cuda, "sort", start.elapsed(), key_bytes + payload_bytes, key_bytes + payload_bytes);
    let start = Instant::now();
    let mut copied = payload_bytes;
    match array {
        HostArray::Sorted { keys: to, payload: moved } => {
            copied += key_bytes;
            if moved.is_some() {
                transport.copy_out(back.bytes_mut(), payload_there)?;
            }
            // SAFETY: only keys are copied.
            transport.copy_out(unsafe { bytes_mut(to) }, keys_there)?;
            if let Some((mut to, _)) = moved {
                copy::by_threads(to.range(0..n), back.bytes_mut(), allowed.threads);
            }
        }
        HostArray::Argsorted { indices, .. } => {
            // SAFETY: only indices are copied.
            transport.copy_out(unsafe { bytes_mut(indices) }, payload_there)?;
        }
    }
    report.push(Ran::Cuda, "copy out", start.elapsed(), copied, copied);
    Ok(report)
}

/// How many of `n` keys alone may be sorted at a time, the most first: all, or as many as are left when `n` is halved again and
/// again, as long as they are worth copying; and what that takes.
pub(crate) fn parts<B: Bits>(n: usize, device: &Properties) -> impl Iterator<Item = (usize, ways::Scratch)> {
    let wanted = Wanted { beside: Beside::Nothing, code: Code::Unsigned, order: Order::default() };
    let smaller = |&most: &usize| (most / 2 * size_of::<B>() >= LEAST_TRIP_BYTES).then_some(most / 2);
    std::iter::successors(Some(n), smaller).filter_map(move |most| {
        let bytes = most * size_of::<B>();
        let scratch = workspace_bytes(&wanted.words_up_to::<B>(most, device).ok()?);
        let host = Lanes::least(bytes).pinned() as u64;
        Some((most, ways::Scratch { host, device: (bytes + scratch) as u64 }))
    })
}

const HINT: &str = "sort in parts, or use the CPU engine";

#[cfg(test)]
mod tests {
    use sortie_simt::Options;

    use super::*;
    use crate::gpu::on_bench::{code, on_bench, on_bench_of, sort_array};
    use crate::{Algorithm, Bound, Sorter};

    const ALLOWED: Allowed = Allowed { threads: 1, memory_limit: u64::MAX };

    #[test]
    fn as_on_the_cpu() {
        on_bench(|gpu| {
            let mut random = fastrand::Rng::with_seed(1);
            let cpu = Sorter::builder().threads(1).build().unwrap();
            for n in [0, 1, 1000, 150_000] {
                let keys: Vec<u32> = (0..n).map(|_| random.u32(0..50_000)).collect();
                let mut expected = keys.clone();
                let mut indices: Vec<u32> = (0..n as u32).collect();
                cpu.sort_pairs(&mut expected, &mut indices).unwrap();

                let mut sorted = keys.clone();
                let array = HostArray::Sorted { keys: &mut sorted, payload: None };
                sort_array(gpu, array, code::<u32>(), Algorithm::Auto, ALLOWED).unwrap();
                assert!(sorted == expected, "{n} keys");

                // A payload of which no element may be lost or exist twice.
                let mut sorted = keys.clone();
                let mut boxes: Vec<Box<u32>> = (0..n as u32).map(Box::new).collect();
                // SAFETY: the sort leaves a permutation of the boxes.
                let payload = unsafe { HostPayload::of(&mut boxes) }.map(|payload| (payload, true));
                let array = HostArray::Sorted { keys: &mut sorted, payload };
                let report = sort_array(gpu, array, code::<u32>(), Algorithm::Auto, ALLOWED).unwrap();
                assert!(sorted == expected, "{n} pairs");
                assert!(boxes.iter().map(|index| **index).eq(indices.iter().copied()), "{n} payloads");
                assert_eq!(report.phases.len(), 3);

                let mut found = vec![0; n];
                let array = HostArray::Argsorted { keys: &keys, indices: &mut found };
                sort_array(gpu, array, code::<u32>(), Algorithm::Auto, ALLOWED).unwrap();
                assert!(found == indices, "indices of {n}");

                // Keys that no sort by digits takes.
                let wide: Vec<u128> =
                    keys.iter().map(|&key| u128::from(key) << 70 | u128::from(key)).collect();
                let array = HostArray::Argsorted { keys: &wide, indices: &mut found };
                sort_array(gpu, array, code::<u128>(), Algorithm::Auto, ALLOWED).unwrap();
                assert!(found == indices, "indices of {n} wide keys");
                let mut sorted = wide.clone();
                let array = HostArray::Sorted { keys: &mut sorted, payload: None };
                sort_array(gpu, array, code::<u128>(), Algorithm::Auto, ALLOWED).unwrap();
                assert!(sorted.iter().map(|&key| key as u32).eq(expected.iter().copied()), "{n} wide keys");
            }
        });
    }

    #[test]
    fn too_little_memory_leaves_all_as_it_is() {
        on_bench_of(Options { memory: 1 << 20, ..Options::default() }, |gpu| {
            let descending: Vec<u32> = (0..200_000).rev().collect();
            for (allowed, bound) in
                [(ALLOWED, Bound::Device), (Allowed { memory_limit: 1 << 20, ..ALLOWED }, Bound::Limit)]
            {
                let mut keys = descending.clone();
                let array = HostArray::Sorted { keys: &mut keys, payload: None };
                let error = sort_array(gpu, array, code::<u32>(), Algorithm::Radix, allowed).unwrap_err();
                assert!(
                    matches!(error, Error::Memory { bound: found, needed, available, .. }
                if found == bound && needed > 1_600_000 && available <= 1 << 20),
                    "{error}"
                );
                assert!(keys == descending);
            }
        });
    }

    /// Keys alone and unstable pairs are sorted in place if there is room for them but not for a copy.
    #[test]
    fn a_limit_leads_to_the_plan_in_place() {
        on_bench(|gpu| {
            let mut keys: Vec<u32> = (0..200_000).rev().collect();
            let sorted: Vec<u32> = (0..200_000).collect();
            // The keys, and twice as much pinned memory.
            let allowed = Allowed { memory_limit: 3 * 800_000, ..ALLOWED };
            let array = HostArray::Sorted { keys: &mut keys, payload: None };
            let report = sort_array(gpu, array, code::<u32>(), Algorithm::Auto, allowed).unwrap();
            assert!(keys == sorted);
            assert!(report.scratch_peak <= allowed.memory_limit);
            // The same amount of pinned memory, and all payloads, which are held back here.
            let with_payloads = Allowed { memory_limit: 5 * 800_000, ..ALLOWED };
            let mut payload = sorted.clone();
            keys.reverse();
            let mut try_pairs = |stable| {
                let moved = HostPayload::of_pod(&mut payload).map(|payload| (payload, stable));
                let array = HostArray::Sorted { keys: &mut keys, payload: moved };
                sort_array(gpu, array, code::<u32>(), Algorithm::Auto, with_payloads)
            };
            assert!(matches!(try_pairs(true), Err(Error::Memory { bound: Bound::Limit, .. })));
            let report = try_pairs(false).unwrap();
            assert!(report.scratch_peak <= with_payloads.memory_limit);
            assert!(keys == sorted && payload.iter().rev().eq(&sorted));
            let array = HostArray::Argsorted { keys: &sorted, indices: &mut keys };
            let refused = sort_array(gpu, array, code::<u32>(), Algorithm::Auto, allowed);
            assert!(matches!(refused, Err(Error::Memory { bound: Bound::Limit, .. })));
        });
    }

    #[test]
    fn pairs_of_wide_keys_fall_back_to_a_segment() {
        on_bench(|gpu| {
            let descending: Vec<u64> = (0..150_000).rev().collect();
            let sorted = |memory_limit| {
                let mut keys = descending.clone();
                let mut indices: Vec<u64> = (0..keys.len() as u64).collect();
                let payload = HostPayload::of_pod(&mut indices).map(|payload| (payload, true));
                let array = HostArray::Sorted { keys: &mut keys, payload };
                let allowed = Allowed { memory_limit, ..ALLOWED };
                let report = sort_array(gpu, array, code::<u64>(), Algorithm::Auto, allowed)?;
                assert!(keys.is_sorted() && indices == descending);
                Ok::<u64, Error>(report.scratch_peak)
            };
            let by_samples = sorted(u64::MAX).unwrap();
            let as_a_segment = sorted(by_samples - 1).unwrap();
            assert!(as_a_segment < by_samples);
            assert!(matches!(sorted(as_a_segment - 1), Err(Error::Memory { bound: Bound::Limit, .. })));
        });
    }

    #[test]
    fn algorithms_that_there_are() {
        on_bench(|gpu| {
            let try_with = |algorithm| {
                let mut keys: Vec<u32> = (0..20_000).rev().collect();
                let array = HostArray::Sorted { keys: &mut keys, payload: None };
                let result = sort_array(gpu, array, code::<u32>(), algorithm, ALLOWED);
                result.map(|_| assert!(keys.is_sorted()))
            };
            use Algorithm::{Auto, Bitonic, Merge, Quicksort, Radix, SampleSort};
            for algorithm in [Auto, Radix, Bitonic, SampleSort, Merge] {
                try_with(algorithm).unwrap();
            }
            assert!(matches!(try_with(Quicksort), Err(Error::Unsupported(_))));
            let mut narrow = [3u8, 1, 2];
            let array = HostArray::Sorted { keys: &mut narrow, payload: None };
            let result = sort_array(gpu, array, code::<u8>(), SampleSort, ALLOWED);
            assert!(matches!(result, Err(Error::Unsupported(_))));
        });
    }

    /// No more is allocated than was planned.
    #[test]
    fn the_memory_planned_is_enough() {
        on_bench(|gpu| {
            let besides = [
                Beside::Nothing,
                Beside::Payload { bytes: 8, stable: true },
                Beside::Indices { stable: true },
            ];
            let named = [DeviceWay::Passes, DeviceWay::Samples, DeviceWay::Segment];
            for (beside, named) in besides.into_iter().flat_map(|beside| named.map(|way| (beside, way))) {
                let n = 150_000;
                let wanted = Wanted { beside, code: code::<u32>(), order: Order::default() };
                let way = wanted.in_way::<u32>(named, n, gpu.device().properties());
                let words = gpu.array_words::<u32>(&way, n, wanted);
                let each = if let Beside::Payload { bytes, .. } = beside { bytes } else { 4 };
                let keys = gpu.device().alloc::<u32>(n).unwrap();
                let payload = gpu.device().alloc::<u8>(n * each).unwrap();
                let stream = gpu.device().stream().unwrap();
                let scratch = workspace(&stream, &words).unwrap();
                let free = gpu.device().free_memory().unwrap();
                // SAFETY: nothing else uses the keys, the payload and the scratch.
                unsafe {
                    let stream = stream.with_workspace(scratch.view().cast());
                    let sort = gpu.sort_array_by(way, &stream, keys.view(), payload.address(), wanted);
                    assert_eq!(gpu.device().free_memory().unwrap(), free, "{beside:?} {named:?}");
                    sort.unwrap().wait().unwrap();
                }
            }
        });
    }
}
