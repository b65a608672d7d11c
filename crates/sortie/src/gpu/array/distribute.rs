//! The distribution of one large array: its profile, and two unstable passes to its buckets.
//!
//! One read counts the keys of every bucket and completes the profile. The first pass moves items to groups of buckets in a
//! copy, the second from there to their buckets. All of it is decided on the device: nothing is read back.

use std::ops::Range;

use sortie_device::{Kernel, Launch, Properties, Stream, View};

use super::finish::Block;
use super::items::Items;
use super::redistribute;
use crate::Error;
use crate::gpu::Gpu;
use crate::gpu::kernels::array::{
    Before, CELLS, CellCounts, Cells, Crowded, ItemArrays, LONG_OWN, LongBuckets, PLACE_BLOCK, PROFILE_BLOCK,
    Pass, Profile, SETTLE_BLOCK, SettleShared,
};
use crate::gpu::kernels::{CodeTransform, Define, File, Instance, blocks};

/// Buckets are in groups of at least two warps, and at most a thread each.
const GROUP_BITS: std::ops::RangeInclusive<u32> = 6..=9;
const MOST_GROUPS: usize = PARTITION_BLOCK as usize;
/// More buckets than there are counters for are counted in slices, so many at most: each takes a read of the keys, buckets
/// too long for a block two reads and two writes.
const MOST_SLICES: usize = 3;

/// Blocks on a multiprocessor that compare or sample.
const PROFILE_BLOCKS: u32 = 2;
/// One key of so many is sampled to see how they are spread: of 2^28, some 500 a cell, whose share is right within a tenth
/// then. Of few keys more.
const SAMPLED_OF: usize = 512;
const SAMPLED_LEAST: usize = 1 << 16;
const COUNT_BLOCK: u32 = 1024;
const COUNT_TILE: usize = 1024 * 8;
/// Its blocks on a multiprocessor: all that there is room for.
const SETTLE_BLOCKS: u32 = 4;

pub(super) const PARTITION_BLOCK: u32 = 512;
/// Words of keys that a thread of a pass holds in registers, as many as there is shared memory for. The first pass of
/// 2^28 u32 by 226 groups on an H200: 0.79 ms with 24, 0.82 with 20, 0.89 with 16. A block takes one tile: with blocks that
/// stay and load the next tile's keys while they write, two passes of u32 took 0.13 ms more, of u64 0.6.
const PARTITION_WORDS: [usize; 2] = [24, 16];

/// Of a profile, in words of scratch.
const PROFILE_WORDS: usize = size_of::<Profile>() / size_of::<u32>();

/// How many buckets there are: groups of 2^bits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Buckets {
    bits: u32,
    groups: usize,
    /// Groups that are counted at a time.
    slice: usize,
}

impl Buckets {
    /// For so many keys, and blocks that sort a bucket each, where so many are counted at a time.
    fn new(keys: usize, block: Block, counters: usize) -> Buckets {
        let most = Buckets::most(counters, MOST_SLICES);
        let wanted = (keys / block.bucket_keys()).clamp(1, most);
        let half = wanted.next_power_of_two().ilog2().div_ceil(2);
        let bits = half.clamp(*GROUP_BITS.start(), *GROUP_BITS.end());
        let slice = counters >> bits;
        // Never fewer buckets than wanted, where there is room for them: few keys more would be too many for a block.
        let groups = wanted.div_ceil(1 << bits);
        let most = if wanted > counters { (MOST_SLICES * slice).min(MOST_GROUPS) } else { slice };
        let groups = groups.min(most);
        Buckets { bits, groups: groups.max(1), slice }
    }

    /// The most that are counted in so many slices.
    fn most(counters: usize, slices: usize) -> usize {
        (slices * counters).min(MOST_GROUPS << GROUP_BITS.end())
    }

    pub fn count(self) -> usize {
        self.groups << self.bits
    }

    /// Groups of each slice.
    fn slices(self) -> impl Iterator<Item = Range<usize>> {
        (0..self.groups).step_by(self.slice).map(move |first| first..self.groups.min(first + self.slice))
    }
}

