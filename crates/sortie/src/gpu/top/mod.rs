//! Selections: the first keys of an order and their indices, of one array or of each row of one; keys at some indices.

mod array;
mod nth;
mod rows;

use bytemuck::Pod;
use sortie_device::{Stream, View};

use super::alloc::{check_workspace, workspace_bytes};
use super::kernels::select::{SelectCodes, TopResults};
use super::kernels::{CodeTransform, Define, kind};
use super::{Gpu, Pending, code};
use crate::error::same_length;
use crate::key::{Bits, Code};
use crate::{Error, Index, Order, Segments, TotalOrder};
use array::Selection;
pub use nth::DeviceNth;
use rows::RowSelection;

/// What [`Gpu::top_k`] writes, and in which order.
#[derive(Debug, Clone, Copy)]
pub struct DeviceTop<'a, K, I> {
    /// Where the first keys go, if they are wanted. As long as `indices`.
    pub keys: Option<View<'a, K>>,
    /// Where the indices of the first keys go: `k` of each row, one row after the other.
    pub indices: View<'a, I>,
    /// The length of a row, which divides the number of keys. The indices of a row begin at 0. `None`: all keys are one row.
    pub row: Option<usize>,
    /// Which keys come first. For the largest, choose a descending order.
    pub order: Order,
    /// Whether -0.0 equals 0.0 and all NaNs are equal, as in NumPy. Otherwise, floats whose bits differ are different.
    pub by_value: bool,
}

impl<'a, K, I> DeviceTop<'a, K, I> {
    /// The indices of the first keys of one row.
    pub fn of(indices: View<'a, I>, order: Order) -> DeviceTop<'a, K, I> {
        DeviceTop { keys: None, indices, row: None, order, by_value: false }
    }
}

impl Gpu {
    /// Enqueues a selection: writes the first `k` keys of each row in order and their indices, where `k` is the number of indices
    /// over that of rows. They are the first `k` of the keys that [`Gpu::sort`] sorts and of the indices that [`Gpu::argsort`]
    /// writes: of equal keys, those with smaller indices come first. The keys stay as they are.
    ///
    /// - Rows, half as many as the device has multiprocessors at least, or of up to 1 MB: a block reads each row once. `k` is at
    ///   most 768. Of rows of up to 16,384 keys (8,192 of 64 bits) it is as large as shared memory allows: any on an H100 or an
    ///   H200, about 3,000 (1,400) with 64 KB a block. Equal keys or an unusual order make that up to five times as slow, but need
    ///   no other read.
    /// - One other row, of at least 2^15 keys and 8 times `k`: reads the keys once. The bound comes from a sample at random
    ///   positions, and the candidates before it are sorted. About once in 10^5 calls, the bound is wrong. Digits of the keys are
    ///   counted then, at a read each, until few enough candidates are left, and one more read collects these. Which keys are
    ///   equal, or in order, makes no difference.
    /// - Few longer rows, and `k` up to some thousands: the same for each.
    /// - Else: all keys are sorted with their indices.
    ///
    /// Scratch:
    ///
    /// - Rows that a block reads: none.
    /// - One other row: 8 bytes for each candidate (16 for keys of 64 bits), and from 2^15 candidates on the scratch of their
    ///   sort. Of 2^28 keys, about 10,000 are candidates for `k` up to 64, and 2.5 times `k` for a large `k`; and up to 1 MB more.
    ///   If all keys are sorted, all are candidates. The same for each of few longer rows.
    /// - Other rows: 4 bytes per key and the scratch of [`Gpu::argsort_segments`]; if floats are compared by value, as much again
    ///   as the keys.
    ///
    /// [`Gpu::workspace_bytes_of_top_k`] is the size of a workspace.
    ///
    /// ```no_run
    /// use sortie::{Order, gpu};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let device = sortie_device::cuda::device(0)?;
    /// let gpu = gpu::Gpu::new(device.clone());
    /// let stream = device.stream()?;
    /// let keys = device.alloc::<f32>(1 << 20)?;
    /// stream.copy_in(keys.view(), &vec![0.5; keys.len()])?;
    /// let indices = device.alloc::<u32>(3)?;
    /// let largest = gpu::DeviceTop::of(indices.view(), Order::DESCENDING);
    /// // SAFETY: nothing else uses any of them until the selection is done.
    /// unsafe { gpu.top_k(&stream, keys.view(), largest)? }.wait()?;
    /// let mut found = [0; 3];
    /// stream.copy_out(&mut found, indices.view())?;
    /// assert_eq!(found, [0, 1, 2]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Gpu::argsort`], except that NaNs may be equal if floats are compared by value; [`Error::LengthMismatch`] if the
    /// results differ in length, or rows cannot share the indices; [`Error::Segments`] if the length of a row does not divide the
    /// keys; [`Error::Unsupported`] for keys of 128 bits, rows of more than 2^32 - 2^16 keys, or of fewer than `k`.
    ///
    /// # Safety
    /// As [`Gpu::sort`]. Nothing else uses the results until the selection is done, and they overlap neither each other nor the keys.
    pub unsafe fn top_k<K: TotalOrder + Pod, I: Index + Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        to: DeviceTop<'_, K, I>,
    ) -> Result<Pending<'_>, Error> {
        if let Some(top) = to.keys {
            same_length("indices", top.len(), to.indices.len())?;
        }
        let content = Content::of::<K>(to.order, to.by_value)?;
        let (way, rows) = Way::of(keys.len(), &to, self)?;
        let words = self.words_of_top::<K::Bits>(&way, &rows, &content)?;
        check_workspace(stream, || words)?;
        let job = Job {
            gpu: self,
            stream,
            keys: keys.cast::<K::Bits>(),
            content,
            to: TopResults {
                keys: to.keys.map_or(0, |top| top.address()),
                indices: to.indices.address(),
                index_bytes: size_of::<I>() as u64,
            },
        };
        // SAFETY: the caller guarantees it.
        unsafe {
            match way {
                Way::Nothing => {}
                Way::Array(selection) => job.select_from_array(&selection)?,
                Way::Rows(selection) => job.select_from_rows(&selection)?,
                Way::LongRows(selection) => job.select_from_long_rows(&selection)?,
                Way::Sorted => job.sort_rows::<K>(&rows)?,
            }
        }
        self.pending(stream)
    }

    /// Bytes of a workspace for [`Gpu::top_k`] of this many keys.
    ///
    /// # Errors
    /// As [`Gpu::top_k`].
    pub fn workspace_bytes_of_top_k<K: TotalOrder, I: Index + Pod>(
        &self,
        keys: usize,
        to: &DeviceTop<'_, K, I>,
    ) -> Result<usize, Error> {
        let (way, rows) = Way::of(keys, to, self)?;
        Ok(workspace_bytes(&self.words_of_top::<K::Bits>(
            &way,
            &rows,
            &Content::of::<K>(to.order, to.by_value)?,
        )?))
    }

    /// Words of each piece of scratch.
    fn words_of_top<B: Bits>(&self, way: &Way, rows: &Rows, content: &Content) -> Result<Vec<usize>, Error> {
        match way {
            Way::Nothing | Way::Rows(_) => Ok(Vec::new()),
            Way::Array(selection) => self.words_of_selection(selection),
            Way::LongRows(selection) => Ok(vec![selection.own_words()]),
            Way::Sorted => Ok(self.words_of_sorted_rows::<B>(rows, content)),
        }
    }
}

