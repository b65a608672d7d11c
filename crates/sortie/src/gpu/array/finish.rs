//! Buckets that fit a block, each read and written once.

use sortie_device::{Buffer, Kernel, Launch, View};

use super::distribute::Job;
use super::items::Items;
use crate::Error;
use crate::gpu::Gpu;
use crate::gpu::kernels::array::PlacedBuckets;
use crate::gpu::kernels::{File, Instance, blocks};

/// Threads of a block, the first that are enough: fewer wait less for one another, more take longer buckets, of which there
/// are fewer to distribute to. The last are for devices of little shared memory. A sort of 2^28 u32 and u64 on an H200: 3.46
/// and 5.57 ms with 512 threads, 3.48 and 5.87 with 256, 3.61 and 5.77 with 1024.
const THREADS: [usize; 4] = [512, 1024, 256, 128];
/// The same where payloads of 8 or 16 bytes go beside items: of larger blocks a multiprocessor has shared memory for one
/// alone.
const THREADS_OF_WIDE: [usize; 4] = [256, 512, 1024, 128];
/// Items of a thread, as many as 64 registers hold; with 20 and 256 threads, 3.54 and 6.14 ms.
const ROW: usize = 16;
/// `LEAST_LEFT` and `NO_PLACE` of finish_buckets.cu, the latter byte by byte.
const LEAST_LEFT: usize = 1024;
const NO_PLACE: u8 = 0x80;
/// Blocks of a launch whose buckets are known to the device alone.
const BLOCKS: u32 = 8;

/// A block that sorts a bucket.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block {
    threads: usize,
    item_bytes: usize,
    /// Of a payload's word beside an item.
    word_bytes: usize,
}

impl Block {
    /// One for so many of these items, on a device whose blocks have so many bytes of shared memory: the first that is enough
    /// in the first of these numbers of buckets for which any is, else the largest.
    pub fn new(n: usize, items: Items, buckets: impl IntoIterator<Item = usize>, shared: usize) -> Block {
        let (item_bytes, word_bytes) = (items.bytes(), items.payload_bytes().min(8));
        let threads = if word_bytes > 4 { THREADS_OF_WIDE } else { THREADS };
        let blocks = threads.map(|threads| Block { threads, item_bytes, word_bytes });
        let fitting = || blocks.iter().filter(|block| block.shared() <= shared);
        let enough = |most| fitting().find(|block| n / block.bucket_keys() <= most);
        let largest = || fitting().max_by_key(|block| block.capacity());
        *buckets.into_iter().find_map(enough).or_else(largest).unwrap_or(&blocks[3])
    }

    pub fn capacity(self) -> usize {
        self.threads * ROW
    }

    /// Keys that a bucket has if they are spread evenly: with as many buckets as there can be, hardly one is too long.
    pub fn bucket_keys(self) -> usize {
        self.capacity() - 7 * self.capacity().isqrt()
    }

    /// Bytes of `Shared` of the kernel.
    fn shared(self) -> usize {
        let warps = self.threads / 32;
        let item = self.item_bytes.max(4);
        // Beside payloads 32 bits of each item are sorted, and places wait too.
        let (sorted, beside) = if self.word_bytes > 0 { (4, self.word_bytes + 4) } else { (item, 0) };
        let packing = if self.word_bytes > 0 { 16 } else { 0 };
        (2 * warps * item + 24 + packing + 4 * warps + 4).next_multiple_of(8)
            + self.threads * (ROW | 1) * sorted
            + self.capacity() * beside
    }
}

impl PlacedBuckets {
    /// All between these places.
    pub fn between(ends: View<'_, u64>) -> PlacedBuckets {
        PlacedBuckets { ends: ends.address(), listed: 0, count: ends.len() as u32 - 1, stride: 1 }
    }

    /// Pairs of places, as many as that.
    pub fn listed(pairs: View<'_, u64>, count: View<'_, u32>) -> PlacedBuckets {
        PlacedBuckets { ends: pairs.address(), listed: count.address(), count: 0, stride: 2 }
    }
}

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
    pub fn new(gpu: &Gpu, block: Block, n: usize, items: Items) -> Result<Finish, Error> {
        let mut defines = items.defines();
        defines.push(items.payload_define());
        defines.push(("SORTIE_THREADS", block.threads.to_string()));
        defines.push(("SORTIE_ROW", ROW.to_string()));
        let kernel =
            |kernel| gpu.kernel(&Instance { kernel, file: File::FinishBuckets, defines: defines.clone() });
        let left_words = Finish::left_words(n);
        Ok(Finish {
            finish_buckets: kernel("finish_buckets")?,
            take_apart: if items.are_alone() { None } else { Some(kernel("take_apart")?) },
            block,
            scratch: gpu.scratch(Finish::words(n))?,
            left_words,
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
    /// As of [`Gpu::sort`]; so of all methods.
    pub unsafe fn begin(&self, job: &Job<'_>) -> Result<(), Error> {
        job.stream.fill(self.scratch.range(0..4), 0)?;
        Ok(job.stream.fill(self.left().cast::<u32>(), NO_PLACE)?)
    }

    /// Sorts the buckets of up to `longest` items.
    pub unsafe fn sort(&self, job: &Job<'_>, buckets: PlacedBuckets, longest: usize) -> Result<(), Error> {
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
    pub unsafe fn take_apart(&self, job: &Job<'_>) -> Result<(), Error> {
        let Some(take_apart) = &self.take_apart else { return Ok(()) };
        let blocks = job.shape.multiprocessors * BLOCKS;
        // `Stretches` of the kernel.
        let shared = 4 * (1 + self.block.threads);
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

    pub fn into_scratch(self) -> Buffer<u32> {
        self.scratch
    }
}
