//! `sort_pairs` and `sort_pairs_inplace`.

use numpy::{PyArrayDescrMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use pyo3::{Bound, intern};

use crate::array::{self, Array};
use crate::buffer::Buffer;
use crate::call::run;
use crate::gpu::{self, GpuArray};
use crate::indices::Indices;
use crate::input::{Input, flagged};
use crate::kind::{self, Kind};
use crate::numbers::{Numbers, permute};
use crate::options::{Count, Given, Options};
use crate::sort::sorted_indices;
use crate::table::rearranged;
use crate::writable::writable;
use crate::{along, tensor};

/// Sorts keys, and moves the rows of each value array with them. Returns sorted copies, the keys first.
///
/// keys
///     An array of one dimension, of any kind that :func:`sort` takes. Nulls go last.
/// values
///     Arrays with as many rows as there are keys, in any number of dimensions and of any type, including Python objects.
///
/// The sort is stable, unless you give ``stable=False``. Each result has the type of its argument. One array of values without gaps
/// moves with its keys. For several arrays, the indices of the keys are sorted, and each array is gathered by them.
///
/// Takes the other arguments of :func:`sort`, and raises as it does.
///
/// >>> import numpy as np, sortie
/// >>> sortie.sort_pairs(np.array([2, 1, 2]), np.array(["b", "a", "c"]))
/// (array([1, 2, 2]), array(['a', 'b', 'c'], dtype='<U1'))
#[pyfunction]
#[pyo3(
    signature = (keys, *values, descending=false, stable=None, nans="last", order="numpy", threads=None, memory_limit=None,
        engine="auto")
)]
#[allow(clippy::too_many_arguments)]
pub fn sort_pairs<'py>(
    keys: &Bound<'py, PyAny>,
    values: &Bound<'py, PyTuple>,
    descending: bool,
    stable: Option<bool>,
    nans: &str,
    order: &str,
    threads: Option<Count>,
    memory_limit: Option<Count>,
    engine: &str,
) -> PyResult<Bound<'py, PyTuple>> {
    let options = Given { descending, stable, nans, threads, memory_limit, engine }.ordered(order)?;
    let py = keys.py();
    if let Some((keys, values)) = on_gpu(keys, values)? {
        let keys = gpu::copied(&keys)?;
        let values = values.iter().map(gpu::copied).collect::<PyResult<Vec<_>>>()?;
        gpu::sort_pairs_inplace(&keys, &values, &options)?;
        let mut sorted = vec![keys.object];
        sorted.extend(values.into_iter().map(|value| value.object));
        return PyTuple::new(py, sorted);
    }
    let given: Vec<Bound<'py, PyAny>> = std::iter::once(keys.clone()).chain(values).collect();
    let inputs = given.iter().map(Input::of).collect::<PyResult<Vec<_>>>()?;
    let arrays: Option<Vec<&Array<'py>>> = inputs
        .iter()
        .map(|input| match input {
            Input::Array(array) => Some(array),
            _ => None,
        })
        .collect();
    let Some(arrays) = arrays else { return by_indices(keys, values, &options) };
    let copies = arrays.into_iter().map(array::copied_in_c_order).collect::<PyResult<Vec<_>>>()?;
    together(&copies[0], &copies[1..], &options)?;
    let sorted = given.iter().zip(copies).map(|(object, copy)| tensor::returned(object, copy));
    let sorted = sorted.collect::<PyResult<Vec<_>>>()?;
    PyTuple::new(py, sorted)
}

/// Sorts keys in place, and moves the rows of each value array with them, in place too.
///
/// Takes the arguments of :func:`sort_pairs`.
///
/// >>> import numpy as np, sortie
/// >>> keys, values = np.array([3, 1, 2]), np.array([30.0, 10.0, 20.0])
/// >>> sortie.sort_pairs_inplace(keys, values)
/// >>> values
/// array([10., 20., 30.])
#[pyfunction]
#[pyo3(
    signature = (keys, *values, descending=false, stable=None, nans="last", order="numpy", threads=None, memory_limit=None,
        engine="auto")
)]
#[allow(clippy::too_many_arguments)]
pub fn sort_pairs_inplace(
    keys: &Bound<'_, PyAny>,
    values: &Bound<'_, PyTuple>,
    descending: bool,
    stable: Option<bool>,
    nans: &str,
    order: &str,
    threads: Option<Count>,
    memory_limit: Option<Count>,
    engine: &str,
) -> PyResult<()> {
    let options = Given { descending, stable, nans, threads, memory_limit, engine }.ordered(order)?;
    if let Some((keys, values)) = on_gpu(keys, values)? {
        return gpu::sort_pairs_inplace(&keys, &values, &options);
    }
    let keys = writable("keys", keys)?;
    let values: Vec<_> = values.iter().map(|value| writable("values", &value)).collect::<PyResult<_>>()?;
    together(&keys, &values, &options)
}

/// Keys and values on a GPU, if the keys are. All are of one library.
fn on_gpu<'py>(
    keys: &Bound<'py, PyAny>,
    values: &Bound<'py, PyTuple>,
) -> PyResult<Option<(GpuArray<'py>, Vec<GpuArray<'py>>)>> {
    if array::exactly(keys)?.is_some() {
        return Ok(None);
    }
    let Some(keys) = GpuArray::of(keys)? else { return Ok(None) };
    let values = values.iter().map(|value| match GpuArray::of(&value)? {
        Some(array) if array.owner == keys.owner => Ok(array),
        _ => Err(PyTypeError::new_err(
            "the keys are on a GPU; give values of the same library, on the same GPU",
        )),
    });
    let values = values.collect::<PyResult<_>>()?;
    Ok(Some((keys, values)))
}

