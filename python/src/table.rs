//! `sort_by`: tables of NumPy, Arrow, pandas and polars, by several columns.

use arrow_array::{Array as _, ArrayRef, RecordBatch, UInt32Array};
use arrow_schema::{DataType, SchemaRef};
use arrow_select::take::take;
use numpy::{PyArrayDescrMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyKeyError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use pyo3::types::{PyBytes, PyDict, PyList, PySlice, PyString, PyTuple};
use pyo3_arrow::input::AnyRecordBatch;
use pyo3_arrow::{PyRecordBatch, PyTable};
use rayon::prelude::*;
use sortie_arrow::chunks;
use sortie_files::formats::text::Collator;

use crate::array::{self, Array};
use crate::arrow;
use crate::buffer;
use crate::call::{caught, caught_attached, run};
use crate::collate;
use crate::columns::{self, Columns};
use crate::concatenate::concatenated;
use crate::errors::Failure;
use crate::indices::Indices;
use crate::input::{Input, flagged, is_lazy, lazy, not_on_gpu, picked};
use crate::keys::Keys;
use crate::library::library;
use crate::options::{Count, Each, Given, Options};
use crate::tensor;

/// Returns a table whose rows are sorted by columns, the first of which is the most significant.
///
/// table
///     A DataFrame of pandas or polars, a table of pyarrow, any other object with the Arrow PyCapsule interface, a structured
///     NumPy array, or a dictionary of columns. The result has the type of the argument. For other Arrow data, it is an object
///     with the interface. A table has at most 2**32 - 1 rows.
/// by
///     The name of a column, or a list of names. Names need not be strings. You cannot sort by a name that two columns share.
/// descending
///     Whether the largest comes first: one value for all columns, or a list with one for each.
/// nulls
///     ``"last"`` or ``"first"``, in both directions: one value for all columns, or a list with one for each. NaNs go where
///     ``nans`` says.
/// collate
///     The order of text: ``"natural"`` counts numbers in text as numbers, ``"unicode"`` or ``"unicode:de"`` is that of Unicode, and
///     the name of a locale such as ``"de_DE.UTF-8"`` that of GNU sort there; ``"natural:de_DE.UTF-8"`` is both. By default text
///     compares by its code points. One value for all columns, or a list with one for each. Other columns than text are not
///     affected.
/// case
///     Whether text that differs only in case differs. ``case=False`` compares it in small letters.
///
/// The sort is stable, unless you give ``stable=False``. Takes the other arguments of :func:`sort`, and raises as it does, and
/// ``KeyError`` for a column that does not exist.
///
/// >>> import numpy as np, sortie
/// >>> table = {"city": np.array(["Bonn", "Bern", "Bern"]), "age": np.array([3, 4, 5])}
/// >>> sortie.sort_by(table, ["city", "age"], descending=[False, True])
/// {'city': array(['Bern', 'Bern', 'Bonn'], dtype='<U4'), 'age': array([5, 4, 3])}
/// >>> sortie.sort_by({"file": np.array(["b10", "A2", "b9"])}, "file", collate="natural", case=False)
/// {'file': array(['A2', 'b9', 'b10'], dtype='<U3')}
#[pyfunction]
#[pyo3(
    signature = (table, by, *, descending=Each::All(false), nulls=Each::All("last".to_owned()), collate=Each::All(None),
        case=true, stable=None, nans="last", order="numpy", threads=None, memory_limit=None, engine="auto"),
    text_signature = "(table, by, *, descending=False, nulls='last', collate=None, case=True, stable=None, nans='last', \
        order='numpy', threads=None, memory_limit=None, engine='auto')"
)]
#[allow(clippy::too_many_arguments)]
pub fn sort_by<'py>(
    table: &Bound<'py, PyAny>,
    by: &Bound<'py, PyAny>,
    descending: Each<bool>,
    nulls: Each<String>,
    collate: Each<Option<String>>,
    case: bool,
    stable: Option<bool>,
    nans: &str,
    order: &str,
    threads: Option<Count>,
    memory_limit: Option<Count>,
    engine: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let options = Given { descending: false, stable, nans, threads, memory_limit, engine }.ordered(order)?;
    let table = Table::of(table)?;
    let mut by = table.by(by, descending, nulls, &options)?;
    let names = collate.of("collate", by.len())?;
    for (by, name) in by.iter_mut().zip(names) {
        by.collator = collate::collator(name.as_deref(), case)?;
    }
    table.sorted(&by, &options)
}

