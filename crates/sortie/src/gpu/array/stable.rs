//! Pairs and indices, sorted by a stable distribution or, if they are few, by one block.
//!
//! The distribution is two passes of a sort by digits, which put the keys in order of the numbers of their buckets.
//! Then blocks sort the buckets.
//!
//! Source: Stehle and Jacobsen, "A memory bandwidth-efficient hybrid radix sort on GPUs" (2017), section 4, for buckets
//! that end in a block. Here the passes over the leading digits are those of a sort by the lowest digit first, so
//! nothing waits for counts of single buckets.

use sortie_device::{Kernel, Launch, Properties, Stream, View};

use super::count::{Counting, CountingKernels, Tables};
use super::distribute;
use super::items::Items;
use super::left::Left;
use super::onesweep::{Moving, Onesweep, Sweep};
use super::shape::{Block, Blocks, Shape};
use crate::Error;
use crate::gpu::alloc::scratch;
use crate::gpu::engine::KernelSet;
use crate::gpu::kernels::array::{BucketBounds, BucketCodes, LeftList, StableArrays};
use crate::gpu::kernels::{CodeTransform, Define, File, Instance, kind};
use crate::gpu::segments::{Moved, Payload, Rest, listed_words};
use crate::gpu::{Gpu, Pending};
use crate::key::Bits;

/// Blocks per multiprocessor that sort buckets: with one for each bucket, 2^28 keys took 50 us even if there was no
/// bucket to sort.
const FINISHING_BLOCKS: u32 = 32;

/// Words of each piece of scratch.
pub(super) fn stable_words(n: usize, shape: Shape, items: Items, device: &Properties) -> Vec<usize> {
    let passes = items.passes(n, device);
    vec![Tables::words(shape) + passes.words(), Left::words(n), listed_words(Left::most(n))]
}

fn finishing(block: Block, items: Items, moving: Moving) -> Instance {
    let mut defines: Vec<Define> = vec![
        ("SORTIE_KEY_BYTES", items.key_bytes.to_string()),
        ("SORTIE_KIND", kind(items.code, items.order).into()),
        ("SORTIE_PAYLOAD_BYTES", moving.bytes().to_string()),
        ("SORTIE_ARGSORT", u8::from(moving == Moving::Index).to_string()),
    ];
    defines.extend(block.defines());
    Instance { kernel: "finish_stable", file: File::FinishStable, defines }
}

/// What the kernels of the distribution depend on.
#[derive(Clone, PartialEq, Eq, Hash)]
struct StableKernels {
    items: Items,
    moving: Moving,
    blocks: Blocks,
    sweep: Sweep,
}

impl KernelSet for StableKernels {
    fn instances(&self) -> Vec<Vec<Instance>> {
        let StableKernels { items, moving, blocks, sweep } = *self;
        let number = Instance { kernel: "number", file: File::Settle, defines: items.defines() };
        vec![
            CountingKernels::instances(blocks, items),
            sweep.instances(),
            vec![finishing(blocks.finishing, items, moving), number],
        ]
    }
}

/// What the one kernel for few keys depends on.
#[derive(Clone, PartialEq, Eq, Hash)]
struct BlockKernel {
    items: Items,
    moving: Moving,
    block: Block,
}

impl KernelSet for BlockKernel {
    fn instances(&self) -> Vec<Vec<Instance>> {
        vec![vec![finishing(self.block, self.items, self.moving)]]
    }
}

