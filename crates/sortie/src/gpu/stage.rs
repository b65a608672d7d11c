//! Pinned memory on the way to a device and back, piece by piece.

use std::mem::MaybeUninit;
use std::ops::Range;

use sortie_device::{Event, Pinned, Stream, View};

use super::Gpu;
use super::host_segments::{bytes, bytes_mut, copy};
use crate::{Bound, Error};

/// Pieces under way at a time: one between host and pinned memory, one between that and the device.
const STAGES: usize = 2;

/// One array or text at a time goes through it.
pub(super) struct Stage {
    pub stream: Stream,
    slots: Vec<(Pinned<u8>, Event)>,
    threads: usize,
}

impl Stage {
    /// Pinned memory of a stage with such pieces.
    pub fn bytes(piece: usize) -> usize {
        STAGES * piece
    }

    /// With pieces of at most so many bytes.
    pub fn new(gpu: &Gpu, piece: usize, threads: usize) -> Result<Stage, Error> {
        let device = gpu.device();
        let slot = |i: usize| -> Result<_, Error> {
            let pinned = device.alloc_pinned(piece).map_err(|error| match error {
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
        Ok(Stage {
            stream: device.stream()?,
            slots: (0..STAGES).map(slot).collect::<Result<_, _>>()?,
            threads,
        })
    }

    /// Returns when all has left the host's memory.
    pub fn copy_in(&mut self, to: View<'_, u8>, from: &[MaybeUninit<u8>]) -> Result<(), Error> {
        let threads = self.threads;
        self.fill_in(to, |range, pinned| copy(pinned, &from[range], threads))
    }

    /// Copies what `fill` writes for each range of it. Returns when all has left the host's memory.
    pub fn fill_in(
        &mut self,
        to: View<'_, u8>,
        mut fill: impl FnMut(Range<usize>, &mut [MaybeUninit<u8>]),
    ) -> Result<(), Error> {
        let piece = self.slots[0].0.len().max(1);
        for (i, start) in (0..to.len()).step_by(piece).enumerate() {
            let range = start..to.len().min(start + piece);
            let (pinned, free) = &mut self.slots[i % STAGES];
            free.wait()?;
            let pinned = &mut pinned[..range.len()];
            fill(range.clone(), bytes_mut(pinned));
            // SAFETY: the pinned memory is not touched until its event has come.
            unsafe { self.stream.enqueue_copy_in(to.range(range), pinned)? };
            self.stream.record(free)?;
        }
        Ok(())
    }

    /// Returns when all is in the host's memory.
    pub fn copy_out(&mut self, to: &mut [MaybeUninit<u8>], from: View<'_, u8>) -> Result<(), Error> {
        let piece = self.slots[0].0.len().max(1);
        let threads = self.threads;
        let mut parts: Vec<&mut [MaybeUninit<u8>]> = to.chunks_mut(piece).collect();
        for i in 0..parts.len() + 1 {
            if i < parts.len() {
                let len = parts[i].len();
                let (pinned, there) = &mut self.slots[i % STAGES];
                there.wait()?;
                // SAFETY: as above.
                unsafe {
                    self.stream
                        .enqueue_copy_out(&mut pinned[..len], from.range(i * piece..i * piece + len))?
                };
                self.stream.record(there)?;
            }
            if let Some(before) = i.checked_sub(1) {
                let (pinned, there) = &mut self.slots[before % STAGES];
                there.wait()?;
                let len = parts[before].len();
                copy(parts[before], bytes(&pinned[..len]), threads);
            }
        }
        Ok(())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        // Before the memory goes that a copy may still use.
        let _ = self.stream.wait();
    }
}
