//! Errors of an index, with messages that say what to do.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Why an index was not built, read or exported. An index that existed before is unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file or folder could not be read, written, created or moved.
    #[error("cannot {doing}: {}: {}", path.display(), reason(source))]
    File {
        /// The failed action, after "cannot".
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },

    /// The path is not an index, or is an index of a version that this program does not read.
    #[error("{}: {why}", path.display())]
    NotAnIndex { path: PathBuf, why: String },

    /// A file of the index does not hold what was written.
    #[error("{}: damaged: {why}; build the index again", path.display())]
    Damaged { path: PathBuf, why: String },

    /// A document could not be read, and the build is strict.
    #[error("{0}")]
    Document(Skipped),

    /// No document was found, but an index exists at the target. It is kept.
    #[error("{}: no documents were found; the existing index is kept", path.display())]
    Empty { path: PathBuf },

    /// The system refused to allocate this many bytes.
    #[error("cannot allocate {bytes} more bytes of memory; lower the memory limit")]
    Memory { bytes: u64 },

    /// An index cannot hold this much.
    #[error("{0}")]
    TooMuch(String),

    /// Threads could not be started.
    #[error("cannot start {threads} more thread{}: {reason}; use fewer", if *threads == 1 { "" } else { "s" })]
    Threads { threads: usize, reason: String },

    /// Sorting the pairs failed.
    #[error(transparent)]
    Sort(#[from] sortie::Error),
}

impl Error {
    /// For `map_err`: the action `doing` (after "cannot") failed on `path`.
    pub(crate) fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::File { doing, path: path.to_owned(), source }
    }

    /// For `map_err`: `threads` threads could not be started.
    pub(crate) fn threads<E: ToString>(threads: usize) -> impl FnOnce(E) -> Error {
        move |error| Error::Threads { threads, reason: reason(&error) }
    }

    pub(crate) fn damaged(path: &Path, why: impl Into<String>) -> Error {
        Error::Damaged { path: path.to_owned(), why: why.into() }
    }
}

/// An empty vector with room for `count` items.
pub(crate) fn room<T>(count: usize) -> Result<Vec<T>, Error> {
    let mut empty = Vec::new();
    let bytes = (count as u64).saturating_mul(size_of::<T>() as u64);
    empty.try_reserve_exact(count).map_err(|_| Error::Memory { bytes })?;
    Ok(empty)
}

/// A vector of `count` zeros.
pub(crate) fn zeros<T: bytemuck::Zeroable + Clone>(count: usize) -> Result<Vec<T>, Error> {
    let bytes = (count as u64).saturating_mul(size_of::<T>() as u64);
    // The pages come untouched from the system, so the threads that write them touch them first.
    bytemuck::try_zeroed_vec(count).map_err(|()| Error::Memory { bytes })
}

/// The system's message for an error, without Rust's ` (os error N)`.
pub(crate) fn reason(error: &impl ToString) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// A document that is missing from the index, or only partly in it, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The file, and the position of the document in it if the file has several.
    pub place: String,
    pub why: String,
    pub reason: Reason,
}

/// The kind of reason for skipping a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// Its content is not what its name says: text that is not UTF-8, a line that is not JSON, damaged gzip.
    Defective,
    /// The file disappeared before it was read.
    Vanished,
    /// An input without any document.
    Unmatched,
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.why)
    }
}

/// Why the text of a document ends early.
#[derive(Debug)]
pub enum Trouble {
    /// The file was read, but its content is not what its name says.
    Content(String),
    /// The file could not be read.
    Read(io::Error),
}

impl Trouble {
    /// Decides what happens to the document: it is skipped if its content is at fault, or if its file has
    /// disappeared.
    ///
    /// # Errors
    /// [`Error::File`] in all other cases: otherwise an incomplete index would appear to be complete.
    pub fn of(self, path: &Path, place: String) -> Result<Skipped, Error> {
        match self {
            Trouble::Content(why) => Ok(Skipped { place, why, reason: Reason::Defective }),
            Trouble::Read(source) if source.kind() == io::ErrorKind::NotFound => {
                Ok(Skipped { place, why: "gone before it was read".into(), reason: Reason::Vanished })
            }
            Trouble::Read(source) => Err(Error::file("read", path)(source)),
        }
    }
}

/// An error of a decompressor is about the content; an error of the system is not.
impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        let is_content = error.raw_os_error().is_none()
            && matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof);
        if is_content { Trouble::Content(error.to_string()) } else { Trouble::Read(error) }
    }
}
