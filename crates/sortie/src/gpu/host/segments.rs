//! Segments that lie in host memory: in chunks through pinned buffers, so that one chunk is copied in while another is
//! sorted and a third is copied out. What lies in pinned memory already goes to the device and back without them.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::time::Instant;

use bytemuck::Pod;
use rayon::prelude::*;
use sortie_device::{Buffer, Event, Pinned, Stream, View};

use super::memory::{Plan, Request, SegmentChunk};
use crate::gpu::alloc::alloc;
use crate::gpu::segments::Moved;
use crate::gpu::segments::{Content, Payload};
use crate::gpu::{DeviceSegments, Gpu};
use crate::key::{Bits, Code, Form};
use crate::plan::COPIED_BY_A_TASK_BYTES;
use crate::{Bound, Error, Key, Order, Ran, Report};

/// What the caller of a sort of host segments allows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Allowed {
    /// Threads of the current rayon pool that may copy; with 1, rayon is not called.
    pub threads: usize,
    /// Most scratch in bytes, pinned memory and the device's together.
    pub memory_limit: u64,
}

/// Keys on the host, and what moves with them.
pub(crate) struct Host<'a, B> {
    pub keys: &'a mut [B],
    pub payload: Option<HostPayload<'a>>,
    /// Whether the keys are in pinned memory. Only keys alone are sorted there.
    pub pinned: bool,
}

impl<B> Host<'_, B> {
    /// The same for a first try.
    pub fn reborrow(&mut self) -> Host<'_, B> {
        let payload = self.payload.as_mut().map(HostPayload::reborrow);
        Host { keys: self.keys, payload, pinned: self.pinned }
    }

    /// Some of the keys, and their payload.
    pub fn range(&mut self, keys: Range<usize>) -> (&mut [B], Option<HostPayload<'_>>) {
        let payload = self.payload.as_mut().map(|payload| {
            let each = payload.each;
            HostPayload { bytes: payload.range(keys.clone()), each }
        });
        (&mut self.keys[keys], payload)
    }
}

/// A payload on the host: so many bytes a key, 4, 8 or 16, which may be of any type.
pub(crate) struct HostPayload<'a> {
    bytes: &'a mut [MaybeUninit<u8>],
    each: usize,
}

