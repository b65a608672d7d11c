//! Why the program failed: a one-line message and an exit status.

use std::fmt::{self, Display};
use std::io;
use std::path::Path;

use sortie::Bound;
use sortie_files::shortage::{at_least, at_most};
use sortie_files::{Error, Tight, quote};

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

    /// An unknown word for `--sort` or `--check`, for which GNU sort has its own exit status.
    #[error("{0}")]
    Word(String),

    /// A file, the input or the command line is not as it should be, or memory or threads are short.
    #[error("{}", Told(.0))]
    Files(Error),

    /// A GPU failed, or cannot be used.
    #[cfg(feature = "gpu")]
    #[error(transparent)]
    Device(#[from] sortie_device::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        match error {
            Error::Sort(sortie::Error::Memory { bound: Bound::Limit, needed, available, .. }) => {
                Failure::new(format!(
                    "sorting needs {} of memory in addition to the data, but --buffer-size leaves {}; raise it",
                    at_least(needed),
                    at_most(available)
                ))
            }
            Error::Sort(sortie::Error::Memory { bound: Bound::Device, needed, available, hint }) => {
                Failure::new(format!(
                    "sorting needs {} of GPU memory, but {} are free; {hint}",
                    at_least(needed),
                    at_most(available)
                ))
            }
            other => Failure::Files(other),
        }
    }
}

impl From<sortie::Error> for Failure {
    fn from(error: sortie::Error) -> Failure {
        Error::from(error).into()
    }
}

impl Failure {
    /// A failure with the given message.
    pub fn new(message: impl Into<String>) -> Failure {
        Failure::Files(Error::invalid(message))
    }

    /// For `map_err`: the action `doing` (after "cannot") failed on `path`.
    pub fn file(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Failure {
        move |source| Failure::Files(Error::file(doing, path)(source))
    }

    /// Whether the reader of the output has closed the pipe.
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Failure::Files(Error::File { source, .. }) if source.kind() == io::ErrorKind::BrokenPipe)
    }

    /// For `map_err`: `count` threads could not be started.
    pub fn threads<E: ToString>(count: usize) -> impl FnOnce(E) -> Failure {
        move |error| Failure::Files(Error::threads(count)(error))
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

/// An error with the options of the program in its advice.
struct Told<'a>(&'a Error);

impl Display for Told<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Error::Tight(tight) = self.0 {
            return write!(f, "{}; {}", tight.what("--buffer-size and ulimit -v leave"), advice(tight));
        }
        let advice = match self.0 {
            error if error.is_for_lack_of_memory() => {
                "allow more, or lower -S, so that more goes to temporary files"
            }
            error if error.is_damage() => "check the disk, or choose another folder with -T",
            Error::Compressed { by, .. } => &format!("decompress it first: {by} | sortie ..."),
            Error::Unwritten { .. } => {
                "end its name in .gz, .bgz, .zst, .xz, .bz2 or .lz4, or give --compress=none"
            }
            Error::NotText { .. } => "--text sorts its bytes all the same",
            Error::Uneven { .. } => "the file is cut short, or --record-size is wrong",
            Error::Threads { .. } => "lower --parallel",
            other => return other.fmt(f),
        };
        write!(f, "{}; {advice}", self.0.what())
    }
}

/// What to do about records that need more memory than the limit leaves.
fn advice(tight: &Tight) -> String {
    match tight {
        Tight { enough: Some((bytes, times)), is_limited: true, .. } => {
            let size = bytes.div_ceil(1 << 20);
            format!("give -S {size}M or more, about {times} times the longest record")
        }
        Tight { record: Some(_), .. } => "give --parallel 1, or use a machine with more memory".into(),
        _ => "allow more".into(),
    }
}
