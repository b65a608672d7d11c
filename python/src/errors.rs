//! Errors of Rust as exceptions of Python.

use std::any::Any;
use std::io;
use std::path::{Path, PathBuf};

use arrow_schema::ArrowError;
use pyo3::exceptions::{PyMemoryError, PyOSError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use rustix::io::Errno;
use sortie::Error;

/// Why a sort failed. It can be made without Python.
pub enum Failure {
    Sort(Error),
    Arrow(ArrowError),
    /// An operation on a file has failed.
    File(io::Error, PathBuf),
    /// The system refused this many bytes.
    Memory(usize),
    /// An exception that Python code has raised.
    Raised(PyErr),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Sort(error)
    }
}

impl From<sortie_files::Error> for Failure {
    fn from(error: sortie_files::Error) -> Failure {
        use sortie_files::Error;
        match error {
            Error::File { path, source, .. } => Failure::File(source, path),
            Error::Memory(bytes) => Failure::Memory(bytes as usize),
            Error::Sort(error) => Failure::Sort(error),
            other => Failure::Raised(PyValueError::new_err(other.to_string())),
        }
    }
}

impl From<Failure> for sortie_files::Error {
    fn from(failure: Failure) -> sortie_files::Error {
        match failure {
            Failure::Sort(error) => error.into(),
            Failure::Memory(bytes) => sortie_files::Error::Memory(bytes as u64),
            other => sortie_files::Error::invalid(PyErr::from(other).to_string()),
        }
    }
}

impl From<ArrowError> for Failure {
    fn from(error: ArrowError) -> Failure {
        Failure::Arrow(error)
    }
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Failure {
        Failure::Raised(error)
    }
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> PyErr {
        match failure {
            Failure::Sort(error) => of_sortie(error),
            Failure::Arrow(error) => of_arrow(error),
            Failure::File(error, path) => of_file(&error, &path),
            Failure::Memory(bytes) => PyMemoryError::new_err(format!(
                "the sort needs {bytes} bytes of memory, which the system refused; sort less at a time"
            )),
            Failure::Raised(error) => error,
        }
    }
}

/// The exception for an error of a file: of the class that Python has for it.
fn of_file(error: &io::Error, path: &Path) -> PyErr {
    let code = error.raw_os_error().or(match error.kind() {
        io::ErrorKind::IsADirectory => Some(Errno::ISDIR.raw_os_error()),
        io::ErrorKind::NotADirectory => Some(Errno::NOTDIR.raw_os_error()),
        _ => None,
    });
    let Some(code) = code else { return PyOSError::new_err(format!("{}: {error}", path.display())) };
    let text = io::Error::from_raw_os_error(code).to_string();
    let text = text.split(" (os error").next().unwrap_or_default().to_owned();
    PyOSError::new_err((code, text, path.as_os_str().to_owned()))
}

/// The exception for an error of the library.
pub fn of_sortie(error: Error) -> PyErr {
    let text = error.to_string();
    match error {
        Error::Memory { .. } => PyMemoryError::new_err(text),
        Error::Device(_) | Error::Threads { .. } => PyRuntimeError::new_err(text),
        _ => PyValueError::new_err(text),
    }
}

/// The exception for an error of Arrow, or of a sort of Arrow arrays.
pub fn of_arrow(error: ArrowError) -> PyErr {
    match error {
        ArrowError::ExternalError(cause) => match cause.downcast::<Error>() {
            Ok(error) => of_sortie(*error),
            Err(other) => PyRuntimeError::new_err(other.to_string()),
        },
        ArrowError::MemoryError(text) => PyMemoryError::new_err(text),
        ArrowError::NotYetImplemented(text) => PyTypeError::new_err(text),
        ArrowError::ComputeError(text) | ArrowError::InvalidArgumentError(text) => {
            PyValueError::new_err(text)
        }
        other => PyValueError::new_err(other.to_string()),
    }
}

/// The exception for a panic, which is always a mistake in this project.
pub fn of_panic(payload: &(dyn Any + Send)) -> PyErr {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message");
    PyRuntimeError::new_err(format!("Sortie has a mistake, please report it: {text}"))
}
