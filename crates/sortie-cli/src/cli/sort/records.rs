//! Options for records.

use std::fmt;
use std::num::NonZeroUsize;

use clap::ValueEnum;
use sortie_files::formats::sequences::{Format, SequenceKey};
use sortie_files::formats::{Layout, Prefixed};

use super::SortOptions;
use crate::cli::flag::{Domain, Effect, Flag, Name, words};
use crate::cli::job_kind::JobKind;
use crate::cli::job_kind::JobKind::{Fixed, Records};
use crate::cli::values::record;

/// The format of records, their size, and what becomes of duplicates.
#[derive(Debug, Clone, Default)]
pub struct RecordOptions {
    pub format: Option<RecordFormat>,
    pub size: Option<NonZeroUsize>,
    pub dedup: bool,
}

pub const RECORDS: &[Flag<SortOptions>] = &[
    Flag {
        name: Name::Long("format"),
        gnu: false,
        of: &[Records, JobKind::Layout],
        help: "Sort whole records of FASTA or FASTQ, or binary records after their lengths; see below",
        effect: Effect::Value("FORMAT", Domain::Words(words::<RecordFormat>), |args, given| {
            args.records.format = Some(given.word()?);
            Ok(())
        }),
    },
    Flag {
        name: Name::Long("record-size"),
        gnu: false,
        of: &[Fixed],
        help: "Sort records of N bytes each, by the bytes of --key A..B or by all of them",
        effect: Effect::Value("N", Domain::Text, |args, given| {
            args.records.size = Some(given.read(record)?);
            Ok(())
        }),
    },
    Flag {
        name: Name::Long("dedup"),
        gnu: false,
        of: &[Records],
        help: "Keep only the first of records whose --by keys are equal byte for byte; the same as -u",
        effect: Effect::Switch(|args| args.records.dedup = true),
    },
];

/// The format of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RecordFormat {
    /// A line >NAME and lines of sequence
    Fasta,
    /// A line @NAME, one of sequence, one that begins with +, one of qualities
    Fastq,
    /// Any bytes, after their number as a little-endian integer of 4 bytes
    Prefixed,
}

/// How records of a format are read.
pub enum Form {
    Sequences(Format),
    Layout(RecordLayout),
}

impl RecordFormat {
    pub fn form(self) -> Form {
        match self {
            RecordFormat::Fasta => Form::Sequences(Format::Fasta),
            RecordFormat::Fastq => Form::Sequences(Format::Fastq),
            RecordFormat::Prefixed => Form::Layout(RecordLayout(&Prefixed)),
        }
    }
}

/// A layout that the library has.
#[derive(Clone, Copy)]
pub struct RecordLayout(pub &'static dyn Layout);

impl fmt::Debug for RecordLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecordLayout").finish_non_exhaustive()
    }
}

/// The key by which records are sorted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum RecordKey {
    #[default]
    Sequence,
    Name,
    Length,
}

impl From<RecordKey> for SequenceKey {
    fn from(key: RecordKey) -> Self {
        match key {
            RecordKey::Sequence => SequenceKey::Sequence,
            RecordKey::Name => SequenceKey::Name,
            RecordKey::Length => SequenceKey::Length,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::{RECORDS, RecordFormat};
    use crate::cli::flag::tests::each_sets;

    #[test]
    fn each_option_sets_what_it_says() {
        each_sets(
            RECORDS,
            &[
                ("--format=fastq", |args| args.records.format == Some(RecordFormat::Fastq)),
                ("--record-size=8", |args| args.records.size == NonZeroUsize::new(8)),
                ("--dedup", |args| args.records.dedup),
            ],
        );
    }
}
