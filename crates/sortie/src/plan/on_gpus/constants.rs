//! Every tuning constant of the GPU engine, and of CPU and GPUs together, with the measurement or the count that chose it.
//! Figures of the host alone were measured on two cores of an Intel Xeon (Sapphire Rapids).

/// Strings by which is guessed how many will tie by their first words: of 10^8 that differ by chance alone, those tie of which
/// one in 16,384 ties in the sample.
pub(crate) const CUT_SAMPLE: usize = 1 << 14;

/// Nanoseconds in which one thread finishes a string that ties: what 10^6 URLs, which all do, take more than as many words.
pub(crate) const FINISH_A_TIE_NS: f64 = 110.0;

/// Bytes of strings that reach a GPU in a nanosecond: 2.2 GB of words took an H200 95 ms, with 16 cores to copy them.
pub(crate) const WHOLE_BYTES_A_NS: f64 = 23.0;

/// Bytes by which strings are sorted where others finish them, by what the paper found best (see
/// [`Gpu::argsort_beginnings`](crate::gpu::Gpu::argsort_beginnings)): 6 to 8 of small alphabets, 3 to 5 of larger ones.
pub(crate) const CUT_OFF_SMALL_ALPHABET: usize = 8;
pub(crate) const CUT_OFF_LARGE_ALPHABET: usize = 5;

/// Ranges that strings are split to at once, at most, where there is too little memory for all of them.
pub(crate) const MOST_STRING_RANGES: u64 = 128;

/// Strings that are sampled for each range. No range then has much more than twice its share.
pub(crate) const SPLITTER_SAMPLE: usize = 32;

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

/// Threads of which one brings back what a GPU has sorted, while the others sort: 8 of 16 do so at 49 GB/s.
pub(crate) const COPIERS: usize = 2;

/// Keys from which CPU and GPU sort an array in common: the way to a GPU and back is then several times what its launches and
/// the starts of threads take, some 2 ms.
pub(crate) const HYBRID_FROM: usize = 1 << 24;

/// The GPU's share of such an array until it is tuned: what H200s with 16 and 32 cores were tuned to. With 0.96 pairs took
/// 1.4 times as long there.
pub(crate) const DEFAULT_SHARE: f64 = 1.0;

/// Bytes of keys and payloads by which that share is tuned: 20 ms of the way there.
pub(crate) const TUNED_BYTES: usize = 1 << 30;

/// Keys of the least stretch that threads take of an array for two engines.
pub(crate) const HYBRID_STRETCH_LEAST: usize = 1 << 12;

/// Codes by which such an array is split: the GPU's share is then what was asked for by 0.4% of the keys or less, and
/// [`SHARE_SLACK`] more never comes.
pub(crate) const HYBRID_SAMPLE: usize = 1 << 14;
pub(crate) const SHARE_SLACK: f64 = 1.0 / 32.0;

/// Bytes of keys in a bucket of the CPU: half of what a core's L2 cache holds, for the bucket is gathered there.
pub(crate) const HYBRID_BUCKET_BYTES: usize = 1 << 20;

/// Buckets of the CPU: some for each thread, so that all have work to the end; as many as a stretch is scattered to without
/// a miss of the L1 cache for each; and no more than the sample tells apart.
pub(crate) const BUCKETS_A_THREAD: usize = 8;
pub(crate) const MOST_HYBRID_BUCKETS: usize = 1 << 8;
pub(crate) const TAIL_SAMPLED_A_BUCKET: usize = 8;

/// The driver keeps one part in `LEFT_FREE` of a device's free memory: it rounds allocations up to 2 MiB, and loads kernels.
pub(crate) const LEFT_FREE: u64 = 32;

/// Bytes of keys from which a GPU is thought of at all. One thread sorts so much in 2 to 4 ms (segments of 1000 f32, and of
/// mixed lengths), several in less than any GPU takes to get going: there is nothing to predict.
pub(crate) const GPU_FROM_BYTES: usize = 4 << 20;

/// Predicted speed-up from which a GPU is used. Rates vary by some tenths from run to run, and a GPU that is not needed stays
/// free for others.
pub(crate) const GPU_WINS_FROM: f64 = 1.25;

/// Times that a device takes longer to sort segments in its memory than to copy them. On an H200: 1.4 (segments of 50
/// f32) to 4.7 (of 10,000), 5.5 (lengths by a power law).
pub(crate) const DEVICE_FINISH_COPIES: f64 = 5.0;

/// And for each pass that merges the runs of longer ones. On an H200: 14.7 copies for segments of 55,109 f32 (3 passes),
/// 22.5 of 262,144 (5), 30.2 of a million (7).
pub(crate) const DEVICE_MERGE_COPIES: f64 = 4.0;

/// The same of one array, by its way: on an H200 6.7 copies of 2^28 u32 by digits, 5.4 of u64, 6.9 of stable pairs of u32; 12.6 of
/// u64 by samples; 36 of u32 by the network, 43 of u64; by passes 10.5 of u32, 13.4 of u64, 8.1 and 14.3 of their stable pairs.
pub(crate) const DEVICE_DIGITS_COPIES: f64 = 6.7;
pub(crate) const DEVICE_PASSES_COPIES: f64 = 12.0;
pub(crate) const DEVICE_SAMPLES_COPIES: f64 = 13.0;
pub(crate) const DEVICE_NETWORK_COPIES: f64 = 40.0;

/// Seconds in which one thread gets a string ready for a GPU and finishes it: 26 to 48 ns for strings of up to 128 letters that hardly
/// tie.
pub(crate) const CUT_SECONDS: f64 = 40e-9;

/// Bytes of the runs that those passes begin with.
pub(crate) const DEVICE_TILE_BYTES: usize = 32 << 10;

/// Seconds that the host spends on the offset of each segment on its way to a device: it is looked at for the prediction,
/// for the cut into chunks, and copied.
pub(crate) const SECONDS_AN_OFFSET: f64 = 3e-9;

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

/// Keys that several devices draw together, to be divided by. By count: 8192 of them for each of eight parts, whose numbers are
/// right within a hundredth then, five of which are allowed.
pub(crate) const DIVIDED_BY: usize = 1 << 16;

/// Spare room of a range on a device, beyond the size that a sample predicts: `SPARE_DEVIATIONS` deviations of the sample, which
/// one range in 10^9 exceeds, and `SPARE_SAMPLED` sampled keys, for ranges of which the sample has hardly any.
pub(crate) const SPARE_DEVIATIONS: f64 = 6.0;
pub(crate) const SPARE_SAMPLED: usize = 16;

/// Sub-ranges of a device's part: so much sooner the first sort begins than the last key has come, and so often launches are
/// waited for. Of more than three devices fewer, for splitters are 31.
pub(crate) const SUB_RANGES: usize = 8;

/// The parts of several devices differ from their mean by at most one part in `MOST_UNEVEN`, which is 5%.
pub(crate) const MOST_UNEVEN: usize = 20;

/// Streams on which a device fetches from others. With that of its sorts, fewer than the eight queues that a device has unless it
/// is told otherwise.
pub(crate) const LINKS: usize = 4;

/// Bytes of scratch that one task gives back to the system: some hundred huge pages. A copy of 40 GB took one thread more than a
/// second.
pub(crate) const FREED_BY_A_TASK_BYTES: usize = 256 << 20;

/// Bytes that one task copies to or from pinned memory.
pub(crate) const COPIED_BY_A_TASK_BYTES: usize = 1 << 20;
