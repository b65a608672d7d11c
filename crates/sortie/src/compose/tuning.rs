//! The tuning constants of several engines together, each with the measurement or the count that chose it. Figures of the host
//! alone were measured on two cores of an Intel Xeon (Sapphire Rapids).

/// Nanoseconds in which one thread finishes a string that ties: what 10^6 URLs, which all do, take more than as many words.
pub(crate) const FINISH_A_TIE_NS: f64 = 110.0;

/// Bytes of strings that reach a GPU in a nanosecond: 2.2 GB of words took an H200 95 ms, with 16 cores to copy them.
pub(crate) const WHOLE_BYTES_A_NS: f64 = 23.0;

/// Ranges that strings are split to at once, at most, where there is too little memory for all of them.
pub(crate) const MOST_STRING_RANGES: u64 = 128;

/// Strings that are sampled for each range. No range then has much more than twice its share.
pub(crate) const SPLITTER_SAMPLE: usize = 32;

/// Threads of which one brings back what a GPU has sorted, while the others sort: 8 of 16 do so at 49 GB/s.
pub(crate) const COPIERS: usize = 2;

/// Keys from which CPU and GPU sort an array in common: the way to a GPU and back is then several times what its launches and
/// the starts of threads take, some 2 ms.
pub(crate) const HYBRID_FROM: usize = 1 << 24;

/// The GPU's share of such an array until it is tuned: what H200s with 16 and 32 cores were tuned to. With 0.96 pairs took
/// 1.4 times as long there.
pub(crate) const DEFAULT_SHARE: f64 = 1.0;

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
