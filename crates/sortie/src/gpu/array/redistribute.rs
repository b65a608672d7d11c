//! Distributes buckets that are too long for a block again, by their own range. Only the device knows which ones these
//! are.

use sortie_device::{Buffer, Kernel, Launch, Stream, View};

use super::distribute::Distribution;
use super::items::Items;
use super::shape::{Blocks, PARTITION_BLOCK};
use crate::Error;
use crate::gpu::alloc::scratch;
use crate::gpu::kernels::array::{BucketBounds, LONG_OWN, LongBucket, LongBuckets, RedistributeShared};
use crate::gpu::kernels::{File, Instance};

/// Threads of the kernels of redistribute.cu.
const BLOCK: u32 = 256;
/// Blocks per multiprocessor of these kernels: as many as fit.
const BLOCKS: u32 = 8;
/// The same for the pass, whose blocks are larger. With one block for each tile that there could be, finding none took
/// 0.1 ms for 2^28 keys.
const MOVING_BLOCKS: u32 = 2;
/// The size of a long bucket in words of scratch.
const BUCKET_WORDS: usize = size_of::<LongBucket>() / size_of::<u32>();

/// The kernels of redistribute.cu, and partition.cu's step.
pub(super) struct RedistributionKernels {
    list_long: Kernel,
    count_tiles: Kernel,
    find_extremes: Kernel,
    count_long: Kernel,
    scan_long: Kernel,
    bring_back: Kernel,
    again: Kernel,
}

impl RedistributionKernels {
    pub fn instances(blocks: Blocks, items: Items) -> Vec<Instance> {
        let mut defines = items.as_keys().defines();
        // Items that hold more than a key must be split into their parts, even if they are already in order.
        defines.push(("SORTIE_ALL", u8::from(!items.are_alone()).to_string()));
        let names = ["list_long", "count_tiles", "find_extremes", "count_long", "scan_long", "bring_back"];
        let own = names.map(|kernel| Instance { kernel, file: File::Redistribute, defines: defines.clone() });
        let again = blocks.pass(items.as_keys(), "AGAIN");
        own.into_iter().chain([again]).collect()
    }

    /// Takes the kernels of those instances.
    pub fn new(kernels: &[Kernel]) -> RedistributionKernels {
        let kernels = <[Kernel; 7]>::try_from(kernels.to_vec()).expect("as many as instances");
        let [list_long, count_tiles, find_extremes, count_long, scan_long, bring_back, again] = kernels;
        RedistributionKernels {
            list_long,
            count_tiles,
            find_extremes,
            count_long,
            scan_long,
            bring_back,
            again,
        }
    }
}

/// Keys that a bucket of a long bucket should have: few, because keys that are too many for one bucket are rarely
/// spread evenly.
fn share(longest: usize) -> usize {
    longest / 3
}

/// The scratch of a redistribution.
pub(super) struct LongTables {
    scratch: Buffer<u32>,
    /// Words of each table, in order: `listed` and `ready_count`, `counts`, the list, `tiles_before`, `cursors`,
    /// `ready`.
    lengths: [usize; 6],
}

impl LongTables {
    /// Words of each table, if buckets of more than `longest` keys are long.
    fn lengths(keys: usize, longest: usize) -> [usize; 6] {
        let most = keys / longest;
        // As `own_buckets` of long_buckets.cuh computes it, for all of them.
        let ready = keys / share(longest) + 2 * most;
        [2, most * LONG_OWN, most * BUCKET_WORDS, most + 1, 2 * most * LONG_OWN, 4 * ready]
            .map(|words: usize| words.next_multiple_of(4))
    }

    /// Words of all tables.
    pub fn words(keys: usize, longest: usize) -> usize {
        LongTables::lengths(keys, longest).into_iter().sum()
    }

    /// Allocates the tables for work that is enqueued on this stream.
    pub fn new(stream: &Stream, keys: usize, longest: usize) -> Result<LongTables, Error> {
        let lengths = LongTables::lengths(keys, longest);
        Ok(LongTables { scratch: scratch(stream, lengths.iter().sum())?, lengths })
    }

    fn part(&self, i: usize) -> View<'_, u32> {
        let start = self.lengths[..i].iter().sum();
        self.scratch.range(start..start + self.lengths[i])
    }

    /// The buckets of the long buckets.
    pub fn ready(&self) -> BucketBounds {
        let count = self.part(0).range(1..2);
        BucketBounds::listed(self.part(5).cast(), count)
    }
}

impl RedistributionKernels {
    /// Distributes those buckets again that have more than `longest` items, to buckets that are probably shorter.
    ///
    /// # Safety
    /// As [`Gpu::sort`](crate::gpu::Gpu::sort).
    pub(super) unsafe fn redistribute(
        &self,
        job: &Distribution<'_>,
        tables: &LongTables,
        buckets: BucketBounds,
        longest: usize,
    ) -> Result<(), Error> {
        let [listed, counts, list, tiles_before, cursors, ready] = std::array::from_fn(|i| tables.part(i));
        let (listed, ready_count) = (listed.range(0..1), listed.range(1..2));
        let shape = job.counting.shape;
        let tile = shape.blocks.tile() as u32;
        let long = LongBuckets {
            buckets: list.address(),
            listed: listed.address(),
            tiles_before: tiles_before.address(),
            tile,
            share: share(longest) as u32,
        };
        let stream = job.counting.stream;
        stream.fill(tables.scratch.range(0..tables.lengths[0] + tables.lengths[1]), 0)?;
        let launch = Launch {
            blocks: shape.multiprocessors * BLOCKS,
            threads: BLOCK,
            shared: size_of::<RedistributeShared>(),
        };
        let one = Launch { blocks: 1, ..launch };
        let again = job.pass_again(cursors.address(), long);
        let (items, copy, transform) = (job.arrays.items, job.copy, job.item_transform);
        let moved = Launch {
            blocks: shape.multiprocessors * MOVING_BLOCKS,
            threads: PARTITION_BLOCK,
            shared: shape.blocks.partition_shared(),
        };
        // SAFETY: these are the kernels' arguments; the kernels stay within the keys and the tables, which have the
        // lengths that they expect. The engine keeps the kernels.
        unsafe {
            self.list_long.launch(stream, launch, (buckets, longest as u64, list, listed))?;
            self.count_tiles.launch(stream, one, (list, listed, tile, tiles_before))?;
            self.find_extremes.launch(stream, launch, (items, long, transform))?;
            self.count_long.launch(stream, launch, (items, long, counts, transform))?;
            self.scan_long.launch(stream, launch, (long, counts, cursors, ready, ready_count))?;
            self.again.launch(stream, moved, (again, transform))?;
            self.bring_back.launch(stream, launch, (items, copy, long))?;
        }
        Ok(())
    }
}