/// Merges tables that are sorted by columns into one.
pub fn merged<'py>(
    tables: &[Bound<'py, PyAny>],
    by: &Bound<'py, PyAny>,
    descending: Each<bool>,
    nulls: Each<String>,
    options: &Options,
) -> PyResult<Bound<'py, PyAny>> {
    let py = by.py();
    let tables: Vec<Table<'_>> = tables.iter().map(Table::of).collect::<PyResult<_>>()?;
    let by = tables[0].by(by, descending, nulls, options)?;
    for (i, table) in tables.iter().enumerate() {
        if !PyList::new(py, &table.names)?.eq(PyList::new(py, &tables[0].names)?)? {
            return Err(PyValueError::new_err(format!(
                "table {i} has other columns than the first; give all the same, in the same order"
            )));
        }
        if !table.order(py, &by, options)?.values().is_sorted() {
            return Err(PyValueError::new_err(format!(
                "table {i} is not sorted in the order that was asked for; sort it with sortie.sort_by"
            )));
        }
    }
    Table::concatenated(tables)?.sorted(&by, options)
}

/// A column to sort by.
struct By {
    /// Its position in the table.
    column: usize,
    options: Options,
    /// The order of text, if not by its code points.
    collator: Option<Collator>,
}

impl By {
    /// The keys of the column as columns to sort by.
    fn columns<'py>(&self, py: Python<'py>, keys: Keys<'py>) -> PyResult<Columns> {
        let keys = match &self.collator {
            Some(collator) => collate::encoded(py, keys, collator, &self.options)?,
            None => keys,
        };
        keys.columns(py, &self.options)
    }
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

    /// Tables of one kind with the same columns, one below the other.
    fn concatenated(tables: Vec<Table<'py>>) -> PyResult<Table<'py>> {
        let mut tables = tables.into_iter();
        let mut first = tables.next().expect("there is at least one table");
        match &mut first.kind {
            Kind::Dictionary(columns) => {
                let all: Vec<_> = std::iter::once(Ok(columns.clone()))
                    .chain(tables.map(|table| match table.kind {
                        Kind::Dictionary(columns) => Ok(columns),
                        _ => Err(other_kind()),
                    }))
                    .collect::<PyResult<_>>()?;
                let joined = PyDict::new(columns.py());
                for name in &first.names {
                    let parts = all.iter().map(|columns| columns.as_any().get_item(name));
                    joined.set_item(name, concatenated(&parts.collect::<PyResult<Vec<_>>>()?)?)?;
                }
                *columns = joined;
            }
            Kind::Structured(array) => {
                let mut all = vec![array.clone().into_any()];
                for table in tables {
                    let Kind::Structured(array) = table.kind else { return Err(other_kind()) };
                    all.push(array.into_any());
                }
                *array = concatenated(&all)?.cast_into()?;
            }
            Kind::Frame(frame) => {
                let (py, package) = (frame.py(), library(frame)?);
                let dtypes = |frame: &Bound<'py, PyAny>| {
                    let dtypes = frame.getattr(intern!(py, "dtypes"))?.try_iter()?;
                    PyList::new(py, dtypes.collect::<PyResult<Vec<_>>>()?)
                };
                let mut all = vec![frame.clone()];
                for table in tables {
                    match table.kind {
                        Kind::Frame(other) if library(&other)? == package => {
                            if !dtypes(&other)?.eq(dtypes(&*frame)?)? {
                                return Err(other_types());
                            }
                            all.push(other);
                        }
                        _ => return Err(other_kind()),
                    }
                }
                *frame = py.import(package)?.call_method1(intern!(py, "concat"), (all,))?;
            }
            Kind::Arrow(_, Batches { batches, schema, .. }) => {
                for table in tables {
                    let Kind::Arrow(_, other) = table.kind else { return Err(other_kind()) };
                    if other.schema.fields() != schema.fields() {
                        return Err(other_types());
                    }
                    batches.extend(other.batches);
                }
            }
        }
        Ok(first)
    }

    /// The columns to sort by, and how.
    fn by(
        &self,
        by: &Bound<'py, PyAny>,
        descending: Each<bool>,
        nulls: Each<String>,
        options: &Options,
    ) -> PyResult<Vec<By>> {
        let by = self.named(by)?;
        if by.is_empty() {
            return Err(PyValueError::new_err("by names no column; name at least one"));
        }
        let choices = options.of_columns(descending, nulls, by.len())?;
        Ok(by
            .into_iter()
            .zip(choices)
            .map(|(column, options)| By { column, options, collator: None })
            .collect())
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
                let sorted = of_columns(columns, &self.order(columns.py(), by, options)?)?;
                if by[0].collator.is_none() {
                    let first = &self.names[by[0].column];
                    sorted.set_item(first, flagged(&sorted.get_item(first)?, by[0].options.descending)?)?;
                }
                Ok(sorted)
            }
            Kind::Structured(array) => {
                let py = array.py();
                let indices = Indices::of(py, None)?.written(py, &self.order(py, by, options)?)?;
                array.call_method1(intern!(py, "take"), (indices,))
            }
            Kind::Frame(frame) => {
                let py = frame.py();
                let order = self.order(py, by, options)?;
                let sorted = picked(frame, &Indices::of_library(frame)?.written(py, &order)?)?;
                if library(frame)? == "polars" && by[0].collator.is_none() {
                    let first = sorted.call_method1(intern!(py, "to_series"), (by[0].column,))?;
                    let first = flagged(&first, by[0].options.descending)?;
                    sorted.call_method1(intern!(py, "replace_column"), (by[0].column, first))?;
                }
                Ok(sorted)
            }
            Kind::Arrow(table, batches) => of_arrow_data(table, batches, by, options),
        }
    }

    /// The keys of a column.
    fn keys(&self, py: Python<'py>, column: usize) -> PyResult<Keys<'py>> {
        let values = match &self.kind {
            Kind::Dictionary(columns) => columns.as_any().get_item(&self.names[column])?,
            Kind::Structured(array) => array.get_item(&self.names[column])?,
            Kind::Frame(frame) if library(frame)? == "pandas" => self.series(frame, column)?,
            Kind::Frame(frame) => frame.call_method1(intern!(py, "to_series"), (column,))?,
            Kind::Arrow(_, batches) => return batches.keys(py, column),
        };
        Input::of(&values)?.keys()
    }

    /// A column of a frame of pandas. Text finds it sooner than its position does.
    fn series(&self, frame: &Bound<'py, PyAny>, column: usize) -> PyResult<Bound<'py, PyAny>> {
        let (py, name) = (frame.py(), &self.names[column]);
        let levels = frame.getattr(intern!(py, "columns"))?.getattr(intern!(py, "nlevels"))?;
        if name.is_instance_of::<PyString>() && levels.extract::<usize>()? == 1 {
            return frame.get_item(name);
        }
        frame.getattr(intern!(py, "iloc"))?.get_item((PySlice::full(py), column))
    }

    /// The indices that sort rows by columns.
    fn order(&self, py: Python<'py>, by: &[By], options: &Options) -> PyResult<UInt32Array> {
        let (mut columns, mut rows) = (Columns::default(), None);
        for by in by {
            let keys = self.keys(py, by.column)?;
            let expected = *rows.get_or_insert(keys.len());
            if keys.len() != expected {
                return Err(PyValueError::new_err(format!(
                    "the column {} has {} rows, but the first has {expected}; give all the same length",
                    self.names[by.column].repr()?,
                    keys.len()
                )));
            }
            columns.append(by.columns(py, keys)?);
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
pub fn rearranged<'py>(
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
            let taken = caught(column.py(), || Ok(take(&imported.values, order, None)?))?;
            arrow::returned(&data, taken, imported.field)
        }
    }
}

impl Batches {
    fn of(table: &Bound<'_, PyAny>) -> PyResult<Batches> {
        let data: AnyRecordBatch = caught_attached(|| table.extract()).map_err(|_| {
            let name = table.get_type().name().map(|name| name.to_string()).unwrap_or_default();
            PyTypeError::new_err(format!(
                "{name} is not a table; give a DataFrame, an Arrow table, a structured array or a dictionary of columns"
            ))
        })?;
        let one = matches!(data, AnyRecordBatch::RecordBatch(_));
        let (batches, schema) = data.into_table()?.into_inner();
        Ok(Batches { batches, schema, one })
    }

    /// The chunks of a column.
    fn chunks(&self, column: usize) -> Vec<ArrayRef> {
        self.batches.iter().map(|batch| batch.column(column).clone()).collect()
    }

    /// The keys of a column.
    fn keys<'py>(&self, py: Python<'py>, column: usize) -> PyResult<Keys<'py>> {
        let field = self.schema.field(column);
        arrow::check(field.data_type())?;
        let chunks = self.chunks(column);
        let keys = match arrow::categories(py, &chunks, field)? {
            Some(categories) => categories,
            None => caught(py, || Ok(chunks::join(&chunks, field.data_type())?))?,
        };
        let held = if chunks.len() > 1 { keys.get_buffer_memory_size() } else { 0 };
        Ok(Keys::Arrow(keys, held))
    }
}

