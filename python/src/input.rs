//! [`Input`]: what a function is given.

use numpy::{PyArrayDescrMethods, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyTypeMethods};

use crate::array::{self, Array};
use crate::gpu::GpuArray;
use crate::keys::Keys;
use crate::library::{has, library};
use crate::{pandas, tensor};

/// An argument that holds keys.
pub enum Input<'py> {
    /// An array of NumPy, or one in the memory of a tensor.
    Array(Array<'py>),
    /// An array in the memory of a GPU.
    Gpu(GpuArray<'py>),
    /// A series of pandas or polars, or an index or extension array of pandas. The library picks its elements.
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
        let (is_arrow, library) = (is_arrow(object)?, library(object)?);
        let is_pandas = library == "pandas";
        if (is_pandas || is_arrow && library == "polars") && has(object, intern!(object.py(), "columns"))? {
            return Err(PyTypeError::new_err("a table is sorted by its columns, with sortie.sort_by"));
        }
        if is_arrow && library == "polars" || is_pandas && pandas::is_column(object)? {
            return Ok(Input::Series(object.clone()));
        }
        if is_arrow {
            return Ok(Input::Arrow(object.clone()));
        }
        if let Some(array) = GpuArray::of(object)? {
            return Ok(Input::Gpu(array));
        }
        if let Some(array) = tensor::viewed(object)? {
            return Ok(Input::Array(array));
        }
        if is_lazy(object)? {
            return Err(lazy());
        }
        let array = array::converted(object)?;
        if array.ndim() == 0 && array.dtype().has_object() {
            return Err(PyTypeError::new_err(format!(
                "Sortie cannot sort an object of {}; give an array, a sequence of numbers or strings, or Arrow data",
                object.get_type().name()?
            )));
        }
        Ok(Input::Array(array))
    }

    /// Its keys. Those of a series of pandas over a NumPy array are that array.
    pub fn keys(self) -> PyResult<Keys<'py>> {
        let series = match self {
            Input::Array(array) => return Ok(Keys::Array(array)),
            Input::Gpu(_) => return Err(not_on_gpu()),
            Input::Series(series) => series,
            Input::Arrow(data) => return Keys::exported(&data),
        };
        let py = series.py();
        let dtype = series.getattr(intern!(py, "dtype"))?;
        if library(&series)? == "pandas" {
            return pandas::keys(&series);
        }
        if dtype.str()? == "Object" {
            // What polars exports are addresses.
            return Err(PyTypeError::new_err(
                "Sortie does not sort Python objects; convert the series of polars with series.cast",
            ));
        }
        Keys::exported(&series)
    }
}

/// The error for a function that arrays on a GPU do not have.
pub fn not_on_gpu() -> PyErr {
    PyTypeError::new_err(
        "arrays on a GPU have sort, sort_inplace, argsort, top_k, arg_top_k, sort_pairs, sort_pairs_inplace and sort_segments; copy them \
         to the host for more",
    )
}

/// The error for input where an array in NumPy's memory is needed.
pub fn refused(what: &str, input: &Input<'_>) -> PyErr {
    if matches!(input, Input::Gpu(_)) {
        return not_on_gpu();
    }
    PyTypeError::new_err(format!(
        "{what} takes NumPy arrays and tensors; for Arrow data use sortie.sort, argsort, lexsort or sort_by, or convert with np.asarray"
    ))
}

/// Whether an object exports an Arrow array.
fn is_arrow(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = object.py();
    Ok(has(object, intern!(py, "__arrow_c_array__"))? || has(object, intern!(py, "__arrow_c_stream__"))?)
}

/// Whether an object is a query of polars that has not run.
pub fn is_lazy(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(library(object)? == "polars"
        && has(object, intern!(object.py(), "collect_schema"))?
        && has(object, intern!(object.py(), "collect"))?)
}

/// The error for such a query.
pub fn lazy() -> PyErr {
    PyTypeError::new_err("Sortie does not sort a LazyFrame; sort the result of its collect()")
}

