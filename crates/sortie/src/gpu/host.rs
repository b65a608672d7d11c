//! Segments that lie in host memory: in chunks through pinned buffers, so that one chunk is copied in while another is
//! sorted and a third is copied out.

use std::ops::Range;
use std::time::Instant;

use rayon::prelude::*;
use sortie_device::{Buffer, Event, Pinned, Stream};

use super::{Gpu, Segments};
use crate::key::{Bits, Code};
use crate::plan::{CHUNK_BYTES, CHUNKS_UNDER_WAY, COPIED_BY_A_TASK_BYTES};
use crate::{Error, Order, Ran, Report};

/// Sorts every segment by itself.
///
/// A chunk comes back only when it is sorted, so the keys stay a permutation whatever fails.
pub(crate) fn sort_segments<B: Bits>(
    gpu: &Gpu,
    keys: &mut [B],
    segments: crate::Segments<'_>,
    code: Code,
    order: Order,
) -> Result<Report, Error> {
    let start = Instant::now();
    let chunks = chunks(segments, keys.len(), CHUNK_BYTES / size_of::<B>());
    let largest = chunks.iter().map(|chunk| chunk.keys.len()).max().unwrap_or(0);
    let mut slots = Vec::new();
    for _ in 0..chunks.len().min(CHUNKS_UNDER_WAY) {
        slots.push(Slot::<B>::new(gpu, largest)?);
    }
    for (i, chunk) in chunks.iter().enumerate() {
        let slot = &mut slots[i % CHUNKS_UNDER_WAY];
        slot.finish(keys)?;
        slot.begin(gpu, keys, chunk, segments, code, order)?;
    }
    let under_way = slots.len();
    for i in 0..under_way {
        slots[(chunks.len() + i) % under_way].finish(keys)?;
    }
    let mut report = Report::default();
    let bytes = size_of_val(keys);
    report.push(Ran::Cuda, "finish", start.elapsed(), bytes, bytes);
    Ok(report)
}

/// Neighbouring segments, and the keys that hold them.
struct Chunk {
    segments: Range<usize>,
    keys: Range<usize>,
}

/// Cuts the segments into chunks of up to `most` keys, or of one segment that is longer.
fn chunks(segments: crate::Segments<'_>, keys: usize, most: usize) -> Vec<Chunk> {
    let mut chunks: Vec<Chunk> = Vec::new();
    for i in 0..segments.count(keys) {
        let range = segments.range(i);
        match chunks.last_mut() {
            Some(chunk) if range.end - chunk.keys.start <= most => {
                chunk.segments.end = i + 1;
                chunk.keys.end = range.end;
            }
            _ => chunks.push(Chunk { segments: i..i + 1, keys: range }),
        }
    }
    chunks
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
            pinned: device.alloc_pinned(keys)?,
            buffer: device.alloc(keys)?,
            sorted: device.event()?,
            under_way: None,
        })
    }

    /// Sends a chunk on its way there and back.
    fn begin(
        &mut self,
        gpu: &Gpu,
        keys: &[B],
        chunk: &Chunk,
        segments: crate::Segments<'_>,
        code: Code,
        order: Order,
    ) -> Result<(), Error> {
        let count = chunk.keys.len();
        let view = self.buffer.range(0..count);
        copy(&mut self.pinned[..count], &keys[chunk.keys.clone()]);
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
            crate::Segments::Offsets(offsets) => {
                let part = &offsets[chunk.segments.start..=chunk.segments.end];
                let host: Vec<u64> = part.iter().map(|&offset| (offset - chunk.keys.start) as u64).collect();
                let longest = host.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
                let there = gpu.device().alloc::<u64>(host.len())?;
                self.stream.copy_in(there.view(), &host)?;
                let on_device = Segments::Offsets { offsets: there.view(), longest };
                // SAFETY: as above; the offsets live until the sort is done.
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
    fn finish(&mut self, keys: &mut [B]) -> Result<(), Error> {
        if let Some(range) = self.under_way.take() {
            self.sorted.wait()?;
            let count = range.len();
            copy(&mut keys[range], &self.pinned[..count]);
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
fn copy<B: Bits>(to: &mut [B], from: &[B]) {
    let each = COPIED_BY_A_TASK_BYTES / size_of::<B>();
    to.par_chunks_mut(each).zip(from.par_chunks(each)).for_each(|(to, from)| to.copy_from_slice(from));
}
