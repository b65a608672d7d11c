//! Sorts segments in host memory on a GPU: as many at a time as fit in memory. Segments that are too long for that are
//! sorted one by one as single arrays, at once or in parts.

use std::sync::Arc;

use super::array::{self, Chosen, Outline};
use crate::cpu::sorts::CpuSorts;
use crate::gpu::tuning::LEAST_CHUNK_BYTES;
use crate::gpu::{self, Allowed, Gpu, HostArray};
use crate::key::Code;
use crate::{Algorithm, Error, Order, Report, Segments};

/// The options of a sort.
#[derive(Debug, Clone, Copy)]
pub struct OfSegments {
    pub order: Order,
    /// Whether segments that are too long for a chunk are sorted as arrays. If a GPU fails meanwhile, their keys are unspecified.
    pub long_as_arrays: bool,
}

/// Sorts every segment stably, or writes its indices. If there is too little memory for the longest segment, all keys
/// are unchanged. Many short segments need more memory per key; a lack of it may only be found after longer segments
/// are sorted.
pub(crate) fn sort<B: CpuSorts>(
    gpu: &Arc<Gpu>,
    mut array: HostArray<'_, B>,
    segments: Segments<'_>,
    code: Code,
    chosen: OfSegments,
    allowed: Allowed,
) -> Result<Report, Error> {
    let refused = match gpu::sort_segments(gpu, array.reborrow(), segments, code, chosen.order, allowed) {
        Err(error @ Error::Memory { .. }) if chosen.long_as_arrays => error,
        decided => return decided,
    };
    let length = |i: usize| segments.range(i).len();
    let all = 0..segments.count(array.keys().len());
    let longest = all.clone().map(length).max().unwrap_or(0);
    let each = size_of::<B>() + array.beside().payload_bytes();
    if longest * each <= LEAST_CHUNK_BYTES {
        return Err(refused);
    }
    let mut long: Vec<usize> = all.clone().filter(|&i| length(i) > longest / 2).collect();
    let stretches = match segments {
        Segments::Length(_) => Vec::new(),
        Segments::Offsets(offsets) => between(&long, all.end).map(|(from, to)| &offsets[from..=to]).collect(),
    };
    let mut report = Report::default();
    let (algorithm, beside) = (Algorithm::Auto, array.beside());
    // The longest segment comes first, so that a lack of memory is found before anything is written.
    long.sort_by_key(|&i| std::cmp::Reverse(length(i)));
    for i in long {
        let outline = Outline { n: length(i), key_bytes: size_of::<B>(), beside, algorithm };
        let ways = outline.ways(1.0, &[gpu.device().properties()])?;
        let as_one_array = Chosen { algorithm, order: chosen.order, ways: &ways };
        let segment = array.range(segments.range(i));
        report.absorb(array::sort(std::slice::from_ref(gpu), segment, code, as_one_array, allowed)?);
    }
    for offsets in stretches {
        report.absorb(sort(gpu, array.reborrow(), Segments::Offsets(offsets), code, chosen, allowed)?);
    }
    Ok(report)
}

/// The ranges of consecutive segments, out of `count`, that are not among `these`, which ascend.
fn between(these: &[usize], count: usize) -> impl Iterator<Item = (usize, usize)> {
    let from = [0].into_iter().chain(these.iter().map(|i| i + 1));
    from.zip(these.iter().copied().chain([count])).filter(|(from, to)| from < to)
}

#[cfg(test)]
mod tests {
    use sortie_simt::Options;

    use super::*;
    use crate::gpu::HostPayload;
    use crate::gpu::on_bench::{ALLOWED, code, on_bench_of};
    use crate::{Bound, Sorter};

    fn chosen(order: Order) -> OfSegments {
        OfSegments { order, long_as_arrays: true }
    }

    /// Runs a test on a device with 1 MB of memory.
    fn on_small_bench(test: impl FnOnce(&Arc<Gpu>)) {
        on_bench_of(Options { memory: 1 << 20, ..Options::default() }, |gpu| {
            test(&Arc::new(Gpu::new(gpu.device().clone())));
        });
    }