/// The elements of a series, index or extension array, or the rows of a table, of pandas or polars, that distinct new indices name.
/// A series or table that is in order already shares its memory with the result.
pub fn picked<'py>(object: &Bound<'py, PyAny>, indices: &Array<'py>) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    match library(object)?.as_str() {
        "pandas"
            if has(object, intern!(py, "iloc"))? && in_order(object, indices)? && copies_on_write(py)? =>
        {
            let shallow = [("deep", false)].into_py_dict(py)?;
            object.call_method(intern!(py, "copy"), (), Some(&shallow))
        }
        "pandas" => object.call_method1(intern!(py, "take"), (indices,)),
        "polars" if in_order(object, indices)? => object.call_method0(intern!(py, "clone")),
        "polars" => {
            // What polars itself would make of them, without its questions.
            let rows = py.import(intern!(py, "polars"))?.call_method1(intern!(py, "Series"), (indices,))?;
            object.get_item(rows)
        }
        other => Err(PyTypeError::new_err(format!("a sorted object of {other} cannot be made"))),
    }
}

/// Whether distinct new indices name all rows, and leave each where it is.
fn in_order(object: &Bound<'_, PyAny>, indices: &Array<'_>) -> PyResult<bool> {
    // SAFETY: the indices are new, so nobody else knows them.
    let bytes: &[u8] = unsafe { array::bytes(indices) };
    let ascend = match indices.dtype().itemsize() {
        4 => bytemuck::cast_slice::<u8, u32>(bytes).is_sorted(),
        _ => bytemuck::cast_slice::<u8, u64>(bytes).is_sorted(),
    };
    Ok(ascend && indices.len() == object.len()?)
}

/// Whether this pandas copies shared data before it changes them, as all do from 3 on.
fn copies_on_write(py: Python<'_>) -> PyResult<bool> {
    let version = py.import(intern!(py, "pandas"))?.getattr(intern!(py, "__version__"))?;
    let major = version.extract::<String>()?.split('.').next().and_then(|major| major.parse::<u32>().ok());
    Ok(major.is_some_and(|major| major >= 3))
}

/// Notes in a sorted series of polars that it is sorted, where the order of polars is the same: NaNs are greatest, and nulls at either
/// end. The order of other types may be another. Other objects have no such note.
pub fn flagged<'py>(series: &Bound<'py, PyAny>, descending: bool) -> PyResult<Bound<'py, PyAny>> {
    let py = series.py();
    if library(series)? != "polars" {
        return Ok(series.clone());
    }
    let dtype = series.getattr(intern!(py, "dtype"))?.call_method0(intern!(py, "base_type"))?;
    let name: String = dtype.getattr(intern!(py, "__name__"))?.extract()?;
    let same = match name.as_str() {
        "Float16" | "Float32" | "Float64" => {
            let (rows, nulls) =
                (series.len()?, series.call_method0(intern!(py, "null_count"))?.extract::<usize>()?);
            let least = match (rows == nulls, descending) {
                (true, _) => None,
                (false, true) if series.get_item(rows - 1)?.is_none() => Some(rows - nulls - 1),
                (false, true) => Some(rows - 1),
                (false, false) if series.get_item(0)?.is_none() => Some(nulls),
                (false, false) => Some(0),
            };
            match least {
                Some(least) => !series.get_item(least)?.extract::<f64>()?.is_nan(),
                None => true,
            }
        }
        "Int8" | "Int16" | "Int32" | "Int64" | "Int128" | "UInt8" | "UInt16" | "UInt32" | "UInt64"
        | "UInt128" | "Decimal" | "Boolean" | "String" | "Binary" | "Enum" | "Date" | "Datetime"
        | "Duration" | "Time" => true,
        _ => false,
    };
    if !same {
        return Ok(series.clone());
    }
    let direction = [("descending", descending)].into_py_dict(py)?;
    series.call_method(intern!(py, "set_sorted"), (), Some(&direction))
}
