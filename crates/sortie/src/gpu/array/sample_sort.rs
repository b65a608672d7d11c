//! Sample sort: sorts one array by comparison alone, for keys of up to 64 bytes that one small function compares.
//!
//! Two levels of splitters, each from a sample of the group that it cuts, lead to buckets that a block sorts. If a
//! value occurs more than once in a sample, keys equal to that splitter get a bucket of their own, which is then in
//! order. All of this is decided on the device: nothing is read back.

use std::ops::Range;
use std::sync::Arc;

use bytemuck::Pod;
use sortie_device::{Kernel, Launch, Properties, Stream, View};

use super::compared::Compared;
use super::items::MOST_KEYS;
use crate::error::same_length;
use crate::gpu::alloc::scratch;
use crate::gpu::engine::KernelSet;
use crate::gpu::kernels::array::{GroupCut, SampleArrays, SampleBuckets, SplitterLevel};
use crate::gpu::kernels::{Define, File, Instance, blocks, numbers, struct_bytes};
use crate::gpu::{Gpu, Pending};
use crate::{Error, Order};

/// Threads of a block, and items per thread.
type Threads = (usize, usize);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Blocks {
    /// Items of up to this size fit in the registers.
    item_bytes: usize,
    /// The threads that count and move items.
    moving: Threads,
    /// The threads that sort items.
    sorting: Threads,
    /// The threads that sort a sample.
    sampling: Threads,
}

const fn blocks_of(item_bytes: usize, moving: Threads, sorting: Threads, sampling: Threads) -> Blocks {
    Blocks { item_bytes, moving, sorting, sampling }
}

/// The first that fit are taken; the last are for devices with little shared memory. A sort of 2^28 keys on an H200:
/// u32 took 8.52 ms if 512 threads sort 15 items each, 8.18 if 128 sort 31, and 8.32 if 768 move 12; u64 took 13.6 if
/// 512 sort 15, 13.2 if 256 sort 15, and 12.8 with the values here; u128 took 25.1 if 512 sort 7, and 23.5 with the
/// values here.
const BLOCKS: [Blocks; 6] = [
    blocks_of(4, (512, 16), (256, 31), (256, 31)),
    blocks_of(8, (512, 12), (256, 19), (512, 15)),
    blocks_of(16, (512, 6), (256, 11), (512, 11)),
    blocks_of(36, (512, 4), (512, 3), (512, 7)),
    blocks_of(68, (512, 2), (256, 3), (512, 5)),
    blocks_of(68, (128, 2), (128, 1), (128, 5)),
];

/// The most buckets of a group. The first value is `MOST_WAYS` of splitters.cu; the second is for blocks with little
/// shared memory.
const MOST_WAYS: [usize; 2] = [1 << 10, 1 << 7];
/// The least number of sampled items for each bucket.
const LEAST_SAMPLED: usize = 8;
/// The share of a block's capacity that a bucket should have. With 60 samples for each bucket, as for 2^28 u32, four
/// standard deviations more still fit, and the few buckets that are longer are merged; wider keys have smaller samples,
/// and more long buckets. A sort of 2^28 u32 on an H200 took 7.45 ms with 2/3, 7.51 with 5/8, and 7.61 with 5/9.
const SHARE: (usize, usize) = (5, 8);
/// Blocks per multiprocessor if another sort may be chosen instead: launching one for each bucket takes 0.1 ms for 2^28
/// u64 even if there is nothing to do. If this sort is chosen, it is 2% slower this way.
const EMBEDDED_BLOCKS: u32 = 128;
/// Blocks per multiprocessor of kernels whose blocks take more than one piece of work.
const RESIDENT: u32 = 2;
/// The size of a cut in words of scratch.
const CUT_WORDS: usize = size_of::<GroupCut>() / size_of::<u32>();

/// What is sorted.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Keys {
    pub bytes: usize,
    /// The body of `key_compare`, and whether only keys with the same bits compare as equal.
    pub compare: String,
    pub total: bool,
    /// Whether indices move with the keys. In the end they fetch a payload of this many bytes, or are the result if it
    /// is 0.
    pub placed: Option<usize>,
}

impl Keys {
    pub fn of<K: Compared>(order: Order, placed: Option<usize>) -> Keys {
        Keys { bytes: size_of::<K>(), compare: K::key_compare(order), total: K::TOTAL, placed }
    }

    fn is_placed(&self) -> bool {
        self.placed.is_some()
    }

    fn payload_bytes(&self) -> usize {
        self.placed.unwrap_or(0)
    }

