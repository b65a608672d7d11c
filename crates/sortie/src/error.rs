//! What can go wrong in a sort, said so that the caller can mend it.

use std::fmt;

/// Why a [`Sorter`](crate::Sorter) call did not sort. The data is as it was before the call, unless a device failed
/// meanwhile.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Error {
    /// Two slices that belong together differ in length.
    LengthMismatch { what: &'static str, expected: usize, found: usize },

    /// The segments do not fit the keys.
    Segments(String),

    /// No plan gets by with the memory there is. Bytes: of the plan that needs least, and what there is of that kind.
    Memory { bound: Bound, needed: u64, available: u64, hint: &'static str },

    /// The request cannot be met as it was put.
    Unsupported(String),

    /// A device could not be had, or did not do what was asked.
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
                "{what} has {found} elements where the keys have {expected}; give both the same length"
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

/// Which memory does not suffice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Bound {
    /// What [`memory_limit`](crate::SorterBuilder::memory_limit) allows, of all kinds together.
    Limit,
    /// The host's, which the system refused; available is what it had granted to the call by then.
    Host,
    /// A device's; available is what is free there.
    Device,
    /// The caller's workspace; available is what was given.
    Workspace,
}

/// Whether what goes with the keys is as many.
pub(crate) fn same_length(what: &'static str, expected: usize, found: usize) -> Result<(), Error> {
    if expected == found { Ok(()) } else { Err(Error::LengthMismatch { what, expected, found }) }
}

impl Bound {
    fn refusal(self, needed: u64, available: u64, hint: &str) -> String {
        match self {
            Bound::Limit => format!(
                "the sort needs {needed} bytes of scratch, {available} are allowed; raise memory_limit or ask for less \
                 ({hint})"
            ),
            Bound::Host => {
                format!("the sort needs {needed} bytes of host memory, the system gave {available}; {hint}")
            }
            Bound::Device => {
                format!("the sort needs {needed} bytes of device memory, {available} are free; {hint}")
            }
            Bound::Workspace => {
                format!("the sort needs a workspace of {needed} bytes, {available} were given; {hint}")
            }
        }
    }
}
