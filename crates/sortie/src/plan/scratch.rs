//! How much scratch a plan takes at most.

use std::fmt;

use super::{
    CARRIERS, CHUNK_BYTES, CHUNKS_UNDER_WAY, CpuWay, DISTRIBUTE_FROM_BYTES, MachineGpu, PAIRS_A_BUCKET,
    PIECE_BYTES, RING_SLOT_BYTES, RING_SLOTS, SHARED_SLOTS, TRIP_BYTES,
};
use crate::cpu::distribute;
use crate::request::{Beside, KeyForm, Operation, Request};

/// More items than this have no size.
const MOST_ITEMS: usize = 1 << 48;

/// Bytes beyond the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scratch {
    /// In host memory, pinned memory included.
    pub host: u64,
    /// In a GPU's memory, or that of several together. The data there is among it.
    pub device: u64,
}

impl Scratch {
    /// What a limit of memory counts.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.host + self.device
    }

    fn of_host(bytes: usize) -> Scratch {
        Scratch { host: bytes as u64, device: 0 }
    }
}

impl fmt::Display for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {} bytes of host memory", self.host)?;
        if self.device > 0 { write!(f, ", {} bytes of GPU memory", self.device) } else { Ok(()) }
    }
}

/// Of the CPU engine.
pub(super) fn on_cpu(request: &Request) -> Scratch {
    let n = match &request.operation {
        // All segments as one would take more.
        Operation::Segments(Some(lengths)) => {
            (lengths.longest as usize).saturating_mul(request.budget.threads).min(request.n)
        }
        // There may be more items without a size than memory has addresses.
        _ => request.n.min(MOST_ITEMS),
    };
    let way = CpuWay::of(request);
    let of_merge = |items: usize| if request.budget.threads > 1 { items } else { items / 2 };
    let (index, narrow_index) = (size_of::<usize>(), if n as u64 <= u64::from(u32::MAX) { 4 } else { 8 });
    let beside = request.bytes_beside();
    let segments = matches!(request.operation, Operation::Segments(_));
    // Words and places of what is finished in a cache.
    let room = if segments { request.budget.threads * 40 * PAIRS_A_BUCKET } else { 0 };
    let bytes = match (request.keys, way) {
        (KeyForm::Number { bytes, .. }, CpuWay::Merge) => match request.beside {
            Beside::Nothing if segments => of_merge(request.n * bytes),
            Beside::Nothing => of_merge(n * bytes),
            Beside::Payload { .. } => n * index + of_merge(n * index),
            Beside::Indices { .. } => of_merge(n * index),
        },
        (KeyForm::Number { bytes, .. }, _) => match request.beside {
            Beside::Nothing => buffers(n * bytes, request),
            // Where keys are not to be had from their codes, indices are sorted.
            Beside::Payload { .. } => n * (bytes + beside).max(bytes + index + narrow_index),
            Beside::Indices { .. } => n * (bytes + narrow_index),
        },
        (KeyForm::Strings, CpuWay::Distribute) => n * (2 * size_of::<u64>() + beside),
        (KeyForm::Strings, _) => of_merge(n * beside),
        (KeyForm::Compound { bytes }, CpuWay::Merge) if request.beside.is_nothing() => {
            of_merge(request.n * bytes)
        }
        (KeyForm::Compound { .. }, CpuWay::Distribute) => {
            n * (2 * index + size_of::<u64>() + narrow_index) + of_merge(n * index)
        }
        (KeyForm::Compound { .. }, CpuWay::Merge) => n * index + of_merge(n * index),
        (KeyForm::Compound { .. }, CpuWay::Quicksort) if request.beside.is_nothing() => 0,
        (KeyForm::Compound { .. }, CpuWay::Quicksort) => n * index,
        (KeyForm::Compared, CpuWay::Quicksort) => 0,
        (KeyForm::Compared, _) => of_merge(n * beside),
    };
    let held = request.budget.held;
    Scratch { host: held + (bytes + room) as u64, device: 0 }
}

/// Of a distribution in place, or the counters of narrow keys.
fn buffers(bytes: usize, request: &Request) -> usize {
    let threads = request.budget.threads.max(1);
    let counters = match request.keys {
        KeyForm::Number { bytes: 1, .. } => size_of::<u32>() << 8,
        KeyForm::Number { bytes: 2, .. } => size_of::<u32>() << 16,
        _ => 0,
    };
    let large = bytes >= DISTRIBUTE_FROM_BYTES;
    let distribution = if large { threads * distribute::scratch::<u8>(bytes / threads) } else { 0 };
    distribution.max(counters)
}

/// Of strings on a GPU: pieces in pinned memory, words, indices and what is beside them.
pub(super) fn of_strings(request: &Request) -> Scratch {
    let n = request.n.min(MOST_ITEMS);
    // A copy of the references, and their indices.
    let moved =
        if let Beside::Payload { bytes, .. } = request.beside { n * (bytes + size_of::<u32>()) } else { 0 };
    Scratch { host: (SHARED_SLOTS * PIECE_BYTES + moved) as u64, device: (110 * n) as u64 }
}

/// Of segments on a GPU: chunks under way, in pinned memory and on the device, with copies of long segments.
pub(super) fn of_segments(request: &Request) -> Scratch {
    let KeyForm::Number { bytes, .. } = request.keys else { return Scratch::default() };
    let each = bytes + request.beside_on_device().payload_bytes();
    let longest = match &request.operation {
        Operation::Segments(Some(lengths)) => lengths.longest as usize,
        _ => 0,
    };
    let chunk = CHUNK_BYTES.max(longest * each);
    let chunks = (CHUNKS_UNDER_WAY * chunk).min(request.n * each);
    Scratch {
        host: chunks as u64 + request.held_for_device(),
        device: (chunks + chunk.min(request.n * each)) as u64,
    }
}

/// Of an array that goes in chunks: a copy on the host, and as much of the device as there is for the chunks under way.
pub(super) fn in_chunks(request: &Request, gpu: &MachineGpu) -> Scratch {
    let copy = request.n * request.bytes_on_device();
    let carriers = CARRIERS.min(request.budget.threads.max(1));
    let device = (3 * carriers * TRIP_BYTES) as u64;
    let host =
        Scratch::of_host(copy + carriers * RING_SLOTS * RING_SLOT_BYTES).host + request.held_for_device();
    let within_limit = request.budget.left().saturating_sub(host);
    Scratch { host, device: device.min(gpu.free).min(within_limit.max(1)) }
}

/// Of an array that goes in ranges: those that the limit allows.
pub(super) fn in_ranges(request: &Request, gpu: &MachineGpu) -> Scratch {
    let pinned = SHARED_SLOTS as u64 * PIECE_BYTES.min(request.n * request.bytes_on_device()) as u64;
    let pinned = pinned.min(request.budget.left() / 2);
    Scratch { host: pinned, device: (request.budget.left() - pinned).min(gpu.free) }
}
