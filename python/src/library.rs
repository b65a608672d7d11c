//! Which Python package an object belongs to, and which attributes it has.

use pyo3::prelude::*;
use pyo3::types::{PyString, PyType, PyTypeMethods};

/// The packages whose objects are made anew from sorted data. Types that derive from theirs are theirs, too.
const LIBRARIES: [&str; 4] = ["pandas", "polars", "pyarrow", "torch"];

/// The package that an object's type belongs to.
pub fn library(object: &Bound<'_, PyAny>) -> PyResult<String> {
    let own = package(&object.get_type())?;
    if !LIBRARIES.contains(&own.as_str()) {
        for base in object.get_type().mro() {
            let base = package(base.cast::<PyType>()?)?;
            if LIBRARIES.contains(&base.as_str()) {
                return Ok(base);
            }
        }
    }
    Ok(own)
}

fn package(class: &Bound<'_, PyType>) -> PyResult<String> {
    let module = class.module()?;
    Ok(module.to_str()?.split('.').next().unwrap_or_default().to_owned())
}

/// Whether an object has an attribute. Those of pandas and polars look so long for one that they lack that their types are asked.
pub fn has(object: &Bound<'_, PyAny>, name: &Bound<'_, PyString>) -> PyResult<bool> {
    match library(object)?.as_str() {
        "pandas" | "polars" => object.get_type().hasattr(name),
        _ => object.hasattr(name),
    }
}
