//! The command line: one definition of each option for the parser, `--help`, the completions and the man page.
//!
//! The options of the sorting commands are in tables. `getopt.rs` parses by them, and `page.rs` makes the help from
//! them. Building clap's options takes as long as a small sort, so clap only parses the arguments of the other
//! commands.

mod arrays;
mod compress;
mod flag;
mod getopt;
mod index;
mod job;
mod job_kind;
mod key;
mod page;
mod quantiles;
mod resources;
mod segments;
mod sort;
mod spectra;
mod values;

use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use std::vec;

use clap::error::ErrorKind;
use clap::{Args, FromArgMatches, Subcommand, ValueHint};
use sortie_files::quote;

use crate::failure::Failure;
pub use arrays::ArrayOptions;
use flag::Arguments;
use getopt::Stop;
pub use index::{BuildArgs, IndexCommand, Pipeline};
pub use job::{ArrayJob, FixedJob, Job, LayoutJob, LinesJob, RecordsJob, Rules, Sources, TableJob};
pub use quantiles::QuantilesOptions;
pub use resources::Resources;
pub use segments::{SegmentEnds, SegmentsArgs, SegmentsOptions};
pub use sort::{OldKey, RecordKey, RecordLayout, SortOptions, TopOptions, UniqOptions, temporary_folder};
pub use spectra::{PeakKey, SpectraArgs, SpectraOptions};
#[cfg(not(feature = "gpu"))]
pub use values::NO_GPUS;
pub use values::{Check, MemorySize, StatsFormat, engine, path, threads};

const ABOUT: &str = "Sort files, fast: text as GNU sort does in the C locale, raw arrays, .npy, FASTA, FASTQ, and the peaks of \
                     mass spectra; index documents";

/// What the program should do.
#[derive(Debug)]
pub enum Command {
    Sort(Box<SortOptions>),
    Segments(SegmentsArgs),
    Spectra(SpectraArgs),
    Quantiles(QuantilesOptions),
    Other(OtherCommand),
    /// Print the help or the version.
    Page(clap::Error),
}

/// The commands that do not sort files.
#[derive(Debug, Subcommand)]
pub enum OtherCommand {
    #[command(subcommand)]
    Index(IndexCommand),

    /// List the GPUs, or say why none is found and what to install
    Devices {
        /// Measure how fast each GPU copies and the CPU sorts, and save the rates for --engine auto
        #[arg(long)]
        measure: bool,
    },

    /// Measure which share of the keys a GPU should sort under --engine hybrid, and save it; takes up to a minute
    Tune {
        /// The GPU: hybrid or hybrid:N
        #[arg(long, value_name = "ENGINE", default_value = "hybrid")]
        engine: sortie::Engine,

        /// Use N CPU threads together with the GPU; by default one for each core
        #[arg(long, value_name = "N", value_parser = threads)]
        parallel: Option<NonZeroUsize>,
    },

    /// Check a GPU: compare the results of every kind of GPU sort with those of the CPU
    Doctor {
        /// GPU to check: cuda or cuda:N. With several (cuda:N,M), each GPU is checked, then all of them together
        #[arg(long, value_name = "ENGINE", default_value = "cuda")]
        engine: sortie::Engine,

        /// Also sort 2^32 + 1 keys in 17.2 GB of GPU memory, and check their sum and order; left out if less is free
        #[arg(long)]
        large: bool,
    },

    /// Tell whether the order that Parquet files declare (sorting_columns) is true of their rows
    ///
    /// Programs trust a declared order, and give wrong results if it is false. Exit status: 0 if no file declares a false order, 1 if
    /// one does, 2 on any other error.
    Verify {
        /// Parquet files
        #[arg(required = true, value_name = "FILE", value_parser = path(), value_hint = ValueHint::FilePath)]
        files: Vec<PathBuf>,
    },

    /// Print a script that completes sortie's options in a shell
    Completions {
        shell: clap_complete::Shell,
    },

    Man(ManArgs),
}

