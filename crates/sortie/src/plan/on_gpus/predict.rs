//! How long a sort of data in host memory takes on a GPU, from the rates of the machine.

use sortie_device::rates::Rates;

use super::MachineGpu;
use crate::gpu::tuning::{
    CHUNK_BYTES, CHUNKS_UNDER_WAY, OWN_RINGS_FROM_BYTES, PIECE_BYTES, RING_SLOT_BYTES, RING_SLOTS,
    SHARED_SLOTS,
};
use crate::plan::CpuRates;
use crate::plan::GpuWay;
use crate::plan::predict::slower;
use crate::request::{Beside, Lengths, Operation, Request};
use crate::ways::DeviceWay;

/// How many times as long as copying them a device takes to sort segments in its memory. On an H200: from 1.4 (segments
/// of 50 f32) to 4.7 (of 10,000), and 5.5 (lengths by a power law).
const DEVICE_FINISH_COPIES: f64 = 5.0;

/// How many copies each pass adds that merges the runs of longer segments. On an H200, segments of 55,109 f32 took 14.7
/// copies (3 passes), of 262,144 22.5 (5 passes), and of a million 30.2 (7 passes).
const DEVICE_MERGE_COPIES: f64 = 4.0;

/// The same for one array, by its way. On an H200, 2^28 u32 by digits took 6.7 copies, u64 5.4, stable pairs of u32
/// 6.9; u64 by samples 12.6; u32 by the network 36, u64 43; by passes u32 10.5, u64 13.4, their stable pairs 8.1 and
/// 14.3.
const DEVICE_DIGITS_COPIES: f64 = 6.7;
const DEVICE_PASSES_COPIES: f64 = 12.0;
const DEVICE_SAMPLES_COPIES: f64 = 13.0;
const DEVICE_NETWORK_COPIES: f64 = 40.0;

/// Seconds in which one thread prepares a string for a GPU and finishes it: 26 to 48 ns for strings of up to 128
/// letters, few of which tie.
const CUT_SECONDS: f64 = 40e-9;

/// Bytes of the runs with which those passes begin.
const DEVICE_TILE_BYTES: usize = 32 << 10;

/// Seconds that the host spends on the offset of each segment that goes to a device: it is read for the prediction and
/// for the cut into chunks, and copied.
const SECONDS_AN_OFFSET: f64 = 3e-9;

/// All the seconds of a sort on a GPU: data is copied to pinned memory, from there to the device, sorted, and copied
/// back the same way. `None` if the GPU's rates are not known.
pub(super) fn on_gpu(request: &Request, cpu: &CpuRates, gpu: &MachineGpu, way: GpuWay) -> Option<f64> {
    let rates = gpu.rates.as_ref()?;
    let seconds = match (&request.operation, way) {
        (Operation::Segments(Some(lengths)), _) => segments_on_gpu(request, lengths, cpu, rates),
        (_, GpuWay::Strings) => strings_on_gpu(request, rates),
        (_, GpuWay::Chunks | GpuWay::Ranges) => {
            // To the device and back, twice.
            let bytes = 4.0 * request.n as f64 * request.bytes_on_device() as f64;
            (bytes / rates.pinned_both).max(bytes / cpu.copy * slower(cpu, request))
        }
        (_, GpuWay::Whole(way)) => array_on_gpu(request, cpu, rates, way),
        _ => array_on_gpu(request, cpu, rates, DeviceWay::Digits),
    };
    if gpu.started {
        return Some(seconds);
    }
    let is_long = request.n.saturating_mul(request.bytes_on_device()) >= OWN_RINGS_FROM_BYTES;
    let pinned = match way {
        // This memory is allocated anew by each call.
        GpuWay::Segments => 0.0,
        GpuWay::Whole(_) | GpuWay::WithCpu(_) if is_long => {
            request.budget.threads as f64 * (RING_SLOTS * RING_SLOT_BYTES) as f64
        }
        _ => (SHARED_SLOTS * PIECE_BYTES) as f64,
    };
    Some(seconds + pinned / rates.pinned_alloc + rates.start)
}

