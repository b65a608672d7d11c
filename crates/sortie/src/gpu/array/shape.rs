//! How one large array is cut: its buckets, the tiles of a pass, and the block that sorts a bucket.

use std::ops::{Range, RangeInclusive};

use sortie_device::Properties;

use super::items::{Items, Low};
use crate::gpu::kernels::array::{CELLS, Cells, CodeRange};
use crate::gpu::kernels::{Define, File, Instance, numbers, struct_bytes};

/// How many buckets keys can be moved to.
struct Limits {
    /// Bits of the number of buckets in a group.
    bits: RangeInclusive<u32>,
    groups: usize,
}

impl Limits {
    fn of(items: Items) -> Limits {
        match items.low {
            // One digit for the group, and one for the bucket in it.
            Low::Beside(_) => Limits { bits: 8..=8, groups: 1 << 8 },
            // A group has at least two warps, and there is at most one group per thread.
            _ => Limits { bits: 6..=9, groups: PARTITION_BLOCK as usize },
        }
    }

    /// The most buckets that can be counted in this many slices.
    fn most(&self, counters: usize, slices: usize) -> usize {
        (slices * counters).min(self.groups << self.bits.end())
    }
}

/// If there are more buckets than counters, they are counted in at most this many slices. Each slice takes a read of
/// the keys; buckets that are too long for a block would take two reads and two writes.
const MOST_SLICES: usize = 3;

/// How many buckets there are in all, as a multiple of the buckets for evenly spread keys. Half a binade of normal
/// floats has keys that are 1.3 times as dense in its first bucket as on average.
const SPARE: (usize, usize) = (4, 3);

/// Threads of a block; the first that are enough are taken. Fewer threads wait less for one another; more threads take
/// longer buckets, so there are fewer buckets to distribute to. The last are for devices with little shared memory. A
/// sort of 2^28 u32 and u64 on an H200 took 3.46 and 5.57 ms with 512 threads, 3.48 and 5.87 with 256, and 3.61 and
/// 5.77 with 1024.
const THREADS: [usize; 4] = [512, 1024, 256, 128];
/// The same if something moves with the keys: a multiprocessor has shared memory for more blocks if they are smaller.
const THREADS_BESIDE: [usize; 7] = [256, 320, 384, 512, 768, 1024, 128];
/// Items per thread, as many as 64 registers hold. With 20 items and 256 threads, the sorts above took 3.54 and 6.14
/// ms.
const ROW: usize = 16;

/// Threads and rows of a block that sorts one small array alone. Rows are short, because its multiprocessor has nothing
/// else to do.
const ALONE: [(usize, usize); 5] = [(256, 4), (512, 4), (1024, 4), (1024, 8), (1024, 16)];

/// Threads of a block that moves a tile.
pub(super) const PARTITION_BLOCK: u32 = 512;
/// Words of keys that a thread of a pass holds in registers: the first for which there is shared memory. The first pass
/// of 2^28 u32 to 226 groups on an H200 took 0.79 ms with 24, 0.82 with 20, and 0.89 with 16. A block takes one tile:
/// with blocks that stay and load the keys of the next tile while they write, two passes took 0.13 ms more for u32, and
/// 0.6 more for u64.
const PARTITION_WORDS: [usize; 2] = [24, 16];

/// How many buckets there are: a number of groups, each of 2^bits buckets.
#[derive(Debug, Clone, Copy)]
pub(super) struct Buckets {
    pub bits: u32,
    pub groups: usize,
    /// The groups that evenly spread keys need. The others make up for what a sample does not show.
    even_groups: usize,
    /// Groups that are counted at a time.
    slice: usize,
}

impl Buckets {
    /// Chooses the buckets for this many keys and for blocks that sort one bucket each, if `counters` buckets are
    /// counted at a time.
    fn new(keys: usize, block: Block, counters: usize, limits: &Limits) -> Buckets {
        let most = limits.most(counters, MOST_SLICES);
        let wanted = (keys / block.bucket_keys()).clamp(1, most);
        let half = wanted.next_power_of_two().ilog2().div_ceil(2);
        let bits = half.clamp(*limits.bits.start(), *limits.bits.end());
        let slice = counters >> bits;
        // Never fewer buckets than wanted, if there is room for them: only a few keys more would be too many for a
        // block.
        let groups = wanted.div_ceil(1 << bits);
        let most = if wanted > counters { (MOST_SLICES * slice).min(limits.groups) } else { slice };
        let even_groups = groups.min(most).max(1);
        // More groups must not lead to more slices.
        let spare = if even_groups > slice { even_groups } else { slice.min(limits.groups) };
        let groups = (even_groups * SPARE.0 / SPARE.1).clamp(even_groups, spare.max(even_groups));
        Buckets { bits, groups, even_groups, slice }
    }

    /// The number of buckets that evenly spread keys need.
    pub fn even(self) -> usize {
        self.even_groups << self.bits
    }

    pub fn count(self) -> usize {
        self.groups << self.bits
    }

