//! The options of `sortie index`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgAction, Args, Subcommand, ValueEnum, ValueHint};

use super::values::count;
use super::{MemorySize, StatsFormat, path, threads};

const BUILD_AFTER_HELP: &str = "\
What a file holds is seen from its name: .jsonl and .ndjson have a document a line, an object with id and text; .md and
.markdown, .html, .htm and .xhtml, .txt and .text are one document each; .gz behind any of these is compressed with gzip. Other
files in a folder are passed over, unless --ext or --all-text takes them; a file that is named itself is plain text then.
Hidden files and folders in a folder are passed over, and links to folders. Each file is indexed once, however many names and
links lead to it.

Words are those of Unicode (UAX #29), case-folded. Full stops and colons between letters separate words, so that path finds
os.path; 3.14, v1.2.3, U.S.A., don't and foo_bar are one word each. Words over 255 bytes are left out. The index is the same
whatever the pipeline, memory and number of threads.

The last line on standard error says what was indexed, skipped and passed over. A document is skipped where its content is
defective (not UTF-8, not JSON, damaged gzip) or its file has gone meanwhile. All else that goes wrong ends the build.

Exit status:
  0  the index has all documents
  1  the index was built, but documents were skipped, or none were found in an input
  2  the index was not built, and one that was there is as it was; so too where no documents would replace some

Examples:
  sortie index build docs -o docs.index                 a tree of documents
  sortie index build --ext rst,adoc docs -o docs.index  and of those
  git ls-files -z | sortie index build --all-text --files-from - -o code.index
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
    #[arg(
        value_name = "IN",
        required_unless_present = "files_from",
        value_parser = path(),
        value_hint = ValueHint::AnyPath
    )]
    pub inputs: Vec<PathBuf>,

    /// Also index the files and folders that FILE names, one a line, or each ended by a NUL byte; - for standard input
    #[arg(long, value_name = "FILE", value_parser = path(), value_hint = ValueHint::FilePath)]
    pub files_from: Option<PathBuf>,

    /// In folders, also take files whose names end in .EXT, as plain text
    #[arg(long = "ext", value_name = "EXT", value_delimiter = ',', action = ArgAction::Append)]
    pub extensions: Vec<String>,

    /// In folders, also take all files that begin as text: 8 KiB of UTF-8 without NUL bytes
    #[arg(long)]
    pub all_text: bool,

    /// Write to the folder INDEX; an index that is there is replaced once the new one is complete
    #[arg(short = 'o', long, value_name = "INDEX", value_parser = path(), value_hint = ValueHint::DirPath)]
    pub output: PathBuf,

    /// Use about SIZE memory, and go to disk beyond that; in KiB, or with a suffix of %bKMGTPE
    #[arg(short = 'S', long, value_name = "SIZE", allow_hyphen_values = true)]
    pub buffer_size: Option<MemorySize>,

    /// Where blocks are sorted, and what is done at the same time
    #[arg(long, value_name = "PIPELINE", default_value = "auto")]
    pub pipeline: Pipeline,

    /// Stop at the first document that would be skipped
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
