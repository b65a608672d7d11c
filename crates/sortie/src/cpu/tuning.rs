//! The tuning constants of the CPU engine, each with the measurement or the count that determined it. Measured on two
//! cores of an Intel Xeon (Sapphire Rapids, 2 MB of L2 cache per core).

use super::vector::Isa;

/// The bytes of codes from which a range is distributed before it is finished. The buffers take 256 KB, which is then
/// 3% of the data; 5% is allowed. Up to twice the size of the L2 cache, the quicksort alone is as fast.
pub(crate) const DISTRIBUTE_FROM_BYTES: usize = 8 << 20;

/// The bytes of keys that fit in a core's own caches while they are partitioned.
pub(crate) const NEAR_BYTES: usize = 1 << 20;

/// The size of a block in the distribution in place. 10^7 u32 on one thread took 82 ms with 256 bytes, 95 ms with 512,
/// 68 ms with 1024.
pub(crate) const BLOCK_BYTES: usize = 1 << 10;

/// The cells of the classifier's table: 8 KB, which stay in the L1 cache. The table takes no additional time: 10^7 u32
/// took 68 ms with it, and 70 ms with digits only.
pub(crate) const CELLS: usize = 1 << 12;

/// The codes that a distribution classifies before it moves the first of them: two to four registers of each width, so
/// that vector instructions can be used.
pub(crate) const CLASSIFY_AHEAD: usize = 32;

/// The codes sampled for each bucket of a classifier.
pub(crate) const SAMPLED_A_BUCKET: usize = 8;

/// The codes sampled for the pivot of a partition among threads. The halves then differ by about 2%.
pub(crate) const PIVOT_SAMPLE: usize = 1 << 11;

/// A classifier that puts more than 1/`LARGEST_BUCKET` of the sample in one bucket is not used.
pub(crate) const LARGEST_BUCKET: usize = 4;

/// The ranges that a parallel sort makes for each thread, so that all threads have work until the end.
pub(crate) const RANGES_A_THREAD: usize = 4;

/// The keys that one task of a parallel partition exchanges.
pub(crate) const EXCHANGED_BY_A_TASK: usize = 1 << 15;

/// The number of 16-bit keys from which they are counted, unless they have few distinct values. On one core of an AMD EPYC
/// (Zen 4), 5 x 10^5 random keys took 1.9 ns each by counting and 1.65 by the vectorised sort, 10^6 keys 1.3 and 1.7. Of 100 values or
/// fewer, the counters of equal neighbours wait for each other: 10^6 took 0.7 to 1.0 ns by counting and 0.25 by vectors.
pub(crate) const COUNT_16_FROM: usize = 1 << 19;

/// The number of threads up to which 16-bit keys are counted, which one thread does.
pub(crate) const COUNTED_BY_THREADS: usize = 2;

/// The bytes of 128-bit keys from which a range is distributed. There are no vectors for these keys, so each step of a
/// quicksort is slow.
pub(crate) const DISTRIBUTE_WIDE_FROM_BYTES: usize = 1 << 20;

/// The number of keys of more than 64 bits, or without a fixed width, up to which std's sort is as fast.
pub(crate) const COMPARED: usize = 32;

/// The same for 128-bit integers, which std compares fast. With AVX2, 300 of them take 11.4 ns each with std's sort and
/// 13.2 ns by their codes. With AVX-512, sorting by codes takes half the time of std's sort.
pub(crate) fn compared_integers(isa: Isa) -> usize {
    if isa.registers() == Some(1) { COMPARED } else { 512 }
}

/// The number of tuples, options or byte arrays from which they are replaced by their codes. With AVX-512, ten `[u8; 8]` take 35 ns by
/// their codes and 21 ns with std's sort; a hundred take 2.2 ns each and 5.8 ns.
pub(crate) const CODED_FROM: usize = 12;

/// The codes whose median is the pivot of a quicksort by code; the same for many items; and the number that counts as
/// many.
pub(crate) const PIVOT_OF: usize = 15;
pub(crate) const PIVOT_OF_MANY: usize = 127;
pub(crate) const PIVOT_OF_MANY_FROM: usize = 1 << 14;

/// The keys after a run are sorted separately and merged with it if they are at most 1/`TAIL` of all keys.
pub(crate) const TAIL: usize = 8;

/// The cost of a merge, in picoseconds per key: compared one by one (an organ pipe: 5.3 ns), and moved in blocks
/// (rotated sorted keys: 0.63 ns).
pub(crate) const MERGED_KEY_PICOSECONDS: usize = 5500;
pub(crate) const MOVED_KEY_PICOSECONDS: usize = 650;

