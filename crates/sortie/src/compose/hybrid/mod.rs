//! One array in host memory, sorted by the CPU and a GPU together, each at work in every phase.
//!
//! 1. *Profile*: a sample gives the pivot, the GPU's keys being less, and the splitters of
//!    the CPU's buckets.
//! 2. *Distribute*: threads take stretches of the array. Those of the GPU's keys go straight to pinned memory and from there to
//!    the device; the others are labelled, counted and scattered by bucket.
//! 3. *Finish*: the GPU sorts its keys, and they come back through half of the threads; the others sort buckets meanwhile, the
//!    largest first, and so do those once all is back.
//!
//! Every key is read once by the CPU, as it would be for the GPU alone, which has to have all keys copied to pinned memory,
//! and the way to the device and back is shorter by the CPU's. To tell whose a key is takes as long as to copy it, so that a
//! share for the CPU pays where there are many threads to a bus: [`share`] finds out.
//!
//! Nothing is written to the array before the GPU has sorted, so that until then a failure leaves all as it is.
//!
//! Source: Banerjee, Sakurikar and Kothapalli's hybrid sample sort (2014), of which every phase is shared by CPU and GPU,
//! split by a threshold. There each engine labels keys of its own part of the array, and what an engine finishes comes from
//! both parts; here parts are ranges of keys, so that each key goes to the device at most once.

mod distribute;
mod finish;
mod phase;
mod split;

use std::mem::MaybeUninit;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use crate::compose::tuning::{HYBRID_STRETCH_LEAST, SHARE_SLACK};
use crate::cpu::sorts::CpuSorts;
use crate::gpu::copy;
use crate::gpu::tuning::RING_SLOT_BYTES;
use crate::gpu::{Allowed, Gpu, HostPayload, HostShare, Room};
use crate::key::Transform;
use crate::scratch::Scratch;
use crate::{Error, Report};
use distribute::Distribution;
use finish::{Finish, Target};
use phase::Phase;
use split::{Split, Tail};

/// A payload of so many bytes.
pub(crate) type Moved<const N: usize> = [MaybeUninit<u8>; N];

