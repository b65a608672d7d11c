//! Distributes segments that are too long for a block, all at once.
//!
//! Two levels split each segment into buckets that a block sorts, by splitters from a sample of that segment. The
//! lengths of the segments, and how their keys are spread, make little difference. The first level moves keys to a
//! copy; the buckets that fit in a block are finished from there. The second level moves longer buckets back and splits
//! them. Buckets that are still too long, which no sample has shown, are merged. All of this is decided on the device:
//! nothing is read back.

use sortie_device::{Kernel, Launch, Properties, Stream, View};

use crate::Error;
use crate::gpu::Gpu;
use crate::gpu::alloc::scratch;
use crate::gpu::array::{Block, Finish, Finishing, Items, Left, Low};
use crate::gpu::engine::KernelSet;
use crate::gpu::kernels::array::{BucketBounds, ItemArrays};
use crate::gpu::kernels::batch::{Split, SplitCut, SplitLevel, SplitState};
use crate::gpu::kernels::segments::LongSegments;
use crate::gpu::kernels::{CodeTransform, File, Instance, kind, numbers, struct_bytes};
use crate::gpu::segments::{Content, Moved, Payload, Rest, listed_words};
use crate::key::Bits;

const THREADS: usize = 512;
/// Words of keys that a thread holds: the first for which there is shared memory.
const ROW_WORDS: [usize; 4] = [24, 16, 8, 4];
/// `MOST_WAYS` and `SAMPLED` of split_segments.cu.
const MOST_WAYS: usize = THREADS / 2;
const SAMPLED: usize = 4096;
/// The share of a block's capacity that a bucket should have. With 64 samples for each, hardly one in a hundred is too long. On an H100 2^26
/// f32 in 2^8 segments took 1.24 ms with 3/4, 1.36 with 5/8 and 1.43 with 1/2.
const SHARE: (usize, usize) = (3, 4);
/// Blocks per multiprocessor, each of which takes one piece of work after another.
const BLOCKS: u32 = 4;

/// How segments are split.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SplitShape {
    pub kernels: SplitKernels,
    /// Keys of the shortest segment or bucket that is split.
    shortest: usize,
    multiprocessors: u32,
}

/// What its kernels are instantiated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SplitKernels {
    items: Items,
    /// The block that sorts a bucket.
    block: Block,
    /// Keys that a thread moves at a time.
    row: usize,
}

impl SplitShape {
    /// The shape for segments of these lengths, of keys alone.
    pub fn new(content: Content, shortest: usize, longest: usize, device: &Properties) -> SplitShape {
        let Content { key_bytes, code, order, .. } = content;
        let items = Items { key_bytes, code, order, low: Low::Nothing };
        let shared = device.shared_per_block;
        let most = MOST_WAYS * MOST_WAYS * SHARE.0 / SHARE.1;
        let block = Block::new(longest, items, [most], shared);
        let rows = ROW_WORDS.map(|words| words / key_bytes.div_ceil(size_of::<u32>()));
        let row = rows.into_iter().find(|&row| moved_shared(key_bytes, row) <= shared).unwrap_or(rows[3]);
        let shortest = shortest.min(block.capacity() + 1);
        let kernels = SplitKernels { items, block, row };
        SplitShape { kernels, shortest, multiprocessors: device.multiprocessors }
    }

    fn tile(self) -> usize {
        THREADS * self.kernels.row
    }

    /// The most keys of a bucket that is finished.
    fn capacity(self) -> usize {
        self.kernels.block.capacity()
    }

    fn share(self) -> usize {
        self.capacity() * SHARE.0 / SHARE.1
    }

    fn key_bytes(self) -> usize {
        self.kernels.items.key_bytes
    }

    /// Words of each piece of scratch for `n` keys in all: the tables with the copy, and two pieces for the finish.
    pub fn words(self, n: usize) -> Vec<usize> {
        let copy = (n * self.key_bytes()).div_ceil(4).next_multiple_of(4);
        let tables = 2 * Tables::lengths(self, n).iter().sum::<usize>();
        vec![tables + copy, Left::words(n), listed_words(Left::most(n))]
    }
}

