//! What can go wrong with an index, said so that the caller can mend it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why an index was not built, read or exported. What was there before is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder could not be read, written, made or moved.
    #[error("cannot {doing}: {}: {}", path.display(), reason(source))]
    File {
        /// What was tried, after "cannot".
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },

    /// What is under the name is no index, or of a version that this one does not read.
    #[error("{}: {why}", path.display())]
    NotAnIndex { path: PathBuf, why: String },

    /// A file of the index does not hold what was written.
    #[error("{}: damaged: {why}; build the index again", path.display())]
    Damaged { path: PathBuf, why: String },

    /// A document could not be read, and none was to be left out.
    #[error("{0}")]
    Document(Skipped),

    /// There is more than an index can hold.
    #[error("{0}")]
    TooMuch(String),

    /// Threads could not be started.
    #[error("cannot start {threads} more thread{}: {reason}; ask for fewer", if *threads == 1 { "" } else { "s" })]
    Threads { threads: usize, reason: String },

    /// The pairs were not sorted.
    #[error(transparent)]
    Sort(#[from] sortie::Error),
}

impl Error {
    /// For `map_err`: `doing` (after "cannot") failed on `path`.
    pub(crate) fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::File { doing, path: path.to_owned(), source }
    }

    /// For `map_err`: so many threads could not be started.
    pub(crate) fn threads<E: ToString>(threads: usize) -> impl FnOnce(E) -> Error {
        move |error| Error::Threads { threads, reason: reason(&error) }
    }

    pub(crate) fn damaged(path: &Path, why: impl Into<String>) -> Error {
        Error::Damaged { path: path.to_owned(), why: why.into() }
    }
}

/// The system's words for an error, without Rust's ` (os error N)`.
pub(crate) fn reason(error: &impl ToString) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// A document that could not be read, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The file, and where in it the document is, where there are several.
    pub place: String,
    pub why: String,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.why)
    }
}
