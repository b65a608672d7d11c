//! Elements as columns that sortie-arrow sorts: everything that is not a plain number, and all keys where there are several.

use std::ops::BitAnd;
use std::sync::Arc;
use std::time::Instant;

use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, UInt8Array, UInt16Array, UInt32Array, UInt64Array};
use arrow_buffer::{ArrowNativeType, Buffer as ArrowBuffer, NullBuffer};
use bytemuck::{Pod, Zeroable};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;
use sortie::dynamic::Dtype;
use sortie::{Report, Segments};
use sortie_arrow::{ArrowSorter, SortColumn, SortOptions};

use crate::array;
use crate::buffer::{self, Buffer, zeroed};
use crate::call::run;
use crate::errors::Failure;
use crate::kind::{self, Kind, Leaf};
use crate::numbers::{Numbers, ranges};
use crate::options::Options;

/// Elements from which several threads read them.
const SHARED_FROM: usize = 1 << 16;

/// Columns to sort by, the most significant first.
#[derive(Default)]
pub struct Columns {
    columns: Vec<SortColumn>,
    /// Bytes that were allocated for them.
    held: usize,
}

impl Columns {
    /// Adds a column that was made for the sort.
    pub fn push(&mut self, column: SortColumn) {
        self.held += column.values.get_buffer_memory_size();
        self.columns.push(column);
    }

    /// Adds a column that the caller has given. `held` is the number of its bytes that were allocated for the sort.
    pub fn push_given(&mut self, column: SortColumn, held: usize) {
        self.held += held;
        self.columns.push(column);
    }

    /// Counts more bytes.
    pub fn hold(&mut self, bytes: usize) {
        self.held += bytes;
    }

    pub fn append(&mut self, mut others: Columns) {
        self.held += others.held;
        self.columns.append(&mut others.columns);
    }

    /// The bytes of all values.
    pub fn bytes(&self) -> usize {
        self.columns.iter().map(|column| column.values.get_buffer_memory_size()).sum()
    }
}

/// Adds the columns of elements of `width` bytes that follow one another, the most significant first. The call holds `held`
/// bytes of scratch already.
pub fn of_items(
    items: &[u8],
    width: usize,
    leaves: &[Leaf],
    options: &Options,
    held: usize,
    columns: &mut Columns,
) -> Result<(), Failure> {
    for leaf in leaves {
        if leaf.width > 0 {
            // The keys are copied before they become a column.
            options.left(held + columns.held + 2 * (items.len() / width) * leaf.width)?;
            Items { items, width, leaf }.push(options, columns)?;
        }
    }
    Ok(())
}

/// The column of elements of `StringDType`. They are read with the GIL held.
pub fn of_strings(
    py: Python<'_>,
    dtype: &Bound<'_, PyArrayDescr>,
    items: &[u8],
    options: &Options,
) -> PyResult<SortColumn> {
    Ok(SortColumn {
        values: crate::strings::column(py, dtype, items)?,
        options: facing(options, options.nans_first),
    })
}

/// The elements of an array, lane after lane along an axis, as columns to sort by.
pub fn columns_along(array: &array::Array<'_>, axis: usize, options: &Options) -> PyResult<Columns> {
    let (py, dtype) = (array.py(), array.dtype());
    let leaves = kind::leaves(&dtype, None)?;
    let lanes = array::lanes(array, axis);
    let mut columns = Columns::default();
    let mut copy = Buffer::default();
    let bytes = lanes.elements() * lanes.width;
    if dtype.itemsize() > 0 && kind::leaf(&dtype)?.kind == Kind::Strings {
        // SAFETY: nobody writes to the array during the call, as the caller promises.
        let (items, _) = unsafe { lanes.items(0..lanes.count, &mut copy)? };
        columns.push(of_strings(py, &dtype, items, options)?);
        return Ok(columns);
    }
    run(py, options, lanes.elements(), bytes, || {
        options.left(if lanes.rows(1).is_some() { 0 } else { bytes })?;
        // SAFETY: as above.
        let (items, held) = unsafe { lanes.items(0..lanes.count, &mut copy)? };
        of_items(items, lanes.width, &leaves, options, held, &mut columns)?;
        Ok((columns, Report::default()))
    })
}

/// A column that numbers the segments, so that one sort of all is a sort of each. It has a number for each of `n` keys: keys
/// before the first segment and after the last have numbers of their own.
pub fn of_segments(segments: Segments<'_>, n: usize) -> Result<SortColumn, Failure> {
    let mut numbers = zeroed::<u32>(n)?;
    let (mut number, mut end) = (0, 0);
    for range in ranges(Some(segments), n).filter(|range| !range.is_empty()) {
        (number, end) = (number + 1, range.end);
        numbers[range].fill(number);
    }
    numbers[end..].fill(number.wrapping_add(1));
    Ok(SortColumn { values: Arc::new(UInt32Array::from(numbers)), options: None })
}