/// The buckets that a block has counters for, of two bytes each, in so many bytes of shared memory.
fn counters(shared: usize) -> usize {
    (shared - size_of::<Cells>()) / 2
}

/// What decides on how many buckets, keys and threads there are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub buckets: Buckets,
    pub block: Block,
    /// Items that a thread of a pass holds.
    row: usize,
    item_bytes: usize,
    pub multiprocessors: u32,
}

impl Shape {
    pub fn new(n: usize, items: Items, device: &Properties) -> Shape {
        let (shared, item_bytes) = (device.shared_per_block, items.bytes());
        let counters = counters(shared);
        let most = (1..=MOST_SLICES).map(|slices| Buckets::most(counters, slices));
        let block = Block::new(n, items, most, shared);
        let buckets = Buckets::new(n, block, counters);
        let [large, small] = PARTITION_WORDS.map(|words| words / item_bytes.div_ceil(4));
        let row = if partition_shared(large, item_bytes) <= shared { large } else { small };
        Shape { buckets, block, row, item_bytes, multiprocessors: device.multiprocessors }
    }

    /// The same with so many buckets, too many to be counted at once.
    #[cfg(test)]
    pub fn sliced(self, buckets: usize) -> Shape {
        let bits = *GROUP_BITS.start();
        Shape { buckets: Buckets { bits, groups: buckets >> bits, slice: 4 }, ..self }
    }

    pub fn tile(self) -> usize {
        PARTITION_BLOCK as usize * self.row
    }

    /// Bytes of shared memory of a pass.
    pub fn partition_shared(self) -> usize {
        partition_shared(self.row, self.item_bytes)
    }
}

/// Bytes of `partition::Shared`, with rows of so many items.
fn partition_shared(row: usize, item_bytes: usize) -> usize {
    let threads = PARTITION_BLOCK as usize;
    let cells = 4 * (CELLS + 1);
    (threads * row * item_bytes + threads * (4 + 4 + 4) + threads / 32 * 4 + 8 + cells).next_multiple_of(8)
}

/// Kernels that put keys in order which need no distribution.
enum Settle {
    Alone {
        reverse: Kernel,
        fill: Kernel,
    },
    /// Of an argsort.
    Places(Kernel),
    /// There is nothing to do.
    Pairs,
}

pub(super) struct Kernels {
    sample: Kernel,
    check_order: Kernel,
    sample_cells: Kernel,
    share_buckets: Kernel,
    count_buckets: Kernel,
    place_buckets: Kernel,
    first: Kernel,
    second: Kernel,
    settle: Settle,
    redistribute: redistribute::Kernels,
}

impl Kernels {
    pub fn new(gpu: &Gpu, shape: Shape, items: Items) -> Result<Kernels, Error> {
        let payload = items.payload_define();
        let pass = |items: Items, step: &str| {
            let mut defines: Vec<Define> = items.defines();
            defines.push(payload.clone());
            defines.push(("SORTIE_THREADS", PARTITION_BLOCK.to_string()));
            defines.push(("SORTIE_ROW", shape.row.to_string()));
            defines.push(("SORTIE_STEP", step.into()));
            Instance { kernel: "partition", file: File::Partition, defines }
        };
        let own = |file, kernel| Instance { kernel, file, defines: items.defines() };
        let counting = |kernel| {
            let Instance { mut defines, .. } = own(File::CountBuckets, kernel);
            defines.push(("SORTIE_SLICED", u8::from(shape.buckets.slices().count() > 1).to_string()));
            Instance { kernel, file: File::CountBuckets, defines }
        };
        let instances = [
            own(File::Profile, "sample"),
            own(File::Profile, "check_order"),
            own(File::Profile, "sample_cells"),
            own(File::Profile, "share_buckets"),
            counting("count_buckets"),
            counting("place_buckets"),
            pass(items, "FIRST"),
            pass(items, "SECOND"),
            pass(items.as_keys(), "AGAIN"),
            own(File::Settle, "reverse"),
            own(File::Settle, "fill"),
            own(File::Settle, "number"),
        ];
        let kernels = gpu.kernels(&instances)?;
        let [sample, check_order, sample_cells, share_buckets, count_buckets, place_buckets, rest @ ..] =
            <[Kernel; 12]>::try_from(kernels).expect("as many as instances");
        let [first, second, again, reverse, fill, number] = rest;
        Ok(Kernels {
            sample,
            check_order,
            sample_cells,
            share_buckets,
            count_buckets,
            place_buckets,
            first,
            second,
            settle: if items.are_alone() {
                Settle::Alone { reverse, fill }
            } else if items.are_argsorted() {
                Settle::Places(number)
            } else {
                Settle::Pairs
            },
            redistribute: redistribute::Kernels::new(gpu, items, again)?,
        })
    }
}

