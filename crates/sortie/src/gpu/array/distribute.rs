//! The distribution of one large array: two unstable passes to its buckets.
//!
//! The first pass moves items to groups of buckets in a copy, the second from there to their buckets. All of it is decided on
//! the device: nothing is read back.

use sortie_device::{Kernel, Launch};

use super::count::Counting;
use super::finish::Finishing;
use super::items::{Items, Low};
use super::shape::{Blocks, PARTITION_BLOCK};
use crate::Error;
use crate::gpu::kernels::array::{ItemArrays, LONG_OWN, LongBuckets, Pass, SETTLE_BLOCK, SettleShared};
use crate::gpu::kernels::{CodeTransform, File, Instance, blocks};

/// Blocks on a multiprocessor of those that settle: all that there is room for.
const SETTLE_BLOCKS: u32 = 4;

/// Blocks on a multiprocessor that move items: to launch one for each tile takes longer where nothing is moved. On an H200 2^28 u64
/// in order took 0.80 ms with 64, 0.91 with one for each; at random 5.93 and 5.87.
const PARTITION_BLOCKS: u32 = 64;

/// Kernels that move items, or settle those which need no distribution.
pub(super) struct DistributionKernels {
    first: Kernel,
    second: Kernel,
    settling: Settling,
}

/// The kernels for items that are not distributed.
enum Settling {
    Keys { reverse: Kernel, fill: Kernel },
    Pairs,
    Indices { number: Kernel },
}

impl DistributionKernels {
    pub fn instances(blocks: Blocks, items: Items) -> Vec<Instance> {
        let settling = |&kernel| Instance { kernel, file: File::Settle, defines: items.defines() };
        let names: &[_] = match items.low {
            Low::Nothing => &["reverse", "fill"],
            Low::Index => &["number"],
            Low::Payload | Low::Beside(_) => &[],
        };
        let passes = ["FIRST", "SECOND"].map(|step| blocks.pass(items, step));
        passes.into_iter().chain(names.iter().map(settling)).collect()
    }

    /// Of those instances.
    pub fn new(kernels: &[Kernel]) -> DistributionKernels {
        let [first, second, settling @ ..] = kernels else { unreachable!("as many as instances") };
        let settling = match settling {
            [reverse, fill] => Settling::Keys { reverse: reverse.clone(), fill: fill.clone() },
            [number] => Settling::Indices { number: number.clone() },
            _ => Settling::Pairs,
        };
        DistributionKernels { first: first.clone(), second: second.clone(), settling }
    }
}

/// Writes the indices of keys that are in order.
///
/// # Safety
/// As [`Gpu::argsort`](crate::gpu::Gpu::argsort).
pub(super) unsafe fn number(kernel: &Kernel, counting: &Counting<'_>, indices: u64) -> Result<(), Error> {
    let blocks = counting.shape.multiprocessors * SETTLE_BLOCKS;
    let launch = Launch { blocks, threads: SETTLE_BLOCK, shared: 0 };
    // SAFETY: these are the kernel's arguments; it stays within the indices. The engine keeps it.
    unsafe { kernel.launch(counting.stream, launch, (indices, counting.n, counting.tables.profile))? };
    Ok(())
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
        let tiles = self.counting.n.div_ceil(shape.blocks.tile()) as u64;
        let most = shape.multiprocessors * PARTITION_BLOCKS;
        let (threads, shared) = (PARTITION_BLOCK, shape.blocks.partition_shared());
        let to_groups = Launch { blocks: blocks(tiles)?.min(most), threads, shared };
        // Each group may have one tile that is not full.
        let all = blocks(tiles + shape.buckets.groups as u64)?;
        let to_buckets = Launch { blocks: all.min(most), ..to_groups };
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

    /// Where the buckets are finished.
    pub fn finishing(&self) -> Finishing<'_> {
        let Counting { stream, transform, ref shape, .. } = self.counting;
        Finishing { stream, arrays: self.arrays, transform, multiprocessors: shape.multiprocessors }
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
        let (reverse, fill) = match &self.kernels.settling {
            Settling::Keys { reverse, fill } => (reverse, fill),
            Settling::Pairs => return Ok(()),
            // SAFETY: see above.
            Settling::Indices { number: kernel } => unsafe {
                return number(kernel, &self.counting, self.arrays.payload);
            },
        };
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
            reverse.launch(stream, launch, (keys, n, profile))?;
            fill.launch(stream, launch, filled)?;
        }
        Ok(())
    }
}
