//! Plans: where and how a sort runs, and why, before it does. [`plan`] decides from a [`Request`](crate::Request) and a
//! [`Machine`] alone. [`Sorter::explain`](crate::Sorter::explain) tells the plan for the machine at hand.
//!
//! What an engine can do is one table, which [`capabilities`] gives. [`Engine::Auto`](crate::Engine::Auto) compares seconds that
//! are predicted from rates. Those of [some GPUs](shipped_gpus) ship with the library.

// Every tuning constant is here, with the measurement or the count that chose it. Measured on two cores of an Intel Xeon
// (Sapphire Rapids, 2 MB of L2 cache a core).

use crate::cpu::vector::Isa;

pub(crate) mod auto;
mod capability;
mod machine;
mod predict;
mod route;
mod scratch;
mod shipped;

pub use capability::capabilities;
pub(crate) use capability::check_on_gpu;
pub use machine::{Machine, MachineGpu, Vectors};
pub(crate) use route::check;
pub use route::{CpuWay, DeviceWay, GpuWay, Plan, Predicted, Reason, Route, plan};
pub use scratch::Scratch;
pub use shipped::shipped_gpus;

/// Fewer items than this are sorted by the calling thread alone. To wake another thread and to wait for it takes some 100
/// microseconds, several times a sort. So many keys that are few runs or few values take one thread as long.
pub(crate) const PARALLEL_FROM: usize = 1 << 18;

/// The same for strings and for comparisons of the caller, which take more time.
pub(crate) const PARALLEL_FROM_COMPARED: usize = 1 << 16;

/// Keys from which threads look together whether those are one run: one thread reads so many in about a millisecond.
pub(crate) const PROFILE_PARALLEL_FROM: usize = 1 << 21;

/// Keys or strings, at least, of a task where threads share the work.
pub(crate) const ITEMS_A_TASK: usize = 1 << 16;

/// Bytes of codes from which a range is distributed before it is finished. The buffers, 256 KB, are then 3% of the
/// data, of the 5% that are allowed; and up to twice the L2 cache the quicksort is as fast by itself.
pub(crate) const DISTRIBUTE_FROM_BYTES: usize = 8 << 20;

/// Bytes of keys that the caches next to a core hold while they are partitioned.
pub(crate) const NEAR_BYTES: usize = 1 << 20;

/// Bytes of a block of the distribution in place. 10^7 u32 by one thread: 82 ms with 256, 95 with 512, 68 with 1024.
pub(crate) const BLOCK_BYTES: usize = 1 << 10;

/// Cells of the classifier's table: 8 KB, which stay in the L1 cache. A table costs no time: 10^7 u32 took 68 ms with
/// it and 70 with the digit alone.
pub(crate) const CELLS: usize = 1 << 12;

/// Codes that a distribution classifies before it moves the first of them: two to four registers of each width, so
/// that vector instructions do it.
pub(crate) const CLASSIFY_AHEAD: usize = 32;

/// Codes sampled for each bucket of a classifier.
pub(crate) const SAMPLED_A_BUCKET: usize = 8;

/// Codes sampled for the pivot of a partition among threads: its halves then differ by some 2%.
pub(crate) const PIVOT_SAMPLE: usize = 1 << 11;

/// A classifier that leaves more than one part in so many of the sample in one bucket is not used.
pub(crate) const LARGEST_BUCKET: usize = 4;

/// Ranges that a parallel sort makes for each thread, so that all have work to the end.
pub(crate) const RANGES_A_THREAD: usize = 4;

/// Keys that one task of a parallel partition exchanges.
pub(crate) const EXCHANGED_BY_A_TASK: usize = 1 << 15;

/// Keys from which 16-bit keys are counted: fewer are sorted as words of 32 bits, in no more scratch than counters take.
pub(crate) const COUNT_16_FROM: usize = 1 << 16;

