//! Sorts and argsorts of a NumPy array along an axis, whatever its type, shape and strides.

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
use crate::columns::{self, Columns};
use crate::errors::Failure;
use crate::kind::{self, Kind, Leaf};
use crate::lanes::Lanes;
use crate::numbers::Numbers;
use crate::options::Options;

/// An index of the result of an argsort.
pub trait Written: Index + Pod + From<u32> {}
impl Written for u32 {}
impl Written for u64 {}

/// Sorts the array in place. Fields that are named go before the others. The caller holds `held` bytes of scratch already.
pub fn sort(
    array: &Array<'_>,
    axis: usize,
    options: &Options,
    fields: Option<&[String]>,
    held: usize,
) -> PyResult<()> {
    let (py, dtype) = (array.py(), array.dtype());
    let whole = kind::leaf(&dtype)?;
    let lanes = array::lanes(array, axis).by_address();
    let (n, bytes) = (lanes.elements(), lanes.elements() * lanes.width);
    if let (None, Some(numbers)) = (fields, Numbers::of(whole.kind, options)) {
        if lanes.len < 2 {
            return Ok(());
        }
        return run(py, options, n, bytes, || {
            Ok(((), sort_numbers(&numbers, &lanes, &whole, options, held)?))
        });
    }
    let leaves = kind::leaves(&dtype, fields)?;
    if lanes.len < 2 || n == 0 {
        return Ok(());
    }
    let strings = strings_of(array, &whole, &lanes, options)?;
    run(py, options, n, bytes, || Ok(((), sort_items(&lanes, &leaves, strings, options, held)?)))
}

/// Writes the indices that sort the array to `indices`, an array of the same shape whose elements are as wide as `I`. The caller
/// holds `held` bytes of scratch already.
pub fn argsort<I: Written>(
    array: &Array<'_>,
    axis: usize,
    options: &Options,
    fields: Option<&[String]>,
    indices: &Array<'_>,
    held: usize,
) -> PyResult<()> {
    arg_top_k::<I>(array, axis, options, fields, true, indices, held)
}

/// The first of these indices, as many as `indices` has along the axis: `sorted`, or in any order.
pub fn arg_top_k<I: Written>(
    array: &Array<'_>,
    axis: usize,
    options: &Options,
    fields: Option<&[String]>,
    sorted: bool,
    indices: &Array<'_>,
    held: usize,
) -> PyResult<()> {
    let (py, dtype) = (array.py(), array.dtype());
    let whole = kind::leaf(&dtype)?;
    let (lanes, results) = (array::lanes(array, axis), array::lanes(indices, axis));
    let (n, bytes) = (lanes.elements(), lanes.elements() * lanes.width);
    if let (None, Some(numbers)) = (fields, Numbers::of(whole.kind, options)) {
        if results.elements() == 0 {
            return Ok(());
        }
        return run(py, options, n, bytes, || {
            Ok(((), argsort_numbers::<I>(&numbers, &lanes, &whole, options, sorted, &results, held)?))
        });
    }
    let leaves = kind::leaves(&dtype, fields)?;
    if results.elements() == 0 {
        return Ok(());
    }
    let strings = strings_of(array, &whole, &lanes, options)?;
    run(py, options, n, bytes, || {
        Ok(((), argsort_items::<I>(&lanes, &leaves, strings, options, &results, held)?))
    })
}

/// Writes the elements at these indices of each lane's order to `result`, an array whose lanes have as many.
pub fn nth(
    array: &Array<'_>,
    axis: usize,
    options: &Options,
    indices: &[usize],
    result: &Array<'_>,
) -> PyResult<()> {
    let (py, leaf) = (array.py(), kind::leaf(&array.dtype())?);
    let numbers = Numbers::of(leaf.kind, options).expect("only numbers are asked for");
    let (lanes, results) = (array::lanes(array, axis), array::lanes(result, axis));
    if results.elements() == 0 {
        return Ok(());
    }
    run(py, options, lanes.elements(), lanes.elements() * lanes.width, || {
        Ok(((), nth_of_numbers(&numbers, &lanes, &leaf, options, indices, &results)?))
    })
}

