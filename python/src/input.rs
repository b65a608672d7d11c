//! [`Input`]: what a function is given.

use arrow_array::ArrayRef;
use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use sortie::Report;
use sortie_arrow::SortColumn;

use crate::array::{self, Array};
use crate::arrow;
use crate::call::run;
use crate::columns::columns_along;
use crate::gpu::GpuArray;
use crate::options::Options;

/// An argument that holds keys.
pub enum Input<'py> {
    Array(Array<'py>),
    /// An array in the memory of a GPU.
    Gpu(GpuArray<'py>),
    /// A series of pandas or polars, whose library picks its elements.
    Series(Bound<'py, PyAny>),
    /// Other Arrow data.
    Arrow(Bound<'py, PyAny>),
}

impl<'py> Input<'py> {
    /// What an object is. Lists and the like become arrays.
    pub fn of(object: &Bound<'py, PyAny>) -> PyResult<Input<'py>> {
        if let Some(array) = array::exactly(object)? {
            return Ok(Input::Array(array.clone()));
        }
        if is_arrow(object)? {
            if !matches!(library(object)?.as_str(), "pandas" | "polars") {
                return Ok(Input::Arrow(object.clone()));
            }
            if object.hasattr(intern!(object.py(), "columns"))? {
                return Err(PyTypeError::new_err("a table is sorted by its columns, with sortie.sort_by"));
            }
            return Ok(Input::Series(object.clone()));
        }
        if let Some(array) = GpuArray::of(object)? {
            return Ok(Input::Gpu(array));
        }
        array::converted(object).map(Input::Array)
    }
}

/// One-dimensional keys, read from an argument.
pub enum Keys<'py> {
    Array(Array<'py>),
    Arrow(ArrayRef),
}

impl<'py> Keys<'py> {
    /// The keys of an argument. A series of pandas over a NumPy array is that array.
    pub fn of(object: &Bound<'py, PyAny>) -> PyResult<Keys<'py>> {
        Keys::read(Input::of(object)?)
    }

    /// The keys of an input.
    pub fn read(input: Input<'py>) -> PyResult<Keys<'py>> {
        let series = match input {
            Input::Array(array) => return Ok(Keys::Array(array)),
            Input::Gpu(_) => return Err(not_on_gpu()),
            Input::Series(series) => series,
            Input::Arrow(data) => return Ok(Keys::Arrow(arrow::imported(&data)?.0)),
        };
        let py = series.py();
        if library(&series)? == "pandas" {
            let dtype = series.getattr(intern!(py, "dtype"))?;
            if dtype.is_instance_of::<numpy::PyArrayDescr>() {
                return array::converted(&series.call_method0(intern!(py, "to_numpy"))?).map(Keys::Array);
            }
        }
        Ok(Keys::Arrow(arrow::imported(&series)?.0))
    }

    pub fn len(&self) -> usize {
        match self {
            Keys::Array(array) => array.len(),
            Keys::Arrow(array) => array.len(),
        }
    }

    pub fn shape(&self) -> Vec<usize> {
        match self {
            Keys::Array(array) => array.shape().to_vec(),
            Keys::Arrow(array) => vec![array.len()],
        }
    }

    /// The keys as columns to sort by, the most significant first.
    pub fn columns(&self, py: Python<'_>, options: &Options, nulls_first: bool) -> PyResult<Vec<SortColumn>> {
        match self {
            Keys::Arrow(array) => run(py, options, array.len(), || {
                Ok((vec![arrow::column(array.clone(), options, nulls_first)?], Report::default()))
            }),
            Keys::Array(array) if array.ndim() != 1 => Err(PyValueError::new_err(format!(
                "a column has {} dimensions; give one-dimensional columns",
                array.ndim()
            ))),
            Keys::Array(array) => columns_along(array, 0, options),
        }
    }
}

/// The error for a function that arrays on a GPU do not have.
pub fn not_on_gpu() -> PyErr {
    PyTypeError::new_err(
        "arrays on a GPU have sort, sort_inplace, argsort, sort_pairs, sort_pairs_inplace and sort_segments; copy them to the host for more",
    )
}

/// The error for input where an array in NumPy's memory is needed.
pub fn refused(what: &str, input: &Input<'_>) -> PyErr {
    if matches!(input, Input::Gpu(_)) {
        return not_on_gpu();
    }
    PyTypeError::new_err(format!(
        "{what} takes NumPy arrays; for Arrow data use sortie.sort, argsort, lexsort or sort_by, or convert with np.asarray"
    ))
}

/// Whether an object exports an Arrow array.
fn is_arrow(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = object.py();
    Ok(object.hasattr(intern!(py, "__arrow_c_array__"))?
        || object.hasattr(intern!(py, "__arrow_c_stream__"))?)
}

/// The package that an object's type belongs to.
pub fn library(object: &Bound<'_, PyAny>) -> PyResult<String> {
    let module = object.get_type().module()?;
    Ok(module.to_str()?.split('.').next().unwrap_or_default().to_owned())
}

/// Picks elements of a series, or rows of a table, of pandas or polars.
pub fn picked<'py>(object: &Bound<'py, PyAny>, indices: &Array<'py>) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    match library(object)?.as_str() {
        "pandas" => object.getattr(intern!(py, "iloc"))?.get_item(indices),
        "polars" => object.get_item(indices),
        other => Err(PyTypeError::new_err(format!("a sorted object of {other} cannot be made"))),
    }
}
