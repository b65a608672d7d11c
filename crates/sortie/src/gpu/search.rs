//! Positions of queries in sorted keys.

use bytemuck::Pod;
use sortie_device::{Launch, Stream, View, WARP};

use super::alloc::{check_workspace, scratch, workspace_bytes};
use super::engine::KernelSet;
use super::kernels::search::SearchJob;
use super::kernels::{File, Instance};
use super::top::Content;
use super::{Gpu, Pending};
use crate::error::same_length;
use crate::key::index_fits;
use crate::{Error, Index, Order, Side, TotalOrder};

/// Threads of a block.
const BLOCK: usize = 512;
/// Blocks that a multiprocessor runs at the same time.
const RESIDENT: u32 = 2;
/// Queries that a warp takes at a time.
const STRETCH: usize = 256;
/// Bytes of the keys that a warp holds in shared memory. On an H200, searches took 6% longer with twice as many, in blocks of 256
/// threads: shared memory leaves less room for the cache then.
const WINDOW_BYTES: usize = 2 << 10;
/// Bytes of a node of the index, and of a group of keys.
const NODE_BYTES: usize = 32;
const GROUP_BYTES: usize = 64;
/// Entries of the index in shared memory, besides one that ends them. On an H200, 2^26 u32 were searched for in 2^20 in 1.8 ms.
/// With 2^13 entries in shared memory, it took 2.2 ms: random loads of a warp collide there.
const MOST_TOP: usize = 1 << 10;
/// Fewer queries are searched without an index. On an H200, 2^19 in 2^26 u32 took 0.1 ms with one and without, and 2^20 took 0.13 and
/// 0.18 ms.
const MANY: usize = 1 << 20;
/// Stretches are bounded if there are at most this many keys per query. With more, queries in order share little.
const MOST_KEYS_PER_QUERY: usize = 8;
/// The least alignment of a piece of scratch memory.
const PIECE_BYTES: usize = GROUP_BYTES;

/// What [`Gpu::search_sorted`] looks for, and where it writes the positions.
#[derive(Debug, Clone, Copy)]
pub struct DeviceSearch<'a, K, I> {
    pub queries: View<'a, K>,
    /// As many as queries.
    pub positions: View<'a, I>,
    /// Where queries belong among equal keys.
    pub side: Side,
    /// The order of the keys.
    pub order: Order,
    /// Whether -0.0 equals 0.0 and all NaNs are equal, as in NumPy. Otherwise, floats whose bits differ are different.
    pub by_value: bool,
}

impl<'a, K, I> DeviceSearch<'a, K, I> {
    /// The positions before equal keys.
    pub fn of(queries: View<'a, K>, positions: View<'a, I>, order: Order) -> DeviceSearch<'a, K, I> {
        DeviceSearch { queries, positions, side: Side::Left, order, by_value: false }
    }
}

