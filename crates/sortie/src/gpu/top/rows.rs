//! Selects from each row of an array.

use bytemuck::Pod;
use sortie_device::Launch;

use super::{Content, Job, Rows, word_bytes};
use crate::gpu::alloc::scratch;
use crate::gpu::array::MOST_KEYS;
use crate::gpu::engine::KernelSet;
use crate::gpu::kernels::select::SelectRows;
use crate::gpu::kernels::{Define, File, Instance, blocks};
use crate::gpu::{DeviceSegments, Gpu};
use crate::key::Bits;
use crate::request::Beside;
use crate::{Error, Order, TotalOrder};

/// Threads of the block of a row.
const FEWEST_THREADS: usize = 32;
const MOST_THREADS: usize = 1024;
/// Threads of all rows for each multiprocessor that hide what loads take. More for a row than that needs.
const THREADS_OF_MULTIPROCESSOR: usize = 1536;
/// The most threads of a row for that alone.
const FILLING: usize = 512;
/// Up to as many keys in 32-bit registers, a single warp holds a row.
const OF_WARP: usize = 32 * 32;
/// Up to as many keys in 32-bit registers, a block can hold a row.
const OF_BLOCK: usize = 16_384;
/// Registers with keys of a tile, if a row has several.
const TILE: usize = 16;
const TILE_OF_MOST_THREADS: usize = 4;
/// Threads whose first keys give a limit for k: up to three quarters of them. Those of large blocks take long to compare.
const FIRSTS: usize = 256;
/// Keys that a thread holds are a power of two or, if they are many, a multiple of this: a kernel is compiled for each number.
const LOADED_STEP: usize = 4;
/// The sample of a tile has one key in as many.
const SAMPLED_OF: usize = 8;
/// With room for fewer words, rows with many equal keys would be compared bit by bit.
const LEAST_ROOM: usize = 128;
/// The most registers with words that a thread sorts.
const MOST_SORTED: usize = 32;
/// Digits of a word that are counted.
const DIGITS: usize = 1 << 8;
/// Bits of a cell of a sort.
const CELL_BITS: std::ops::RangeInclusive<u32> = 5..=11;
/// A block reads a long row alone if that takes less time than launches do, or there are as many rows as half of the
/// multiprocessors.
const BYTES_OF_BLOCK: usize = 1 << 20;
/// The rank of a limit that takes all keys of a tile.
const TAKES_ALL: u32 = u32::MAX;
/// Threads of a block that copies results.
const BLOCK: usize = 256;

/// A block for each row.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowSelection {
    rows: usize,
    length: usize,
    k: usize,
    threads: usize,
    /// Keys of a tile that a thread loads.
    loaded: usize,
    /// Blocks of a multiprocessor.
    resident: usize,
    /// Words in shared memory.
    room: usize,
    /// The rank of the limit in a sample of a tile. 0: the limit is among the threads' first keys.
    rank: u32,
}