/// Puts the elements at these indices of each lane's order in their places.
pub fn partition(array: &Array<'_>, axis: usize, options: &Options, indices: &[usize]) -> PyResult<()> {
    let (py, leaf) = (array.py(), kind::leaf(&array.dtype())?);
    let numbers = Numbers::of(leaf.kind, options).expect("only numbers are asked for");
    let lanes = array::lanes(array, axis).by_address();
    if lanes.elements() == 0 {
        return Ok(());
    }
    run(py, options, lanes.elements(), lanes.elements() * lanes.width, || {
        in_place(&lanes, &leaf, numbers.align(), options, 0, |keys, _, held| {
            numbers.partition(keys, lanes.len, indices, held)
        })
        .map(|report| ((), report))
    })
}

fn nth_of_numbers(
    numbers: &Numbers<'_>,
    lanes: &Lanes,
    leaf: &Leaf,
    options: &Options,
    indices: &[usize],
    results: &Lanes,
) -> Result<Report, Failure> {
    let rows = lanes.rows(numbers.align()).filter(|_| !leaf.swapped);
    if let (Some(rows), Some(written)) = (rows, results.rows(numbers.align())) {
        // SAFETY: all elements of both arrays lie in a row from there. The result is new, and nobody writes to the keys during
        // the call, as the caller promises.
        let (keys, found) = unsafe {
            let keys = std::slice::from_raw_parts(rows, lanes.elements() * lanes.width);
            (keys, std::slice::from_raw_parts_mut(written, results.elements() * results.width))
        };
        return numbers.nth(keys, lanes.len, indices, found, 0);
    }
    let (mut report, mut buffer, mut found) = (Report::default(), Buffer::default(), Buffer::default());
    for block in lanes.blocks() {
        let bytes = block.len() * results.len * results.width;
        options.left(block.len() * lanes.len * lanes.width + bytes)?;
        // SAFETY: nobody writes to the array during the call, as the caller promises.
        let held = bytes + unsafe { lanes.copy_to(block.clone(), &mut buffer)? };
        leaf.swap(buffer.bytes_mut());
        found.reuse(bytes)?;
        report.absorb(numbers.nth(buffer.bytes(), lanes.len, indices, found.bytes_mut(), held)?);
        leaf.swap(found.bytes_mut());
        // SAFETY: the result is new, so nobody else knows it.
        unsafe { results.scatter(block, found.bytes()) };
    }
    Ok(report)
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
    held: usize,
) -> Result<Report, Failure> {
    let stable = options.stable == Some(true);
    in_place(lanes, leaf, numbers.align(), options, held, |keys, count, held| {
        numbers.sort(keys, segments(count, lanes.len), stable, held)
    })
}

