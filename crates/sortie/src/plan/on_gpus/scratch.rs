//! The most scratch that a plan for GPUs takes.

use std::num::Saturating;

use super::MachineGpu;
use crate::gpu::tuning::{
    CARRIERS, CHUNK_BYTES, CHUNKS_UNDER_WAY, PIECE_BYTES, RING_SLOT_BYTES, RING_SLOTS, SHARED_SLOTS,
    TRIP_BYTES,
};
use crate::plan::scratch::{Scratch, count};
use crate::request::{Beside, Operation, Request};

/// For strings on a GPU: pieces in pinned memory, words and indices, and the copy of the references.
pub(super) fn of_strings(request: &Request) -> Scratch {
    let n = count(request.n);
    // A copy of the references, and their indices.
    let moved = match request.beside {
        Beside::Payload { bytes, .. } => n * (count(bytes) + count(size_of::<u32>())),
        _ => count(0),
    };
    Scratch { host: (count(SHARED_SLOTS * PIECE_BYTES) + moved).0, device: (count(110) * n).0 }
}

/// For segments on a GPU: chunks in flight, in pinned memory and on the device, with copies of long segments.
pub(super) fn of_segments(request: &Request) -> Scratch {
    let each = count(request.bytes_on_device());
    let longest = match &request.operation {
        Operation::Segments(Some(lengths)) => Saturating(lengths.longest),
        _ => count(0),
    };
    let all = count(request.n) * each;
    let chunk = count(CHUNK_BYTES).max(longest * each);
    let chunks = (count(CHUNKS_UNDER_WAY) * chunk).min(all);
    Scratch { host: (chunks + Saturating(request.held_for_device())).0, device: (chunks + chunk.min(all)).0 }
}

/// For an array that is sorted in chunks: a copy on the host, and as much device memory as there is for the chunks in
/// flight.
pub(super) fn in_chunks(request: &Request, gpu: &MachineGpu) -> Scratch {
    let copy = count(request.n) * count(request.bytes_on_device());
    let carriers = CARRIERS.min(request.budget.threads.max(1));
    let device = (3 * carriers * TRIP_BYTES) as u64;
    let held = Saturating(request.held_for_device());
    let host = (copy + count(carriers * RING_SLOTS * RING_SLOT_BYTES) + held).0;
    let within_limit = request.budget.left().saturating_sub(host);
    Scratch { host, device: device.min(gpu.free).min(within_limit.max(1)) }
}

/// For an array that is sorted in ranges: as large as the limit allows.
pub(super) fn in_ranges(request: &Request, gpu: &MachineGpu) -> Scratch {
    let all = count(request.n) * count(request.bytes_on_device());
    let pinned = (count(SHARED_SLOTS) * count(PIECE_BYTES).min(all)).0;
    let pinned = pinned.min(request.budget.left() / 2);
    Scratch { host: pinned, device: (request.budget.left() - pinned).min(gpu.free) }
}
