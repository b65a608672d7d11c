//! `merge` and `is_sorted`.

use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use sortie::Report;

use crate::along;
use crate::array::{self, Array, axis_of};
use crate::buffer::Buffer;
use crate::call::run;
use crate::columns::{self, Columns, columns_along};
use crate::concatenate::{column, concatenated};
use crate::errors::Failure;
use crate::input::Input;
use crate::keys::Keys;
use crate::kind::{self, Leaf};
use crate::lanes::Lanes;
use crate::numbers::Numbers;
use crate::options::{Count, Each, Given, Options};
use crate::sort::sort_other;
use crate::table;

/// Keys that are compared with their neighbours at a time.
const STRETCH: usize = 1 << 13;

/// Merges sorted arrays or tables into one. If elements are equal, those of earlier arrays come first.
///
/// arrays
///     A sequence of arrays of one dimension, one type and one library: NumPy arrays, tensors, Arrow arrays, series of pandas or
///     polars, or indices or extension arrays of pandas. Or a sequence of tables, as :func:`sort_by` takes them.
/// by
///     For tables: the name of a column, or a list of names. ``descending`` and ``nulls`` may then be lists with one value for
///     each column.
///
/// The arrays are copied to the result, which is then sorted. The sort finds the sorted runs, and merges them if that is faster.
/// Takes the other arguments of :func:`sort`, and raises as it does, and ``ValueError`` if an array is not sorted.
///
/// >>> import numpy as np, sortie
/// >>> sortie.merge([np.array([1, 4]), np.array([2, 3, 9])])
/// array([1, 2, 3, 4, 9])
#[pyfunction]
#[pyo3(
    signature = (arrays, by=None, *, descending=Each::All(false), nans="last", nulls=Each::All("last".to_owned()), order="numpy",
        threads=None, memory_limit=None, engine="auto"),
    text_signature = "(arrays, by=None, *, descending=False, nans='last', nulls='last', order='numpy', threads=None, \
        memory_limit=None, engine='auto')"
)]
#[allow(clippy::too_many_arguments)]
pub fn merge<'py>(
    arrays: &Bound<'py, PyAny>,
    by: Option<&Bound<'py, PyAny>>,
    descending: Each<bool>,
    nans: &str,
    nulls: Each<String>,
    order: &str,
    threads: Option<Count>,
    memory_limit: Option<Count>,
    engine: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let stable = Some(true);
    let options = Given { descending: false, stable, nans, threads, memory_limit, engine }.ordered(order)?;
    let arrays = arrays.try_iter()?.collect::<PyResult<Vec<_>>>()?;
    if arrays.is_empty() {
        return Err(PyTypeError::new_err("merge needs at least one array; give a sequence of arrays"));
    }
    if let Some(by) = by {
        return table::merged(&arrays, by, descending, nulls, &options);
    }
    let choices = options.of_columns(descending, nulls, 1)?;
    let options = &choices[0];
    for (i, array) in arrays.iter().enumerate() {
        let keys = column(array)?.keys()?;
        if keys.shape().len() != 1 {
            return Err(PyValueError::new_err(format!(
                "array {i} has {} dimensions; give one-dimensional arrays",
                keys.shape().len()
            )));
        }
        if !are_in_order(array.py(), &keys, options)? {
            return Err(PyValueError::new_err(format!(
                "array {i} is not sorted in the order that was asked for; sort it with sortie.sort"
            )));
        }
    }
    let merged = concatenated(&arrays)?;
    match Input::of(&merged)? {
        Input::Array(array) => {
            along::sort(&array, 0, options, None, 0)?;
            Ok(merged)
        }
        other => sort_other(other, None, options),
    }
}

