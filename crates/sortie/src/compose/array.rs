//! Sorts one array in host memory on GPUs. With enough memory, one GPU sorts it at once, alone or together with the
//! CPU. Otherwise all GPUs sort it in chunks. If memory does not even allow a copy, it is sorted in ranges.

use std::sync::Arc;

use super::{chunks, hybrid, ranges};
use crate::compose::tuning::HYBRID_FROM;
use crate::cpu::profile::{self, Runs};
use crate::cpu::sorts::CpuSorts;
use crate::gpu::{self, Allowed, Gpu, HostArray, HostPayload};
use crate::key::{Code, Transform};
use crate::{Algorithm, Bound, Error, Order, Report};

/// The options of a sort.
#[derive(Debug, Clone, Copy)]
pub struct Chosen {
    pub algorithm: Algorithm,
    pub order: Order,
    /// The part of the keys that the GPU sorts.
    pub gpu_share: f64,
    /// Whether to refuse an array that a GPU cannot sort as a whole. The CPU then sorts it.
    pub as_a_whole: bool,
}

impl Chosen {
    /// Whether the algorithm leaves the choice of method open.
    fn is_free(self) -> bool {
        matches!(self.algorithm, Algorithm::Auto | Algorithm::Radix)
    }
}

/// Sorts the array.
pub(crate) fn sort<B: CpuSorts>(
    gpus: &[Arc<Gpu>],
    mut array: HostArray<'_, B>,
    code: Code,
    chosen: Chosen,
    allowed: Allowed,
) -> Result<Report, Error> {
    let (gpu, order) = (&gpus[0], chosen.order);
    if chosen.as_a_whole {
        return at_once(gpu, array, code, chosen, allowed);
    }
    let any_way = chosen.is_free() && B::WIDTH <= 64;
    let refused = match at_once(gpu, array.reborrow(), code, chosen, allowed) {
        Err(error @ Error::Memory { bound: Bound::Limit | Bound::Device, .. }) if any_way => error,
        // Chunks need less memory, and any number of them can be sorted.
        Err(error @ (Error::Memory { .. } | Error::Unsupported(_))) if gpus.len() > 1 => error,
        decided => return decided,
    };
    let refused = match chunks::sort(gpus, array.reborrow(), code, order, allowed) {
        Err(error @ Error::Memory { .. }) => with_least(refused, error),
        decided => return decided,
    };
    let HostArray::Sorted { keys, payload: None } = array else { return Err(refused) };
    let Some(most) = gpu::most_at_once::<B>(gpu, keys.len(), code, order, allowed)? else {
        return Err(refused);
    };
    ranges::sort(keys, most, Transform::new(code, order), allowed.threads, |codes| {
        let array = HostArray::Sorted { keys: codes, payload: None };
        at_once(gpu, array, Code::Unsigned, Chosen { order: Order::default(), ..chosen }, allowed)
    })
}

/// Sorts the array as a whole.
fn at_once<B: CpuSorts>(
    gpu: &Gpu,
    mut array: HostArray<'_, B>,
    code: Code,
    chosen: Chosen,
    allowed: Allowed,
) -> Result<Report, Error> {
    let Chosen { algorithm, order, gpu_share, .. } = chosen;
    let mut report = Report::default();
    let is_long = chosen.is_free() && matches!(B::WIDTH, 32 | 64) && array.keys().len() >= HYBRID_FROM;
    if let (true, HostArray::Sorted { keys, payload }) = (is_long, array.reborrow()) {
        let transform = Transform::new(code, order);
        if put_in_order(keys, payload, transform, allowed.threads, &mut report) {
            return Ok(report);
        }
        if gpu_share < 1.0
            && let HostArray::Sorted { keys, payload } = array.reborrow()
            && let Some(by_both) = hybrid::sort(gpu, keys, payload, transform, gpu_share, allowed)?
        {
            report.absorb(by_both);
            return Ok(report);
        }
    }
    report.absorb(gpu::sort_host_array(gpu, array, code, order, algorithm, allowed)?);
    Ok(report)
}

