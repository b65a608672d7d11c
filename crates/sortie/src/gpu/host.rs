//! Segments that lie in host memory: in chunks through pinned buffers, so that one chunk is copied in while another is
//! sorted and a third is copied out.

use std::ops::Range;
use std::time::Instant;

use rayon::prelude::*;
use sortie_device::{Buffer, Event, Pinned, Stream};

use super::memory::{self, Chunk, Plan, Request};
use super::{Gpu, Segments};
use crate::key::{Bits, Code};
use crate::plan::COPIED_BY_A_TASK_BYTES;
use crate::{Bound, Error, Order, Ran, Report};

/// What the caller of a sort of host segments allows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowed {
    /// Threads of the current rayon pool that may copy; with 1, rayon is not called.
    pub threads: usize,
    /// Most scratch in bytes, pinned memory and the device's together.
    pub memory_limit: u64,
}

/// Sorts every segment by itself.
///
/// All memory is had before the first chunk is on its way, so too little leaves the keys as they are. A chunk comes back
/// only when it is sorted, so they stay a permutation whatever else fails.
pub(crate) fn sort_segments<B: Bits>(
    gpu: &Gpu,
    keys: &mut [B],
    segments: crate::Segments<'_>,
    code: Code,
    order: Order,
    allowed: Allowed,
) -> Result<Report, Error> {
    let start = Instant::now();
    let request = Request {
        segments,
        keys: keys.len(),
        key_bytes: size_of::<B>(),
        shared_per_block: gpu.device().properties().shared_per_block,
    };
    let reserve = || request.reserve(gpu.device(), allowed.memory_limit, |plan| Way::<B>::new(gpu, plan));
    let (plan, mut way) = reserve().or_else(|error| match error {
        Error::Memory { bound: Bound::Device, .. } => {
            // What was kept for later calls may be all that is missing.
            gpu.give_back_scratch();
            reserve()
        }
        other => Err(other),
    })?;
    let chunks = &plan.chunks;
    for (i, chunk) in chunks.iter().enumerate() {
        let slot = &mut way.slots[i % plan.slots];
        slot.finish(keys, allowed.threads)?;
        copy(&mut slot.pinned[..chunk.keys.len()], &keys[chunk.keys.clone()], allowed.threads);
        slot.begin(&way.gpu, &way.offsets, chunk, segments, code, order)?;
    }
    for i in 0..plan.slots {
        way.slots[(chunks.len() + i) % plan.slots].finish(keys, allowed.threads)?;
    }
    let mut report = Report { scratch_peak: plan.bytes(), ..Report::default() };
    let bytes = size_of_val(keys);
    report.push(Ran::Cuda, "finish", start.elapsed(), bytes, bytes);
    Ok(report)
}

/// The memory for all chunks.
struct Way<B> {
    slots: Vec<Slot<B>>,
    /// Of the chunk that is being sorted.
    offsets: Buffer<u64>,
    /// With the scratch that the kernels need.
    gpu: Gpu,
}

impl<B: Bits> Way<B> {
    fn new(gpu: &Gpu, plan: &Plan) -> Result<Self, Error> {
        let device = gpu.device();
        let gpu = gpu.with_scratch(memory::alloc(device, plan.scratch)?);
        let offsets = memory::alloc(device, plan.offsets)?;
        let mut slots: Vec<Slot<B>> = Vec::new();
        for _ in 0..plan.slots {
            let slot = Slot::new(&gpu, plan.keys).map_err(|error| match error {
                Error::Device(sortie_device::Error::OutOfPinned { .. }) => Error::Memory {
                    bound: Bound::Host,
                    needed: plan.pinned(),
                    available: plan.pinned() / plan.slots as u64 * slots.len() as u64,
                    hint: "it is pinned memory, for a GPU; use the CPU engine, or see ulimit -l",
                },
                other => other,
            })?;
            slots.push(slot);
        }
        Ok(Way { slots, offsets, gpu })
    }
}

/// What a chunk needs on its way.
struct Slot<B> {
    stream: Stream,
    pinned: Pinned<B>,
    buffer: Buffer<B>,
    sorted: Event,
    /// The places of the keys under way.
    under_way: Option<Range<usize>>,
}

impl<B: Bits> Slot<B> {
    fn new(gpu: &Gpu, keys: usize) -> Result<Self, Error> {
        let device = gpu.device();
        Ok(Slot {
            stream: device.stream()?,
            buffer: memory::alloc(device, keys)?,
            pinned: device.alloc_pinned(keys)?,
            sorted: device.event()?,
            under_way: None,
        })
    }

    /// Sends a chunk, whose keys are in the pinned memory, on its way there and back.
    fn begin(
        &mut self,
        gpu: &Gpu,
        offsets: &Buffer<u64>,
        chunk: &Chunk,
        segments: crate::Segments<'_>,
        code: Code,
        order: Order,
    ) -> Result<(), Error> {
        let count = chunk.keys.len();
        let view = self.buffer.range(0..count);
        // SAFETY: the slot's pinned memory is not touched until `finish` has waited.
        unsafe { self.stream.enqueue_copy_in(view, &self.pinned[..count])? };
        match segments {
            crate::Segments::Length(length) => {
                // SAFETY: the keys are the slot's own; all that uses them is on its stream.
                let pending = unsafe {
                    gpu.sort_bits(&self.stream, view, Segments::Length(length as u64), code, order)?
                };
                drop(pending);
            }
            crate::Segments::Offsets(all) => {
                let part = &all[chunk.segments.start..=chunk.segments.end];
                let host: Vec<u64> = part.iter().map(|&offset| (offset - chunk.keys.start) as u64).collect();
                let there = offsets.range(0..host.len());
                self.stream.copy_in(there, &host)?;
                let on_device = Segments::Offsets { offsets: there, longest: chunk.longest as u64 };
                // SAFETY: as above; the offsets stay until the sort is done.
                unsafe { gpu.sort_bits(&self.stream, view, on_device, code, order)? }.wait()?;
            }
        }
        // SAFETY: as for the copy in.
        unsafe { self.stream.enqueue_copy_out(&mut self.pinned[..count], view)? };
        self.stream.record(&self.sorted)?;
        self.under_way = Some(chunk.keys.clone());
        Ok(())
    }

    /// Waits for the chunk under way, if there is one, and puts it back in its place.
    fn finish(&mut self, keys: &mut [B], threads: usize) -> Result<(), Error> {
        if let Some(range) = self.under_way.take() {
            self.sorted.wait()?;
            let count = range.len();
            copy(&mut keys[range], &self.pinned[..count], threads);
        }
        Ok(())
    }
}

impl<B> Drop for Slot<B> {
    fn drop(&mut self) {
        // Before the memory goes that a copy may still use.
        let _ = self.stream.wait();
    }
}

/// Copies by all threads: one alone is slower than the way to a device.
pub(crate) fn copy<B: Bits>(to: &mut [B], from: &[B], threads: usize) {
    if threads < 2 {
        return to.copy_from_slice(from);
    }
    let each = COPIED_BY_A_TASK_BYTES / size_of::<B>();
    to.par_chunks_mut(each).zip(from.par_chunks(each)).for_each(|(to, from)| to.copy_from_slice(from));
}
