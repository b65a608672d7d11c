//! The tuning constants of the GPU engine that several of its files share, each with the measurement or the count that chose it.
//! Figures of the host alone were measured on two cores of an Intel Xeon (Sapphire Rapids).

/// Bytes by which strings are sorted where others finish them, by what the paper found best (see
/// [`Gpu::argsort_beginnings`](crate::gpu::Gpu::argsort_beginnings)): 6 to 8 of small alphabets, 3 to 5 of larger ones.
pub(crate) const CUT_OFF_SMALL_ALPHABET: usize = 8;
pub(crate) const CUT_OFF_LARGE_ALPHABET: usize = 5;

/// Symbols of a small alphabet: those of DNA, one for what could not be read, and the end.
pub(crate) const SMALL_ALPHABET: u32 = 6;

/// Bytes of a chunk on its way to a device and back: 1 ms of the way, beside which what a launch costs is small.
pub(crate) const CHUNK_BYTES: usize = 64 << 20;

/// Bytes of a piece that waits in pinned memory: 0.3 ms of the way. Page-locked memory is had at 1.4 GB/s, so larger pieces
/// take longer to get than smaller ones lose.
pub(crate) const PIECE_BYTES: usize = 16 << 20;

/// Chunks under way at a time: one on its way in, one being sorted, one on its way out.
pub(crate) const CHUNKS_UNDER_WAY: usize = 3;

/// Bytes that a chunk keeps, where memory is short, before fewer are under way at a time: 0.1 ms of the way, still several
/// times what its launches cost.
pub(crate) const OVERLAPPED_CHUNK_BYTES: usize = 4 << 20;

/// Bytes of the smallest chunk, one at a time: less would save nothing worth having, and one is allowed to be as long as
/// its only segment.
pub(crate) const LEAST_CHUNK_BYTES: usize = 64 << 10;

/// Chunks of an array larger than a device that are under way at a time, a thread each: one thread copies some 10 GB/s to
/// pinned memory, a fifth of what a device takes.
pub(crate) const CARRIERS: usize = 16;

/// Bytes of such a chunk: 5 ms of the way. Of 40 GB there are then 150, which are gathered from as many runs in parts of 1.7 MB.
pub(crate) const TRIP_BYTES: usize = 256 << 20;

/// And of the smallest, where memory is short.
pub(crate) const LEAST_TRIP_BYTES: usize = 64 << 10;

/// Runs that such an array is cut into at most: where each chunk of the second trip has its parts is a table of 8 bytes for a
/// run and a chunk, 128 MB.
pub(crate) const MOST_RUNS: usize = 1 << 12;

/// Bytes of a slot of pinned memory that one thread fills, and slots of each. From pageable memory to an H200 by 16 threads:
/// 40 GB/s with 512 KB, 48 with 1 MB, 51 with 2 MB, 46 with 4 MB, of 55 that the way has; back 25, 36, 51 and 53, past the
/// caches. Of an array larger than the device, 40 GB take 2.84 s with 2 MB, 4.38 with 1 MB past the caches, 3.78 with 16 MB, and
/// 3.36 with 2 MB that are written past the caches.
pub(crate) const RING_SLOT_BYTES: usize = 2 << 20;
pub(crate) const RING_SLOTS: usize = 3;

/// Bytes of an array from which each thread has a ring: the way is then some milliseconds, and threads start in 0.5.
pub(crate) const OWN_RINGS_FROM_BYTES: usize = 64 << 20;

/// And of the least piece that such a thread takes.
pub(crate) const LEAST_PIECE_BYTES: usize = 64 << 10;

/// Slots of a ring that all threads fill together, of [`PIECE_BYTES`] at most: one between host and pinned memory, one between that
/// and the device.
pub(crate) const SHARED_SLOTS: usize = 2;

/// The driver keeps one part in `LEFT_FREE` of a device's free memory: it rounds allocations up to 2 MiB, and loads kernels.
pub(crate) const LEFT_FREE: u64 = 32;

/// Bits of the places in a row that a thread of the bitonic sort on a device holds in registers: five steps of the network
/// for each trip to shared memory. With 64 places the compiler runs out of registers.
pub(crate) const BITONIC_ROW_BITS: u32 = 5;

/// Items of 4 bytes in a tile of the bitonic sort, as bits, where two tiles fit the shared memory that one block can ask for.
/// Large tiles take fewer launches: by count 2^28 keys 26 with 14 bits, 30 with 13, 34 with 12. With 15 they take 23, but a
/// multiprocessor with 227 KB then holds one block, which does nothing while it waits for its keys.
pub(crate) const BITONIC_TILE_BITS: [u32; 4] = [14, 13, 12, 11];

/// The same where keys are too few for a larger tile on each multiprocessor. A graph of sorts of 2^16 f32 on an H200 took 37 us a
/// sort with 14 bits, 25 with 13, 20 with 12, 22 with 11.
pub(crate) const BITONIC_FEW_TILE_BITS: u32 = 12;

/// Bytes that lie together in memory where the bitonic sort reads keys far apart: the K-model's coalescing condition. Two
/// sectors of 32 bytes. By count: 2^28 keys of 32 bits take 26 launches with 64 bytes, 27 with 128, 25 with 32.
pub(crate) const BITONIC_COALESCED_BYTES: usize = 64;

/// Bytes that one task copies to or from pinned memory.
pub(crate) const COPIED_BY_A_TASK_BYTES: usize = 1 << 20;
