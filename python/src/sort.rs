//! `sort`, `sort_inplace` and `argsort`.

use arrow_array::{Array as _, UInt32Array};
use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use sortie::Engine;

use crate::array::{self, Array, axis_of};
use crate::call::run;
use crate::gpu::{self, GpuArray};
use crate::indices::{Indices, Top, count};
use crate::input::{Input, flagged, picked};
use crate::keys::Keys;
use crate::kind;
use crate::numbers::Numbers;
use crate::options::{Count, Given, Options};
use crate::writable::{output, writable};
use crate::{along, arrow, columns, tensor};

/// Returns a sorted copy.
///
/// a
///     One of these:
///
///     - A NumPy array, or anything that ``np.asarray`` accepts.
///     - An Arrow array, a series of pandas or polars, or an index or extension array of pandas. The result has the type of the
///       argument. For other Arrow data, it is an object with the Arrow PyCapsule interface. It has several chunks if its text or
///       lists are too long for 32-bit offsets.
///     - A tensor of torch in host memory. It is not copied before the sort, and the result is a tensor.
///     - An array of torch, CuPy, Numba or JAX in GPU memory. It is sorted on that GPU. Except for JAX, the call does not wait until
///       the sort is done.
/// axis
///     The axis along which to sort. ``None`` flattens the array.
/// descending
///     Whether the largest element comes first.
/// stable
///     ``True`` gives the result of ``np.sort(kind="stable")`` bit for bit: zeros of both signs and NaNs keep their order.
/// nans
///     ``"last"`` or ``"first"``: where NaN and NaT go, in both directions, also within lists and structs.
/// nulls
///     ``"last"`` or ``"first"``: where nulls of Arrow data and NA of pandas go, in both directions, also within lists and structs.
///     NumPy arrays have no nulls.
/// order
///     ``"numpy"``: -0.0 equals 0.0, and all NaNs are equal. ``"total"``: -0.0 before 0.0, NaNs by their bits. ``"arrow"``: the
///     totalOrder of IEEE 754. For a structured array, a field or a list of fields by which to sort first, as in ``np.sort``.
/// out
///     An array of the same shape and type for the result. With ``memory_limit``, the result is made in scratch memory first.
/// threads
///     The number of threads, at most 4 for each core. By default one for each core; a sort of fewer than 65,536 elements uses one.
/// memory_limit
///     The most scratch memory in bytes. It counts copies and keys, but not the result.
/// engine
///     ``"auto"`` or ``"cpu"``: the CPU. ``"cuda"``, ``"cuda:1"`` or ``"hybrid"``: the array is copied to a GPU and back.
///
/// Raises
///
/// - ``TypeError`` for a type that has no order. The message says what to convert it to.
/// - ``ValueError`` for arguments that do not fit each other.
/// - ``MemoryError`` if ``memory_limit`` or the system does not allow the scratch memory.
/// - ``RuntimeError`` if a GPU is not available or fails.
///
/// >>> import numpy as np, sortie
/// >>> sortie.sort(np.array([3.0, np.nan, 1.0]))
/// array([ 1.,  3., nan])
/// >>> sortie.sort([[3, 1], [2, 4]], axis=0, descending=True)
/// array([[3, 4],
///        [2, 1]])
#[pyfunction]
#[pyo3(
    signature = (a, axis=Some(-1), *, descending=false, stable=None, nans="last", nulls="last", order=None, out=None,
        threads=None, memory_limit=None, engine="auto"),
    text_signature = "(a, axis=-1, *, descending=False, stable=None, nans='last', nulls='last', order='numpy', out=None, \
        threads=None, memory_limit=None, engine='auto')"
)]
#[allow(clippy::too_many_arguments)]
pub fn sort<'py>(
    a: &Bound<'py, PyAny>,
    axis: Option<isize>,
    descending: bool,
    stable: Option<bool>,
    nans: &str,
    nulls: &str,
    order: Option<&Bound<'py, PyAny>>,
    out: Option<&Bound<'py, PyAny>>,
    threads: Option<Count>,
    memory_limit: Option<Count>,
    engine: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let (options, fields) =
        Given { descending, stable, nans, threads, memory_limit, engine }.ordered_by(order)?;
    let options = options.with_nulls(nulls)?;
    let array = match Input::of(a)? {
        Input::Array(array) => array,
        other => {
            if out.is_some() {
                return Err(PyTypeError::new_err(
                    "out is for NumPy arrays and tensors in host memory; sort other data without it",
                ));
            }
            no_fields(fields.as_deref())?;
            return sort_other(other, axis, &options);
        }
    };
    let (sorted, axis) = match (axis, out) {
        (Some(axis), None) => (array::copied(&array)?, axis_of(&array, axis)?),
        (None, None) => {
            let flat = array::flattened(&array)?;
            let last = axis_of(&flat, -1)?;
            (flat, last)
        }
        (axis, Some(out)) => {
            let from = if axis.is_none() { array::flattened(&array)? } else { array };
            let to = output(out, from.shape(), &from.dtype())?;
            let axis = axis_of(&from, axis.unwrap_or(-1))?;
            sort_to(&to, from, axis, &options, fields.as_deref())?;
            return Ok(out.clone());
        }
    };
    along::sort(&sorted, axis, &options, fields.as_deref(), 0)?;
    tensor::returned(a, sorted)
}

