//! Tuning constants that several files of the GPU engine share, each with the measurement or the count by which it was
//! chosen. Measurements of the host alone are from two cores of an Intel Xeon (Sapphire Rapids).

/// Leading bytes by which a device sorts strings that the host then finishes. The paper found these best (see
/// [`Gpu::argsort_beginnings`](crate::gpu::Gpu::argsort_beginnings)): 6 to 8 for small alphabets, 3 to 5 for larger
/// ones.
pub(crate) const CUT_OFF_SMALL_ALPHABET: usize = 8;
pub(crate) const CUT_OFF_LARGE_ALPHABET: usize = 5;

/// Symbols of a small alphabet: those of DNA, one for what could not be read, and the end.
pub(crate) const SMALL_ALPHABET: u32 = 6;

/// Bytes of a chunk that is copied to a device and back: 1 ms of transfer, compared with which a launch costs little.
pub(crate) const CHUNK_BYTES: usize = 64 << 20;

/// Bytes of a piece in pinned memory: 0.3 ms of transfer. Page-locked memory is allocated at 1.4 GB/s, so with larger
/// pieces the allocation would take longer than smaller pieces lose.
pub(crate) const PIECE_BYTES: usize = 16 << 20;

/// Chunks in flight at a time: one is copied in, one is sorted, one is copied out.
pub(crate) const CHUNKS_UNDER_WAY: usize = 3;

/// If memory is short, chunks shrink to this many bytes before fewer of them are in flight: 0.1 ms of transfer, still
/// several times what the launches cost.
pub(crate) const OVERLAPPED_CHUNK_BYTES: usize = 4 << 20;

/// Bytes of the smallest chunk, when one is in flight at a time: smaller ones would save nothing worth having. A chunk
/// of one segment may be as long as that segment.
pub(crate) const LEAST_CHUNK_BYTES: usize = 64 << 10;

/// Chunks in flight at a time for an array larger than a device, each with a thread: one thread copies about 10 GB/s to
/// pinned memory, a fifth of what a device can receive.
pub(crate) const CARRIERS: usize = 16;

/// Bytes of such a chunk: 5 ms of transfer. 40 GB are 150 chunks, each gathered from 150 runs in parts of 1.7 MB.
pub(crate) const TRIP_BYTES: usize = 256 << 20;

/// Bytes of the smallest such chunk, if memory is short.
pub(crate) const LEAST_TRIP_BYTES: usize = 64 << 10;

/// The most runs that such an array is cut into. A table says where each chunk of the second trip has its parts; it has
/// 8 bytes for each pair of a run and a chunk, at most 128 MB.
pub(crate) const MOST_RUNS: usize = 1 << 12;

/// Bytes of a slot of pinned memory that one thread fills, and the slots of each thread. Copies from pageable memory to
/// an H200 by 16 threads reach 40 GB/s with 512 KB, 48 with 1 MB, 51 with 2 MB, and 46 with 4 MB, where the link allows
/// 55; back, past the caches, 25, 36, 51 and 53. For an array larger than the device, 40 GB take 2.84 s with 2 MB, 4.38
/// with 1 MB past the caches, 3.78 with 16 MB, and 3.36 with 2 MB that are written past the caches.
pub(crate) const RING_SLOT_BYTES: usize = 2 << 20;
pub(crate) const RING_SLOTS: usize = 3;

/// Bytes of an array from which on each thread has a ring of its own: the transfer then takes some milliseconds, and
/// starting threads takes 0.5.
pub(crate) const OWN_RINGS_FROM_BYTES: usize = 64 << 20;

/// Bytes of the smallest piece that such a thread takes.
pub(crate) const LEAST_PIECE_BYTES: usize = 64 << 10;

/// Slots of a ring that all threads fill together, each of at most [`PIECE_BYTES`]: one between host and pinned memory,
/// and one between pinned memory and the device.
pub(crate) const SHARED_SLOTS: usize = 2;

/// One part in `LEFT_FREE` of a device's free memory is left to the driver, which rounds allocations up to 2 MiB and
/// loads kernels.
pub(crate) const LEFT_FREE: u64 = 32;

/// A thread of the bitonic sort on a device holds a row of keys in registers; this is the number of bits of its length.
/// It allows five steps of the network for each trip to shared memory. With 64 keys, the compiler runs out of
/// registers.
pub(crate) const BITONIC_ROW_BITS: u32 = 5;

/// Bits of the number of items of 4 bytes in a tile of the bitonic sort: the first is taken for which two tiles fit in
/// the shared memory that one block can have. Large tiles take fewer launches: for 2^28 keys, a count gives 26 with 14
/// bits, 30 with 13, and 34 with 12. With 15 it gives 23, but a multiprocessor with 227 KB then holds only one block,
/// which does nothing while it waits for its keys.
pub(crate) const BITONIC_TILE_BITS: [u32; 4] = [14, 13, 12, 11];

/// The same if there are too few keys for a larger tile on each multiprocessor. A graph of sorts of 2^16 f32 on an H200
/// took 37 us for each sort with 14 bits, 25 with 13, 20 with 12, and 22 with 11.
pub(crate) const BITONIC_FEW_TILE_BITS: u32 = 12;

/// Bytes that lie together in memory where the bitonic sort reads keys that are far apart: the K-model's coalescing
/// condition. Two sectors of 32 bytes. For 2^28 keys of 32 bits, a count gives 26 launches with 64 bytes, 27 with 128,
/// and 25 with 32.
pub(crate) const BITONIC_COALESCED_BYTES: usize = 64;

/// Bytes that one task copies to or from pinned memory.
pub(crate) const COPIED_BY_A_TASK_BYTES: usize = 1 << 20;
