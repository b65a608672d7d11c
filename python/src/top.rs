//! `top_k` and `arg_top_k`.

use arrow_array::Array as _;
use pyo3::intern;
use pyo3::prelude::*;

use crate::array;
use crate::call::run;
use crate::indices::{Indices, Top, count};
use crate::input::{Input, flagged, picked};
use crate::keys::Keys;
use crate::options::{Count, Given, Options};
use crate::sort::{indices_of, no_fields, one_axis};
use crate::{arrow, gpu, tensor};

/// Returns the first ``k`` elements of a descending sort: the largest.
///
/// The elements are those that :func:`arg_top_k` finds, with the same arguments except ``dtype``. The result has the type of the
/// argument, as that of :func:`sort`.
///
/// Raises as :func:`arg_top_k`.
///
/// >>> import numpy as np, sortie
/// >>> sortie.top_k(np.array([0.5, 2.5, np.nan, -1.0, 1.5]), 2)
/// array([2.5, 1.5])
/// >>> sortie.top_k([[3, 1, 2], [4, 6, 5]], 2, largest=False)
/// array([[1, 2],
///        [4, 5]])
#[pyfunction]
#[pyo3(
    signature = (a, k, *, axis=Some(-1), largest=true, sorted=true, nans="last", nulls="last", order=None, threads=None,
        memory_limit=None),
    text_signature = "(a, k, *, axis=-1, largest=True, sorted=True, nans='last', nulls='last', order='numpy', threads=None, \
        memory_limit=None)"
)]
#[allow(clippy::too_many_arguments)]
pub fn top_k<'py>(
    a: &Bound<'py, PyAny>,
    k: Count,
    axis: Option<isize>,
    largest: bool,
    sorted: bool,
    nans: &str,
    nulls: &str,
    order: Option<&Bound<'py, PyAny>>,
    threads: Option<Count>,
    memory_limit: Option<Count>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, top) = (a.py(), Top { k: k.0 as usize, sorted });
    let (options, fields) = chosen(largest, nans, nulls, order, threads, memory_limit)?;
    let fields = fields.as_deref();
    match Input::of(a)? {
        Input::Array(array) => {
            let array = if axis.is_none() { array::flattened(&array)? } else { array };
            let axis = Some(axis.unwrap_or(-1));
            let (keys, indices) = (Keys::Array(array.clone()), Indices::of(py, None)?);
            let found = indices_of(py, &keys, axis, Some(top), &options, fields, &indices)?;
            let take = array::numpy(py)?.getattr(intern!(py, "take_along_axis"))?;
            tensor::returned(a, take.call1((array, found, axis))?.cast_into()?)
        }
        Input::Gpu(array) => {
            no_fields(fields)?;
            gpu::first(&array, axis, top, &options, None)
        }
        Input::Series(series) => {
            let (keys, indices) = (Input::of(&series)?.keys()?, Indices::of_library(&series)?);
            let found = indices_of(py, &keys, axis, Some(top), &options, fields, &indices)?;
            let taken = picked(&series, &found)?;
            if sorted { flagged(&taken, largest) } else { Ok(taken) }
        }
        Input::Arrow(data) => {
            one_axis(axis)?;
            no_fields(fields)?;
            let imported = arrow::imported(&data)?;
            arrow::check(imported.values.data_type())?;
            let (n, bytes) = (imported.values.len(), imported.values.get_buffer_memory_size());
            let k = count(Some(top), n)?;
            let first = run(py, &options, n, bytes, || arrow::first(&imported, k, &options))?;
            arrow::returned(&data, first, imported.field)
        }
    }
}

/// Returns the indices of the first ``k`` elements of a descending sort, without sorting the others.
///
/// They are the first ``k`` of ``sortie.argsort(a, axis, descending=largest)``: of equal elements, those with smaller indices come
/// first. The result is a tensor for a tensor, otherwise a NumPy array. Numbers are read once. Other types are argsorted. An array
/// in GPU memory is selected from on that GPU, without waiting for the result, which is an array of its library. Others are
/// selected from on the CPU.
///
/// a
///     What :func:`argsort` takes.
/// k
///     How many: at most the number of elements along the axis.
/// axis
///     The axis along which to select. ``None`` flattens the array.
/// largest
///     ``False`` selects the first ``k`` elements of an ascending sort: the smallest.
/// sorted
///     ``False`` may return the indices in any order.
/// nans
///     ``"last"`` or ``"first"``: where NaN and NaT go. With ``"last"``, they are only selected if there are fewer than ``k`` other
///     elements, whatever ``largest`` is. ``torch.topk`` regards NaN as the largest, as ``"first"`` does.
///
/// The other arguments are those of :func:`argsort`.
///
/// Raises as :func:`argsort`, and
///
/// - ``ValueError`` if ``k`` is negative, or greater than the number of elements along the axis.
///
/// >>> import numpy as np, sortie
/// >>> sortie.arg_top_k(np.array([20, 30, 10, 30]), 3)
/// array([1, 3, 0])
/// >>> sortie.arg_top_k(["b", "c", "a"], 1, largest=False)
/// array([2])
#[pyfunction]
#[pyo3(
    signature = (a, k, *, axis=Some(-1), largest=true, sorted=true, nans="last", nulls="last", order=None, dtype=None,
        threads=None, memory_limit=None),
    text_signature = "(a, k, *, axis=-1, largest=True, sorted=True, nans='last', nulls='last', order='numpy', dtype=None, \
        threads=None, memory_limit=None)"
)]
#[allow(clippy::too_many_arguments)]
pub fn arg_top_k<'py>(
    a: &Bound<'py, PyAny>,
    k: Count,
    axis: Option<isize>,
    largest: bool,
    sorted: bool,
    nans: &str,
    nulls: &str,
    order: Option<&Bound<'py, PyAny>>,
    dtype: Option<&Bound<'py, PyAny>>,
    threads: Option<Count>,
    memory_limit: Option<Count>,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, top) = (a.py(), Top { k: k.0 as usize, sorted });
    let (options, fields) = chosen(largest, nans, nulls, order, threads, memory_limit)?;
    let (input, indices) = (Input::of(a)?, Indices::of(py, dtype)?);
    if let Input::Gpu(array) = &input {
        no_fields(fields.as_deref())?;
        return gpu::first(array, axis, top, &options, Some(&indices.dtype.str()?.to_string()));
    }
    let keys = input.keys()?;
    tensor::returned(a, indices_of(py, &keys, axis, Some(top), &options, fields.as_deref(), &indices)?)
}

/// The choices of a call, parsed.
fn chosen(
    largest: bool,
    nans: &str,
    nulls: &str,
    order: Option<&Bound<'_, PyAny>>,
    threads: Option<Count>,
    memory_limit: Option<Count>,
) -> PyResult<(Options, Option<Vec<String>>)> {
    let given = Given { descending: largest, stable: None, nans, threads, memory_limit, engine: "cpu" };
    let (options, fields) = given.ordered_by(order)?;
    Ok((options.with_nulls(nulls)?, fields))
}
