//! [`Keys`]: the keys of one argument, in host memory.

use arrow_array::{Array as _, ArrayRef};
use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sortie::Report;

use crate::array::Array;
use crate::arrow;
use crate::call::run;
use crate::columns::{Columns, columns_along};
use crate::options::Options;

/// One-dimensional keys, read from an argument.
pub enum Keys<'py> {
    Array(Array<'py>),
    /// With the bytes that were allocated for it.
    Arrow(ArrayRef, usize),
}

impl<'py> Keys<'py> {
    /// The keys that an object exports.
    pub fn exported(object: &Bound<'py, PyAny>) -> PyResult<Keys<'py>> {
        let data = arrow::imported(object)?;
        arrow::check(data.values.data_type())?;
        Ok(Keys::Arrow(data.keys().clone(), data.held))
    }

    pub fn len(&self) -> usize {
        match self {
            Keys::Array(array) => array.len(),
            Keys::Arrow(array, _) => array.len(),
        }
    }

    pub fn shape(&self) -> Vec<usize> {
        match self {
            Keys::Array(array) => array.shape().to_vec(),
            Keys::Arrow(array, _) => vec![array.len()],
        }
    }

    /// The keys as columns to sort by, the most significant first.
    pub fn columns(&self, py: Python<'_>, options: &Options) -> PyResult<Columns> {
        match self {
            Keys::Arrow(array, held) => run(py, options, array.len(), array.get_buffer_memory_size(), || {
                let mut columns = Columns::default();
                arrow::push(array.clone(), options, *held, &mut columns)?;
                Ok((columns, Report::default()))
            }),
            Keys::Array(array) if array.ndim() != 1 => Err(PyValueError::new_err(format!(
                "a column has {} dimensions; give one-dimensional columns",
                array.ndim()
            ))),
            Keys::Array(array) => columns_along(array, 0, options),
        }
    }
}