/// The scratch of a sort, as the kernels say.
#[derive(Clone, Copy)]
pub(super) struct Tables<'a> {
    /// What is zero before: the profile, counts and groups.
    zero: View<'a, u32>,
    profile: View<'a, u32>,
    counts: View<'a, u32>,
    groups: View<'a, u32>,
    group_starts: View<'a, u64>,
    group_cursors: View<'a, u64>,
    tiles_before: View<'a, u32>,
    pub ends: View<'a, u64>,
}

impl<'a> Tables<'a> {
    /// Words of each, in order.
    fn lengths(shape: Shape) -> [usize; 7] {
        let (buckets, groups) = (shape.buckets.count(), shape.buckets.groups);
        let (starts, ends) = (2 * (groups + 1), 2 * (buckets + 1));
        // Each begins where 16 bytes do.
        [PROFILE_WORDS, buckets, groups, starts, starts, groups + 1, ends]
            .map(|words| words.next_multiple_of(4))
    }

    /// Words of all.
    pub fn words(shape: Shape) -> usize {
        Tables::lengths(shape).into_iter().sum()
    }

    pub fn new(scratch: View<'a, u32>, shape: Shape) -> Tables<'a> {
        let lengths = Tables::lengths(shape);
        let mut taken = 0;
        let parts = lengths.map(|words| {
            taken += words;
            scratch.range(taken - words..taken)
        });
        let [profile, counts, groups, group_starts, group_cursors, tiles_before, ends] = parts;
        Tables {
            zero: scratch.range(0..lengths[..3].iter().sum()),
            profile,
            counts,
            groups,
            group_starts: group_starts.cast(),
            group_cursors: group_cursors.cast(),
            tiles_before,
            ends: ends.range(0..2 * (shape.buckets.count() + 1)).cast(),
        }
    }
}

/// Addresses of items, or of the keys that they are made from, and of the payload beside them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Side {
    pub items: u64,
    pub payload: u64,
}

/// Its methods enqueue, in this order. Each needs what [`Gpu::sort`] needs.
pub(super) struct Job<'a> {
    pub stream: &'a Stream,
    pub n: usize,
    pub arrays: ItemArrays,
    /// Room for another copy of the items and the payload.
    pub copy: Side,
    pub shape: Shape,
    pub tables: Tables<'a>,
    pub kernels: Kernels,
    /// Of the keys.
    pub transform: CodeTransform,
    /// Of the items, as keys of their own.
    pub item_transform: CodeTransform,
}

