//! Arrow data, through the PyCapsule interface.

use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, new_empty_array};
use arrow_schema::{DataType, FieldRef};
use arrow_select::concat::concat;
use arrow_select::take::take;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3_arrow::PyArray;
use pyo3_arrow::input::AnyArray;
use sortie::Report;
use sortie::dynamic::Dtype;
use sortie_arrow::{ArrowSorter, SortColumn, SortOptions};

use crate::buffer::Buffer;
use crate::columns;
use crate::errors::{Failure, of_arrow};
use crate::input::library;
use crate::kind::Kind;
use crate::numbers::Numbers;
use crate::options::{Options, Ordering};

/// The array that an object exports, in one piece, and its field.
pub fn imported(object: &Bound<'_, PyAny>) -> PyResult<(ArrayRef, FieldRef)> {
    let (chunks, field) = object.extract::<AnyArray>()?.into_chunked_array()?.into_inner();
    let array = match &chunks[..] {
        [] => new_empty_array(field.data_type()),
        [one] => one.clone(),
        many => {
            let many: Vec<&dyn Array> = many.iter().map(AsRef::as_ref).collect();
            object.py().detach(|| concat(&many)).map_err(of_arrow)?
        }
    };
    Ok((array, field))
}

/// An array as a column to sort by. Floats become codes, unless they are to come in Arrow's order.
pub fn column(values: ArrayRef, options: &Options, nulls_first: bool) -> Result<SortColumn, Failure> {
    let dtype = match values.data_type() {
        DataType::Float16 => Dtype::F16,
        DataType::Float32 => Dtype::F32,
        DataType::Float64 => Dtype::F64,
        _ => {
            let options = Some(SortOptions { descending: options.descending, nulls_first });
            return Ok(SortColumn { values, options });
        }
    };
    let bytes = match dtype {
        Dtype::F16 => values.as_primitive::<Float16Type>().values().inner().as_slice(),
        Dtype::F32 => values.as_primitive::<Float32Type>().values().inner().as_slice(),
        _ => values.as_primitive::<Float64Type>().values().inner().as_slice(),
    };
    let mut keys = Buffer::new(bytes.len())?;
    keys.bytes_mut().copy_from_slice(bytes);
    let numbers = Numbers::of(Kind::Number(dtype), options).expect("floats are numbers");
    let values = columns::coded(&numbers, keys.bytes_mut(), dtype.width(), values.nulls().cloned())?;
    Ok(SortColumn { values, options: Some(SortOptions { descending: false, nulls_first }) })
}

/// A sorted array. Nulls go last.
pub fn sorted(values: &ArrayRef, options: &Options) -> Result<(ArrayRef, Report), Failure> {
    if values.data_type().is_floating() && options.ordering != Ordering::Arrow {
        let column = column(values.clone(), options, false)?;
        let (indices, report) = columns::indices(&[column], values.len(), options, 0)?;
        return Ok((take(values, &indices, None)?, report));
    }
    let direction = SortOptions { descending: options.descending, nulls_first: false };
    Ok((ArrowSorter::new(options.builder(0)?)?.sort(values, Some(direction))?, Report::default()))
}

/// The array for the caller: of the library that its argument came from, if that is pyarrow.
pub fn returned<'py>(
    argument: &Bound<'py, PyAny>,
    array: ArrayRef,
    field: FieldRef,
) -> PyResult<Bound<'py, PyAny>> {
    let py = argument.py();
    let array = Bound::new(py, PyArray::try_new(array, field).map_err(of_arrow)?)?.into_any();
    if library(argument)? != "pyarrow" {
        return Ok(array);
    }
    let pyarrow = py.import(intern!(py, "pyarrow"))?;
    let array = pyarrow.call_method1(intern!(py, "array"), (array,))?;
    if argument.get_type().name()? == "ChunkedArray" {
        return pyarrow.call_method1(intern!(py, "chunked_array"), ([array],));
    }
    Ok(array)
}