/// Sorts a NumPy array, a tensor of torch, or an array of CuPy or Numba in place.
///
/// Takes the arguments of :func:`sort`, except ``out`` and ``axis=None``. What is copied depends on the array:
///
/// - Numbers without gaps in memory: nothing.
/// - An array with gaps, or in the byte order of other machines: one block of 1 MiB at a time for each thread, at most 32 MiB in
///   all. A row along the axis that is longer than a block is copied whole.
/// - Complex numbers, strings and structured types: such a block, and its keys.
///
/// Do not read or write the array in other threads until the call returns.
///
/// Raises as :func:`sort`, and ``ValueError`` if the array is read-only.
///
/// >>> import numpy as np, sortie
/// >>> a = np.array([3, 1, 2], dtype=np.uint16)
/// >>> sortie.sort_inplace(a)
/// >>> a
/// array([1, 2, 3], dtype=uint16)
#[pyfunction]
#[pyo3(
    signature = (a, axis=-1, *, descending=false, stable=None, nans="last", order=None, threads=None, memory_limit=None,
        engine="auto"),
    text_signature = "(a, axis=-1, *, descending=False, stable=None, nans='last', order='numpy', threads=None, \
        memory_limit=None, engine='auto')"
)]
#[allow(clippy::too_many_arguments)]
pub fn sort_inplace(
    a: &Bound<'_, PyAny>,
    axis: isize,
    descending: bool,
    stable: Option<bool>,
    nans: &str,
    order: Option<&Bound<'_, PyAny>>,
    threads: Option<Count>,
    memory_limit: Option<Count>,
    engine: &str,
) -> PyResult<()> {
    let (options, fields) =
        Given { descending, stable, nans, threads, memory_limit, engine }.ordered_by(order)?;
    if array::exactly(a)?.is_none()
        && let Some(array) = GpuArray::of(a)?
    {
        no_fields(fields.as_deref())?;
        return gpu::sort_inplace(&array, axis, &options);
    }
    let array = writable("a", a)?;
    along::sort(&array, axis_of(&array, axis)?, &options, fields.as_deref(), 0)
}

/// Writes an array to another, sorted. Nothing is written before everything that may be refused is done, apart from the scratch
/// memory that a sort of numbers asks the system for.
fn sort_to(
    out: &Array<'_>,
    from: Array<'_>,
    axis: usize,
    options: &Options,
    fields: Option<&[String]>,
) -> PyResult<()> {
    let leaf = kind::leaf(&from.dtype())?;
    let is_safe = fields.is_none()
        && Numbers::of(leaf.kind, options).is_some()
        && options.memory_limit.is_none()
        && matches!(options.engine, Engine::Auto | Engine::Cpu);
    if is_safe {
        array::copy_into(out, &from)?;
        along::sort(out, axis, options, None, 0)
    } else {
        let bytes = from.len() * leaf.width;
        options.left(bytes)?;
        let copy = array::copied(&from)?;
        along::sort(&copy, axis, options, fields, bytes)?;
        array::copy_into(out, &copy)
    }
}

