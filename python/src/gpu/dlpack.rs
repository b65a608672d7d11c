//! DLPack: where an array of any library lies.

use std::ffi::c_void;

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};
use sortie::dynamic::Dtype;

use super::owner::Memory;

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

/// Whether an object is an array on a GPU of NVIDIA.
pub fn is_on_cuda(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = object.py();
    if !object.hasattr(intern!(py, "__dlpack_device__"))? {
        return Ok(false);
    }
    let (kind, _): (i32, i32) = object.call_method0(intern!(py, "__dlpack_device__"))?.extract()?;
    Ok(kind == CUDA)
}

/// What a capsule of `__dlpack__` says, for work on this stream. The memory is valid as long as the capsule.
pub fn memory(capsule: &Bound<'_, PyAny>, stream: u64) -> PyResult<Memory> {
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
    let dtype = match (tensor.code, tensor.bits, tensor.lanes) {
        (0, 8, 1) => Dtype::I8,
        (0, 16, 1) => Dtype::I16,
        (0, 32, 1) => Dtype::I32,
        (0, 64, 1) => Dtype::I64,
        (1, 8, 1) => Dtype::U8,
        (1, 16, 1) => Dtype::U16,
        (1, 32, 1) => Dtype::U32,
        (1, 64, 1) => Dtype::U64,
        (2, 16, 1) => Dtype::F16,
        (2, 32, 1) => Dtype::F32,
        (2, 64, 1) => Dtype::F64,
        (4, 16, 1) => Dtype::Bf16,
        (6, 8, 1) => Dtype::Bool,
        (code, bits, lanes) => {
            return Err(PyTypeError::new_err(format!(
                "Sortie does not sort arrays of DLPack's type {code} of {bits} bits in {lanes} lanes"
            )));
        }
    };
    let shape: Vec<usize> = shape.iter().map(|&len| len as usize).collect();
    let mut expected = 1;
    let dense = strides.is_empty()
        || shape.iter().zip(strides).rev().all(|(&len, &stride)| {
            let fits = len <= 1 || stride == expected;
            expected *= len as i64;
            fits
        });
    Ok(Memory {
        address: tensor.data.addr() as u64 + tensor.byte_offset,
        shape,
        dense,
        dtype,
        readonly: false,
        device: tensor.device as u32,
        stream,
    })
}
