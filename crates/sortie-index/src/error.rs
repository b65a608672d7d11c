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

    /// No document was found, and an index is there, which is kept.
    #[error("{}: no documents were found; the index that is there is kept", path.display())]
    Empty { path: PathBuf },

    /// The system refused so many bytes of memory.
    #[error("no room for {bytes} bytes more in memory; give a limit of less memory")]
    Memory { bytes: u64 },

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

/// An empty vector with room for so many.
pub(crate) fn room<T>(count: usize) -> Result<Vec<T>, Error> {
    let mut empty = Vec::new();
    let bytes = (count as u64).saturating_mul(size_of::<T>() as u64);
    empty.try_reserve_exact(count).map_err(|_| Error::Memory { bytes })?;
    Ok(empty)
}

/// So many zeros.
pub(crate) fn zeros<T: bytemuck::Zeroable + Clone>(count: usize) -> Result<Vec<T>, Error> {
    let bytes = (count as u64).saturating_mul(size_of::<T>() as u64);
    // Fresh from the system, pages are first touched by the threads that write them.
    bytemuck::try_zeroed_vec(count).map_err(|()| Error::Memory { bytes })
}

/// The system's words for an error, without Rust's ` (os error N)`.
pub(crate) fn reason(error: &impl ToString) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}

/// A document that is not in the index, or not all of it, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The file, and where in it the document is, where there are several.
    pub place: String,
    pub why: String,
    pub reason: Reason,
}

/// What kind of reason there is to skip a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// It does not hold what its name promises: text that is not UTF-8, a line that is not JSON, damaged gzip.
    Defective,
    /// The file was gone when it was to be read.
    Vanished,
    /// An input in which nothing was found.
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
    /// The file was read, and holds something else than its name says.
    Content(String),
    /// The file was not read.
    Read(io::Error),
}

impl Trouble {
    /// What becomes of the document: it is left out where that is its own fault, or where its file is gone.
    ///
    /// # Errors
    /// [`Error::File`] for all else: an index without what could not be read would be taken for whole.
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

/// What a decompressor says of what it was given is about the content, what the system says is not.
impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        let is_content = error.raw_os_error().is_none()
            && matches!(error.kind(), InvalidData | InvalidInput | UnexpectedEof);
        if is_content { Trouble::Content(error.to_string()) } else { Trouble::Read(error) }
    }
}
