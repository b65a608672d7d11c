//! The distribution of one large array: its profile, and two unstable passes to its buckets.
//!
//! One read counts the keys of every bucket and completes the profile. The first pass moves items to groups of buckets in a
//! copy, the second from there to their buckets. All of it is decided on the device: nothing is read back.

use sortie_device::{Kernel, Launch, Stream, View};

use super::items::Items;
use super::shape::{PARTITION_BLOCK, Shape};
use crate::Error;
use crate::gpu::kernels::array::{
    Before, CellCounts, Cells, Crowded, ItemArrays, LONG_OWN, LongBuckets, PLACE_BLOCK, PROFILE_BLOCK, Pass,
    Profile, SETTLE_BLOCK, SettleShared,
};
use crate::gpu::kernels::{CodeTransform, File, Instance, blocks, numbers, struct_bytes};

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

/// Of a profile, in words of scratch.
const PROFILE_WORDS: usize = size_of::<Profile>() / size_of::<u32>();

/// Bytes of `profile::Ends`: two codes, as words that have atomics.
fn ends_shared(key_bytes: usize) -> usize {
    struct_bytes(&[numbers(key_bytes.max(size_of::<u32>()), 2)])
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

pub(super) struct DistributionKernels {
    sample: Kernel,
    check_order: Kernel,
    sample_cells: Kernel,
    share_buckets: Kernel,
    sample_buckets: Kernel,
    look_for_long: Kernel,
    count_buckets: Kernel,
    place_buckets: Kernel,
    first: Kernel,
    second: Kernel,
    settle: Settle,
}

impl DistributionKernels {
    pub fn instances(shape: Shape, items: Items) -> Vec<Instance> {
        let own = |file, kernel| Instance { kernel, file, defines: items.defines() };
        let profiling = |kernel| {
            let Instance { mut defines, .. } = own(File::Profile, kernel);
            defines.push(("SORTIE_ENDS_MEMORY", ends_shared(items.key_bytes).to_string()));
            Instance { kernel, file: File::Profile, defines }
        };
        let counting = |kernel| {
            let Instance { mut defines, .. } = own(File::CountBuckets, kernel);
            defines.push(("SORTIE_SLICED", u8::from(shape.buckets.slices().count() > 1).to_string()));
            Instance { kernel, file: File::CountBuckets, defines }
        };
        vec![
            profiling("sample"),
            profiling("check_order"),
            profiling("sample_cells"),
            profiling("share_buckets"),
            profiling("sample_buckets"),
            profiling("look_for_long"),
            counting("count_buckets"),
            counting("place_buckets"),
            shape.pass(items, items.payload_define(), "FIRST"),
            shape.pass(items, items.payload_define(), "SECOND"),
            own(File::Settle, "reverse"),
            own(File::Settle, "fill"),
            own(File::Settle, "number"),
        ]
    }

    /// Of those instances.
    pub fn new(kernels: &[Kernel], items: Items) -> DistributionKernels {
        let [sample, check_order, sample_cells, share_buckets, rest @ ..] =
            <[Kernel; 13]>::try_from(kernels.to_vec()).expect("as many as instances");
        let [sample_buckets, look_for_long, count_buckets, place_buckets, rest @ ..] = rest;
        let [first, second, reverse, fill, number] = rest;
        DistributionKernels {
            sample,
            check_order,
            sample_cells,
            share_buckets,
            sample_buckets,
            look_for_long,
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
        }
    }
}

/// The scratch of a distribution, as the kernels say.
#[derive(Clone, Copy)]
pub(super) struct Tables<'a> {
    /// What is zero before: the profile, counts and groups.
    zero: View<'a, u32>,
    pub profile: View<'a, u32>,
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

/// A large array on its way to buckets. Its methods enqueue, in this order. Each needs what [`Gpu::sort`] needs.
pub(super) struct Distribution<'a> {
    pub stream: &'a Stream,
    pub n: usize,
    pub key_bytes: usize,
    pub arrays: ItemArrays,
    /// Room for another copy of the items and the payload.
    pub copy: Side,
    pub shape: Shape,
    pub tables: Tables<'a>,
    pub kernels: DistributionKernels,
    /// Of the keys.
    pub transform: CodeTransform,
    /// Of the items, as keys of their own.
    pub item_transform: CodeTransform,
}

// SAFETY of all launches: the arguments are the kernel's; it stays within the arrays and the tables, whose lengths are as it
// says. The engine keeps the kernels.
impl Distribution<'_> {
    /// Looks at the keys: their range, their order, how they are spread; and, where `may_leave`, whether so many of them fall into
    /// long buckets that they are better left to passes.
    pub unsafe fn profile(&self, may_leave: bool) -> Result<(), Error> {
        let (keys, n, profile) = (self.arrays.keys, self.n, self.tables.profile);
        let (stream, kernels, buckets) = (self.stream, &self.kernels, self.bucket_count());
        stream.fill(self.tables.zero, 0)?;
        let one = Launch { blocks: 1, threads: PROFILE_BLOCK, shared: ends_shared(self.key_bytes) };
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
        if !may_leave {
            return Ok(());
        }
        let counts = self.tables.counts;
        let counting = Launch { shared: size_of::<Cells>(), ..sampling };
        let looking = Launch { blocks: buckets.div_ceil(PROFILE_BLOCK).min(many.blocks), shared: 0, ..many };
        // Of a bucket that is as long as a block takes, the sample has so many, and hardly more than by four deviations.
        let fitting = (self.shape.block.capacity() as u64 * u64::from(sampled) / n as u64) as u32;
        let most = fitting + 4 * fitting.isqrt() + 4;
        // SAFETY: see above.
        unsafe {
            kernels.sample_buckets.launch(
                stream,
                counting,
                (keys, n, sampled, profile, counts, self.transform),
            )?;
            kernels.look_for_long.launch(stream, looking, (buckets, most, counts, profile))?;
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
