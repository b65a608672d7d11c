//! Positions of queries in sorted keys on a GPU.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use sortie::gpu::{DeviceSearch, Gpu};
use sortie::{Order, Report, Side};
use sortie_device::View;

use super::owner::{GpuArray, Memory, Owner};
use super::{compiler, is_float};
use crate::call::run_here;
use crate::errors::of_sortie;
use crate::gpu::enqueue::{Scratch, with_key};
use crate::options::Options;

/// Returns the positions of queries in keys with one axis, as an array of their library with 64 bits each. Both are of one library, device
/// and type. Floats are in the order of NumPy.
pub fn search<'py>(
    keys: &GpuArray<'py>,
    queries: &GpuArray<'py>,
    side: Side,
    options: &Options,
) -> PyResult<Bound<'py, PyAny>> {
    let (keys, queries) = (dense(keys)?, dense(queries)?);
    let ((of_keys, _capsule), (of_queries, _other)) = (keys.memory()?, queries.memory()?);
    check(&keys, &of_keys, &queries, &of_queries)?;
    let positions = keys.empty(&of_queries.shape, "int64")?;
    if of_queries.elements() > 0 {
        // SAFETY: the positions are new and as many as the queries, and the library orders work on all by the stream.
        unsafe { enqueue(&keys, &of_keys, &of_queries, positions.address()?, side, options)? };
    }
    Ok(positions.object)
}

/// The array, or a copy without gaps.
fn dense<'py>(array: &GpuArray<'py>) -> PyResult<GpuArray<'py>> {
    let (memory, _capsule) = array.memory()?;
    if memory.dense { Ok(array.clone()) } else { array.copied(memory.shape.len() - 1) }
}

fn check(keys: &GpuArray<'_>, of_keys: &Memory, queries: &GpuArray<'_>, of_queries: &Memory) -> PyResult<()> {
    if keys.owner == Owner::Other {
        return Err(PyTypeError::new_err(
            "positions in such arrays have no library; search arrays of torch, CuPy or Numba",
        ));
    }
    if of_keys.shape.len() != 1 {
        return Err(PyValueError::new_err(format!(
            "a has {} axes; give an array with one",
            of_keys.shape.len()
        )));
    }
    if keys.owner != queries.owner {
        return Err(PyTypeError::new_err(format!(
            "a is an array of {:?}, v of {:?}; give both of one library",
            keys.owner, queries.owner
        )));
    }
    if of_keys.device != of_queries.device {
        return Err(PyValueError::new_err(format!(
            "a is on cuda:{}, v on cuda:{}; move them to one device",
            of_keys.device, of_queries.device
        )));
    }
    if of_keys.dtype != of_queries.dtype {
        return Err(PyTypeError::new_err(format!(
            "a has elements of type {:?}, v of {:?}; convert one of them",
            of_keys.dtype, of_queries.dtype
        )));
    }
    Ok(())
}

/// Enqueues the search on the stream of the keys, with scratch memory from the pool of their library.
///
/// # Safety
/// There are as many positions as queries at this address, and other work on all three is in order with the stream.
unsafe fn enqueue(
    array: &GpuArray<'_>,
    keys: &Memory,
    queries: &Memory,
    positions: u64,
    side: Side,
    options: &Options,
) -> PyResult<()> {
    let py = array.object.py();
    compiler::prepare(py)?;
    let gpu = py.detach(|| Gpu::cuda(keys.device)).map_err(of_sortie)?;
    let (n, m, dtype) = (keys.elements(), queries.elements(), keys.dtype);
    let bytes = with_key!(dtype, K => gpu.workspace_bytes_of_search::<K>(n, m)).map_err(of_sortie)?;
    let scratch = Scratch::of(array, 0, if array.has_pool() { bytes } else { 0 })?;
    // SAFETY: the stream is used in this call, which holds the scratch.
    let stream = unsafe { scratch.stream(&gpu, keys) };
    let (from, sought) = (keys.address, queries.address);
    run_here(py, options, 0, |_| {
        // SAFETY: as the caller states.
        let pending = unsafe {
            with_key!(dtype, K => {
                let (keys, queries) = (View::<K>::from_raw(from, n), View::<K>::from_raw(sought, m));
                let positions = View::<u64>::from_raw(positions, m);
                let of = DeviceSearch::of(queries, positions, Order::default());
                gpu.search_sorted(&stream, keys, DeviceSearch { side, by_value: is_float(dtype), ..of })
            })
        }?;
        drop(pending);
        Ok(((), Report::default()))
    })
}