// SAFETY of all launches: the arguments are the kernel's; it stays within the arrays and the tables, whose lengths are as it
// says. The engine keeps the kernels.
impl Job<'_> {
    /// Looks at the keys: their range, their order, how they are spread.
    pub unsafe fn profile(&self) -> Result<(), Error> {
        let (keys, n, profile) = (self.arrays.keys, self.n, self.tables.profile);
        let (stream, kernels, buckets) = (self.stream, &self.kernels, self.bucket_count());
        stream.fill(self.tables.zero, 0)?;
        let one = Launch { blocks: 1, threads: PROFILE_BLOCK, shared: 2 * size_of::<u64>() };
        let many = Launch { blocks: self.shape.multiprocessors * PROFILE_BLOCKS, ..one };
        let sampled = (n / SAMPLED_OF).max((n / 8).min(SAMPLED_LEAST)) as u32;
        let sampling = Launch {
            blocks: many.blocks.min(sampled.div_ceil(PROFILE_BLOCK)),
            shared: size_of::<CellCounts>(),
            ..many
        };
        let sharing = Launch { shared: size_of::<Crowded>(), ..one };
        // SAFETY: see above.
        unsafe {
            kernels.sample.launch(stream, one, (keys, n, buckets, profile, self.transform))?;
            kernels.check_order.launch(stream, many, (keys, n, profile, self.transform))?;
            kernels.sample_cells.launch(stream, sampling, (keys, n, sampled, profile, self.transform))?;
            kernels.share_buckets.launch(stream, sharing, (sampled, buckets, profile))?;
        }
        Ok(())
    }

    /// Counts the keys of each bucket, and says where the buckets are.
    pub unsafe fn count(&self) -> Result<(), Error> {
        let Tables { profile, counts, groups, .. } = self.tables;
        let Tables { group_starts, group_cursors, tiles_before, ends, .. } = self.tables;
        let (keys, n) = (self.arrays.keys, self.n);
        for slice in self.shape.buckets.slices() {
            let buckets = slice.start << self.bits()..slice.end << self.bits();
            let launch = Launch {
                blocks: blocks(n.div_ceil(COUNT_TILE) as u64)?.min(self.shape.multiprocessors),
                threads: COUNT_BLOCK,
                shared: size_of::<Cells>() + buckets.len() * size_of::<u16>(),
            };
            let (first, count, transform) = (buckets.start as u32, buckets.len() as u32, self.transform);
            let (counts, groups) = (counts.range(buckets), groups.range(slice));
            let arguments = (keys, n, profile, self.bits(), first, count, counts, groups, transform);
            // SAFETY: see above.
            unsafe { self.kernels.count_buckets.launch(self.stream, launch, arguments)? };
        }
        let launch = Launch { blocks: self.group_count(), threads: PLACE_BLOCK, shared: size_of::<Before>() };
        let (bits, group_count, tile) = (self.bits(), self.group_count(), self.tile());
        #[rustfmt::skip]
        let arguments =
            (profile, bits, group_count, counts, groups, tile, group_starts, group_cursors, tiles_before, ends);
        // SAFETY: see above.
        unsafe { self.kernels.place_buckets.launch(self.stream, launch, arguments)? };
        Ok(())
    }

    /// Moves the items to their buckets.
    pub unsafe fn distribute(&self) -> Result<(), Error> {
        let tiles = self.n.div_ceil(self.shape.tile()) as u64;
        let to_groups = Launch {
            blocks: blocks(tiles)?,
            threads: PARTITION_BLOCK,
            shared: self.shape.partition_shared(),
        };
        // Each group may have one tile that is not full.
        let to_buckets = Launch { blocks: blocks(tiles + self.shape.buckets.groups as u64)?, ..to_groups };
        let keys = Side { items: self.arrays.keys, ..self.items() };
        let first = self.pass(keys, self.copy, self.tables.group_cursors.address());
        // The cursors of the buckets are their ends, one place further on.
        let cursors = self.tables.ends.address() + size_of::<u64>() as u64;
        let second = self.pass(self.copy, self.items(), cursors);
        // SAFETY: see above.
        unsafe {
            self.kernels.first.launch(self.stream, to_groups, (first, self.transform))?;
            self.kernels.second.launch(self.stream, to_buckets, (second, self.transform))?;
        }
        Ok(())
    }

    /// Where items are distributed to.
    pub fn items(&self) -> Side {
        Side { items: self.arrays.items, payload: self.arrays.payload }
    }

    fn pass(&self, from: Side, to: Side, cursors: u64) -> Pass {
        Pass {
            from: from.items,
            payload: from.payload,
            to: to.items,
            payload_to: to.payload,
            count: self.n as u64,
            profile: self.tables.profile.address(),
            bits: self.bits(),
            groups: self.group_count(),
            group_starts: self.tables.group_starts.address(),
            tiles_before: self.tables.tiles_before.address(),
            cursors,
            long_buckets: LongBuckets::default(),
        }
    }

    /// The pass that moves the items of long buckets to the copy.
    pub fn pass_again(&self, cursors: u64, long_buckets: LongBuckets) -> Pass {
        // Each has 2^7 buckets, whose cursors lie together.
        let bits = LONG_OWN.ilog2();
        Pass { bits, long_buckets, ..self.pass(self.items(), self.copy, cursors) }
    }

    pub fn redistribution(&self) -> &redistribute::Kernels {
        &self.kernels.redistribute
    }

    /// Does what there is to do where nothing was distributed.
    pub unsafe fn settle(&self) -> Result<(), Error> {
        let Tables { profile, counts, group_starts, tiles_before, .. } = self.tables;
        let (keys, stream) = (self.arrays.keys, self.stream);
        let blocks = self.shape.multiprocessors * SETTLE_BLOCKS;
        let launch = Launch { blocks, threads: SETTLE_BLOCK, shared: size_of::<SettleShared>() };
        let (bits, groups, tile) = (self.bits(), self.group_count(), self.tile());
        let filled = (keys, profile, bits, groups, counts, group_starts, tiles_before, tile, self.transform);
        // SAFETY: see above.
        unsafe {
            match &self.kernels.settle {
                Settle::Alone { reverse, fill } => {
                    reverse.launch(stream, launch, (keys, self.n, profile))?;
                    fill.launch(stream, launch, filled)?;
                }
                Settle::Places(number) => {
                    number.launch(stream, launch, (self.arrays.payload, self.n, profile))?
                }
                Settle::Pairs => {}
            }
        }
        Ok(())
    }

    fn bits(&self) -> u32 {
        self.shape.buckets.bits
    }

    fn group_count(&self) -> u32 {
        self.shape.buckets.groups as u32
    }

    fn bucket_count(&self) -> u32 {
        self.shape.buckets.count() as u32
    }

    fn tile(&self) -> u32 {
        self.shape.tile() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::super::items::Low;
    use super::*;
    use crate::Order;
    use crate::key::Code;

    fn shape(key_bytes: usize, low: Low, n: usize, shared_per_block: usize) -> Shape {
        let device = Properties {
            name: "a device".into(),
            kind: "none",
            ordinal: 0,
            id: String::new(),
            compute_capability: (9, 0),
            multiprocessors: 132,
            shared_per_block,
            memory_total: 141 << 30,
            l2_bytes: 50 << 20,
        };
        let items = Items { key_bytes, code: Code::Unsigned, order: Order::default(), low };
        let shape = Shape::new(n, items, &device);
        let slices: Vec<_> = shape.buckets.slices().collect();
        assert_eq!(slices.iter().map(Range::len).sum::<usize>(), shape.buckets.groups);
        assert!(slices.len() <= MOST_SLICES, "{n} keys of {key_bytes} bytes in {shared_per_block}");
        shape
    }

    /// Of 2^31 keys every bucket was once too long: the smallest block was taken where there were slices.
    #[test]
    fn buckets_fit_their_blocks_however_many_keys_there_are() {
        for key_bytes in [4, 8] {
            for n in [1 << 24, 1 << 28, 1 << 30, 1_900_000_000, 1 << 31, 3_000_000_000, 4_000_000_000] {
                let shape = shape(key_bytes, Low::Nothing, n, 227 << 10);
                let keys = n / shape.buckets.count();
                assert!(keys <= shape.block.bucket_keys(), "{n} keys of {key_bytes} bytes: {keys} a bucket");
                assert!(n > 1_700_000_000 || shape.buckets.slices().count() == 1);
            }
        }
    }

    /// Where none is enough, the largest block still has the fewest buckets that are too long.
    #[test]
    fn the_largest_block_takes_what_is_too_much_for_any() {
        let most = super::super::sort::MOST_KEYS;
        assert_eq!(shape(4, Low::Nothing, most, 227 << 10).block.capacity(), 1 << 14);
        let wide = |n| shape(4, Low::Place { payload_bytes: 8 }, n, 227 << 10).block.capacity();
        assert!(wide(3_000_000_000) > wide(1 << 28));
    }

    /// There were four where the buckets of one slice are no whole number of groups.
    #[test]
    fn slices_are_no_more_than_allowed_in_little_shared_memory() {
        for log in 24..32 {
            shape(4, Low::Nothing, 1 << log, 48 << 10);
            shape(8, Low::Nothing, 3 << (log - 1), 48 << 10);
        }
    }
}
