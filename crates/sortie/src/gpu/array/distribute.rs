//! The distribution of one large array: two unstable passes to its buckets.
//!
//! The first pass moves items to groups of buckets in a copy, the second from there to their buckets. All of it is decided on
//! the device: nothing is read back.

use sortie_device::{Kernel, Launch};

use super::count::Counting;
use super::items::Items;
use super::shape::{PARTITION_BLOCK, Shape};
use crate::Error;
use crate::gpu::kernels::array::{ItemArrays, LONG_OWN, LongBuckets, Pass, SETTLE_BLOCK, SettleShared};
use crate::gpu::kernels::{CodeTransform, File, Instance, blocks};

/// Blocks on a multiprocessor of those that settle: all that there is room for.
const SETTLE_BLOCKS: u32 = 4;

/// Kernels that move items, or put keys in order which need no distribution.
pub(super) struct DistributionKernels {
    first: Kernel,
    second: Kernel,
    reverse: Kernel,
    fill: Kernel,
    are_alone: bool,
}

impl DistributionKernels {
    pub fn instances(shape: Shape, items: Items) -> Vec<Instance> {
        let settling = |kernel| Instance { kernel, file: File::Settle, defines: items.defines() };
        vec![shape.pass(items, "FIRST"), shape.pass(items, "SECOND"), settling("reverse"), settling("fill")]
    }

    /// Of those instances.
    pub fn new(kernels: &[Kernel], items: Items) -> DistributionKernels {
        let kernels = <[Kernel; 4]>::try_from(kernels.to_vec()).expect("as many as instances");
        let [first, second, reverse, fill] = kernels;
        DistributionKernels { first, second, reverse, fill, are_alone: items.are_alone() }
    }
}

/// A large array on its way to buckets. Its methods enqueue, in this order. Each needs what [`Gpu::sort`] needs.
///
/// [`Gpu::sort`]: crate::gpu::Gpu::sort
pub(super) struct Distribution<'a> {
    /// Done before.
    pub counting: Counting<'a>,
    pub arrays: ItemArrays,
    /// The address of room for another copy of the items.
    pub copy: u64,
    pub kernels: DistributionKernels,
    /// Of the items, as keys of their own.
    pub item_transform: CodeTransform,
}

// SAFETY of all launches: the arguments are the kernel's; it stays within the arrays and the tables, whose lengths are as it
// says. The engine keeps the kernels.
impl Distribution<'_> {
    /// Moves the items to their buckets.
    pub unsafe fn distribute(&self) -> Result<(), Error> {
        let Counting { shape, ref tables, stream, .. } = self.counting;
        let tiles = self.counting.n.div_ceil(shape.tile()) as u64;
        let to_groups =
            Launch { blocks: blocks(tiles)?, threads: PARTITION_BLOCK, shared: shape.partition_shared() };
        // Each group may have one tile that is not full.
        let to_buckets = Launch { blocks: blocks(tiles + shape.buckets.groups as u64)?, ..to_groups };
        let first = self.pass(self.arrays.keys, self.copy, tables.group_cursors.address());
        // The cursors of the buckets are their ends, one place further on.
        let cursors = tables.ends.address() + size_of::<u64>() as u64;
        let second = self.pass(self.copy, self.arrays.items, cursors);
        // SAFETY: see above.
        unsafe {
            self.kernels.first.launch(stream, to_groups, (first, self.counting.transform))?;
            self.kernels.second.launch(stream, to_buckets, (second, self.counting.transform))?;
        }
        Ok(())
    }

    fn pass(&self, from: u64, to: u64, cursors: u64) -> Pass {
        let tables = &self.counting.tables;
        Pass {
            from,
            payload: self.arrays.payload,
            to,
            count: self.counting.n as u64,
            profile: tables.profile.address(),
            bits: self.counting.bits(),
            groups: self.counting.group_count(),
            group_starts: tables.group_starts.address(),
            tiles_before: tables.tiles_before.address(),
            cursors,
            long_buckets: LongBuckets::default(),
        }
    }

    /// The pass that moves the items of long buckets to the copy.
    pub fn pass_again(&self, cursors: u64, long_buckets: LongBuckets) -> Pass {
        // Each has 2^7 buckets, whose cursors lie together.
        let bits = LONG_OWN.ilog2();
        Pass { bits, long_buckets, ..self.pass(self.arrays.items, self.copy, cursors) }
    }

    /// Does what there is to do where nothing was distributed: of pairs, nothing.
    pub unsafe fn settle(&self) -> Result<(), Error> {
        if !self.kernels.are_alone {
            return Ok(());
        }
        let Counting { stream, n, keys, shape, tables, transform, .. } = &self.counting;
        let (stream, n, keys, transform) = (*stream, *n, *keys, *transform);
        let blocks = shape.multiprocessors * SETTLE_BLOCKS;
        let launch = Launch { blocks, threads: SETTLE_BLOCK, shared: size_of::<SettleShared>() };
        let (bits, groups, tile) = (self.counting.bits(), self.counting.group_count(), self.counting.tile());
        let (profile, counts) = (tables.profile, tables.counts);
        let (group_starts, tiles_before) = (tables.group_starts, tables.tiles_before);
        let filled =
            (keys, profile, tables.codes, bits, groups, counts, group_starts, tiles_before, tile, transform);
        // SAFETY: see above.
        unsafe {
            self.kernels.reverse.launch(stream, launch, (keys, n, profile))?;
            self.kernels.fill.launch(stream, launch, filled)?;
        }
        Ok(())
    }
}