    /// The bytes by which items move.
    fn word_bytes(&self) -> usize {
        let divides = |&by: &usize| !self.is_placed() && self.bytes.is_multiple_of(by);
        [16, 8].into_iter().find(divides).unwrap_or(4)
    }

    fn item_bytes(&self) -> usize {
        self.bytes + if self.is_placed() { size_of::<u32>() } else { 0 }
    }

    pub fn check(&self, n: usize, address: u64) -> Result<(), Error> {
        let bytes = self.bytes;
        let aligned = [16, 8].into_iter().find(|&by| bytes.is_multiple_of(by)).unwrap_or(4);
        if !(4..=64).contains(&bytes) || !bytes.is_multiple_of(4) {
            return Err(Error::Unsupported(format!(
                "keys of {bytes} bytes cannot be sorted by comparison on a GPU, only those of 4 to 64 bytes, in steps \
                 of 4; use the CPU engine"
            )));
        }
        if !address.is_multiple_of(aligned as u64) {
            return Err(Error::Unsupported(format!(
                "keys of {bytes} bytes begin at {address:#x} of GPU memory, which is not aligned to {aligned} bytes; copy them to \
                 memory that is"
            )));
        }
        // A macro is one line.
        if let Some(cut_off) = ["//", "#", "\\"].iter().find(|text| self.compare.contains(**text)) {
            return Err(Error::Unsupported(format!(
                "key_compare contains {cut_off:?}, but is compiled as one line; remove comments and preprocessor directives"
            )));
        }
        if n > MOST_KEYS {
            return Err(Error::Unsupported(format!(
                "this sort takes at most {MOST_KEYS} keys, not {n}; sort them in parts"
            )));
        }
        Ok(())
    }
}

impl Gpu {
    /// Enqueues a sort by comparison alone, in place, and does not wait.
    ///
    /// This is a sample sort: two levels of splitters, then a merge sort of each bucket in a block. Keys are read five
    /// times and written three times; 2^28 keys take about 28 comparisons each. Scratch: a copy of the keys and about
    /// 1% more, or 2% for keys of 64 bytes; no copy if one block sorts all keys. Not stable: keys that compare as equal
    /// come out by their bits. Buckets that turn out too long, which the sample did not show, are merged by one block
    /// each, which takes long if many keys are in them; for keys of 64 bytes there are more and more of these from
    /// about 2^24 keys on.
    ///
    /// Source: Leischner, Osipov and Sanders, "GPU sample sort" (2010), with equality buckets.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for keys of other sizes than [`Compared`] allows, keys not aligned to their size (or 16
    /// bytes, if that is less), or more than 2^32 - 2^16 of them; [`Error::Memory`] if the device has too little free
    /// for the scratch; [`Error::Device`] if a kernel is not available, for example because the comparison does not
    /// compile. The keys are as they were then.
    ///
    /// # Safety
    /// Nothing else uses the keys until the sort is done. The stream belongs to this engine's device.
    pub unsafe fn sort_by_comparison<K: Compared>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        let sorted = Keys::of::<K>(order, None);
        // SAFETY: the caller guarantees it.
        unsafe { self.sample_sort(stream, keys.address(), keys.len(), 0, &sorted) }
    }

    /// [`Gpu::sort_by_comparison`] of keys with payloads. Each payload, of any multiple of 4 bytes, moves with its key.
    /// Stable.
    ///
    /// Keys move with their indices of 4 bytes, which fetch the payload in the end, by random access. Scratch: two
    /// copies of keys with indices, one of the payload, and about 1% more. NaNs are always told apart by their bits,
    /// whatever the order says.
    ///
    /// # Errors
    /// As [`Gpu::sort_by_comparison`]; [`Error::LengthMismatch`]; [`Error::Unsupported`] for payloads of other sizes, or not
    /// aligned to 4 bytes.
    ///
    /// # Safety
    /// As [`Gpu::sort_by_comparison`], and nothing else uses the payload until the sort is done.
    pub unsafe fn sort_pairs_by_comparison<K: Compared, V: Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        payload: View<'_, V>,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        same_length("payload", keys.len(), payload.len())?;
        let payload_bytes = size_of::<V>();
        if payload_bytes == 0 || !payload_bytes.is_multiple_of(4) || !payload.address().is_multiple_of(4) {
            return Err(Error::Unsupported(format!(
                "payloads of {payload_bytes} bytes at {:#x} cannot be moved on a GPU, only those of a multiple of 4 \
                 bytes; use an argsort for others",
                payload.address()
            )));
        }
        let sorted = Keys::of::<K>(order, Some(payload_bytes));
        // SAFETY: the caller guarantees it.
        unsafe { self.sample_sort(stream, keys.address(), keys.len(), payload.address(), &sorted) }
    }

    /// Enqueues an argsort by comparison alone: writes the indices of the keys in order. The keys stay as they are. Stable.
    ///
    /// Scratch: two copies of the keys with their indices, and about 1% more. NaNs are ordered as by
    /// [`Gpu::sort_pairs_by_comparison`].
    ///
    /// # Errors
    /// As [`Gpu::sort_by_comparison`]; [`Error::LengthMismatch`].
    ///
    /// # Safety
    /// As [`Gpu::sort_by_comparison`], and nothing else uses the indices until the sort is done.
    pub unsafe fn argsort_by_comparison<K: Compared>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        indices: View<'_, u32>,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        same_length("indices", keys.len(), indices.len())?;
        let sorted = Keys::of::<K>(order, Some(0));
        // SAFETY: the caller guarantees it.
        unsafe { self.sample_sort(stream, keys.address(), keys.len(), indices.address(), &sorted) }
    }

    /// Sorts `n` keys at an address, and what is at the address of the payload.
    ///
    /// # Safety
    /// As [`Gpu::sort_pairs_by_comparison`].
    pub(super) unsafe fn sample_sort(
        &self,
        stream: &Stream,
        keys: u64,
        n: usize,
        payload: u64,
        sorted: &Keys,
    ) -> Result<Pending<'_>, Error> {
        sorted.check(n, keys)?;
        if n == 0 {
            return self.pending(stream);
        }
        let scratch = scratch(stream, sample_sort_words(n, sorted, self.device().properties()))?;
        // SAFETY: the caller guarantees it.
        unsafe { SampleSort::new(self, (keys, n, payload), sorted, scratch.view(), 0)?.enqueue(stream)? };
        self.pending(stream)
    }
}