/// Rows of one length, and how many keys of each are selected.
#[derive(Debug, Clone, Copy)]
struct Rows {
    /// Keys of all rows.
    keys: usize,
    length: usize,
    k: usize,
}

impl Rows {
    fn of<K, I: Pod>(keys: usize, to: &DeviceTop<'_, K, I>) -> Result<Rows, Error> {
        let (length, indices) = (to.row.unwrap_or(keys), to.indices.len());
        Segments::Length(length).check(keys)?;
        let rows = keys.checked_div(length).unwrap_or(0);
        let k = indices.checked_div(rows).unwrap_or(indices);
        same_length("indices of all rows", k * rows.max(1), indices)?;
        if k > length || rows == 0 && k > 0 {
            return Err(Error::Unsupported(format!(
                "there are {length} keys, so the first {k} cannot be selected; ask for at most {length}"
            )));
        }
        Ok(Rows { keys, length, k })
    }
}

/// How keys are selected.
enum Way {
    Nothing,
    Array(Selection),
    Rows(RowSelection),
    LongRows(Selection),
    Sorted,
}

impl Way {
    fn of<K: TotalOrder, I: Pod>(
        keys: usize,
        to: &DeviceTop<'_, K, I>,
        gpu: &Gpu,
    ) -> Result<(Way, Rows), Error> {
        let (rows, key_bytes) = (Rows::of(keys, to)?, size_of::<K>());
        let (multiprocessors, shared) = (gpu.device().properties().multiprocessors, gpu.shared_per_block());
        if key_bytes > 8 {
            return Err(Error::Unsupported("a GPU selects keys of at most 64 bits; sort these".into()));
        }
        let way = if rows.k == 0 {
            Way::Nothing
        } else if let Some(selection) = RowSelection::of(&rows, key_bytes, multiprocessors, shared) {
            Way::Rows(selection)
        } else if rows.length == rows.keys {
            Way::Array(Selection::of(rows.length, rows.k, key_bytes)?)
        } else if let Some(selection) = Selection::of_rows(&rows, key_bytes, shared) {
            Way::LongRows(selection)
        } else {
            Way::Sorted
        };
        Ok((way, rows))
    }
}

/// The keys that are compared.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Content {
    key_bytes: usize,
    code: Code,
    order: Order,
    /// Whether floats are compared by value.
    by_value: bool,
}

impl Content {
    pub(super) fn of<K: TotalOrder>(order: Order, by_value: bool) -> Result<Content, Error> {
        let code = code::<K>()?;
        let by_value = by_value && code.is_float();
        if !by_value {
            order.carries_on_gpu(code)?;
        }
        Ok(Content { key_bytes: size_of::<K>(), code, order, by_value })
    }

    pub(super) fn defines(&self) -> Vec<Define> {
        vec![
            ("SORTIE_KEY_BYTES", self.key_bytes.to_string()),
            ("SORTIE_KIND", kind(self.code, self.order).into()),
            ("SORTIE_BY_VALUE", u8::from(self.by_value).to_string()),
        ]
    }

    pub(super) fn codes<B: Bits>(&self) -> SelectCodes {
        let transform = CodeTransform::new::<B>(self.code, self.order);
        let (infinity, nan) = self.code.infinity_and_nan(B::WIDTH).unwrap_or_default();
        SelectCodes { transform, infinity, nan }
    }
}

/// Bits of a key with its index.
fn word_bits(key_bytes: usize) -> usize {
    8 * key_bytes + 32
}

/// Bytes of the integer that holds them.
fn word_bytes(key_bytes: usize) -> usize {
    if key_bytes > 4 { 16 } else { 8 }
}

/// A selection to be enqueued.
struct Job<'gpu, 'a, B> {
    gpu: &'gpu Gpu,
    stream: &'a Stream,
    keys: View<'a, B>,
    content: Content,
    to: TopResults,
}