impl Gpu {
    /// Enqueues a search: writes for each query the index at which it belongs in `keys`, which are in the order of the search.
    /// This is the number of keys that come before it, and with [`Side::Right`] also of those equal to it. The result is that of
    /// [`Sorter::search_sorted`](crate::Sorter::search_sorted). If the keys are not in order, the positions are unspecified, but
    /// no greater than the number of keys.
    ///
    /// - Fewer than 2^20 queries: a binary search each.
    /// - More queries: an index of the keys is built first, of one in 16 keys (8 of 64 bits) or fewer, so that it has at most
    ///   one entry per query. A query then reads one sector of 32 bytes of each of its levels and two of the keys.
    /// - At least one query per 8 keys, and all in order: no index. A warp takes 256 queries, and reads the keys between the
    ///   first and the last of them once. It does the same for those of other queries that are in order.
    ///
    /// Scratch for 2^20 and more queries: the index, and 8 bytes per 256 queries. The index takes up to 1/14 of the size of keys
    /// of 32 bits, and 1/6 of that of keys of 64 bits. [`Gpu::workspace_bytes_of_search`] is the size of a workspace.
    ///
    /// ```no_run
    /// use sortie::{Order, gpu};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let device = sortie_device::cuda::device(0)?;
    /// let gpu = gpu::Gpu::new(device.clone());
    /// let stream = device.stream()?;
    /// let (keys, queries) = (device.alloc::<f32>(4)?, device.alloc::<f32>(3)?);
    /// stream.copy_in(keys.view(), &[1.0, 2.0, 2.0, 3.0])?;
    /// stream.copy_in(queries.view(), &[2.0, 0.5, 9.0])?;
    /// let positions = device.alloc::<u32>(3)?;
    /// let search = gpu::DeviceSearch::of(queries.view(), positions.view(), Order::default());
    /// // SAFETY: nothing else uses any of them until the search is done.
    /// unsafe { gpu.search_sorted(&stream, keys.view(), search)? }.wait()?;
    /// let mut found = [0; 3];
    /// stream.copy_out(&mut found, positions.view())?;
    /// assert_eq!(found, [1, 0, 4]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] unless there are as many positions as queries; [`Error::Unsupported`] for keys of 128 bits, if
    /// the index type is too narrow for the keys, and for floats whose NaNs are to be equal ([`Nans`](crate::Nans)), unless they
    /// are compared by value; [`Error::Memory`] if there is no room for scratch memory; [`Error::Device`] if a kernel is not
    /// available.
    ///
    /// # Safety
    /// The stream belongs to this engine's device. Nothing else writes the keys or the queries, or uses the positions, until the
    /// search is done. The positions overlap neither.
    pub unsafe fn search_sorted<K: TotalOrder + Pod, I: Index + Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        search: DeviceSearch<'_, K, I>,
    ) -> Result<Pending<'_>, Error> {
        same_length("positions", search.queries.len(), search.positions.len())?;
        index_fits::<I>(keys.len())?;
        let shape = Shape::of::<K>(keys.len(), search.queries.len())?;
        // SAFETY: the caller guarantees it.
        unsafe { self.search_by(&shape, stream, keys, search) }
    }

    /// # Safety
    /// As [`Gpu::search_sorted`]. The shape is of this many keys and queries, and positions are as many as queries.
    unsafe fn search_by<K: TotalOrder + Pod, I: Index + Pod>(
        &self,
        shape: &Shape,
        stream: &Stream,
        keys: View<'_, K>,
        search: DeviceSearch<'_, K, I>,
    ) -> Result<Pending<'_>, Error> {
        let DeviceSearch { queries, positions, side, order, by_value } = search;
        let content = Content::of::<K>(order, by_value)?;
        check_workspace(stream, || shape.words())?;
        if queries.is_empty() {
            return self.pending(stream);
        }
        let codes = content.codes::<K::Bits>();
        let kernels = self.kernel_set(&OfSearch { content, key_bytes: size_of::<K>() })?;
        let [bound, build, search] = &kernels[0][..] else { unreachable!("as many as instances") };
        let mut job = SearchJob {
            position_bytes: size_of::<I>() as u64,
            right: u64::from(side == Side::Right),
            ..shape.job(keys.address(), queries.address(), positions.address())
        };
        let held = shape.words().first().map(|&words| scratch(stream, words)).transpose()?;
        // SAFETY: the arguments are those of the kernels, which stay within keys, queries, positions and scratch. The engine
        // keeps the kernels. The caller guarantees the rest.
        unsafe {
            if let Some(held) = &held {
                let (index, bounds, unordered) = shape.pieces(held.view());
                if shape.has_bounds {
                    (job.bounds, job.unordered) = (bounds.address(), unordered.address());
                    stream.fill(unordered, 0)?;
                    let stretches = queries.len().div_ceil(STRETCH);
                    bound.launch(stream, self.searching(stretches, BLOCK, 0), (job, codes))?;
                }
                if shape.has_index {
                    job.index = index;
                    build.launch(stream, self.searching(shape.entries(), BLOCK, 0), (job, codes))?;
                }
            }
            let taken = if job.bounds == 0 { WARP as usize } else { STRETCH };
            search.launch(stream, self.searching(queries.len(), taken, shape.shared()), (job, codes))?;
        }
        self.pending(stream)
    }

    /// Bytes of a workspace for [`Gpu::search_sorted`] of this many queries in this many keys.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for keys of 128 bits.
    pub fn workspace_bytes_of_search<K: TotalOrder>(
        &self,
        keys: usize,
        queries: usize,
    ) -> Result<usize, Error> {
        Ok(workspace_bytes(&Shape::of::<K>(keys, queries)?.words()))
    }

    /// As many blocks as run at the same time, unless there are fewer times `each` items.
    fn searching(&self, items: usize, each: usize, shared: usize) -> Launch {
        let most = (self.device().properties().multiprocessors * RESIDENT) as usize;
        Launch { blocks: items.div_ceil(each).min(most) as u32, threads: BLOCK as u32, shared }
    }
}