/// Words of scratch that a sample sort takes on this device.
pub(crate) fn sample_sort_words(n: usize, sorted: &Keys, device: &Properties) -> usize {
    Layout::new(n, Shape::new(n, sorted, device), sorted).words
}

/// How keys are cut into buckets.
#[derive(Debug, Clone, Copy)]
struct Shape {
    shaped: Shaped,
    /// `None` if one block sorts all keys.
    levels: Option<[Cut; 2]>,
    multiprocessors: u32,
}

/// The blocks, and how much they hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Shaped {
    blocks: Blocks,
    item_bytes: usize,
    word_bytes: usize,
}

/// How a level cuts its groups.
#[derive(Debug, Clone, Copy)]
struct Cut {
    groups: usize,
    most_ways: usize,
    share: usize,
}

impl Cut {
    /// Nodes of a tree; the first is not used.
    fn nodes(self) -> usize {
        nodes(self.most_ways)
    }

    fn buckets(self) -> usize {
        self.groups * 2 * self.most_ways
    }
}

fn nodes(ways: usize) -> usize {
    ways.next_power_of_two().max(4)
}

impl Shape {
    fn new(n: usize, sorted: &Keys, device: &Properties) -> Shape {
        let (item_bytes, word_bytes) = (sorted.item_bytes(), sorted.word_bytes());
        let multiprocessors = device.multiprocessors;
        let shapes = BLOCKS.map(|blocks| Shaped { blocks, item_bytes, word_bytes });
        let fits = |&(shape, ways): &(Shaped, usize)| {
            item_bytes <= shape.blocks.item_bytes
                && shape.moving_shared(ways).max(shape.choosing_shared()) <= device.shared_per_block
        };
        let (shaped, most_ways) = shapes
            .into_iter()
            .flat_map(|shape| MOST_WAYS.map(|ways| (shape, ways.min(shape.sampled() / LEAST_SAMPLED))))
            .find(fits)
            .expect("the smallest fits every device");
        let shape = Shape { shaped, levels: None, multiprocessors };
        if n <= shaped.capacity() && !sorted.is_placed() {
            return shape;
        }
        let share = shaped.capacity() * SHARE.0 / SHARE.1;
        let buckets = n.div_ceil(share);
        let ways = buckets.isqrt().next_power_of_two().clamp(2, most_ways);
        // Groups of the first level differ more in length, because one sample serves all of them.
        let next_ways = (2 * buckets.div_ceil(ways)).clamp(2, most_ways);
        let first = Cut { groups: 1, most_ways: ways, share: n.div_ceil(ways) };
        let second = Cut { groups: 2 * ways, most_ways: next_ways, share };
        Shape { levels: Some([first, second]), ..shape }
    }
}