    /// The groups of each slice.
    pub fn slices(self) -> impl Iterator<Item = Range<usize>> {
        (0..self.groups).step_by(self.slice).map(move |first| first..self.groups.min(first + self.slice))
    }
}

/// The number of buckets for which a block has counters, of two bytes each, in this many bytes of shared memory.
fn counters(shared: usize) -> usize {
    (shared - size_of::<Cells>()) / 2
}

/// The numbers of buckets, keys and threads.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub buckets: Buckets,
    pub blocks: Blocks,
    pub multiprocessors: u32,
}

/// What its kernels are instantiated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Blocks {
    /// The block that sorts a bucket.
    pub finishing: Block,
    /// Whether buckets are counted in slices.
    pub is_sliced: bool,
    /// Items that a thread of a pass holds.
    row: usize,
    item_bytes: usize,
}

impl Shape {
    pub fn new(n: usize, items: Items, device: &Properties) -> Shape {
        let (shared, item_bytes) = (device.shared_per_block, items.bytes());
        let counters = counters(shared);
        let limits = Limits::of(items);
        let most = (1..=MOST_SLICES).map(|slices| limits.most(counters, slices));
        let block = Block::new(n, items, most, shared);
        let buckets = Buckets::new(n, block, counters, &limits);
        let [large, small] = PARTITION_WORDS.map(|words| words / item_bytes.div_ceil(4));
        let row = if partition_shared(large, item_bytes) <= shared { large } else { small };
        let is_sliced = buckets.slices().count() > 1;
        let blocks = Blocks { finishing: block, is_sliced, row, item_bytes };
        Shape { buckets, blocks, multiprocessors: device.multiprocessors }
    }

    /// The same with this many buckets, which are too many to be counted at once.
    #[cfg(test)]
    pub fn sliced(self, buckets: usize) -> Shape {
        let bits = 6;
        let groups = buckets >> bits;
        let blocks = Blocks { is_sliced: true, ..self.blocks };
        Shape { buckets: Buckets { bits, groups, even_groups: groups, slice: 4 }, blocks, ..self }
    }

    /// Whether hardly any bucket is too long for a block, if keys are spread evenly.
    pub fn holds(self, n: usize) -> bool {
        n / self.buckets.even() <= self.blocks.finishing.bucket_keys()
    }
}

impl Blocks {
    /// A pass that moves these items.
    pub fn pass(self, items: Items, step: &str) -> Instance {
        let mut defines = items.defines();
        defines.push(("SORTIE_THREADS", PARTITION_BLOCK.to_string()));
        defines.push(("SORTIE_ROW", self.row.to_string()));
        defines.push(("SORTIE_STEP", step.into()));
        defines.push(("SORTIE_BLOCK_MEMORY", self.partition_shared().to_string()));
        Instance { kernel: "partition", file: File::Partition, defines }
    }

    /// Words of a code, as needed for atomics.
    pub fn code_words(self) -> usize {
        self.item_bytes.div_ceil(size_of::<u32>())
    }

    pub fn tile(self) -> usize {
        PARTITION_BLOCK as usize * self.row
    }

    /// Bytes of shared memory of a pass.
    pub fn partition_shared(self) -> usize {
        partition_shared(self.row, self.item_bytes)
    }
}

/// Bytes of `partition::Shared`, with rows of this many items.
fn partition_shared(row: usize, item_bytes: usize) -> usize {
    let threads = PARTITION_BLOCK as usize;
    // The group and its tiles come before the cells.
    let words = 3 * threads + threads / 32 + 2 + CELLS + 1;
    struct_bytes(&[numbers(item_bytes, threads * row), numbers(size_of::<u32>(), words)])
}

/// A block that sorts a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Block {
    pub threads: usize,
    /// Items per thread.
    row: usize,
    item_bytes: usize,
    /// Bytes of a word of what moves with each key, if anything does.
    word_bytes: Option<usize>,
}

impl Block {
    /// A block for `n` of these items, on a device whose blocks have this much shared memory. Of the given numbers of
    /// buckets, the first for which any block is large enough counts, with its first such block; if there is none, the
    /// largest block is taken.
    pub fn new(n: usize, items: Items, buckets: impl IntoIterator<Item = usize>, shared: usize) -> Block {
        let item_bytes = items.bytes();
        let (threads, word_bytes): (&[usize], _) = match items.low {
            Low::Beside(moving) => (&THREADS_BESIDE, Some(moving.word_bytes())),
            _ => (&THREADS, None),
        };
        let blocks: Vec<Block> =
            threads.iter().map(|&threads| Block { threads, row: ROW, item_bytes, word_bytes }).collect();
        let fitting = || blocks.iter().filter(|block| block.shared() <= shared);
        let enough = |most| fitting().find(|block| n / block.bucket_keys() <= most);
        let largest = || fitting().max_by_key(|block| block.capacity());
        *buckets.into_iter().find_map(enough).or_else(largest).unwrap_or(&blocks[blocks.len() - 1])
    }

