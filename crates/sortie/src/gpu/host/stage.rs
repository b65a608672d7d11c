//! Pinned memory on the way to a device and back, piece by piece.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use sortie_device::{Event, Pinned, Stream, View};

use super::segments::{bytes, bytes_mut, copy};
use crate::gpu::Gpu;
use crate::plan::PIECE_BYTES;
use crate::{Bound, Error};

/// Pieces under way at a time: one between host and pinned memory, one between that and the device.
const STAGES: usize = 2;

/// One array or text at a time goes through it.
pub(crate) struct Stage {
    pub stream: Stream,
    slots: Vec<(Pinned<u8>, Event)>,
    threads: usize,
    /// Where slots go that are free again.
    kept: Arc<Mutex<Vec<Pinned<u8>>>>,
}

impl Stage {
    /// Pinned memory of a stage for at most so many bytes at a time.
    pub fn bytes(most: usize) -> usize {
        STAGES * most.min(PIECE_BYTES)
    }

    /// For at most so many bytes at a time.
    pub fn new(gpu: &Gpu, most: usize, threads: usize) -> Result<Stage, Error> {
        let (device, kept, piece) = (gpu.device(), gpu.pinned.clone(), most.min(PIECE_BYTES));
        let free = || {
            let mut kept = kept.lock().expect("no holder panics");
            let large_enough = kept.iter().position(|pinned| pinned.len() >= piece);
            if large_enough.is_none() {
                // What is too small will not be asked for again.
                kept.clear();
            }
            large_enough.map(|i| kept.swap_remove(i))
        };
        let slot = |i: usize| -> Result<_, Error> {
            let pinned =
                free().map_or_else(|| device.alloc_pinned(piece), Ok).map_err(|error| match error {
                    sortie_device::Error::OutOfPinned { .. } => Error::Memory {
                        bound: Bound::Host,
                        needed: (STAGES * piece) as u64,
                        available: (i * piece) as u64,
                        hint: "it is pinned memory, for a GPU; use the CPU engine, or see ulimit -l",
                    },
                    other => other.into(),
                })?;
            Ok((pinned, device.event()?))
        };
        let slots = (0..STAGES).map(slot).collect::<Result<_, _>>()?;
        Ok(Stage { stream: device.stream()?, slots, threads, kept })
    }

    /// Returns when all has left the host's memory.
    pub fn copy_in(&mut self, to: View<'_, u8>, from: &[MaybeUninit<u8>]) -> Result<(), Error> {
        let threads = self.threads;
        // SAFETY: what is written is only copied on.
        unsafe { self.fill_in(to, |range, pinned| copy(pinned, &from[range], threads)) }
    }

    /// Copies what `fill` writes for each range of it. Returns when all has left the host's memory.
    ///
    /// # Safety
    /// `fill` writes no byte that is not initialised, but copies of a payload's.
    pub unsafe fn fill_in(
        &mut self,
        to: View<'_, u8>,
        mut fill: impl FnMut(Range<usize>, &mut [MaybeUninit<u8>]),
    ) -> Result<(), Error> {
        let piece = self.piece();
        for (i, start) in (0..to.len()).step_by(piece).enumerate() {
            let range = start..to.len().min(start + piece);
            let (pinned, free) = &mut self.slots[i % STAGES];
            free.wait()?;
            let pinned = &mut pinned[..range.len()];
            // SAFETY: as the caller states.
            fill(range.clone(), unsafe { bytes_mut(pinned) });
            // SAFETY: the pinned memory is not touched until its event has come.
            unsafe { self.stream.enqueue_copy_in(to.range(range), pinned)? };
            self.stream.record(free)?;
        }
        Ok(())
    }

    /// Returns when all is in the host's memory.
    pub fn copy_out(&mut self, to: &mut [MaybeUninit<u8>], from: View<'_, u8>) -> Result<(), Error> {
        let threads = self.threads;
        self.take_out(from, |range, pinned| copy(&mut to[range], bytes(pinned), threads))
    }

    /// Gives `take` each range of it as it comes.
    pub fn take_out(
        &mut self,
        from: View<'_, u8>,
        mut take: impl FnMut(Range<usize>, &[u8]),
    ) -> Result<(), Error> {
        let piece = self.piece();
        let ranges: Vec<_> =
            (0..from.len()).step_by(piece).map(|start| start..from.len().min(start + piece)).collect();
        for i in 0..ranges.len() + 1 {
            if let Some(range) = ranges.get(i) {
                let (pinned, there) = &mut self.slots[i % STAGES];
                there.wait()?;
                // SAFETY: as above.
                unsafe {
                    self.stream.enqueue_copy_out(&mut pinned[..range.len()], from.range(range.clone()))?
                };
                self.stream.record(there)?;
            }
            if let Some(before) = i.checked_sub(1) {
                let (pinned, there) = &mut self.slots[before % STAGES];
                there.wait()?;
                take(ranges[before].clone(), &pinned[..ranges[before].len()]);
            }
        }
        Ok(())
    }

    /// Bytes of a piece: a slot may have been kept from a larger sort.
    fn piece(&self) -> usize {
        self.slots.iter().map(|slot| slot.0.len().min(PIECE_BYTES)).min().unwrap_or(0).max(1)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // Before the memory goes that a copy may still use.
        let done = self.stream.wait();
        // A lost device has no use for it.
        if let (Ok(()), Ok(mut kept)) = (done, self.kept.lock()) {
            kept.extend(self.slots.drain(..).map(|slot| slot.0));
        }
    }
}
