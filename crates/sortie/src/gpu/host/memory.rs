//! Plans memory before the first launch: compares what a sort of host segments needs with the limit of the call and the
//! free memory of the device.

use std::ops::Range;

use sortie_device::Device;

use crate::gpu::alloc::{available, too_little, workspace_bytes};
use crate::gpu::ring::Slots;
use crate::gpu::segments::{Content, Lie, Payload, segments_words};
use crate::gpu::tuning::{CHUNK_BYTES, CHUNKS_UNDER_WAY, LEAST_CHUNK_BYTES, OVERLAPPED_CHUNK_BYTES};
use crate::key::Code;
use crate::request::{Beside, Lengths};
use crate::ways::Scratch;
use crate::{Bound, Error, Order, Segments};

/// Consecutive segments, and the range of their keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SegmentChunk {
    pub segments: Range<usize>,
    pub keys: Range<usize>,
    /// Keys of the longest of these segments.
    pub longest: usize,
}

/// What a sort of host segments allocates and holds until its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Plan {
    pub chunks: Vec<SegmentChunk>,
    /// Chunks in flight at a time.
    pub slots: usize,
    /// Keys that a slot has room for, in pinned memory and on the device.
    pub keys: usize,
    /// Offsets of a chunk, on the device and in a copy on the host.
    pub offsets: usize,
    /// Bytes of scratch for the kernels.
    pub scratch: usize,
    /// Whether the keys go through the pinned memory of the slots.
    pub through_pinned: bool,
    /// Bytes of the payload of a key, which always goes through that memory, or of its index.
    pub beside_bytes: usize,
    /// Whether indices come back, instead of keys.
    argsorts: bool,
    key_bytes: usize,
}

impl Plan {
    /// Bytes of pinned memory of a slot: the keys, and after them, from a whole word on, the payloads; or the keys, and
    /// later their indices.
    pub fn slot(&self) -> usize {
        let key_bytes = if self.through_pinned { self.key_bytes } else { 0 };
        let (keys, beside) = (self.keys * key_bytes, self.keys * self.beside_bytes);
        if self.argsorts { keys.max(beside) } else { keys.next_multiple_of(size_of::<u64>()) + beside }
    }

    /// Bytes of pinned memory.
    pub fn pinned(&self) -> u64 {
        (self.slots * Slots { count: 1, bytes: self.slot() }.pinned()) as u64
    }

    /// Bytes of device memory.
    pub fn device(&self) -> u64 {
        let slots = self.slots * self.keys * (self.key_bytes + self.beside_bytes);
        (slots + size_of::<u64>() * self.offsets + self.scratch) as u64
    }

    pub fn scratch(&self) -> Scratch {
        Scratch { host: self.pinned() + (size_of::<u64>() * self.offsets) as u64, device: self.device() }
    }

    /// Bytes of scratch of all kinds.
    pub fn bytes(&self) -> u64 {
        self.scratch().bytes()
    }
}

/// Segments in host memory that are to be sorted on a device.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Request<'a> {
    pub segments: Segments<'a>,
    /// The number of keys in all, including those that belong to no segment.
    pub keys: usize,
    pub content: Content,
    /// Whether the keys are in pinned memory themselves.
    pub pinned: bool,
    /// Bytes of shared memory of a block.
    pub shared_per_block: usize,
}

