//! `sortie`: sorts text as GNU sort does in the C locale, raw arrays and `.npy`, and the peaks of mass spectra, fast.

mod arrays;
mod cli;
mod devices;
mod failure;
mod order;
mod output;
mod progress;
mod sort;
mod spectra;
mod stats;

use std::io::{self, Write};
use std::process::ExitCode;

use clap::CommandFactory;
use cli::{Cli, Command};
use failure::Failure;

fn main() -> ExitCode {
    let outcome = match Cli::from_command_line() {
        Ok(cli) => run(cli.command),
        Err(refused) if refused.use_stderr() => Err(cli::usage_failure(&refused)),
        Err(help) => help.print().map_err(Failure::file("write", "standard output".as_ref())),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            complain(&failure.line());
            ExitCode::from(failure.status())
        }
    }
}

fn run(command: Command) -> Result<(), Failure> {
    match command {
        Command::Sort(args) => {
            args.validate()?;
            if args.is_array() {
                return arrays::sort(&args);
            }
            if args.debug {
                order::warnings(&args).iter().for_each(|warning| complain(warning.as_bytes()));
            }
            sort::run(&args)
        }
        Command::Segments(args) => arrays::segments(&args),
        Command::Spectra(args) => spectra::run(&args),
        Command::Devices { measure } => print(devices::list(measure)?.as_bytes()),
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "sortie", &mut script);
            print(&script)
        }
        Command::Man => {
            let mut page = Vec::new();
            let stdout = "standard output".as_ref();
            cli::man_page(&mut page).map_err(Failure::file("write", stdout))?;
            print(&page)
        }
    }
}

fn print(text: &[u8]) -> Result<(), Failure> {
    io::stdout().lock().write_all(text).map_err(Failure::file("write", "standard output".as_ref()))
}

/// `sortie: <line>` on standard error. Where even that fails there is nobody to tell.
fn complain(line: &[u8]) {
    if !line.is_empty() {
        let text = [b"sortie: ", line, b"\n"].concat();
        let _ = io::stderr().lock().write_all(&text);
    }
}