/// Bytes of keys of 128 bits from which a range is distributed: no vectors sort those, so each step of a quicksort is slow.
pub(crate) const DISTRIBUTE_WIDE_FROM_BYTES: usize = 1 << 20;

/// Keys of more than 64 bits, or of no fixed width, up to which std's sort is as fast.
pub(crate) const COMPARED: usize = 32;

/// The same of integers of 128 bits, which std compares fast. With AVX2, 300 of them take 11.4 ns each by std's sort and 13.2 by
/// their codes; with AVX-512 half as long by their codes as by std's sort.
pub(crate) fn compared_integers(isa: Isa) -> usize {
    if isa.registers() == Some(1) { COMPARED } else { 512 }
}

/// Codes of which the pivot of a quicksort by code is the median; the same for many items; and how many are many.
pub(crate) const PIVOT_OF: usize = 15;
pub(crate) const PIVOT_OF_MANY: usize = 127;
pub(crate) const PIVOT_OF_MANY_FROM: usize = 1 << 14;

/// Keys that the profile compares before it looks whether the run was broken.
pub(crate) const PROFILE_STRETCH: usize = 1 << 8;

/// Keys after a run are sorted by themselves and merged with it, if they are at most one in so many.
pub(crate) const TAIL: usize = 8;

/// Cost of a merge, in picoseconds a key: compared one by one (an organ pipe: 5.3 ns) and moved in blocks (rotated sorted keys:
/// 0.63 ns).
pub(crate) const MERGED_KEY_PICOSECONDS: usize = 5500;
pub(crate) const MOVED_KEY_PICOSECONDS: usize = 650;

/// Cost of the vectorised sort, in picoseconds per key and per log2 of the number of keys. For 3,000 keys: 2.5 ns a key of 32 bits,
/// 4.8 ns of 64 bits. AVX2 takes twice as long. None where there are no vectors.
pub(crate) fn sort_step_picoseconds(isa: Isa, width: u32) -> Option<usize> {
    let step = match width {
        ..=32 => 230,
        64 => 410,
        _ => return None,
    };
    Some(step * isa.registers()?)
}

/// Pairs that one thread puts in order without a distribution: they, and their words, stay in its cache.
pub(crate) const PAIRS_AT_ONCE: usize = 1 << 17;

/// Threads up to which one of them merges two runs: more threads sort in less time.
pub(crate) const MERGED_BY_THREADS: usize = 2;

/// Pairs for each bucket of their distribution: words of 32 bits then leave few of them tied.
pub(crate) const PAIRS_A_BUCKET: usize = 1 << 13;

/// The most buckets of a distribution of pairs: their lines then fill 32 KB of the L1 cache. 10^7 pairs of u64 by one
/// thread: 196 ms with 512, 223 with 1024.
pub(crate) const PAIR_BUCKETS: usize = 1 << 9;

/// Pairs of a bucket that fits the L2 cache while it is ordered. If `PAIR_BUCKETS` would be larger, each cell gets a bucket: 10^8 pairs of u64 by 16 threads take 330 ms with 512 buckets, 224 with 4096.
pub(crate) const PAIRS_IN_CACHE: usize = 1 << 16;

/// A word of 32 bits orders a bucket where it has so many more bits for the code than for the place: about one code in
/// 16 is then tied.
pub(crate) const NARROW_SLACK_BITS: u32 = 4;

/// Codes or strings that are put in order by insertion: as many as std's sort takes for it, about.
pub(crate) const INSERT_UP_TO: usize = 16;

/// Strings up to which they are sorted by comparison: more are sorted by words in less time. At most 20, which std's sort
/// inserts in place.
pub(crate) const COMPARE_STRINGS_UP_TO: usize = 16;

/// Strings from which on they are distributed: fewer would be one bucket.
pub(crate) const DISTRIBUTE_STRINGS_FROM: usize = PAIRS_A_BUCKET;

