//! Copies one host array to a device and back. A short array uses one ring, whose slots all threads fill together. For a long array
//! each thread has a ring of its own.

use std::mem::MaybeUninit;
use std::sync::Mutex;
use std::sync::atomic::Ordering::Relaxed;

use sortie_device::{Stream, View};

use crate::Error;
use crate::cache_line::LINE;
use crate::gpu::Gpu;
use crate::gpu::copy::{self, bytes, bytes_mut};
use crate::gpu::ring::{Clock, Ring, Slots, pieces};
use crate::gpu::threads;
use crate::gpu::tuning::{LEAST_PIECE_BYTES, OWN_RINGS_FROM_BYTES, RING_SLOT_BYTES};

/// The number of rings, and the slots of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Lanes {
    rings: usize,
    slots: Slots,
}

impl Lanes {
    /// The choices for copies of at most `most` bytes, the fastest first.
    pub fn choices(most: usize, threads: usize) -> impl Iterator<Item = Lanes> {
        let many = Lanes { rings: threads, slots: Slots::of_one_thread(most) };
        let is_worth_it = threads > 1 && most >= OWN_RINGS_FROM_BYTES;
        is_worth_it.then_some(many).into_iter().chain([Lanes::least(most)])
    }

    /// The last of these choices, which takes the least memory.
    pub fn least(most: usize) -> Lanes {
        Lanes { rings: 1, slots: Slots::of_all_threads(most) }
    }

    /// Bytes of pinned memory.
    pub fn pinned(self) -> usize {
        self.rings * self.slots.pinned()
    }
}

pub(crate) struct Transport {
    rings: Vec<Ring>,
    threads: usize,
}

impl Transport {
    /// # Errors
    /// [`Error::Memory`] if the system has too little pinned memory.
    pub fn new(gpu: &Gpu, lanes: Lanes, threads: usize) -> Result<Transport, Error> {
        let ring = |_| Ring::new(gpu.device(), gpu.rings(), lanes.slots);
        let rings = (0..lanes.rings).map(ring).collect::<Result<_, _>>()?;
        Ok(Transport { rings, threads })
    }

    /// The stream on which all that was copied in is available.
    pub fn stream(&self) -> &Stream {
        self.rings[0].stream()
    }

    /// Copies to the device. Returns when the host's memory may be changed again.
    pub fn copy_in(&mut self, gpu: &Gpu, to: View<'_, u8>, from: &[MaybeUninit<u8>]) -> Result<(), Error> {
        let threads = self.threads;
        if let [ring] = &mut self.rings[..] {
            // SAFETY: what is written is only copied on.
            return unsafe {
                ring.fill_in(to, |range, pinned| copy::by_threads(pinned, &from[range], threads))
            };
        }
        let rest = Mutex::new(pieces(to.len(), self.piece(to.len())));
        threads::for_each(&mut self.rings, |_, ring, failed| {
            while !failed.load(Relaxed) {
                let Some(range) = rest.lock().expect("no holder panics").next() else { break };
                ring.send(&mut Clock::stopped(), |slot| {
                    // SAFETY: what is written is only copied on.
                    let pinned = unsafe { bytes_mut(slot) };
                    pinned[..range.len()].copy_from_slice(&from[range.clone()]);
                    Ok([(0, to.range(range))])
                })?;
            }
            Ok(())
        })?;
        self.rings[1..].iter().try_for_each(|ring| ring.hold_up(gpu.device(), self.stream()))
    }

    /// Copies back to the host, and waits. No stream may still write to `from`.
    pub fn copy_out(&mut self, to: &mut [MaybeUninit<u8>], from: View<'_, u8>) -> Result<(), Error> {
        let threads = self.threads;
        if let [ring] = &mut self.rings[..] {
            return ring
                .take_out(from, |range, pinned| copy::by_threads(&mut to[range], bytes(pinned), threads));
        }
        let piece = self.piece(to.len());
        let rest = Mutex::new(pieces(to.len(), piece).zip(to.chunks_mut(piece)));
        threads::for_each(&mut self.rings, |_, ring, failed| {
            let next = || {
                let next = rest.lock().expect("no holder panics").next();
                let (range, to) = next.filter(|_| !failed.load(Relaxed))?;
                Some((to, [from.range(range)]))
            };
            ring.bring(&mut Clock::stopped(), next, |to: &mut [MaybeUninit<u8>], slot| {
                copy::past_caches(to, &bytemuck::cast_slice(slot)[..to.len()]);
            })
        })
        .map(drop)
    }

    /// Bytes of a piece when `bytes` are copied: several pieces for each ring, each of whole cache lines.
    fn piece(&self, bytes: usize) -> usize {
        let each = bytes / (4 * self.rings.len());
        each.clamp(LEAST_PIECE_BYTES, RING_SLOT_BYTES) / LINE * LINE
    }
}

#[cfg(test)]
mod tests {
    use sortie_simt::{Options, or_skip};

    use super::*;

    /// Copies to the device and back.
    fn there_and_back(gpu: &Gpu, lanes: Lanes, before: &[u8]) -> Result<Vec<u8>, Error> {
        let there = gpu.device().alloc::<u8>(before.len())?;
        let mut transport = Transport::new(gpu, lanes, 2)?;
        transport.copy_in(gpu, there.view(), bytes(before))?;
        transport.stream().wait()?;
        let mut back = vec![0; before.len()];
        // SAFETY: what is copied are bytes.
        transport.copy_out(unsafe { bytes_mut(&mut back) }, there.view())?;
        Ok(back)
    }

    /// Each copy and allocation fails in turn; no thread may then wait for ever.
    #[test]
    fn what_comes_back_is_what_was_sent() {
        let lanes = [
            Lanes { rings: 1, slots: Slots::of_all_threads(100_000) },
            Lanes { rings: 3, slots: Slots::of_one_thread(RING_SLOT_BYTES) },
        ];
        let mut random = fastrand::Rng::with_seed(1);
        let before: Vec<u8> = (0..3_000_001).map(|_| random.u8(..)).collect();
        for lanes in lanes {
            for failing in 0.. {
                let options = Options { failing: Some(failing), ..Options::default() };
                let Some(device) = or_skip(sortie_simt::device(options)) else { return };
                if let Ok(back) = there_and_back(&Gpu::new(device), lanes, &before) {
                    assert!(back == before, "{lanes:?}");
                    assert!(failing > 3, "{failing} points");
                    break;
                }
            }
            let gpu = Gpu::new(sortie_simt::device(Options::default()).unwrap());
            for length in [0, 1, LEAST_PIECE_BYTES - 1, LEAST_PIECE_BYTES + 1, 1_000_000] {
                assert!(there_and_back(&gpu, lanes, &before[..length]).unwrap() == before[..length]);
            }
        }
    }
}