/// The indices that sort `n` rows by columns. Stable, unless the options say otherwise. The call holds `held` bytes of scratch
/// beside the columns.
pub fn indices(
    columns: &Columns,
    n: usize,
    options: &Options,
    held: usize,
) -> Result<(UInt32Array, Report), Failure> {
    let Columns { columns, held: of_columns } = columns;
    if columns.is_empty() {
        // All rows are equal.
        return Ok((UInt32Array::from_iter_values(0..n as u32), Report::default()));
    }
    let start = Instant::now();
    let sorter = ArrowSorter::new(options.builder(0)?)?.holding(held + of_columns);
    let (indices, sorted) = sorter.lexsort_to_indices(columns, None)?;
    let read = columns.iter().map(|column| column.values.get_buffer_memory_size()).sum::<usize>();
    let mut report = Report::default();
    report.add("sort columns", start.elapsed(), read as u64, indices.get_buffer_memory_size() as u64);
    report.scratch_peak = sorted.scratch_peak;
    Ok((indices, report))
}

/// Writes the first `k` indices of each lane of `len` elements, counted from the start of the lane.
pub fn from_start<I: From<u32>>(order: &[u32], len: usize, k: usize, indices: &mut [I]) {
    for (lane, (from, to)) in order.chunks(len).zip(indices.chunks_mut(k)).enumerate() {
        let start = (lane * len) as u32;
        from.iter().zip(to).for_each(|(&index, to)| *to = I::from(index - start));
    }
}

fn facing(options: &Options, nulls_first: bool) -> Option<SortOptions> {
    Some(SortOptions { descending: options.descending, nulls_first })
}

/// One leaf of elements that follow one another.
struct Items<'a> {
    items: &'a [u8],
    width: usize,
    leaf: &'a Leaf,
}

impl Items<'_> {
    fn push(&self, options: &Options, columns: &mut Columns) -> Result<(), Failure> {
        match self.leaf.kind {
            Kind::Number(_) | Kind::Time => {
                let mut keys = self.native(self.leaf.offset, self.leaf.width)?;
                columns.push(numbers(self.leaf.kind, keys.bytes_mut(), self.leaf.width, options)?);
            }
            Kind::Complex => self.push_complex(options, columns)?,
            Kind::Bytes => {
                let bytes = self.native(self.leaf.offset, self.leaf.width)?.into_arrow();
                columns.push(fixed(bytes, self.leaf.width, options));
            }
            Kind::Text => columns.push(self.code_points(options)?),
            Kind::Strings | Kind::Fields => unreachable!("strings are read elsewhere, and fields are leaves"),
        }
        Ok(())
    }

    /// How many elements there are.
    fn count(&self) -> usize {
        self.items.len() / self.width
    }

    /// `bytes` bytes of each element from `offset` on, as numbers of this machine.
    fn native(&self, offset: usize, bytes: usize) -> Result<Buffer, Failure> {
        let mut keys = Buffer::new(self.count() * bytes)?;
        match bytes {
            1 => self.copy::<1>(offset, keys.bytes_mut()),
            2 => self.copy::<2>(offset, keys.bytes_mut()),
            4 => self.copy::<4>(offset, keys.bytes_mut()),
            8 => self.copy::<8>(offset, keys.bytes_mut()),
            _ => self.each(keys.bytes_mut(), bytes, |item, key| {
                key.copy_from_slice(&item[offset..offset + bytes]);
            }),
        }
        if self.leaf.swapped {
            buffer::swap(keys.bytes_mut(), self.leaf.unit().min(bytes));
        }
        Ok(keys)
    }

    /// Copies `N` bytes of each element. That the compiler knows how many saves a call for each.
    fn copy<const N: usize>(&self, offset: usize, keys: &mut [u8]) {
        self.each(keys, N, |item, key| {
            let bytes: [u8; N] = item[offset..offset + N].try_into().expect("the range has N bytes");
            key.copy_from_slice(&bytes);
        });
    }

    /// Calls `copy` with each element, and the `bytes` bytes of `keys` that are for it.
    fn each(&self, keys: &mut [u8], bytes: usize, copy: impl Fn(&[u8], &mut [u8]) + Sync + Send) {
        let copy = |(item, key): (&[u8], &mut [u8])| copy(item, key);
        if buffer::in_pool() && self.count() >= SHARED_FROM {
            let items = self.items.par_chunks_exact(self.width);
            items.zip(keys.par_chunks_exact_mut(bytes)).with_min_len(4096).for_each(copy);
        } else {
            self.items.chunks_exact(self.width).zip(keys.chunks_exact_mut(bytes)).for_each(copy);
        }
    }

    /// Complex numbers in NumPy's order: by the real part, then by the imaginary one. Those with a NaN come after all others:
    /// first those whose imaginary part alone is NaN, by the real part, then those whose real part is, by the imaginary part.
    fn push_complex(&self, options: &Options, columns: &mut Columns) -> Result<(), Failure> {
        let width = self.leaf.width / 2;
        let mut real = self.native(self.leaf.offset, width)?;
        let mut imaginary = self.native(self.leaf.offset + width, width)?;
        let mut classes = zeroed::<u8>(self.count())?;
        let dtype = if width == 4 {
            classify::<u32>(
                real.bytes_mut(),
                imaginary.bytes_mut(),
                &mut classes,
                f32::INFINITY.to_bits(),
                u32::MAX >> 1,
            );
            Dtype::F32
        } else {
            classify::<u64>(
                real.bytes_mut(),
                imaginary.bytes_mut(),
                &mut classes,
                f64::INFINITY.to_bits(),
                u64::MAX >> 1,
            );
            Dtype::F64
        };
        if classes.iter().any(|&class| class != 0) {
            let options = Some(SortOptions { descending: options.nans_first, nulls_first: false });
            columns.push(SortColumn { values: Arc::new(UInt8Array::from(classes)), options });
        }
        for part in [&mut real, &mut imaginary] {
            columns.push(numbers(Kind::Number(dtype), part.bytes_mut(), width, options)?);
        }
        Ok(())
    }

    /// Code points, as bytes in the order of the text: as many for each as the greatest of all needs.
    fn code_points(&self, options: &Options) -> Result<SortColumn, Failure> {
        let points = self.leaf.width / 4;
        let mut all = self.native(self.leaf.offset, self.leaf.width)?;
        let all: &[u32] = bytemuck::cast_slice(all.bytes_mut());
        let greatest = all.iter().copied().fold(0, |all, point| all | point);
        let (bytes, each) = if greatest <= u32::from(u8::MAX) {
            (narrowed(all, |point| point as u8)?, 1)
        } else if greatest <= u32::from(u16::MAX) {
            (narrowed(all, |point| (point as u16).to_be())?, 2)
        } else {
            (narrowed(all, u32::to_be)?, 4)
        };
        Ok(fixed(bytes, each * points, options))
    }
}