/// Steps of different chunks overlap, so each chunk but the first takes as long as its slowest step.
fn segments_on_gpu(request: &Request, lengths: &Lengths, cpu: &CpuRates, device: &Rates) -> f64 {
    let each = request.bytes_on_device() as f64;
    let bytes = lengths.keys() as f64 * each;
    let chunks = (bytes / CHUNK_BYTES as f64).max(1.0);
    let copies = 2.0 * bytes / cpu.copy * slower(cpu, request);
    let merges = merges(lengths.longest as f64 * each);
    let sort = 2.0 * bytes / device.copy * (DEVICE_FINISH_COPIES + merges * DEVICE_MERGE_COPIES);
    let one_by_one = copies + bytes / device.pinned_in + sort + bytes / device.pinned_out;
    let way = match lengths.offsets {
        None => {
            let at_once = copies.max(2.0 * bytes / device.pinned_both).max(sort);
            (one_by_one + (chunks - 1.0) * at_once) / chunks
        }
        // The host waits until a chunk is sorted before it starts the next.
        Some(offsets) => {
            let offsets = offsets as f64;
            one_by_one + offsets * (8.0 / device.pageable_in + SECONDS_AN_OFFSET)
        }
    };
    way + bytes.min((CHUNKS_UNDER_WAY * CHUNK_BYTES) as f64) / device.pinned_alloc
}

/// Keys are copied to pinned memory while earlier ones are transferred. A payload is held back on the host until
/// nothing can fail.
fn array_on_gpu(request: &Request, cpu: &CpuRates, device: &Rates, way: DeviceWay) -> f64 {
    let (n, each) = (request.n as f64, request.bytes_on_device() as f64);
    let bytes = n * each;
    let on_host = |bytes: f64| bytes / cpu.copy * slower(cpu, request);
    let [bytes_in, bytes_out] = match request.beside {
        Beside::Indices { .. } => [n * (each - 4.0), n * 4.0],
        _ => [bytes; 2],
    };
    let way_in = (bytes_in / device.pinned_in).max(on_host(bytes_in));
    let way_out = (bytes_out / device.pinned_out).max(on_host(bytes_out));
    let copies = match way {
        DeviceWay::Digits => DEVICE_DIGITS_COPIES,
        DeviceWay::Passes => DEVICE_PASSES_COPIES,
        DeviceWay::Network => DEVICE_NETWORK_COPIES,
        DeviceWay::Samples => DEVICE_SAMPLES_COPIES,
        DeviceWay::Block | DeviceWay::Segment => DEVICE_FINISH_COPIES + merges(bytes) * DEVICE_MERGE_COPIES,
    };
    let payload = n * request.beside_on_device().payload_bytes() as f64;
    way_in + 2.0 * bytes / device.copy * copies + way_out + on_host(2.0 * payload)
}

/// The CPU cuts strings to words, which takes most of the time.
fn strings_on_gpu(request: &Request, device: &Rates) -> f64 {
    let n = request.n as f64;
    n * CUT_SECONDS / request.budget.threads as f64 + n * 8.0 / device.pinned_in + n * 4.0 / device.pinned_out
}

