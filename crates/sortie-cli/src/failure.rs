//! Why the program failed: a one-line message and an exit status.

use std::io;
use std::path::{Path, PathBuf};

use sortie::Bound;

use crate::quote;
use crate::shortage::{self, at_least, at_most};

/// Advice for when memory is short.
const IN_PARTS: &str = "allow more, or lower -S, so that more goes to temporary files";

/// The reason why the program ends early.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// `-c` or `-C` found the input out of order. The message is raw bytes with the terminator of the line,
    /// because it quotes the line. It is empty under `-C`.
    #[error("{}", String::from_utf8_lossy(.0))]
    Disorder(Vec<u8>),

    /// The work is done, but some of the input was skipped. Prints nothing, because each skipped part was
    /// already reported.
    #[error("not all of the input was used")]
    Partial,

    /// A file could not be read, written, created or moved: `cannot read: PATH: No such file or directory`.
    #[error("cannot {doing}: {}: {}", quote::name(.path), file_reason(.source))]
    File {
        /// The failed action, after "cannot": `read`, `write`, `create a temporary file in`.
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },

    /// Overwriting a file in place failed after a part of it was written.
    #[error(
        "cannot write: {}: {}; part of it is overwritten, and the complete result is in {}",
        quote::name(.path), reason(.source), quote::name(.complete)
    )]
    Overwriting { path: PathBuf, source: io::Error, complete: PathBuf },

    /// The command line or the input is not valid. The message says what is wrong, where, and what to do.
    #[error("{0}")]
    Message(String),

    /// An unknown word for `--sort` or `--check`, for which GNU sort has its own exit status.
    #[error("{0}")]
    Word(String),

    /// The system refused to allocate this many bytes.
    #[error("{}", shortage::refused("sorting", *.0, IN_PARTS))]
    Memory(u64),

    /// An error from the library `sortie`.
    #[error(transparent)]
    Sort(sortie::Error),

    /// A GPU failed, or cannot be used.
    #[error(transparent)]
    Device(#[from] sortie_device::Error),
}

impl From<sortie::Error> for Failure {
    fn from(error: sortie::Error) -> Failure {
        match error {
            sortie::Error::Memory { bound: Bound::Host, needed, .. } => Failure::Memory(needed),
            sortie::Error::Memory { bound: Bound::Limit, needed, available, .. } => Failure::new(format!(
                "sorting needs {} of memory in addition to the data, but --buffer-size leaves {}; raise it",
                at_least(needed),
                at_most(available)
            )),
            sortie::Error::Memory { bound: Bound::Device, needed, available, hint } => Failure::new(format!(
                "sorting needs {} of GPU memory, but {} are free; {hint}",
                at_least(needed),
                at_most(available)
            )),
            other => Failure::Sort(other),
        }
    }
}

impl From<sortie_index::Error> for Failure {
    fn from(error: sortie_index::Error) -> Failure {
        use sortie_index::Error;
        match error {
            Error::File { doing, path, source } => Failure::file(doing, &path)(source),
            Error::NotAnIndex { path, why } => Failure::new(format!("{}: {why}", quote::name(&path))),
            Error::Empty { path } => Failure::new(format!(
                "no documents were found; the existing index is kept: {}",
                quote::name(&path)
            )),
            Error::Memory { bytes } => Failure::Memory(bytes),
            Error::Sort(error) => error.into(),
            // The message may contain a file name with any characters.
            other => Failure::new(other.to_string().replace(char::is_control, "?")),
        }
    }
}

impl Failure {
    /// A failure with the given message.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure::Message(message.into())
    }

    /// For `map_err`: the action `doing` (after "cannot") failed on `path`.
    pub fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Failure {
        move |source| Failure::File { doing, path: path.to_owned(), source }
    }

    /// Whether the reader of the output has closed the pipe.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Failure::File { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }

    /// For `map_err`: `count` threads could not be started.
    pub fn threads<E: ToString>(count: usize) -> impl FnOnce(E) -> Failure {
        move |error| {
            let (reason, s) = (reason(&error), if count == 1 { "" } else { "s" });
            Failure::new(format!("cannot start {count} more thread{s}: {reason}; lower --parallel"))
        }
    }

    /// The exit status of the program.
    pub fn status(&self) -> u8 {
        match self {
            Failure::Disorder(_) | Failure::Word(_) | Failure::Partial => 1,
            _ => 2,
        }
    }

    /// The line for standard error, without the program's name but with its line end. Empty if there is nothing
    /// to print.
    pub fn into_line(self) -> Vec<u8> {
        match self {
            Failure::Disorder(message) => message,
            Failure::Partial => Vec::new(),
            other => (quote::harmless(&other.to_string()) + "\n").into_bytes(),
        }
    }
}

/// Why an operation on a file failed.
fn file_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::OutOfMemory => format!("{}, but {}; {IN_PARTS}", reason(error), shortage::limit()),
        _ => reason(error),
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
