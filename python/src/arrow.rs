//! Arrow data, through the PyCapsule interface.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{AnyDictionaryArray, Array, ArrayRef, make_array};
use arrow_schema::{DataType, Field, FieldRef};
use arrow_select::take::take;
use pyo3::exceptions::{PyException, PyMemoryError, PyOSError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3_arrow::input::AnyArray;
use pyo3_arrow::{PyArray, PyChunkedArray};
use sortie::Report;
use sortie::dynamic::Dtype;
use sortie_arrow::{ArrowSorter, SortColumn, SortOptions, chunks, nested};

use crate::buffer::Buffer;
use crate::call::{caught, caught_attached};
use crate::columns::{self, Columns};
use crate::errors::{Failure, of_arrow};
use crate::kind::Kind;
use crate::library::{has, library};
use crate::numbers::Numbers;
use crate::options::{Options, Ordering};

/// What an object exports.
pub struct Imported {
    /// The array in one piece. If its chunks are too long for offsets of 32 bits, it has others than its field.
    pub values: ArrayRef,
    pub field: FieldRef,
    /// What to sort by, if not by the values: the numbers of categories that have an order.
    pub categories: Option<ArrayRef>,
    /// Bytes that were allocated.
    pub held: usize,
}

impl Imported {
    /// What to sort by.
    pub fn keys(&self) -> &ArrayRef {
        self.categories.as_ref().unwrap_or(&self.values)
    }
}

/// Reads what an object exports.
pub fn imported(object: &Bound<'_, PyAny>) -> PyResult<Imported> {
    let py = object.py();
    // `AnyArray` would first try to read a stream as something else.
    let is_stream =
        !has(object, intern!(py, "__arrow_c_array__"))? && has(object, intern!(py, "__arrow_c_stream__"))?;
    let read = caught_attached(|| match is_stream {
        true => object.extract::<PyChunkedArray>(),
        false => Ok(object.extract::<AnyArray>()?.into_chunked_array()?),
    });
    let (chunks, field) = read.map_err(|error| unreadable(object, error))?.into_inner();
    let categories = categories(py, &chunks, &field)?;
    let values = caught(py, || Ok(chunks::join(&chunks, field.data_type())?))?;
    let held = if chunks.len() > 1 { values.get_buffer_memory_size() } else { 0 };
    Ok(Imported { values, field, categories, held })
}

/// Chunks as an array for the caller, see [`returned`].
pub fn joined<'py>(
    argument: &Bound<'py, PyAny>,
    chunks: &[ArrayRef],
    field: FieldRef,
) -> PyResult<Bound<'py, PyAny>> {
    let values = caught(argument.py(), || Ok(chunks::join(chunks, field.data_type())?))?;
    returned(argument, values, field)
}

/// The error for data that Arrow cannot read. Errors that have nothing to do with the type stay what they are.
fn unreadable(object: &Bound<'_, PyAny>, error: PyErr) -> PyErr {
    let py = object.py();
    if !error.is_instance_of::<PyException>(py)
        || error.is_instance_of::<PyMemoryError>(py)
        || error.is_instance_of::<PyOSError>(py)
    {
        return error;
    }
    let name = object.get_type().name().map(|name| name.to_string()).unwrap_or_default();
    let dtype =
        object.getattr(intern!(py, "dtype")).and_then(|dtype| Ok(format!(" of type {}", dtype.str()?)));
    let reason = error.value(py).to_string();
    let refused = PyTypeError::new_err(format!(
        "Sortie cannot read this {name}{} as Arrow data; convert it to a type of Arrow or NumPy: {reason}",
        dtype.unwrap_or_default(),
    ));
    refused.set_cause(py, Some(error));
    refused
}

/// The numbers of the categories of an array whose categories have an order.
pub fn categories(py: Python<'_>, chunks: &[ArrayRef], field: &Field) -> PyResult<Option<ArrayRef>> {
    let (DataType::Dictionary(key, _), Some(true)) = (field.data_type(), field.dict_is_ordered()) else {
        return Ok(None);
    };
    let dictionaries: Vec<_> = chunks.iter().map(|chunk| chunk.as_any_dictionary()).collect();
    let [first, others @ ..] = &dictionaries[..] else { return Ok(None) };
    let same = |other: &&dyn AnyDictionaryArray| {
        Arc::ptr_eq(other.values(), first.values()) || other.values().as_ref() == first.values().as_ref()
    };
    if !others.iter().all(same) {
        return Err(PyValueError::new_err(
            "the chunks of an ordered dictionary have different categories; give all the same, as unify_dictionaries does in \
             pyarrow",
        ));
    }
    let keys: Vec<ArrayRef> = dictionaries.iter().map(|chunk| make_array(chunk.keys().to_data())).collect();
    caught(py, || Ok(chunks::join(&keys, key)?)).map(Some)
}

/// An error for types that have no order.
pub fn check(dtype: &DataType) -> PyResult<()> {
    match dtype {
        DataType::Union(_, _) => Err(PyTypeError::new_err(
            "Sortie does not sort unions, whose types have no common order; convert them to one type",
        )),
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => check(field.data_type()),
        DataType::Struct(fields) => fields.iter().try_for_each(|field| check(field.data_type())),
        DataType::Dictionary(_, of) => check(of),
        DataType::RunEndEncoded(_, field) => check(field.data_type()),
        _ => Ok(()),
    }
}