    /// Keys alone are tested with half of this limit.
    fn compare(gpu: &Arc<Gpu>, lengths: &[usize], memory_limit: u64) {
        let mut random = fastrand::Rng::with_seed(lengths.len() as u64);
        // Keys before the first segment and after the last one must not move.
        let mut offsets = vec![3];
        offsets.extend(lengths.iter().scan(3, |end, length| {
            *end += length;
            Some(*end)
        }));
        let n = offsets[lengths.len()] + 5;
        let keys: Vec<u32> = (0..n).map(|_| random.u32(0..5_000)).collect();
        let (mut expected, mut indices) = (keys.clone(), (0..n as u32).collect::<Vec<_>>());
        let cpu = Sorter::builder().threads(1).descending(true).build().unwrap();
        cpu.sort_pairs_segments(&mut expected, &mut indices, Segments::Offsets(&offsets)).unwrap();

        let descending = chosen(Order { descending: true, ..Order::default() });
        let sort_host = |array: HostArray<'_, u32>, segments: Segments<'_>| {
            let memory_limit = if array.beside().is_nothing() { memory_limit / 2 } else { memory_limit };
            let allowed = Allowed { memory_limit, ..ALLOWED };
            let report = sort(gpu, array, segments, code::<u32>(), descending, allowed).unwrap();
            assert!(report.scratch_peak <= memory_limit, "{lengths:?}: {}", report.scratch_peak);
        };
        let mut sorted = keys.clone();
        sort_host(HostArray::Sorted { keys: &mut sorted, payload: None }, Segments::Offsets(&offsets));
        assert!(sorted == expected, "{lengths:?} in {memory_limit} bytes");

        // Payloads that detect if one is lost or duplicated.
        let mut sorted = keys.clone();
        let mut boxes: Vec<Box<u32>> = (0..n as u32).map(Box::new).collect();
        // SAFETY: the sort leaves a permutation of the boxes.
        let payload = unsafe { HostPayload::of(&mut boxes) }.map(|payload| (payload, true));
        sort_host(HostArray::Sorted { keys: &mut sorted, payload }, Segments::Offsets(&offsets));
        assert!(sorted == expected, "{lengths:?} in {memory_limit} bytes");
        for ends in offsets.windows(2) {
            let mut moved: Vec<u32> = boxes[ends[0]..ends[1]].iter().map(|index| **index).collect();
            assert!(moved.iter().zip(&sorted[ends[0]..]).all(|(&index, key)| keys[index as usize] == *key));
            moved.sort_unstable();
            assert!(moved.into_iter().eq(ends[0] as u32..ends[1] as u32), "{lengths:?}");
        }

        let mut found = vec![u32::MAX; n];
        sort_host(HostArray::Argsorted { keys: &keys, indices: &mut found }, Segments::Offsets(&offsets));
        for ends in offsets.windows(2) {
            let range = ends[0]..ends[1];
            let moved = found[range.clone()].iter().map(|&index| index + ends[0] as u32);
            assert!(
                moved.eq(indices[range].iter().copied()),
                "indices of {lengths:?} in {memory_limit} bytes"
            );
        }
        let outside = found[..3].iter().chain(&found[n - 5..]);
        assert!(outside.copied().all(|index| index == u32::MAX), "{lengths:?}: indices of no segment");

        if lengths.iter().all(|length| *length == lengths[0]) {
            let (whole, mut sorted) = (3..n - 5, keys);
            let array = HostArray::Sorted { keys: &mut sorted[whole.clone()], payload: None };
            sort_host(array, Segments::Length(lengths[0]));
            assert!(sorted[whole.clone()] == expected[whole], "{lengths:?} in {memory_limit} bytes");
        }
    }

    #[test]
    fn segments_that_do_not_fit_are_sorted_as_by_the_cpu() {
        on_small_bench(|gpu| {
            compare(gpu, &[400_000], u64::MAX);
            compare(gpu, &[300_000; 2], u64::MAX);
            compare(gpu, &[100, 0, 250_000, 7, 90_000, 100, 400_000, 200_000, 0, 1000], u64::MAX);
            compare(gpu, &[1, 300_000], u64::MAX);
        });
    }

    #[test]
    fn a_limit_of_less_than_the_longest_takes_is_kept() {
        on_small_bench(|gpu| compare(gpu, &[10, 60_000, 20, 5000, 60_000], 1_200_000));
    }

    #[test]
    fn too_little_memory_leaves_all_as_it_is() {
        on_small_bench(|gpu| {
            for lengths in [[100, 50_000, 3], [100, 500, 9]] {
                let before: Vec<u32> = (0..lengths.iter().sum::<usize>() as u32).rev().collect();
                let ends: Vec<usize> = (0..=3).map(|i| lengths[..i].iter().sum()).collect();
                let mut keys = before.clone();
                let array = HostArray::Sorted { keys: &mut keys, payload: None };
                let allowed = Allowed { memory_limit: 1000, ..ALLOWED };
                let segments = Segments::Offsets(&ends);
                let refused = sort(gpu, array, segments, code::<u32>(), chosen(Order::default()), allowed);
                assert!(matches!(refused, Err(Error::Memory { bound: Bound::Limit, needed: 1001.., .. })));
                assert!(keys == before);
            }
        });
    }

    #[test]
    fn others_lie_between_these() {
        let between = |these: &[usize], count| super::between(these, count).collect::<Vec<_>>();
        assert_eq!(between(&[], 0), []);
        assert_eq!(between(&[0, 1, 4], 5), [(2, 4)]);
        assert_eq!(between(&[2], 5), [(0, 2), (3, 5)]);
    }
}