/// Whether an array is sorted along an axis. If it has several rows, all of them must be sorted.
///
/// ``a`` is what :func:`sort` takes. ``axis=None`` flattens the array. Numbers are read once. Other types are argsorted, and the
/// array is sorted if the indices ascend. Takes the other arguments of :func:`sort`, and raises as it does.
///
/// >>> import numpy as np, sortie
/// >>> sortie.is_sorted(np.array([1.0, 2.0, np.nan]))
/// True
/// >>> sortie.is_sorted(np.array([1, 2]), descending=True)
/// False
#[pyfunction]
#[pyo3(
    signature = (a, axis=Some(-1), *, descending=false, nans="last", nulls="last", order="numpy", threads=None,
        memory_limit=None),
    text_signature = "(a, axis=-1, *, descending=False, nans='last', nulls='last', order='numpy', threads=None, \
        memory_limit=None)"
)]
#[allow(clippy::too_many_arguments)]
pub fn is_sorted(
    a: &Bound<'_, PyAny>,
    axis: Option<isize>,
    descending: bool,
    nans: &str,
    nulls: &str,
    order: &str,
    threads: Option<Count>,
    memory_limit: Option<Count>,
) -> PyResult<bool> {
    let (stable, engine) = (Some(true), "cpu");
    let options = Given { descending, stable, nans, threads, memory_limit, engine }.ordered(order)?;
    let options = options.with_nulls(nulls)?;
    match Input::of(a)?.keys()? {
        Keys::Array(array) => {
            let array = if axis.is_none() { array::flattened(&array)? } else { array };
            in_order(&array, axis_of(&array, axis.unwrap_or(-1))?, &options)
        }
        keys => are_in_order(a.py(), &keys, &options),
    }
}

/// Whether keys of one dimension are sorted.
fn are_in_order(py: Python<'_>, keys: &Keys<'_>, options: &Options) -> PyResult<bool> {
    if let Keys::Array(array) = keys {
        return in_order(array, 0, options);
    }
    let (columns, n) = (keys.columns(py, options)?, keys.len());
    run(py, options, n, columns.bytes(), || stays(&columns, n, options))
}

/// Whether an array is sorted along an axis.
fn in_order(array: &Array<'_>, axis: usize, options: &Options) -> PyResult<bool> {
    let leaf = kind::leaf(&array.dtype())?;
    let lanes = array::lanes(array, axis);
    let n = lanes.elements();
    if n == 0 {
        return Ok(true);
    }
    if let Some(numbers) = Numbers::of(leaf.kind, options) {
        return run(array.py(), options, n, n * lanes.width, || {
            if let Some(rows) = lanes.rows(numbers.align()).filter(|_| !leaf.swapped) {
                // SAFETY: all elements lie in a row from there. Nobody writes to them during the call, as the caller promises.
                let keys = unsafe { std::slice::from_raw_parts(rows, n * lanes.width) };
                if let Some(sorted) = numbers.are_sorted(keys, lanes.len) {
                    return Ok((sorted, Report::default()));
                }
            }
            let (mut sorted, mut lane) = (true, 0);
            while sorted && lane < lanes.count {
                sorted = ascends(&numbers, &lanes, lane, &leaf)?;
                lane += 1;
            }
            Ok((sorted, Report::default()))
        });
    }
    let mut all = Columns::default();
    if lanes.count > 1 {
        all.push(columns::of_segments(sortie::Segments::Length(lanes.len), n)?);
    }
    all.append(columns_along(array, axis, options)?);
    run(array.py(), options, n, all.bytes(), || stays(&all, n, options))
}

/// Whether a stable sort by columns would leave every row where it is.
fn stays(columns: &Columns, n: usize, options: &Options) -> Result<(bool, Report), Failure> {
    let (indices, report) = columns::indices(columns, n, options, 0)?;
    Ok((indices.values().is_sorted(), report))
}

/// Whether the codes of a lane's keys ascend.
fn ascends(numbers: &Numbers<'_>, lanes: &Lanes, lane: usize, leaf: &Leaf) -> Result<bool, Failure> {
    let mut last = 0;
    for from in (0..lanes.len).step_by(STRETCH) {
        let mut keys = Buffer::new(STRETCH.min(lanes.len - from) * lanes.width)?;
        // SAFETY: nobody writes to the array during the call, as the caller promises.
        unsafe { lanes.gather_part(lane, from, keys.bytes_mut()) };
        leaf.swap(keys.bytes_mut());
        let codes = numbers.codes(keys.bytes_mut())?;
        if codes[0] < last || !codes.is_sorted() {
            return Ok(false);
        }
        last = codes[codes.len() - 1];
    }
    Ok(true)
}
