//! The tuning constants of the CPU engine, each with the measurement or the count that chose it. Measured on two cores of an Intel
//! Xeon (Sapphire Rapids, 2 MB of L2 cache a core).

use super::vector::Isa;

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

/// A classifier that puts more than 1/`LARGEST_BUCKET` of the sample in one bucket is not used.
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

/// The keys after a run are sorted separately and merged with it if they are at most 1/`TAIL` of all keys.
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

/// Threads up to which many keys are argsorted as packed words: one thread brings those that tie in order, and writes the indices.
pub(crate) const PACKED_BY_THREADS: usize = 2;

/// Pairs for each bucket of their distribution: words of 32 bits then leave few of them tied.
pub(crate) const PAIRS_A_BUCKET: usize = 1 << 13;

/// The most buckets of a distribution of pairs: their lines then fill 32 KB of the L1 cache. 10^7 pairs of u64 by one
/// thread: 196 ms with 512, 223 with 1024.
pub(crate) const PAIR_BUCKETS: usize = 1 << 9;

/// Pairs of a bucket that fits the L2 cache while it is ordered. If `PAIR_BUCKETS` would be larger, each cell gets a bucket: 10^8
/// pairs of u64 by 16 threads take 330 ms with 512 buckets, 224 with 4096.
pub(crate) const PAIRS_IN_CACHE: usize = 1 << 16;

/// A bucket is ordered by words of 32 bits if they have this many more bits for the code than for the index: about one code in 16
/// is then tied.
pub(crate) const NARROW_SLACK_BITS: u32 = 4;

/// Fewest codes that are ranked if they have few distinct values, and codes sampled to find those: 128 random codes miss one of 16
/// values in 250 cases, and take 2 us to sort. The same of up to [`FEW`] keys.
pub(crate) const RANK_FROM: usize = 1 << 10;
pub(crate) const RANK_SAMPLE: usize = 128;
pub(crate) const RANK_FEW_FROM: usize = 128;
pub(crate) const RANK_SAMPLE_OF_FEW: usize = 32;

/// Codes or strings that are put in order by insertion: as many as std's sort takes for it, about.
pub(crate) const INSERT_UP_TO: usize = 16;

/// Strings up to which they are sorted by comparison: more are sorted by words in less time. At most 20, which std's sort
/// inserts in place.
pub(crate) const COMPARE_STRINGS_UP_TO: usize = 16;

/// Strings from which on they are distributed: fewer would be one bucket.
pub(crate) const DISTRIBUTE_STRINGS_FROM: usize = PAIRS_A_BUCKET;

/// Strings whose bytes make the alphabet of a string sort.
pub(crate) const ALPHABET_SAMPLE: usize = 1 << 10;

/// Strings that one task encodes, or compares with their neighbours.
pub(crate) const STRINGS_A_TASK: usize = 1 << 14;

/// Keys up to which a sort makes no plan and no report: reading the clock twice takes as long as sorting some tens.
pub(crate) const FEW: usize = 1 << 10;

/// Strings by which is guessed how many will tie by their first words: of 10^8 that differ by chance alone, those tie of which
/// one in 16,384 ties in the sample.
#[cfg(feature = "gpu")]
pub(crate) const CUT_SAMPLE: usize = 1 << 14;