/// The sizes of a search. They do not depend on where the keys begin.
#[derive(Debug, Clone, Copy)]
struct Shape {
    key_bytes: usize,
    keys: usize,
    queries: usize,
    /// Whether an index is built, unless the queries turn out to be in order.
    has_index: bool,
    /// Whether queries are looked at in stretches, which may be in order.
    has_bounds: bool,
    /// Entries of the top level, and levels.
    top: usize,
    levels: usize,
    /// Keys of a group of the lowest level.
    stride: usize,
}

impl Shape {
    fn of<K>(keys: usize, queries: usize) -> Result<Shape, Error> {
        let key_bytes = size_of::<K>();
        if key_bytes > size_of::<u64>() {
            return Err(Error::Unsupported(
                "a GPU searches keys of at most 64 bits; search on the CPU".into(),
            ));
        }
        let (has_index, has_bounds) = (false, false);
        let shape =
            Shape { key_bytes, keys, queries, has_index, has_bounds, top: keys + 1, levels: 1, stride: 1 };
        Ok(match (keys, queries) {
            (..=MOST_TOP, _) => Shape { has_bounds: queries >= MANY, ..shape },
            (_, ..MANY) => Shape { top: 1, stride: shape.whole(), ..shape },
            _ => shape.indexed(),
        })
    }

    fn indexed(self) -> Shape {
        // As many as if the keys began just before the end of a group.
        let grouped = self.keys + self.group() - 1;
        let stride = self.group().max(grouped.div_ceil(self.queries).next_power_of_two());
        let (mut top, mut levels) = (grouped / stride + 1, 1);
        while top > MOST_TOP + 1 {
            top = top.div_ceil(self.node());
            levels += 1;
        }
        let has_bounds = self.keys / MOST_KEYS_PER_QUERY <= self.queries;
        Shape { has_index: true, has_bounds, top, levels, stride, ..self }
    }

    fn code_bytes(&self) -> usize {
        code_bytes(self.key_bytes)
    }

    fn node(&self) -> usize {
        NODE_BYTES / self.code_bytes()
    }

    fn group(&self) -> usize {
        GROUP_BYTES / self.code_bytes()
    }

    /// Keys of a group that has all keys, wherever they begin.
    fn whole(&self) -> usize {
        (self.keys + self.group() - 1).next_power_of_two().max(self.group())
    }

    /// Entries of the lowest level.
    fn entries(&self) -> usize {
        self.top * self.node().pow(self.levels as u32 - 1)
    }

    /// Entries of all levels.
    fn all_entries(&self) -> usize {
        (0..self.levels as u32).map(|level| self.top * self.node().pow(level)).sum()
    }

    fn top_bytes(&self) -> usize {
        self.top * self.code_bytes()
    }

    fn shared(&self) -> usize {
        self.top_bytes() + BLOCK / WARP as usize * WINDOW_BYTES
    }

    /// Words of the index, the bounds of stretches, and what is known of the order of queries. Each begins at a multiple of
    /// `PIECE_BYTES`.
    fn piece_words(&self) -> [usize; 3] {
        let words = |bytes: usize| bytes.next_multiple_of(PIECE_BYTES) / size_of::<u32>();
        let index = if self.has_index { self.all_entries() * self.code_bytes() } else { 0 };
        let stretches = if self.has_bounds { self.queries.div_ceil(STRETCH) } else { 0 };
        [words(index), words(stretches * size_of::<u64>()), words(size_of::<u32>())]
    }