/// Bytes of `split_segments::Sample`, `Tree` and `Moved`.
fn sample_shared(key_bytes: usize) -> usize {
    struct_bytes(&[numbers(key_bytes, SAMPLED), numbers(size_of::<u32>(), 3)])
}

fn tree_shared(key_bytes: usize) -> usize {
    struct_bytes(&[numbers(key_bytes, MOST_WAYS), numbers(size_of::<u32>(), THREADS)])
}

fn moved_shared(key_bytes: usize, row: usize) -> usize {
    struct_bytes(&[
        numbers(key_bytes, THREADS * row),
        (tree_shared(key_bytes), key_bytes.max(size_of::<u32>()), 1),
        numbers(size_of::<u64>(), THREADS),
        numbers(size_of::<u32>(), THREADS + THREADS / 32),
        numbers(size_of::<u16>(), THREADS * row),
    ])
}

/// The tables of a level: the state, splits, cuts, the cut of each tile, trees, cursors, and buckets that are ready to sort.
struct Tables<'a>([View<'a, u32>; 7]);

impl<'a> Tables<'a> {
    /// Words of each. Each begins at a multiple of 16 bytes.
    fn lengths(shape: SplitShape, n: usize) -> [usize; 7] {
        let words = |bytes: usize| bytes.div_ceil(size_of::<u32>()).next_multiple_of(4);
        let splits = n / shape.shortest + 1;
        let tiles = n / shape.tile() + splits;
        // A segment has one bucket more than its shares, but at least two; the number of its nodes is that, rounded up
        // to a power of two.
        let nodes = 2 * (n / shape.share() + 2 * splits);
        [
            words(size_of::<SplitState>()),
            words(size_of::<Split>() * splits),
            words(size_of::<SplitCut>() * splits),
            words(size_of::<u32>() * tiles),
            words(shape.key_bytes() * nodes),
            words(2 * size_of::<u64>() * nodes),
            // Each node has two buckets, at least one of which is for keys equal to a splitter and may be empty.
            words(2 * 2 * size_of::<u64>() * nodes),
        ]
    }