impl Shaped {
    /// Items that a block sorts.
    fn capacity(self) -> usize {
        let (threads, row) = self.blocks.sorting;
        threads * row
    }

    /// Items that a block moves.
    fn tile(self) -> usize {
        let (threads, row) = self.blocks.moving;
        threads * row
    }

    /// Items of the largest sample.
    fn sampled(self) -> usize {
        let (threads, row) = self.blocks.sampling;
        threads * row
    }

    /// Bytes of `block_sort::Shared` of the block that sorts items.
    fn sorting_shared(self) -> usize {
        self.shared_of(self.blocks.sorting)
    }

    /// Bytes of `splitters::Choosing`, of the block that sorts a sample.
    fn choosing_shared(self) -> usize {
        let align = self.word_bytes.max(size_of::<u64>());
        struct_bytes(&[(self.shared_of(self.blocks.sampling), align, 1), numbers(size_of::<u32>(), 1)])
    }

    fn shared_of(self, (threads, row): Threads) -> usize {
        let items = threads * row + 2 * (row + 1);
        struct_bytes(&[(self.item_bytes, self.word_bytes, items), numbers(size_of::<u64>(), 2)])
    }

    /// Bytes of `splitters::SumsOfWarps`.
    fn sums_of_warps(self) -> usize {
        struct_bytes(&[numbers(size_of::<u32>(), self.blocks.moving.0 / 32)])
    }

    /// Bytes of `splitters::Pieces`, without its items.
    fn counting_shared(self, ways: usize) -> usize {
        let of_buckets = 2 * ways * (size_of::<u64>() + size_of::<u32>());
        nodes(ways) * self.item_bytes + of_buckets + self.sums_of_warps()
    }

    /// Bytes of `splitters::Pieces`.
    fn moving_shared(self, ways: usize) -> usize {
        self.counting_shared(ways) + self.tile() * (self.item_bytes + size_of::<u16>())
    }
}

/// Where each part of the scratch lies, in words.
struct Layout {
    words: usize,
    left_count: Range<usize>,
    ends: [Range<usize>; 2],
    left: Range<usize>,
    /// One for each level.
    tiles_before: [Range<usize>; 2],
    cuts: [Range<usize>; 2],
    trees: [Range<usize>; 2],
    copy: Range<usize>,
    /// Where keys lie together with indices, and a copy of the payload.
    items: Range<usize>,
    fetched: Range<usize>,
}

impl Layout {
    fn new(n: usize, shape: Shape, sorted: &Keys) -> Layout {
        let mut words = 0;
        let mut take = |count: usize| {
            // Each begins at a multiple of 16 bytes.
            let start = words;
            words += count.next_multiple_of(4);
            start..start + count
        };
        let levels = shape.levels.map_or([None; 2], |levels| levels.map(Some));
        let mut of_each = |count: &dyn Fn(Cut) -> usize| levels.map(|level| take(level.map_or(0, count)));
        // The last of the ends has no bucket that starts at it.
        let ends = of_each(&|cut| 2 * (cut.buckets() + 1));
        let tiles_before = of_each(&|cut| cut.groups + 1);
        let cuts = of_each(&|cut| CUT_WORDS * cut.groups);
        let trees = of_each(&|cut| cut.groups * cut.nodes() * shape.shaped.item_bytes / 4);
        let left_count = take(1);
        let left = take(4 * (n / shape.shaped.capacity() + 1));
        let copied = n * shape.shaped.item_bytes / 4;
        let copy = take(if shape.levels.is_some() { copied } else { 0 });
        let items = take(if sorted.is_placed() { copied } else { 0 });
        let fetched = take(n * sorted.payload_bytes() / 4);
        Layout { words, left_count, ends, left, tiles_before, cuts, trees, copy, items, fetched }
    }
}

/// What the kernels of a sample sort depend on.
#[derive(Clone, PartialEq, Eq, Hash)]
struct SampleSortKernels {
    shape: Shaped,
    sorted: Keys,
    /// Whether the keys are cut, because one block does not sort them all.
    is_cut: bool,
}

