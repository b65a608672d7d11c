//! The `bfloat16` of torch as a type of NumPy.

use numpy::PyArrayDescr;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{IntoPyDict, PyDict};

use crate::array;

/// The note, as a key of the metadata of a type.
const NOTE: &str = "sortie.bfloat16";

/// Whether a type stands for the `bfloat16` of torch, which NumPy does not have.
pub fn is_of_torch(dtype: &Bound<'_, PyArrayDescr>) -> PyResult<bool> {
    let py = dtype.py();
    let metadata = dtype.getattr(intern!(py, "metadata"))?;
    if metadata.is_none() {
        return Ok(false);
    }
    metadata.contains(intern!(py, NOTE))
}

/// Integers of 16 bits, with a note that they are the bits of `bfloat16`. NumPy keeps the note in views and copies.
pub fn dtype(py: Python<'_>) -> PyResult<Bound<'_, PyArrayDescr>> {
    static DTYPE: PyOnceLock<Py<PyArrayDescr>> = PyOnceLock::new();
    let make = || -> PyResult<Py<PyArrayDescr>> {
        let note = [(NOTE, true)].into_py_dict(py)?;
        let note: Bound<'_, PyDict> = [("metadata", note)].into_py_dict(py)?;
        let dtype = array::numpy(py)?.call_method(intern!(py, "dtype"), ("i2",), Some(&note))?;
        Ok(dtype.cast_into::<PyArrayDescr>()?.unbind())
    };
    Ok(DTYPE.get_or_try_init(py, make)?.bind(py).clone())
}
