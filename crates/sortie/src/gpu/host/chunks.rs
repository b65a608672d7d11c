//! Sorts chunks of host data on devices, many at a time. Each carrier is a thread that copies a chunk to a device, has
//! it sorted, and copies it back. So some chunks are copied in while others are sorted or copied out.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex};

use sortie_device::{Buffer, Properties};

use super::allowed::Allowed;
use crate::gpu::Gpu;
use crate::gpu::alloc::{alloc, available, workspace_bytes};
use crate::gpu::array::Wanted;
use crate::gpu::copy::bytes;
use crate::gpu::ring::{Kept, Ring, Slots};
use crate::gpu::threads;
use crate::gpu::tuning::{CARRIERS, LEAST_TRIP_BYTES, MOST_RUNS, OVERLAPPED_CHUNK_BYTES, TRIP_BYTES};
use crate::key::{Bits, Code};
use crate::request::Beside;
use crate::ways;
use crate::{Error, Order};

/// Some keys with their payloads: where they come from, in parts, and where they are written in order.
pub(crate) struct ArrayChunk<'a, B> {
    pub keys: Vec<&'a [B]>,
    /// As many parts as there are of the keys.
    pub payload: Vec<&'a [MaybeUninit<u8>]>,
    /// `None` if the sorted keys are no longer needed.
    pub keys_to: Option<&'a mut [MaybeUninit<u8>]>,
    pub payload_to: &'a mut [MaybeUninit<u8>],
}

/// What is to be sorted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work {
    pub code: Code,
    pub order: Order,
    /// Bytes of the payload of a key, or 0 if there is none, and whether equal keys keep their order.
    pub payload_bytes: usize,
    pub stable: bool,
}

/// Carriers with all the memory that they need.
pub(crate) struct Carriers<B> {
    carriers: Vec<Carrier<B>>,
    wanted: Wanted,
    /// The most keys of a chunk.
    pub most: usize,
    /// Bytes of all of it.
    pub bytes: u64,
}

struct Carrier<B> {
    ring: Ring,
    keys: Buffer<B>,
    payload: Buffer<u8>,
    scratch: Buffer<u8>,
    gpu: Arc<Gpu>,
}

impl Work {
    fn wanted(self) -> Wanted {
        let beside = match self.payload_bytes {
            0 => Beside::Nothing,
            bytes => Beside::Payload { bytes, stable: self.stable },
        };
        Wanted { beside, code: self.code, order: self.order }
    }
}

/// How many carriers there are, and what they take.
pub(crate) struct Crew {
    carriers: usize,
    /// The most keys of a chunk.
    most: usize,
    /// Words of each piece of scratch, on each device.
    words: Vec<Vec<usize>>,
    /// Bytes on each device.
    there: Vec<u64>,
    scratch: ways::Scratch,
}

impl Crew {
    /// The possible ones for `n` keys, the best first. `held` gives the bytes of host memory that are held for a number of chunks.
    pub fn choices<B: Bits>(
        devices: &[&Properties],
        n: usize,
        work: Work,
        threads: usize,
        held: impl Fn(usize) -> u64,
    ) -> impl Iterator<Item = Result<Crew, Error>> {
        let each = size_of::<B>() + work.payload_bytes;
        shapes(devices.len(), threads, n * each).map(move |(carriers, bytes)| {
            let most = bytes / each;
            let of = |device: &&Properties| work.wanted().words_up_to::<B>(most, device);
            let words: Vec<Vec<usize>> = devices.iter().map(of).collect::<Result<_, _>>()?;
            let there = |number: usize| {
                let own = (number..carriers).step_by(devices.len()).count();
                (own * (most * each + workspace_bytes(&words[number]))) as u64
            };
            let there: Vec<u64> = (0..devices.len()).map(there).collect();
            let host = held(n.div_ceil(most)) + (carriers * Slots::of_one_thread(bytes).pinned()) as u64;
            let scratch = ways::Scratch { host, device: there.iter().sum() };
            Ok(Crew { carriers, most, words, there, scratch })
        })
    }

