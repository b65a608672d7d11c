//! Arrays and columns of tables, one after the other.

use std::fmt::Display;

use arrow_array::ArrayRef;
use numpy::PyUntypedArrayMethods;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;

use crate::array::{self, Array};
use crate::input::{Input, not_on_gpu};
use crate::library::library;
use crate::{arrow, bfloat16, kind, tensor};

/// What an array to merge is.
pub fn column<'py>(array: &Bound<'py, PyAny>) -> PyResult<Input<'py>> {
    match Input::of(array)? {
        Input::Arrow(data) if data.hasattr(intern!(data.py(), "columns"))? => {
            Err(PyTypeError::new_err("tables are merged by their columns; name them with by="))
        }
        Input::Gpu(_) => Err(not_on_gpu()),
        input => Ok(input),
    }
}

/// Columns of one type, one after the other.
pub fn concatenated<'py>(columns: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    let (mut arrays, mut series, mut imported) = (Vec::new(), Vec::new(), Vec::new());
    for each in columns {
        match column(each)? {
            Input::Array(array) => arrays.push(array),
            Input::Series(column) => series.push(column),
            Input::Arrow(data) => imported.push(arrow::imported(&data)?),
            Input::Gpu(_) => return Err(not_on_gpu()),
        }
    }
    if arrays.len() == columns.len() {
        return concatenated_arrays(&columns[0], &arrays);
    }
    if series.len() == columns.len() {
        return concatenated_series(series);
    }
    if imported.len() < columns.len() {
        return Err(PyTypeError::new_err(
            "arrays of different libraries cannot be merged; convert them to one",
        ));
    }
    let field = imported[0].field.clone();
    if let Some(other) = imported.iter().find(|other| other.field.data_type() != field.data_type()) {
        return Err(of_types(&field.data_type().to_string(), &other.field.data_type().to_string()));
    }
    let chunks: Vec<ArrayRef> = imported.into_iter().map(|imported| imported.values).collect();
    arrow::joined(&columns[0], &chunks, field)
}

fn concatenated_arrays<'py>(
    argument: &Bound<'py, PyAny>,
    arrays: &[Array<'py>],
) -> PyResult<Bound<'py, PyAny>> {
    let (py, dtype) = (argument.py(), arrays[0].dtype());
    for other in arrays {
        if !kind::is_same(&other.dtype(), &dtype)? {
            return Err(of_types(&dtype, &other.dtype()));
        }
    }
    let mut joined = array::numpy(py)?.call_method1(intern!(py, "concatenate"), (arrays,))?;
    if bfloat16::is_of_torch(&dtype)? {
        // NumPy has dropped the note that integers are the bits of others.
        joined = joined.call_method1(intern!(py, "view"), (dtype,))?;
    }
    tensor::returned(argument, joined.cast_into()?)
}

fn concatenated_series(series: Vec<Bound<'_, PyAny>>) -> PyResult<Bound<'_, PyAny>> {
    let first = &series[0];
    let (py, package) = (first.py(), library(first)?);
    let (class, dtype) = (first.get_type(), first.getattr(intern!(py, "dtype"))?);
    for other in &series {
        let of_other = other.getattr(intern!(py, "dtype"))?;
        if !of_other.eq(&dtype)? {
            return Err(of_types(&dtype, &of_other));
        }
        if library(other)? != package {
            return Err(PyTypeError::new_err(
                "arrays of different libraries cannot be merged; convert them to one",
            ));
        }
    }
    if package == "pandas" && first.hasattr(intern!(py, "_concat_same_type"))? {
        // Extension arrays. The name is part of the interface for them, which pandas documents.
        return class.call_method1(intern!(py, "_concat_same_type"), (series,));
    }
    if package == "pandas" && !first.hasattr(intern!(py, "iloc"))? {
        return first.call_method1(intern!(py, "append"), (series[1..].to_vec(),));
    }
    py.import(package)?.call_method1(intern!(py, "concat"), (series,))
}

fn of_types(one: &impl Display, other: &impl Display) -> PyErr {
    PyTypeError::new_err(format!("arrays of {one} and {other} cannot be merged; convert them to one type"))
}
