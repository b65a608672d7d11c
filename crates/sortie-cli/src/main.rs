//! `sortie`: sorts text as GNU sort does in the C locale, raw arrays and `.npy`, records of FASTA and FASTQ, and the peaks
//! of mass spectra, fast; and indexes documents.

mod allocator;
mod arrays;
mod cli;
mod compression;
mod devices;
mod doctor;
mod external;
mod failure;
mod fixed;
mod index;
mod man;
mod memory;
mod order;
mod output;
mod peek;
mod progress;
mod quote;
mod records;
mod shortage;
mod sort;
mod spectra;
mod stats;
mod streams;
mod threads;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use clap::CommandFactory;
use cli::{Cli, Command, SortCommand};
use failure::Failure;
use output::Output;

fn main() -> ExitCode {
    memory::grow_stack();
    let outcome = match Cli::from_command_line() {
        Ok(cli) => run(cli.command),
        Err(refused) if refused.use_stderr() => Err(cli::usage_failure(&refused)),
        // In colours for a terminal.
        Err(help) if io::stdout().is_terminal() => {
            help.print().map_err(Failure::file("write", "standard output".as_ref()))
        }
        Err(help) => print(help.render().to_string().as_bytes()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            allocator::begin_the_end();
            if failure.is_closed_pipe() {
                streams::end_by_sigpipe();
            }
            complain(&failure.line());
            ExitCode::from(failure.status())
        }
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Sort(SortCommand::Sort(mut args)) => {
            args.holds_npy = args.only_text().is_some_and(arrays::holds_npy);
            args.validate()?;
            if args.is_array() {
                return arrays::sort(&args);
            }
            if let Some(format) = args.records.format {
                return records::run(&args, format);
            }
            if let Some(size) = args.records.size {
                return fixed::run(&args, size);
            }
            sort::run(&args)
        }
        Command::Segments(args) => arrays::segments(&args),
        Command::Spectra(args) => spectra::run(&args),
        Command::Index(command) => index::run(&command),
        Command::Devices { measure } => print(devices::list(measure)?.as_bytes()),
        Command::Tune { engine, parallel } => print(devices::tune(engine, parallel)?.as_bytes()),
        Command::Doctor { engine, large } => doctor::run(engine, large),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "sortie", &mut script);
            print(&script)
        }
        Command::Man(args) => man::run(&args),
    }
}

fn print(text: &[u8]) -> Result<(), Failure> {
    let mut output = Output::stdout()?;
    output.write(text)?;
    output.finish()
}

/// `sortie: <line>` on standard error. Where even that fails there is nobody to tell.
///
/// A line out of order is quoted byte for byte, as GNU sort does; but a terminal would obey some of those.
fn complain(line: &[u8]) {
    let Some((end, text)) = line.split_last() else { return };
    let mut error = io::stderr().lock();
    let text = match error.is_terminal() {
        true => quote::harmless(&String::from_utf8_lossy(text)).into(),
        false => text.to_vec(),
    };
    let _ = error.write_all(&[b"sortie: ", &text[..], &[*end]].concat());
}
