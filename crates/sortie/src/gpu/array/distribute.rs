//! Distributes one large array to its buckets, by two unstable passes.
//!
//! The first pass moves items to groups of buckets, in a copy; the second moves them from there to their buckets. All
//! of this is decided on the device: nothing is read back.

use sortie_device::{Kernel, Launch};

use super::count::Counting;
use super::finish::Finishing;
use super::items::{Items, Low};
use super::shape::{Blocks, PARTITION_BLOCK};
use crate::Error;
use crate::gpu::kernels::array::{ItemArrays, LONG_OWN, LongBuckets, Pass, SETTLE_BLOCK, SettleShared};
use crate::gpu::kernels::{CodeTransform, File, Instance, blocks};

/// Blocks per multiprocessor for kernels that settle: as many as fit.
const SETTLE_BLOCKS: u32 = 4;

/// Blocks per multiprocessor that move items. With one block for each tile, the launch takes longer if nothing is
/// moved. On an H200, 2^28 u64 in order took 0.80 ms with 64, and 0.91 with one for each tile; in random order 5.93 and
/// 5.87.
const PARTITION_BLOCKS: u32 = 64;

/// Kernels that move items, or settle those that need no distribution.
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

    /// Takes the kernels of those instances.
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

/// Writes the indices of keys that are already in order.
///
/// # Safety
/// As [`Gpu::argsort`](crate::gpu::Gpu::argsort).
pub(super) unsafe fn number(kernel: &Kernel, counting: &Counting<'_>, indices: u64) -> Result<(), Error> {
    let blocks = counting.shape.multiprocessors * SETTLE_BLOCKS;
    let launch = Launch { blocks, threads: SETTLE_BLOCK, shared: 0 };
    // SAFETY: these are the kernel's arguments; it stays within the indices. The engine keeps the kernel.
    unsafe { kernel.launch(counting.stream, launch, (indices, counting.n, counting.tables.profile))? };
    Ok(())
}

/// A large array that is distributed. Its methods enqueue work and are called in this order. Each needs what
/// [`Gpu::sort`] needs.
///
/// [`Gpu::sort`]: crate::gpu::Gpu::sort
pub(super) struct Distribution<'a> {
    /// The counting, which comes first.
    pub counting: Counting<'a>,
    pub arrays: ItemArrays,
    /// The address of memory for another copy of the items.
    pub copy: u64,
    pub kernels: DistributionKernels,
    /// The transform of items, seen as keys of their own.
    pub item_transform: CodeTransform,
}

// SAFETY of all launches: the arguments are those of the kernel, and it stays within the arrays and the tables, which
// have the lengths that it expects. The engine keeps the kernels.
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
        // The cursors of the buckets are their ends, one index further on.
        let cursors = tables.ends.address() + size_of::<u64>() as u64;
        let second = self.pass(self.copy, self.arrays.items, cursors);
        // SAFETY: see above.
        unsafe {
            self.kernels.first.launch(stream, to_groups, (first, self.counting.transform))?;
            self.kernels.second.launch(stream, to_buckets, (second, self.counting.transform))?;
        }
        Ok(())
    }

    /// How the buckets are finished.
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

    /// Does what is needed if nothing was distributed; for pairs, that is nothing.
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
