//! Sorts one array in host memory on GPUs, in the ways that a plan names.

use std::slice;
use std::sync::Arc;

use sortie_device::Properties;

use super::{chunks, hybrid, ranges};
use crate::compose::tuning::HYBRID_FROM;
use crate::cpu::profile::{self, Runs};
use crate::cpu::sorts::CpuSorts;
use crate::gpu::{self, Allowed, Gpu, HostArray, HostPayload};
use crate::key::{Code, Transform};
use crate::request::Beside;
use crate::ways::{GpuWay, Scratch};
use crate::{Algorithm, Error, Order, Report};

const HINT: &str = "sort in parts, or use the CPU engine";

/// What plans know of an array.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outline {
    pub n: usize,
    pub key_bytes: usize,
    pub beside: Beside,
    pub algorithm: Algorithm,
}

impl Outline {
    /// The ways in which GPUs can sort such an array, in the order in which they are tried: the first is the fastest, the last
    /// takes the least memory. Under [`GpuWay::WithCpu`], the GPU gets this share of the keys.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if there is none.
    pub fn ways(self, share: f64, devices: &[&Properties]) -> Result<Vec<GpuWay>, Error> {
        let Outline { n, key_bytes, beside, algorithm } = self;
        let in_parts = self.is_free() && key_bytes <= 8;
        let whole = match gpu::device_ways(key_bytes, beside, n, algorithm, devices[0]) {
            // Each chunk has few enough keys.
            Err(Error::Unsupported(_)) if in_parts && devices.len() > 1 => Vec::new(),
            ways => ways?,
        };
        let with_cpu = share < 1.0 && self.is_long() && !beside.is_indices() && !whole.is_empty();
        let mut ways: Vec<GpuWay> = with_cpu.then_some(GpuWay::WithCpu(share)).into_iter().collect();
        ways.extend(whole.into_iter().map(GpuWay::Whole));
        if in_parts {
            ways.push(GpuWay::Chunks);
            ways.extend(beside.is_nothing().then_some(GpuWay::Ranges));
        }
        Ok(ways)
    }

    /// The most scratch that a sort in this way takes, if the limit and the devices, with what each has available, allow any.
    ///
    /// # Errors
    /// [`Error::Memory`] if they do not.
    pub fn scratch(
        self,
        way: GpuWay,
        devices: &[(&Properties, u64)],
        threads: usize,
        limit: u64,
    ) -> Result<Scratch, Error> {
        match self.key_bytes {
            1 => self.scratch_of::<u8>(way, devices, threads, limit),
            2 => self.scratch_of::<u16>(way, devices, threads, limit),
            4 => self.scratch_of::<u32>(way, devices, threads, limit),
            8 => self.scratch_of::<u64>(way, devices, threads, limit),
            _ => self.scratch_of::<u128>(way, devices, threads, limit),
        }
    }

    fn scratch_of<B: CpuSorts>(
        self,
        way: GpuWay,
        devices: &[(&Properties, u64)],
        threads: usize,
        limit: u64,
    ) -> Result<Scratch, Error> {
        let Outline { n, beside, .. } = self;
        let (device, available) = devices[0];
        let fits = |scratch: Scratch| scratch.check(limit, available, HINT).map(|()| scratch);
        match way {
            GpuWay::Whole(way) => {
                first_that_fits(gpu::array_scratch::<B>(n, beside, way, device, threads).map(fits))
            }
            GpuWay::WithCpu(share) => fits(hybrid::scratch::<B>(n, beside, share, device, threads)?),
            GpuWay::Chunks => first_that_fits(chunks::scratch::<B>(n, beside, devices, threads, limit)),
            GpuWay::Ranges => first_that_fits(gpu::parts::<B>(n, device).map(|(_, scratch)| fits(scratch))),
            GpuWay::Segments | GpuWay::Strings => unreachable!("this is no way to sort an array of numbers"),
        }
    }

    /// Whether the algorithm leaves the choice of method open.
    fn is_free(self) -> bool {
        matches!(self.algorithm, Algorithm::Auto | Algorithm::Radix)
    }

    /// Whether it pays to look at all keys before they are copied, or to share them.
    fn is_long(self) -> bool {
        self.is_free() && matches!(self.key_bytes, 4 | 8) && self.n >= HYBRID_FROM
    }
}

/// The first of these choices that fits, or the error of the last.
fn first_that_fits<T>(choices: impl Iterator<Item = Result<T, Error>>) -> Result<T, Error> {
    choices.reduce(|found, next| if found.is_ok() { found } else { next }).expect("there is a choice")
}

/// The options of a sort.
#[derive(Debug, Clone, Copy)]
pub struct Chosen<'w> {
    pub algorithm: Algorithm,
    pub order: Order,
    /// The ways of the plan. If memory is short, the next one is tried.
    pub ways: &'w [GpuWay],
}