    /// What they take in all, unless it exceeds the limit, or what one of the devices has available.
    pub fn check(&self, limit: u64, available: &[u64]) -> Result<ways::Scratch, Error> {
        self.scratch.check(limit, u64::MAX, HINT)?;
        for (&device, &available) in self.there.iter().zip(available) {
            ways::Scratch { host: 0, device }.check(limit, available, HINT)?;
        }
        Ok(self.scratch)
    }
}

impl<B: Bits> Carriers<B> {
    /// Allocates for `n` keys as many carriers, on the devices in turn, and as large chunks as the memory allows.
    /// `held` gives the bytes of host memory that are held for a number of chunks.
    pub fn new(
        gpus: &[Arc<Gpu>],
        n: usize,
        work: Work,
        held: impl Fn(usize) -> u64,
        allowed: Allowed,
    ) -> Result<Self, Error> {
        let free = |gpu: &Arc<Gpu>| Ok(available(gpu.device().free_memory()?));
        let available: Vec<u64> = gpus.iter().map(free).collect::<Result<_, Error>>()?;
        let devices: Vec<&Properties> = gpus.iter().map(|gpu| gpu.device().properties()).collect();
        let mut refused = None;
        for crew in Crew::choices::<B>(&devices, n, work, allowed.threads, held) {
            let crew = crew?;
            let carrier = |i: usize| {
                let number = i % gpus.len();
                Carrier::new(&gpus[number], crew.most, work.payload_bytes, &crew.words[number])
            };
            let carriers = crew.check(allowed.memory_limit, &available).and_then(|scratch| {
                let carriers = (0..crew.carriers).map(carrier).collect::<Result<_, _>>()?;
                Ok(Carriers { carriers, wanted: work.wanted(), most: crew.most, bytes: scratch.bytes() })
            });
            match carriers {
                Err(error @ Error::Memory { .. }) => refused = Some(error),
                decided => return decided,
            }
        }
        Err(refused.expect("there is at least one shape"))
    }

    /// Sorts each chunk on its own. Chunks are taken in order, whenever a carrier is free. After an error, some chunks
    /// are not sorted, and their destinations may have been written in part.
    pub fn sort<'a>(&mut self, chunks: impl Iterator<Item = ArrayChunk<'a, B>> + Send) -> Result<(), Error> {
        let (chunks, wanted) = (Mutex::new(chunks), self.wanted);
        let next = || chunks.lock().expect("no holder panics").next();
        threads::for_each(&mut self.carriers, |_, carrier, failed| {
            while !failed.load(Relaxed) {
                let Some(chunk) = next() else { break };
                carrier.sort(chunk, wanted)?;
            }
            Ok(())
        })
        .map(drop)
    }
}

impl<B: Bits> Carrier<B> {
    fn new(gpu: &Arc<Gpu>, most: usize, payload_bytes: usize, scratch: &[usize]) -> Result<Self, Error> {
        let device = gpu.device();
        let slots = Slots::of_one_thread(most * size_of::<B>().max(payload_bytes));
        Ok(Carrier {
            // Dropped after the call, because all carriers together hold much pinned memory.
            ring: Ring::new(device, &Kept::default(), slots)?,
            keys: alloc(device, most)?,
            payload: alloc(device, most * payload_bytes)?,
            scratch: alloc(device, workspace_bytes(scratch))?,
            gpu: gpu.clone(),
        })
    }

