//! `sort_by`: tables of NumPy, Arrow, pandas and polars, by several columns.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, UInt32Array};
use arrow_schema::Schema;
use arrow_select::concat::concat_batches;
use arrow_select::take::take;
use numpy::{PyArrayDescrMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use pyo3_arrow::input::AnyRecordBatch;
use pyo3_arrow::{PyRecordBatch, PyTable};
use rayon::prelude::*;

use crate::array;
use crate::buffer;
use crate::call::run;
use crate::columns;
use crate::errors::{Failure, of_arrow};
use crate::indices::Indices;
use crate::input::{Keys, library, picked};
use crate::options::{Each, Given, Options, no_position};

/// Returns a table whose rows are sorted by columns, the first of which is the most significant.
///
/// table
///     A DataFrame of pandas or polars, a table of pyarrow, anything else with the Arrow PyCapsule interface, a structured
///     NumPy array, or a dictionary of columns. The result is of the same kind; other Arrow data becomes an object with the
///     interface.
/// by
///     The name of a column, or a list of names.
/// descending
///     Whether the largest comes first, for all columns or for each.
/// nulls
///     ``"last"`` or ``"first"``, in both directions, for all columns or for each. NaNs go where ``nans`` says.
///
/// Stable, unless ``stable=False``. Takes the other arguments of :func:`sort`, and raises as it does; ``KeyError`` for a column
/// that does not exist. At most 2**32 - 1 rows.
///
/// >>> import numpy as np, sortie
/// >>> table = {"city": np.array(["Bonn", "Bern", "Bern"]), "age": np.array([3, 4, 5])}
/// >>> sortie.sort_by(table, ["city", "age"], descending=[False, True])
/// {'city': array(['Bern', 'Bern', 'Bonn'], dtype='<U4'), 'age': array([5, 4, 3])}
#[pyfunction]
#[pyo3(
    signature = (table, by, *, descending=Each::All(false), nulls=Each::All("last".to_owned()), stable=None, nans="last",
        order="numpy", threads=None, memory_limit=None, engine="auto"),
    text_signature = "(table, by, *, descending=False, nulls='last', stable=None, nans='last', order='numpy', threads=None, \
        memory_limit=None, engine='auto')"
)]
#[allow(clippy::too_many_arguments)]
pub fn sort_by<'py>(
    table: &Bound<'py, PyAny>,
    by: Each<String>,
    descending: Each<bool>,
    nulls: Each<String>,
    stable: Option<bool>,
    nans: &str,
    order: &str,
    threads: Option<usize>,
    memory_limit: Option<u64>,
    engine: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Given { descending: false, stable, nans, threads, memory_limit, engine }.ordered(order)?;
    let by = match by {
        Each::All(name) => vec![name],
        Each::Each(names) if names.is_empty() => {
            return Err(PyValueError::new_err("by names no column; name at least one"));
        }
        Each::Each(names) => names,
    };
    let directions = descending.of("descending", by.len())?;
    let nulls_first = nulls.of("nulls", by.len())?.into_iter().map(|place| match place.as_str() {
        "last" => Ok(false),
        "first" => Ok(true),
        other => Err(no_position("nulls", other)),
    });
    let nulls_first = nulls_first.collect::<PyResult<Vec<_>>>()?;
    let by: Vec<By> = by
        .into_iter()
        .zip(directions)
        .zip(nulls_first)
        .map(|((name, descending), nulls_first)| By {
            name,
            options: Options { descending, ..options.clone() },
            nulls_first,
        })
        .collect();
    sorted(table, &by, &options)
}

/// A column to sort by.
struct By {
    name: String,
    options: Options,
    nulls_first: bool,
}

fn sorted<'py>(table: &Bound<'py, PyAny>, by: &[By], options: &Options) -> PyResult<Bound<'py, PyAny>> {
    let py = table.py();
    if let Ok(columns) = table.cast::<PyDict>() {
        return of_columns(columns, by, options);
    }
    if let Some(array) = array::exactly(table)? {
        if !array.dtype().has_fields() {
            return Err(PyTypeError::new_err(format!(
                "an array of {} has no columns; give a structured array, or use sortie.sort or lexsort",
                array.dtype()
            )));
        }
        let names = array.dtype().names().unwrap_or_default();
        let order = order(py, by, options, |name| {
            if names.iter().any(|known| known == name) {
                array.get_item(name)
            } else {
                Err(unknown(name, &names))
            }
        })?;
        return array.call_method1(intern!(py, "take"), (Indices::of(py, None)?.written(py, &order)?,));
    }
    match library(table)?.as_str() {
        "pandas" | "polars" => {
            let names: Vec<String> = strings(&table.getattr(intern!(py, "columns"))?)?;
            let order = order(py, by, options, |name| {
                if names.iter().any(|known| known == name) {
                    table.get_item(name)
                } else {
                    Err(unknown(name, &names))
                }
            })?;
            picked(table, &Indices::of_library(table)?.written(py, &order)?)
        }
        _ => of_arrow_data(table, by, options),
    }
}

