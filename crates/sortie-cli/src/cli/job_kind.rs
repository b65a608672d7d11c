//! [`JobKind`]: which job `sortie sort` does.

use std::fmt::{self, Display};

/// The kind of a job of `sortie sort`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobKind {
    Lines,
    Array,
    Records,
    Fixed,
}

impl JobKind {
    pub const ANY: &'static [JobKind] = &[JobKind::Lines, JobKind::Array, JobKind::Records, JobKind::Fixed];

    /// The things that the job sorts, in the plural.
    pub fn items(self) -> &'static str {
        match self {
            JobKind::Lines => "lines",
            JobKind::Array => "arrays",
            JobKind::Records => "FASTA or FASTQ records",
            JobKind::Fixed => "records of one length",
        }
    }

    /// The option or the kind of input that selects this job.
    pub fn asked_by(self) -> &'static str {
        match self {
            JobKind::Lines => "text",
            JobKind::Array => "--type or a .npy file",
            JobKind::Records => "--format",
            JobKind::Fixed => "--record-size",
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
