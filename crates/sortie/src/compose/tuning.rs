//! The tuning constants of sorts on several engines, each with the measurement or the count that determined it.
//! Measurements of the host alone are from two cores of an Intel Xeon (Sapphire Rapids).

/// The nanoseconds that one thread needs to finish a tied string: the additional time for 10^6 URLs, all of which tie,
/// compared with as many words.
pub(crate) const FINISH_A_TIE_NS: f64 = 110.0;

/// The bytes of strings copied to a GPU per nanosecond: 2.2 GB of words took 95 ms to an H200, with 16 cores to copy
/// them.
pub(crate) const WHOLE_BYTES_A_NS: f64 = 23.0;

/// The maximum number of ranges into which strings are split at once, if there is too little memory for all of them.
pub(crate) const MOST_STRING_RANGES: u64 = 128;

/// The strings sampled for each range. No range then has much more than twice its share.
pub(crate) const SPLITTER_SAMPLE: usize = 32;

/// One thread in this number copies sorted data back from the GPU, while the others sort. 8 of 16 threads copy at 49
/// GB/s.
pub(crate) const COPIERS: usize = 2;

/// The number of keys from which the CPU and a GPU share an array. The copies to the GPU and back then take several
/// times as long as launches and starting threads, which take about 2 ms.
pub(crate) const HYBRID_FROM: usize = 1 << 24;

/// The GPU's share of such an array until it is tuned: the tuned value for H200s with 16 and 32 cores. With 0.96, pairs
/// took 1.4 times as long.
pub(crate) const DEFAULT_SHARE: f64 = 1.0;

/// The minimum number of keys in a stretch of an array for two engines.
pub(crate) const HYBRID_STRETCH_LEAST: usize = 1 << 12;

/// The codes sampled to split such an array. The GPU's share then differs from the requested one by at most 0.4% of the
/// keys, and never exceeds it by more than [`SHARE_SLACK`].
pub(crate) const HYBRID_SAMPLE: usize = 1 << 14;
pub(crate) const SHARE_SLACK: f64 = 1.0 / 32.0;

/// The bytes of keys in a bucket of the CPU: half of a core's L2 cache, in which the bucket is gathered.
pub(crate) const HYBRID_BUCKET_BYTES: usize = 1 << 20;

/// The number of the CPU's buckets. There are several for each thread, so that all threads have work until the end.
/// There are at most as many as a stretch can be scattered to without an L1 miss for each, and no more than the sample
/// can distinguish.
pub(crate) const BUCKETS_A_THREAD: usize = 8;
pub(crate) const MOST_HYBRID_BUCKETS: usize = 1 << 8;
pub(crate) const TAIL_SAMPLED_A_BUCKET: usize = 8;

/// The number of keys that several devices sample together to divide their keys: 8192 for each of eight parts. The
/// sizes of the parts are then accurate to 1%, and 5% is allowed.
pub(crate) const DIVIDED_BY: usize = 1 << 16;

/// The spare room for a range on a device, beyond the size that a sample predicts. `SPARE_DEVIATIONS` is in standard
/// deviations of the sample, and one range in 10^9 exceeds it. `SPARE_SAMPLED`, in sampled keys, is for ranges with
/// hardly any sampled keys.
pub(crate) const SPARE_DEVIATIONS: f64 = 6.0;
pub(crate) const SPARE_SAMPLED: usize = 16;

/// The sub-ranges of a device's part. With more, the first sort can begin earlier, but there are more launches to wait
/// for. With more than three devices there are fewer, because there are 31 splitters.
pub(crate) const SUB_RANGES: usize = 8;

/// The parts of several devices differ from their mean by at most one part in `MOST_UNEVEN`, which is 5%.
pub(crate) const MOST_UNEVEN: usize = 20;

/// The streams on which a device fetches from others. Together with the stream of its sorts, they are fewer than the
/// eight queues that a device has by default.
pub(crate) const LINKS: usize = 4;