/// Keeps keys that are in order, and reverses keys in reverse order. Returns whether they were either.
fn put_in_order<B: CpuSorts>(
    keys: &mut [B],
    payload: Option<(HostPayload<'_>, bool)>,
    transform: Transform<B>,
    threads: usize,
    report: &mut Report,
) -> bool {
    let bytes = size_of_val(keys);
    match report.phase("profile", bytes, 0, || profile::runs(keys, transform, true, threads)) {
        Runs::Ascending => true,
        Runs::Descending => {
            let moved = bytes + payload.as_ref().map_or(0, |(payload, _)| payload.each() * keys.len());
            report.phase("reverse", moved, moved, || {
                keys.reverse();
                if let Some((mut payload, _)) = payload {
                    payload.reverse();
                }
            });
            true
        }
        Runs::Mixed => false,
    }
}

/// Returns the error that asks for less memory.
fn with_least(first: Error, second: Error) -> Error {
    match (&first, &second) {
        (
            Error::Memory { bound: Bound::Limit, needed, .. },
            Error::Memory { bound: Bound::Limit, needed: more, .. },
        ) if needed < more => first,
        _ => second,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;
    use crate::gpu::on_bench::{ALLOWED, code, on_bench};
    use crate::{Sorter, key};

    fn sort_within<K: Key + Copy>(
        gpu: &Arc<Gpu>,
        keys: &mut [K],
        memory_limit: u64,
    ) -> Result<Report, Error> {
        let chosen = Chosen {
            algorithm: Algorithm::Auto,
            order: Order { descending: true, ..Order::default() },
            gpu_share: 1.0,
            as_a_whole: false,
        };
        // SAFETY: the engine leaves a permutation.
        let bits = unsafe { key::as_bits_mut(keys) };
        let array = HostArray::Sorted { keys: bits, payload: None };
        let allowed = Allowed { memory_limit, ..ALLOWED };
        sort(std::slice::from_ref(gpu), array, code::<K>(), chosen, allowed)
    }

    fn compare<K: Key + Copy>(gpu: &Arc<Gpu>, before: &[K]) {
        let mut expected = before.to_vec();
        Sorter::builder().threads(1).descending(true).build().unwrap().sort(&mut expected).unwrap();
        let bits = |keys: &[K]| key::as_bits(keys).to_vec();
        let bytes = size_of_val(before) as u64;
        let name = std::any::type_name::<K>();
        let mut keys = before.to_vec();
        let whole = sort_within(gpu, &mut keys, u64::MAX).unwrap().scratch_peak;
        assert!(bits(&keys) == bits(&expected), "{name}");
        // The limit allows a copy on the host, or less than that.
        for (limit, phase) in [(2 * bytes, "sort ranges"), (bytes * 3 / 4, "split")] {
            assert!(limit < whole);
            let mut keys = before.to_vec();
            let report = sort_within(gpu, &mut keys, limit).unwrap();
            assert!(bits(&keys) == bits(&expected), "{name} in {limit} bytes");
            assert!(report.scratch_peak <= limit, "{name}: {} of {limit}", report.scratch_peak);
            assert!(report.phases.iter().any(|ran| ran.name == phase), "{name}: {report}");
        }
        let mut keys = before.to_vec();
        let refused = sort_within(gpu, &mut keys, 10_000).unwrap_err();
        assert!(matches!(refused, Error::Memory { bound: Bound::Limit, .. }), "{refused}");
        assert!(bits(&keys) == bits(before), "{name}");
    }

    #[test]
    fn a_limit_of_less_than_a_sort_at_once_takes_is_kept() {
        let mut random = fastrand::Rng::with_seed(1);
        on_bench(|gpu| {
            let gpu = Arc::new(Gpu::new(gpu.device().clone()));
            compare(&gpu, &(0..100_000).map(|_| random.u64(..)).collect::<Vec<_>>());
            compare(&gpu, &(0..200_000).map(|_| random.i32(-1000..1000)).collect::<Vec<_>>());
            compare(&gpu, &(0..200_000).map(|_| f32::from_bits(random.u32(..))).collect::<Vec<_>>());
        });
    }

    #[test]
    fn what_is_in_order_is_neither_copied_nor_sorted() {
        let (ascending, descending): (Vec<u32>, Vec<u32>) =
            ((0..70_000).collect(), (0..70_000).rev().collect());
        let mixed: Vec<u32> = ascending.iter().map(|&key| key ^ 1).collect();
        for (before, is_found) in [(&ascending, true), (&descending, true), (&mixed, false)] {
            let (mut keys, mut payload) =
                (before.clone(), before.iter().map(|&key| [key; 4]).collect::<Vec<_>>());
            let moved = HostPayload::of_pod(&mut payload).map(|payload| (payload, true));
            let transform = Transform::new(code::<u32>(), Order::default());
            let found = put_in_order(&mut keys, moved, transform, 2, &mut Report::default());
            assert_eq!(found, is_found);
            assert!(&keys == if is_found { &ascending } else { before });
            assert!(payload.iter().map(|payload| payload[3]).eq(keys));
        }
    }
}