/// A column of numbers, as codes. Changes the keys.
fn numbers(kind: Kind, keys: &mut [u8], width: usize, options: &Options) -> Result<SortColumn, Failure> {
    let numbers = Numbers::of(kind, options).expect("only numbers are asked for");
    Ok(SortColumn { values: coded(&numbers, keys, width, None, false)?, options: None })
}

/// Codes of keys of `width` bytes, as an array of numbers as wide, which ascend in the order of the keys or descend in it if they are
/// `reversed`. Changes the keys.
pub fn coded(
    numbers: &Numbers<'_>,
    keys: &mut [u8],
    width: usize,
    nulls: Option<NullBuffer>,
    reversed: bool,
) -> Result<ArrayRef, Failure> {
    let flip = if reversed { u64::MAX } else { 0 };
    Ok(match width {
        1 => {
            let codes = numbers.narrow_codes(keys, |code| ((code ^ flip) >> 56) as u8)?;
            Arc::new(UInt8Array::new(codes.into(), nulls))
        }
        2 => {
            let codes = numbers.narrow_codes(keys, |code| ((code ^ flip) >> 48) as u16)?;
            Arc::new(UInt16Array::new(codes.into(), nulls))
        }
        4 => {
            let codes = numbers.narrow_codes(keys, |code| ((code ^ flip) >> 32) as u32)?;
            Arc::new(UInt32Array::new(codes.into(), nulls))
        }
        _ => Arc::new(UInt64Array::new(numbers.narrow_codes(keys, |code| code ^ flip)?.into(), nulls)),
    })
}

/// A column of values of `width` bytes each.
fn fixed(bytes: ArrowBuffer, width: usize, options: &Options) -> SortColumn {
    let values = Arc::new(FixedSizeBinaryArray::new(width as i32, bytes, None));
    SortColumn { values, options: facing(options, false) }
}

/// Each code point as another number, whose bytes are in the order of the text.
fn narrowed<T: ArrowNativeType + Zeroable>(
    points: &[u32],
    narrow: impl Fn(u32) -> T,
) -> Result<ArrowBuffer, Failure> {
    let mut numbers = zeroed::<T>(points.len())?;
    numbers.iter_mut().zip(points).for_each(|(number, &point)| *number = narrow(point));
    Ok(ArrowBuffer::from_vec(numbers))
}

/// Writes which parts of complex numbers are NaN: 1 for the imaginary one, 2 for the real one, 3 for both. Those become 0.
fn classify<B: Pod + PartialOrd + BitAnd<Output = B>>(
    real: &mut [u8],
    imaginary: &mut [u8],
    classes: &mut [u8],
    infinity: B,
    magnitude: B,
) {
    let real = bytemuck::cast_slice_mut::<u8, B>(real);
    let imaginary = bytemuck::cast_slice_mut::<u8, B>(imaginary);
    for ((real, imaginary), class) in real.iter_mut().zip(imaginary).zip(classes) {
        for (part, bit) in [(imaginary, 1), (real, 2)] {
            if *part & magnitude > infinity {
                *part = B::zeroed();
                *class |= bit;
            }
        }
    }
}
