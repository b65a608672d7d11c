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
    /// Alignments, variants and features.
    Genome,
    Table,
}

impl JobKind {
    pub const ANY: &'static [JobKind] = &[
        JobKind::Lines,
        JobKind::Array,
        JobKind::Records,
        JobKind::Fixed,
        JobKind::Layout,
        JobKind::Genome,
        JobKind::Table,
    ];
    /// Those whose plan can be printed.
    pub const EXPLAINED: &'static [JobKind] =
        &[JobKind::Lines, JobKind::Array, JobKind::Records, JobKind::Fixed, JobKind::Table];
    /// Those whose engine can be chosen too.
    pub const PLANNED: &'static [JobKind] =
        &[JobKind::Lines, JobKind::Array, JobKind::Records, JobKind::Fixed];
    /// Those of items that may have equal keys.
    pub const KEYED: &'static [JobKind] =
        &[JobKind::Lines, JobKind::Records, JobKind::Fixed, JobKind::Layout, JobKind::Genome, JobKind::Table];
    /// Those of them that can be reversed, and can leave out items with equal keys.
    pub const UNIQUE: &'static [JobKind] =
        &[JobKind::Lines, JobKind::Records, JobKind::Fixed, JobKind::Layout, JobKind::Table];

    /// The things that the job sorts, in the plural.
    pub fn items(self) -> &'static str {
        match self {
            JobKind::Lines => "lines",
            JobKind::Array => "arrays",
            JobKind::Records => "FASTA or FASTQ records",
            JobKind::Fixed => "records of one length",
            JobKind::Layout => "records after their lengths",
            JobKind::Genome => "alignments, variants, features",
            JobKind::Table => "tables",
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
            JobKind::Genome => "--format sam, bam, vcf, bed or gff",
            JobKind::Table => "--by, --csv, --tsv, --delimiter or --jsonl",
        }
    }
}

impl Display for JobKind {
    /// Writes the name of the job in "it cannot be used with ...".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            JobKind::Array => "an array",
            JobKind::Table => "a table",
            JobKind::Genome => "alignments, variants and features",
            other => other.asked_by(),
        })
    }
}