impl Request<'_> {
    /// Bytes of a key with its payload or its index.
    pub fn bytes_a_key(&self) -> usize {
        self.content.key_bytes + self.content.payload.bytes()
    }

    /// Reserves memory by the largest plan that stays within the limit and for which the device and the system have
    /// enough. If necessary, fewer and smaller chunks are in flight.
    ///
    /// `reserve` allocates the memory of a plan. If it finds too little after all, the next plan is tried.
    pub fn reserve<R>(
        &self,
        device: &Device,
        limit: u64,
        mut reserve: impl FnMut(&Plan) -> Result<R, Error>,
    ) -> Result<(Plan, R), Error> {
        let available = available(device.free_memory()?);
        let mut refused = None;
        for (slots, chunk_bytes) in shapes(self.keys.saturating_mul(self.bytes_a_key())) {
            let plan = self.plan(slots, chunk_bytes);
            let within = within(&plan, limit, available);
            match within.and_then(|()| reserve(&plan)) {
                Ok(reserved) => return Ok((plan, reserved)),
                Err(error @ Error::Memory { .. }) => refused = Some(error),
                Err(error) => return Err(error),
            }
        }
        Err(refused.expect("there is at least one shape"))
    }

    /// The plan with this many chunks in flight, each of up to this many bytes, or of one segment that is longer.
    fn plan(&self, slots: usize, chunk_bytes: usize) -> Plan {
        let chunks = self.chunks(chunk_bytes / self.bytes_a_key());
        let most_words = chunks.iter().map(|chunk| self.scratch_words(chunk)).max().unwrap_or(0);
        let most = |of: fn(&SegmentChunk) -> usize| chunks.iter().map(of).max().unwrap_or(0);
        Plan {
            slots: slots.min(chunks.len()),
            keys: most(|chunk| chunk.keys.len()),
            offsets: match self.segments {
                Segments::Length(_) => 0,
                Segments::Offsets(_) => most(|chunk| chunk.segments.len() + 1),
            },
            scratch: workspace_bytes(&[most_words]),
            through_pinned: !self.pinned,
            beside_bytes: self.content.payload.bytes(),
            argsorts: self.content.payload == Payload::Indices,
            key_bytes: self.content.key_bytes,
            chunks,
        }
    }

    /// Cuts the segments into chunks of up to `most` keys, or of one segment that is longer.
    fn chunks(&self, most: usize) -> Vec<SegmentChunk> {
        match self.segments {
            // Not one by one: that could take longer than copying them.
            Segments::Length(length) => {
                let count = self.segments.count(self.keys);
                let each = (most / length.max(1)).max(1);
                let chunk = |first: usize| {
                    let segments = first..count.min(first + each);
                    SegmentChunk {
                        keys: segments.start * length..segments.end * length,
                        segments,
                        longest: length,
                    }
                };
                (0..count).step_by(each).map(chunk).collect()
            }
            Segments::Offsets(offsets) => {
                let mut chunks: Vec<SegmentChunk> = Vec::new();
                for (i, ends) in offsets.windows(2).enumerate() {
                    let length = ends[1] - ends[0];
                    match chunks.last_mut() {
                        Some(chunk) if ends[1] - chunk.keys.start <= most => {
                            chunk.segments.end = i + 1;
                            chunk.keys.end = ends[1];
                            chunk.longest = chunk.longest.max(length);
                        }
                        _ => chunks.push(SegmentChunk {
                            segments: i..i + 1,
                            keys: ends[0]..ends[1],
                            longest: length,
                        }),
                    }
                }
                chunks
            }
        }
    }

    /// The words of scratch that `Gpu::sort_moved` takes for a chunk.
    fn scratch_words(&self, chunk: &SegmentChunk) -> usize {
        let lie = match self.segments {
            Segments::Length(length) => Lie::Length(length),
            Segments::Offsets(_) => Lie::Offsets { segments: chunk.segments.len(), longest: chunk.longest },
        };
        segments_words(self.content, chunk.keys.len(), lie, self.shared_per_block)
    }
}

/// What each plan takes if only the lengths of the segments are known, the best plan first. If most segments are empty, their
/// offsets may take more.
pub(crate) fn segments_scratch(
    key_bytes: usize,
    beside: Beside,
    n: usize,
    lengths: &Lengths,
    shared_per_block: usize,
) -> impl Iterator<Item = Scratch> {
    let payload = Payload::of(beside);
    let content = Content { key_bytes, payload, code: Code::Unsigned, order: Order::default() };
    let (each, longest) = (key_bytes + payload.bytes(), usize::try_from(lengths.longest).unwrap_or(n));
    shapes(n.saturating_mul(each)).map(move |(slots, chunk_bytes)| {
        let keys = (chunk_bytes / each).max(longest).min(n);
        let (lie, offsets) = match lengths.offsets {
            None => (Lie::Length(longest.max(1)), 0),
            Some(offsets) => {
                let offsets = usize::try_from(offsets).unwrap_or(n).min(keys + 1);
                (Lie::Offsets { segments: offsets.saturating_sub(1), longest }, offsets)
            }
        };
        Plan {
            chunks: Vec::new(),
            slots: if keys < n { slots } else { 1 },
            keys,
            offsets,
            scratch: workspace_bytes(&[segments_words(content, keys, lie, shared_per_block)]),
            through_pinned: true,
            beside_bytes: payload.bytes(),
            argsorts: payload == Payload::Indices,
            key_bytes,
        }
        .scratch()
    })
}

/// Numbers of chunks in flight and the bytes of each, the best first: large chunks that overlap, then smaller ones,
/// then fewer, and last one at a time, as small as necessary. No chunk is larger than all the data.
fn shapes(bytes: usize) -> impl Iterator<Item = (usize, usize)> {
    let most = CHUNK_BYTES.min(bytes.checked_next_power_of_two().unwrap_or(CHUNK_BYTES));
    let halves = move |least| {
        let smaller = move |&size: &usize| (size / 2 >= least).then_some(size / 2);
        std::iter::successors(Some(most), smaller)
    };
    (1..=CHUNKS_UNDER_WAY).rev().flat_map(move |slots| {
        let least = if slots > 1 { OVERLAPPED_CHUNK_BYTES } else { LEAST_CHUNK_BYTES };
        halves(least).map(move |size| (slots, size))
    })
}

/// Checks that a plan stays within the limit and within the free memory of the device.
fn within(plan: &Plan, limit: u64, available: u64) -> Result<(), Error> {
    if plan.bytes() > limit {
        return Err(Error::Memory {
            bound: Bound::Limit,
            needed: plan.bytes(),
            available: limit,
            hint: "the longest segment must fit in pinned memory and in GPU memory, and in GPU memory twice if it does \
                   not fit in a block; use the CPU engine",
        });
    }
    if plan.device() > available {
        return Err(too_little(plan.device(), available));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
