//! [`JobKind`]: which job `sortie sort` does.

use std::fmt::{self, Display};

/// The kind of a job of `sortie sort`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobKind {
    Lines,
    Array,
    Records,
    Fixed,
    Layout,
}

impl JobKind {
    pub const ANY: &'static [JobKind] =
        &[JobKind::Lines, JobKind::Array, JobKind::Records, JobKind::Fixed, JobKind::Layout];
    /// Those whose engine can be chosen, and whose plan can be printed.
    pub const PLANNED: &'static [JobKind] =
        &[JobKind::Lines, JobKind::Array, JobKind::Records, JobKind::Fixed];
    /// Those of items that may have equal keys.
    pub const KEYED: &'static [JobKind] =
        &[JobKind::Lines, JobKind::Records, JobKind::Fixed, JobKind::Layout];

    /// The things that the job sorts, in the plural.
    pub fn items(self) -> &'static str {
        match self {
            JobKind::Lines => "lines",
            JobKind::Array => "arrays",
            JobKind::Records => "FASTA or FASTQ records",
            JobKind::Fixed => "records of one length",
            JobKind::Layout => "records after their lengths",
        }
    }

    /// The option or the kind of input that selects this job.
    pub fn asked_by(self) -> &'static str {
        match self {
            JobKind::Lines => "text",
            JobKind::Array => "--type or a .npy file",
            JobKind::Records => "--format",
            JobKind::Fixed => "--record-size",
            JobKind::Layout => "--format prefixed",
        }
    }
}

impl Display for JobKind {
    /// Writes the name of the job in "it cannot be used with ...".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            JobKind::Array => "an array",
            other => other.asked_by(),
        })
    }
}