/// The number of passes that merge the tiles of `bytes` bytes.
fn merges(bytes: f64) -> f64 {
    (bytes / DEVICE_TILE_BYTES as f64).log2().ceil().max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::on_gpus::GPU_WINS_FROM;
    use crate::plan::predict::on_cpu;
    use crate::plan::{Machine, Vectors};
    use crate::request::{Budget, KeyForm};
    use crate::{Segments, Sorter};

    /// 16 threads that sort 10^9 keys a second, and a GPU behind PCIe 5.
    fn cpu() -> CpuRates {
        CpuRates { threads: 16, copy: 50e9, seconds_a_key: [[1e-9; 3]; 4] }
    }

    fn device() -> Rates {
        Rates {
            copy: 4000e9,
            pinned_in: 50e9,
            pinned_out: 50e9,
            pinned_both: 80e9,
            pageable_in: 10e9,
            pageable_out: 10e9,
            pinned_alloc: 4e9,
            start: 0.3,
        }
    }

    fn request(operation: Operation, keys: KeyForm, beside: Beside, n: usize, threads: usize) -> Request {
        let request = Sorter::builder().build().unwrap().request(operation, keys, beside, n);
        Request { budget: Budget::of_threads(threads), ..request }
    }

    fn segments(keys: usize, segments: Segments<'_>, threads: usize) -> Request {
        let operation = Operation::Segments(Some(Box::new(Lengths::of(keys, segments))));
        request(operation, KeyForm::of::<u32>(), Beside::Nothing, keys, threads)
    }

    fn f32s(keys: usize) -> Request {
        segments(keys, Segments::Length(1000), 16)
    }

    fn gpu(rates: Rates, started: bool) -> MachineGpu {
        MachineGpu { rates: Some(rates), started, ..MachineGpu::shipped("NVIDIA H200", 0).unwrap() }
    }

    fn seconds(request: &Request, rates: Rates, started: bool) -> f64 {
        on_gpu(request, &cpu(), &gpu(rates, started), GpuWay::Segments).unwrap()
    }

    /// Whether the GPU sorts.
    fn wins(request: &Request, cpu: CpuRates, rates: Rates, started: bool) -> bool {
        let machine = Machine { cpu, ..Machine::of_cpu(Vectors::Avx512) }.with_gpu(gpu(rates, started));
        let plan = crate::plan::plan(request, &machine).unwrap();
        matches!(plan.route, crate::plan::Route::Gpu(..))
    }

    fn near(found: f64, expected: f64) {
        assert!((found / expected - 1.0).abs() < 1e-6, "{found}, not {expected}");
    }

    #[test]
    fn seconds_are_what_the_rates_say() {
        // 16 chunks of 64 MiB.
        let work = f32s(268_435_000);
        near(on_cpu(&work, &cpu()).unwrap(), 0.268_435);
        let by_four = segments(268_435_000, Segments::Length(1000), 4);
        near(on_cpu(&by_four, &cpu()).unwrap(), 4.0 * 0.268_435);
        let bytes = 4.0 * 268_435_000.0;
        let chunks = bytes / (64 << 20) as f64;
        let sort = 2.0 * bytes / 4000e9 * DEVICE_FINISH_COPIES;
        let one_by_one = 2.0 * bytes / 50e9 + 2.0 * bytes / 50e9 + sort;
        let overlapped = (one_by_one + (chunks - 1.0) * 2.0 * bytes / 50e9) / chunks;
        let pinned = (3 << 26) as f64 / 4e9;
        near(seconds(&work, device(), true), overlapped + pinned);
        near(seconds(&work, device(), false), overlapped + pinned + 0.3);
        // A quarter of the threads takes four times as long to copy, and copying is then the slowest step.
        let one_by_one = one_by_one + 3.0 * 2.0 * bytes / 50e9;
        let overlapped = (one_by_one + (chunks - 1.0) * 4.0 * 2.0 * bytes / 50e9) / chunks;
        near(seconds(&by_four, device(), true), overlapped + pinned);
    }

    #[test]
    fn the_break_even_has_two_sides() {
        assert!(wins(&f32s(1_000_000_000), cpu(), device(), false));
        assert!(
            !wins(&f32s(100_000_000), cpu(), device(), false),
            "its start takes longer than the CPU's sort"
        );
        assert!(wins(&f32s(100_000_000), cpu(), device(), true));
        // On a slow bus, there is no size from which it wins, even if it has started.
        let slow = Rates { pinned_in: 3e9, pinned_out: 3e9, pinned_both: 6e9, ..device() };
        assert!(!wins(&f32s(10_000_000_000), cpu(), slow, true));
        let fast = CpuRates { seconds_a_key: [[1e-10; 3]; 4], ..cpu() };
        assert!(!wins(&f32s(10_000_000_000), fast, device(), true));
    }

    #[test]
    fn a_tie_is_the_cpus() {
        let work = f32s(400_000_000);
        let gpu = seconds(&work, device(), true);
        let as_fast = |share: f64| CpuRates { seconds_a_key: [[share * gpu / 400_000_000.0; 3]; 4], ..cpu() };
        assert!(!wins(&work, as_fast(1.0), device(), true));
        assert!(!wins(&work, as_fast(GPU_WINS_FROM * 0.99), device(), true));
        assert!(wins(&work, as_fast(GPU_WINS_FROM * 1.01), device(), true));
    }

    #[test]
    fn offsets_cost_more_than_one_length() {
        let ends: Vec<usize> = (0..=200_000).map(|i| i * 1000).collect();
        let ragged = segments(200_000_000, Segments::Offsets(&ends), 16);
        let even = f32s(200_000_000);
        assert!(seconds(&ragged, device(), true) > seconds(&even, device(), true));
        // Keys that belong to no segment, and segments without keys, are no work.
        let lengths = Lengths::of(100, Segments::Offsets(&[10, 10, 20, 20, 23]));
        assert_eq!((lengths.keys_by_log[3], lengths.keys_by_log[1], lengths.longest), (10, 3, 10));
        assert_eq!(lengths.keys(), 13);
    }

    #[test]
    fn long_segments_are_merged() {
        for (length, passes) in [(10, 0.0), (8192, 0.0), (8193, 1.0), (65_536, 3.0), (70_000, 4.0)] {
            assert_eq!(merges(4.0 * f64::from(length)), passes, "{length}");
        }
    }

    #[test]
    fn nothing_to_sort_is_nothing_to_win() {
        for those in [Segments::Length(1), Segments::Offsets(&[]), Segments::Offsets(&[5, 5])] {
            assert!(!wins(&segments(1_000_000_000, those, 16), cpu(), device(), true), "{those:?}");
        }
    }

    /// With the rates that ship, predictions are within half of what was measured on an H200 with 16 cores, as listed
    /// in `docs/benchmarks.md`.
    #[test]
    fn arrays_and_strings_take_as_long_as_measured() {
        let h200 = MachineGpu { started: true, ..MachineGpu::shipped("NVIDIA H200", 0).unwrap() };
        let rates = CpuRates::shipped(Vectors::Avx512);
        let payload = |bytes| Beside::Payload { bytes, stable: true };
        let whole = GpuWay::Whole(DeviceWay::Digits);
        let samples = GpuWay::Whole(DeviceWay::Samples);
        for (keys, beside, n, way, cpu_ms, gpu_ms) in [
            (KeyForm::of::<u32>(), Beside::Nothing, 1 << 30, whole, 1257.0, 190.0),
            (KeyForm::of::<u64>(), Beside::Nothing, 1 << 30, whole, 2390.0, 372.0),
            (KeyForm::of::<u32>(), payload(4), 1 << 30, whole, 4536.0, 520.0),
            (KeyForm::of::<u64>(), payload(8), 1 << 29, samples, 3019.0, 538.0),
            (KeyForm::of::<u64>(), Beside::Nothing, 5_000_000_000, GpuWay::Chunks, 9689.0, 2841.0),
            (KeyForm::Strings, Beside::Indices { stable: true }, 100_000_000, GpuWay::Strings, 929.0, 202.0),
        ] {
            let request = request(Operation::Array, keys, beside, n, 16);
            let within = |seconds: f64, measured: f64| {
                let ratio = seconds * 1e3 / measured;
                assert!((0.5..2.0).contains(&ratio), "{keys:?} {beside:?}: {seconds} s, not {measured} ms");
            };
            within(on_cpu(&request, &rates).unwrap(), cpu_ms);
            within(on_gpu(&request, &rates, &h200, way).unwrap(), gpu_ms);
        }
    }
}
