//! `sort_by`: tables of NumPy, Arrow, pandas and polars, by several columns.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, UInt32Array};
use arrow_schema::{Schema, SchemaRef};
use arrow_select::concat::concat_batches;
use arrow_select::take::take;
use numpy::{PyArrayDescrMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::types::{PyBytes, PyDict, PySlice, PyString, PyTuple};
use pyo3_arrow::input::AnyRecordBatch;
use pyo3_arrow::{PyRecordBatch, PyTable};
use rayon::prelude::*;

use crate::array::{self, Array};
use crate::arrow;
use crate::buffer;
use crate::call::run;
use crate::columns::{self, Columns};
use crate::errors::{Failure, of_arrow};
use crate::indices::Indices;
use crate::input::{Input, Keys, flagged, is_lazy, lazy, library, not_on_gpu, picked};
use crate::options::{Count, Each, Given, Options, no_position};
use crate::tensor;

/// Returns a table whose rows are sorted by columns, the first of which is the most significant.
///
/// table
///     A DataFrame of pandas or polars, a table of pyarrow, anything else with the Arrow PyCapsule interface, a structured
///     NumPy array, or a dictionary of columns. The result is of the same kind; other Arrow data becomes an object with the
///     interface.
/// by
///     The name of a column, or a list of names. Names need not be strings; those of these columns must differ.
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
    by: &Bound<'py, PyAny>,
    descending: Each<bool>,
    nulls: Each<String>,
    stable: Option<bool>,
    nans: &str,
    order: &str,
    threads: Option<Count>,
    memory_limit: Option<Count>,
    engine: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Given { descending: false, stable, nans, threads, memory_limit, engine }.ordered(order)?;
    let table = Table::of(table)?;
    let by = table.named(by)?;
    if by.is_empty() {
        return Err(PyValueError::new_err("by names no column; name at least one"));
    }
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
        .map(|((column, descending), nulls_first)| By {
            column,
            options: Options { descending, ..options.clone() },
            nulls_first,
        })
        .collect();
    table.sorted(&by, &options)
}

/// A column to sort by.
struct By {
    /// Its position in the table.
    column: usize,
    options: Options,
    nulls_first: bool,
}

/// A table, and the names of its columns.
struct Table<'py> {
    kind: Kind<'py>,
    names: Vec<Bound<'py, PyAny>>,
}

