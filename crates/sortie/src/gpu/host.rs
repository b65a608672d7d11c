//! Segments that lie in host memory: in chunks through pinned buffers, so that one chunk is copied in while another is
//! sorted and a third is copied out.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::time::Instant;

use bytemuck::Pod;
use rayon::prelude::*;
use sortie_device::{Buffer, Event, Pinned, Stream, View};

use super::segments::Moved;
use super::{Gpu, Segments, worker};
use crate::key::{Bits, Code};
use crate::plan::{CHUNK_BYTES, CHUNKS_UNDER_WAY, COPIED_BY_A_TASK_BYTES};
use crate::{Error, Order, Ran, Report};

/// A payload on the host: so many bytes a key, 4, 8 or 16, which may be of any type.
pub(crate) struct Payload<'a> {
    bytes: &'a mut [MaybeUninit<u8>],
    each: usize,
}

impl<'a> Payload<'a> {
    /// None where the type has another size.
    pub fn of<V>(payload: &'a mut [V]) -> Option<Payload<'a>> {
        let each = size_of::<V>();
        let (at, len) = (payload.as_mut_ptr().cast(), size_of_val(payload));
        // SAFETY: the same memory for as long; a sort leaves a permutation of its elements.
        let bytes = unsafe { std::slice::from_raw_parts_mut(at, len) };
        matches!(each, 4 | 8 | 16).then_some(Payload { bytes, each })
    }

    /// Of these keys.
    fn range(&mut self, keys: Range<usize>) -> &mut [MaybeUninit<u8>] {
        &mut self.bytes[keys.start * self.each..keys.end * self.each]
    }
}

/// Sorts every segment by itself, and moves each payload with its key.
///
/// A chunk comes back only when it is sorted, so the keys stay a permutation whatever fails.
pub(crate) fn sort_segments<B: Bits>(
    gpu: &Gpu,
    keys: &mut [B],
    mut payload: Option<Payload<'_>>,
    segments: crate::Segments<'_>,
    code: Code,
    order: Order,
) -> Result<Report, Error> {
    let start = Instant::now();
    let each = payload.as_ref().map_or(0, |payload| payload.each);
    let chunks = chunks(segments, keys.len(), CHUNK_BYTES / (size_of::<B>() + each));
    let largest = chunks.iter().map(|chunk| chunk.keys.len()).max().unwrap_or(0);
    let mut slots = Vec::new();
    for _ in 0..chunks.len().min(CHUNKS_UNDER_WAY) {
        slots.push(Slot::<B>::new(gpu, largest, each)?);
    }
    for (i, chunk) in chunks.iter().enumerate() {
        let slot = &mut slots[i % CHUNKS_UNDER_WAY];
        slot.finish(keys, payload.as_mut())?;
        slot.begin(gpu, keys, payload.as_mut(), chunk, segments, code, order)?;
    }
    let under_way = slots.len();
    for i in 0..under_way {
        slots[(chunks.len() + i) % under_way].finish(keys, payload.as_mut())?;
    }
    let mut report = Report::default();
    let bytes = size_of_val(keys) + keys.len() * each;
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
    keys: Lane<B>,
    payload: Lane<u8>,
    sorted: Event,
    /// The places of the keys under way.
    under_way: Option<Range<usize>>,
}

/// Pinned memory, and the device memory that it is copied to and from.
struct Lane<T> {
    pinned: Pinned<T>,
    buffer: Buffer<T>,
}

impl<T: Pod> Lane<T> {
    fn new(gpu: &Gpu, len: usize) -> Result<Self, Error> {
        Ok(Lane { pinned: gpu.device().alloc_pinned(len)?, buffer: gpu.device().alloc(len)? })
    }

    /// # Safety
    /// The pinned memory is not touched until the stream has come so far.
    unsafe fn copy_in(&self, stream: &Stream, count: usize) -> Result<View<'_, T>, Error> {
        let view = self.buffer.range(0..count);
        // SAFETY: as the caller states.
        unsafe { stream.enqueue_copy_in(view, &self.pinned[..count])? };
        Ok(view)
    }