/// Sorts keys, and picks the rows of each value, where not all are NumPy arrays or tensors.
fn by_indices<'py>(
    keys: &Bound<'py, PyAny>,
    values: &Bound<'py, PyTuple>,
    options: &Options,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = keys.py();
    let order = sorted_indices(py, &Input::of(keys)?.keys()?, options)?;
    let indices = Indices::of(py, None)?.written(py, &order)?;
    let mut sorted = vec![flagged(&rearranged(keys, &indices, &order)?, options.descending)?];
    for (i, value) in values.iter().enumerate() {
        let rows = value.len()?;
        if rows != order.len() {
            return Err(rows_differ(i, rows, order.len()));
        }
        sorted.push(rearranged(&value, &indices, &order)?);
    }
    PyTuple::new(py, sorted)
}

fn rows_differ(i: usize, rows: usize, n: usize) -> PyErr {
    PyValueError::new_err(format!(
        "values {i} have {rows} rows, but there are {n} keys; give both the same length"
    ))
}

/// Sorts keys and values in place.
fn together(keys: &Array<'_>, values: &[Array<'_>], options: &Options) -> PyResult<()> {
    let (py, n) = (keys.py(), keys.len());
    if keys.ndim() != 1 {
        return Err(PyValueError::new_err(format!(
            "keys have {} dimensions; give a one-dimensional array",
            keys.ndim()
        )));
    }
    for (i, value) in values.iter().enumerate() {
        match value.shape().first() {
            None => {
                return Err(PyTypeError::new_err(format!(
                    "values {i} have no dimensions; give an array of {n} rows"
                )));
            }
            Some(&rows) if rows != n => {
                return Err(rows_differ(i, rows, n));
            }
            Some(_) => {}
        }
    }
    let leaf = kind::leaf(&keys.dtype())?;
    if let ([value], Some(numbers)) = (values, Numbers::of(leaf.kind, options)) {
        let rows = array::lanes(keys, 0).rows(numbers.align()).filter(|_| !leaf.swapped);
        if n > 0 && rows.is_some() && moves(value) {
            let each = row_bytes(value);
            if overlap(keys, value) {
                return Err(shared());
            }
            // SAFETY: both arrays have no gaps. The caller promises that nobody else reads or writes them during the call.
            let (keys, payload) = unsafe { (array::bytes(keys), array::bytes(value)) };
            return run(py, options, n, keys.len(), || Ok(((), numbers.sort_pairs(keys, each, payload)?)));
        }
    }
    let arrays: Vec<&Array<'_>> = std::iter::once(keys).chain(values).collect();
    let shares = py.import(intern!(py, "numpy"))?.getattr(intern!(py, "shares_memory"))?;
    for (i, a) in arrays.iter().enumerate() {
        for b in &arrays[..i] {
            if shares.call1((a, b))?.is_truthy()? {
                return Err(shared());
            }
        }
    }
    // All memory is there before anything moves: room for the rows of one array, and what NumPy picks of others.
    let moving: Vec<usize> =
        arrays.iter().filter(|array| moves(array)).map(|array| bytes_of(array)).collect();
    let widest = moving.into_iter().max().unwrap_or(0);
    let others: usize = arrays.iter().filter(|array| !moves(array)).map(|array| bytes_of(array)).sum();
    let held = widest + others + n * size_of::<u64>();
    options.left(held)?;
    let mut copy = Buffer::new(widest)?;
    let indices = array::empty(numpy::dtype::<i64>(py), &[n])?;
    along::argsort::<u64>(keys, 0, options, None, &indices, held)?;
    let mut picked = Vec::new();
    for array in &arrays {
        picked.push(match moves(array) {
            true => None,
            false => Some(array.call_method1(intern!(py, "take"), (&indices, 0))?),
        });
    }
    for (array, picked) in arrays.into_iter().zip(picked) {
        let Some(picked) = picked else {
            let each = row_bytes(array);
            // SAFETY: the array has no gaps; the caller promises that nobody else reads or writes it during the call. The
            // indices are new, and nobody else knows them.
            let (items, indices) = unsafe { (array::bytes(array), array::bytes(&indices)) };
            py.detach(|| permute(items, each, bytemuck::cast_slice::<u8, u64>(indices), &mut copy));
            continue;
        };
        array::copy_into(array, picked.cast()?)?;
    }
    Ok(())
}

/// Rows in shared memory would be moved twice.
fn shared() -> PyErr {
    PyValueError::new_err("keys and values share memory; give arrays of their own")
}

/// Whether arrays without gaps have bytes in common.
fn overlap(a: &Array<'_>, b: &Array<'_>) -> bool {
    let [a, b] = [a, b].map(array::addresses);
    a.start < b.end && b.start < a.end
}

/// Whether the rows of an array are bytes in a row, and nothing that NumPy must know of.
fn moves(array: &Array<'_>) -> bool {
    let dtype = array.dtype();
    array.is_c_contiguous()
        && !dtype.has_object()
        && !matches!(kind::leaf(&dtype), Ok(leaf) if leaf.kind == Kind::Strings)
}

fn row_bytes(array: &Array<'_>) -> usize {
    array.shape()[1..].iter().product::<usize>() * array.dtype().itemsize()
}

fn bytes_of(array: &Array<'_>) -> usize {
    array.len() * array.dtype().itemsize()
}