/// Bytes of scratch from which it is mapped, on huge pages, of which it then takes four or more.
pub(crate) const MAP_SCRATCH_FROM_BYTES: usize = 8 << 20;

/// Bytes of scratch that one task gives back to the system: some hundred huge pages. A copy of 40 GB took one thread more than a
/// second.
pub(crate) const FREED_BY_A_TASK_BYTES: usize = 256 << 20;

/// Strings whose bytes make the alphabet of a string sort.
pub(crate) const ALPHABET_SAMPLE: usize = 1 << 10;

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

/// Strings that are sampled for each: with so many a range has hardly twice its share.
pub(crate) const SPLITTER_SAMPLE: usize = 32;

/// Symbols of a small alphabet: those of DNA, one for what could not be read, and the end.
pub(crate) const SMALL_ALPHABET: u32 = 6;

/// Bytes up to which a key and its element are sorted together; larger elements are moved by indices afterwards.
pub(crate) const MOVED_WITH_KEYS_BYTES: usize = 40;

/// Strings that one task encodes, or compares with their neighbours.
pub(crate) const STRINGS_A_TASK: usize = 1 << 14;

/// Keys up to which a sort makes no plan and no report: reading the clock twice takes as long as sorting some tens.
pub(crate) const FEW: usize = 1 << 10;

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

/// One part in so many of a device's free memory is left to the driver, which rounds allocations up to 2 MiB and loads
/// kernels there.
pub(crate) const LEFT_FREE: u64 = 32;

/// Bytes that one task copies to or from pinned memory.
pub(crate) const COPIED_BY_A_TASK_BYTES: usize = 1 << 20;

/// Bytes of keys from which a GPU is thought of at all. One thread sorts so much in 2 to 4 ms (segments of 1000 f32, and of
/// mixed lengths), several in less than any GPU takes to get going: there is nothing to predict.
pub(crate) const GPU_FROM_BYTES: usize = 4 << 20;

/// A GPU is taken where it is predicted to be so many times as fast: rates vary by some tenths from run to run, and a GPU
/// that is not needed stays free for others.
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

/// Times that the CPU engine takes longer to sort an array than segments of 2^15 of its keys, and what each further thread adds, for
/// all wait for the same memory. On a Xeon with AVX-512, 2^27 u32: 1.5 by 2 threads, 1.8 by 4, 2.2 by 8, 2.9 by 16.
pub(crate) const ARRAY_FINISHES: f64 = 1.3;
pub(crate) const ARRAY_CROWDING: f64 = 0.11;

/// Times that it takes longer with a payload, or for indices: on the same machine 2.9 for pairs of u32, 2.1 for pairs of u64, 2.1 for
/// indices of u64.
pub(crate) const MOVES: f64 = 2.5;

/// Seconds in which one thread sorts a string, and the part of it that each further thread adds: 10^6 words took 45 ns each by one
/// thread, 10^8 of them 149 ns of each of 16 threads, 10^7 strings of 64 letters 114.
pub(crate) const STRING_SECONDS: f64 = 45e-9;
pub(crate) const STRING_CROWDING: f64 = 0.1;

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

/// Room that a range has on a device beyond what a sample promises: so many deviations of the sample, which one range in 10^9
/// exceeds, and so many of its keys, for ranges that it has next to none of.
pub(crate) const SPARE_DEVIATIONS: f64 = 6.0;
pub(crate) const SPARE_SAMPLED: usize = 16;

/// Sub-ranges of a device's part: so much sooner the first sort begins than the last key has come, and so often launches are
/// waited for. Of more than three devices fewer, for splitters are 31.
pub(crate) const SUB_RANGES: usize = 8;

/// Parts of several devices differ from their mean by one part in so many, at most: 5%, as was asked for.
pub(crate) const MOST_UNEVEN: usize = 20;

/// Streams on which a device fetches from others. With that of its sorts, fewer than the eight queues that a device has unless it
/// is told otherwise.
pub(crate) const LINKS: usize = 4;