    /// # Safety
    /// As of `copy_in`.
    unsafe fn copy_out(&mut self, stream: &Stream, count: usize) -> Result<(), Error> {
        // SAFETY: as the caller states.
        Ok(unsafe { stream.enqueue_copy_out(&mut self.pinned[..count], self.buffer.range(0..count))? })
    }
}

impl<B: Bits> Slot<B> {
    /// For so many keys, with payloads of so many bytes each.
    fn new(gpu: &Gpu, keys: usize, each: usize) -> Result<Self, Error> {
        Ok(Slot {
            stream: gpu.device().stream()?,
            keys: Lane::new(gpu, keys)?,
            payload: Lane::new(gpu, keys * each)?,
            sorted: gpu.device().event()?,
            under_way: None,
        })
    }

    /// Sends a chunk on its way there and back.
    #[allow(clippy::too_many_arguments)]
    fn begin(
        &mut self,
        gpu: &Gpu,
        keys: &[B],
        payload: Option<&mut Payload<'_>>,
        chunk: &Chunk,
        segments: crate::Segments<'_>,
        code: Code,
        order: Order,
    ) -> Result<(), Error> {
        let count = chunk.keys.len();
        copy(bytes_mut(&mut self.keys.pinned[..count]), bytes(&keys[chunk.keys.clone()]));
        let mut each = 0;
        if let Some(payload) = payload {
            each = payload.each;
            copy(bytes_mut(&mut self.payload.pinned[..count * each]), payload.range(chunk.keys.clone()));
        }
        // SAFETY: the slot's pinned memory is not touched until `finish` has waited.
        let (there, moved) = unsafe {
            (self.keys.copy_in(&self.stream, count)?, self.payload.copy_in(&self.stream, count * each)?)
        };
        let kind = if each == 0 { worker::Payload::None } else { worker::Payload::Moved(each) };
        let moved = Moved { keys: there, payload: moved.address(), kind };
        match segments {
            crate::Segments::Length(length) => {
                // SAFETY: the keys are the slot's own; all that uses them is on its stream.
                let pending = unsafe {
                    gpu.sort_moved(&self.stream, moved, Segments::Length(length as u64), code, order)?
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
                unsafe { gpu.sort_moved(&self.stream, moved, on_device, code, order)? }.wait()?;
            }
        }
        // SAFETY: as for the copy in.
        unsafe {
            self.keys.copy_out(&self.stream, count)?;
            self.payload.copy_out(&self.stream, count * each)?;
        }
        self.stream.record(&self.sorted)?;
        self.under_way = Some(chunk.keys.clone());
        Ok(())
    }

    /// Waits for the chunk under way, if there is one, and puts it back in its place.
    fn finish(&mut self, keys: &mut [B], payload: Option<&mut Payload<'_>>) -> Result<(), Error> {
        if let Some(range) = self.under_way.take() {
            self.sorted.wait()?;
            let count = range.len();
            copy(bytes_mut(&mut keys[range.clone()]), bytes(&self.keys.pinned[..count]));
            if let Some(payload) = payload {
                let moved = &self.payload.pinned[..count * payload.each];
                copy(payload.range(range), bytes(moved));
            }
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

fn bytes<T: Pod>(slice: &[T]) -> &[MaybeUninit<u8>] {
    // SAFETY: the same memory; any byte may be seen as one that need not be initialised.
    unsafe { std::slice::from_raw_parts(slice.as_ptr().cast(), size_of_val(slice)) }
}

fn bytes_mut<T: Pod>(slice: &mut [T]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: as above; what is written here are bytes of keys and payloads as they were read.
    unsafe { std::slice::from_raw_parts_mut(slice.as_mut_ptr().cast(), size_of_val(slice)) }
}

/// Copies by all threads: one alone is slower than the way to a device.
fn copy(to: &mut [MaybeUninit<u8>], from: &[MaybeUninit<u8>]) {
    to.par_chunks_mut(COPIED_BY_A_TASK_BYTES)
        .zip(from.par_chunks(COPIED_BY_A_TASK_BYTES))
        .for_each(|(to, from)| to.copy_from_slice(from));
}
