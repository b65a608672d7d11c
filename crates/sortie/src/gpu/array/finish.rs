//! Sorts buckets that fit in a block; each is read and written once.

use sortie_device::{Kernel, Launch, Stream};

use super::items::Items;
use super::left::Left;
use super::shape::Block;
use crate::Error;
use crate::gpu::kernels::array::{BucketBounds, ItemArrays};
use crate::gpu::kernels::{CodeTransform, File, Instance, blocks};

/// Blocks per multiprocessor. With one block for each bucket, the launch takes longer if there is nothing to do. On an
/// H200, 2^28 u64 in order took 0.90 ms with 32, and 0.93 with one for each bucket; in random order there was no
/// difference.
const BLOCKS: u32 = 32;
/// The same, if only the device knows the number of buckets, which is most often zero.
const LISTED_BLOCKS: u32 = 8;

/// The buckets to finish, and what their keys are.
#[derive(Clone, Copy)]
pub(crate) struct Finishing<'a> {
    pub stream: &'a Stream,
    pub arrays: ItemArrays,
    /// The transform of the keys.
    pub transform: CodeTransform,
    pub multiprocessors: u32,
}

pub(crate) struct Finish {
    finish_buckets: Kernel,
    /// The kernel that takes items apart, if they are.
    take_apart: Option<Kernel>,
    block: Block,
    pub left: Left,
}

impl Finish {
    /// Kernels for the buckets of one array or, for keys alone, of many segments.
    pub fn instances(block: Block, items: Items, of_segments: bool) -> Vec<Instance> {
        let mut defines = items.defines();
        defines.extend(block.defines());
        defines.push(("SORTIE_OF_SEGMENTS", u8::from(of_segments).to_string()));
        defines.push(("SORTIE_STRETCHES_MEMORY", block.stretches_shared().to_string()));
        let names: &[_] =
            if items.are_alone() { &["finish_buckets"] } else { &["finish_buckets", "take_apart"] };
        let of = |&kernel| Instance { kernel, file: File::FinishBuckets, defines: defines.clone() };
        names.iter().map(of).collect()
    }

    /// Takes the kernels of those instances.
    pub fn new(kernels: &[Kernel], block: Block, left: Left) -> Finish {
        Finish { finish_buckets: kernels[0].clone(), take_apart: kernels.get(1).cloned(), block, left }
    }

    /// Sorts the buckets of up to `longest` items.
    ///
    /// # Safety
    /// As [`Gpu::sort`](crate::gpu::Gpu::sort); the same goes for all methods.
    pub unsafe fn sort(
        &self,
        job: Finishing<'_>,
        buckets: BucketBounds,
        longest: usize,
    ) -> Result<(), Error> {
        let count = match buckets.listed {
            0 => buckets.count.min(job.multiprocessors * BLOCKS),
            _ => job.multiprocessors * LISTED_BLOCKS,
        };
        let launch = Launch {
            blocks: blocks(count.into())?,
            threads: self.block.threads as u32,
            shared: self.block.shared(),
        };
        let arguments = (job.arrays, buckets, longest as u64, self.left.list(), job.transform);
        // SAFETY: these are the kernel's arguments; the list has room for everything that can be left. The engine keeps
        // the kernel.
        unsafe { self.finish_buckets.launch(job.stream, launch, arguments)? };
        Ok(())
    }

    /// Takes the items of the buckets that were left apart, once they are sorted.
    pub unsafe fn take_apart(&self, job: Finishing<'_>) -> Result<(), Error> {
        let Some(take_apart) = &self.take_apart else { return Ok(()) };
        let blocks = job.multiprocessors * LISTED_BLOCKS;
        let shared = self.block.stretches_shared();
        let launch = Launch { blocks, threads: self.block.threads as u32, shared };
        let arguments = (job.arrays, self.left.list(), job.transform);
        // SAFETY: as above.
        unsafe { take_apart.launch(job.stream, launch, arguments)? };
        Ok(())
    }
}
