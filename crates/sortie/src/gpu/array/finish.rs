//! Buckets that fit a block, each read and written once.

use sortie_device::{Buffer, Kernel, Launch, Stream, View};

use super::distribute::Distribution;
use super::items::Items;
use super::shape::{Block, ROW};
use crate::Error;
use crate::gpu::alloc::scratch;
use crate::gpu::kernels::array::PlacedBuckets;
use crate::gpu::kernels::{File, Instance, blocks};

/// `LEAST_LEFT` and `NO_PLACE` of finish_buckets.cu, the latter byte by byte.
const LEAST_LEFT: usize = 1024;
const NO_PLACE: u8 = 0x80;
/// Blocks of a launch whose buckets are known to the device alone.
const BLOCKS: u32 = 8;

pub(super) struct Finish {
    finish_buckets: Kernel,
    /// Where items are taken apart.
    take_apart: Option<Kernel>,
    block: Block,
    /// `left_count`, then `left`, of so many words.
    scratch: Buffer<u32>,
    left_words: usize,
}

impl Finish {
    pub fn instances(block: Block, items: Items) -> Vec<Instance> {
        let mut defines = items.defines();
        defines.push(items.payload_define());
        defines.push(("SORTIE_THREADS", block.threads.to_string()));
        defines.push(("SORTIE_ROW", ROW.to_string()));
        defines.push(("SORTIE_BLOCK_MEMORY", block.shared().to_string()));
        defines.push(("SORTIE_STRETCHES_MEMORY", block.stretches_shared().to_string()));
        let names: &[_] =
            if items.are_alone() { &["finish_buckets"] } else { &["finish_buckets", "take_apart"] };
        let of = |&kernel| Instance { kernel, file: File::FinishBuckets, defines: defines.clone() };
        names.iter().map(of).collect()
    }

    /// With the kernels of those instances, for what is enqueued on this stream.
    pub fn new(stream: &Stream, kernels: &[Kernel], block: Block, n: usize) -> Result<Finish, Error> {
        Ok(Finish {
            finish_buckets: kernels[0].clone(),
            take_apart: kernels.get(1).cloned(),
            block,
            scratch: scratch(stream, Finish::words(n))?,
            left_words: Finish::left_words(n),
        })
    }

    fn left_words(n: usize) -> usize {
        6 * (n / LEAST_LEFT + 1)
    }

    /// Segments between the offsets of what is left, at most.
    pub fn most_left(n: usize) -> usize {
        Finish::left_words(n) / 2 - 1
    }

    /// Words of scratch.
    pub fn words(n: usize) -> usize {
        4 + Finish::left_words(n)
    }

    /// Makes the list of what is left empty.
    ///
    /// # Safety
    /// As of [`Gpu::sort`](crate::gpu::Gpu::sort); so of all methods.
    pub unsafe fn begin(&self, job: &Distribution<'_>) -> Result<(), Error> {
        job.stream.fill(self.scratch.range(0..4), 0)?;
        Ok(job.stream.fill(self.left().cast::<u32>(), NO_PLACE)?)
    }

    /// Sorts the buckets of up to `longest` items.
    pub unsafe fn sort(
        &self,
        job: &Distribution<'_>,
        buckets: PlacedBuckets,
        longest: usize,
    ) -> Result<(), Error> {
        let count = if buckets.listed == 0 { buckets.count } else { job.shape.multiprocessors * BLOCKS };
        let launch = Launch {
            blocks: blocks(count.into())?,
            threads: self.block.threads as u32,
            shared: self.block.shared(),
        };
        let arguments = (job.arrays, buckets, longest as u64, self.left(), self.left_count(), job.transform);
        // SAFETY: these are the kernel's arguments; the list has room for all that can be left. The engine keeps the kernel.
        unsafe { self.finish_buckets.launch(job.stream, launch, arguments)? };
        Ok(())
    }

    /// Takes apart what was left, once it is sorted.
    pub unsafe fn take_apart(&self, job: &Distribution<'_>) -> Result<(), Error> {
        let Some(take_apart) = &self.take_apart else { return Ok(()) };
        let blocks = job.shape.multiprocessors * BLOCKS;
        let shared = self.block.stretches_shared();
        let launch = Launch { blocks, threads: self.block.threads as u32, shared };
        let arguments = (job.arrays, self.left(), self.left_count(), job.transform);
        // SAFETY: as above.
        unsafe { take_apart.launch(job.stream, launch, arguments)? };
        Ok(())
    }

    fn left_count(&self) -> View<'_, u32> {
        self.scratch.range(0..1)
    }

    /// Offsets of what is left, and of what is no segment.
    pub fn left(&self) -> View<'_, u64> {
        self.scratch.range(4..4 + self.left_words).cast()
    }
}