impl<'a> HostPayload<'a> {
    /// None where the type has another size.
    ///
    /// # Safety
    /// What is written to it leaves a permutation of the elements, whatever fails, and no element is read or dropped before
    /// that is so.
    pub unsafe fn of<V>(payload: &'a mut [V]) -> Option<HostPayload<'a>> {
        let each = size_of::<V>();
        let (at, len) = (payload.as_mut_ptr().cast(), size_of_val(payload));
        // SAFETY: the same memory for as long; the caller vouches for what is written.
        let bytes = unsafe { std::slice::from_raw_parts_mut(at, len) };
        matches!(each, 4 | 8 | 16).then_some(HostPayload { bytes, each })
    }

    /// Elements that any bytes are.
    pub fn of_pod<V: Pod>(payload: &'a mut [V]) -> Option<HostPayload<'a>> {
        // SAFETY: what a sort writes are bytes of the payload, and whatever those are, they are elements.
        unsafe { HostPayload::of(payload) }
    }

    /// So many bytes for each key.
    pub fn of_bytes(bytes: &'a mut [u8], each: usize) -> Option<HostPayload<'a>> {
        let payload = HostPayload::of_pod(bytemuck::try_cast_slice_mut::<u8, [u8; 4]>(bytes).ok()?);
        payload.filter(|_| matches!(each, 4 | 8 | 16)).map(|payload| HostPayload { each, ..payload })
    }

    /// As elements of their size.
    pub fn elements<const N: usize>(&mut self) -> &mut [[MaybeUninit<u8>; N]] {
        assert_eq!(self.each, N);
        let (elements, []) = self.bytes.as_chunks_mut() else { unreachable!("there are whole elements") };
        elements
    }

    pub fn reborrow(&mut self) -> HostPayload<'_> {
        HostPayload { bytes: self.bytes, each: self.each }
    }

    /// Bytes of a key's.
    pub fn each(&self) -> usize {
        self.each
    }

    /// Of these keys.
    pub fn range(&mut self, keys: Range<usize>) -> &mut [MaybeUninit<u8>] {
        &mut self.bytes[keys.start * self.each..keys.end * self.each]
    }
}

impl Gpu {
    /// Sorts every segment of keys in pinned memory by itself, and waits: they are copied to the device and back in chunks
    /// of 64 MiB, while others are sorted, and through no other memory of the host.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let gpu = sortie::gpu::Gpu::cuda(0)?;
    /// let mut keys = gpu.device().alloc_pinned::<f32>(1000 * 4096)?;
    /// keys.fill_with(|| 0.5);
    /// gpu.sort_pinned_segments(&mut keys, sortie::Segments::Length(1000), sortie::Order::default())?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// Memory: up to three chunks on the device, or of the longest segment, and a copy of it where it does not fit a block.
    ///
    /// # Errors
    /// [`Error::Segments`] where they do not fit the keys; [`Error::Unsupported`] for keys without codes of 8 to 64 bits;
    /// [`Error::Memory`] where the device has too little, with the keys untouched; [`Error::Device`] where the device
    /// fails: keys that were on their way back are unspecified then.
    pub fn sort_pinned_segments<K: Key + Pod>(
        &self,
        keys: &mut Pinned<K>,
        segments: crate::Segments<'_>,
        order: Order,
    ) -> Result<Report, Error> {
        segments.check(keys.len())?;
        let Form::Bits(code) = K::FORM else {
            return Err(Error::Unsupported("only keys of fixed width are sorted on a GPU".into()));
        };
        let keys: &mut [K::Bits] = bytemuck::cast_slice_mut(&mut keys[..]);
        let host = Host { keys, payload: None, pinned: true };
        sort_segments(self, host, segments, code, order, Allowed { threads: 1, memory_limit: u64::MAX })
    }
}

/// Sorts every segment by itself, and moves each payload with its key.
///
/// All memory is had before the first chunk is on its way, so too little leaves the keys as they are. A chunk comes back
/// only when it is sorted, so they stay a permutation whatever else fails.
pub(crate) fn sort_segments<B: Bits>(
    gpu: &Gpu,
    mut host: Host<'_, B>,
    segments: crate::Segments<'_>,
    code: Code,
    order: Order,
    allowed: Allowed,
) -> Result<Report, Error> {
    if B::WIDTH > 64 {
        return Err(Error::Unsupported(format!(
            "segments of keys of {} bits are not sorted on a GPU; use the CPU engine",
            B::WIDTH
        )));
    }
    let start = Instant::now();
    let payload = host.payload.as_ref().map_or(Payload::None, |payload| Payload::Moved(payload.each));
    let request = Request {
        segments,
        keys: host.keys.len(),
        content: Content { key_bytes: size_of::<B>(), payload, code, order },
        pinned: host.pinned,
        shared_per_block: gpu.device().properties().shared_per_block,
    };
    let reserve =
        || request.reserve(gpu.device(), allowed.memory_limit, |plan| SegmentPipeline::<B>::new(gpu, plan));
    let (plan, mut way) = gpu.take_room(reserve)?;
    let chunks = &plan.chunks;
    for (i, chunk) in chunks.iter().enumerate() {
        let slot = &mut way.slots[i % plan.slots];
        slot.finish(&mut host, allowed.threads)?;
        slot.copy_in(&mut host, chunk, allowed.threads)?;
        slot.sort(&way.gpu, &way.offsets, &request, chunk)?;
        slot.copy_out(&mut host, chunk)?;
    }
    for i in 0..plan.slots {
        way.slots[(chunks.len() + i) % plan.slots].finish(&mut host, allowed.threads)?;
    }
    let mut report = Report { scratch_peak: plan.bytes(), ..Report::default() };
    let bytes = host.keys.len() * request.bytes_a_key();
    report.push(Ran::Cuda, "finish", start.elapsed(), bytes, bytes);
    Ok(report)
}

/// The memory for all chunks.
struct SegmentPipeline<B> {
    slots: Vec<Slot<B>>,
    /// Of the chunk that is being sorted.
    offsets: Buffer<u64>,
    /// With the scratch that the kernels need.
    gpu: Gpu,
}

impl<B: Bits> SegmentPipeline<B> {
    fn new(gpu: &Gpu, plan: &Plan) -> Result<Self, Error> {
        let device = gpu.device();
        let gpu = gpu.with_scratch(vec![alloc(device, plan.scratch)?]);
        let offsets = alloc(device, plan.offsets)?;
        let mut slots: Vec<Slot<B>> = Vec::new();
        for _ in 0..plan.slots {
            let slot = Slot::new(&gpu, plan).map_err(|error| match error {
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
        Ok(SegmentPipeline { slots, offsets, gpu })
    }
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

/// Device memory, and the pinned memory that is copied to and from it.
struct Lane<T> {
    buffer: Buffer<T>,
    pinned: Pinned<T>,
}

impl<T: Pod> Lane<T> {
    fn new(gpu: &Gpu, len: usize, pinned: usize) -> Result<Self, Error> {
        Ok(Lane { buffer: alloc(gpu.device(), len)?, pinned: gpu.device().alloc_pinned(pinned)? })
    }

    fn view(&self, count: usize) -> View<'_, T> {
        self.buffer.range(0..count)
    }
}

impl<B: Bits> Slot<B> {
    fn new(gpu: &Gpu, plan: &Plan) -> Result<Self, Error> {
        let payload = plan.keys * plan.payload_bytes;
        Ok(Slot {
            stream: gpu.device().stream()?,
            keys: Lane::new(gpu, plan.keys, if plan.through_pinned { plan.keys } else { 0 })?,
            payload: Lane::new(gpu, payload, payload)?,
            sorted: gpu.device().event()?,
            under_way: None,
        })
    }

    /// Sends a chunk to the device.
    fn copy_in(&mut self, host: &mut Host<'_, B>, chunk: &SegmentChunk, threads: usize) -> Result<(), Error> {
        let (keys, count) = (&host.keys[chunk.keys.clone()], chunk.keys.len());
        // From here on something of the slot is on its way.
        self.under_way = Some(chunk.keys.clone());
        let from = match host.pinned {
            true => keys,
            false => {
                copy(&mut self.keys.pinned[..count], keys, threads);
                &self.keys.pinned[..count]
            }
        };
        // SAFETY: pinned memory, the slot's or the host's, is not touched until `finish` or `drop` has waited.
        unsafe { self.stream.enqueue_copy_in(self.keys.view(count), from)? };
        if let Some(payload) = &mut host.payload {
            let moved = count * payload.each;
            // SAFETY: what is written are bytes of the payload, which are only copied on.
            let pinned = unsafe { bytes_mut(&mut self.payload.pinned[..moved]) };
            copy(pinned, payload.range(chunk.keys.clone()), threads);
            // SAFETY: as above.
            unsafe { self.stream.enqueue_copy_in(self.payload.view(moved), &self.payload.pinned[..moved])? };
        }
        Ok(())
    }

    /// Sorts what is on the device.
    fn sort(
        &self,
        gpu: &Gpu,
        offsets: &Buffer<u64>,
        request: &Request<'_>,
        chunk: &SegmentChunk,
    ) -> Result<(), Error> {
        let content = request.content;
        let moved = Moved {
            keys: self.keys.view(chunk.keys.len()),
            payload: self.payload.buffer.address(),
            kind: content.payload,
        };
        match request.segments {
            crate::Segments::Length(length) => {
                let segments = DeviceSegments::Length(length as u64);
                // SAFETY: the keys are the slot's own; all that uses them is on its stream.
                drop(unsafe { gpu.sort_moved(&self.stream, moved, segments, content.code, content.order)? });
            }
            crate::Segments::Offsets(all) => {
                let part = &all[chunk.segments.start..=chunk.segments.end];
                let host: Vec<u64> = part.iter().map(|&offset| (offset - chunk.keys.start) as u64).collect();
                let there = offsets.range(0..host.len());
                self.stream.copy_in(there, &host)?;
                let segments = DeviceSegments::Offsets { offsets: there, longest: chunk.longest as u64 };
                // SAFETY: as above; the offsets stay until the sort is done.
                unsafe { gpu.sort_moved(&self.stream, moved, segments, content.code, content.order)? }
                    .wait()?;
            }
        }
        Ok(())
    }

    /// Sends a sorted chunk back.
    fn copy_out(&mut self, host: &mut Host<'_, B>, chunk: &SegmentChunk) -> Result<(), Error> {
        let count = chunk.keys.len();
        let to = match host.pinned {
            true => &mut host.keys[chunk.keys.clone()],
            false => &mut self.keys.pinned[..count],
        };
        // SAFETY: as for the copy in.
        unsafe { self.stream.enqueue_copy_out(to, self.keys.buffer.range(0..count))? };
        if let Some(payload) = &host.payload {
            let moved = count * payload.each;
            let to = &mut self.payload.pinned[..moved];
            // SAFETY: as for the copy in.
            unsafe { self.stream.enqueue_copy_out(to, self.payload.buffer.range(0..moved))? };
        }
        self.stream.record(&self.sorted)?;
        Ok(())
    }

    /// Waits for the chunk under way, if there is one, and puts it back in its place.
    fn finish(&mut self, host: &mut Host<'_, B>, threads: usize) -> Result<(), Error> {
        if let Some(range) = self.under_way.take() {
            self.sorted.wait()?;
            let count = range.len();
            if !host.pinned {
                copy(&mut host.keys[range.clone()], &self.keys.pinned[..count], threads);
            }
            if let Some(payload) = &mut host.payload {
                let moved = count * payload.each;
                copy(payload.range(range), bytes(&self.payload.pinned[..moved]), threads);
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

pub(super) fn bytes<T: Pod>(slice: &[T]) -> &[MaybeUninit<u8>] {
    // SAFETY: the same memory; any byte may be seen as one that need not be initialised.
    unsafe { std::slice::from_raw_parts(slice.as_ptr().cast(), size_of_val(slice)) }
}

/// # Safety
/// No byte is written that is not initialised, but where it is only copied on, as a payload's.
pub(crate) unsafe fn bytes_mut<T: Pod>(slice: &mut [T]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: as above; the caller vouches for what is written.
    unsafe { std::slice::from_raw_parts_mut(slice.as_mut_ptr().cast(), size_of_val(slice)) }
}

/// Copies by all threads: one alone is slower than the way to a device.
pub(crate) fn copy<T: Copy + Send + Sync>(to: &mut [T], from: &[T], threads: usize) {
    if threads < 2 {
        return to.copy_from_slice(from);
    }
    let each = COPIED_BY_A_TASK_BYTES / size_of::<T>();
    to.par_chunks_mut(each).zip(from.par_chunks(each)).for_each(|(to, from)| to.copy_from_slice(from));
}
