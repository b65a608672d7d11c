//! Arrays on GPUs, sorted where they lie.
//!
//! A sort is enqueued on the current stream of the library that owns the array, and the call does not wait for it. Scratch
//! memory comes from the pool of torch or CuPy. Copies, indices and results are made by the library.

mod compiler;
mod enqueue;
mod histogram;
mod nth;
mod owner;
mod search;
mod unique;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sortie::dynamic::Dtype;
use sortie::gpu::DeviceSegments;
use sortie_device::View;

use crate::indices::{Top, count};
use crate::options::{Options, Ordering};
use enqueue::{First, Keys, With, enqueue, wait};
pub use histogram::histogram;
pub use nth::nth;
pub use owner::GpuArray;
use owner::{Memory, Owner};
pub use search::search;
pub use unique::{Wanted, unique};

/// Returns a sorted copy, of the same library.
pub fn sort<'py>(
    array: &GpuArray<'py>,
    axis: Option<isize>,
    options: &Options,
) -> PyResult<Bound<'py, PyAny>> {
    let (array, axis) = with_axis(array, axis)?;
    let copy = array.copied(axis)?;
    sort_last_axis(&copy, options)?;
    Ok(copy.moved_back(axis)?.object)
}

/// Sorts in place.
pub fn sort_inplace(array: &GpuArray<'_>, axis: isize, options: &Options) -> PyResult<()> {
    let (memory, _capsule) = array.memory()?;
    array.check_writable(&memory)?;
    let axis = axis_of(memory.shape.len(), axis)?;
    if memory.dense && axis + 1 == memory.shape.len() {
        return sort_last_axis(array, options);
    }
    let copy = array.copied(axis)?;
    sort_last_axis(&copy, options)?;
    array.assign(&copy.moved_back(axis)?)
}

/// Returns the indices that sort an array, as an array of its library.
pub fn argsort<'py>(
    array: &GpuArray<'py>,
    axis: Option<isize>,
    options: &Options,
    dtype: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let (array, axis) = with_axis(array, axis)?;
    let (memory, _capsule) = array.memory()?;
    if memory.dense && axis + 1 == memory.shape.len() {
        return Ok(indices_of(&array, &memory, options, dtype)?.object);
    }
    let copy = array.copied(axis)?;
    let (memory, _capsule) = copy.memory()?;
    Ok(indices_of(&copy, &memory, options, dtype)?.moved_back(axis)?.object)
}

/// Returns the first `k` elements along an axis, or their indices as this type, as an array of the same library.
pub fn first<'py>(
    array: &GpuArray<'py>,
    axis: Option<isize>,
    top: Top,
    options: &Options,
    dtype: Option<&str>,
) -> PyResult<Bound<'py, PyAny>> {
    let (mut array, axis) = with_axis(array, axis)?;
    let dense = array.memory()?.0.dense;
    if !dense || axis + 1 != array.dimensions()? {
        array = array.copied(axis)?;
    }
    let (memory, _capsule) = array.memory()?;
    let order = key_order(&memory, options)?;
    let mut shape = memory.shape.clone();
    let last = shape.last_mut().expect("an array that is sorted has an axis");
    *last = count(Some(top), *last)?;
    let indices = array.empty(&shape, dtype.unwrap_or("int32"))?;
    let keys = if dtype.is_some() { None } else { Some(array.like(&shape)?) };
    let results = shape.iter().product();
    if results > 0 {
        let first = First {
            keys: keys.as_ref().map_or(Ok(0), GpuArray::address)?,
            indices: indices.address()?,
            wide: dtype == Some("int64"),
            results,
            by_value: is_float(memory.dtype) && options.ordering == Ordering::Numpy,
        };
        let from = Keys { memory: &memory, segments: rows(&memory), order, canonical: false };
        // SAFETY: the results are new, and the library orders work on them and on the keys by the stream.
        unsafe { enqueue(&array, &from, With::First(first), options)? };
    }
    Ok(keys.unwrap_or(indices).moved_back(axis)?.object)
}

