//! What can go wrong, in one line: what was wrong, where, and what to do.

use std::fmt::{self, Display};
use std::io;
use std::path::{Path, PathBuf};

use sortie::Bound;

use crate::shortage::{at_least, at_most};
use crate::{quote, shortage};

/// Why a file could not be sorted, read or written.
///
/// The message of each error ends with advice. A program that has options for it names them instead, after [`Error::what`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file could not be read, written, created or moved: `cannot read: PATH: No such file or directory`.
    File {
        /// The failed action, after "cannot": `read`, `write`, `create a temporary file in`.
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },

    /// Overwriting a file in place failed after a part of it was written.
    Overwriting { path: PathBuf, source: io::Error, complete: PathBuf },

    /// The input, or what was asked for, is not valid. The message says what is wrong, where, and what to do.
    Invalid(String),

    /// An input is compressed in a format that is not read. `by` is a command that decompresses it to standard output.
    Compressed { path: PathBuf, with: &'static str, by: String },

    /// The name of an output means a format that is not written.
    Unwritten { path: PathBuf, with: String },

    /// The content of an input is not text. `instead` is a command or a function that takes such a file.
    NotText { path: PathBuf, is: &'static str, instead: String },

    /// The bytes of an input are not whole records.
    Uneven { path: PathBuf, bytes: u64, size: usize },

    /// The memory limit is too low for records.
    Tight(Tight),

    /// [`Progress::is_stopped`](crate::Progress::is_stopped) has stopped the sort.
    Stopped,

    /// The system refused to allocate this many bytes.
    Memory(u64),

    /// This many threads could not be started.
    Threads { count: usize, reason: String },

    /// An error from the library `sortie`.
    Sort(sortie::Error),
}

/// Records, or one of them, need more memory than the limit leaves.
#[derive(Debug, Clone)]
pub struct Tight {
    /// `FILE:LINE`, if one record is too long.
    pub record: Option<String>,
    /// The least bytes that are needed, and those that are left.
    pub needed: u64,
    pub left: u64,
    /// A limit in bytes that suffices for this record, and how many times the longest record a limit must be.
    pub enough: Option<(u64, usize)>,
    /// Whether the caller limits memory.
    pub is_limited: bool,
}

impl Tight {
    /// The message without advice. `limits` names what leaves so little if the caller limits memory.
    pub fn what(&self, limits: &str) -> String {
        let limits = match self.is_limited {
            true => limits.to_owned(),
            false => format!("{}, which leave", shortage::limit()),
        };
        let (needed, left) = (at_least(self.needed), at_most(self.left));
        match &self.record {
            Some(place) => format!(
                "{place}: this record needs at least {needed} of memory, but {limits} {left} for one record"
            ),
            None => format!("sorting records needs at least {needed} of memory, but {limits} {left}"),
        }
    }
}

/// The error of reading temporary data that the disk has not kept. The same sort may succeed with another folder.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Damaged(pub &'static str);

impl From<Damaged> for io::Error {
    fn from(damaged: Damaged) -> io::Error {
        io::Error::new(io::ErrorKind::InvalidData, damaged)
    }
}

impl From<sortie::Error> for Error {
    fn from(error: sortie::Error) -> Error {
        match error {
            sortie::Error::Memory { bound: Bound::Host, needed, .. } => Error::Memory(needed),
            other => Error::Sort(other),
        }
    }
}

impl Error {
    /// The error of an input, or of what was asked for.
    pub fn invalid(message: impl Into<String>) -> Error {
        Error::Invalid(message.into())
    }

    /// For `map_err`: the action `doing` (after "cannot") failed on `path`.
    pub fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
        move |source| Error::File { doing, path: path.to_owned(), source }
    }

    /// For `map_err`: `count` threads could not be started.
    pub fn threads<E: ToString>(count: usize) -> impl FnOnce(E) -> Error {
        move |error| Error::Threads { count, reason: reason(&error) }
    }

    /// The message without the advice.
    pub fn what(&self) -> String {
        match self {
            Error::File { doing, path, source } => {
                let reason = match self.is_for_lack_of_memory() {
                    true => format!("{}, but {}", reason(source), shortage::limit()),
                    false => reason(source),
                };
                format!("cannot {doing}: {}: {reason}", quote::name(path))
            }
            Error::Overwriting { path, source, complete } => format!(
                "cannot write: {}: {}; part of it is overwritten, and the complete result is in {}",
                quote::name(path),
                reason(source),
                quote::name(complete)
            ),
            Error::Invalid(message) => message.clone(),
            Error::Compressed { path, with, .. } => {
                format!("{} is compressed with {with}, which is not supported", quote::name(path))
            }
            Error::Unwritten { path, with } => {
                format!("{}: an output cannot be compressed with {with}", quote::name(path))
            }
            Error::NotText { path, is, instead } => {
                format!("{} is {is}, not text; use {instead}", quote::name(path))
            }
            Error::Uneven { path, bytes, size } => format!(
                "{}: {bytes} bytes are not a multiple of {size}, the size of a record",
                quote::name(path)
            ),
            Error::Tight(tight) => tight.what("the memory limit leaves"),
            Error::Stopped => "the sort was stopped".into(),
            Error::Memory(bytes) => shortage::refused("sorting", *bytes),
            Error::Threads { count, reason } => {
                format!("cannot start {count} more thread{}: {reason}", if *count == 1 { "" } else { "s" })
            }
            Error::Sort(error) => error.to_string(),
        }
    }

    /// Whether the system refused to allocate memory.
    pub fn is_for_lack_of_memory(&self) -> bool {
        match self {
            Error::Memory(_) => true,
            Error::File { source, .. } => source.kind() == io::ErrorKind::OutOfMemory,
            _ => false,
        }
    }

    /// Whether the disk has not kept temporary data.
    pub fn is_damage(&self) -> bool {
        matches!(self, Error::File { source, .. } if source.get_ref().is_some_and(|inner| inner.is::<Damaged>()))
    }

    /// What to do, if the message does not say it yet.
    fn advice(&self) -> Option<String> {
        Some(match self {
            _ if self.is_for_lack_of_memory() => {
                "allow more memory, or set a lower limit, so that more goes to temporary files".into()
            }
            _ if self.is_damage() => "check the disk, or choose another folder for temporary files".into(),
            Error::Compressed { by, .. } => format!("decompress it first, with {by}"),
            Error::Unwritten { .. } => {
                "end its name in .gz, .bgz, .zst, .xz, .bz2 or .lz4, or ask for no compression".into()
            }
            Error::Uneven { .. } => "the file is cut short, or the size is wrong".into(),
            Error::Tight(Tight { enough: Some((bytes, times)), is_limited: true, .. }) => {
                let size = bytes.div_ceil(1 << 20);
                format!("allow {size} MiB or more, about {times} times the longest record")
            }
            Error::Tight(Tight { record: Some(_), .. }) => {
                "use one thread, or a machine with more memory".into()
            }
            Error::Tight(_) => "allow more".into(),
            Error::Threads { .. } => "use fewer threads".into(),
            _ => return None,
        })
    }
}

impl Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what())?;
        self.advice().map_or(Ok(()), |advice| write!(f, "; {advice}"))
    }
}

/// The system's message for an error, without Rust's ` (os error N)`.
fn reason(error: &impl ToString) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}
