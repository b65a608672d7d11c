//! Segments in host memory, sorted in chunks that go through pinned buffers: one chunk is copied in while another is
//! sorted and a third is copied out. Data that is already in pinned memory goes to the device and back without these
//! buffers.

use std::ops::Range;
use std::time::Instant;

use bytemuck::Pod;
use sortie_device::{Buffer, Device, Pinned};

use super::allowed::Allowed;
use super::array::HostArray;
use super::memory::{Plan, Request, SegmentChunk};
use crate::gpu::alloc::alloc;
use crate::gpu::copy;
use crate::gpu::copy::{bytes, bytes_mut};
use crate::gpu::ring::{Clock, Kept, Ring, Slots};
use crate::gpu::segments::{Content, Moved, Payload, check_indices};
use crate::gpu::{DeviceSegments, Gpu};
use crate::key::{Bits, Code, Form};
use crate::request::Beside;
use crate::{Error, Order, Ran, Report, TotalOrder};

impl Gpu {
    /// Sorts each segment of keys in pinned memory on its own, and waits. The keys are copied to the device and back in
    /// chunks of 64 MiB, while other chunks are sorted, and through no other memory of the host.
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
    /// Memory: up to three chunks on the device (a chunk is at least as long as the longest segment), and a copy of one
    /// for segments that do not fit in a block.
    ///
    /// # Errors
    /// [`Error::Segments`] if the segments do not fit the keys; [`Error::Unsupported`] for keys without codes of 8 to
    /// 128 bits; [`Error::Memory`] if the device has too little, with the keys unchanged; [`Error::Device`] if the
    /// device fails: keys that were being copied back are then unspecified.
    pub fn sort_pinned_segments<K: TotalOrder + Pod>(
        &self,
        keys: &mut Pinned<K>,
        segments: crate::Segments<'_>,
        order: Order,
    ) -> Result<Report, Error> {
        segments.check(keys.len())?;
        let Form::Bits(code) = K::FORM else {
            return Err(Error::Unsupported("only keys of fixed width can be sorted on a GPU".into()));
        };
        let keys: &mut [K::Bits] = bytemuck::cast_slice_mut(&mut keys[..]);
        let array = HostArray::Sorted { keys, payload: None };
        let allowed = Allowed { threads: 1, memory_limit: u64::MAX };
        sort_in_chunks(self, array, segments, true, code, order, allowed)
    }
}

/// Sorts each segment on its own, stably, and moves each payload with its key; or writes the indices of its keys in
/// order, counted from the start of the segment.
///
/// All memory is allocated before the first chunk is copied, so if there is too little, the keys stay as they are. A
/// chunk is copied back only when it is sorted, so the keys stay a permutation whatever else fails.
pub(crate) fn sort_segments<B: Bits>(
    gpu: &Gpu,
    array: HostArray<'_, B>,
    segments: crate::Segments<'_>,
    code: Code,
    order: Order,
    allowed: Allowed,
) -> Result<Report, Error> {
    sort_in_chunks(gpu, array, segments, false, code, order, allowed)
}

/// The same, if the keys may be in pinned memory. In that case, only keys alone are sorted.
fn sort_in_chunks<B: Bits>(
    gpu: &Gpu,
    mut array: HostArray<'_, B>,
    segments: crate::Segments<'_>,
    pinned: bool,
    code: Code,
    order: Order,
    allowed: Allowed,
) -> Result<Report, Error> {
    let start = Instant::now();
    let n = array.keys().len();
    let payload = Payload::of(array.beside());
    let request = Request {
        segments,
        keys: n,
        content: Content { key_bytes: size_of::<B>(), payload, code, order },
        pinned,
        shared_per_block: gpu.device().properties().shared_per_block,
    };
    let device = gpu.device();
    let (plan, mut way) =
        request.reserve(device, allowed.memory_limit, |plan| SegmentPipeline::<B>::new(device, plan))?;
    let chunks = &plan.chunks;
    if payload == Payload::Indices {
        check_indices(chunks.iter().map(|chunk| chunk.longest as u64).max().unwrap_or(0))?;
    }
    for (i, chunk) in chunks.iter().enumerate() {
        let slot = &mut way.slots[i % plan.slots];
        slot.finish(&mut array, allowed.threads)?;
        slot.copy_in(&mut array, chunk, allowed.threads)?;
        slot.sort(gpu, &way.offsets, &way.scratch, &request, chunk)?;
        slot.copy_out(&mut array, chunk)?;
    }
    for i in 0..plan.slots {
        way.slots[(chunks.len() + i) % plan.slots].finish(&mut array, allowed.threads)?;
    }
    let mut report = Report { scratch_peak: plan.bytes(), ..Report::default() };
    let bytes = n * request.bytes_a_key();
    report.push(Ran::Cuda, "finish", start.elapsed(), bytes, bytes);
    Ok(report)
}

