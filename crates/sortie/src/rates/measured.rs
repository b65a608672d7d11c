//! Measures the CPU's rates and stores them with the GPU they are compared with.

use std::fs;
use std::time::Instant;

use sortie_device::cache::{Cache, Key};
use sortie_device::{Device, Properties};

use crate::Segments;
use crate::cpu::sorts::CpuSorts;
use crate::cpu::vector::Isa;
use crate::cpu::{self, Job};
use crate::gpu::copy;
use crate::key::{Bits, Transform};
use crate::plan::cpu_rates::{CpuRates, LENGTHS};
use crate::request::Budget;
use crate::ways::CpuWay;

/// Bytes of keys for each thread: more than fits in a core's cache while it sorts.
const BYTES_A_THREAD: usize = 4 << 20;
/// Measurements of each rate; the best counts.
const ROUNDS: usize = 3;

/// The rates that [`measure`] has measured on this machine before, read from the user's cache. Measures nothing.
#[must_use]
pub fn known() -> Option<CpuRates> {
    known_with_device().map(|(rates, _)| rates)
}

/// The same, together with the device that was measured along with the CPU.
pub(crate) fn known_with_device() -> Option<(CpuRates, Properties)> {
    from_bytes(&Cache::of_user().get(&key())?)
}

/// Measures the CPU with all threads of the current rayon pool, and stores the result for this machine, with the device
/// that [`Engine::Auto`](crate::Engine::Auto) is to compare with the CPU. The device itself is not used. Takes up to a
/// second, and 8 MiB for each thread. If the file cannot be written, that is ignored.
pub fn measure(device: &Device) -> CpuRates {
    let rates = measured(BYTES_A_THREAD);
    Cache::of_user().put(&key(), &to_bytes(&rates, device.properties()));
    rates
}

fn measured(bytes_a_thread: usize) -> CpuRates {
    let threads = crate::threads::of_current_pool();
    let bytes = threads * bytes_a_thread;
    let copying = {
        let (from, mut to) = (vec![1u64; bytes / 8], vec![0u64; bytes / 8]);
        best(|| (), |()| copy::by_threads(&mut to, &from, threads))
    };
    CpuRates {
        threads,
        copy: bytes as f64 / copying,
        seconds_a_key: [
            sorting::<u8>(bytes, threads),
            sorting::<u16>(bytes, threads),
            sorting::<u32>(bytes, threads),
            sorting::<u64>(bytes, threads),
        ],
    }
}

/// Seconds per key of this width, by length.
fn sorting<B: CpuSorts>(bytes: usize, threads: usize) -> [f64; LENGTHS.len()] {
    let unsorted: Vec<B> = random(bytes / size_of::<B>());
    let transform = Transform::IDENTITY;
    let job = Job { way: CpuWay::Distribute, stable: false, budget: Budget::of_threads(threads) };
    LENGTHS.map(|log| {
        let sort = |keys: &mut Vec<B>| {
            let sorted = cpu::segments::sort(keys, Segments::Length(1 << log), transform, &job);
            sorted.expect("keys alone need no scratch that a limit could refuse");
        };
        best(|| unsorted.clone(), sort) / unsorted.len() as f64
    })
}

/// `n` random keys, the same each time.
pub(crate) fn random<B: Bits>(n: usize) -> Vec<B> {
    let mut state = 0u64;
    let next = || {
        // SplitMix64.
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        B::from_low(z ^ (z >> 31))
    };
    std::iter::repeat_with(next).take(n).collect()
}

/// The shortest time, in seconds, that `work` takes on the result of `prepare`.
fn best<T>(prepare: impl Fn() -> T, mut work: impl FnMut(&mut T)) -> f64 {
    let round = |_| {
        let mut prepared = prepare();
        let start = Instant::now();
        work(&mut prepared);
        start.elapsed().as_secs_f64()
    };
    (0..ROUNDS).map(round).fold(f64::INFINITY, f64::min)
}

/// The machine, and what decides which instructions the engine uses. Several machines may share a home folder.
fn key() -> Key {
    let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processor.lines().find(|line| line.starts_with("model name")).unwrap_or_default();
    let machine = fs::read_to_string("/etc/machine-id").unwrap_or_default();
    let isa = format!("{:?}", Isa::detect());
    Key::new(
        "cpu rates",
        [machine.as_bytes(), model.as_bytes(), std::env::consts::ARCH.as_bytes(), isa.as_bytes()],
    )
}

/// The numbers, then the device: one line each for its kind, its id, its name and its own numbers.
fn to_bytes(rates: &CpuRates, device: &Properties) -> Vec<u8> {
    let numbers = [rates.threads as f64, rates.copy].into_iter();
    let numbers = numbers.chain(rates.seconds_a_key.into_iter().flatten());
    let mut bytes: Vec<u8> = numbers.flat_map(f64::to_le_bytes).collect();
    let Properties { kind, id, name, ordinal, compute_capability: (major, minor), multiprocessors, .. } =
        device;
    let Properties { shared_per_block, memory_total, l2_bytes, .. } = device;
    let text = format!(
        "{kind}\n{id}\n{name}\n{ordinal} {major} {minor} {multiprocessors} {shared_per_block} {memory_total} {l2_bytes}"
    );
    bytes.extend_from_slice(text.as_bytes());
    bytes
}

fn from_bytes(bytes: &[u8]) -> Option<(CpuRates, Properties)> {
    let mut rest = bytes;
    let mut number =
        || rest.split_off(..8).map(|bytes| f64::from_le_bytes(bytes.try_into().expect("8 bytes")));
    let (threads, copy) = (number()?, number()?);
    let mut seconds_a_key = [[0.0; LENGTHS.len()]; 4];
    for seconds in seconds_a_key.as_flattened_mut() {
        *seconds = number()?;
    }
    let rates = CpuRates { threads: threads as usize, copy, seconds_a_key };
    let lines: Vec<&str> = str::from_utf8(rest).ok()?.split('\n').collect();
    let [kind, id, name, numbers] = lines[..] else { return None };
    let numbers: Vec<u64> = numbers.split(' ').map(|number| number.parse().ok()).collect::<Option<_>>()?;
    let [ordinal, major, minor, multiprocessors, shared_per_block, memory_total, l2_bytes] = numbers[..]
    else {
        return None;
    };
    let device = Properties {
        name: name.into(),
        kind: if kind == "cuda" { "cuda" } else { "simulated" },
        ordinal: ordinal as u32,
        id: id.into(),
        compute_capability: (major as u32, minor as u32),
        multiprocessors: multiprocessors as u32,
        shared_per_block: shared_per_block as usize,
        memory_total,
        l2_bytes,
    };
    Some((rates, device))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::cpu_rates::tests::made_up;

    #[test]
    fn rates_survive_the_disk() {
        let mut device = crate::plan::MachineGpu::shipped("NVIDIA H200", 3).unwrap().properties;
        device.id = "0a 1b".into();
        let bytes = to_bytes(&made_up(), &device);
        assert_eq!(from_bytes(&bytes), Some((made_up(), device)));
        assert_eq!(from_bytes(&bytes[..100]), None);
        assert_eq!(from_bytes(&bytes[..8 * 14]), None, "without the device");
    }

    #[test]
    fn everything_is_measured() {
        let rates = measured(256 << 10);
        assert_eq!(rates.threads, rayon::current_num_threads());
        let numbers = rates.seconds_a_key.as_flattened().iter().chain([&rates.copy]);
        numbers.for_each(|number| assert!(number.is_finite() && *number > 0.0, "{rates:?}"));
    }
}
