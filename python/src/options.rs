//! What a call may choose: direction, order, threads, memory and engine.

use std::thread;

use pyo3::Borrowed;
use pyo3::exceptions::{PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;
use sortie::{Bound as Limit, Engine, Error, Nans, Order, Sorter, SorterBuilder};

use crate::errors::Failure;

/// In which order values come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ordering {
    /// NumPy's: -0.0 equals 0.0, all NaNs are equal.
    Numpy,
    /// Sortie's: -0.0 before 0.0, NaNs by their bits.
    Total,
    /// The totalOrder of IEEE 754, which Arrow has: negative NaNs before all numbers, positive NaNs after them.
    Arrow,
}

/// The choices of a call, parsed.
#[derive(Debug, Clone)]
pub struct Options {
    pub descending: bool,
    /// `None` lets each function choose.
    pub stable: Option<bool>,
    pub nans_first: bool,
    /// Nulls go last, unless [`Options::with_nulls`] says otherwise.
    pub nulls_first: bool,
    pub ordering: Ordering,
    pub threads: Option<usize>,
    pub memory_limit: Option<u64>,
    pub engine: Engine,
}

/// The choices as Python gives them, without the order.
pub struct Given<'a> {
    pub descending: bool,
    pub stable: Option<bool>,
    pub nans: &'a str,
    pub threads: Option<Count>,
    pub memory_limit: Option<Count>,
    pub engine: &'a str,
}

/// A number of threads or bytes. Greater numbers than the machine has are the greatest.
#[derive(Debug, Clone, Copy)]
pub struct Count(pub u64);

impl<'a, 'py> FromPyObject<'a, 'py> for Count {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Count> {
        match object.extract::<u64>() {
            Ok(count) => Ok(Count(count)),
            Err(error) if error.is_instance_of::<PyOverflowError>(object.py()) => {
                if object.lt(0)? {
                    return Err(PyValueError::new_err(format!(
                        "{} is negative; give a positive number",
                        object.str()?
                    )));
                }
                Ok(Count(u64::MAX))
            }
            Err(error) => Err(error),
        }
    }
}

/// The most threads that a call starts for each core.
const THREADS_PER_CORE: usize = 4;

/// As many threads as were asked for, or as this machine can use.
fn useful(threads: u64) -> usize {
    if threads <= THREADS_PER_CORE as u64 {
        return threads as usize;
    }
    let cores = thread::available_parallelism().map_or(1, usize::from);
    usize::try_from(threads).unwrap_or(usize::MAX).min(THREADS_PER_CORE * cores)
}

impl Given<'_> {
    /// Parses the choices, with the order of this name.
    pub fn ordered(self, order: &str) -> PyResult<Options> {
        let ordering = match order {
            "numpy" => Ordering::Numpy,
            "total" => Ordering::Total,
            "arrow" => Ordering::Arrow,
            other => {
                return Err(PyValueError::new_err(format!(
                    "unknown order {other:?}; choose \"numpy\", \"total\" or \"arrow\""
                )));
            }
        };
        let nans_first = is_first("nans", self.nans)?;
        if nans_first && ordering == Ordering::Arrow {
            return Err(PyValueError::new_err(
                "order \"arrow\" puts NaNs where their sign says; choose order \"numpy\" or \"total\" for nans=\"first\"",
            ));
        }
        let threads = self.threads.map(|threads| useful(threads.0));
        if threads == Some(0) {
            return Err(PyValueError::new_err("threads is 0; a sort needs at least 1 thread"));
        }
        let engine = match self.engine {
            "auto" => Engine::Auto,
            other => other.parse().map_err(crate::errors::of_sortie)?,
        };
        Ok(Options {
            descending: self.descending,
            stable: self.stable,
            nans_first,
            nulls_first: false,
            ordering,
            threads,
            memory_limit: self.memory_limit.map(|limit| limit.0),
            engine,
        })
    }

    /// The same, where the argument `order` may also hold names of fields, which are returned.
    pub fn ordered_by(self, order: Option<&Bound<'_, PyAny>>) -> PyResult<(Options, Option<Vec<String>>)> {
        let Some(order) = order else { return Ok((self.ordered("numpy")?, None)) };
        if let Ok(text) = order.cast::<PyString>() {
            let text = text.to_str()?;
            return match text {
                "numpy" | "total" | "arrow" => Ok((self.ordered(text)?, None)),
                field => Ok((self.ordered("numpy")?, Some(vec![field.to_owned()]))),
            };
        }
        let fields = order.extract().map_err(|_| {
            PyTypeError::new_err(
                "order must be \"numpy\", \"total\", \"arrow\", the name of a field or a list of names",
            )
        })?;
        Ok((self.ordered("numpy")?, Some(fields)))
    }
}