impl RowSelection {
    /// `None` if a row or its results are too long for a block, or rows are too few.
    pub fn of(rows: &Rows, key_bytes: usize, multiprocessors: u32, shared: usize) -> Option<RowSelection> {
        let Rows { keys, length, k } = *rows;
        let (count, multiprocessors) = (keys / length, multiprocessors as usize);
        let registers = key_bytes.div_ceil(size_of::<u32>());
        let by_firsts = |threads: usize| 4 * k <= 3 * threads;
        let threads_by_firsts = (FEWEST_THREADS.max((4 * k).div_ceil(3))).next_power_of_two();
        let few_keys = length * registers <= OF_WARP && by_firsts(FEWEST_THREADS);
        let fits_block = length * registers <= OF_BLOCK;
        let (threads, loaded, rank, room) = if few_keys || fits_block && threads_by_firsts > FIRSTS {
            let (rank, room) =
                if few_keys { (0, (3 * k).max(k + FEWEST_THREADS)) } else { rank_and_room(length, k) };
            let room = room.next_power_of_two().max(LEAST_ROOM);
            let threads = if few_keys {
                FEWEST_THREADS
            } else {
                let sorting = word_registers(key_bytes, room) / MOST_SORTED;
                (length.next_power_of_two() / 8).clamp(2 * FEWEST_THREADS, FILLING).max(sorting)
            };
            let loaded = length.div_ceil(threads);
            let loaded =
                if few_keys { loaded.next_power_of_two() } else { loaded.next_multiple_of(LOADED_STEP) };
            (threads, loaded, rank, room)
        } else {
            let mut threads = threads_by_firsts.max(2 * FEWEST_THREADS);
            let tile = |threads| if threads < MOST_THREADS { TILE } else { TILE_OF_MOST_THREADS } / registers;
            while threads < FILLING
                && count * threads < multiprocessors * THREADS_OF_MULTIPROCESSOR
                && length >= 4 * threads * tile(threads)
            {
                threads *= 2;
            }
            let loaded = tile(threads).min(length.div_ceil(threads).next_power_of_two());
            let fill = count > 1 && 2 * count >= multiprocessors;
            let is_fast = fill || length * key_bytes <= BYTES_OF_BLOCK;
            if !is_fast && length > threads * loaded {
                return None;
            }
            let room = (3 * k).max(k + threads).max(2 * k + threads / 2);
            (threads, loaded, 0, room.next_power_of_two().max(LEAST_ROOM))
        };
        let is_one_tile = length <= threads * loaded;
        let resident = match (loaded * registers).max(word_registers(key_bytes, room) / threads) {
            ..=8 => 1024,
            ..=16 if !is_one_tile && threads < FILLING => 768,
            ..=20 if is_one_tile => 1024,
            _ => 512,
        } / threads;
        let selection =
            RowSelection { rows: count, length, k, threads, loaded, resident: resident.max(1), room, rank };
        let fits =
            threads <= MOST_THREADS && length <= MOST_KEYS && row_shared(key_bytes, threads, room) <= shared;
        fits.then_some(selection)
    }

    fn is_one_tile(&self) -> bool {
        self.length <= self.threads * self.loaded
    }
}

/// The rank in a sample of a limit that k of this many keys do not exceed, and the words that it takes, most probably.
fn rank_and_room(keys: usize, k: usize) -> (u32, usize) {
    if 2 * k >= keys {
        return (TAKES_ALL, keys);
    }
    // The sample is without replacement. With three deviations, about one row in a thousand counts digits.
    let (share, part) = (k as f64 / keys as f64, 1.0 / SAMPLED_OF as f64);
    let deviation = (k as f64 * part * (1.0 - share) * (1.0 - part)).sqrt();
    let rank = (k as f64 * part + 3.0 * deviation + 2.0).ceil();
    // The limit is that of the rank or, if that saves a digit, a sixteenth more.
    let most = (rank + rank / 16.0 + 3.0 * deviation) / part;
    (rank as u32, (most.ceil() as usize).min(keys))
}

/// Registers for this many words.
fn word_registers(key_bytes: usize, words: usize) -> usize {
    words * word_bytes(key_bytes) / size_of::<u32>()
}

/// Bits of a cell in which words are sorted.
fn cell_bits(room: usize) -> u32 {
    (room.ilog2() - 1).clamp(*CELL_BITS.start(), *CELL_BITS.end())
}

/// Bytes of `RowShared` with room for this many words.
pub(super) fn row_shared(key_bytes: usize, threads: usize, room: usize) -> usize {
    let word = word_bytes(key_bytes);
    let counts = DIGITS.max((1 << cell_bits(room)) + 1);
    let counters = 2 * size_of::<u64>() + (3 + threads / 32 + counts) * size_of::<u32>();
    (room * word + counters).next_multiple_of(word)
}

/// The parameters of `row.cuh`.
pub(super) fn row_defines(content: &Content, threads: usize, room: usize) -> Vec<Define> {
    let mut defines = content.defines();
    defines.extend([
        ("SORTIE_THREADS", threads.to_string()),
        ("SORTIE_ROOM", room.to_string()),
        ("SORTIE_CELL_BITS", cell_bits(room).to_string()),
        ("SORTIE_ROW_MEMORY", row_shared(content.key_bytes, threads, room).to_string()),
    ]);
    defines
}

impl<B: Bits> Job<'_, '_, B> {
    /// # Safety
    /// As [`Gpu::top_k`].
    pub(super) unsafe fn select_from_rows(&self, selection: &RowSelection) -> Result<(), Error> {
        let RowSelection { threads, loaded, resident, room, rank, .. } = *selection;
        let shared = row_shared(self.content.key_bytes, threads, room);
        let is_one_tile = selection.is_one_tile();
        let of_rows = OfRows { content: self.content.clone(), threads, loaded, resident, room, is_one_tile };
        let kernels = self.gpu.kernel_set(&of_rows)?;
        let launch = Launch { blocks: blocks(selection.rows as u64)?, threads: threads as u32, shared };
        let rows =
            SelectRows { keys: self.keys.address(), length: selection.length as u64, k: selection.k as u64 };
        // SAFETY: these are the kernel's arguments; it stays within keys and results. The engine keeps the kernel.
        unsafe {
            kernels[0][0].launch(self.stream, launch, (rows, self.to, self.content.codes::<B>(), rank))?
        };
        Ok(())
    }