/// Adds an array as a column to sort by. Floats become codes, also those within encodings and nested types. For the array itself,
/// the call holds `held` bytes.
pub fn push(values: ArrayRef, options: &Options, held: usize, columns: &mut Columns) -> Result<(), Failure> {
    let Options { descending, nulls_first, .. } = *options;
    if let Some(values) = coded(&values, options, held, false)? {
        columns.push(SortColumn { values, options: Some(SortOptions { descending: false, nulls_first }) });
        columns.hold(held);
        return Ok(());
    }
    let mut made = 0;
    let values = if has_coded_parts(values.data_type(), options) {
        let mut code = |part: &ArrayRef| {
            // A descending sort reverses the order of what is within.
            let codes = coded(part, options, held + made, descending)?;
            made += codes.as_ref().map_or(0, |codes| codes.get_buffer_memory_size());
            Ok::<_, Failure>(codes)
        };
        nested::replace(&values, &mut code)?.unwrap_or(values)
    } else {
        values
    };
    let options = Some(SortOptions { descending, nulls_first });
    columns.push_given(SortColumn { values, options }, held + made);
    Ok(())
}

/// Whether floats within this type are compared otherwise than Arrow compares them.
fn has_coded_parts(dtype: &DataType, options: &Options) -> bool {
    fn has_floats(dtype: &DataType) -> bool {
        match dtype {
            DataType::List(field)
            | DataType::LargeList(field)
            | DataType::ListView(field)
            | DataType::LargeListView(field)
            | DataType::FixedSizeList(field, _)
            | DataType::Map(field, _)
            | DataType::RunEndEncoded(_, field) => has_floats(field.data_type()),
            DataType::Struct(fields) => fields.iter().any(|field| has_floats(field.data_type())),
            DataType::Dictionary(_, of) => has_floats(of),
            other => other.is_floating(),
        }
    }
    options.ordering != Ordering::Arrow && has_floats(dtype)
}

/// The codes of an array of floats, which ascend in the order that the options say, or descend in it if they are `reversed`. `None`
/// for other arrays. The call holds `held` bytes already.
fn coded(
    values: &ArrayRef,
    options: &Options,
    held: usize,
    reversed: bool,
) -> Result<Option<ArrayRef>, Failure> {
    let dtype = match values.data_type() {
        DataType::Float16 => Dtype::F16,
        DataType::Float32 => Dtype::F32,
        DataType::Float64 => Dtype::F64,
        _ => return Ok(None),
    };
    let bytes = match dtype {
        Dtype::F16 => values.as_primitive::<Float16Type>().values().inner().as_slice(),
        Dtype::F32 => values.as_primitive::<Float32Type>().values().inner().as_slice(),
        _ => values.as_primitive::<Float64Type>().values().inner().as_slice(),
    };
    options.left(held + 2 * bytes.len())?;
    let mut keys = Buffer::new(bytes.len())?;
    keys.bytes_mut().copy_from_slice(bytes);
    let numbers = Numbers::of(Kind::Number(dtype), options).expect("floats are numbers");
    columns::coded(&numbers, keys.bytes_mut(), dtype.width(), values.nulls().cloned(), reversed).map(Some)
}

/// A sorted array.
pub fn sorted(data: &Imported, options: &Options) -> Result<(ArrayRef, Report), Failure> {
    let values = &data.values;
    if data.categories.is_some() || has_coded_parts(values.data_type(), options) {
        return first(data, values.len(), options);
    }
    let Options { descending, nulls_first, .. } = *options;
    let direction = Some(SortOptions { descending, nulls_first });
    let sorter = ArrowSorter::new(options.builder(0)?)?.holding(data.held);
    Ok(sorter.sort(values, direction)?)
}

/// The first `k` elements of a sorted array.
pub fn first(data: &Imported, k: usize, options: &Options) -> Result<(ArrayRef, Report), Failure> {
    let (values, mut columns) = (&data.values, Columns::default());
    push(data.keys().clone(), options, data.held, &mut columns)?;
    let (indices, report) = columns::indices(&columns, values.len(), options, 0)?;
    Ok((take(values, &indices.slice(0, k), None)?, report))
}

/// The array for the caller: of the library that its argument came from, if that is pyarrow. It is in several chunks if offsets of
/// 32 bits do not suffice.
pub fn returned<'py>(
    argument: &Bound<'py, PyAny>,
    array: ArrayRef,
    field: FieldRef,
) -> PyResult<Bound<'py, PyAny>> {
    let py = argument.py();
    let pieces = caught(py, || {
        let pieces = chunks::split(&[array], &[field.data_type().clone()])?;
        Ok(pieces.into_iter().flatten().collect::<Vec<ArrayRef>>())
    })?;
    let is_pyarrow = library(argument)? == "pyarrow";
    let pyarrow = || py.import(intern!(py, "pyarrow"));
    if let [array] = &pieces[..] {
        let array = PyArray::try_new(array.clone(), field).map_err(of_arrow)?;
        let array = Bound::new(py, array)?.into_any();
        if !is_pyarrow {
            return Ok(array);
        }
        let array = pyarrow()?.call_method1(intern!(py, "array"), (array,))?;
        if argument.get_type().name()? == "ChunkedArray" {
            return pyarrow()?.call_method1(intern!(py, "chunked_array"), ([array],));
        }
        return Ok(array);
    }
    let array = Bound::new(py, PyChunkedArray::try_new(pieces, field)?)?.into_any();
    if is_pyarrow { pyarrow()?.call_method1(intern!(py, "chunked_array"), (array,)) } else { Ok(array) }
}