/// Sorts the array in the first way for which there is memory. Chunks go to all GPUs, everything else to the first.
pub(crate) fn sort<B: CpuSorts>(
    gpus: &[Arc<Gpu>],
    mut array: HostArray<'_, B>,
    code: Code,
    chosen: Chosen<'_>,
    allowed: Allowed,
) -> Result<Report, Error> {
    let (gpu, Chosen { algorithm, order, ways }) = (&gpus[0], chosen);
    let (n, beside, transform) = (array.keys().len(), array.beside(), Transform::new(code, order));
    let mut report = Report::default();
    if (Outline { n, key_bytes: size_of::<B>(), beside, algorithm }).is_long()
        && let HostArray::Sorted { keys, payload } = array.reborrow()
        && put_in_order(keys, payload, transform, allowed.threads, &mut report)
    {
        return Ok(report);
    }
    let mut refused = None;
    for &way in ways {
        let sorted = match (way, array.reborrow()) {
            (GpuWay::Whole(way), array) => gpu::sort_host_array(gpu, array, code, order, way, allowed),
            (GpuWay::WithCpu(share), HostArray::Sorted { keys, payload }) => {
                match hybrid::sort(gpu, keys, payload, transform, share, allowed).transpose() {
                    Some(sorted) => sorted,
                    None => continue,
                }
            }
            (GpuWay::Chunks, array) => chunks::sort(gpus, array, code, order, allowed),
            (GpuWay::Ranges, HostArray::Sorted { keys, payload: None }) => {
                in_ranges(gpu, keys, transform, allowed)
            }
            (way, _) => unreachable!("{way}: no plan sorts this array so"),
        };
        match sorted {
            Err(error @ Error::Memory { .. }) => {
                refused = Some(error.or_less(refused));
            }
            decided => {
                report.absorb(decided?);
                return Ok(report);
            }
        }
    }
    Err(refused.expect("the last way takes all keys"))
}

/// Sorts keys in ranges, of which each is sorted as a whole.
fn in_ranges<B: CpuSorts>(
    gpu: &Arc<Gpu>,
    keys: &mut [B],
    transform: Transform<B>,
    allowed: Allowed,
) -> Result<Report, Error> {
    let device = gpu.device();
    let available = gpu::alloc::available(device.free_memory()?);
    let parts = gpu::parts::<B>(keys.len(), device.properties());
    let fits = |(most, scratch): (usize, Scratch)| {
        scratch.check(allowed.memory_limit, available, HINT).map(|()| most)
    };
    let most = first_that_fits(parts.map(fits))?;
    ranges::sort(keys, most, transform, allowed.threads, |codes| {
        let outline = Outline {
            n: codes.len(),
            key_bytes: size_of::<B>(),
            beside: Beside::Nothing,
            algorithm: Algorithm::Auto,
        };
        let mut ways = outline.ways(1.0, &[device.properties()])?;
        ways.retain(|way| matches!(way, GpuWay::Whole(_)));
        let array = HostArray::Sorted { keys: codes, payload: None };
        let chosen = Chosen { algorithm: outline.algorithm, order: Order::default(), ways: &ways };
        sort(slice::from_ref(gpu), array, Code::Unsigned, chosen, allowed)
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Key;
    use crate::gpu::on_bench::{ALLOWED, code, on_bench};
    use crate::{Bound, Sorter, key};

    fn sort_within<K: Key + Copy>(
        gpu: &Arc<Gpu>,
        keys: &mut [K],
        memory_limit: u64,
    ) -> Result<Report, Error> {
        let (algorithm, order) = (Algorithm::Auto, Order { descending: true, ..Order::default() });
        let (n, key_bytes) = (keys.len(), size_of::<K>());
        let outline = Outline { n, key_bytes, beside: Beside::Nothing, algorithm };
        let ways = outline.ways(1.0, &[gpu.device().properties()])?;
        let chosen = Chosen { algorithm, order, ways: &ways };
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

    /// Plans say what a sort takes, whatever the limit.
    #[test]
    fn the_scratch_of_a_way_is_what_its_sort_takes() {
        let before: Vec<u64> = (0..150_000u64).map(|i| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).collect();
        let bytes = size_of_val(&*before) as u64;
        on_bench(|gpu| {
            let gpu = Arc::new(Gpu::new(gpu.device().clone()));
            let (device, free) = (gpu.device().properties(), gpu.device().free_memory().unwrap());
            let (n, algorithm, order) = (before.len(), Algorithm::Auto, Order::default());
            let outline = Outline { n, key_bytes: size_of::<u64>(), beside: Beside::Nothing, algorithm };
            let ways = outline.ways(0.5, &[device]).unwrap();
            assert!(ways.ends_with(&[GpuWay::Chunks, GpuWay::Ranges]), "{ways:?}");
            for (way, limit) in
                ways.iter().flat_map(|way| [u64::MAX, 2 * bytes, bytes].map(|limit| (way, limit)))
            {
                let mut keys = before.clone();
                let array = HostArray::Sorted { keys: &mut keys, payload: None };
                let chosen = Chosen { algorithm, order, ways: slice::from_ref(way) };
                let allowed = Allowed { memory_limit: limit, ..ALLOWED };
                let sorted = sort(slice::from_ref(&gpu), array, Code::Unsigned, chosen, allowed);
                let devices = [(device, gpu::alloc::available(free))];
                match outline.scratch(*way, &devices, allowed.threads, limit) {
                    Ok(planned) => {
                        let peak = sorted.unwrap().scratch_peak;
                        // A range may be sorted in a way that takes less than that of all keys.
                        let is_exact =
                            peak == planned.bytes() || *way == GpuWay::Ranges && peak < planned.bytes();
                        assert!(is_exact && keys.is_sorted(), "{way}: {peak}, planned {planned}");
                    }
                    Err(refused) => assert_eq!(sorted.unwrap_err(), refused, "{way}"),
                }
            }
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
