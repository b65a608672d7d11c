//! The options of `sortie sort` for records.

use std::num::NonZeroUsize;

use clap::{Args, ValueEnum};
use sortie_formats::sequences;

use super::record;

/// Which records there are, and what they are sorted by.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Records")]
pub struct RecordOptions {
    /// Sort whole records of FASTA or FASTQ, compressed with gzip or not; see below
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<RecordFormat>,

    /// The key of a record: its sequence (the default), name or length
    #[arg(long, value_name = "KEY", requires = "format", hide_possible_values = true)]
    pub by: Option<RecordKey>,

    /// Sort records of N bytes each, by the bytes of --key A..B or by all of them
    #[arg(long = "record-size", value_name = "N", value_parser = record, conflicts_with = "format")]
    pub size: Option<NonZeroUsize>,

    /// Keep only the first of records whose keys, by --by, are equal in every byte; as -u
    #[arg(long, requires = "format")]
    pub dedup: bool,
}

/// How records are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RecordFormat {
    /// A line >NAME and lines of sequence
    Fasta,
    /// A line @NAME, one of sequence, one that begins with +, one of qualities
    Fastq,
}

impl From<RecordFormat> for sequences::Format {
    fn from(format: RecordFormat) -> Self {
        match format {
            RecordFormat::Fasta => sequences::Format::Fasta,
            RecordFormat::Fastq => sequences::Format::Fastq,
        }
    }
}

/// What records are sorted by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum RecordKey {
    #[default]
    Sequence,
    Name,
    Length,
}