impl KernelSet for SampleSortKernels {
    /// Of the end: sort_buckets, sort_left. Of each level: plan_groups, choose_splitters, count_items, scan_buckets,
    /// move_items.
    fn instances(&self) -> Vec<Vec<Instance>> {
        let SampleSortKernels { shape, ref sorted, is_cut } = *self;
        let Blocks { moving, sorting, sampling, .. } = shape.blocks;
        let common: Vec<Define> = vec![
            ("SORTIE_KEY_BYTES", sorted.bytes.to_string()),
            ("SORTIE_KEY_COMPARE", sorted.compare.lines().map(str::trim).collect::<Vec<_>>().join(" ")),
            ("SORTIE_TOTAL", u8::from(sorted.total).to_string()),
            ("SORTIE_INDEXED", u8::from(sorted.is_placed()).to_string()),
        ];
        let with = |more: &[Define]| [&common[..], more].concat();
        let finishing = with(&[
            ("SORTIE_SORT_THREADS", sorting.0.to_string()),
            ("SORTIE_SORT_ROW", sorting.1.to_string()),
            ("SORTIE_PAYLOAD_BYTES", sorted.payload_bytes().to_string()),
            ("SORTIE_SORT_MEMORY", shape.sorting_shared().to_string()),
        ]);
        let finishing = ["sort_buckets", "sort_left"].map(|kernel| Instance {
            kernel,
            file: File::FinishCompared,
            defines: finishing.clone(),
        });
        let mut steps = vec![finishing.to_vec()];
        // Keys alone are items from the start.
        let levels = if sorted.is_placed() { ["FIRST", "NEXT"] } else { ["NEXT"; 2] };
        for level in levels.into_iter().take(if is_cut { 2 } else { 0 }) {
            let defines = with(&[
                ("SORTIE_SORT_THREADS", sampling.0.to_string()),
                ("SORTIE_SORT_ROW", sampling.1.to_string()),
                ("SORTIE_THREADS", moving.0.to_string()),
                ("SORTIE_ROW", moving.1.to_string()),
                ("SORTIE_STEP", level.into()),
                ("SORTIE_SORT_MEMORY", shape.shared_of(sampling).to_string()),
                ("SORTIE_CHOOSE_MEMORY", shape.choosing_shared().to_string()),
                ("SORTIE_SUMS_MEMORY", shape.sums_of_warps().to_string()),
                ("SORTIE_COUNT_MEMORY", shape.counting_shared(MOST_WAYS[0]).to_string()),
                ("SORTIE_MOVE_MEMORY", shape.moving_shared(MOST_WAYS[0]).to_string()),
            ]);
            let kernels = ["plan_groups", "choose_splitters", "count_items", "scan_buckets", "move_items"];
            let of = |kernel| Instance { kernel, file: File::Splitters, defines: defines.clone() };
            steps.push(kernels.map(of).to_vec());
        }
        steps
    }
}

/// A sample sort that is ready to be enqueued.
pub(super) struct SampleSort<'a> {
    n: usize,
    keys: u64,
    payload: u64,
    is_placed: bool,
    shape: Shape,
    kernels: Arc<[Vec<Kernel>]>,
    layout: Layout,
    scratch: View<'a, u32>,
    profile: u64,
}

