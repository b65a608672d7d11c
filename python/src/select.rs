//! What the functions of `sortie/_select.py` are made of: keys at indices of the order, partitions, positions of queries.

use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use sortie::{QuantileMethod, Side};

use crate::array::{self, Array, axis_of};
use crate::call::run;
use crate::errors;
use crate::gpu::{self, GpuArray};
use crate::kind;
use crate::numbers::Numbers;
use crate::options::{Count, Given, Options};
use crate::{along, indices};

/// Returns the elements at these indices of the ascending order along an axis. NaN and NaT are last.
#[pyfunction]
pub fn _nth<'py>(
    a: &Bound<'py, PyAny>,
    indices: Vec<usize>,
    axis: isize,
    threads: Option<Count>,
    memory_limit: Option<Count>,
) -> PyResult<Array<'py>> {
    let (array, options) = (numbers_of(a)?, options(threads, memory_limit)?);
    let axis = axis_of(&array, axis)?;
    let mut shape = array.shape().to_vec();
    shape[axis] = indices.len();
    let result = array::empty(array.dtype(), &shape)?;
    along::nth(&array, axis, &options, &indices, &result)?;
    Ok(result)
}

/// Whether an array is on a GPU.
#[pyfunction]
pub fn _is_on_gpu(a: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(GpuArray::of(a)?.is_some())
}

/// Returns the elements of an array on a GPU at these indices of the ascending order of all.
#[pyfunction]
pub fn _nth_on_gpu<'py>(a: &Bound<'py, PyAny>, indices: Vec<usize>) -> PyResult<Bound<'py, PyAny>> {
    let array = GpuArray::of(a)?.ok_or_else(|| PyTypeError::new_err("the array is not on a GPU"))?;
    gpu::nth(&array, &indices, &options(None, None)?)
}

/// Returns the distinct elements of an array on a GPU, and of these three what is wanted: the index of the first occurrence of each, for
/// each element the index of the distinct one, and how often each occurs. Returns nothing if the array is not on a GPU.
#[pyfunction]
pub fn _unique_on_gpu<'py>(
    a: &Bound<'py, PyAny>,
    index: bool,
    inverse: bool,
    counts: bool,
    equal_nan: bool,
) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
    let Some(array) = GpuArray::of(a)? else { return Ok(None) };
    gpu::unique(&array, equal_nan, gpu::Wanted { index, inverse, counts }, &options(None, None)?).map(Some)
}

/// Puts the elements at these indices of the ascending order along an axis in their places, lesser ones before them.
#[pyfunction]
pub fn _partition(
    a: &Bound<'_, PyAny>,
    indices: Vec<usize>,
    axis: isize,
    threads: Option<Count>,
    memory_limit: Option<Count>,
) -> PyResult<()> {
    let (array, options) = (numbers_of(a)?, options(threads, memory_limit)?);
    along::partition(&array, axis_of(&array, axis)?, &options, &indices)
}

/// Returns the positions of queries in sorted keys. Both lie in C order, and have the same type of number.
#[pyfunction]
pub fn _search<'py>(
    keys: &Bound<'py, PyAny>,
    queries: &Bound<'py, PyAny>,
    right: bool,
    threads: Option<Count>,
    memory_limit: Option<Count>,
) -> PyResult<Array<'py>> {
    let (py, options) = (keys.py(), options(threads, memory_limit)?);
    let (keys, queries) = (numbers_of(keys)?, numbers_of(queries)?);
    let result = array::empty(indices::Indices::of(py, None)?.dtype, queries.shape())?;
    let numbers = Numbers::of(kind::leaf(&keys.dtype())?.kind, &options).expect("they are numbers");
    // SAFETY: the caller has made contiguous arrays, or promises that nobody writes to them. The result is new.
    let (key_bytes, query_bytes, positions) =
        unsafe { (array::bytes(&keys), array::bytes(&queries), array::bytes(&result)) };
    let side = if right { Side::Right } else { Side::Left };
    let positions = bytemuck::cast_slice_mut::<u8, u64>(positions);
    run(py, &options, queries.len(), query_bytes.len(), || {
        Ok(((), numbers.search(key_bytes, query_bytes, side, positions)?))
    })?;
    Ok(result)
}

