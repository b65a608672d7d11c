//! `sortie`: sorts text as GNU sort does in the C locale, raw arrays and `.npy`, records of FASTA and FASTQ, and the peaks
//! of mass spectra, fast; and indexes documents.

// The C runtime calls `main` directly. What Rust does before `fn main` takes a tenth as long as sorting a small file, and is not
// wanted: it opens /dev/null in place of closed streams, where output would be lost without an error.
#![cfg_attr(not(test), no_main)]

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

use std::ffi::{CStr, OsStr, OsString, c_char, c_int};
use std::io::{self, IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::panic;

use clap::CommandFactory;
use cli::{Cli, Command, SortCommand};
use failure::Failure;
use output::Output;

// Unwinding is linked in. As a library of its own it takes a tenth of the time that a small sort takes: it is loaded, and then
// asks what the processor can do, which is slow in a virtual machine.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[link(name = "gcc_eh")]
unsafe extern "C" {}

/// The exit status of a program that panicked, as Rust's own start returns it.
const PANICKED: u8 = 101;

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn main(count: c_int, words: *const *const c_char) -> c_int {
    streams::prepare();
    let word = |place: usize| {
        // SAFETY: the C runtime hands over `count` pointers to strings, which stay until the process ends.
        let word: &CStr = unsafe { CStr::from_ptr(*words.add(place)) };
        OsStr::from_bytes(word.to_bytes()).to_owned()
    };
    let args = (0..count as usize).map(word).collect();
    // A panic must not leave Rust's code.
    panic::catch_unwind(|| program(args)).unwrap_or(PANICKED).into()
}

/// Does what the command line asks for, and returns the exit status.
fn program(args: Vec<OsString>) -> u8 {
    memory::grow_stack();
    let outcome = match Cli::from_args(args) {
        Ok(cli) => run(cli.command),
        Err(refused) if refused.use_stderr() => Err(cli::usage_failure(&refused)),
        // In colours for a terminal.
        Err(help) if io::stdout().is_terminal() => {
            help.print().map_err(Failure::file("write", "standard output".as_ref()))
        }
        Err(help) => print(help.render().to_string().as_bytes()),
    };
    let Err(failure) = outcome else { return 0 };
    allocator::begin_the_end();
    if failure.is_closed_pipe() {
        streams::end_by_sigpipe();
    }
    complain(&failure.line());
    failure.status()
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
