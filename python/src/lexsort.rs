//! `lexsort`: indices by several keys.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use sortie::Segments;

use crate::array::{self, axis_of};
use crate::buffer::Buffer;
use crate::call::run;
use crate::columns::{self, Columns, columns_along};
use crate::indices::Indices;
use crate::input::Input;
use crate::keys::Keys;
use crate::options::{Count, Each, Given};
use crate::tensor;

/// Returns the indices that sort by several keys: a tensor if the last key is one, otherwise a NumPy array. As in ``np.lexsort``,
/// the last key is the most significant.
///
/// keys
///     A sequence of keys of one shape: NumPy arrays, tensors, Arrow arrays, or series of pandas or polars. In a two-dimensional
///     array, each row is a key.
/// axis
///     The axis along which to sort.
/// descending
///     Whether the largest comes first: one value for all keys, or a list with one for each.
/// nulls
///     ``"last"`` or ``"first"``, in both directions: one value for all keys, or a list with one for each.
///
/// Takes the other arguments of :func:`argsort`, and raises as it does.
///
/// >>> import numpy as np, sortie
/// >>> surnames, given = np.array(["Hertz", "Galilei", "Hertz"]), np.array(["Heinrich", "Galileo", "Gustav"])
/// >>> sortie.lexsort((given, surnames))
/// array([1, 2, 0])
#[pyfunction]
#[pyo3(
    signature = (keys, axis=-1, *, descending=Each::All(false), stable=None, nans="last",
        nulls=Each::All("last".to_owned()), order="numpy", dtype=None, threads=None, memory_limit=None, engine="auto"),
    text_signature = "(keys, axis=-1, *, descending=False, stable=None, nans='last', nulls='last', order='numpy', dtype=None, \
        threads=None, memory_limit=None, engine='auto')"
)]
#[allow(clippy::too_many_arguments)]
pub fn lexsort<'py>(
    keys: &Bound<'py, PyAny>,
    axis: isize,
    descending: Each<bool>,
    stable: Option<bool>,
    nans: &str,
    nulls: Each<String>,
    order: &str,
    dtype: Option<&Bound<'py, PyAny>>,
    threads: Option<Count>,
    memory_limit: Option<Count>,
    engine: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let py = keys.py();
    let options = Given { descending: false, stable, nans, threads, memory_limit, engine }.ordered(order)?;
    let indices = Indices::of(py, dtype)?;
    let given: Vec<Bound<'py, PyAny>> = keys.try_iter()?.collect::<PyResult<_>>()?;
    let keys: Vec<Keys<'_>> = given.iter().map(|given| Input::of(given)?.keys()).collect::<PyResult<_>>()?;
    let (Some(last), Some(most)) = (keys.last(), given.last()) else {
        return Err(PyTypeError::new_err("lexsort needs at least one key; give a sequence of keys"));
    };
    let choices = options.of_columns(descending, nulls, keys.len())?;
    let shape = last.shape();
    if let Some(other) = keys.iter().map(Keys::shape).find(|other| *other != shape) {
        return Err(PyValueError::new_err(format!(
            "keys have the shapes {other:?} and {shape:?}; give all keys the same shape"
        )));
    }
    let result = array::empty(indices.dtype.clone(), &shape)?;
    if shape.is_empty() {
        // NumPy sorts single numbers too.
        // SAFETY: the result is new, so nobody else knows it.
        unsafe { array::bytes(&result) }.fill(0);
        return tensor::returned(most, result);
    }
    let axis = axis_of(&result, axis)?;
    indices.fit(shape[axis])?;
    let n = shape.iter().product();
    if n == 0 {
        return tensor::returned(most, result);
    }
    let lanes = n / shape[axis];
    let mut columns = Columns::default();
    if lanes > 1 {
        columns.push(columns::of_segments(Segments::Length(shape[axis]), n)?);
    }
    for (key, options) in keys.iter().zip(&choices).rev() {
        match key {
            Keys::Array(array) => columns.append(columns_along(array, axis, options)?),
            Keys::Arrow(..) => columns.append(key.columns(py, options)?),
        }
    }
    let results = array::lanes(&result, axis);
    let narrow = indices.narrow;
    run(py, &options, n, columns.bytes(), || {
        let mut copy = Buffer::new(n * results.width)?;
        let (order, report) = columns::indices(&columns, n, &options, copy.bytes().len())?;
        let (len, bytes) = (shape[axis], copy.bytes_mut());
        if narrow {
            columns::from_start(order.values(), len, len, bytemuck::cast_slice_mut::<u8, u32>(bytes));
        } else {
            columns::from_start(order.values(), len, len, bytemuck::cast_slice_mut::<u8, u64>(bytes));
        }
        // SAFETY: the result is new, so nobody else knows it.
        unsafe { results.scatter(0..lanes, bytes) };
        Ok(((), report))
    })?;
    tensor::returned(most, result)
}