impl<'a> SampleSort<'a> {
    /// Prepares a sort of `n` keys at an address, and of what is at the address of the payload. The scratch must have
    /// [`sample_sort_words`]. If the address of a profile is given, the sort runs only if the profile says so.
    pub fn new(
        gpu: &Gpu,
        (keys, n, payload): (u64, usize, u64),
        sorted: &Keys,
        scratch: View<'a, u32>,
        profile: u64,
    ) -> Result<SampleSort<'a>, Error> {
        let shape = Shape::new(n, sorted, gpu.device().properties());
        let is_cut = shape.levels.is_some();
        let kernels =
            gpu.kernel_set(&SampleSortKernels { shape: shape.shaped, sorted: sorted.clone(), is_cut })?;
        let layout = Layout::new(n, shape, sorted);
        let is_placed = sorted.is_placed();
        Ok(SampleSort { n, keys, payload, is_placed, shape, kernels, layout, scratch, profile })
    }

    /// # Safety
    /// As [`Gpu::sort_pairs_by_comparison`].
    pub unsafe fn enqueue(&self, stream: &Stream) -> Result<(), Error> {
        let SampleSort { n, shape, kernels, layout, scratch, .. } = self;
        let at = |range: &Range<usize>| scratch.range(range.clone()).address();
        let fetched = scratch.range(layout.fetched.clone());
        // SAFETY: the payload has as many words as its copy.
        stream.copy_within(fetched, unsafe { View::from_raw(self.payload, fetched.len()) })?;
        stream.fill(scratch.range(layout.left_count.clone()), 0)?;
        let items = if self.is_placed { at(&layout.items) } else { self.keys };
        let copy = at(&layout.copy);
        let mut buckets = SampleBuckets { ends: 0, count: *n as u64, profile: self.profile, ways: 1, all: 1 };
        if let Some([first, second]) = shape.levels {
            let level = |i: usize, cut: Cut, from, to, starts| SplitterLevel {
                from,
                to,
                count: *n as u64,
                profile: self.profile,
                starts,
                groups: cut.groups as u32,
                nested: i as u32,
                most_ways: cut.most_ways as u32,
                nodes: cut.nodes() as u32,
                share: cut.share as u32,
                tiles_before: at(&layout.tiles_before[i]),
                cuts: at(&layout.cuts[i]),
                trees: at(&layout.trees[i]),
                ends: at(&layout.ends[i]),
            };
            let ends = layout.ends[0].start..layout.ends[1].end;
            stream.fill(scratch.range(ends), 0)?;
            // SAFETY: the caller guarantees it; the items go to the copy and back.
            unsafe {
                self.cut(stream, &kernels[1], first, level(0, first, self.keys, copy, 0))?;
                self.cut(stream, &kernels[2], second, level(1, second, copy, items, at(&layout.ends[0])))?;
            }
            let (ways, all) = (second.most_ways as u32, (first.most_ways * second.most_ways) as u32);
            buckets = SampleBuckets { ends: at(&layout.ends[1]), ways, all, ..buckets };
        }
        let arrays =
            SampleArrays { items, keys: self.keys, payload: self.payload, payload_from: fetched.address() };
        let (left, left_count) = (at(&layout.left), at(&layout.left_count));
        let (threads, _) = shape.shaped.blocks.sorting;
        let [sort_buckets, sort_left] = &kernels[0][..] else { unreachable!("as many as instances") };
        let launch = Launch {
            blocks: self.blocks(buckets.all.into())?,
            threads: threads as u32,
            shared: shape.shaped.sorting_shared(),
        };
        // SAFETY: these are the kernels' arguments; the kernels stay within the items and the scratch. The engine keeps
        // the kernels.
        unsafe {
            sort_buckets.launch(stream, launch, (arrays, buckets, left, left_count))?;
            if shape.levels.is_some() {
                let launch = Launch { blocks: shape.multiprocessors * RESIDENT, ..launch };
                sort_left.launch(stream, launch, (arrays, copy, left, left_count))?;
            }
        }
        Ok(())
    }

    /// Moves the items of each group of a level to its buckets.
    unsafe fn cut(
        &self,
        stream: &Stream,
        kernels: &[Kernel],
        cut: Cut,
        level: SplitterLevel,
    ) -> Result<(), Error> {
        let [plan_groups, choose_splitters, count_items, scan_buckets, move_items] = kernels else {
            unreachable!("as many as instances")
        };
        let shape = self.shape;
        let groups = cut.groups as u32;
        // Each group may have one tile that is not full.
        let tiles = self.n / shape.shaped.tile() + cut.groups;
        let sums = shape.shaped.sums_of_warps();
        let choosing = Launch {
            blocks: groups,
            threads: shape.shaped.blocks.sampling.0 as u32,
            shared: shape.shaped.choosing_shared(),
        };
        let counting = blocks(tiles as u64)?.min(shape.multiprocessors * RESIDENT);
        // SAFETY: see above.
        unsafe {
            plan_groups.launch(stream, self.launch(1, sums), (level,))?;
            choose_splitters.launch(stream, choosing, (level,))?;
            let shared = shape.shaped.counting_shared(cut.most_ways);
            count_items.launch(stream, self.launch(counting, shared), (level,))?;
            scan_buckets.launch(stream, self.launch(groups, sums), (level,))?;
            let shared = shape.shaped.moving_shared(cut.most_ways);
            move_items.launch(stream, self.launch(self.blocks(tiles as u64)?, shared), (level,))?;
        }
        Ok(())
    }

    /// The number of blocks of a launch with this many pieces of work.
    fn blocks(&self, pieces: u64) -> Result<u32, Error> {
        let most = if self.profile == 0 { u32::MAX } else { self.shape.multiprocessors * EMBEDDED_BLOCKS };
        Ok(blocks(pieces)?.min(most))
    }

    fn launch(&self, blocks: u32, shared: usize) -> Launch {
        Launch { blocks, threads: self.shape.shaped.blocks.moving.0 as u32, shared }
    }
}
