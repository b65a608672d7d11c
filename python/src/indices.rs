//! [`Indices`]: the arrays of NumPy that hold the result of an argsort.

use arrow_array::UInt32Array;
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::array::{self, Array};
use crate::library::library;

/// The type of indices.
pub struct Indices<'py> {
    pub dtype: Bound<'py, PyArrayDescr>,
    /// Whether they have 32 bits.
    pub narrow: bool,
    largest: u64,
}

impl<'py> Indices<'py> {
    /// The type that a caller asks for.
    pub fn of(py: Python<'py>, dtype: Option<&Bound<'py, PyAny>>) -> PyResult<Indices<'py>> {
        let Some(dtype) = dtype else {
            return Ok(Indices { dtype: numpy::dtype::<i64>(py), narrow: false, largest: i64::MAX as u64 });
        };
        let dtype = if library(dtype)? == "torch" {
            PyArrayDescr::new(py, dtype.str()?.to_str()?.trim_start_matches("torch."))?
        } else {
            PyArrayDescr::new(py, dtype)?
        };
        let native = dtype.is_native_byteorder() != Some(false);
        let (narrow, largest) = match (dtype.kind(), dtype.itemsize()) {
            (b'i', 8) if native => (false, i64::MAX as u64),
            (b'i', 4) if native => (true, i32::MAX as u64),
            (b'u', 4) if native => (true, u64::from(u32::MAX)),
            _ => {
                return Err(PyTypeError::new_err(format!(
                    "indices are np.int64, np.int32 or np.uint32, not {dtype}"
                )));
            }
        };
        Ok(Indices { dtype, narrow, largest })
    }

    /// The type that a library of tables picks rows by without a conversion.
    pub fn of_library(table: &Bound<'py, PyAny>) -> PyResult<Indices<'py>> {
        let py = table.py();
        if library(table)? != "polars" {
            return Indices::of(py, None);
        }
        Ok(Indices { dtype: numpy::dtype::<u32>(py), narrow: true, largest: u64::from(u32::MAX) })
    }

    /// Returns an error if indices of `n` elements do not fit.
    pub fn fit(&self, n: usize) -> PyResult<()> {
        if (n as u64).saturating_sub(1) <= self.largest {
            return Ok(());
        }
        Err(PyValueError::new_err(format!(
            "the indices of {n} elements do not fit {}; use np.int64",
            self.dtype
        )))
    }

    /// An array of these indices.
    pub fn written(&self, py: Python<'py>, indices: &UInt32Array) -> PyResult<Array<'py>> {
        self.fit(indices.len())?;
        let result = array::empty(self.dtype.clone(), &[indices.len()])?;
        // SAFETY: the result is new, so nobody else knows it.
        let bytes = unsafe { array::bytes(&result) };
        let narrow = self.narrow;
        py.detach(|| {
            if narrow {
                bytes.copy_from_slice(bytemuck::cast_slice(indices.values()));
            } else {
                let written: &mut [u64] = bytemuck::cast_slice_mut(bytes);
                written.iter_mut().zip(indices.values()).for_each(|(to, &index)| *to = u64::from(index));
            }
        });
        Ok(result)
    }
}

/// Which of the indices are wanted.
#[derive(Debug, Clone, Copy)]
pub struct Top {
    /// How many.
    pub k: usize,
    /// Whether in order, or in any.
    pub sorted: bool,
}

/// How many of `n` elements are wanted.
pub fn count(top: Option<Top>, n: usize) -> PyResult<usize> {
    match top {
        None => Ok(n),
        Some(Top { k, .. }) if k <= n => Ok(k),
        Some(Top { k, .. }) => {
            Err(PyValueError::new_err(format!("k is {k}, but there are {n} elements; give at most {n}")))
        }
    }
}
