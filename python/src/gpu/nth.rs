//! Elements of an array on a GPU at some indices of the order.

use pyo3::prelude::*;
use sortie::gpu::{DeviceNth, Gpu};
use sortie::{Order, Report};
use sortie_device::View;

use super::compiler;
use super::owner::{GpuArray, Memory};
use crate::call::run_here;
use crate::errors::of_sortie;
use crate::gpu::enqueue::{Scratch, with_key};
use crate::options::Options;

/// Returns the elements at these indices of the ascending order of all, as an array of the same library with one axis. NaNs are last.
pub fn nth<'py>(array: &GpuArray<'py>, indices: &[usize], options: &Options) -> PyResult<Bound<'py, PyAny>> {
    let mut array = array.flattened()?;
    if !array.memory()?.0.dense {
        array = array.copied(0)?;
    }
    let (memory, _capsule) = array.memory()?;
    let found = array.like(&[indices.len()])?;
    // SAFETY: the results are new and as many as the indices, and the library orders work on both arrays by the stream.
    unsafe { enqueue(&array, &memory, indices, found.address()?, options)? };
    Ok(found.object)
}

/// Enqueues the selection on the stream of the array, with scratch memory from the pool of its library.
///
/// # Safety
/// There are as many results as indices at this address, and other work on both arrays is in order with the stream.
unsafe fn enqueue(
    array: &GpuArray<'_>,
    memory: &Memory,
    indices: &[usize],
    found: u64,
    options: &Options,
) -> PyResult<()> {
    let py = array.object.py();
    compiler::prepare(py)?;
    let gpu = py.detach(|| Gpu::cuda(memory.device)).map_err(of_sortie)?;
    let (n, dtype) = (memory.elements(), memory.dtype);
    let bytes = with_key!(dtype, K => gpu.workspace_bytes_of_nth::<K>(n, indices)).map_err(of_sortie)?;
    let scratch = Scratch::of(array, 0, if array.has_pool() { bytes } else { 0 })?;
    // SAFETY: the stream is used in this call, which holds the scratch.
    let stream = unsafe { scratch.stream(&gpu, memory) };
    run_here(py, options, 0, |_| {
        // SAFETY: as the caller states.
        let pending = unsafe {
            with_key!(dtype, K => {
                let nth = View::<K>::from_raw(found, indices.len());
                let wanted = DeviceNth { indices, nth, order: Order::default() };
                gpu.nth(&stream, View::<K>::from_raw(memory.address, n), &wanted)
            })
        }?;
        drop(pending);
        Ok(((), Report::default()))
    })
}
