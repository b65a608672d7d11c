//! Counts of the elements of an array on a GPU that are between edges.

use pyo3::prelude::*;
use sortie::gpu::{DeviceHistogram, Gpu};
use sortie::{Order, Report};
use sortie_device::View;

use super::owner::{GpuArray, Memory};
use super::{compiler, is_float};
use crate::call::run_here;
use crate::errors::of_sortie;
use crate::gpu::enqueue::{Scratch, with_key};
use crate::options::Options;

/// Returns how many elements are between neighbouring edges, as an array of their library with 64 bits each. Both arrays are of one library,
/// device and type, and the edges lie without gaps.
pub fn histogram<'py>(
    array: &GpuArray<'py>,
    edges: &GpuArray<'py>,
    options: &Options,
) -> PyResult<Bound<'py, PyAny>> {
    let mut array = array.flattened()?;
    if !array.memory()?.0.dense {
        array = array.copied(0)?;
    }
    let ((keys, _capsule), (between, _other)) = (array.memory()?, edges.memory()?);
    let counts = array.empty(&[between.elements().saturating_sub(1)], "int64")?;
    // SAFETY: there is one count fewer than edges, they are new, and the library orders work on all by the stream.
    unsafe { enqueue(&array, &keys, &between, counts.address()?, options)? };
    Ok(counts.object)
}

/// Enqueues the count on the stream of the keys.
///
/// # Safety
/// There is one count fewer than edges at this address, and other work on all three is in order with the stream.
unsafe fn enqueue(
    array: &GpuArray<'_>,
    keys: &Memory,
    edges: &Memory,
    counts: u64,
    options: &Options,
) -> PyResult<()> {
    let py = array.object.py();
    compiler::prepare(py)?;
    let gpu = py.detach(|| Gpu::cuda(keys.device)).map_err(of_sortie)?;
    let (n, m, dtype) = (keys.elements(), edges.elements(), keys.dtype);
    let scratch = Scratch::of(array, 0, 0)?;
    // SAFETY: the stream is used in this call, which holds the scratch.
    let stream = unsafe { scratch.stream(&gpu, keys) };
    run_here(py, options, 0, |_| {
        // SAFETY: as the caller states.
        let pending = unsafe {
            with_key!(dtype, K => {
                let edges = View::<K>::from_raw(edges.address, m);
                let counts = View::<u64>::from_raw(counts, m - 1);
                let (order, by_value) = (Order::default(), is_float(dtype));
                let bins = DeviceHistogram { edges, counts, order, by_value };
                gpu.histogram(&stream, View::<K>::from_raw(keys.address, n), bins)
            })
        }?;
        drop(pending);
        Ok(((), Report::default()))
    })
}