    /// The smallest block that sorts `n` keys of this many bytes at once, with words of this size moved along, if there
    /// is any.
    pub fn of_all(n: usize, item_bytes: usize, word_bytes: usize, shared: usize) -> Option<Block> {
        ALONE
            .map(|(threads, row)| Block { threads, row, item_bytes, word_bytes: Some(word_bytes) })
            .into_iter()
            .find(|block| n <= block.capacity() && block.shared() <= shared)
    }

    pub fn capacity(self) -> usize {
        self.threads * self.row
    }

    /// Keys that a bucket has if they are spread evenly: with as many buckets as there can be, hardly any is too long.
    pub fn bucket_keys(self) -> usize {
        self.capacity() - 7 * self.capacity().isqrt()
    }

    /// Bytes of `finish_buckets::Shared` or of `finish_stable::Shared`.
    pub fn shared(self) -> usize {
        let (warps, rows, item) = (self.threads / 32, self.threads * (self.row | 1), self.item_bytes.max(4));
        let range = (size_of::<CodeRange>(), align_of::<CodeRange>(), 1);
        let Some(word_bytes) = self.word_bytes else {
            let words = numbers(size_of::<u32>(), warps + 1);
            return struct_bytes(&[numbers(item, 2 * warps), range, words, numbers(item, rows)]);
        };
        // Its `Ranking` takes the place of the items.
        let values = if self.threads < 256 { 1 << 7 } else { 1 << 8 };
        let ranking = warps * values + self.capacity() / 2;
        struct_bytes(&[
            numbers(item, 2 * warps),
            // A `Packing`.
            (struct_bytes(&[numbers(item, 1), numbers(size_of::<u32>(), 1)]), item, 1),
            range,
            numbers(size_of::<u32>(), 1 + warps + 1 + rows.max(ranking)),
            numbers(item, self.capacity()),
            numbers(word_bytes, self.capacity()),
        ])
    }

    /// The macros that `bins.cuh` is instantiated with.
    pub fn defines(self) -> [Define; 3] {
        [
            ("SORTIE_THREADS", self.threads.to_string()),
            ("SORTIE_ROW", self.row.to_string()),
            ("SORTIE_BLOCK_MEMORY", self.shared().to_string()),
        ]
    }

    /// Bytes of `finish_buckets::Stretches`.
    pub fn stretches_shared(self) -> usize {
        struct_bytes(&[numbers(size_of::<u32>(), 1 + self.threads)])
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::onesweep::Moving;
    use super::*;
    use crate::Order;
    use crate::key::Code;

    /// A device like an H200, with this much shared memory per block.
    pub fn device(shared_per_block: usize) -> Properties {
        Properties {
            name: "a device".into(),
            kind: "none",
            ordinal: 0,
            id: String::new(),
            compute_capability: (9, 0),
            multiprocessors: 132,
            shared_per_block,
            memory_total: 141 << 30,
            l2_bytes: 50 << 20,
        }
    }

    fn shape(key_bytes: usize, low: Low, n: usize, shared_per_block: usize) -> Shape {
        let items = Items { key_bytes, code: Code::Unsigned, order: Order::default(), low };
        let shape = Shape::new(n, items, &device(shared_per_block));
        let slices: Vec<_> = shape.buckets.slices().collect();
        assert_eq!(slices.iter().map(Range::len).sum::<usize>(), shape.buckets.groups);
        assert!(slices.len() <= MOST_SLICES, "{n} keys of {key_bytes} bytes in {shared_per_block}");
        shape
    }

    /// With 2^31 keys every bucket was once too long, because the smallest block was taken if there were slices.
    #[test]
    fn buckets_fit_their_blocks_however_many_keys_there_are() {
        for key_bytes in [4, 8] {
            for n in [1 << 24, 1 << 28, 1 << 30, 1_900_000_000, 1 << 31, 3_000_000_000, 4_000_000_000] {
                let shape = shape(key_bytes, Low::Nothing, n, 227 << 10);
                let keys = n / shape.buckets.count();
                assert!(
                    keys <= shape.blocks.finishing.bucket_keys(),
                    "{n} keys of {key_bytes} bytes: {keys} a bucket"
                );
                assert!(n > 1_700_000_000 || shape.buckets.slices().count() == 1);
            }
        }
    }

    /// If no block is large enough, the largest one still leaves the fewest buckets that are too long.
    #[test]
    fn the_largest_block_takes_what_is_too_much_for_any() {
        let most = super::super::items::MOST_KEYS;
        assert_eq!(shape(4, Low::Nothing, most, 227 << 10).blocks.finishing.capacity(), 1 << 14);
        let beside = Low::Beside(Moving::Payload(8));
        let wide = |n| shape(4, beside, n, 227 << 10).blocks.finishing.capacity();
        assert!(wide(3_000_000_000) > wide(1 << 28));
    }

    /// There were once four slices if the buckets of one were not a whole number of groups.
    #[test]
    fn slices_are_no_more_than_allowed_in_little_shared_memory() {
        for log in 24..32 {
            shape(4, Low::Nothing, 1 << log, 48 << 10);
            shape(8, Low::Nothing, 3 << (log - 1), 48 << 10);
        }
    }
}
