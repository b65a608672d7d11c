//! DLPack: where an array of any library lies.

use std::ffi::c_void;

use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

/// `kDLCUDA`.
const CUDA: i32 = 2;

/// `DLTensor`, the beginning of `DLManagedTensor`.
#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device_type: i32,
    device: i32,
    dimensions: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *const i64,
    strides: *const i64,
    byte_offset: u64,
}

/// What a capsule of `__dlpack__` says. The memory is valid as long as the capsule.
pub struct Exported {
    pub address: u64,
    /// The number of the device.
    pub device: i32,
    pub dtype: Dtype,
    pub shape: Vec<usize>,
    /// In elements.
    pub strides: Vec<isize>,
}

/// `DLDataType`: what elements are, how many bits each has, and how many are one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dtype {
    pub code: u8,
    pub bits: u8,
    pub lanes: u16,
}

/// Whether an object is an array on a GPU of NVIDIA.
pub fn is_on_cuda(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = object.py();
    if !object.hasattr(intern!(py, "__dlpack_device__"))? {
        return Ok(false);
    }
    let (kind, _): (i32, i32) = object.call_method0(intern!(py, "__dlpack_device__"))?.extract()?;
    Ok(kind == CUDA)
}

/// Reads a capsule.
pub fn exported(capsule: &Bound<'_, PyAny>) -> PyResult<Exported> {
    let capsule = capsule.cast::<PyCapsule>()?;
    let pointer = capsule.pointer_checked(Some(c"dltensor"))?;
    // SAFETY: a capsule of that name holds a `DLManagedTensor`, which begins with a `DLTensor`, and has that many dimensions.
    let (tensor, shape, strides) = unsafe {
        let tensor = &*pointer.cast::<Tensor>().as_ptr();
        let dimensions = tensor.dimensions as usize;
        let of = |numbers: *const i64| {
            if numbers.is_null() || dimensions == 0 {
                &[][..]
            } else {
                std::slice::from_raw_parts(numbers, dimensions)
            }
        };
        (tensor, of(tensor.shape), of(tensor.strides))
    };
    let shape: Vec<usize> = shape.iter().map(|&len| len as usize).collect();
    let strides = if strides.is_empty() {
        in_c_order(&shape)
    } else {
        strides.iter().map(|&stride| stride as isize).collect()
    };
    Ok(Exported {
        address: tensor.data.addr() as u64 + tensor.byte_offset,
        device: tensor.device,
        dtype: Dtype { code: tensor.code, bits: tensor.bits, lanes: tensor.lanes },
        shape,
        strides,
    })
}

/// The strides of elements in C order without gaps.
fn in_c_order(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis] as isize;
    }
    strides
}
