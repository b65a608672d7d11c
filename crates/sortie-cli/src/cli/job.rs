//! The jobs of `sortie sort`, each with only the options that it uses.

use std::fmt::{self, Display};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::PathBuf;

use sortie_files::Temporary;
use sortie_files::compression::Asked;

use super::{ArrayOptions, Check, KeyOptions, KeySpec, OldKey, RecordFormat, RecordKey, Resources};

/// The job that `sortie sort` does.
#[derive(Debug)]
pub enum Job {
    Lines(Box<LinesJob>),
    Array(ArrayJob),
    Records(RecordsJob),
    Fixed(FixedJob),
}

/// The kind of a job.
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

/// Sorts, merges or checks lines of text.
#[derive(Debug, Default)]
pub struct LinesJob {
    pub sources: Sources,
    pub merge: bool,
    pub output: Option<PathBuf>,
    pub zero_terminated: bool,
    /// For keys that have no options of their own, and for whole lines.
    pub ordering: KeyOptions,
    pub random_source: Option<PathBuf>,
    pub keys: Vec<LineKey>,
    pub separator: Option<u8>,
    pub stable: bool,
    pub unique: bool,
    pub debug: bool,
    /// The value of `--compress`, if given.
    pub compress: Option<Asked>,
    pub resources: Resources,
    pub temporary: Temporary,
}

/// A key of lines.
#[derive(Debug)]
pub struct LineKey {
    pub spec: KeySpec,
    /// The key as given, if in the obsolete form `+POS1 [-POS2]`.
    pub old: Option<OldKey>,
}

/// Sorts an array.
#[derive(Debug)]
pub struct ArrayJob {
    /// `-` for standard input.
    pub input: PathBuf,
    pub output: Option<PathBuf>,
    pub array: ArrayOptions,
    pub axis: Option<isize>,
    /// The value of `--compress`, if given.
    pub compress: Option<Asked>,
    pub resources: Resources,
    pub temporary: Temporary,
}

/// Sorts or checks records of FASTA or FASTQ.
#[derive(Debug)]
pub struct RecordsJob {
    pub sources: Sources,
    pub output: Option<PathBuf>,
    pub format: RecordFormat,
    pub by: RecordKey,
    pub descending: bool,
    /// Whether to keep only the first of records with equal keys.
    pub unique: bool,
    /// The value of `--compress`, if given.
    pub compress: Option<Asked>,
    pub resources: Resources,
    pub temporary: Temporary,
}

/// Sorts or checks fixed-size records.
#[derive(Debug)]
pub struct FixedJob {
    pub sources: Sources,
    pub output: Option<PathBuf>,
    /// The number of bytes in a record.
    pub size: NonZeroUsize,
    /// The byte ranges of the keys in a record.
    pub keys: Vec<Range<usize>>,
    pub descending: bool,
    /// Whether to keep only the first of records with equal keys.
    pub unique: bool,
    /// The value of `--compress`, if given.
    pub compress: Option<Asked>,
    pub resources: Resources,
    pub temporary: Temporary,
}

/// The inputs, and how to check them instead of sorting.
#[derive(Debug, Default)]
pub struct Sources {
    pub files: Vec<PathBuf>,
    /// A file that lists the names of the inputs.
    pub files0_from: Option<PathBuf>,
    pub check: Option<Check>,
    /// Whether the bytes of every input are its text, whatever format they have.
    pub as_is: bool,
}