/// Calls `change` with the elements of some lanes that follow one another in memory, how many lanes they are, and the bytes of scratch
/// that are held: of all lanes, or of one block after the other. Then the elements are where they were.
fn in_place(
    lanes: &Lanes,
    leaf: &Leaf,
    align: usize,
    options: &Options,
    held: usize,
    change: impl Fn(&mut [u8], usize, usize) -> Result<Report, Failure>,
) -> Result<Report, Failure> {
    if let Some(rows) = lanes.rows(align).filter(|_| !leaf.swapped) {
        // SAFETY: all elements of the array lie in a row from there. The caller promises that nobody else reads or writes them
        // during the call, as NumPy's users do.
        let keys = unsafe { std::slice::from_raw_parts_mut(rows, lanes.elements() * lanes.width) };
        return change(keys, lanes.count, held);
    }
    // The first block is the largest, so memory is allocated before anything moves.
    let (mut report, mut buffer) = (Report::default(), Buffer::default());
    for block in lanes.blocks() {
        options.left(held + block.len() * lanes.len * lanes.width)?;
        // SAFETY: as above.
        let held = held + unsafe { lanes.copy_to(block.clone(), &mut buffer)? };
        leaf.swap(buffer.bytes_mut());
        report.absorb(change(buffer.bytes_mut(), block.len(), held)?);
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
    options: &Options,
    sorted: bool,
    results: &Lanes,
    held: usize,
) -> Result<Report, Failure> {
    let (len, k) = (lanes.len, results.len);
    let argsort = |keys: &[u8], indices: &mut [I], held| {
        if k == len {
            return numbers.argsort(keys, segments(indices.len() / len, len), indices, held);
        }
        numbers.arg_top_k(keys, len, sorted, indices, k, held)
    };
    let rows = lanes.rows(numbers.align()).filter(|_| !leaf.swapped);
    if let (Some(rows), Some(written)) = (rows, results.rows(align_of::<I>())) {
        // SAFETY: all elements of both arrays lie in a row from there. The result is new, and nobody writes to the keys during
        // the call, as the caller promises.
        let (keys, indices) = unsafe {
            let keys = std::slice::from_raw_parts(rows, lanes.elements() * lanes.width);
            (keys, std::slice::from_raw_parts_mut(written.cast::<I>(), results.elements()))
        };
        return argsort(keys, indices, held);
    }
    let (mut report, mut buffer) = (Report::default(), Buffer::default());
    for block in lanes.blocks() {
        let found = block.len() * k;
        options.left(held + block.len() * len * lanes.width + found * size_of::<I>())?;
        // SAFETY: nobody writes to the array during the call, as the caller promises.
        let held = held + unsafe { lanes.copy_to(block.clone(), &mut buffer)? };
        leaf.swap(buffer.bytes_mut());
        let mut indices = zeroed::<I>(found)?;
        let held = held + size_of_val(&indices[..]);
        report.absorb(argsort(buffer.bytes(), &mut indices, held)?);
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
    held: usize,
) -> Result<Report, Failure> {
    let mut report = Report::default();
    let (mut copy, mut sorted) = (Buffer::default(), Buffer::default());
    for block in blocks(lanes, strings.is_some()) {
        let bytes = block.len() * lanes.len * lanes.width;
        options.left(held + 2 * bytes)?;
        // SAFETY: nobody else reads or writes the array during the call, as the caller promises.
        let (items, copied) = unsafe { lanes.items(block.clone(), &mut copy)? };
        sorted.reuse(bytes)?;
        let held = held + copied + bytes;
        let (indices, did) = order(items, lanes, block.len(), leaves, strings.take(), options, held)?;
        report.absorb(did);
        buffer::take(items, lanes.width, indices.values(), sorted.bytes_mut());
        // SAFETY: as above.
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
    held: usize,
) -> Result<Report, Failure> {
    let (mut report, mut copy) = (Report::default(), Buffer::default());
    for block in blocks(lanes, strings.is_some()) {
        let found = block.len() * results.len;
        options.left(held + block.len() * lanes.len * lanes.width + found * size_of::<I>())?;
        // SAFETY: nobody writes to the array during the call, as the caller promises.
        let (items, copied) = unsafe { lanes.items(block.clone(), &mut copy)? };
        let mut indices = zeroed::<I>(found)?;
        let held = held + copied + size_of_val(&indices[..]);
        let (order, did) = order(items, lanes, block.len(), leaves, strings.take(), options, held)?;
        report.absorb(did);
        columns::from_start(order.values(), lanes.len, results.len, &mut indices);
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
    let mut columns = Columns::default();
    if let Some(segments) = segments(count, lanes.len) {
        columns.push(columns::of_segments(segments, n)?);
    }
    match strings {
        Some(strings) => columns.push(strings),
        None => columns::of_items(items, lanes.width, leaves, options, held, &mut columns)?,
    }
    columns::indices(&columns, n, options, held)
}

/// The lanes that are copied at a time. Strings are read before the sort, all at once.
fn blocks(lanes: &Lanes, all: bool) -> impl Iterator<Item = Range<usize>> {
    let whole = all.then_some(0..lanes.count);
    lanes.blocks().take(if all { 0 } else { usize::MAX }).chain(whole)
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
    let mut copy = Buffer::default();
    // SAFETY: nobody writes to the array during the call, as the caller promises.
    let (items, _) = unsafe { lanes.items(0..lanes.count, &mut copy)? };
    columns::of_strings(array.py(), &array.dtype(), items, options).map(Some)
}
