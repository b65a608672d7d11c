//! The structs and constants that the kernels of segments share with the host.

use super::layout::shared;

/// The most classes of segments by length.
pub(crate) const MOST_CLASSES: usize = 64;
/// Threads of a block that puts segments into classes.
pub(crate) const CLASSES_BLOCK: u32 = 256;

shared! {
    /// How many keys each class has room for.
    argument "Capacities" Capacities {
        longest: u64,
        count: u32,
        least: u32,
        of: [u32; MOST_CLASSES - 1],
    }

    /// Shared memory of the kernels of classes.cu.
    memory "Shared" ClassesShared {
        capacities: [u32; MOST_CLASSES],
        counts: [u32; MOST_CLASSES],
        starts: [u32; MOST_CLASSES],
    }

    /// Addresses of what is sorted.
    argument "Arrays" SegmentArrays {
        keys_in: u64,
        payload_in: u64,
        keys: [u64; 2],
        payload: [u64; 2],
    }

    /// Segments that are too long for a block.
    #[derive(Default)]
    argument "long_segments::Segments" LongSegments {
        length: u64,
        segments: u64,
        offsets: u64,
        list: u64,
        counts: u64,
        tiles_before: u64,
        size: u32,
        tile: u32,
    }

    /// The chunks of all passes of a merge.
    memory "Progress" MergeProgress {
        taken: u64,
        done: u64,
    }
}
