//! The options of `sortie spectra`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::values::{count, threads};
use super::{MemorySize, StatsFormat, path};

const AFTER_HELP: &str = "\
What the file holds beside peaks stays as it is: of MGF every other line, of mzML all text but the arrays of numbers. In
mzML the other arrays of a spectrum, such as charges, move along.

Examples:
  sortie spectra run.mgf -o sorted.mgf --by mz
  sortie spectra run.mzML.gz -o strongest.mzML.gz --by intensity --descending
  sortie spectra run.mgf.gz -o small.mgf --by mz --top 100      the 100 most intense of each, by m/z";

/// Sort the peaks of every mass spectrum in a file: MGF or mzML, compressed with gzip or not
#[derive(Debug, Args)]
#[command(args_override_self = true, after_help = AFTER_HELP)]
pub struct SpectraArgs {
    /// The file, - for standard input; which format it has is seen from what it holds
    #[arg(value_name = "IN", value_parser = path())]
    pub input: PathBuf,

    /// Write to FILE, which may be IN; compressed where its name ends in .gz; - for standard output
    #[arg(short = 'o', long, value_name = "FILE", value_parser = path())]
    pub output: PathBuf,

    /// What to sort the peaks by
    #[arg(long, value_name = "KEY")]
    pub by: PeakKey,

    /// The largest first
    #[arg(long)]
    pub descending: bool,

    /// Keep only the N most intense peaks of each spectrum
    #[arg(long, value_name = "N", value_parser = count)]
    pub top: Option<NonZeroUsize>,

    /// Use no more than SIZE memory, of which the largest spectrum may take a third with its sort; in KiB, or with a suffix of
    /// %bKMGTPE
    #[arg(short = 'S', long, value_name = "SIZE", allow_hyphen_values = true)]
    pub buffer_size: Option<MemorySize>,

    /// Work on N threads, and read and parse on one more each; by default N is how many cores there are
    #[arg(long, value_name = "N", value_parser = threads)]
    pub parallel: Option<NonZeroUsize>,

    /// Where to sort: cpu, which auto takes too since parsing takes far longer, or cuda[:N] (sortie devices lists them)
    #[arg(long, value_name = "ENGINE", default_value = "auto")]
    pub engine: sortie::Engine,

    /// Print what the sort did on standard error; its steps run at the same time
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "table")]
    pub stats: Option<StatsFormat>,
}

/// What the peaks of a spectrum are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PeakKey {
    /// The ratio of mass to charge
    Mz,
    /// How strong it is
    Intensity,
}
