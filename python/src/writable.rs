//! Arrays that a call writes to.

use numpy::npyffi::{_PyArray_GET_ITEM_DATA, NPY_ARRAY_WRITEABLE};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::array::{Array, exactly};
use crate::lanes::lie_apart;
use crate::{kind, tensor};

/// An array that a call may write to: a NumPy array, or one in the memory of a tensor.
pub fn writable<'py>(what: &str, object: &Bound<'py, PyAny>) -> PyResult<Array<'py>> {
    let array = match exactly(object)? {
        Some(array) => array.clone(),
        None => tensor::writable(object)?.ok_or_else(|| {
            let found = object.get_type().name().map(|name| name.to_string()).unwrap_or_default();
            PyTypeError::new_err(format!("{what} must be a NumPy array or a tensor of torch, not {found}"))
        })?,
    };
    // SAFETY: a `Bound` holds a valid array, and the thread is attached.
    let flags = unsafe { (*_PyArray_GET_ITEM_DATA(array.as_array_ptr())).flags };
    if flags & NPY_ARRAY_WRITEABLE == 0 {
        return Err(PyValueError::new_err(format!("{what} is read-only; sort a copy with sortie.sort")));
    }
    if !lie_apart(array.dtype().itemsize(), array.shape(), array.strides()) {
        return Err(PyValueError::new_err(format!(
            "elements of {what} share memory, as after a broadcast; sort a copy with sortie.sort"
        )));
    }
    Ok(array)
}

/// The array that a call may write a result of this shape and type to.
pub fn output<'py>(
    out: &Bound<'py, PyAny>,
    shape: &[usize],
    dtype: &Bound<'py, PyArrayDescr>,
) -> PyResult<Array<'py>> {
    let out = writable("out", out)?;
    if out.shape() == shape && kind::is_same(&out.dtype(), dtype)? {
        return Ok(out);
    }
    Err(PyValueError::new_err(format!(
        "out has shape {:?} and type {}; the result has shape {shape:?} and type {dtype}",
        out.shape(),
        out.dtype()
    )))
}