/// Whether NaNs or nulls go first.
fn is_first(what: &str, position: &str) -> PyResult<bool> {
    match position {
        "last" => Ok(false),
        "first" => Ok(true),
        other => Err(PyValueError::new_err(format!("{what} is {other:?}; choose \"last\" or \"first\""))),
    }
}

impl Options {
    /// The same choices, with nulls at this position.
    pub fn with_nulls(self, position: &str) -> PyResult<Options> {
        Ok(Options { nulls_first: is_first("nulls", position)?, ..self })
    }

    /// The choices for this many columns.
    pub fn of_columns(
        &self,
        descending: Each<bool>,
        nulls: Each<String>,
        columns: usize,
    ) -> PyResult<Vec<Options>> {
        let (descending, nulls) = (descending.of("descending", columns)?, nulls.of("nulls", columns)?);
        let choices = descending.into_iter().zip(nulls);
        choices.map(|(descending, nulls)| Options { descending, ..self.clone() }.with_nulls(&nulls)).collect()
    }

    /// A builder with the choices that hold for every kind of key, for a call that already holds `held` bytes of scratch.
    pub fn builder(&self, held: usize) -> Result<SorterBuilder, Failure> {
        let mut builder = Sorter::builder().engine(self.engine);
        if self.threads == Some(1) {
            builder = builder.threads(1);
        }
        if let Some(left) = self.left(held)? {
            builder = builder.memory_limit(left);
        }
        Ok(if self.stable == Some(false) { builder.unstable() } else { builder })
    }

    /// What the memory limit leaves to a call that already holds `held` bytes, or an error if they are more than it allows.
    pub fn left(&self, held: usize) -> Result<Option<u64>, Failure> {
        let Some(limit) = self.memory_limit else { return Ok(None) };
        match limit.checked_sub(held as u64) {
            Some(left) => Ok(Some(left)),
            None => Err(Failure::Sort(Error::Memory {
                bound: Limit::Limit,
                needed: held as u64,
                available: limit,
                hint: "contiguous numbers in the byte order of the machine need no copy",
            })),
        }
    }

    /// Direction and position of NaNs, for keys whose NaNs are told apart.
    pub fn key_order(&self) -> Order {
        Order {
            descending: self.descending,
            nans: if self.nans_first { Nans::First } else { Nans::Last },
            ..Order::default()
        }
    }
}

/// One value for all columns, or one for each.
#[derive(Debug, Clone)]
pub enum Each<T> {
    All(T),
    Each(Vec<T>),
}

impl<'a, 'py, T: for<'b> FromPyObject<'b, 'py>> FromPyObject<'a, 'py> for Each<T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Each<T>> {
        if let Ok(value) = object.extract::<T>() {
            return Ok(Each::All(value));
        }
        let each = |value: PyResult<Bound<'py, PyAny>>| value?.extract::<T>().map_err(Into::into);
        object.try_iter()?.map(each).collect::<PyResult<_>>().map(Each::Each)
    }
}

impl<T: Clone> Each<T> {
    /// The values, one for each column.
    pub fn of(self, what: &str, columns: usize) -> PyResult<Vec<T>> {
        match self {
            Each::All(value) => Ok(vec![value; columns]),
            Each::Each(values) if values.len() == columns => Ok(values),
            Each::Each(values) => Err(PyValueError::new_err(format!(
                "{what} has {} values for {columns} columns; give one for all, or one for each",
                values.len()
            ))),
        }
    }
}
