//! The jobs of `sortie sort`, each with the options that it uses, and no others.

use std::fmt::{self, Display};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::PathBuf;

use super::{ArrayOptions, Check, KeyOptions, KeySpec, OldKey, RecordFormat, RecordKey, Resources};
use crate::compression::Asked;

/// What `sortie sort` is to do.
#[derive(Debug)]
pub enum Job {
    Lines(Box<LinesJob>),
    Array(ArrayJob),
    Records(RecordsJob),
    Fixed(FixedJob),
}

/// Which of the jobs it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobKind {
    Lines,
    Array,
    Records,
    Fixed,
}

impl JobKind {
    pub const ANY: &'static [JobKind] = &[JobKind::Lines, JobKind::Array, JobKind::Records, JobKind::Fixed];

    /// What the job sorts, in the plural.
    pub fn items(self) -> &'static str {
        match self {
            JobKind::Lines => "lines",
            JobKind::Array => "arrays",
            JobKind::Records => "FASTA or FASTQ records",
            JobKind::Fixed => "records of one length",
        }
    }

    /// The option or the input that selects this job.
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
    /// The job's name in "it does not go with ...".
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
    /// Of keys that have no options of their own, and of whole lines.
    pub ordering: KeyOptions,
    pub random_source: Option<PathBuf>,
    pub keys: Vec<LineKey>,
    pub separator: Option<u8>,
    pub stable: bool,
    pub unique: bool,
    pub debug: bool,
    /// How the output is compressed, if `--compress` was given.
    pub compress: Option<Asked>,
    pub resources: Resources,
    pub temporary: Temporary,
}

/// A key of lines.
#[derive(Debug)]
pub struct LineKey {
    pub spec: KeySpec,
    /// As it was given, if as `+POS1 [-POS2]`.
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
    /// How the output is compressed, if `--compress` was given.
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
    /// Whether of equal keys only the first is kept.
    pub unique: bool,
    /// How the output is compressed, if `--compress` was given.
    pub compress: Option<Asked>,
    pub resources: Resources,
    pub temporary: Temporary,
}

/// Sorts or checks records of one length.
#[derive(Debug)]
pub struct FixedJob {
    pub sources: Sources,
    pub output: Option<PathBuf>,
    /// Bytes of a record.
    pub size: NonZeroUsize,
    /// Which bytes of a record are its keys.
    pub keys: Vec<Range<usize>>,
    pub descending: bool,
    /// Whether of equal keys only the first is kept.
    pub unique: bool,
    /// How the output is compressed, if `--compress` was given.
    pub compress: Option<Asked>,
    pub resources: Resources,
    pub temporary: Temporary,
}

/// The inputs, and how they are checked where they are not to be sorted.
#[derive(Debug, Default)]
pub struct Sources {
    pub files: Vec<PathBuf>,
    /// A file that names the others.
    pub files0_from: Option<PathBuf>,
    pub check: Option<Check>,
}

/// Where temporary files go, and how they are merged.
#[derive(Debug, Default)]
pub struct Temporary {
    /// Never empty.
    pub folders: Vec<PathBuf>,
    pub batch_size: Option<NonZeroUsize>,
    pub compress_program: Option<PathBuf>,
}
