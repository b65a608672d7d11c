//! Tensors of torch in host memory, as NumPy arrays that share their memory, and back.

use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyException, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;

use crate::array::{self, Array};
use crate::bfloat16;
use crate::dlpack::{self, Dtype};
use crate::library::library;

/// The array that shares its memory with the tensor that an object is, if it is one in host memory. Bits that torch changes when
/// it reads them, as those of conjugates, are changed in a copy.
pub fn viewed<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Array<'py>>> {
    if !is_tensor(object)? {
        return Ok(None);
    }
    let py = object.py();
    let alone = object
        .call_method0(intern!(py, "detach"))?
        .call_method0(intern!(py, "resolve_conj"))
        .and_then(|tensor| tensor.call_method0(intern!(py, "resolve_neg")))
        .map_err(|error| refused(object, error))?;
    shared(&alone).map(Some)
}

/// The same for a tensor that a call may write to.
pub fn writable<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Array<'py>>> {
    if !is_tensor(object)? {
        return Ok(None);
    }
    let py = object.py();
    for lazy in [intern!(py, "is_conj"), intern!(py, "is_neg")] {
        if object.call_method0(lazy)?.is_truthy()? {
            return Err(PyValueError::new_err(
                "the tensor is a view of the conjugate or the negative of another; sort a copy with sortie.sort",
            ));
        }
    }
    check_writable(object)?;
    shared(&object.call_method0(intern!(py, "detach"))?).map(Some)
}

/// Returns an error if a tensor must not be changed in place. Else torch learns that it is changed, so that gradients which need
/// its former values are refused and not wrong.
pub fn check_writable(tensor: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = tensor.py();
    if tensor.getattr(intern!(py, "requires_grad"))?.is_truthy()? {
        return Err(PyValueError::new_err(
            "the tensor requires grad, and a sort in place would not be recorded; sort a.detach(), or a copy with sortie.sort",
        ));
    }
    if !tensor.call_method0(intern!(py, "is_inference"))?.is_truthy()? {
        let graph = py.import(intern!(py, "torch.autograd.graph"))?;
        graph.call_method1(intern!(py, "increment_version"), (tensor,))?;
    }
    Ok(())
}

/// A result for the caller: a tensor without a copy, where the argument is one.
pub fn returned<'py>(argument: &Bound<'py, PyAny>, array: Array<'py>) -> PyResult<Bound<'py, PyAny>> {
    if array::exactly(argument)?.is_some() || !is_tensor(argument)? {
        return Ok(array.into_any());
    }
    let py = argument.py();
    let torch = py.import(intern!(py, "torch"))?;
    let tensor = torch.call_method1(intern!(py, "from_dlpack"), (&array,))?;
    if !bfloat16::is_of_torch(&array.dtype())? {
        return Ok(tensor);
    }
    tensor.call_method1(intern!(py, "view"), (torch.getattr(intern!(py, "bfloat16"))?,))
}

/// Whether an object is a tensor in host memory. Tensors elsewhere that are not on a GPU of NVIDIA are refused.
fn is_tensor(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = object.py();
    if library(object)? != "torch" || !object.hasattr(intern!(py, "__dlpack__"))? {
        return Ok(false);
    }
    let device = object.getattr(intern!(py, "device"))?.getattr(intern!(py, "type"))?.extract::<String>()?;
    match device.as_str() {
        "cpu" => Ok(true),
        "cuda" => Ok(false),
        "meta" => Err(PyTypeError::new_err("a tensor on the device meta has no elements to sort")),
        other => Err(PyTypeError::new_err(format!(
            "Sortie does not sort tensors on the device {other}; sort a.cpu(), or a tensor on a GPU of NVIDIA"
        ))),
    }
}

/// The array in the memory of a tensor.
fn shared<'py>(tensor: &Bound<'py, PyAny>) -> PyResult<Array<'py>> {
    let py = tensor.py();
    let capsule = tensor.call_method0(intern!(py, "__dlpack__")).map_err(|error| refused(tensor, error))?;
    let memory = dlpack::exported(&capsule)?;
    let dtype = numpy_dtype(tensor, memory.dtype)?;
    let width = dtype.itemsize() as isize;
    let strides: Vec<isize> = memory.strides.iter().map(|stride| stride * width).collect();
    if memory.shape.contains(&0) {
        // It may have no address.
        return array::empty(dtype, &memory.shape);
    }
    // SAFETY: torch states that this memory holds elements of this type, and the capsule keeps it allocated.
    unsafe { array::over(memory.address as usize, dtype, &memory.shape, &strides, capsule) }
}

fn numpy_dtype<'py>(tensor: &Bound<'py, PyAny>, dtype: Dtype) -> PyResult<Bound<'py, PyArrayDescr>> {
    let py = tensor.py();
    let name = match (dtype.code, dtype.bits, dtype.lanes) {
        (0, 8, 1) => "i1",
        (0, 16, 1) => "i2",
        (0, 32, 1) => "i4",
        (0, 64, 1) => "i8",
        (1, 8, 1) => "u1",
        (1, 16, 1) => "u2",
        (1, 32, 1) => "u4",
        (1, 64, 1) => "u8",
        (2, 16, 1) => "f2",
        (2, 32, 1) => "f4",
        (2, 64, 1) => "f8",
        (4, 16, 1) => return bfloat16::dtype(py),
        (5, 64, 1) => "c8",
        (5, 128, 1) => "c16",
        (6, 8, 1) => "?",
        _ => {
            let (found, wider) = (
                tensor.getattr(intern!(py, "dtype"))?.str()?,
                match dtype.code {
                    5 => "complex64",
                    _ => "float32",
                },
            );
            return Err(PyTypeError::new_err(format!(
                "Sortie does not sort tensors of {found}; convert them with a.to(torch.{wider})"
            )));
        }
    };
    PyArrayDescr::new(py, name)
}

/// The error for a tensor whose elements do not lie in memory as those of others.
fn refused(tensor: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    let py = tensor.py();
    if !error.is_instance_of::<PyException>(py) {
        return error;
    }
    let reason = error.value(py).to_string();
    let reason = reason.lines().next().unwrap_or_default();
    let refused = PyTypeError::new_err(format!(
        "Sortie cannot read this tensor; convert it to a dense one, as with a.to_dense() or a.dequantize(): {reason}"
    ));
    refused.set_cause(py, Some(error));
    refused
}