/// The memory for all chunks.
struct SegmentPipeline<B> {
    slots: Vec<ChunkSlot<B>>,
    /// The offsets of the chunk that is being sorted.
    offsets: Buffer<u64>,
    /// The scratch of that sort.
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

/// The memory of one chunk: device memory, and a ring of one slot. The sorted chunk comes back to that slot first, so
/// that the host's array gets all of it or nothing.
struct ChunkSlot<B> {
    ring: Ring,
    keys: Buffer<B>,
    /// The payloads of the keys, or their indices.
    beside: Buffer<u8>,
    through_pinned: bool,
    /// The range of the keys in flight.
    under_way: Option<Range<usize>>,
}

impl<B: Bits> ChunkSlot<B> {
    fn new(device: &Device, kept: &Kept, plan: &Plan) -> Result<Self, Error> {
        Ok(ChunkSlot {
            ring: Ring::new(device, kept, Slots { count: 1, bytes: plan.slot() })?,
            keys: alloc(device, plan.keys)?,
            beside: alloc(device, plan.keys * plan.beside_bytes)?,
            through_pinned: plan.through_pinned,
            under_way: None,
        })
    }

    /// Sends a chunk to the device.
    fn copy_in(
        &mut self,
        array: &mut HostArray<'_, B>,
        chunk: &SegmentChunk,
        threads: usize,
    ) -> Result<(), Error> {
        self.under_way = Some(chunk.keys.clone());
        let keys_there = self.keys.range(0..chunk.keys.len());
        if !self.through_pinned {
            let from = &array.keys()[chunk.keys.clone()];
            // SAFETY: the keys are not touched until `finish` or the ring's end has waited.
            unsafe { self.ring.stream().enqueue_copy_in(keys_there, from)? };
            return Ok(());
        }
        let mut part = array.range(chunk.keys.clone());
        let [keys, payload] = part.sent();
        let payload_there = self.beside.range(0..payload.len());
        self.ring.send(&mut Clock::stopped(), |slot| {
            // SAFETY: only bytes of keys and of the payload are written, and they are only copied on.
            let slot = unsafe { bytes_mut(slot) };
            let second = second(keys.len());
            copy::by_threads(&mut slot[..keys.len()], keys, threads);
            copy::by_threads(&mut slot[second..][..payload.len()], payload, threads);
            Ok([(0, keys_there.cast()), (second, payload_there)])
        })
    }

    /// Sorts the chunk that is on the device.
    fn sort(
        &self,
        gpu: &Gpu,
        offsets: &Buffer<u64>,
        scratch: &Buffer<u8>,
        request: &Request<'_>,
        chunk: &SegmentChunk,
    ) -> Result<(), Error> {
        let content = request.content;
        // SAFETY: no two sorts use the scratch at the same time, because sorts that take any are waited for.
        let stream = &unsafe { self.ring.stream().with_workspace(scratch.view()) };
        let moved = Moved {
            keys: self.keys.range(0..chunk.keys.len()),
            payload: self.beside.address(),
            kind: content.payload,
        };
        match request.segments {
            crate::Segments::Length(length) => {
                let segments = DeviceSegments::Length(length as u64);
                // SAFETY: the keys belong to this slot alone; everything that uses them is on its stream.
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
    fn copy_out(&mut self, array: &mut HostArray<'_, B>, chunk: &SegmentChunk) -> Result<(), Error> {
        let count = chunk.keys.len();
        let keys_there = self.keys.range(0..count);
        if !self.through_pinned {
            let HostArray::Sorted { keys, .. } = array else { unreachable!("keys alone are sorted there") };
            // SAFETY: as for the copy in.
            unsafe { self.ring.stream().enqueue_copy_out(&mut keys[chunk.keys.clone()], keys_there)? };
            return Ok(());
        }
        match array.beside() {
            Beside::Indices { .. } => self.ring.fetch([self.beside.range(0..count * size_of::<u32>())]),
            beside => {
                let payload_there = self.beside.range(0..count * beside.payload_bytes());
                self.ring.fetch([keys_there.cast(), payload_there])
            }
        }
    }

    /// Waits for the chunk in flight, if there is one, and puts it back where it came from.
    fn finish(&mut self, array: &mut HostArray<'_, B>, threads: usize) -> Result<(), Error> {
        let Some(range) = self.under_way.take() else { return Ok(()) };
        if !self.through_pinned {
            return Ok(self.ring.stream().wait()?);
        }
        let mut part = array.range(range);
        // SAFETY: the keys and payloads of the chunk were fetched, in another order, or its indices.
        let [first, other] = unsafe { part.received() };
        self.ring.take(&mut Clock::stopped(), |slot| {
            let (slot, second) = (bytes(slot), second(first.len()));
            copy::by_threads(first, &slot[..first.len()], threads);
            copy::by_threads(other, &slot[second..][..other.len()], threads);
        })
    }
}

/// The byte of a slot at which the second of two arrays begins, if the first has this many bytes.
fn second(first: usize) -> usize {
    first.next_multiple_of(size_of::<u64>())
}
