//! The command line: one definition for the parser, `--help`, the completions and the man page.

mod common;
mod getopt;
mod index;
mod key;
mod records;
mod sort;
mod spectra;
mod values;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::error::{ContextKind, ErrorKind};
use clap::{ArgGroup, Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueHint};

pub use common::{ArrayOptions, Resources};
pub use getopt::OldKey;
pub use index::{BuildArgs, IndexCommand, Pipeline};
pub use key::{KeyOptions, KeyPlace, KeySpec};
pub use records::{RecordFormat, RecordKey, RecordOptions};
pub use sort::{SortArgs, temporary_folder};
pub use spectra::{PeakKey, SpectraArgs};
pub use values::{
    Check, MemorySize, Separator, SortWord, StatsFormat, batch, element, length, path, record, threads,
};

use crate::failure::Failure;
use getopt::{Posix, Rewritten};

/// Sort files, fast: text as GNU sort does in the C locale, raw arrays, .npy, FASTA, FASTQ, and the peaks of mass spectra; index
/// documents
#[derive(Debug, Parser)]
#[command(name = "sortie", version, infer_long_args = true, args_override_self = true)]
pub struct Program<C: Subcommand> {
    #[command(subcommand)]
    pub command: C,
}

/// The program with all of its commands.
pub type Cli = Program<Command>;

/// The command that starts most often, and is to start fast.
#[derive(Debug, Subcommand)]
pub enum SortCommand {
    #[command(disable_help_flag = true, disable_version_flag = true, version)]
    Sort(Box<SortArgs>),
}

#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(flatten)]
    Sort(SortCommand),

    Segments(SegmentsArgs),

    Spectra(SpectraArgs),

    #[command(subcommand)]
    Index(IndexCommand),

    /// List the GPUs there are, or say why there is none and what to install
    Devices {
        /// Measure how fast each copies and is copied to, and how fast the CPU sorts, and keep that for --engine auto
        #[arg(long)]
        measure: bool,
    },

    /// Find out which part of the keys a GPU is to have under --engine hybrid, and keep it; takes up to a minute
    Tune {
        /// The GPU: hybrid or hybrid:N
        #[arg(long, value_name = "ENGINE", default_value = "hybrid")]
        engine: sortie::Engine,

        /// With N threads beside it; by default as many as there are cores
        #[arg(long, value_name = "N", value_parser = threads)]
        parallel: Option<NonZeroUsize>,
    },

    /// Sort on a GPU and on the CPU in every way that this program does, and compare
    Doctor {
        /// The GPU: cuda or cuda:N
        #[arg(long, value_name = "ENGINE", default_value = "cuda")]
        engine: sortie::Engine,

        /// Also sort 2^32 + 1 keys, in 17.2 GB of the GPU's memory, and check their sum and order; left out where less is
        /// free
        #[arg(long)]
        large: bool,
    },

    /// Print a script that completes sortie's options in a shell
    Completions {
        shell: clap_complete::Shell,
    },

    Man(ManArgs),
}

const SEGMENTS_AFTER_HELP: &str = "\
Offsets never go backwards. Elements before the first and after the last stay as they are.

Examples:
  sortie segments --type f32 --len 1000 x.raw -o y.raw          arrays of 1000 numbers
  sortie segments --type u32 --offsets ends.raw x.raw -o y.raw  arrays of any length
  sortie segments --offsets ends.npy --argsort x.npy -o y.npy   where each element was";

/// Sort every segment of an array by itself: many small arrays in one file
#[derive(Debug, Args)]
#[command(
    args_override_self = true,
    after_help = SEGMENTS_AFTER_HELP,
    group(ArgGroup::new("segments").required(true))
)]
pub struct SegmentsArgs {
    /// The array: raw little-endian numbers, or .npy
    #[arg(value_name = "IN", value_parser = path(), value_hint = ValueHint::FilePath)]
    pub input: PathBuf,

    /// Every segment has N elements
    #[arg(long = "len", value_name = "N", value_parser = length, group = "segments")]
    pub length: Option<NonZeroUsize>,

    /// Segment i is from offset i to offset i + 1 of FILE (raw u64, or .npy), counted in elements
    #[arg(long, value_name = "FILE", group = "segments", value_parser = path(), value_hint = ValueHint::FilePath)]
    pub offsets: Option<PathBuf>,

    /// Write to FILE, which may be IN; - for standard output
    #[arg(short = 'o', long, value_name = "FILE", value_parser = path(), value_hint = ValueHint::FilePath)]
    pub output: PathBuf,

    #[command(flatten)]
    pub array: ArrayOptions,

    #[command(flatten)]
    pub resources: Resources,
}

/// Print the man page of sortie or of one of its commands, or write all pages to a folder
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The command, as sort or index build; without, sortie itself
    #[arg(value_name = "COMMAND")]
    pub command: Vec<String>,

    /// Write all pages to DIR, which is there: sortie.1, sortie-sort.1, sortie-index-build.1 and so on
    #[arg(long, value_name = "DIR", conflicts_with = "command", value_parser = path(), value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
}

impl Cli {
    /// What the program is asked to do. The first word is its name.
    pub fn from_args(args: Vec<OsString>) -> Result<Cli, clap::Error> {
        // To build the options of all commands takes as long as a small sort.
        if args.get(1).is_some_and(|command| command == "sort") {
            return Ok(Cli { command: Command::Sort(parse_sort(args)?) });
        }
        Cli::try_parse_from(args)
    }
}

/// The command `sort`, whose arguments are read as GNU sort reads them.
fn parse_sort(mut args: Vec<OsString>) -> Result<SortCommand, clap::Error> {
    let mut command = Program::<SortCommand>::command();
    let sort = command.find_subcommand("sort").expect("it is the only command");
    let Rewritten { args: rest, old_keys, refused } =
        getopt::rewrite(sort, args.drain(2..), Posix::from_environment());
    args.extend(rest);
    let mut matches = command.try_get_matches_from_mut(args)?;
    if let Some(why) = refused {
        return Err(command.error(ErrorKind::UnknownArgument, why));
    }
    let SortCommand::Sort(mut args) = Program::from_arg_matches_mut(&mut matches)?.command;
    args.old_keys = old_keys;
    Ok(SortCommand::Sort(args))
}

/// What clap has to say about a wrong command line, on one line.
pub fn usage_failure(error: &clap::Error) -> Failure {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Failure::new(
            "a command is missing: sort, segments, spectra or index, and of index one of its own; see --help",
        );
    }
    let text = error.render().to_string();
    let about = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<_> = about.trim_start_matches("error: ").split_whitespace().collect();
    let line = words.join(" ").replace(char::is_control, "?");
    let line = format!("{line}; see --help");
    let is_word = |arg: &str| arg.starts_with("--sort") || arg.starts_with("--check");
    match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::InvalidValue, Some(arg)) if is_word(&arg.to_string()) => Failure::Word(line),
        _ => Failure::Message(line),
    }
}