/// Sorts an array by threads of the CPU and a GPU, which is to have such a share of the keys. None where the CPU would have too few
/// or too equal ones, or where memory does not allow this; the array is as it was then. With a payload goes whether equal keys
/// keep their order.
///
/// # Errors
/// [`Error::Device`], [`Error::Threads`]: nothing was written unless keys were on their way back; then keys are unspecified, but
/// payloads as they were.
pub(crate) fn sort<B: CpuSorts>(
    gpu: &Gpu,
    keys: &mut [B],
    payload: Option<(HostPayload<'_>, bool)>,
    transform: Transform<B>,
    share: f64,
    allowed: Allowed,
) -> Result<Option<Report>, Error> {
    let n = keys.len();
    match payload {
        None => sort_moved::<B, 0>(gpu, keys, &mut vec![[]; n], false, transform, share, allowed),
        Some((mut payload, stable)) => match payload.each() {
            4 => sort_moved::<B, 4>(gpu, keys, payload.elements(), stable, transform, share, allowed),
            8 => sort_moved::<B, 8>(gpu, keys, payload.elements(), stable, transform, share, allowed),
            _ => sort_moved::<B, 16>(gpu, keys, payload.elements(), stable, transform, share, allowed),
        },
    }
}

fn sort_moved<B: CpuSorts, const N: usize>(
    gpu: &Gpu,
    keys: &mut [B],
    payload: &mut [Moved<N>],
    stable: bool,
    transform: Transform<B>,
    share: f64,
    allowed: Allowed,
) -> Result<Option<Report>, Error> {
    let (n, threads, key_bytes) = (keys.len(), allowed.threads, size_of_val(keys));
    let bytes = key_bytes + size_of_val(payload);
    let mut report = Report::default();
    let split = report.phase("profile", 0, 0, || Split::sampled(keys, transform, share, threads));
    let Some(split) = split else { return Ok(None) };

    let each = size_of::<B>() + N;
    let stretch = (n / (4 * threads)).clamp(HYBRID_STRETCH_LEAST, RING_SLOT_BYTES / each);
    let room = |share: f64| (((share + SHARE_SLACK) * n as f64) as usize + stretch).min(n);
    let (there, here) = (room(split.share), room(1.0 - split.share));
    let bytes_held = Held::<B, N>::bytes(here, n) + threads * Tail::<B, N>::bytes(stretch);
    let slot = stretch * each + size_of::<u64>();
    let room = Room { keys: there, payload_bytes: N, stable, slot, held: bytes_held as u64 };
    let (device, mut rings) = match HostShare::<B>::new(gpu, room, allowed) {
        Err(Error::Memory { .. }) => return Ok(None),
        had => had?,
    };
    report.scratch_peak = device.bytes;
    let mut held = match Held::<B, N>::new(here, n) {
        Err(Error::Memory { .. }) => return Ok(None),
        had => had?,
    };

    let mut phase = Phase::begin("distribute", bytes, &device.origin);
    let distribution = Distribution {
        split: &split,
        stretch,
        keys,
        payload,
        device: &device,
        next: AtomicUsize::new(0),
        rest: Mutex::new((&mut held.by_bucket, &mut held.payload_by_bucket)),
        given_up: AtomicBool::new(false),
    };
    let parts =
        phase.on_threads(&mut rings, |_, ring, clock, failed| distribution.work(ring, clock, failed))?;
    let Some(parts) = distribution.done(parts) else { return Ok(None) };
    if N > 0 {
        // Each thread has a bucket of pairs a second time.
        let size = |bucket: usize| parts.iter().map(|part| part.bucket(bucket).0.len()).sum::<usize>();
        let largest = (0..split.buckets()).map(size).max().unwrap_or(0);
        report.scratch_peak += (threads * largest * each) as u64;
        if report.scratch_peak > allowed.memory_limit {
            return Ok(None);
        }
    }
    phase.end(&mut report);

    let mut phase = Phase::begin("finish", bytes, &device.origin);
    let (there, sorting) = match device.sort(&rings, parts.iter().map(|part| part.device.clone())) {
        Err(Error::Memory { .. }) => return Ok(None),
        enqueued => enqueued?,
    };
    let to = Target { keys, payload: &mut held.payload, early: &mut held.early };
    let finish = Finish::new(&device, there, stretch, &parts, split.buckets(), to, transform, threads);
    phase.on_threads(&mut rings, |thread, ring, clock, failed| finish.work(thread, ring, clock, failed))?;
    sorting.wait()?;
    phase.spans.push(device.sorting()?);
    phase.end(&mut report);
    if N > 0 {
        // SAFETY: every payload was written.
        let in_order = unsafe { held.payload.written() };
        report.phase("move", N * n, N * n, || copy::by_threads(payload, in_order, threads));
    }
    Ok(Some(report))
}

/// The memory of the host that a sort holds.
struct Held<B, const N: usize> {
    /// The CPU's keys, stretch by stretch, each by bucket.
    by_bucket: Scratch<B>,
    payload_by_bucket: Scratch<Moved<N>>,
    /// Its keys that are in order before they may be written to the array.
    early: Scratch<B>,
    /// All payloads in order. They are written to the array when nothing can fail any more: half of them would be there twice.
    payload: Scratch<Moved<N>>,
}

impl<B: CpuSorts, const N: usize> Held<B, N> {
    /// For so many keys of the CPU, of `n`.
    fn new(cpus: usize, n: usize) -> Result<Self, Error> {
        Ok(Held {
            by_bucket: Scratch::new(cpus)?,
            payload_by_bucket: Scratch::new(cpus)?,
            early: Scratch::new(cpus)?,
            payload: Scratch::new(n)?,
        })
    }

    fn bytes(cpus: usize, n: usize) -> usize {
        cpus * (2 * size_of::<B>() + N) + n * N
    }
}

/// The slot as room for so many keys and, behind them, from a whole word on, their payloads.
fn as_arrays<B: CpuSorts, const N: usize>(slot: &mut [u64], count: usize) -> (&mut [B], &mut [Moved<N>]) {
    let (keys, payload) = slot.split_at_mut(payload_start::<B>(count) / size_of::<u64>());
    assert!(size_of_val(payload) >= N * count);
    // SAFETY: as long, of bytes that have no alignment; what is written there are copied bytes.
    let payload = unsafe { std::slice::from_raw_parts_mut(payload.as_mut_ptr().cast(), count) };
    (&mut bytemuck::cast_slice_mut(keys)[..count], payload)
}

/// The byte of a slot from which payloads are.
fn payload_start<B: CpuSorts>(count: usize) -> usize {
    (count * size_of::<B>()).next_multiple_of(size_of::<u64>())
}

#[cfg(test)]
mod tests;