    fn sort(&mut self, chunk: ArrayChunk<'_, B>, wanted: Wanted) -> Result<(), Error> {
        let n = chunk.keys.iter().map(|part| part.len()).sum();
        let keys = self.keys.range(0..n);
        let payload = self.payload.range(0..n * wanted.beside.payload_bytes());
        let key_parts: Vec<_> = chunk.keys.iter().map(|part| bytes(part)).collect();
        // SAFETY: only copies of keys and payloads are written.
        unsafe {
            self.ring.fill_in(keys.cast(), |range, to| copy_joined(&key_parts, range, to))?;
            self.ring.fill_in(payload, |range, to| copy_joined(&chunk.payload, range, to))?;
        }
        let (stream, workspace) = (self.ring.stream(), self.scratch.view());
        // SAFETY: the keys, the payload and the scratch are on the device for this sort alone.
        unsafe { self.gpu.sort_array_within(stream, workspace, keys, payload.address(), wanted)? }.wait()?;
        if let Some(to) = chunk.keys_to {
            self.ring.take_out(keys.cast(), |range, from| to[range].copy_from_slice(bytes(from)))?;
        }
        self.ring.take_out(payload, |range, from| chunk.payload_to[range].copy_from_slice(bytes(from)))
    }
}

/// Copies a range of the concatenated parts.
fn copy_joined(parts: &[&[MaybeUninit<u8>]], range: Range<usize>, mut to: &mut [MaybeUninit<u8>]) {
    let mut start = 0;
    for part in parts {
        let end = start + part.len();
        if end > range.start && !to.is_empty() {
            let from = &part[range.start.saturating_sub(start)..];
            let count = from.len().min(to.len());
            let into = to.split_off_mut(..count).expect("as long at least");
            into.copy_from_slice(&from[..count]);
        }
        start = end;
    }
}

/// Numbers of carriers and bytes of a chunk, the best first: as many carriers as allowed, with chunks large enough to be
/// worth their launches; last, one carrier with the smallest chunks. There are never more than [`MOST_RUNS`] chunks.
fn shapes(devices: usize, threads: usize, bytes: usize) -> impl Iterator<Item = (usize, usize)> {
    let least = (bytes / MOST_RUNS).next_power_of_two().max(LEAST_TRIP_BYTES);
    // Several chunks for each carrier, so that no carrier waits long for the last one.
    let most = move |carriers: usize| (bytes / (4 * carriers)).next_power_of_two().min(TRIP_BYTES).max(least);
    let halves = |most| std::iter::successors(Some(most), |size| Some(size / 2));
    let carriers = halves((devices * CARRIERS).min(threads.max(1))).take_while(|&carriers| carriers > 0);
    let overlapped = carriers.flat_map(move |carriers| {
        let worth_it = OVERLAPPED_CHUNK_BYTES.min(most(carriers)).max(least);
        halves(most(carriers)).take_while(move |&size| size >= worth_it).map(move |size| (carriers, size))
    });
    overlapped.chain(halves(most(1)).take_while(move |&size| size >= least).map(|size| (1, size)))
}

const HINT: &str = "an array that does not fit in GPU memory is sorted in parts, with a copy of it in host memory; \
                    use the CPU engine";

#[cfg(test)]
mod tests {
    use super::*;

    /// A device with hardly any memory must not be given many thousands of runs, because the table of their parts would
    /// take memory that is not counted.
    #[test]
    fn runs_are_never_too_many() {
        for (devices, threads) in [(1, 0), (1, 1), (2, 1), (1, 5), (1, 16), (1, 100), (3, 100)] {
            for bytes in [0, 1, 1 << 16, 1 << 20, 8 << 30, 40_000_000_000, 1 << 42] {
                let shapes: Vec<_> = shapes(devices, threads, bytes).collect();
                assert!(shapes.iter().all(|&(carriers, size)| {
                    (1..=threads.max(1)).contains(&carriers)
                        && size >= LEAST_TRIP_BYTES
                        && bytes.div_ceil(size) <= MOST_RUNS
                }));
                let one_worker = shapes.iter().rev().take_while(|&&(carriers, _)| carriers == 1).count();
                assert!(one_worker > 0, "{threads} threads, {bytes} bytes");
            }
        }
    }
}