/// The same of arrays on a GPU. Returns nothing if the keys are not on one.
#[pyfunction]
pub fn _search_on_gpu<'py>(
    keys: &Bound<'py, PyAny>,
    queries: &Bound<'py, PyAny>,
    right: bool,
    sorter: Option<&Bound<'py, PyAny>>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let Some(mut keys) = GpuArray::of(keys)? else { return Ok(None) };
    let on_gpu = |array: &Bound<'py, PyAny>, name: &str| {
        let elsewhere =
            || PyTypeError::new_err(format!("a is on a GPU, but {name} is not; move {name} to it"));
        GpuArray::of(array)?.ok_or_else(elsewhere)
    };
    let queries = on_gpu(queries, "v")?;
    if let Some(sorter) = sorter {
        keys = keys.taken(&on_gpu(sorter, "sorter")?)?;
    }
    let side = if right { Side::Right } else { Side::Left };
    gpu::search(&keys, &queries, side, &options(None, None)?).map(Some)
}

/// Returns how many keys are between neighbouring edges, which are in order. Both lie in C order, and have the same type of number.
#[pyfunction]
pub fn _histogram<'py>(
    keys: &Bound<'py, PyAny>,
    edges: &Bound<'py, PyAny>,
    threads: Option<Count>,
    memory_limit: Option<Count>,
) -> PyResult<Vec<usize>> {
    let (py, options) = (keys.py(), options(threads, memory_limit)?);
    let (keys, edges) = (numbers_of(keys)?, numbers_of(edges)?);
    let numbers = Numbers::of(kind::leaf(&keys.dtype())?.kind, &options).expect("they are numbers");
    // SAFETY: the caller has made contiguous arrays, or promises that nobody writes to them.
    let (key_bytes, edge_bytes) = unsafe { (array::bytes(&keys), array::bytes(&edges)) };
    let mut counts = vec![0; edges.len().saturating_sub(1)];
    run(py, &options, keys.len(), key_bytes.len(), || {
        Ok(((), numbers.histogram(key_bytes, edge_bytes, &mut counts)?))
    })?;
    Ok(counts)
}

/// The same of arrays on a GPU, of which there are few edges. The result is an array of their library.
#[pyfunction]
pub fn _histogram_on_gpu<'py>(
    keys: &Bound<'py, PyAny>,
    edges: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let on_gpu = |array| {
        let elsewhere = || PyTypeError::new_err("the array is not on a GPU");
        GpuArray::of(array)?.ok_or_else(elsewhere)
    };
    gpu::histogram(&on_gpu(keys)?, &on_gpu(edges)?, &options(None, None)?)
}

/// For each quantile, the indices of the two elements next to it, and the share of the way between them. And whether the method takes
/// one of them.
type Positions = (Vec<usize>, Vec<usize>, Vec<f64>, bool);

/// Returns where quantiles of `n` elements are.
#[pyfunction]
pub fn _quantile_positions(method: &str, q: Vec<f64>, n: usize) -> PyResult<Positions> {
    let method: QuantileMethod = method.parse().map_err(errors::of_sortie)?;
    let positions: Vec<_> = q.into_iter().map(|q| method.position(q, n)).collect();
    let low = positions.iter().map(|at| at.low).collect();
    let high = positions.iter().map(|at| at.high).collect();
    Ok((low, high, positions.iter().map(|at| at.share).collect(), method.is_discrete()))
}

/// An array of numbers.
fn numbers_of<'py>(object: &Bound<'py, PyAny>) -> PyResult<Array<'py>> {
    let array = array::converted(object)?;
    let options = options(None, None)?;
    if Numbers::of(kind::leaf(&array.dtype())?.kind, &options).is_none() {
        return Err(PyTypeError::new_err(format!(
            "{} has no numbers; select from sortie.sort or sortie.argsort of it",
            array.dtype()
        )));
    }
    Ok(array)
}

fn options(threads: Option<Count>, memory_limit: Option<Count>) -> PyResult<Options> {
    let given = Given { descending: false, stable: None, nans: "last", threads, memory_limit, engine: "cpu" };
    given.ordered("numpy")
}