    /// Sorts the indices of all rows, and copies the first ones.
    ///
    /// # Safety
    /// As [`Gpu::top_k`].
    pub(super) unsafe fn sort_rows<K: TotalOrder + Pod>(&self, rows: &Rows) -> Result<(), Error> {
        let kernels = self.gpu.kernel_set(&OfSortedRows { content: self.content.clone() })?;
        let scratch = scratch(self.stream, own_words(rows, &self.content))?;
        let indices = scratch.range(0..rows.keys);
        let copied = scratch.range(copy_from(rows)..scratch.len());
        let (mut keys, mut order) = (self.keys.cast::<K>(), self.content.order);
        // SAFETY: the caller guarantees it; indices and copy are as long as the keys.
        unsafe {
            if self.content.by_value {
                self.gpu.canonical_floats(self.stream, keys, copied.cast::<K>())?;
                keys = copied.cast::<K>();
                // Their NaNs are one.
                order = Order { nans: order.nans.told_apart(), ..order };
            }
            let of_rows = DeviceSegments::Length(rows.length as u64);
            drop(self.gpu.argsort_segments(self.stream, keys, indices, of_rows, order)?);
        }
        let results = rows.keys / rows.length * rows.k;
        let launch =
            Launch { blocks: blocks(results.div_ceil(BLOCK) as u64)?, threads: BLOCK as u32, shared: 0 };
        let of = SelectRows { keys: self.keys.address(), length: rows.length as u64, k: rows.k as u64 };
        // SAFETY: these are the kernel's arguments; it stays within keys, indices and results. The engine keeps the kernel.
        unsafe { kernels[0][0].launch(self.stream, launch, (of, indices, results as u64, self.to))? };
        Ok(())
    }
}

impl Gpu {
    /// Words of each piece of scratch if all rows are sorted.
    pub(super) fn words_of_sorted_rows<B: Bits>(&self, rows: &Rows, content: &Content) -> Vec<usize> {
        let (of_rows, beside) =
            (DeviceSegments::Length(rows.length as u64), Beside::Indices { stable: true });
        let sorted = self.words_of_segments::<B>(rows.keys, of_rows, beside, content.code);
        [vec![own_words(rows, content)], sorted].concat()
    }
}

/// Where the copy of the keys begins after the indices, in words.
fn copy_from(rows: &Rows) -> usize {
    rows.keys.next_multiple_of(4)
}

/// Words of the indices, and of a copy of floats that are compared by value.
fn own_words(rows: &Rows, content: &Content) -> usize {
    let copied = if content.by_value { rows.keys * content.key_bytes } else { 0 };
    copy_from(rows) + copied.div_ceil(size_of::<u32>())
}

/// The kernel of a selection from rows. `rows`, `length`, `k` and `rank` are not part of it.
#[derive(Clone, PartialEq, Eq, Hash)]
struct OfRows {
    content: Content,
    threads: usize,
    loaded: usize,
    resident: usize,
    room: usize,
    is_one_tile: bool,
}

impl KernelSet for OfRows {
    fn instances(&self) -> Vec<Vec<Instance>> {
        let mut defines = row_defines(&self.content, self.threads, self.room);
        defines.extend([
            ("SORTIE_LOADED", self.loaded.to_string()),
            ("SORTIE_RESIDENT", self.resident.to_string()),
            ("SORTIE_ONE_TILE", u8::from(self.is_one_tile).to_string()),
        ]);
        vec![vec![Instance { kernel: "select_row", file: File::SelectRows, defines }]]
    }
}

/// The kernel that copies the first of sorted indices.
#[derive(Clone, PartialEq, Eq, Hash)]
struct OfSortedRows {
    content: Content,
}

impl KernelSet for OfSortedRows {
    fn instances(&self) -> Vec<Vec<Instance>> {
        vec![vec![Instance {
            kernel: "take_sorted",
            file: File::TakeSorted,
            defines: self.content.defines(),
        }]]
    }
}
