//! Distinct elements of an array on a GPU.

use std::sync::Arc;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use sortie::Report;
use sortie::gpu::{DeviceGroups, Equality, Gpu};
use sortie_device::View;

use super::enqueue::{Scratch, with_key};
use super::owner::{GpuArray, Memory, Owner};
use super::{compiler, indices_of, is_float, sort_last_axis};
use crate::call::run_here;
use crate::errors::of_sortie;
use crate::options::Options;

/// The results that a call asks for besides the distinct elements.
#[derive(Clone, Copy)]
pub struct Wanted {
    /// The index of the first occurrence of each.
    pub index: bool,
    /// For each element, the index of the distinct one.
    pub inverse: bool,
    /// How often each occurs.
    pub counts: bool,
}

/// Returns the distinct elements in ascending order and what else is wanted, as arrays of the same library. Waits once, for their number.
pub fn unique<'py>(
    array: &GpuArray<'py>,
    equal_nan: bool,
    wanted: Wanted,
    options: &Options,
) -> PyResult<Vec<Bound<'py, PyAny>>> {
    if array.owner == Owner::Other {
        return Err(PyTypeError::new_err(
            "distinct elements of such arrays have no library; give an array of torch, CuPy or Numba",
        ));
    }
    let (memory, _capsule) = array.memory()?;
    let (shape, is_dense, flat) = (memory.shape, memory.dense, array.flattened()?);
    let needs_indices = wanted.index || wanted.inverse;
    // A sort in place needs a copy.
    let flat = if is_dense && needs_indices { flat } else { flat.copied(0)? };
    let by_index = needs_indices.then(|| by_index(&flat, options)).transpose()?;
    let sorted = match &by_index {
        Some((sorted, _)) => sorted,
        None => {
            sort_last_axis(&flat, options)?;
            &flat
        }
    };
    let found = Found::of(sorted, equal_nan, options)?;

    let keys = sorted.like(&[found.groups])?;
    let numbers =
        |is_wanted: bool, shape: &[usize]| is_wanted.then(|| sorted.empty(shape, "int64")).transpose();
    let index = numbers(wanted.index, &[found.groups])?;
    let inverse = numbers(wanted.inverse, &shape)?;
    let counts = numbers(wanted.counts, &[found.groups])?;
    let results = Results {
        keys: keys.address()?,
        index: address(index.as_ref())?,
        inverse: address(inverse.as_ref())?,
        counts: address(counts.as_ref())?,
        indices: address(by_index.as_ref().map(|(_, indices)| indices))?,
    };
    // SAFETY: the results are new, and as long as there are groups or elements. The library orders work on all by the stream.
    unsafe { found.write(sorted, results, options)? };
    Ok([Some(keys), index, inverse, counts].into_iter().flatten().map(|array| array.object).collect())
}

/// The elements in order, and the indices that they had.
fn by_index<'py>(flat: &GpuArray<'py>, options: &Options) -> PyResult<(GpuArray<'py>, GpuArray<'py>)> {
    let (memory, _capsule) = flat.memory()?;
    let indices = indices_of(flat, &memory, options, "int64")?;
    Ok((flat.taken(&indices)?, indices))
}

fn address(array: Option<&GpuArray<'_>>) -> PyResult<u64> {
    array.map_or(Ok(0), GpuArray::address)
}

/// Where results go: addresses, or 0 for what is not wanted.
#[derive(Clone, Copy)]
struct Results {
    keys: u64,
    index: u64,
    inverse: u64,
    counts: u64,
    /// The indices of the sorted keys.
    indices: u64,
}

/// The groups of equal elements of a sorted array.
struct Found<'py> {
    gpu: Arc<Gpu>,
    memory: Memory,
    equality: Equality,
    table: GpuArray<'py>,
    groups: usize,
}

impl<'py> Found<'py> {
    fn of(sorted: &GpuArray<'py>, equal_nan: bool, options: &Options) -> PyResult<Found<'py>> {
        let py = sorted.object.py();
        let (memory, _capsule) = sorted.memory()?;
        compiler::prepare(py)?;
        let gpu = py.detach(|| Gpu::cuda(memory.device)).map_err(of_sortie)?;
        let equality = match (is_float(memory.dtype), equal_nan) {
            (false, _) => Equality::Bits,
            (true, true) => Equality::Values,
            (true, false) => Equality::ValuesButNans,
        };
        let n = memory.elements();
        let table = sorted.empty(&[gpu.group_table_words(n)], "int64")?;
        let at = table.address()?;
        // SAFETY: the stream is used in this call.
        let stream = unsafe { Scratch::default().stream(&gpu, &memory) };
        let groups = run_here(py, options, 0, |_| {
            let mut groups = [0];
            // SAFETY: the table is new, and the library orders work on it and on the elements by the stream.
            unsafe {
                let table = View::<u64>::from_raw(at, gpu.group_table_words(n));
                with_key!(memory.dtype, K => {
                    let sorted = View::<K>::from_raw(memory.address, n);
                    gpu.find_groups(&stream, sorted, equality, table).map(drop)
                })?;
                stream.copy_out(&mut groups, table.range(0..1)).map_err(sortie::Error::from)?;
            }
            Ok((groups[0] as usize, Report::default()))
        })?;
        Ok(Found { gpu, memory, equality, table, groups })
    }

    /// # Safety
    /// The results have room for all groups, the inverse for all elements. Other work on all of them is in order with the stream.
    unsafe fn write(&self, sorted: &GpuArray<'py>, results: Results, options: &Options) -> PyResult<()> {
        let (n, groups, at) = (self.memory.elements(), self.groups, self.table.address()?);
        let (gpu, equality, address, dtype) =
            (&self.gpu, self.equality, self.memory.address, self.memory.dtype);
        // SAFETY: the stream is used in this call.
        let stream = unsafe { Scratch::default().stream(gpu, &self.memory) };
        run_here(sorted.object.py(), options, 0, |_| {
            // SAFETY: as the caller states.
            unsafe {
                let numbers = |at, length| (at != 0).then(|| View::<u64>::from_raw(at, length));
                let table = View::from_raw(at, gpu.group_table_words(n));
                with_key!(dtype, K => {
                    let to = DeviceGroups {
                        keys: Some(View::<K>::from_raw(results.keys, groups)),
                        counts: numbers(results.counts, groups),
                        first: numbers(results.index, groups),
                        inverse: numbers(results.inverse, n),
                        indices: numbers(results.indices, n),
                    };
                    let sorted = View::<K>::from_raw(address, n);
                    gpu.write_groups(&stream, sorted, equality, table, to).map(drop)
                })?;
            }
            Ok(((), Report::default()))
        })
    }
}