/// The cost of the vectorised sort, in picoseconds per key and log2 of the number of keys. For 3,000 keys it is 1.2 ns for a 16-bit key,
/// 2.5 ns for a 32-bit key and 4.8 ns for a 64-bit key. AVX2 takes twice as long. `None` without vector instructions.
pub(crate) fn sort_step_picoseconds(isa: Isa, width: u32) -> Option<usize> {
    let step = match width {
        ..=16 => 110,
        32 => 230,
        64 => 410,
        _ => return None,
    };
    Some(step * isa.registers()?)
}

/// The pairs that one thread orders without a distribution. They and their words stay in its cache.
pub(crate) const PAIRS_AT_ONCE: usize = 1 << 17;

/// The number of threads up to which one of them merges two runs. More threads sort in less time.
pub(crate) const MERGED_BY_THREADS: usize = 2;

/// The number of threads up to which many keys are argsorted as packed words. One thread orders the ties and writes the
/// indices.
pub(crate) const PACKED_BY_THREADS: usize = 2;

/// The pairs for each bucket of a distribution. Words of 32 bits then leave few of them tied.
pub(crate) const PAIRS_A_BUCKET: usize = 1 << 13;

/// The maximum number of buckets in a distribution of pairs. Their lines then fill 32 KB of the L1 cache. 10^7 pairs of
/// u64 on one thread took 196 ms with 512, 223 ms with 1024.
pub(crate) const PAIR_BUCKETS: usize = 1 << 9;

/// The number of 8-bit keys from which their indices are found by digits. Fewer keys are not worth the counters.
pub(crate) const DIGITS_OF_8_FROM: usize = 1 << 10;

/// The number of 16-bit keys from which their indices are found by digits, which takes two passes. Those of 30,000 keys took 5.2 ns a
/// key by digits and 4.1 by words; those of 131,072, 6.0 and 8.0.
pub(crate) const DIGITS_OF_16_FROM: usize = 1 << 16;

/// The bytes of a target from which a pass by digits writes whole cache lines. A target in the caches is written faster without: the
/// indices of 3 x 10^5 u8 took 0.6 ms, and with lines 1.3 ms; those of 10^6, 5.4 ms and 4.2 ms.
pub(crate) const DIGIT_LINES_FROM_BYTES: usize = 1 << 22;

/// The pairs of a bucket that fit in the L2 cache while they are ordered. If `PAIR_BUCKETS` buckets would be larger,
/// each cell gets a bucket: 10^8 pairs of u64 on 16 threads took 330 ms with 512 buckets, 224 ms with 4096.
pub(crate) const PAIRS_IN_CACHE: usize = 1 << 16;

/// A bucket is ordered by 32-bit words if they have this many more bits for the code than for the index. About one code
/// in 16 is then tied.
pub(crate) const NARROW_SLACK_BITS: u32 = 4;

/// The minimum number of codes that are ranked if they have few distinct values, and the number of codes sampled to
/// find out. 128 random codes miss one of 16 values in one of 250 cases, and take 2 us to sort. The same for up to
/// [`FEW`] keys.
pub(crate) const RANK_FROM: usize = 1 << 10;
pub(crate) const RANK_SAMPLE: usize = 128;
pub(crate) const RANK_FEW_FROM: usize = 128;
pub(crate) const RANK_SAMPLE_OF_FEW: usize = 32;

/// The number of codes or strings up to which they are inserted, about the same as in std's sort.
pub(crate) const INSERT_UP_TO: usize = 16;

/// The number of strings up to which they are sorted by comparison. More are faster to sort by words. At most 20, which
/// std's sort inserts in place.
pub(crate) const COMPARE_STRINGS_UP_TO: usize = 16;

/// The number of strings from which more than [`MERGED_BY_THREADS`] threads distribute them. Fewer would be one bucket.
pub(crate) const DISTRIBUTE_STRINGS_BY_THREADS_FROM: usize = PAIRS_A_BUCKET;

/// The number of strings from which fewer threads distribute them. One thread takes less time without: 8,500 e-mail addresses took
/// 25 ns each, and 35 with a distribution; 50,000 took 33 and 45.
pub(crate) const DISTRIBUTE_STRINGS_FROM: usize = 1 << 16;

/// The strings whose bytes form the alphabet of a string sort.
pub(crate) const ALPHABET_SAMPLE: usize = 1 << 10;

/// The strings that one task encodes, or compares with their neighbours.
pub(crate) const STRINGS_A_TASK: usize = 1 << 14;

/// The number of keys up to which a sort makes no plan and no report. Reading the clock twice takes as long as sorting
/// some tens of keys.
pub(crate) const FEW: usize = 1 << 10;

/// The strings sampled to estimate how many will tie by their first words. Of 10^8 strings that tie only by chance, all
/// tie if one in 16,384 ties in the sample.
#[cfg(feature = "gpu")]
pub(crate) const CUT_SAMPLE: usize = 1 << 14;
