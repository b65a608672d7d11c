//! How long segments in host memory take on each engine, from what was measured on this machine.

use sortie_device::rates::Rates;

use super::{
    CHUNK_BYTES, CHUNKS_UNDER_WAY, DEVICE_FINISH_COPIES, DEVICE_MERGE_COPIES, DEVICE_TILE_BYTES,
    GPU_WINS_FROM, SECONDS_AN_OFFSET,
};
use crate::Segments;
use crate::rates::CpuRates;

/// What there is to sort.
#[derive(Debug, Clone)]
pub(crate) struct Work {
    key_bytes: usize,
    /// Keys that are in segments of 2 to the i keys, up to twice as many.
    keys_by_log: [u64; 64],
    /// Of the longest segment.
    longest: u64,
    /// None for segments of one length.
    offsets: Option<u64>,
}

impl Work {
    /// One look at every offset.
    pub fn of(key_bytes: usize, keys: usize, segments: Segments<'_>) -> Work {
        let mut work = Work { key_bytes, keys_by_log: [0; 64], longest: 0, offsets: None };
        match segments {
            Segments::Length(length) => work.add(length as u64, segments.count(keys) as u64),
            Segments::Offsets(offsets) => {
                offsets.windows(2).for_each(|ends| work.add((ends[1] - ends[0]) as u64, 1));
                work.offsets = Some(offsets.len() as u64);
            }
        }
        work
    }

    fn add(&mut self, length: u64, count: u64) {
        if let Some(log) = length.checked_ilog2() {
            self.keys_by_log[log as usize] += length * count;
            self.longest = self.longest.max(length);
        }
    }

    fn bytes(&self) -> f64 {
        self.keys_by_log.iter().sum::<u64>() as f64 * self.key_bytes as f64
    }
}

/// Whether the GPU is predicted to be the faster one, transfers and all it takes to start included.
pub(crate) fn gpu_wins(work: &Work, cpu: &CpuRates, device: &Rates, threads: usize, started: bool) -> bool {
    on_gpu(work, cpu, device, threads, started) * GPU_WINS_FROM < on_cpu(work, cpu, threads)
}

/// Seconds. Threads share the work evenly.
fn on_cpu(work: &Work, cpu: &CpuRates, threads: usize) -> f64 {
    // A segment of one key is sorted.
    let seconds = (1u32..).zip(&work.keys_by_log[1..]).filter(|&(_, &keys)| keys > 0);
    let seconds = seconds.map(|(log, &keys)| keys as f64 * cpu.seconds_a_key(work.key_bytes, log));
    seconds.sum::<f64>() * slower(cpu, threads)
}

/// Seconds, all of them: the keys are copied to pinned memory, from there to the device, sorted, and brought back the same
/// way. What of it goes on at the same time is paid at the pace of the slowest, but for the first chunk.
fn on_gpu(work: &Work, cpu: &CpuRates, device: &Rates, threads: usize, started: bool) -> f64 {
    let bytes = work.bytes();
    let chunks = (bytes / CHUNK_BYTES as f64).max(1.0);
    let copies = 2.0 * bytes / cpu.copy * slower(cpu, threads);
    let sort = 2.0 * bytes / device.copy * (DEVICE_FINISH_COPIES + merges(work) * DEVICE_MERGE_COPIES);
    let one_by_one = copies + bytes / device.pinned_in + sort + bytes / device.pinned_out;
    let way = match work.offsets {
        None => {
            let at_once = copies.max(2.0 * bytes / device.pinned_both).max(sort);
            (one_by_one + (chunks - 1.0) * at_once) / chunks
        }
        // The host waits until a chunk is sorted before it goes on to the next.
        Some(offsets) => {
            let offsets = offsets as f64;
            one_by_one + offsets * (8.0 / device.pageable_in + SECONDS_AN_OFFSET)
        }
    };
    let pinned = bytes.min((CHUNKS_UNDER_WAY * CHUNK_BYTES) as f64) / device.pinned_alloc;
    way + pinned + if started { 0.0 } else { device.start }
}

/// Passes that merge the tiles of the longest segment.
fn merges(work: &Work) -> f64 {
    let tiles = (work.longest as f64 * work.key_bytes as f64) / DEVICE_TILE_BYTES as f64;
    tiles.log2().ceil().max(0.0)
}

/// How many times longer these threads take than those that were measured.
fn slower(cpu: &CpuRates, threads: usize) -> f64 {
    cpu.threads as f64 / threads as f64
}

#[cfg(test)]
mod tests {
    use super::*;

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