/// Sorts new or writable arrays of one dimension in place, and the rows of values with them.
pub fn sort_pairs_inplace<'py>(
    keys: &GpuArray<'py>,
    values: &[GpuArray<'py>],
    options: &Options,
) -> PyResult<()> {
    let (memory, _capsule) = keys.memory()?;
    keys.check_writable(&memory)?;
    if memory.shape.len() != 1 {
        return Err(PyValueError::new_err(format!(
            "keys have {} dimensions; give them 1",
            memory.shape.len()
        )));
    }
    let n = memory.elements();
    let places = values.iter().map(|value| Ok(value.memory()?.0)).collect::<PyResult<Vec<_>>>()?;
    for (i, (value, place)) in values.iter().zip(&places).enumerate() {
        value.check_writable(place)?;
        if place.device != memory.device {
            return Err(PyValueError::new_err(format!(
                "values {i} are on cuda:{}, the keys on cuda:{}; move them to one device",
                place.device, memory.device
            )));
        }
        if place.shape.first() != Some(&n) {
            return Err(PyValueError::new_err(format!(
                "values {i} have the shape {:?} where there are {n} keys; give both the same length",
                place.shape
            )));
        }
    }
    if n == 0 {
        return Ok(());
    }
    let order = key_order(&memory, options)?;
    if let [place] = &places[..] {
        let each = place.elements() / n * place.dtype.width();
        if memory.dense && place.dense && each > 0 && each % 4 == 0 && !may_tie(&memory, options) {
            let sorted = Keys { memory: &memory, segments: None, order, canonical: false };
            // SAFETY: both arrays have no gaps, and their library orders work on them by the stream.
            return unsafe { enqueue(keys, &sorted, With::Payload(place.address, each), options) };
        }
    }
    let dense = if memory.dense { keys.clone() } else { keys.copied(0)? };
    let (memory, _capsule) = dense.memory()?;
    let indices = indices_of(&dense, &memory, options, "int64")?;
    for array in std::iter::once(keys).chain(values) {
        array.assign(&array.taken(&indices)?)?;
    }
    Ok(())
}

/// Copies of arrays, in C order.
pub fn copied<'py>(array: &GpuArray<'py>) -> PyResult<GpuArray<'py>> {
    let (memory, _capsule) = array.memory()?;
    match memory.shape.len().checked_sub(1) {
        Some(last) => array.copied(last),
        None => Err(PyValueError::new_err("keys and values have at least one dimension")),
    }
}

/// Returns a copy in which segments of one length are sorted.
pub fn sort_segments<'py>(
    array: &GpuArray<'py>,
    length: usize,
    options: &Options,
) -> PyResult<Bound<'py, PyAny>> {
    let copy = copied(array)?;
    let (memory, _capsule) = copy.memory()?;
    let order = key_order(&memory, options)?;
    check_keys_alone(&memory, options)?;
    let segments = Some(DeviceSegments::Length(length as u64));
    // SAFETY: the copy is new, and its library orders work on it by the stream.
    unsafe {
        enqueue(&copy, &Keys { memory: &memory, segments, order, canonical: false }, With::Nothing, options)?
    };
    Ok(copy.object)
}

/// The same for segments between offsets, which are integers of 64 bits on the same GPU.
pub fn sort_segments_between<'py>(
    array: &GpuArray<'py>,
    offsets: &GpuArray<'py>,
    options: &Options,
) -> PyResult<Bound<'py, PyAny>> {
    let copy = copied(array)?;
    let ((memory, _capsule), (places, _other)) = (copy.memory()?, offsets.memory()?);
    let order = key_order(&memory, options)?;
    check_keys_alone(&memory, options)?;
    let integers = matches!(places.dtype, Dtype::I64 | Dtype::U64);
    if !integers || !places.dense || places.shape.len() != 1 || places.device != memory.device {
        return Err(PyValueError::new_err(
            "offsets of an array on a GPU are on the same GPU: int64 in one dimension, without gaps",
        ));
    }
    // SAFETY: the offsets lie there, and their library orders work on them by the stream. The longest segment is not known
    // without waiting.
    let segments = unsafe {
        let offsets = View::from_raw(places.address, places.elements());
        Some(DeviceSegments::Offsets { offsets, longest: memory.elements() as u64 })
    };
    // SAFETY: the copy is new, and its library orders work on it by the stream.
    unsafe {
        enqueue(&copy, &Keys { memory: &memory, segments, order, canonical: false }, With::Nothing, options)?
    };
    Ok(copy.object)
}

