//! The errors of a sort, with what the caller needs to fix them.

use std::fmt;

/// Why a [`Sorter`](crate::Sorter) call did not sort. The data is as it was before the call, unless a device failed during the
/// sort.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Two slices that belong together differ in length.
    LengthMismatch { what: &'static str, expected: usize, found: usize },

    /// The segments do not fit the keys.
    Segments(String),

    /// No plan fits in the available memory. `needed` is for the plan that needs least; `available` is memory of the same kind.
    Memory { bound: Bound, needed: u64, available: u64, hint: &'static str },

    /// The request cannot be met as it is.
    Unsupported(String),

    /// A device is not available, or an operation on it failed.
    #[cfg(feature = "gpu")]
    Device(sortie_device::Error),

    /// Threads could not be started.
    Threads { threads: usize, reason: String },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::LengthMismatch { what, expected, found } => write!(
                f,
                "{what} has {found} elements, but the keys have {expected}; give both the same length"
            ),
            Error::Segments(problem) => write!(f, "segments: {problem}"),
            Error::Memory { bound, needed, available, hint } => {
                f.write_str(&bound.refusal(*needed, *available, hint))
            }
            Error::Unsupported(what) => f.write_str(what),
            #[cfg(feature = "gpu")]
            Error::Device(error) => error.fmt(f),
            Error::Threads { threads, reason } => write!(f, "could not start {threads} threads: {reason}"),
        }
    }
}

#[cfg(feature = "gpu")]
impl Error {
    /// The one of two refusals, for lack of memory, that asks for less of what a limit allows; else this one.
    pub(crate) fn or_less(self, other: Option<Error>) -> Error {
        let limited = |error: &Error| match error {
            Error::Memory { bound: Bound::Limit, needed, .. } => Some(*needed),
            _ => None,
        };
        match other {
            Some(other) if limited(&other).zip(limited(&self)).is_some_and(|(less, own)| less < own) => other,
            _ => self,
        }
    }

    /// A refusal by a limit, of which `held` bytes were already taken, in numbers of the whole `limit`.
    pub(crate) fn of_limit(self, limit: u64, held: u64) -> Error {
        match self {
            Error::Memory { bound: Bound::Limit, needed, hint, .. } => Error::Memory {
                bound: Bound::Limit,
                needed: needed.saturating_add(held),
                available: limit,
                hint,
            },
            other => other,
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            // `Display` already prints the device's message; only its cause follows.
            #[cfg(feature = "gpu")]
            Error::Device(error) => error.source(),
            _ => None,
        }
    }
}

#[cfg(feature = "gpu")]
impl From<sortie_device::Error> for Error {
    fn from(error: sortie_device::Error) -> Error {
        Error::Device(error)
    }
}

/// The memory that does not suffice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bound {
    /// What [`memory_limit`](crate::SorterBuilder::memory_limit) allows, for all kinds of memory together.
    Limit,
    /// Host memory, which the system refused. `available` is what it had granted to the call until then.
    Host,
    /// Device memory. `available` is what is free on the device.
    Device,
    /// The caller's workspace. `available` is its size.
    Workspace,
}

/// Returns an error if a slice that goes with the keys has another length.
pub(crate) fn same_length(what: &'static str, expected: usize, found: usize) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::LengthMismatch { what, expected, found }) }
}

impl Bound {
    fn refusal(self, needed: u64, available: u64, hint: &str) -> String {
        match self {
            Bound::Limit => format!(
                "the sort needs {needed} bytes of scratch memory, but {available} are allowed; raise memory_limit or \
                 ask for less ({hint})"
            ),
            Bound::Host => {
                format!(
                    "the sort needs {needed} bytes of host memory, but the system gave {available}; {hint}"
                )
            }
            Bound::Device => {
                format!("the sort needs {needed} bytes of device memory, but {available} are free; {hint}")
            }
            Bound::Workspace => {
                format!("the sort needs a workspace of {needed} bytes, but {available} were given; {hint}")
            }
        }
    }
}
