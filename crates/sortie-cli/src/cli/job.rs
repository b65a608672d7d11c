//! The jobs of `sortie sort`, each with only the options that it uses.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::PathBuf;

use sortie_files::Temporary;
use sortie_files::compression::Asked;
use sortie_files::formats::Keep;
use sortie_files::formats::sequences::Format;
use sortie_files::formats::tables::{Column, ColumnKey, Form};
use sortie_files::formats::text::{Distinct, KeyOptions, KeySpec, TextOrder};

use super::{ArrayOptions, Check, OldKey, RecordKey, RecordLayout, Resources};

/// The job that `sortie sort` does.
#[derive(Debug)]
pub enum Job {
    Lines(Box<LinesJob>),
    Array(ArrayJob),
    Records(RecordsJob),
    Fixed(FixedJob),
    Layout(LayoutJob),
    Table(Box<TableJob>),
}

/// The rules of text that are used instead of those of the environment.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// The name of a locale.
    pub locale: Option<String>,
    /// The language of the Unicode collation algorithm, by which text is compared then. Empty if it is for none in particular.
    pub unicode: Option<String>,
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
    pub rules: Rules,
    pub keys: Vec<LineKey>,
    pub separator: Option<u8>,
    pub stable: bool,
    pub unique: bool,
    pub debug: bool,
    /// The number of lines to write, if not all.
    pub top: Option<u64>,
    /// Which distinct lines to write, if not all lines.
    pub distinct: Option<Distinct>,
    /// The value of `--compress`, if given.
    pub compress: Option<Asked>,
    pub resources: Resources,
    pub temporary: Temporary,
}

impl LinesJob {
    /// Whether any key may be shuffled.
    pub fn shuffles(&self) -> bool {
        self.ordering.random || self.keys.iter().any(|key| key.spec.options.random)
    }
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
    pub format: Format,
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

/// Sorts, merges or checks records of a layout that the library has.
#[derive(Debug)]
pub struct LayoutJob {
    pub sources: Sources,
    pub merge: bool,
    pub output: Option<PathBuf>,
    pub layout: RecordLayout,
    pub descending: bool,
    /// Whether to keep only the first of records with equal keys.
    pub unique: bool,
    /// The value of `--compress`, if given.
    pub compress: Option<Asked>,
    pub resources: Resources,
    pub temporary: Temporary,
}

/// Sorts, merges or checks a table.
#[derive(Debug)]
pub struct TableJob {
    pub sources: Sources,
    pub merge: bool,
    pub output: Option<PathBuf>,
    pub form: Option<Form>,
    /// The number of records at the start of each input that are not sorted.
    pub header: usize,
    pub comment: Option<u8>,
    pub keys: Vec<ColumnKey>,
    /// The keys of `-k` and the ordering options, if any was given instead of `--by`.
    pub order: Option<TextOrder>,
    pub strict: bool,
    pub rules: Rules,
    pub verbose: bool,
    /// Whether to keep only one of records with equal keys.
    pub unique: bool,
    /// The columns that are compared for that, if not all keys.
    pub unique_by: Vec<Column>,
    pub keep: Keep,
    /// The name of a first column that counts equal records.
    pub count: Option<String>,
    /// The file of the records that are left out as equal.
    pub duplicates: Option<PathBuf>,
    /// The columns that are written, if not all.
    pub columns: Vec<Column>,
    /// The byte between fields that are written, if another than was read.
    pub output_separator: Option<u8>,
    /// The number of records to write, if not all.
    pub top: Option<u64>,
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