impl Gpu {
    /// Sorts keys and what is at the address of the payload, or writes their indices there.
    ///
    /// # Safety
    /// As [`Gpu::sort_pairs`].
    pub(super) unsafe fn sort_stably<B: Bits>(
        &self,
        stream: &Stream,
        keys: View<'_, B>,
        payload: u64,
        (items, moving): (Items, Moving),
    ) -> Result<Pending<'_>, Error> {
        let n = keys.len();
        let device = self.device().properties();
        let shape = Shape::new(n, items, device);
        let passes = items.passes(n, device);
        // Kernels first: if one is not available, that is found before any of them runs.
        let kernels =
            self.kernel_set(&StableKernels { items, moving, blocks: shape.blocks, sweep: passes.sweep })?;
        let [counting, sweeping, finishing] = &kernels[..] else { unreachable!("as many as steps") };
        let [finish, number] = &finishing[..] else { unreachable!("as many as instances") };
        let room = scratch(stream, Tables::words(shape) + passes.words())?;
        let tables = Tables::new(room.view(), shape);
        let swept = room.range(Tables::words(shape)..room.len());
        let profile = tables.profile.address();
        let sweep = Onesweep::new(sweeping, swept, (keys, payload), passes, profile, shape.multiprocessors)?;
        let left = Left::new(stream, n)?;
        let transform = CodeTransform::new::<B>(items.code, items.order);
        let counting = Counting {
            stream,
            n,
            key_bytes: items.key_bytes,
            keys: keys.address(),
            shape,
            tables,
            kernels: CountingKernels::new(counting),
            transform,
        };
        let sorted = sweep.sorted();
        // SAFETY: there are this many keys.
        let moved = unsafe { View::<B>::from_raw(sorted.keys, n) };
        let moved = Moved { keys: moved, payload, kind: Payload::Moved(moving.bytes()) };
        let longest = n as u64;
        let shortest = shape.blocks.finishing.capacity();
        let rest = Rest { offsets: left.offsets(), longest, shortest, copy: sweep.copy() };
        let rest = self.prepare_rest(stream, moved, rest, items.code, items.order)?;
        sweep.clear(stream)?;
        left.clear(stream)?;
        // SAFETY: the caller guarantees it. The arguments are those of the kernels, which stay within keys, payload and
        // tables. The engine keeps the kernels.
        unsafe {
            counting.profile()?;
            counting.count(sweep.digits())?;
            sweep.enqueue(stream)?;
            if moving == Moving::Index {
                distribute::number(number, &counting, payload)?;
            }
            finish_buckets(
                finish,
                &counting,
                StableArrays { keys: sorted.keys, payload, payload_from: payload },
                &left,
            )?;
            rest.enqueue()?;
        }
        self.pending(stream)
    }

    /// The same by one block.
    ///
    /// # Safety
    /// As [`Gpu::sort_pairs`]; the block is large enough for these keys.
    pub(super) unsafe fn sort_in_block<B: Bits>(
        &self,
        stream: &Stream,
        keys: View<'_, B>,
        payload: u64,
        (items, moving, block): (Items, Moving, Block),
    ) -> Result<Pending<'_>, Error> {
        let kernels = self.kernel_set(&BlockKernel { items, moving, block })?;
        let launch = Launch { blocks: 1, threads: block.threads as u32, shared: block.shared() };
        let payload_from = if moving == Moving::Index { 0 } else { payload };
        let arrays = StableArrays { keys: keys.address(), payload, payload_from };
        let buckets = BucketBounds::alone(keys.len() as u32);
        let (codes, left) = (BucketCodes::default(), LeftList::default());
        let transform = CodeTransform::new::<B>(items.code, items.order);
        // SAFETY: these are the kernel's arguments; it stays within keys and payload. The engine keeps the kernel.
        unsafe { kernels[0][0].launch(stream, launch, (arrays, buckets, 0u64, codes, left, transform))? };
        self.pending(stream)
    }
}

/// Sorts the buckets.
///
/// # Safety
/// As [`Gpu::sort_pairs`].
unsafe fn finish_buckets(
    kernel: &Kernel,
    counting: &Counting<'_>,
    arrays: StableArrays,
    left: &Left,
) -> Result<(), Error> {
    let block = counting.shape.blocks.finishing;
    let buckets = BucketBounds::between(counting.tables.ends);
    let (profile, codes) = (counting.tables.profile, counting.tables.codes);
    let launch = Launch {
        blocks: buckets.count.min(counting.shape.multiprocessors * FINISHING_BLOCKS),
        threads: block.threads as u32,
        shared: block.shared(),
    };
    // SAFETY: these are the kernel's arguments; the list has room for everything that can be left. The engine keeps the
    // kernel.
    unsafe {
        kernel.launch(
            counting.stream,
            launch,
            (arrays, buckets, profile, codes, left.list(), counting.transform),
        )?
    };
    Ok(())
}