    fn all_words(&self) -> usize {
        self.piece_words().iter().sum()
    }

    /// Words of each piece of scratch.
    fn words(&self) -> Vec<usize> {
        if self.has_index || self.has_bounds { vec![self.all_words()] } else { Vec::new() }
    }

    /// The address of the top level, and the other pieces.
    fn pieces<'a>(&self, scratch: View<'a, u32>) -> (u64, View<'a, u32>, View<'a, u32>) {
        let mut end = 0;
        let [index, bounds, unordered] = self.piece_words().map(|words| {
            end += words;
            scratch.range(end - words..end)
        });
        let below = (self.all_entries() - self.top) * self.code_bytes();
        (index.address() + below as u64, bounds, unordered)
    }

    fn job(&self, keys: u64, queries: u64, positions: u64) -> SearchJob {
        // Narrow keys are loaded one by one.
        let is_aligned = self.key_bytes < size_of::<u32>();
        let lead = if is_aligned { 0 } else { keys % GROUP_BYTES as u64 / self.key_bytes as u64 };
        SearchJob {
            keys,
            count: self.keys as u64,
            queries,
            queried: self.queries as u64,
            positions,
            position_bytes: 0,
            right: 0,
            index: 0,
            top: self.top as u32,
            levels: self.levels as u32,
            stride: self.stride as u64,
            lead,
            whole: self.whole() as u64,
            bounds: 0,
            unordered: 0,
        }
    }
}

/// Bytes of a code in the index.
fn code_bytes(key_bytes: usize) -> usize {
    key_bytes.max(size_of::<u32>())
}

/// The kernels that search.
#[derive(Clone, PartialEq, Eq, Hash)]
struct OfSearch {
    content: Content,
    key_bytes: usize,
}

impl KernelSet for OfSearch {
    fn instances(&self) -> Vec<Vec<Instance>> {
        let code_bytes = code_bytes(self.key_bytes);
        let mut defines = self.content.defines();
        defines.extend([
            ("SORTIE_THREADS", BLOCK.to_string()),
            ("SORTIE_RESIDENT", RESIDENT.to_string()),
            ("SORTIE_NODE", (NODE_BYTES / code_bytes).to_string()),
            ("SORTIE_GROUP", (GROUP_BYTES / code_bytes).to_string()),
            ("SORTIE_STRETCH", STRETCH.to_string()),
            ("SORTIE_WINDOW", (WINDOW_BYTES / code_bytes).to_string()),
        ]);
        let of = |kernel| Instance { kernel, file: File::SearchSorted, defines: defines.clone() };
        vec![["bound_stretches", "build_index", "search_sorted"].map(of).to_vec()]
    }
}

#[cfg(test)]
mod tests {
    use sortie_simt::{Options, Sanitizer};

    use super::*;
    use crate::gpu::on_bench::on_bench_of;

    /// Searches with an index, or in stretches, although there are few queries. `offset`: the keys begin at this one of a buffer.
    fn compare<K: TotalOrder + Pod + Ord + std::fmt::Debug>(
        gpu: &Gpu,
        keys: &[K],
        queries: &[K],
        offset: usize,
        what: &str,
    ) {
        let (device, stream) = (gpu.device(), gpu.device().stream().unwrap());
        let there = device.alloc::<K>(keys.len() + offset).unwrap();
        let there = there.range(offset..keys.len() + offset);
        let asked = device.alloc::<K>(queries.len()).unwrap();
        stream.copy_in(there, keys).unwrap();
        stream.copy_in(asked.view(), queries).unwrap();
        let positions = device.alloc::<u32>(queries.len()).unwrap();
        let usual = Shape::of::<K>(keys.len(), queries.len()).unwrap();
        let bounded = Shape { has_bounds: true, ..usual };
        for (shape, side) in
            [(usual.indexed(), Side::Left), (usual.indexed(), Side::Right), (bounded, Side::Right)]
        {
            let of = DeviceSearch::of(asked.view(), positions.view(), Order::default());
            // SAFETY: nothing else uses them until the search is done.
            unsafe { gpu.search_by(&shape, &stream, there, DeviceSearch { side, ..of }) }
                .unwrap()
                .wait()
                .unwrap();
            let mut found = vec![0; queries.len()];
            stream.copy_out(&mut found, positions.view()).unwrap();
            for (query, &found) in queries.iter().zip(&found) {
                let is_before = |key: &K| if side == Side::Left { key < query } else { key <= query };
                let expected = keys.partition_point(is_before);
                assert_eq!(
                    found as usize,
                    expected,
                    "{query:?} in {} {what}, {side:?}, {shape:?}",
                    keys.len()
                );
            }
        }
    }

