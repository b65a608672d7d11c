//! What can go wrong in a sort, said so that the caller can mend it.

/// Why a [`Sorter`](crate::Sorter) call did not sort. The data is as it was before the call, unless a device failed
/// meanwhile.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two slices that belong together differ in length.
    #[error("{what} has {found} elements where the keys have {expected}; give both the same length")]
    LengthMismatch { what: &'static str, expected: usize, found: usize },

    /// The segments do not fit the keys.
    #[error("segments: {0}")]
    Segments(String),

    /// No plan gets by with the memory there is. Bytes: of the plan that needs least, and what there is of that kind.
    #[error("{}", bound.refusal(*needed, *available, hint))]
    Memory { bound: Bound, needed: u64, available: u64, hint: &'static str },

    /// The request cannot be met as it was put.
    #[error("{0}")]
    Unsupported(String),

    /// A device could not be had, or did not do what was asked.
    #[error(transparent)]
    Device(#[from] sortie_device::Error),

    /// Threads could not be started.
    #[error("could not start {threads} threads: {reason}")]
    Threads { threads: usize, reason: String },
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