/// Sorts an array without gaps along its last axis.
fn sort_last_axis(array: &GpuArray<'_>, options: &Options) -> PyResult<()> {
    let (memory, _capsule) = array.memory()?;
    let order = key_order(&memory, options)?;
    check_keys_alone(&memory, options)?;
    if memory.elements() > 0 {
        let keys = Keys { memory: &memory, segments: rows(&memory), order, canonical: false };
        // SAFETY: the array has no gaps, and its library orders work on it by the stream.
        unsafe { enqueue(array, &keys, With::Nothing, options)? };
    }
    // Other libraries do not know of this work, so it must be done before they go on.
    if array.owner == Owner::Other { wait(array.object.py(), &memory) } else { Ok(()) }
}

/// The indices that sort an array without gaps along its last axis.
fn indices_of<'py>(
    array: &GpuArray<'py>,
    memory: &Memory,
    options: &Options,
    dtype: &str,
) -> PyResult<GpuArray<'py>> {
    let order = key_order(memory, options)?;
    let segments = rows(memory);
    // Rows have indices of 32 bits.
    let wide = dtype == "int64";
    let written = if wide && segments.is_some() { "int32" } else { dtype };
    let indices = array.empty(&memory.shape, written)?;
    if memory.elements() > 0 {
        let address = indices.address()?;
        let with = if wide && segments.is_none() { With::Wide(address) } else { With::Narrow(address) };
        let keys = Keys { memory, segments, order, canonical: may_tie(memory, options) };
        // SAFETY: the indices are new and as many as the keys, and the library orders work on both by the stream.
        unsafe { enqueue(array, &keys, with, options)? };
    }
    if written == dtype { Ok(indices) } else { indices.converted(dtype) }
}

/// How the last axis of an array is segments; one row is one array.
fn rows(memory: &Memory) -> Option<DeviceSegments<'static>> {
    let last = *memory.shape.last().expect("an array that is sorted has an axis");
    (memory.elements() > last).then_some(DeviceSegments::Length(last as u64))
}

/// Whether keys may be equal with different bits, and are to keep their order.
fn may_tie(memory: &Memory, options: &Options) -> bool {
    is_float(memory.dtype) && options.ordering == Ordering::Numpy && options.stable != Some(false)
}

fn is_float(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::F16 | Dtype::Bf16 | Dtype::F32 | Dtype::F64)
}

fn key_order(memory: &Memory, options: &Options) -> PyResult<sortie::Order> {
    if options.ordering == Ordering::Arrow && is_float(memory.dtype) {
        return Err(PyValueError::new_err("arrays on a GPU have the orders \"numpy\" and \"total\""));
    }
    Ok(options.key_order())
}

fn check_keys_alone(memory: &Memory, options: &Options) -> PyResult<()> {
    if options.stable == Some(true) && is_float(memory.dtype) && options.ordering == Ordering::Numpy {
        return Err(PyValueError::new_err(
            "a stable sort of floats on a GPU needs order=\"total\"; or sort by the indices of sortie.argsort",
        ));
    }
    Ok(())
}

/// The array and the axis, counted from the front; without an axis the array flattened.
fn with_axis<'py>(array: &GpuArray<'py>, axis: Option<isize>) -> PyResult<(GpuArray<'py>, usize)> {
    let Some(axis) = axis else { return Ok((array.flattened()?, 0)) };
    Ok((array.clone(), axis_of(array.dimensions()?, axis)?))
}

fn axis_of(dimensions: usize, axis: isize) -> PyResult<usize> {
    let dimensions = dimensions as isize;
    let counted = if axis < 0 { axis + dimensions } else { axis };
    if (0..dimensions).contains(&counted) {
        return Ok(counted as usize);
    }
    Err(PyValueError::new_err(format!("axis {axis} is out of bounds for an array of dimension {dimensions}")))
}