/// Returns the indices that sort an array: a tensor for a tensor, otherwise a NumPy array. The sort is stable, unless you give
/// ``stable=False``.
///
/// Takes the arguments of :func:`sort`, except ``out``, and:
///
/// dtype
///     The type of the indices: ``np.int64`` by default, or ``np.int32`` or ``np.uint32``, which take half the memory.
///
/// Raises as :func:`sort`, and ``ValueError`` if the indices do not fit the type.
///
/// >>> import numpy as np, sortie
/// >>> sortie.argsort(np.array([30, 10, 20]))
/// array([1, 2, 0])
/// >>> sortie.argsort(np.array(["b", "a"]), dtype=np.uint32)
/// array([1, 0], dtype=uint32)
#[pyfunction]
#[pyo3(
    signature = (a, axis=Some(-1), *, descending=false, stable=None, nans="last", nulls="last", order=None, dtype=None,
        threads=None, memory_limit=None, engine="auto"),
    text_signature = "(a, axis=-1, *, descending=False, stable=None, nans='last', nulls='last', order='numpy', dtype=None, \
        threads=None, memory_limit=None, engine='auto')"
)]
#[allow(clippy::too_many_arguments)]
pub fn argsort<'py>(
    a: &Bound<'py, PyAny>,
    axis: Option<isize>,
    descending: bool,
    stable: Option<bool>,
    nans: &str,
    nulls: &str,
    order: Option<&Bound<'py, PyAny>>,
    dtype: Option<&Bound<'py, PyAny>>,
    threads: Option<Count>,
    memory_limit: Option<Count>,
    engine: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let (options, fields) =
        Given { descending, stable, nans, threads, memory_limit, engine }.ordered_by(order)?;
    let options = options.with_nulls(nulls)?;
    let indices = Indices::of(a.py(), dtype)?;
    let input = Input::of(a)?;
    if let Input::Gpu(array) = &input {
        no_fields(fields.as_deref())?;
        return gpu::argsort(array, axis, &options, &indices.dtype.str()?.to_string());
    }
    let result = indices_of(a.py(), &input.keys()?, axis, None, &options, fields.as_deref(), &indices)?;
    tensor::returned(a, result)
}

/// The indices that sort keys along an axis: all, or the first.
pub fn indices_of<'py>(
    py: Python<'py>,
    keys: &Keys<'py>,
    axis: Option<isize>,
    top: Option<Top>,
    options: &Options,
    fields: Option<&[String]>,
    indices: &Indices<'py>,
) -> PyResult<Array<'py>> {
    let Keys::Array(array) = keys else {
        one_axis(axis)?;
        no_fields(fields)?;
        let n = keys.len();
        indices.fit(n)?;
        let k = count(top, n)?;
        return indices.written(py, &sorted_indices(py, keys, options)?.slice(0, k));
    };
    let array = if axis.is_none() { &array::flattened(array)? } else { array };
    let axis = axis_of(array, axis.unwrap_or(-1))?;
    let mut shape = array.shape().to_vec();
    indices.fit(shape[axis])?;
    shape[axis] = count(top, shape[axis])?;
    let result = array::empty(indices.dtype.clone(), &shape)?;
    let sorted = top.is_none_or(|top| top.sorted);
    if indices.narrow {
        along::arg_top_k::<u32>(array, axis, options, fields, sorted, &result, 0)?;
    } else {
        along::arg_top_k::<u64>(array, axis, options, fields, sorted, &result, 0)?;
    }
    Ok(result)
}

/// The indices that sort keys of one dimension.
pub fn sorted_indices(py: Python<'_>, keys: &Keys<'_>, options: &Options) -> PyResult<UInt32Array> {
    let (columns, n) = (keys.columns(py, options)?, keys.len());
    run(py, options, n, columns.bytes(), || columns::indices(&columns, n, options, 0))
}

/// Sorts what is not a NumPy array.
pub fn sort_other<'py>(
    input: Input<'py>,
    axis: Option<isize>,
    options: &Options,
) -> PyResult<Bound<'py, PyAny>> {
    if let Input::Gpu(array) = &input {
        return gpu::sort(array, axis, options);
    }
    one_axis(axis)?;
    match input {
        Input::Array(_) | Input::Gpu(_) => unreachable!("these are sorted elsewhere"),
        Input::Series(series) => {
            let keys = Input::of(&series)?.keys()?;
            let indices = Indices::of_library(&series)?;
            let indices = indices_of(series.py(), &keys, Some(-1), None, options, None, &indices)?;
            flagged(&picked(&series, &indices)?, options.descending)
        }
        Input::Arrow(data) => {
            let imported = arrow::imported(&data)?;
            arrow::check(imported.values.data_type())?;
            let (n, bytes) = (imported.values.len(), imported.values.get_buffer_memory_size());
            let sorted = run(data.py(), options, n, bytes, || arrow::sorted(&imported, options))?;
            arrow::returned(&data, sorted, imported.field)
        }
    }
}

/// Arrow data has one axis.
pub fn one_axis(axis: Option<isize>) -> PyResult<()> {
    match axis {
        None | Some(-1 | 0) => Ok(()),
        Some(other) => Err(PyValueError::new_err(format!("Arrow data has one axis, not axis {other}"))),
    }
}

/// Only NumPy arrays have fields.
pub fn no_fields(fields: Option<&[String]>) -> PyResult<()> {
    match fields {
        None => Ok(()),
        Some(_) => Err(PyValueError::new_err(
            "order names fields of structured arrays; for tables use sortie.sort_by",
        )),
    }
}
