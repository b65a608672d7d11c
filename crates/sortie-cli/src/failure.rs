//! Why the program did not do what it was asked to: one clear line, and an exit status.

use std::io;
use std::path::{Path, PathBuf};

use sortie::Bound;

use crate::quote;
use crate::shortage::{self, at_least, at_most};

/// What helps where memory is short.
const IN_PARTS: &str = "allow more, or give -S less, so that more goes to temporary files";

/// What ends the program early.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// `-c` or `-C` found the input out of order. The message is raw bytes, since it quotes the line, with its
    /// terminator; empty under `-C`.
    #[error("{}", String::from_utf8_lossy(.0))]
    Disorder(Vec<u8>),

    /// The work is done, but not for all of the input, which was said. Says nothing more.
    #[error("not all of the input was used")]
    Partial,

    /// A file could not be read, written, made or moved: `cannot read: PATH: No such file or directory`.
    #[error("cannot {doing}: {}: {}", quote::name(.path), file_reason(.source))]
    File {
        /// What was tried, after "cannot": `read`, `write`, `create a temporary file in`.
        doing: &'static str,
        path: PathBuf,
        source: io::Error,
    },

    /// A file that could only be overwritten was, in part.
    #[error(
        "cannot write: {}: {}; part of it is overwritten, and the complete result is in {}",
        quote::name(.path), reason(.source), quote::name(.complete)
    )]
    Overwriting { path: PathBuf, source: io::Error, complete: PathBuf },

    /// The command line or the input makes no sense; the message says what, where, and what to do.
    #[error("{0}")]
    Message(String),

    /// `--sort` or `--check` does not know a word; GNU sort has a status of its own for that.
    #[error("{0}")]
    Word(String),

    /// The system refused so many bytes of memory.
    #[error("{}", shortage::refused("sorting", *.0, IN_PARTS))]
    Memory(u64),

    /// The library refused.
    #[error(transparent)]
    Sort(sortie::Error),

    /// A device does not do what it should.
    #[error(transparent)]
    Device(#[from] sortie_device::Error),
}

impl From<sortie::Error> for Failure {
    fn from(error: sortie::Error) -> Failure {
        match error {
            sortie::Error::Memory { bound: Bound::Host, needed, .. } => Failure::Memory(needed),
            sortie::Error::Memory { bound: Bound::Limit, needed, available, .. } => Failure::new(format!(
                "sorting needs {} of memory beside the data, but --buffer-size leaves {}; give it more",
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
                "no documents were found; the index that is there is kept: {}",
                quote::name(&path)
            )),
            Error::Memory { bytes } => Failure::Memory(bytes),
            Error::Sort(error) => error.into(),
            // A name in it may hold anything.
            other => Failure::new(other.to_string().replace(char::is_control, "?")),
        }
    }
}

impl Failure {
    /// A failure with this message.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure::Message(message.into())
    }

    /// For `map_err`: `doing` (after "cannot") failed on `path`.
    pub fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Failure {
        move |source| Failure::File { doing, path: path.to_owned(), source }
    }

    /// Whether whoever read the output went away.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Failure::File { source, .. } if source.kind() == io::ErrorKind::BrokenPipe)
    }

    /// For `map_err`: so many threads could not be started.
    pub fn threads<E: ToString>(count: usize) -> impl FnOnce(E) -> Failure {
        move |error| {
            let (reason, s) = (reason(&error), if count == 1 { "" } else { "s" });
            Failure::new(format!("cannot start {count} more thread{s}: {reason}; give --parallel fewer"))
        }
    }

    /// The status that the program exits with.
    pub fn status(&self) -> u8 {
        match self {
            Failure::Disorder(_) | Failure::Word(_) | Failure::Partial => 1,
            _ => 2,
        }
    }

    /// The line for standard error, without the program's name but with what ends it; empty where there is
    /// nothing to say.
    pub fn line(&self) -> Vec<u8> {
        match self {
            Failure::Disorder(message) => message.clone(),
            Failure::Partial => Vec::new(),
            other => (quote::harmless(&other.to_string()) + "\n").into_bytes(),
        }
    }
}

/// Why a file could not be read or written.
fn file_reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::OutOfMemory => format!("{}, but {}; {IN_PARTS}", reason(error), shortage::limit()),
        _ => reason(error),
    }
}

/// The system's words for an error, without Rust's ` (os error N)`.
fn reason(error: &impl ToString) -> String {
    let text = error.to_string();
    match text.find(" (os error") {
        Some(end) => text[..end].to_owned(),
        None => text,
    }
}