    fn f32s(keys: usize) -> Work {
        Work::of(4, keys, Segments::Length(1000))
    }

    fn wins(work: &Work, started: bool) -> bool {
        gpu_wins(work, &cpu(), &device(), 16, started)
    }

    #[test]
    fn seconds_are_what_the_rates_say() {
        let near = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-6, "{found}");
        // 16 chunks of 64 MiB.
        let work = f32s(268_435_000);
        near(on_cpu(&work, &cpu(), 16), 0.268_435);
        near(on_cpu(&work, &cpu(), 4), 4.0 * 0.268_435);
        let bytes = 4.0 * 268_435_000.0;
        let chunks = bytes / (64 << 20) as f64;
        let sort = 2.0 * bytes / 4000e9 * DEVICE_FINISH_COPIES;
        let one_by_one = 2.0 * bytes / 50e9 + 2.0 * bytes / 50e9 + sort;
        let overlapped = (one_by_one + (chunks - 1.0) * 2.0 * bytes / 50e9) / chunks;
        let pinned = (3 << 26) as f64 / 4e9;
        near(on_gpu(&work, &cpu(), &device(), 16, true), overlapped + pinned);
        near(on_gpu(&work, &cpu(), &device(), 16, false), overlapped + pinned + 0.3);
        // A fourth of the threads copies four times as long, and that is the slowest part.
        let one_by_one = one_by_one + 3.0 * 2.0 * bytes / 50e9;
        let overlapped = (one_by_one + (chunks - 1.0) * 4.0 * 2.0 * bytes / 50e9) / chunks;
        near(on_gpu(&work, &cpu(), &device(), 4, true), overlapped + pinned);
    }

    #[test]
    fn the_break_even_has_two_sides() {
        assert!(wins(&f32s(1_000_000_000), false));
        assert!(!wins(&f32s(100_000_000), false), "its start takes longer than the CPU's sort");
        assert!(wins(&f32s(100_000_000), true));
        // Without any start there is no size from which it wins where the bus is slow.
        let slow = Rates { pinned_in: 3e9, pinned_out: 3e9, pinned_both: 6e9, ..device() };
        assert!(!gpu_wins(&f32s(10_000_000_000), &cpu(), &slow, 16, true));
        let fast = CpuRates { seconds_a_key: [[1e-10; 3]; 4], ..cpu() };
        assert!(!gpu_wins(&f32s(10_000_000_000), &fast, &device(), 16, true));
    }

    #[test]
    fn a_tie_is_the_cpus() {
        let work = f32s(400_000_000);
        let gpu = on_gpu(&work, &cpu(), &device(), 16, true);
        let as_fast = |share: f64| CpuRates { seconds_a_key: [[share * gpu / 400_000_000.0; 3]; 4], ..cpu() };
        assert!(!gpu_wins(&work, &as_fast(1.0), &device(), 16, true));
        assert!(!gpu_wins(&work, &as_fast(GPU_WINS_FROM * 0.99), &device(), 16, true));
        assert!(gpu_wins(&work, &as_fast(GPU_WINS_FROM * 1.01), &device(), 16, true));
    }

    #[test]
    fn offsets_cost_more_than_one_length() {
        let ends: Vec<usize> = (0..=200_000).map(|i| i * 1000).collect();
        let ragged = Work::of(4, 200_000_000, Segments::Offsets(&ends));
        let even = f32s(200_000_000);
        assert_eq!(ragged.keys_by_log, even.keys_by_log);
        let seconds = |work| on_gpu(work, &cpu(), &device(), 16, true);
        assert!(seconds(&ragged) > seconds(&even));
        // Keys of no segment, and segments without keys, are no work.
        let work = Work::of(4, 100, Segments::Offsets(&[10, 10, 20, 20, 23]));
        assert_eq!((work.keys_by_log[3], work.keys_by_log[1], work.longest), (10, 3, 10));
        assert_eq!(work.bytes(), 52.0);
    }

    #[test]
    fn long_segments_are_merged() {
        for (length, passes) in [(10, 0.0), (8192, 0.0), (8193, 1.0), (65_536, 3.0), (70_000, 4.0)] {
            assert_eq!(merges(&Work::of(4, length, Segments::Length(length))), passes, "{length}");
        }
    }

    #[test]
    fn nothing_to_sort_is_nothing_to_win() {
        for segments in [Segments::Length(1), Segments::Offsets(&[]), Segments::Offsets(&[5, 5])] {
            assert!(!wins(&Work::of(4, 1_000_000_000, segments), true), "{segments:?}");
        }
    }
}
