//! Segments that lie in host memory: in chunks through pinned buffers, so that one chunk is copied in while another is
//! sorted and a third is copied out. What lies in pinned memory already goes to the device and back without them.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::time::Instant;

use bytemuck::Pod;
use sortie_device::{Buffer, Device, Pinned};

use super::memory::{Plan, Request, SegmentChunk};
use crate::copy::{bytes, bytes_mut};
use crate::gpu::alloc::alloc;
use crate::gpu::ring::{Clock, Kept, Ring, Slots};
use crate::gpu::segments::Moved;
use crate::gpu::segments::{Content, Payload};
use crate::gpu::{DeviceSegments, Gpu};
use crate::key::{Bits, Code, Form};
use crate::request::moves_with_keys;
use crate::{Error, Key, Order, Ran, Report, copy};

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
        moves_with_keys(each).then_some(HostPayload { bytes, each })
    }

    /// Elements that any bytes are.
    pub fn of_pod<V: Pod>(payload: &'a mut [V]) -> Option<HostPayload<'a>> {
        // SAFETY: what a sort writes are bytes of the payload, and whatever those are, they are elements.
        unsafe { HostPayload::of(payload) }
    }

    /// So many bytes for each key.
    pub fn of_bytes(bytes: &'a mut [u8], each: usize) -> Option<HostPayload<'a>> {
        let payload = HostPayload::of_pod(bytemuck::try_cast_slice_mut::<u8, [u8; 4]>(bytes).ok()?);
        payload.filter(|_| moves_with_keys(each)).map(|payload| HostPayload { each, ..payload })
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

    /// The last first.
    pub fn reverse(&mut self) {
        match self.each {
            4 => self.elements::<4>().reverse(),
            8 => self.elements::<8>().reverse(),
            _ => self.elements::<16>().reverse(),
        }
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
    let device = gpu.device();
    let (plan, mut way) =
        request.reserve(device, allowed.memory_limit, |plan| SegmentPipeline::<B>::new(device, plan))?;
    let chunks = &plan.chunks;
    for (i, chunk) in chunks.iter().enumerate() {
        let slot = &mut way.slots[i % plan.slots];
        slot.finish(&mut host, allowed.threads)?;
        slot.copy_in(&mut host, chunk, allowed.threads)?;
        slot.sort(gpu, &way.offsets, &way.scratch, &request, chunk)?;
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
    slots: Vec<ChunkSlot<B>>,
    /// Of the chunk that is being sorted.
    offsets: Buffer<u64>,
    /// Of that sort.
    scratch: Buffer<u8>,
}

impl<B: Bits> SegmentPipeline<B> {
    fn new(device: &Device, plan: &Plan) -> Result<Self, Error> {
        let (scratch, offsets) = (alloc(device, plan.scratch)?, alloc(device, plan.offsets)?);
        let kept = Kept::default();
        let slots = (0..plan.slots).map(|_| ChunkSlot::new(device, &kept, plan)).collect::<Result<_, _>>()?;
        Ok(SegmentPipeline { slots, offsets, scratch })
    }
}

/// The memory of one chunk: device memory, and a ring of one slot. The sorted chunk comes back to that slot first, so that the
/// host's array gets all of it or nothing.
struct ChunkSlot<B> {
    ring: Ring,
    keys: Buffer<B>,
    payload: Buffer<u8>,
    /// The places of the keys under way.
    under_way: Option<Range<usize>>,
}

impl<B: Bits> ChunkSlot<B> {
    fn new(device: &Device, kept: &Kept, plan: &Plan) -> Result<Self, Error> {
        Ok(ChunkSlot {
            ring: Ring::new(device, kept, Slots { count: 1, bytes: plan.slot() })?,
            keys: alloc(device, plan.keys)?,
            payload: alloc(device, plan.keys * plan.payload_bytes)?,
            under_way: None,
        })
    }

    /// Sends a chunk to the device.
    fn copy_in(&mut self, host: &mut Host<'_, B>, chunk: &SegmentChunk, threads: usize) -> Result<(), Error> {
        let count = chunk.keys.len();
        let keys_there = self.keys.range(0..count);
        self.under_way = Some(chunk.keys.clone());
        if host.pinned {
            let from = &host.keys[chunk.keys.clone()];
            // SAFETY: the keys are not touched until `finish` or the ring's end has waited.
            unsafe { self.ring.stream().enqueue_copy_in(keys_there, from)? };
            return Ok(());
        }
        let (keys, payload) = host.range(chunk.keys.clone());
        let payload = payload.map_or(&[][..], |payload| payload.bytes);
        let payload_there = self.payload.range(0..payload.len());
        self.ring.send(&mut Clock::stopped(), |slot| {
            let (to_keys, to_payload) = slot.split_at_mut(payload_word::<B>(count));
            copy::by_threads(&mut bytemuck::cast_slice_mut(to_keys)[..count], keys, threads);
            // SAFETY: what is written are bytes of the payload, which are only copied on.
            let to_payload = unsafe { bytes_mut(to_payload) };
            copy::by_threads(&mut to_payload[..payload.len()], payload, threads);
            Ok([(0, keys_there.cast()), (payload_word::<B>(count) * size_of::<u64>(), payload_there)])
        })
    }

    /// Sorts what is on the device.
    fn sort(
        &self,
        gpu: &Gpu,
        offsets: &Buffer<u64>,
        scratch: &Buffer<u8>,
        request: &Request<'_>,
        chunk: &SegmentChunk,
    ) -> Result<(), Error> {
        let content = request.content;
        // SAFETY: no two sorts have the scratch at a time, as those that take any are waited for.
        let stream = &unsafe { self.ring.stream().with_workspace(scratch.view()) };
        let moved = Moved {
            keys: self.keys.range(0..chunk.keys.len()),
            payload: self.payload.address(),
            kind: content.payload,
        };
        match request.segments {
            crate::Segments::Length(length) => {
                let segments = DeviceSegments::Length(length as u64);
                // SAFETY: the keys are the slot's own; all that uses them is on its stream.
                let sort = unsafe { gpu.sort_moved(stream, moved, segments, content.code, content.order)? };
                if !scratch.is_empty() {
                    sort.wait()?;
                }
            }
            crate::Segments::Offsets(all) => {
                let part = &all[chunk.segments.start..=chunk.segments.end];
                let host: Vec<u64> = part.iter().map(|&offset| (offset - chunk.keys.start) as u64).collect();
                let there = offsets.range(0..host.len());
                stream.copy_in(there, &host)?;
                let segments = DeviceSegments::Offsets { offsets: there, longest: chunk.longest as u64 };
                // SAFETY: as above; the offsets stay until the sort is done.
                unsafe { gpu.sort_moved(stream, moved, segments, content.code, content.order)? }.wait()?;
            }
        }
        Ok(())
    }

    /// Sends a sorted chunk back.
    fn copy_out(&mut self, host: &mut Host<'_, B>, chunk: &SegmentChunk) -> Result<(), Error> {
        let keys_there = self.keys.range(0..chunk.keys.len());
        if host.pinned {
            let to = &mut host.keys[chunk.keys.clone()];
            // SAFETY: as for the copy in.
            unsafe { self.ring.stream().enqueue_copy_out(to, keys_there)? };
            return Ok(());
        }
        let each = host.payload.as_ref().map_or(0, |payload| payload.each);
        self.ring.fetch([keys_there.cast(), self.payload.range(0..chunk.keys.len() * each)])
    }

    /// Waits for the chunk under way, if there is one, and puts it back in its place.
    fn finish(&mut self, host: &mut Host<'_, B>, threads: usize) -> Result<(), Error> {
        let Some(range) = self.under_way.take() else { return Ok(()) };
        if host.pinned {
            return Ok(self.ring.stream().wait()?);
        }
        let count = range.len();
        let (keys, payload) = host.range(range);
        self.ring.take(&mut Clock::stopped(), |slot| {
            let (from_keys, from_payload) = slot.split_at(payload_word::<B>(count));
            copy::by_threads(keys, &bytemuck::cast_slice(from_keys)[..count], threads);
            if let Some(payload) = payload {
                let from = &bytes(from_payload)[..payload.bytes.len()];
                copy::by_threads(payload.bytes, from, threads);
            }
        })
    }
}

/// The word of a slot at which the payloads of `keys` keys begin.
fn payload_word<B>(keys: usize) -> usize {
    (keys * size_of::<B>()).div_ceil(size_of::<u64>())
}