enum Kind<'py> {
    Dictionary(Bound<'py, PyDict>),
    Structured(Array<'py>),
    /// A frame of pandas or polars.
    Frame(Bound<'py, PyAny>),
    Arrow(Bound<'py, PyAny>, Batches),
}

/// Arrow data, as it was exported.
struct Batches {
    batches: Vec<RecordBatch>,
    schema: SchemaRef,
    /// Whether it was one batch and not a table.
    one: bool,
}

impl<'py> Table<'py> {
    fn of(table: &Bound<'py, PyAny>) -> PyResult<Table<'py>> {
        let py = table.py();
        if let Ok(columns) = table.cast::<PyDict>() {
            let names = columns.keys().iter().collect();
            return Ok(Table { kind: Kind::Dictionary(columns.clone()), names });
        }
        let named = |names: Vec<String>| -> Vec<Bound<'py, PyAny>> {
            names.iter().map(|name| PyString::new(py, name).into_any()).collect()
        };
        if let Some(array) = array::exactly(table)? {
            if !array.dtype().has_fields() {
                return Err(PyTypeError::new_err(format!(
                    "an array of {} has no columns; give a structured array, or use sortie.sort or lexsort",
                    array.dtype()
                )));
            }
            let names = named(array.dtype().names().unwrap_or_default());
            return Ok(Table { kind: Kind::Structured(array.clone()), names });
        }
        if is_lazy(table)? {
            return Err(lazy());
        }
        let columns = intern!(py, "columns");
        if matches!(library(table)?.as_str(), "pandas" | "polars") && table.hasattr(columns)? {
            let names = table.getattr(columns)?.try_iter()?.collect::<PyResult<_>>()?;
            return Ok(Table { kind: Kind::Frame(table.clone()), names });
        }
        let batches = Batches::of(table)?;
        let names = named(batches.schema.fields().iter().map(|field| field.name().clone()).collect());
        Ok(Table { kind: Kind::Arrow(table.clone(), batches), names })
    }

    /// The positions of the columns that are named. A tuple is one name, if there is such a column.
    fn named(&self, by: &Bound<'py, PyAny>) -> PyResult<Vec<usize>> {
        let is_one = by.is_instance_of::<PyString>()
            || by.is_instance_of::<PyBytes>()
            || !by.hasattr(intern!(by.py(), "__iter__"))?
            || (by.is_instance_of::<PyTuple>() && self.count(by)? > 0);
        if is_one {
            return Ok(vec![self.position(by)?]);
        }
        by.try_iter()?.map(|name| self.position(&name?)).collect()
    }

    fn count(&self, name: &Bound<'py, PyAny>) -> PyResult<usize> {
        let mut count = 0;
        for known in &self.names {
            count += usize::from(is_name(known, name)?);
        }
        Ok(count)
    }

    fn position(&self, name: &Bound<'py, PyAny>) -> PyResult<usize> {
        match self.count(name)? {
            0 => {
                let names = self
                    .names
                    .iter()
                    .map(|name| Ok(name.str()?.to_string()))
                    .collect::<PyResult<Vec<_>>>()?;
                let (name, names) = (name.repr()?, names.join(", "));
                Err(PyKeyError::new_err(format!("the table has no column {name}; its columns are {names}")))
            }
            1 => {
                for (i, known) in self.names.iter().enumerate() {
                    if is_name(known, name)? {
                        return Ok(i);
                    }
                }
                unreachable!("one name is equal")
            }
            many => Err(PyValueError::new_err(format!(
                "the table has {many} columns with the name {}; rename them",
                name.repr()?
            ))),
        }
    }

    fn sorted(&self, by: &[By], options: &Options) -> PyResult<Bound<'py, PyAny>> {
        match &self.kind {
            Kind::Dictionary(columns) => {
                let values: Vec<_> = columns.values().iter().collect();
                let order = self.order(columns.py(), by, options, |column| Ok(values[column].clone()))?;
                of_columns(columns, &order)
            }
            Kind::Structured(array) => {
                let py = array.py();
                let order = self.order(py, by, options, |column| array.get_item(&self.names[column]))?;
                let indices = Indices::of(py, None)?.written(py, &order)?;
                array.call_method1(intern!(py, "take"), (indices,))
            }
            Kind::Frame(frame) => {
                let py = frame.py();
                let is_pandas = library(frame)? == "pandas";
                let order = self.order(py, by, options, |column| match is_pandas {
                    true => self.series(frame, column),
                    false => frame.call_method1(intern!(py, "to_series"), (column,)),
                })?;
                let sorted = picked(frame, &Indices::of_library(frame)?.written(py, &order)?)?;
                if !is_pandas {
                    let first = sorted.call_method1(intern!(py, "to_series"), (by[0].column,))?;
                    let first = flagged(&first, by[0].options.descending)?;
                    sorted.call_method1(intern!(py, "replace_column"), (by[0].column, first))?;
                }
                Ok(sorted)
            }
            Kind::Arrow(table, batches) => of_arrow_data(table, batches, by, options),
        }
    }

    /// A column to sort by of a frame of pandas. Text finds it sooner than its position does.
    fn series(&self, frame: &Bound<'py, PyAny>, column: usize) -> PyResult<Bound<'py, PyAny>> {
        let (py, name) = (frame.py(), &self.names[column]);
        let levels = frame.getattr(intern!(py, "columns"))?.getattr(intern!(py, "nlevels"))?;
        if name.is_instance_of::<PyString>() && levels.extract::<usize>()? == 1 {
            return frame.get_item(name);
        }
        frame.getattr(intern!(py, "iloc"))?.get_item((PySlice::full(py), column))
    }

    /// The indices that sort rows by columns, which `column` finds by their positions.
    fn order(
        &self,
        py: Python<'py>,
        by: &[By],
        options: &Options,
        column: impl Fn(usize) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<UInt32Array> {
        let (mut columns, mut rows) = (Columns::default(), None);
        for by in by {
            let keys = Keys::of(&column(by.column)?)?;
            let expected = *rows.get_or_insert(keys.len());
            if keys.len() != expected {
                return Err(PyValueError::new_err(format!(
                    "the column {} has {} rows, but the first has {expected}; give all the same length",
                    self.names[by.column].repr()?,
                    keys.len()
                )));
            }
            columns.append(keys.columns(py, &by.options, by.nulls_first)?);
        }
        let rows = rows.unwrap_or(0);
        run(py, options, rows, columns.bytes(), || columns::indices(&columns, rows, options, 0))
    }
}

/// Whether a column has this name. Values that are missing are names too, and equal themselves alone.
fn is_name(known: &Bound<'_, PyAny>, name: &Bound<'_, PyAny>) -> PyResult<bool> {
    if known.is(name) {
        return Ok(true);
    }
    let equal = known.rich_compare(name, CompareOp::Eq)?;
    if let Ok(equal) = equal.extract::<bool>() {
        return Ok(equal);
    }
    if equal.is(known) || equal.is(name) {
        return Ok(false);
    }
    let class = name.get_type();
    Err(PyTypeError::new_err(format!(
        "by takes names of columns, and {} of {} is none; name the column, as in by=\"a\", or add one with the values to sort by",
        class.name()?,
        library(name)?
    )))
}

/// A dictionary of the rows that the indices name.
fn of_columns<'py>(columns: &Bound<'py, PyDict>, order: &UInt32Array) -> PyResult<Bound<'py, PyAny>> {
    let py = columns.py();
    let indices = Indices::of(py, None)?.written(py, order)?;
    let sorted = PyDict::new(py);
    for (name, column) in columns {
        let rows = column.len()?;
        if rows != order.len() {
            return Err(PyValueError::new_err(format!(
                "the column {} has {rows} rows, but the others have {}; give all the same length",
                name.repr()?,
                order.len()
            )));
        }
        sorted.set_item(name, rearranged(&column, &indices, order)?)?;
    }
    Ok(sorted.into_any())
}

/// The rows of a column that the indices name.
fn rearranged<'py>(
    column: &Bound<'py, PyAny>,
    indices: &array::Array<'py>,
    order: &UInt32Array,
) -> PyResult<Bound<'py, PyAny>> {
    match Input::of(column)? {
        Input::Array(array) => {
            let rows = array.call_method1(intern!(column.py(), "take"), (indices, 0))?;
            tensor::returned(column, rows.cast_into()?)
        }
        Input::Gpu(_) => Err(not_on_gpu()),
        Input::Series(series) => picked(&series, indices),
        Input::Arrow(data) => {
            let imported = arrow::imported(&data)?;
            arrow::returned(&data, take(&imported.values, order, None).map_err(of_arrow)?, imported.field)
        }
    }
}

