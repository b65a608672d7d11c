//! Sorts and argsorts of a NumPy array along an axis, whatever its type, shape and strides.

use std::iter;
use std::ops::Range;

use arrow_array::UInt32Array;
use bytemuck::Pod;
use numpy::PyUntypedArrayMethods;
use pyo3::prelude::*;
use sortie::{Index, Report, Segments};
use sortie_arrow::SortColumn;

use crate::array::{self, Array};
use crate::buffer::{self, Buffer, zeroed};
use crate::call::run;
use crate::columns;
use crate::errors::Failure;
use crate::kind::{self, Kind, Leaf};
use crate::lanes::Lanes;
use crate::numbers::Numbers;
use crate::options::Options;

/// An index of the result of an argsort.
pub trait Written: Index + Pod + From<u32> {}
impl Written for u32 {}
impl Written for u64 {}

/// Sorts the array in place. Fields that are named go before the others.
pub fn sort(array: &Array<'_>, axis: usize, options: &Options, fields: Option<&[String]>) -> PyResult<()> {
    let (py, dtype) = (array.py(), array.dtype());
    let whole = kind::leaf(&dtype)?;
    let lanes = array::lanes(array, axis).by_address();
    let n = lanes.elements();
    if let (None, Some(numbers)) = (fields, Numbers::of(whole.kind, options)) {
        if lanes.len < 2 {
            return Ok(());
        }
        return run(py, options, n, || Ok(((), sort_numbers(&numbers, &lanes, &whole, options)?)));
    }
    let leaves = kind::leaves(&dtype, fields)?;
    if lanes.len < 2 || n == 0 {
        return Ok(());
    }
    let strings = strings_of(array, &whole, &lanes, options)?;
    run(py, options, n, || Ok(((), sort_items(&lanes, &leaves, strings, options)?)))
}

/// Writes the indices that sort the array to `indices`, an array of the same shape whose elements are as wide as `I`.
pub fn argsort<I: Written>(
    array: &Array<'_>,
    axis: usize,
    options: &Options,
    fields: Option<&[String]>,
    indices: &Array<'_>,
) -> PyResult<()> {
    let (py, dtype) = (array.py(), array.dtype());
    let whole = kind::leaf(&dtype)?;
    let (lanes, results) = (array::lanes(array, axis), array::lanes(indices, axis));
    let n = lanes.elements();
    if let (None, Some(numbers)) = (fields, Numbers::of(whole.kind, options)) {
        if n == 0 {
            return Ok(());
        }
        return run(py, options, n, || Ok(((), argsort_numbers::<I>(&numbers, &lanes, &whole, &results)?)));
    }
    let leaves = kind::leaves(&dtype, fields)?;
    if n == 0 {
        return Ok(());
    }
    let strings = strings_of(array, &whole, &lanes, options)?;
    run(py, options, n, || Ok(((), argsort_items::<I>(&lanes, &leaves, strings, options, &results)?)))
}

/// How lanes that follow one another are segments; one lane is one array.
fn segments(lanes: usize, len: usize) -> Option<Segments<'static>> {
    (lanes > 1).then_some(Segments::Length(len))
}

fn sort_numbers(
    numbers: &Numbers<'_>,
    lanes: &Lanes,
    leaf: &Leaf,
    options: &Options,
) -> Result<Report, Failure> {
    let stable = options.stable == Some(true);
    if let Some(rows) = lanes.rows(numbers.align()).filter(|_| !leaf.swapped) {
        // SAFETY: all elements of the array lie in a row from there. The caller promises that nobody else reads or writes them
        // during the call, as NumPy's users do.
        let keys = unsafe { std::slice::from_raw_parts_mut(rows, lanes.elements() * lanes.width) };
        return numbers.sort(keys, segments(lanes.count, lanes.len), stable, 0);
    }
    let mut report = Report::default();
    for block in lanes.blocks() {
        let (mut buffer, held) = copied(lanes, block.clone())?;
        leaf.swap(buffer.bytes_mut());
        report.absorb(numbers.sort(buffer.bytes_mut(), segments(block.len(), lanes.len), stable, held)?);
        leaf.swap(buffer.bytes_mut());
        // SAFETY: as above.
        unsafe { lanes.scatter(block, buffer.bytes()) };
    }
    Ok(report)
}

fn argsort_numbers<I: Written>(
    numbers: &Numbers<'_>,
    lanes: &Lanes,
    leaf: &Leaf,
    results: &Lanes,
) -> Result<Report, Failure> {
    let rows = lanes.rows(numbers.align()).filter(|_| !leaf.swapped);
    if let (Some(rows), Some(written)) = (rows, results.rows(align_of::<I>())) {
        // SAFETY: all elements of both arrays lie in a row from there. The result is new, and nobody writes to the keys during
        // the call, as the caller promises.
        let (keys, indices) = unsafe {
            let n = lanes.elements();
            let keys = std::slice::from_raw_parts(rows, n * lanes.width);
            (keys, std::slice::from_raw_parts_mut(written.cast::<I>(), n))
        };
        return numbers.argsort(keys, segments(lanes.count, lanes.len), indices, 0);
    }
    let mut report = Report::default();
    for block in lanes.blocks() {
        let (mut buffer, held) = copied(lanes, block.clone())?;
        leaf.swap(buffer.bytes_mut());
        let mut indices = zeroed::<I>(block.len() * lanes.len)?;
        let held = held + size_of_val(&indices[..]);
        report.absorb(numbers.argsort(
            buffer.bytes(),
            segments(block.len(), lanes.len),
            &mut indices,
            held,
        )?);
        // SAFETY: the result is new, so nobody else knows it.
        unsafe { results.scatter(block, bytemuck::cast_slice(&indices)) };
    }
    Ok(report)
}

