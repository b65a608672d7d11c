//! Series, indices and extension arrays of pandas as keys.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array};
use numpy::{PyArrayDescr, PyArrayDescrMethods, PyReadonlyArray1};
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;

use crate::array;
use crate::keys::Keys;

/// Whether an object of pandas is a column: a series, an index or an extension array.
pub fn is_column(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = object.py();
    Ok(object.hasattr(intern!(py, "dtype"))? && object.hasattr(intern!(py, "__len__"))?)
}

/// The keys of a column. NumPy would make floats of nullable integers, so only columns over NumPy arrays become arrays.
pub fn keys<'py>(column: &Bound<'py, PyAny>) -> PyResult<Keys<'py>> {
    let py = column.py();
    let dtype = column.getattr(intern!(py, "dtype"))?;
    if dtype.is_instance_of::<PyArrayDescr>() {
        return of_numpy(column, dtype);
    }
    match dtype.get_type().name()?.to_str()? {
        "NumpyEADtype" => of_numpy(column, dtype.getattr(intern!(py, "numpy_dtype"))?),
        "SparseDtype" => Err(PyTypeError::new_err(format!(
            "Sortie does not sort sparse data; convert it with astype({:?})",
            dtype.getattr(intern!(py, "subtype"))?.str()?.to_string()
        ))),
        "CategoricalDtype" => Ok(Keys::Arrow(categories(column)?, 0)),
        _ => Keys::exported(&exporting(column, &dtype)?),
    }
}

fn of_numpy<'py>(column: &Bound<'py, PyAny>, dtype: Bound<'py, PyAny>) -> PyResult<Keys<'py>> {
    if dtype.cast::<PyArrayDescr>()?.has_object() {
        let advice = match column.get_type().name()?.to_str()? {
            "MultiIndex" => "sort index.to_frame() by its columns with sortie.sort_by",
            _ => "convert the column with astype(\"str\"), or to the type of its values",
        };
        return Err(PyTypeError::new_err(format!("Sortie does not sort Python objects; {advice}")));
    }
    array::converted(&column.call_method0(intern!(column.py(), "to_numpy"))?).map(Keys::Array)
}

/// The numbers of categories, by which pandas sorts them whether or not they have an order.
fn categories(column: &Bound<'_, PyAny>) -> PyResult<ArrayRef> {
    let py = column.py();
    let column = match column.hasattr(intern!(py, "cat"))? {
        true => column.getattr(intern!(py, "cat"))?,
        false => column.clone(),
    };
    let codes = column.getattr(intern!(py, "codes"))?;
    let codes = array::numpy(py)?
        .call_method1(intern!(py, "ascontiguousarray"), (codes, numpy::dtype::<i32>(py)))?
        .extract::<PyReadonlyArray1<'_, i32>>()?;
    Ok(Arc::new(codes.as_slice()?.iter().map(|&code| (code >= 0).then_some(code)).collect::<Int32Array>()))
}

/// The column as an object that exports Arrow data of its own type.
fn exporting<'py>(column: &Bound<'py, PyAny>, dtype: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = column.py();
    let values = match column.hasattr(intern!(py, "array"))? {
        true => column.getattr(intern!(py, "array"))?,
        false => column.clone(),
    };
    let exports = dtype.get_type().name()?.to_str()? == "DatetimeTZDtype"
        || values.hasattr(intern!(py, "__arrow_array__"))?;
    if !exports {
        return Err(PyTypeError::new_err(format!(
            "Sortie does not know the type {} of pandas; convert the column with astype, to \"str\" for text",
            dtype.str()?
        )));
    }
    if column.hasattr(intern!(py, "__arrow_c_stream__"))? {
        return Ok(column.clone());
    }
    py.import(intern!(py, "pandas"))?.call_method1(intern!(py, "Series"), (values,))
}
