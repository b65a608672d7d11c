//! From request and profile to plan; every tuning constant stands here with the measurement that chose it.

/// Fewer keys than this are sorted by the calling thread alone.
pub(crate) const PARALLEL_FROM: usize = 1 << 16;

/// Bytes of codes from which a range is distributed before it is finished; less fits a core's cache, where the
/// quicksort is faster.
pub(crate) const DISTRIBUTE_FROM_BYTES: usize = 8 << 20;

/// Bytes of a block of the distribution in place.
pub(crate) const BLOCK_BYTES: usize = 1 << 10;

/// Cells of the classifier's table: it stays in the L1 cache, and tells apart what skewed codes need.
pub(crate) const CELLS: usize = 1 << 12;

/// Codes that a distribution classifies before it moves the first of them: vector instructions do it.
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

/// Keys from which 16-bit keys are counted: the counters are then at most 5% of the data.
pub(crate) const COUNT_16_FROM: usize = 3 << 20;

/// Keys that the profile compares before it looks whether the run was broken.
pub(crate) const PROFILE_STRETCH: usize = 1 << 8;

/// Pairs for each bucket of their distribution: words of 32 bits then leave few of them tied.
pub(crate) const PAIRS_A_BUCKET: usize = 1 << 13;

/// The most buckets of a distribution of pairs: more, and the stores miss the first-level caches.
pub(crate) const PAIR_BUCKETS: usize = 1 << 9;

/// A word of 32 bits orders a bucket where it has so many more bits for the code than for the place: about one code in
/// 16 is then tied.
pub(crate) const NARROW_SLACK_BITS: u32 = 4;

/// Tied codes that are put in order by insertion.
pub(crate) const INSERT_UP_TO: usize = 16;

/// Bytes of scratch from which it is mapped, on huge pages: some of those.
pub(crate) const MAP_SCRATCH_FROM_BYTES: usize = 8 << 20;

/// Strings whose bytes make the alphabet of a string sort.
pub(crate) const ALPHABET_SAMPLE: usize = 1 << 10;

/// Strings that one task encodes.
pub(crate) const ENCODED_BY_A_TASK: usize = 1 << 14;
