//! Sorts one array in host memory on the CPU and a GPU together. Both work in every phase.
//!
//! 1. *Profile*: a sample gives the pivot, below which keys belong to the GPU, and the splitters of the CPU's buckets.
//! 2. *Distribute*: threads process stretches of the array. Keys for the GPU go to pinned memory and from there to the
//!    device. The other keys are labelled, counted and scattered by bucket.
//! 3. *Finish*: the GPU sorts its keys. Half of the threads copy them back. The other threads sort buckets meanwhile,
//!    largest first, and so do the first ones when all keys are back.
//!
//! The CPU reads every key once. It would also do that for the GPU alone, which needs all keys copied to pinned memory.
//! Keys that the CPU sorts need not be copied to the device and back. But finding out which engine a key belongs to
//! takes as long as copying it, so a share for the CPU only pays with many threads per bus. `sortie tune` measures that.
//!
//! Nothing is written to the array before the GPU has sorted. A failure until then leaves the array unchanged.
//!
//! Source: the hybrid sample sort of Banerjee, Sakurikar and Kothapalli (2014), in which CPU and GPU share every phase,
//! divided by a threshold. In the paper, each engine labels the keys in its own part of the array, and finishes keys
//! from both parts. Here, parts are ranges of keys, so each key goes to the device at most once.

mod distribute;
mod finish;
mod phase;
mod split;

use std::mem::MaybeUninit;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize};

use sortie_device::Properties;

use crate::compose::tuning::{BUCKETS_A_THREAD, HYBRID_STRETCH_LEAST, SHARE_SLACK};
use crate::cpu::sorts::CpuSorts;
use crate::gpu::copy;
use crate::gpu::tuning::RING_SLOT_BYTES;
use crate::gpu::{Allowed, Gpu, HostPayload, HostShare, Room};
use crate::key::Transform;
use crate::request::Beside;
use crate::scratch::Scratch;
use crate::ways;
use crate::{Error, Report};
use distribute::Distribution;
use finish::{Finish, Target};
use phase::Phase;
use split::{Split, Tail};

/// A payload of this many bytes.
pub(crate) type Moved<const N: usize> = [MaybeUninit<u8>; N];

/// Sorts an array on threads of the CPU and on a GPU, which gets the given share of the keys. Returns `None` and leaves
/// the array unchanged if the CPU would get too few or too many equal keys, or if there is too little memory. The
/// payload comes with a flag that says whether equal keys must keep their order.
///
/// # Errors
/// [`Error::Device`], [`Error::Threads`]. The array is unchanged, unless keys were already being copied back. Then the
/// keys are unspecified and the payloads unchanged.
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

    let Divided { stretch, here, room } = Divided::new::<B, N>(n, split.share, stable, threads);
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
        // Each thread has a second copy of a bucket of pairs.
        let size = |bucket: usize| parts.iter().map(|part| part.bucket(bucket).0.len()).sum::<usize>();
        let largest = (0..split.buckets()).map(size).max().unwrap_or(0);
        report.scratch_peak += (threads * largest * (size_of::<B>() + N)) as u64;
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

/// What [`sort`] takes for this share. Buckets of pairs, of which threads hold copies, count as if all were equal.
pub(crate) fn scratch<B: CpuSorts>(
    n: usize,
    beside: Beside,
    share: f64,
    device: &Properties,
    threads: usize,
) -> Result<ways::Scratch, Error> {
    let stable = beside.is_stable();
    let divided = match beside.payload_bytes() {
        0 => Divided::new::<B, 0>(n, share, stable, threads),
        4 => Divided::new::<B, 4>(n, share, stable, threads),
        8 => Divided::new::<B, 8>(n, share, stable, threads),
        _ => Divided::new::<B, 16>(n, share, stable, threads),
    };
    let buckets = match beside.payload_bytes() {
        0 => 0,
        payload => divided.here / BUCKETS_A_THREAD * (size_of::<B>() + payload),
    };
    let most = divided.room.most::<B>(device, threads)?;
    Ok(ways::Scratch { host: most.host + buckets as u64, ..most })
}

/// How an array is divided.
struct Divided {
    /// The most keys of a stretch.
    stretch: usize,
    /// How many keys of the CPU there is room for.
    here: usize,
    room: Room,
}

impl Divided {
    fn new<B: CpuSorts, const N: usize>(n: usize, share: f64, stable: bool, threads: usize) -> Divided {
        let each = size_of::<B>() + N;
        let stretch = (n / (4 * threads)).clamp(HYBRID_STRETCH_LEAST, RING_SLOT_BYTES / each);
        let room = |share: f64| (((share + SHARE_SLACK) * n as f64) as usize + stretch).min(n);
        let (there, here) = (room(share), room(1.0 - share));
        let held = (Held::<B, N>::bytes(here, n) + threads * Tail::<B, N>::bytes(stretch)) as u64;
        let slot = stretch * each + size_of::<u64>();
        Divided { stretch, here, room: Room { keys: there, payload_bytes: N, stable, slot, held } }
    }
}

/// The host memory of a sort.
struct Held<B, const N: usize> {
    /// The CPU's keys, stretch by stretch, and by bucket within each.
    by_bucket: Scratch<B>,
    payload_by_bucket: Scratch<Moved<N>>,
    /// The CPU's sorted keys, until they may be written to the array.
    early: Scratch<B>,
    /// All payloads in order. They are written to the array when nothing can fail any more, because a failure in
    /// between would leave some payloads twice.
    payload: Scratch<Moved<N>>,
}

impl<B: CpuSorts, const N: usize> Held<B, N> {
    /// Allocates memory for `cpus` keys of the CPU, out of `n`.
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

/// The slot as an array of `count` keys, followed by their payloads, which start at a whole word.
fn as_arrays<B: CpuSorts, const N: usize>(slot: &mut [u64], count: usize) -> (&mut [B], &mut [Moved<N>]) {
    let (keys, payload) = slot.split_at_mut(payload_start::<B>(count) / size_of::<u64>());
    assert!(size_of_val(payload) >= N * count);
    // SAFETY: the length is that of the payloads, which are bytes without alignment; only copied bytes are written.
    let payload = unsafe { std::slice::from_raw_parts_mut(payload.as_mut_ptr().cast(), count) };
    (&mut bytemuck::cast_slice_mut(keys)[..count], payload)
}

/// The byte of a slot at which payloads start.
fn payload_start<B: CpuSorts>(count: usize) -> usize {
    (count * size_of::<B>()).next_multiple_of(size_of::<u64>())
}

#[cfg(test)]
mod tests;