impl Batches {
    fn of(table: &Bound<'_, PyAny>) -> PyResult<Batches> {
        let data: AnyRecordBatch = table.extract().map_err(|_| {
            let name = table.get_type().name().map(|name| name.to_string()).unwrap_or_default();
            PyTypeError::new_err(format!(
                "{name} is not a table; give a DataFrame, an Arrow table, a structured array or a dictionary of columns"
            ))
        })?;
        let one = matches!(data, AnyRecordBatch::RecordBatch(_));
        let (batches, schema) = data.into_table()?.into_inner();
        Ok(Batches { batches, schema, one })
    }
}

/// Sorts a table of pyarrow or of others.
fn of_arrow_data<'py>(
    table: &Bound<'py, PyAny>,
    Batches { batches, schema, one }: &Batches,
    by: &[By],
    options: &Options,
) -> PyResult<Bound<'py, PyAny>> {
    let py = table.py();
    let batch = match &batches[..] {
        [one] => one.clone(),
        many => py.detach(|| concat_batches(schema, many)).map_err(of_arrow)?,
    };
    let mut columns = Columns::default();
    if batches.len() > 1 {
        columns.hold(batch.get_array_memory_size());
    }
    for by in by {
        let field = schema.field(by.column);
        arrow::check(field.data_type())?;
        let chunks: Vec<ArrayRef> = batches.iter().map(|batch| batch.column(by.column).clone()).collect();
        let categories = arrow::categories(py, &chunks, field)?;
        let keys = categories.unwrap_or_else(|| batch.column(by.column).clone());
        columns.append(Keys::Arrow(keys, 0).columns(py, &by.options, by.nulls_first)?);
    }
    let rows = batch.num_rows();
    let sorted = run(py, options, rows, columns.bytes(), || {
        let (order, report) = columns::indices(&columns, rows, options, 0)?;
        let moved = !order.values().is_sorted();
        Ok((moved.then(|| taken(&batch, &order)).transpose()?, report))
    })?;
    let is_pyarrow = library(table)? == "pyarrow";
    let sorted = match sorted {
        // Nobody can change it, so it is its own copy.
        None if is_pyarrow => return Ok(table.clone()),
        None => batch,
        Some(sorted) => sorted,
    };
    let result = if *one {
        Bound::new(py, PyRecordBatch::new(sorted))?.into_any()
    } else {
        Bound::new(py, PyTable::try_new(vec![sorted], schema.clone())?)?.into_any()
    };
    if !is_pyarrow {
        return Ok(result);
    }
    let make = if *one { intern!(py, "record_batch") } else { intern!(py, "table") };
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
