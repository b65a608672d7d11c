//! Selects from each row of an array.

use bytemuck::Pod;
use sortie_device::Launch;

use super::{Content, Job, Rows, word_bytes};
use crate::gpu::alloc::scratch;
use crate::gpu::engine::KernelSet;
use crate::gpu::kernels::select::SelectRows;
use crate::gpu::kernels::{Define, File, Instance, blocks};
use crate::gpu::{DeviceSegments, Gpu};
use crate::key::Bits;
use crate::request::Beside;
use crate::{Error, Order, TotalOrder};

/// Keys that a thread holds, in 32-bit registers.
const MOST_REGISTERS: usize = 64;
/// A block has as many threads as it takes to hold a row in half of these, and for a limit from their first keys, if it can.
const THREADS: [usize; 4] = [32, 64, 128, 256];
/// Keys that a thread holds are a multiple of this many: a kernel is compiled for each number.
const LOADED_STEP: usize = 4;
/// With fewer keys a thread, the first of them would be most of the keys.
const LEAST_LOADED: usize = 4;
/// Bytes of shared memory for words.
const MOST_ROOM: usize = 32 << 10;
/// With room for fewer words, rows with many equal keys would be compared bit by bit.
const LEAST_ROOM: usize = 128;
/// Digits of a word that are counted.
const DIGITS: usize = 1 << 8;
/// Threads of a block that copies results.
const BLOCK: usize = 256;

/// A block for each row.
#[derive(Debug, Clone, Copy)]
pub(super) struct RowSelection {
    rows: usize,
    length: usize,
    k: usize,
    threads: usize,
    /// Keys that a thread holds.
    loaded: usize,
    /// Words in shared memory.
    room: usize,
}

impl RowSelection {
    /// `None` if a row or its results are too long for a block.
    pub fn of(rows: &Rows, key_bytes: usize) -> Option<RowSelection> {
        let Rows { keys, length, k } = *rows;
        let most_loaded = MOST_REGISTERS / key_bytes.div_ceil(4);
        let most_threads = THREADS[THREADS.len() - 1];
        // Enough for a limit from their first keys, if rows are long enough for that.
        let are_enough = |threads: usize| 4 * k <= 3 * threads || LEAST_LOADED * threads >= length;
        let fits = |&threads: &usize| threads * most_loaded / 2 >= length && are_enough(threads);
        let threads = THREADS.into_iter().find(fits).unwrap_or(most_threads);
        let loaded = length.div_ceil(threads).next_multiple_of(LOADED_STEP);
        // For a small k, the limit of the threads' first keys takes up to 3 times k, or as many equal keys as there are threads.
        let taken = if 4 * k <= 3 * threads { (3 * k).max(k + threads) } else { k };
        let room = taken.next_power_of_two().max(LEAST_ROOM);
        let fits = loaded <= most_loaded && room * word_bytes(key_bytes) <= MOST_ROOM;
        fits.then_some(RowSelection { rows: keys / length, length, k, threads, loaded, room })
    }
}

/// Bytes of `RowShared` with room for this many words.
pub(super) fn row_shared(key_bytes: usize, room: usize) -> usize {
    let word = word_bytes(key_bytes);
    let counters = size_of::<u64>() + (3 + DIGITS) * size_of::<u32>();
    (room * word + counters).next_multiple_of(word)
}

/// The parameters of `row.cuh`.
pub(super) fn row_defines(content: &Content, threads: usize, room: usize, shared: usize) -> Vec<Define> {
    let mut defines = content.defines();
    defines.extend([
        ("SORTIE_THREADS", threads.to_string()),
        ("SORTIE_ROOM", room.to_string()),
        ("SORTIE_ROW_MEMORY", shared.to_string()),
    ]);
    defines
}

impl<B: Bits> Job<'_, '_, B> {
    /// # Safety
    /// As [`Gpu::top_k`].
    pub(super) unsafe fn select_from_rows(&self, selection: &RowSelection) -> Result<(), Error> {
        let RowSelection { threads, loaded, room, .. } = *selection;
        let shared = row_shared(self.content.key_bytes, room);
        let kernels =
            self.gpu.kernel_set(&OfRows { content: self.content.clone(), threads, loaded, room, shared })?;
        let launch = Launch { blocks: blocks(selection.rows as u64)?, threads: threads as u32, shared };
        let rows =
            SelectRows { keys: self.keys.address(), length: selection.length as u64, k: selection.k as u64 };
        // SAFETY: these are the kernel's arguments; it stays within keys and results. The engine keeps the kernel.
        unsafe { kernels[0][0].launch(self.stream, launch, (rows, self.to, self.content.codes::<B>()))? };
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

/// The kernel of a selection from rows. `rows`, `length` and `k` are not part of it.
#[derive(Clone, PartialEq, Eq, Hash)]
struct OfRows {
    content: Content,
    threads: usize,
    loaded: usize,
    room: usize,
    shared: usize,
}

impl KernelSet for OfRows {
    fn instances(&self) -> Vec<Vec<Instance>> {
        let mut defines = row_defines(&self.content, self.threads, self.room, self.shared);
        defines.push(("SORTIE_LOADED", self.loaded.to_string()));
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