    fn random(count: usize, below: u64, seed: u64) -> Vec<u64> {
        let mut random = fastrand::Rng::with_seed(seed);
        (0..count).map(|_| random.u64(..=below)).collect()
    }

    fn sorted(mut keys: Vec<u64>) -> Vec<u64> {
        keys.sort_unstable();
        keys
    }

    #[test]
    fn queries_of_any_order_are_found_by_an_index() {
        let options = Options { sanitizer: Sanitizer::Race, multiprocessors: 2, ..Options::default() };
        on_bench_of(options, |gpu| {
            for (n, m, below) in [
                (70_000, 5_000, u64::MAX),
                (20_000, 20_000, u64::MAX),
                (5_000, 3_000, 99),
                (17_000, 700, 1),
                (1_100, 257, u64::MAX),
                (0, 300, 7),
                (1, 300, 7),
            ] {
                let keys = sorted(random(n, below, 1));
                let any = random(m, below, 2);
                let in_order = sorted(any.clone());
                let mut mostly = in_order.clone();
                mostly.swap(m / 2, m / 2 + 3);
                let mut shuffled = in_order.clone();
                shuffled.chunks_mut(256).for_each(|chunk| fastrand::Rng::with_seed(5).shuffle(chunk));
                let backwards = in_order.iter().rev().copied().collect();
                let known =
                    any.iter().map(|&i| keys.get(i as usize % n.max(1)).copied().unwrap_or(i)).collect();
                for (what, queries) in [
                    ("any", any),
                    ("in order", in_order),
                    ("mostly in order", mostly),
                    ("shuffled in stretches", shuffled),
                    ("backwards", backwards),
                    ("known", known),
                    ("least", vec![0; m]),
                    ("greatest", vec![u64::MAX; m]),
                ] {
                    compare(gpu, &keys, &queries, n % 5, what);
                    let narrow =
                        |keys: &[u64]| keys.iter().map(|&key| (key >> 32) as u32).collect::<Vec<_>>();
                    if below == u64::MAX {
                        compare(gpu, &narrow(&keys), &narrow(&queries), n % 13, what);
                    }
                }
            }
        });
    }

    /// All queries of a stretch are in order, and belong too far from each other.
    #[test]
    fn few_queries_in_order_are_found_in_many_keys() {
        let options = Options { sanitizer: Sanitizer::Race, multiprocessors: 2, ..Options::default() };
        on_bench_of(options, |gpu| {
            let keys: Vec<u32> = (0..150_000).map(|i| i / 3).collect();
            compare(gpu, &keys, &(0..300).map(|i| 171 * i).collect::<Vec<_>>(), 0, "in order");
            let narrow: Vec<u8> = (0..20_000).map(|i| (i / 80) as u8).collect();
            compare(gpu, &narrow, &(0..1000).map(|i| (i * i) as u8).collect::<Vec<_>>(), 3, "narrow");
        });
    }

    #[test]
    fn an_index_is_small() {
        for (keys, queries, bytes, most) in [
            (1 << 26, 1 << 26, 4, (1 << 28) / 12),
            (1 << 28, 1 << 26, 4, (1 << 30) / 13),
            (1 << 28, 1 << 20, 4, 8 << 20),
            (1 << 26, 1 << 26, 8, (1 << 29) / 5),
        ] {
            let of = |bytes| {
                if bytes == 4 { Shape::of::<u32>(keys, queries) } else { Shape::of::<u64>(keys, queries) }
            };
            let shape = of(bytes).unwrap();
            assert!(shape.has_index && shape.all_words() * 4 <= most, "{shape:?} {}", shape.all_words() * 4);
        }
    }
}