/// Sorts a dictionary of columns.
fn of_columns<'py>(
    columns: &Bound<'py, PyDict>,
    by: &[By],
    options: &Options,
) -> PyResult<Bound<'py, PyAny>> {
    let py = columns.py();
    let order = order(py, by, options, |name| match columns.get_item(name)? {
        Some(column) => Ok(column),
        None => Err(unknown(name, &strings(columns.as_any())?)),
    })?;
    let indices = Indices::of(py, None)?.written(py, &order)?;
    let sorted = PyDict::new(py);
    for (name, column) in columns {
        let rows = column.len()?;
        if rows != order.len() {
            return Err(PyValueError::new_err(format!(
                "the column {name} has {rows} rows where the others have {}; give all the same length",
                order.len()
            )));
        }
        sorted.set_item(name, rearranged(&column, &indices, &order)?)?;
    }
    Ok(sorted.into_any())
}

/// The rows of a column that the indices name.
fn rearranged<'py>(
    column: &Bound<'py, PyAny>,
    indices: &array::Array<'py>,
    order: &UInt32Array,
) -> PyResult<Bound<'py, PyAny>> {
    use crate::input::Input;
    match Input::of(column)? {
        Input::Array(array) => array.call_method1(intern!(column.py(), "take"), (indices, 0)),
        Input::Gpu(_) => Err(crate::input::not_on_gpu()),
        Input::Series(series) => picked(&series, indices),
        Input::Arrow(data) => {
            let (values, field) = crate::arrow::imported(&data)?;
            crate::arrow::returned(&data, take(&values, order, None).map_err(of_arrow)?, field)
        }
    }
}

/// Sorts a table of pyarrow or of others.
fn of_arrow_data<'py>(
    table: &Bound<'py, PyAny>,
    by: &[By],
    options: &Options,
) -> PyResult<Bound<'py, PyAny>> {
    let py = table.py();
    let data: AnyRecordBatch = table.extract().map_err(|_| {
        let name = table.get_type().name().map(|name| name.to_string()).unwrap_or_default();
        PyTypeError::new_err(format!(
            "{name} is no table: give a DataFrame, an Arrow table, a structured array or a dictionary of columns"
        ))
    })?;
    let one = matches!(data, AnyRecordBatch::RecordBatch(_));
    let (batches, schema) = data.into_table()?.into_inner();
    let batch = match &batches[..] {
        [one] => one.clone(),
        many => py.detach(|| concat_batches(&schema, many)).map_err(of_arrow)?,
    };
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let mut columns = Vec::new();
    for by in by {
        let at = names.iter().position(|name| *name == by.name).ok_or_else(|| unknown(&by.name, &names))?;
        columns.extend(Keys::Arrow(batch.column(at).clone()).columns(py, &by.options, by.nulls_first)?);
    }
    let rows = batch.num_rows();
    let sorted = run(py, options, rows, || {
        let (order, report) = columns::indices(&columns, rows, options, 0)?;
        Ok((taken(&batch, &order)?, report))
    })?;
    let result = if one {
        Bound::new(py, PyRecordBatch::new(sorted))?.into_any()
    } else {
        Bound::new(py, PyTable::try_new(vec![sorted], schema)?)?.into_any()
    };
    if library(table)? != "pyarrow" {
        return Ok(result);
    }
    let make = if one { intern!(py, "record_batch") } else { intern!(py, "table") };
    py.import(intern!(py, "pyarrow"))?.call_method1(make, (result,))
}

/// The rows of a batch that the indices name, each column by a thread of its own.
fn taken(batch: &RecordBatch, order: &UInt32Array) -> Result<RecordBatch, Failure> {
    let columns = batch.columns();
    let one = |column: &ArrayRef| take(column, order, None);
    let taken: Vec<ArrayRef> = if buffer::in_pool() {
        columns.par_iter().map(one).collect::<Result<_, _>>()?
    } else {
        columns.iter().map(one).collect::<Result<_, _>>()?
    };
    let schema: Arc<Schema> = batch.schema();
    Ok(RecordBatch::try_new(schema, taken)?)
}

/// The indices that sort rows by columns, which `column` finds by their names.
fn order<'py>(
    py: Python<'py>,
    by: &[By],
    options: &Options,
    column: impl Fn(&str) -> PyResult<Bound<'py, PyAny>>,
) -> PyResult<UInt32Array> {
    let (mut columns, mut rows) = (Vec::new(), None);
    for by in by {
        let keys = Keys::of(&column(&by.name)?)?;
        let expected = *rows.get_or_insert(keys.len());
        if keys.len() != expected {
            return Err(PyValueError::new_err(format!(
                "the column {:?} has {} rows where the first has {expected}; give all the same length",
                by.name,
                keys.len()
            )));
        }
        columns.extend(keys.columns(py, &by.options, by.nulls_first)?);
    }
    let rows = rows.unwrap_or(0);
    run(py, options, rows, || columns::indices(&columns, rows, options, 0))
}

fn unknown(name: &str, names: &[String]) -> PyErr {
    PyKeyError::new_err(format!("there is no column {name:?}; there are {}", names.join(", ")))
}

/// The strings among the items of an object.
fn strings(object: &Bound<'_, PyAny>) -> PyResult<Vec<String>> {
    let items = object.try_iter()?.collect::<PyResult<Vec<_>>>()?;
    items
        .iter()
        .filter_map(|item| item.cast::<PyString>().ok())
        .map(|text| Ok(text.to_str()?.to_owned()))
        .collect()
}
