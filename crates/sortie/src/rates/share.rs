//! The GPU's share of the keys: found by measuring, once for each machine, and stored.

use std::fs;
use std::time::Instant;

use sortie_device::Properties;
use sortie_device::cache::{Cache, Key};

use crate::compose::hybrid;
use crate::compose::tuning::DEFAULT_SHARE;
use crate::cpu::sorts::CpuSorts;
use crate::gpu::copy;
use crate::gpu::{self, Allowed, Gpu, HostArray, HostPayload};
use crate::key::{Code, Transform};
use crate::rates::random;
use crate::{Algorithm, Error, Order};

/// Bytes of keys and payloads with which the share is tuned: copying them to the device takes 20 ms.
const TUNED_BYTES: usize = 1 << 30;

/// The GPU's share of the keys, if CPU and GPU sort together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Share {
    /// Bytes of a key, and of its payload, which is 0 if there is none.
    pub key_bytes: usize,
    pub payload_bytes: usize,
    /// Above 0; 1 if the GPU alone is fastest.
    pub of_gpu: f64,
}

/// Kinds of data that are tuned: bytes of a key and of its payload.
const KINDS: [[usize; 2]; 4] = [[4, 0], [8, 0], [4, 4], [8, 8]];
/// The number of runs; the shortest time counts.
const ROUNDS: usize = 3;
/// The shares that are tried first, before the search continues close to the best of them.
const TRIED: [f64; 7] = [0.5, 0.6, 0.7, 0.8, 0.9, 0.96, 1.0];
const STEPS: [f64; 3] = [0.05, 0.025, 0.0125];

/// The shares that [`tune`] has found for this many threads with this device, read from the user's cache. Measures
/// nothing.
#[must_use]
pub fn known_shares(device: &Properties, threads: usize) -> Vec<Share> {
    let kept = |[key_bytes, payload_bytes]: [usize; 2]| {
        let of_gpu = kept(device, threads, key_bytes, payload_bytes)?;
        Some(Share { key_bytes, payload_bytes, of_gpu })
    };
    KINDS.into_iter().filter_map(kept).collect()
}

/// The share that was found for such keys and payloads.
fn kept(device: &Properties, threads: usize, key_bytes: usize, payload_bytes: usize) -> Option<f64> {
    let bytes = Cache::of_user().get(&key(device, threads, key_bytes, payload_bytes))?;
    let of_gpu = f64::from_le_bytes(bytes.try_into().ok()?);
    (of_gpu > 0.0 && of_gpu <= 1.0).then_some(of_gpu)
}

/// Finds the GPU's share that is fastest for [`Engine::Hybrid`](crate::Engine::Hybrid) with all threads of the current
/// rayon pool, for keys of 32 and 64 bits, alone and with a payload of the same size. The result is stored for this
/// machine, and used for payloads of other sizes too.
///
/// Takes some tens of seconds, and 3 GiB of the host's memory. If the GPU has too little memory for the data, less is
/// sorted.
///
/// # Errors
/// Those of a sort on the GPU.
pub fn tune(gpu: &Gpu) -> Result<Vec<Share>, Error> {
    let threads = crate::threads::of_current_pool();
    let mut found = Vec::new();
    for [key_bytes, payload_bytes] in KINDS {
        let tuned = match key_bytes {
            4 => fastest::<u32>(gpu, payload_bytes, threads, TUNED_BYTES)?,
            _ => fastest::<u64>(gpu, payload_bytes, threads, TUNED_BYTES)?,
        };
        if let Some(of_gpu) = tuned {
            let kept = key(gpu.device().properties(), threads, key_bytes, payload_bytes);
            Cache::of_user().put(&kept, &of_gpu.to_le_bytes());
            found.push(Share { key_bytes, payload_bytes, of_gpu });
        }
    }
    Ok(found)
}

/// The share for a sort: the one that was found, or one known from other machines.
pub(crate) fn share(device: &Properties, threads: usize, key_bytes: usize, payload_bytes: usize) -> f64 {
    let payload_bytes = if payload_bytes == 0 { 0 } else { key_bytes };
    kept(device, threads, key_bytes, payload_bytes).unwrap_or(DEFAULT_SHARE)
}

/// The share with which this many bytes of random keys are sorted in the least time. `None` if the two engines never
/// sorted together.
fn fastest<B: CpuSorts>(
    gpu: &Gpu,
    payload_bytes: usize,
    threads: usize,
    bytes: usize,
) -> Result<Option<f64>, Error> {
    let n = bytes / (size_of::<B>() + payload_bytes);
    let before: Vec<B> = random(n);
    let (mut keys, mut payload) = (before.clone(), vec![0u8; n * payload_bytes]);
    let transform = Transform::IDENTITY;
    let mut seconds = |share: f64| -> Result<f64, Error> {
        let mut least = f64::INFINITY;
        // In the first round, all memory has yet to be allocated.
        for round in 0..ROUNDS + 1 {
            copy::by_threads(&mut keys, &before, threads);
            let payload = HostPayload::of_bytes(&mut payload, payload_bytes).map(|payload| (payload, true));
            let allowed = Allowed { threads, memory_limit: u64::MAX };
            let start = Instant::now();
            if share < 1.0 {
                if hybrid::sort(gpu, &mut keys, payload, transform, share, allowed)?.is_none() {
                    return Ok(f64::INFINITY);
                }
            } else {
                let array = HostArray::Sorted { keys: &mut keys, payload };
                let (device, beside) = (gpu.device().properties(), array.beside());
                let way = gpu::device_ways(size_of::<B>(), beside, n, Algorithm::Auto, device)?[0];
                gpu::sort_host_array(gpu, array, Code::Unsigned, Order::default(), way, allowed)?;
            }
            if round > 0 {
                least = least.min(start.elapsed().as_secs_f64());
            }
        }
        Ok(least)
    };
    let (mut best, mut least) = (0.0, f64::INFINITY);
    for share in TRIED {
        let taken = seconds(share)?;
        if taken < least {
            (best, least) = (share, taken);
        }
    }
    for step in STEPS {
        let centre = best;
        for share in [centre - step, centre + step] {
            let taken = if share < 1.0 { seconds(share)? } else { f64::INFINITY };
            if taken < least {
                (best, least) = (share, taken);
            }
        }
    }
    Ok(least.is_finite().then_some(best))
}

/// The machine, the device, the threads, and what is sorted.
fn key(device: &Properties, threads: usize, key_bytes: usize, payload_bytes: usize) -> Key {
    let processor = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = processor.lines().find(|line| line.starts_with("model name")).unwrap_or_default();
    let numbers = format!("{threads} {key_bytes} {payload_bytes}");
    Key::new(
        "gpu share",
        [device.kind.as_bytes(), device.id.as_bytes(), model.as_bytes(), numbers.as_bytes()],
    )
}
