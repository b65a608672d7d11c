//! Options for records.

use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::ValueEnum;
use sortie_files::formats::Layout;
use sortie_files::formats::genomics::{GenomeFormat, GenomeOrder};
use sortie_files::formats::sequences::{Format, SequenceKey};

use super::{SortOptions, once};
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
    /// The order of contigs: `natural`, `bytes` or a file that lists them.
    pub contigs: Option<PathBuf>,
    pub no_program: bool,
}

pub const RECORDS: &[Flag<SortOptions>] = &[
    Flag {
        name: Name::Long("format"),
        gnu: false,
        of: &[Records, JobKind::Layout, JobKind::Genome],
        help: "Sort whole records of FASTA or FASTQ, alignments, variants, features, or binary records after their lengths; see below",
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
    Flag {
        name: Name::Long("contigs"),
        gnu: false,
        of: &[JobKind::Genome],
        help: "The order of the contigs of VCF, BED or GFF: natural (chr2 before chr10), bytes, or that of an index or dictionary of FASTA \
               (.fai, .dict). By default, that of the header of VCF, and bytes for BED and GFF",
        effect: Effect::Value("ORDER", Domain::Text, |args, given| {
            once(&mut args.records.contigs, given.path(), "there is one order of contigs")
        }),
    },
    Flag {
        name: Name::Long("no-PG"),
        gnu: false,
        of: &[JobKind::Genome],
        help: "Do not add a line @PG with this command to the header of alignments",
        effect: Effect::Switch(|args| args.records.no_program = true),
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
    /// Alignments as text
    Sam,
    /// Alignments in binary
    Bam,
    /// Variants
    Vcf,
    /// Features: contig, start and end
    Bed,
    /// Features of GFF or GTF
    #[value(alias("gtf"))]
    Gff,
}

/// How records of a format are read.
pub enum Form {
    Sequences(Format),
    Prefixed,
    Genome(GenomeFormat),
}

impl RecordFormat {
    pub fn form(self) -> Form {
        match self {
            RecordFormat::Fasta => Form::Sequences(Format::Fasta),
            RecordFormat::Fastq => Form::Sequences(Format::Fastq),
            RecordFormat::Prefixed => Form::Prefixed,
            RecordFormat::Sam => Form::Genome(GenomeFormat::Sam),
            RecordFormat::Bam => Form::Genome(GenomeFormat::Bam),
            RecordFormat::Vcf => Form::Genome(GenomeFormat::Vcf),
            RecordFormat::Bed => Form::Genome(GenomeFormat::Bed),
            RecordFormat::Gff => Form::Genome(GenomeFormat::Gff),
        }
    }
}

/// A layout that the library has.
pub struct RecordLayout(pub Box<dyn Layout>);

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

/// Parses what alignments, variants and features are sorted by.
pub fn genome_order(text: &str) -> Result<GenomeOrder, &'static str> {
    match text {
        "coordinate" => Ok(GenomeOrder::Coordinate),
        "name" => Ok(GenomeOrder::Name),
        "name:bytes" => Ok(GenomeOrder::NameBytes),
        _ => Err("the orders are coordinate, name and name:bytes"),
    }
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
                ("--contigs=natural", |args| args.records.contigs == Some("natural".into())),
                ("--no-PG", |args| args.records.no_program),
            ],
        );
    }
}
