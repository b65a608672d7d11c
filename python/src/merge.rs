//! `merge` and `is_sorted`.

use std::fmt::Display;

use arrow_array::ArrayRef;
use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use sortie::Report;

use crate::along;
use crate::array::{self, Array, axis_of};
use crate::buffer::Buffer;
use crate::call::run;
use crate::columns::{self, Columns, columns_along};
use crate::errors::Failure;
use crate::input::{Input, not_on_gpu};
use crate::keys::Keys;
use crate::kind::{self, Leaf};
use crate::lanes::Lanes;
use crate::library::library;
use crate::numbers::Numbers;
use crate::options::{Count, Each, Given, Options};
use crate::sort::sort_other;
use crate::{arrow, bfloat16, table, tensor};

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

/// What an array to merge is.
fn column<'py>(array: &Bound<'py, PyAny>) -> PyResult<Input<'py>> {
    match Input::of(array)? {
        Input::Arrow(data) if data.hasattr(intern!(data.py(), "columns"))? => {
            Err(PyTypeError::new_err("tables are merged by their columns; name them with by="))
        }
        Input::Gpu(_) => Err(not_on_gpu()),
        input => Ok(input),
    }
}

/// Columns of one type, one after the other.
pub fn concatenated<'py>(columns: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    let (mut arrays, mut series, mut imported) = (Vec::new(), Vec::new(), Vec::new());
    for each in columns {
        match column(each)? {
            Input::Array(array) => arrays.push(array),
            Input::Series(column) => series.push(column),
            Input::Arrow(data) => imported.push(arrow::imported(&data)?),
            Input::Gpu(_) => return Err(not_on_gpu()),
        }
    }
    if arrays.len() == columns.len() {
        return concatenated_arrays(&columns[0], &arrays);
    }
    if series.len() == columns.len() {
        return concatenated_series(series);
    }
    if imported.len() < columns.len() {
        return Err(PyTypeError::new_err(
            "arrays of different libraries cannot be merged; convert them to one",
        ));
    }
    let field = imported[0].field.clone();
    if let Some(other) = imported.iter().find(|other| other.field.data_type() != field.data_type()) {
        return Err(of_types(&field.data_type().to_string(), &other.field.data_type().to_string()));
    }
    let chunks: Vec<ArrayRef> = imported.into_iter().map(|imported| imported.values).collect();
    arrow::joined(&columns[0], &chunks, field)
}

fn concatenated_arrays<'py>(
    argument: &Bound<'py, PyAny>,
    arrays: &[Array<'py>],
) -> PyResult<Bound<'py, PyAny>> {
    let (py, dtype) = (argument.py(), arrays[0].dtype());
    for other in arrays {
        if !kind::is_same(&other.dtype(), &dtype)? {
            return Err(of_types(&dtype, &other.dtype()));
        }
    }
    let mut joined = array::numpy(py)?.call_method1(intern!(py, "concatenate"), (arrays,))?;
    if bfloat16::is_of_torch(&dtype)? {
        // NumPy has dropped the note that integers are the bits of others.
        joined = joined.call_method1(intern!(py, "view"), (dtype,))?;
    }
    tensor::returned(argument, joined.cast_into()?)
}

fn concatenated_series(series: Vec<Bound<'_, PyAny>>) -> PyResult<Bound<'_, PyAny>> {
    let first = &series[0];
    let (py, package) = (first.py(), library(first)?);
    let (class, dtype) = (first.get_type(), first.getattr(intern!(py, "dtype"))?);
    for other in &series {
        let of_other = other.getattr(intern!(py, "dtype"))?;
        if !of_other.eq(&dtype)? {
            return Err(of_types(&dtype, &of_other));
        }
        if library(other)? != package {
            return Err(PyTypeError::new_err(
                "arrays of different libraries cannot be merged; convert them to one",
            ));
        }
    }
    if package == "pandas" && first.hasattr(intern!(py, "_concat_same_type"))? {
        // Extension arrays. The name is part of the interface for them, which pandas documents.
        return class.call_method1(intern!(py, "_concat_same_type"), (series,));
    }
    if package == "pandas" && !first.hasattr(intern!(py, "iloc"))? {
        return first.call_method1(intern!(py, "append"), (series[1..].to_vec(),));
    }
    py.import(package)?.call_method1(intern!(py, "concat"), (series,))
}

fn of_types(one: &impl Display, other: &impl Display) -> PyErr {
    PyTypeError::new_err(format!("arrays of {one} and {other} cannot be merged; convert them to one type"))
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