/// Print the man page of sortie or of one of its commands, or write all pages to a folder
#[derive(Debug, Args)]
pub struct ManArgs {
    /// The command, such as sort or index build; by default sortie itself
    #[arg(value_name = "COMMAND")]
    pub command: Vec<String>,

    /// Write all pages to the existing folder DIR: sortie.1, sortie-sort.1, sortie-index-build.1 and so on
    #[arg(long, value_name = "DIR", conflicts_with = "command", value_parser = path(), value_hint = ValueHint::DirPath)]
    pub out: Option<PathBuf>,
}

/// The program with all of its commands, for clap.
pub fn program() -> clap::Command {
    let program = clap::Command::new("sortie")
        .version(page::VERSION)
        .infer_long_args(true)
        .args_override_self(true)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .subcommand(page::command::<SortOptions>())
        .subcommand(page::command::<TopOptions>())
        .subcommand(page::command::<UniqOptions>())
        .subcommand(page::command::<QuantilesOptions>())
        .subcommand(page::command::<SegmentsOptions>())
        .subcommand(page::command::<SpectraOptions>());
    // This comes last, because it brings its own description.
    OtherCommand::augment_subcommands(program).about(ABOUT)
}

impl Command {
    /// Parses the arguments. The first one is the program's name.
    pub fn from_args(args: Vec<OsString>) -> Result<Command, Failure> {
        let mut words = args.into_iter();
        let (program, command) = (words.next(), words.next());
        let parsed = match command.as_deref().map(OsStrExt::as_bytes) {
            Some(b"sort") => sort::parse(words).map(|args| Command::Sort(Box::new(args))),
            Some(b"top") => parse::<TopOptions>(words).map(|args| Command::Sort(Box::new(args))),
            Some(b"uniq") => parse::<UniqOptions>(words).map(|args| Command::Sort(Box::new(args))),
            Some(b"quantiles") => parse::<QuantilesOptions>(words).map(Command::Quantiles),
            Some(b"segments") => parse::<SegmentsOptions>(words).map(Command::Segments),
            Some(b"spectra") => parse::<SpectraOptions>(words).map(Command::Spectra),
            _ => return other(program.into_iter().chain(command).chain(words)),
        };
        match parsed {
            Ok(command) => Ok(command),
            Err(Stop::Refused(failure)) => Err(failure),
            Err(Stop::Page(flag)) => other(program.into_iter().chain(command).chain([flag.into()])),
        }
    }
}

/// Parses the arguments of a command whose options are in a table.
fn parse<A: Arguments>(words: vec::IntoIter<OsString>) -> Result<A::Complete, Stop> {
    Ok(getopt::parse::<A>(words)?.complete()?)
}

/// Parses `args` with clap: another command, or a request for a page of help.
fn other(args: impl Iterator<Item = OsString>) -> Result<Command, Failure> {
    let read = program().try_get_matches_from(args);
    match read.and_then(|matches| OtherCommand::from_arg_matches(&matches)) {
        Ok(command) => Ok(Command::Other(command)),
        Err(refused) if refused.use_stderr() => Err(usage_failure(&refused)),
        Err(page) => Ok(Command::Page(page)),
    }
}

/// Takes the only operand of a command.
fn only(operand: &mut Option<PathBuf>, given: PathBuf) -> Result<(), Failure> {
    match operand {
        Some(_) => {
            let given = quote::always(&given);
            Err(flag::usage(format_args!("unexpected argument {given} found")))
        }
        None => {
            *operand = Some(given);
            Ok(())
        }
    }
}

/// The message of clap for a wrong command line, on one line.
fn usage_failure(error: &clap::Error) -> Failure {
    if error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand {
        return Failure::new(
            "a command is missing, such as sort, top, uniq, quantiles, segments, spectra or index build; see --help",
        );
    }
    let text = error.render().to_string();
    let about = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<_> = about.trim_start_matches("error: ").split_whitespace().collect();
    let line = words.join(" ") + &page::tip(error).unwrap_or_default();
    flag::usage(line.replace(char::is_control, "?"))
}
