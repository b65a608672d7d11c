//! The options of `sortie index`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum, ValueHint};

use super::values::count;
use super::{MemorySize, StatsFormat, path, threads};

const BUILD_AFTER_HELP: &str = "\
What a file holds is seen from its name: .jsonl and .ndjson have a document a line, an object with id and text; .md and
.markdown, .html, .htm and .xhtml, .txt and .text are one document each; .gz behind any of these is compressed with gzip. Other
files in a folder are passed over; a file that is named itself is plain text then.

Words are those of Unicode (UAX #29), case-folded. The index is the same whatever the pipeline, memory and number of threads.

Examples:
  sortie index build docs -o docs.index                 a tree of documents
  sortie index build -S 1G rfcs.jsonl.gz -o rfcs.index  within 1 GiB of memory
  sortie index search docs.index sorting networks       the ten best, with their scores";

/// Index documents, and search them
#[derive(Debug, Subcommand)]
pub enum IndexCommand {
    Build(BuildArgs),

    /// Print the best documents for some words, by BM25: the score, a tab, the name
    Search {
        #[arg(value_name = "INDEX", value_parser = path(), value_hint = ValueHint::DirPath)]
        index: PathBuf,

        #[arg(value_name = "WORDS", required = true)]
        words: Vec<String>,

        /// Print N documents at most
        #[arg(short = 'n', long = "top", value_name = "N", value_parser = count, default_value = "10")]
        top: NonZeroUsize,
    },

    /// Print how much an index holds, and its size
    Stats {
        #[arg(value_name = "INDEX", value_parser = path(), value_hint = ValueHint::DirPath)]
        index: PathBuf,
    },

    /// Print the terms that begin with PREFIX: the term, in how many documents it is, and how often in all
    Terms {
        #[arg(value_name = "INDEX", value_parser = path(), value_hint = ValueHint::DirPath)]
        index: PathBuf,

        #[arg(value_name = "PREFIX", default_value = "")]
        prefix: String,
    },

    /// Check every checksum, order and count of an index
    Check {
        #[arg(value_name = "INDEX", value_parser = path(), value_hint = ValueHint::DirPath)]
        index: PathBuf,
    },

    /// Write an index in a format that other programs read
    Export {
        #[arg(value_name = "INDEX", value_parser = path(), value_hint = ValueHint::DirPath)]
        index: PathBuf,

        /// Write the Common Index File Format of Lucene, PISA, JASS and Terrier to FILE; - for standard output
        #[arg(long, value_name = "FILE", value_parser = path(), value_hint = ValueHint::FilePath)]
        ciff: PathBuf,
    },
}

/// Build the index of files and of folders of files
#[derive(Debug, Args)]
#[command(args_override_self = true, after_help = BUILD_AFTER_HELP)]
pub struct BuildArgs {
    /// Files and folders, compressed with gzip or not
    #[arg(value_name = "IN", required = true, value_parser = path(), value_hint = ValueHint::AnyPath)]
    pub inputs: Vec<PathBuf>,

    /// Write to the folder INDEX; an index that is there is replaced once the new one is complete
    #[arg(short = 'o', long, value_name = "INDEX", value_parser = path(), value_hint = ValueHint::DirPath)]
    pub output: PathBuf,

    /// Use about SIZE memory, and go to disk beyond that; in KiB, or with a suffix of %bKMGTPE
    #[arg(short = 'S', long, value_name = "SIZE", allow_hyphen_values = true)]
    pub buffer_size: Option<MemorySize>,

    /// Where blocks are sorted, and what is done at the same time
    #[arg(long, value_name = "PIPELINE", default_value = "auto")]
    pub pipeline: Pipeline,

    /// Stop at the first document that cannot be read, in place of leaving it out
    #[arg(long)]
    pub strict: bool,

    /// Parse on N threads; by default as many as there are cores
    #[arg(long, value_name = "N", value_parser = threads)]
    pub parallel: Option<NonZeroUsize>,

    /// Print what was done on standard error; the steps of gpu+ run at the same time
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "table")]
    pub stats: Option<StatsFormat>,
}

/// How blocks go from documents to sorted runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Pipeline {
    /// As gpu+ where there is a GPU and as much to sort as is worth its start, else as cpu
    Auto,
    /// Block by block: parsed, sorted by the CPU, written
    Cpu,
    /// Block by block, sorted by the first GPU
    Gpu,
    /// While the GPU sorts a block, the CPU parses the next and writes the one before
    #[value(name = "gpu+")]
    GpuOverlapped,
}