fn sort_items(
    lanes: &Lanes,
    leaves: &[Leaf],
    mut strings: Option<SortColumn>,
    options: &Options,
) -> Result<Report, Failure> {
    let mut report = Report::default();
    for block in blocks(lanes, strings.is_some()) {
        let mut copy = Buffer::default();
        let (items, held) = items(lanes, block.clone(), &mut copy)?;
        let (indices, did) = order(items, lanes, block.len(), leaves, strings.take(), options, held)?;
        report.absorb(did);
        let mut sorted = Buffer::new(items.len())?;
        buffer::take(items, lanes.width, indices.values(), sorted.bytes_mut());
        // SAFETY: nobody else reads or writes the array during the call, as the caller promises.
        unsafe { lanes.scatter(block, sorted.bytes()) };
    }
    Ok(report)
}

fn argsort_items<I: Written>(
    lanes: &Lanes,
    leaves: &[Leaf],
    mut strings: Option<SortColumn>,
    options: &Options,
    results: &Lanes,
) -> Result<Report, Failure> {
    let mut report = Report::default();
    for block in blocks(lanes, strings.is_some()) {
        let mut copy = Buffer::default();
        let (items, held) = items(lanes, block.clone(), &mut copy)?;
        let (order, did) = order(items, lanes, block.len(), leaves, strings.take(), options, held)?;
        report.absorb(did);
        let mut indices = zeroed::<I>(order.len())?;
        for (lane, (from, to)) in
            order.values().chunks(lanes.len).zip(indices.chunks_mut(lanes.len)).enumerate()
        {
            let start = (lane * lanes.len) as u32;
            from.iter().zip(to).for_each(|(&index, written)| *written = I::from(index - start));
        }
        // SAFETY: the result is new, so nobody else knows it.
        unsafe { results.scatter(block, bytemuck::cast_slice(&indices)) };
    }
    Ok(report)
}

/// The indices that sort each of `count` lanes whose elements follow one another, counted from the first element of all.
fn order(
    items: &[u8],
    lanes: &Lanes,
    count: usize,
    leaves: &[Leaf],
    strings: Option<SortColumn>,
    options: &Options,
    held: usize,
) -> Result<(UInt32Array, Report), Failure> {
    let n = count * lanes.len;
    let mut columns = match strings {
        Some(strings) => vec![strings],
        None => columns::of_items(items, lanes.width, leaves, options)?,
    };
    if let Some(segments) = segments(count, lanes.len) {
        columns.insert(0, columns::of_segments(segments, n)?);
    }
    columns::indices(&columns, n, options, held)
}

/// The lanes that are copied at a time. Strings are read before the sort, all at once.
fn blocks(lanes: &Lanes, all: bool) -> Vec<Range<usize>> {
    if all { iter::once(0..lanes.count).collect() } else { lanes.blocks().collect() }
}

/// The elements of an array of `StringDType`, lane by lane.
fn strings_of(
    array: &Array<'_>,
    whole: &Leaf,
    lanes: &Lanes,
    options: &Options,
) -> PyResult<Option<SortColumn>> {
    if whole.kind != Kind::Strings {
        return Ok(None);
    }
    let (items, _) = copied(lanes, 0..lanes.count)?;
    columns::of_strings(array.py(), &array.dtype(), items.bytes(), options).map(Some)
}

/// The elements of lanes, one after the other: where they lie, or in a copy. Also returns the bytes of the copy.
fn items<'a>(lanes: &Lanes, block: Range<usize>, copy: &'a mut Buffer) -> Result<(&'a [u8], usize), Failure> {
    let Some(rows) = lanes.rows(1) else {
        let (buffer, held) = copied(lanes, block)?;
        *copy = buffer;
        return Ok((copy.bytes(), held));
    };
    let lane = lanes.len * lanes.width;
    // SAFETY: the lanes follow one another from there. Nobody else writes to them during the call, as the caller promises.
    let items = unsafe { std::slice::from_raw_parts(rows.add(block.start * lane), block.len() * lane) };
    Ok((items, 0))
}

/// A copy of lanes, and its bytes.
fn copied(lanes: &Lanes, block: Range<usize>) -> Result<(Buffer, usize), Failure> {
    let bytes = block.len() * lanes.len * lanes.width;
    let mut buffer = Buffer::new(bytes)?;
    // SAFETY: nobody writes to the array during the call, as the caller promises.
    unsafe { lanes.gather(block, buffer.bytes_mut()) };
    Ok((buffer, bytes))
}