    fn new(room: View<'a, u32>, shape: SplitShape, n: usize) -> Tables<'a> {
        let mut taken = 0;
        Tables(Tables::lengths(shape, n).map(|words| {
            taken += words;
            room.range(taken - words..taken)
        }))
    }

    fn ready(&self) -> BucketBounds {
        BucketBounds::listed(self.0[6].cast(), self.0[0].range(1..2))
    }

    /// A level that moves keys from one address to the other; buckets that are too long go to the next level.
    fn level(&self, shape: SplitShape, from: u64, to: u64, next: Option<&Tables<'_>>) -> SplitLevel {
        let [state, splits, cuts, cut_of, trees, cursors, ready] = self.0.map(View::address);
        SplitLevel {
            from,
            to,
            state,
            splits,
            cuts,
            cut_of,
            trees,
            cursors,
            ready,
            next_state: next.map_or(0, |next| next.0[0].address()),
            next: next.map_or(0, |next| next.0[1].address()),
            capacity: shape.capacity() as u32,
            share: shape.share() as u32,
        }
    }
}

impl KernelSet for SplitKernels {
    fn instances(&self) -> Vec<Vec<Instance>> {
        vec![self.split(), Finish::instances(self.block, self.items, true)]
    }
}

impl SplitKernels {
    fn split(self) -> Vec<Instance> {
        let Items { key_bytes, code, order, .. } = self.items;
        let defines = vec![
            ("SORTIE_KEY_BYTES", key_bytes.to_string()),
            ("SORTIE_KIND", kind(code, order).into()),
            ("SORTIE_THREADS", THREADS.to_string()),
            ("SORTIE_ROW", self.row.to_string()),
            ("SORTIE_SAMPLE_MEMORY", sample_shared(key_bytes).to_string()),
            ("SORTIE_TREE_MEMORY", tree_shared(key_bytes).to_string()),
            ("SORTIE_MOVED_MEMORY", moved_shared(key_bytes, self.row).to_string()),
        ];
        ["list_long", "choose_splitters", "count_keys", "scan_buckets", "move_keys"]
            .map(|kernel| Instance { kernel, file: File::SplitSegments, defines: defines.clone() })
            .to_vec()
    }
}

impl Gpu {
    /// Enqueues the distribution of these segments, and the sort of their buckets. `long`, which lists the segments,
    /// must have been enqueued before.
    ///
    /// # Safety
    /// As [`Gpu::sort_segments`].
    pub(super) unsafe fn split_segments<B: Bits>(
        &self,
        stream: &Stream,
        keys: View<'_, B>,
        shape: SplitShape,
        kernels: &[Vec<Kernel>],
        long: impl FnOnce() -> Result<LongSegments, Error>,
    ) -> Result<(), Error> {
        let n = keys.len();
        let Items { code, order, .. } = shape.kernels.items;
        let transform = CodeTransform::new::<B>(code, order);
        let room = scratch(stream, shape.words(n)[0])?;
        let table = Tables::lengths(shape, n).iter().sum::<usize>();
        let [first, second] = [0, 1].map(|i| Tables::new(room.range(i * table..(i + 1) * table), shape, n));
        let copy = room.range(2 * table..room.len());
        let [splitting, finishing] = kernels else { unreachable!("as many as steps") };
        let finish = Finish::new(finishing, shape.kernels.block, Left::new(stream, n)?);
        let capacity = shape.capacity();
        let moved = Moved { keys, payload: 0, kind: Payload::None };
        let rest = Rest { offsets: finish.left.offsets(), longest: n as u64, shortest: capacity, copy };
        let rest = self.prepare_rest(stream, moved, rest, code, order)?;

        let levels = [
            first.level(shape, keys.address(), copy.address(), Some(&second)),
            second.level(shape, copy.address(), keys.address(), None),
        ];
        let finishing = |items| {
            let arrays = ItemArrays { items, keys: keys.address(), payload: 0 };
            Finishing { stream, arrays, transform, multiprocessors: shape.multiprocessors }
        };
        for tables in [&first, &second] {
            stream.fill(tables.0[0], 0)?;
        }
        // SAFETY: the caller guarantees it; the tables and the copy are as the kernels expect. The engine keeps the
        // kernels.
        unsafe {
            let long = long()?;
            splitting[0].launch(stream, shape.launch(0), (levels[0], long))?;
            for level in levels {
                shape.enqueue(splitting, stream, level, transform)?;
            }
            finish.left.clear(stream)?;
            finish.sort(finishing(copy.address()), first.ready(), n)?;
            finish.sort(finishing(keys.address()), second.ready(), n)?;
            rest.enqueue()
        }
    }
}

impl SplitShape {
    fn launch(self, shared: usize) -> Launch {
        Launch { blocks: self.multiprocessors * BLOCKS, threads: THREADS as u32, shared }
    }

    /// Enqueues a level.
    ///
    /// # Safety
    /// As [`Gpu::split_segments`].
    unsafe fn enqueue(
        self,
        kernels: &[Kernel],
        stream: &Stream,
        level: SplitLevel,
        transform: CodeTransform,
    ) -> Result<(), Error> {
        let [_, choose_splitters, count_keys, scan_buckets, move_keys] = kernels else {
            unreachable!("as many as instances")
        };
        let key_bytes = self.key_bytes();
        let moving = self.launch(moved_shared(key_bytes, self.kernels.row));
        let scanning = self.launch(THREADS / 32 * size_of::<u32>());
        // SAFETY: these are the kernels' arguments; they stay within the keys, the copy and the tables.
        unsafe {
            choose_splitters.launch(stream, self.launch(sample_shared(key_bytes)), (level, transform))?;
            count_keys.launch(stream, self.launch(tree_shared(key_bytes)), (level, transform))?;
            scan_buckets.launch(stream, scanning, (level,))?;
            move_keys.launch(stream, moving, (level, transform))?;
        }
        Ok(())
    }
}
