//! The structs and constants that the kernels of one array share with the host.

use sortie_device::View;

use super::layout::shared;

/// The number of cells of a range of codes. A sample counts the keys of each.
pub(crate) const CELLS: usize = 1 << 10;
/// The most buckets that a long bucket is distributed to.
pub(crate) const LONG_OWN: usize = 1 << 7;
/// The most ranges that a device's keys are moved to: one for each lane.
pub(crate) const RANGES: usize = 32;

pub(crate) const PROFILE_BLOCK: u32 = 1024;
pub(crate) const SCAN_BLOCK: u32 = 512;
pub(crate) const SETTLE_BLOCK: u32 = 512;

const WARP: usize = sortie_device::WARP as usize;

shared! {
    /// Where codes are cut into buckets.
    memory "classify::Range" CodeRange {
        low: u64,
        span: u64,
        shift: u32,
        scale: u32,
    }

    /// What is known about the keys.
    memory "classify::Profile" Profile {
        range: CodeRange,
        exact: u32,
        seen: u32,
        uneven: u32,
        mixed: u32,
        single: u32,
        crowded: u32,
        tolerated: u32,
        cells: [u32; CELLS + 1],
    }

    /// The codes of the buckets that a sample finds.
    #[derive(Default)]
    argument "classify::Codes<classify::WordOf<Key>::Type>" BucketCodes {
        noted: u64,
        others: u64,
    }

    /// Shared memory of `sample_cells`.
    memory "CellCounts" CellCounts {
        counts: [u32; CELLS],
    }

    /// Shared memory of `share_buckets`.
    memory "Crowded" Crowded {
        sums: [u32; PROFILE_BLOCK as usize / WARP],
        crowded: u32,
    }

    /// Shared memory of `count_buckets`, before its counters.
    memory "Cells" Cells {
        cells: [u32; CELLS + 2],
    }

    /// Shared memory of `scan_buckets`.
    memory "Before" Before {
        sums: [u32; SCAN_BLOCK as usize / WARP],
        keys: u32,
        tiles: u32,
    }

    /// Shared memory of `fill`.
    memory "Shared" SettleShared {
        starts: [u32; SETTLE_BLOCK as usize],
        sums: [u32; SETTLE_BLOCK as usize / WARP],
        group: u32,
        tiles_before: u32,
    }

    /// A bucket that is too long for a block.
    memory "long_buckets::Bucket" LongBucket {
        start: u64,
        end: u64,
        low: u64,
        high: u64,
    }

    /// The buckets that are too long for a block.
    #[derive(Default)]
    argument "long_buckets::Buckets" LongBuckets {
        buckets: u64,
        listed: u64,
        tiles_before: u64,
        tile: u32,
        share: u32,
    }

    /// Shared memory of the kernels of redistribute.cu.
    memory "Shared" RedistributeShared {
        counts: [u32; LONG_OWN],
    }

    /// A pass that moves items to groups of buckets, or to buckets.
    argument "Job" Pass {
        from: u64,
        payload: u64,
        to: u64,
        count: u64,
        profile: u64,
        bits: u32,
        groups: u32,
        group_starts: u64,
        tiles_before: u64,
        cursors: u64,
        long_buckets: LongBuckets,
    }

    /// The counts of the digits of all keys.
    memory "digits::Digits" OnesweepDigits {
        counts: [u64; 8 * 256],
        tickets: [u32; 8],
        active: u32,
        done: u32,
    }

    /// The addresses where one pass leaves keys and payloads for the next.
    #[derive(Default)]
    argument "Side" OnesweepSide {
        keys: u64,
        payload: u64,
    }

    /// Stable passes over keys.
    argument "Job" OnesweepJob {
        keys: u64,
        sides: [OnesweepSide; 2],
        count: u64,
        digits: u64,
        states: u64,
        profile: u64,
        tiles: u32,
    }

    /// Buckets that no block sorts.
    #[derive(Default)]
    argument "left::List" LeftList {
        offsets: u64,
        count: u64,
    }

    /// Addresses of keys in the order of their buckets, and of what moves with them.
    argument "Arrays" StableArrays {
        keys: u64,
        payload: u64,
        payload_from: u64,
    }

    /// Buckets, given by where they begin and end.
    argument "bucket_bounds::Buckets" BucketBounds {
        ends: u64,
        listed: u64,
        count: u32,
        stride: u32,
    }

    /// Addresses of what a distribution reads and writes.
    argument "Arrays" ItemArrays {
        /// Where items are distributed to; the keys themselves, if they are sorted alone.
        items: u64,
        keys: u64,
        /// The payload or index below each code.
        payload: u64,
    }

    /// Addresses of what a bitonic network sorts.
    argument "Arrays" BitonicArrays {
        keys: u64,
        payload: u64,
        count: u64,
    }

    /// A superstep and its Γ-sequence: the lowest `low_bits` bits, and from `high_first` on as many as a tile has left.
    /// Its steps are those of the low bits that `low_steps` names, then those of all high bits.
    #[derive(PartialEq, Eq)]
    argument "Superstep" Superstep {
        low_bits: u32,
        high_first: u32,
        low_steps: u32,
        /// Whether the high bits begin a merge.
        mirrored: u32,
        last: u32,
    }

    /// A pass that moves a device's keys to ranges.
    argument "Job" RangesPass {
        from: u64,
        payload: u64,
        to: u64,
        payload_to: u64,
        count: u64,
        counts: u64,
        starts: [u64; RANGES + 1],
        splitters: [u64; RANGES - 1],
    }

    /// How a group of a sample sort is cut.
    memory "Cut" GroupCut {
        ways: u32,
        tree_bits: u32,
        with_equal: u32,
    }

    /// A level of a sample sort.
    argument "Level" SplitterLevel {
        from: u64,
        to: u64,
        count: u64,
        profile: u64,
        starts: u64,
        groups: u32,
        nested: u32,
        most_ways: u32,
        nodes: u32,
        share: u32,
        tiles_before: u64,
        cuts: u64,
        trees: u64,
        ends: u64,
    }

    /// The buckets that the levels of a sample sort lead to.
    argument "Buckets" SampleBuckets {
        ends: u64,
        count: u64,
        profile: u64,
        ways: u32,
        all: u32,
    }

    /// Addresses of what the last step of a sample sort reads and writes.
    argument "Arrays" SampleArrays {
        items: u64,
        keys: u64,
        payload: u64,
        payload_from: u64,
    }
}

impl BucketBounds {
    /// One bucket of this many keys, for a block.
    pub fn alone(keys: u32) -> BucketBounds {
        BucketBounds { ends: 0, listed: 0, count: keys, stride: 0 }
    }

    /// All buckets between these ends.
    pub fn between(ends: View<'_, u64>) -> BucketBounds {
        BucketBounds { ends: ends.address(), listed: 0, count: ends.len() as u32 - 1, stride: 1 }
    }

    /// Buckets listed as pairs of indices, with their count.
    pub fn listed(pairs: View<'_, u64>, count: View<'_, u32>) -> BucketBounds {
        BucketBounds { ends: pairs.address(), listed: count.address(), count: 0, stride: 2 }
    }
}
