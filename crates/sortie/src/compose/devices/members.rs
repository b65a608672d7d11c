//! The share, the streams and the scratch memory of each device of a sort.

use std::sync::Arc;

use sortie_device::{Buffer, Stream, View};

use super::Share;
use super::split::Cut;
use crate::Error;
use crate::compose::tuning::{LINKS, SPARE_DEVIATIONS, SPARE_SAMPLED};
use crate::gpu::Gpu;
use crate::gpu::alloc::scratch;
use crate::gpu::kernels::array::RANGES;
use crate::gpu::{Divided, Place};
use crate::key::Bits;

/// All devices of a sort. Waits for all of them before any frees memory, because they read each other's memory.
pub(super) struct Members<'a, B> {
    pub members: Vec<Member<'a, B>>,
    pub divided: Divided,
}

/// One device.
pub(super) struct Member<'a, B> {
    pub gpu: &'a Gpu,
    /// The stream for moves and sorts.
    pub stream: Stream,
    /// The streams for fetching.
    pub links: Vec<Stream>,
    /// The share, including the room after its keys.
    pub share: Place<'a, B>,
    pub count: usize,
    /// The keys by range, then the payloads, then the counts of ranges. Before that, the sample.
    pub scratch: Option<Buffer<u32>>,
    /// The number of keys for which the ranges have room.
    pub room: usize,
    pub starts: [usize; RANGES + 1],
    pub counts: [usize; RANGES],
    /// The workspace for sorts.
    pub workspace: Option<Buffer<u32>>,
}

impl<'a, B: Bits> Members<'a, B> {
    pub fn new(
        gpus: &'a [Arc<Gpu>],
        shares: &[Share<'a, B>],
        payloads: &[View<'a, u8>],
        divided: Divided,
    ) -> Result<Self, Error> {
        let member = |(i, gpu): (usize, &'a Arc<Gpu>)| -> Result<Member<'a, B>, Error> {
            let device = gpu.device();
            Ok(Member {
                gpu,
                stream: device.stream()?,
                links: (0..LINKS).map(|_| device.stream()).collect::<Result<_, _>>()?,
                share: Place {
                    keys: shares[i].keys,
                    payload: payloads.get(i).map_or(0, |payload| payload.address()),
                },
                count: shares[i].count,
                scratch: None,
                room: 0,
                starts: [0; RANGES + 1],
                counts: [0; RANGES],
                workspace: None,
            })
        };
        let members = gpus.iter().enumerate().map(member).collect::<Result<_, _>>()?;
        Ok(Members { members, divided })
    }
}

impl<B> Drop for Members<'_, B> {
    fn drop(&mut self) {
        for member in &self.members {
            for stream in member.links.iter().chain([&member.stream]) {
                // The error has been reported, or will be.
                let _ = stream.wait();
            }
        }
    }
}

impl<B: Bits> Member<'_, B> {
    /// Allocates scratch memory for the ranges, if `sampled` keys are sampled. The size is the same for all inputs of a
    /// length.
    pub fn reserve(&mut self, sampled: usize, payload_bytes: usize) -> Result<(), Error> {
        let spare = match sampled == self.count {
            true => 0,
            // The spare room of all ranges together, enough for any sample of this size.
            false => scaled(
                (SPARE_DEVIATIONS * ((RANGES * sampled) as f64).sqrt()) as usize + RANGES * SPARE_SAMPLED,
                self.count,
                sampled,
            ),
        };
        self.room = (self.count + spare + RANGES).next_multiple_of(16);
        let moved = (self.room * (size_of::<B>() + payload_bytes)).div_ceil(4);
        let words = moved.next_multiple_of(2) + 2 * RANGES;
        if self.scratch.as_ref().is_none_or(|scratch| scratch.len() < words) {
            self.scratch = None;
            self.scratch = Some(scratch(&self.stream, words)?);
        }
        Ok(())
    }

    /// Estimates the room for each range from a sample of this device's codes.
    pub fn guess_starts(&mut self, cut: &Cut<B>, sample: &[B]) {
        let mut rooms = [0; RANGES];
        sample.iter().for_each(|&code| rooms[cut.range_of(code)] += 1);
        if sample.len() < self.count {
            rooms = rooms.map(|drawn: usize| {
                let most = drawn + (SPARE_DEVIATIONS * (drawn as f64).sqrt()) as usize + SPARE_SAMPLED;
                scaled(most, self.count, sample.len())
            });
        }
        self.starts = starts_of(rooms);
    }

    fn scratch(&self) -> &Buffer<u32> {
        self.scratch.as_ref().expect("reserved before")
    }

    /// The scratch memory for keys.
    pub fn keys(&self) -> View<'_, B> {
        let words = (self.room * size_of::<B>()) / 4;
        self.scratch().range(0..words).cast()
    }

    /// The scratch memory for keys and payloads by range.
    pub fn ranges(&self, payload_bytes: usize) -> Place<'_, B> {
        let payload = self.scratch().address() + (self.room * size_of::<B>()) as u64;
        Place { keys: self.keys(), payload: if payload_bytes == 0 { 0 } else { payload } }
    }

    pub fn counts(&self) -> View<'_, u64> {
        let end = self.scratch().len() / 2 * 2;
        self.scratch().range(end - 2 * RANGES..end).cast()
    }
}

/// Scales a number of sampled keys to all keys.
fn scaled(drawn: usize, count: usize, sampled: usize) -> usize {
    (drawn as u128 * count as u128).div_ceil(sampled as u128) as usize
}

pub(super) fn starts_of(rooms: [usize; RANGES]) -> [usize; RANGES + 1] {
    let mut starts = [0; RANGES + 1];
    for range in 0..RANGES {
        starts[range + 1] = starts[range] + rooms[range];
    }
    starts
}
