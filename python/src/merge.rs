//! `merge` and `is_sorted`.

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
use crate::input::{Input, Keys, refused};
use crate::kind::{self, Leaf};
use crate::lanes::Lanes;
use crate::numbers::Numbers;
use crate::options::{Count, Given, Options};
use crate::tensor;

/// Keys that are compared with their neighbours at a time.
const STRETCH: usize = 1 << 13;

/// Merges sorted arrays into one. Of equal elements, those of earlier arrays come first.
///
/// ``arrays`` is a sequence of one-dimensional arrays of one type. They are copied to the result, which is then sorted: the
/// library finds the sorted runs, and merges them where that is faster than a sort. Takes the other arguments of :func:`sort`,
/// and raises as it does; ``ValueError`` if an array is not sorted.
///
/// >>> import numpy as np, sortie
/// >>> sortie.merge([np.array([1, 4]), np.array([2, 3, 9])])
/// array([1, 2, 3, 4, 9])
#[pyfunction]
#[pyo3(
    signature = (arrays, *, descending=false, nans="last", order="numpy", threads=None, memory_limit=None, engine="auto")
)]
pub fn merge<'py>(
    arrays: &Bound<'py, PyAny>,
    descending: bool,
    nans: &str,
    order: &str,
    threads: Option<Count>,
    memory_limit: Option<Count>,
    engine: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let stable = Some(true);
    let options = Given { descending, stable, nans, threads, memory_limit, engine }.ordered(order)?;
    let given = arrays.try_iter()?.collect::<PyResult<Vec<_>>>()?;
    let mut sources = Vec::new();
    for (i, object) in given.iter().enumerate() {
        let array = match Input::of(object)? {
            Input::Array(array) => array,
            other => return Err(refused("merge", &other)),
        };
        if array.ndim() != 1 {
            return Err(PyValueError::new_err(format!(
                "array {i} has {} dimensions; give one-dimensional arrays",
                array.ndim()
            )));
        }
        if !in_order(&array, 0, &options)? {
            return Err(PyValueError::new_err(format!(
                "array {i} is not sorted in the order that was asked for; sort it, or sort np.concatenate(arrays)"
            )));
        }
        sources.push(array);
    }
    let Some(first) = sources.first() else {
        return Err(PyTypeError::new_err("merge needs at least one array; give a sequence of arrays"));
    };
    let dtype = first.dtype();
    for other in &sources {
        if !kind::is_same(&other.dtype(), &dtype)? {
            return Err(PyTypeError::new_err(format!(
                "arrays of {dtype} and {} cannot be merged; convert them to one type",
                other.dtype()
            )));
        }
    }
    let py = arrays.py();
    let mut merged = array::numpy(py)?.call_method1(intern!(py, "concatenate"), (&sources,))?;
    if tensor::is_bfloat16(&dtype)? {
        // NumPy has dropped the note that integers are the bits of others.
        merged = merged.call_method1(intern!(py, "view"), (dtype,))?;
    }
    let merged = array::writable("the result", &merged)?;
    along::sort(&merged, 0, &options, None, 0)?;
    tensor::returned(&given[0], merged)
}

/// Whether an array is sorted along an axis: all rows of it, if it has several.
///
/// ``a`` is what :func:`sort` takes. ``axis=None`` flattens the array. Numbers are looked at once. For other types, the indices
/// of a sort are compared with their order. Takes the other arguments of :func:`sort`, and raises as it does.
///
/// >>> import numpy as np, sortie
/// >>> sortie.is_sorted(np.array([1.0, 2.0, np.nan]))
/// True
/// >>> sortie.is_sorted(np.array([1, 2]), descending=True)
/// False
#[pyfunction]
#[pyo3(
    signature = (a, axis=Some(-1), *, descending=false, nans="last", order="numpy", threads=None, memory_limit=None),
    text_signature = "(a, axis=-1, *, descending=False, nans='last', order='numpy', threads=None, memory_limit=None)"
)]
pub fn is_sorted(
    a: &Bound<'_, PyAny>,
    axis: Option<isize>,
    descending: bool,
    nans: &str,
    order: &str,
    threads: Option<Count>,
    memory_limit: Option<Count>,
) -> PyResult<bool> {
    let (stable, engine) = (Some(true), "cpu");
    let options = Given { descending, stable, nans, threads, memory_limit, engine }.ordered(order)?;
    match Keys::of(a)? {
        Keys::Array(array) => {
            let array = if axis.is_none() { array::flattened(&array)? } else { array };
            in_order(&array, axis_of(&array, axis.unwrap_or(-1))?, &options)
        }
        keys => {
            let columns = keys.columns(a.py(), &options, false)?;
            let n = keys.len();
            run(a.py(), &options, n, columns.bytes(), || stays(&columns, n, &options))
        }
    }
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