/// The errors for tables that cannot be merged.
fn other_kind() -> PyErr {
    PyTypeError::new_err("tables of different kinds cannot be merged; convert them to one kind")
}

fn other_types() -> PyErr {
    PyTypeError::new_err(
        "tables whose columns have different types cannot be merged; convert them to the same types",
    )
}

/// Sorts a table of pyarrow or of others.
fn of_arrow_data<'py>(
    table: &Bound<'py, PyAny>,
    batches: &Batches,
    by: &[By],
    options: &Options,
) -> PyResult<Bound<'py, PyAny>> {
    let (py, Batches { schema, one, .. }) = (table.py(), batches);
    let mut columns = Columns::default();
    for by in by {
        columns.append(by.columns(py, batches.keys(py, by.column)?)?);
    }
    let rows = batches.batches.iter().map(RecordBatch::num_rows).sum();
    let sorted = run(py, options, rows, columns.bytes(), || {
        let (order, report) = columns::indices(&columns, rows, options, 0)?;
        // Rows that are in order are not copied, unless several batches must become one.
        let moves = !order.values().is_sorted() || *one && batches.batches.len() > 1;
        Ok((if moves { batches.taken(&order)? } else { batches.batches.clone() }, report))
    })?;
    let result = match &sorted[..] {
        [batch] if *one => Bound::new(py, PyRecordBatch::new(batch.clone()))?.into_any(),
        _ => Bound::new(py, PyTable::try_new(sorted, schema.clone())?)?.into_any(),
    };
    if library(table)? != "pyarrow" {
        return Ok(result);
    }
    let is_batch = result.is_instance_of::<PyRecordBatch>();
    let make = if is_batch { intern!(py, "record_batch") } else { intern!(py, "table") };
    py.import(intern!(py, "pyarrow"))?.call_method1(make, (result,))
}

impl Batches {
    /// The rows that the indices name, each column by a thread of its own. They are in several batches if offsets of 32 bits do not
    /// suffice.
    fn taken(&self, order: &UInt32Array) -> Result<Vec<RecordBatch>, Failure> {
        let dtypes: Vec<DataType> =
            self.schema.fields().iter().map(|field| field.data_type().clone()).collect();
        let one = |column: usize| take(&chunks::join(&self.chunks(column), &dtypes[column])?, order, None);
        let taken: Vec<ArrayRef> = if buffer::in_pool() {
            (0..dtypes.len()).into_par_iter().map(one).collect::<Result<_, _>>()?
        } else {
            (0..dtypes.len()).map(one).collect::<Result<_, _>>()?
        };
        let batches = chunks::split(&taken, &dtypes)?.into_iter();
        Ok(batches
            .map(|columns| RecordBatch::try_new(self.schema.clone(), columns))
            .collect::<Result<_, _>>()?)
    }
}
