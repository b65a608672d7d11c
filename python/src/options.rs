//! What a call may choose: direction, order, threads, memory and engine.

use pyo3::Borrowed;
use pyo3::exceptions::{PyTypeError, PyValueError};
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
    pub threads: Option<usize>,
    pub memory_limit: Option<u64>,
    pub engine: &'a str,
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
                    "there is no order {other:?}; there are \"numpy\", \"total\" and \"arrow\", and the names of the \
                     fields of a structured array"
                )));
            }
        };
        let nans_first = match self.nans {
            "last" => false,
            "first" => true,
            other => return Err(no_position("nans", other)),
        };
        if nans_first && ordering == Ordering::Arrow {
            return Err(PyValueError::new_err(
                "order \"arrow\" puts NaNs where their sign says; choose order \"numpy\" or \"total\" for nans=\"first\"",
            ));
        }
        if self.threads == Some(0) {
            return Err(PyValueError::new_err("a sort needs at least 1 thread; 0 were asked for"));
        }
        let engine = match self.engine {
            "auto" => Engine::Auto,
            other => other.parse().map_err(crate::errors::of_sortie)?,
        };
        Ok(Options {
            descending: self.descending,
            stable: self.stable,
            nans_first,
            ordering,
            threads: self.threads,
            memory_limit: self.memory_limit,
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
                "order is \"numpy\", \"total\", \"arrow\", the name of a field or a list of names",
            )
        })?;
        Ok((self.ordered("numpy")?, Some(fields)))
    }
}

/// The error for a position of NaNs or nulls that does not exist.
pub fn no_position(what: &str, other: &str) -> PyErr {
    PyValueError::new_err(format!("{what} go \"last\" or \"first\", not {other:?}"))
}

impl Options {
    /// A builder with the choices that hold for every kind of key, for a call that holds so many bytes of scratch already.
    pub fn builder(&self, held: usize) -> Result<SorterBuilder, Failure> {
        let mut builder = Sorter::builder().engine(self.engine);
        if self.threads == Some(1) {
            builder = builder.threads(1);
        }
        if let Some(limit) = self.memory_limit {
            let left = limit.checked_sub(held as u64).ok_or(Error::Memory {
                bound: Limit::Limit,
                needed: held as u64,
                available: limit,
                hint: "contiguous arrays in the byte order of the machine need no copy",
            })?;
            builder = builder.memory_limit(left);
        }
        Ok(if self.stable == Some(false) { builder.unstable() } else { builder })
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
    /// The values of so many columns.
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
