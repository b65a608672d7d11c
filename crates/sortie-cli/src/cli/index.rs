//! The options of `sortie index`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{ArgAction, Args, Subcommand, ValueEnum, ValueHint};

use super::values::count;
use super::{MemorySize, StatsFormat, path, threads};

const BUILD_AFTER_HELP: &str = "\
The ending of a file's name says its format. A .jsonl or .ndjson file has one document per line, an object with id and text. A .md, \
.markdown, .html, .htm, .xhtml, .txt or .text file is one document. A further ending .gz, .bgz, .zst, .xz, .bz2 or .lz4 means that \
it is compressed. In a folder, hidden files, hidden folders and links to folders are passed over. So are files with other endings, \
unless --ext or --all-text adds them. If such a file is itself an input, it is read as plain text. Each file is indexed once, \
however many names and links lead to it.

Words are those of Unicode (UAX #29) in normal form (NFKC), case-folded. Full stops and colons between letters separate words, so \
a search for path finds os.path. Words such as 3.14, v1.2.3, U.S.A., don't and foo_bar stay whole. Words over 255 bytes are left \
out. The index does not depend on the pipeline, the memory or the number of threads.

The last line on standard error says what was indexed, skipped and passed over. A document is skipped if its content is defective \
(not UTF-8, not JSON, damaged compressed data) or its file has disappeared. Any other error ends the build.

Exit status:
  0  the index has all documents
  1  the index was built, but documents were skipped, or none were found in an input
  2  the index was not built, or has no documents and would replace another; an existing index is unchanged

Examples:
  sortie index build docs -o docs.index                 a tree of documents
  sortie index build --ext rst,adoc docs -o docs.index  also .rst and .adoc files
  git ls-files -z | sortie index build --all-text --files-from - -o code.index
  sortie index build -S 1G rfcs.jsonl.gz -o rfcs.index  within 1 GiB of memory
  sortie index search docs.index sorting networks       the ten best, with their scores";

/// Index documents, and search them
#[derive(Debug, Subcommand)]
pub enum IndexCommand {
    Build(BuildArgs),

    /// Print the best documents for the words of a query, ranked by BM25: the score, a tab, the name
    Search {
        #[arg(value_name = "INDEX", value_parser = path(), value_hint = ValueHint::DirPath)]
        index: PathBuf,

        #[arg(value_name = "WORDS", required = true)]
        words: Vec<String>,

        /// Print at most N documents
        #[arg(short = 'n', long = "top", value_name = "N", value_parser = count, default_value = "10")]
        top: NonZeroUsize,
    },

    /// Print the counts of an index, and the sizes of its files
    Stats {
        #[arg(value_name = "INDEX", value_parser = path(), value_hint = ValueHint::DirPath)]
        index: PathBuf,
    },

    /// Print the terms that begin with PREFIX, each with its number of documents and its number of occurrences
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

/// Build an index of files and folders
#[derive(Debug, Args)]
#[command(args_override_self = true, after_help = BUILD_AFTER_HELP)]
pub struct BuildArgs {
    /// Files and folders, compressed or not
    #[arg(
        value_name = "IN",
        required_unless_present = "files_from",
        value_parser = path(),
        value_hint = ValueHint::AnyPath
    )]
    pub inputs: Vec<PathBuf>,

    /// Also index the files and folders listed in FILE, one per line or each ended by a NUL byte; - for standard input
    #[arg(long, value_name = "FILE", value_parser = path(), value_hint = ValueHint::FilePath)]
    pub files_from: Option<PathBuf>,

    /// In folders, also index files whose names end in .EXT, as plain text
    #[arg(long = "ext", value_name = "EXT", value_delimiter = ',', action = ArgAction::Append)]
    pub extensions: Vec<String>,

    /// In folders, also index all files that look like text: their first 8 KiB are UTF-8 without NUL bytes
    #[arg(long)]
    pub all_text: bool,

    /// Write to the folder INDEX; an existing index is replaced once the new one is complete
    #[arg(short = 'o', long, value_name = "INDEX", value_parser = path(), value_hint = ValueHint::DirPath)]
    pub output: PathBuf,

    /// Use about SIZE memory, and temporary files beyond that; in KiB, or with a suffix of %bKMGTPE
    #[arg(short = 'S', long, value_name = "SIZE", allow_hyphen_values = true)]
    pub buffer_size: Option<MemorySize>,

    /// Where blocks are sorted, and which steps overlap
    #[arg(long, value_name = "PIPELINE", default_value = "auto")]
    pub pipeline: Pipeline,

    /// Stop at the first document that would be skipped
    #[arg(long)]
    pub strict: bool,

    /// Parse on N threads; by default one for each core
    #[arg(long, value_name = "N", value_parser = threads)]
    pub parallel: Option<NonZeroUsize>,

    /// Print a report on standard error; the steps of gpu+ overlap
    #[arg(long, value_name = "FORMAT", num_args = 0..=1, require_equals = true, default_missing_value = "table")]
    pub stats: Option<StatsFormat>,
}

/// How blocks of documents become sorted runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Pipeline {
    /// gpu+ if there is a GPU and enough to sort, else cpu
    Auto,
    /// Parse, sort on the CPU and write one block after the other
    Cpu,
    /// Parse, sort on the first GPU and write one block after the other
    Gpu,
    /// While the GPU sorts a block, the CPU parses the next and writes the one before
    #[value(name = "gpu+")]
    GpuOverlapped,
}
