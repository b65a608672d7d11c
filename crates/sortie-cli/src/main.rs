//! `sortie`: sorts lines of text as GNU sort does in the C locale, raw and `.npy` arrays, FASTA and FASTQ records,
//! and the peaks of mass spectra. It also indexes documents.

// The C runtime calls `main` directly. The start-up code that Rust runs before `fn main` takes a tenth of the time of
// sorting a small file. It also opens /dev/null in place of closed streams, so output would be lost without an error.
#![cfg_attr(not(test), no_main)]

mod allocator;
mod arrays;
mod binary;
mod cli;
mod compression;
mod devices;
mod doctor;
mod explain;
mod external;
mod failure;
mod fixed;
mod index;
mod man;
#[cfg(not(test))]
mod math;
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
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use cli::{Command, Job, OtherCommand};
use failure::Failure;
use output::Output;

// Links the unwinder statically if `build.rs` has found it. Loading libgcc_s.so takes a tenth of the time of a small
// sort, because it queries the features of the processor, which is slow in a virtual machine.
#[cfg(static_unwinder)]
#[link(name = "gcc_eh")]
unsafe extern "C" {}

/// The exit status of a program that panicked, the same as that of Rust's own runtime.
const PANICKED: u8 = 101;

/// The exit status if standard error cannot be written.
const UNTOLD: u8 = 2;

#[cfg_attr(not(test), unsafe(no_mangle))]
extern "C" fn main(count: c_int, words: *const *const c_char) -> c_int {
    streams::prepare();
    let word = |place: usize| {
        // SAFETY: the C runtime passes `count` pointers to strings, which stay valid until the process ends.
        let word: &CStr = unsafe { CStr::from_ptr(*words.add(place)) };
        OsStr::from_bytes(word.to_bytes()).to_owned()
    };
    let args = (0..count as usize).map(word).collect();
    // A panic must not unwind into C code.
    panic::catch_unwind(|| program(args)).unwrap_or(PANICKED).into()
}

/// Does what the command line asks for, and returns the exit status.
fn program(args: Vec<OsString>) -> u8 {
    memory::grow_stack();
    let outcome = Command::from_args(args).and_then(run);
    let Err(failure) = outcome else { return if WARNING_LOST.load(Relaxed) { UNTOLD } else { 0 } };
    allocator::begin_the_end();
    if failure.is_closed_pipe() {
        streams::end_by_sigpipe();
    }
    // As in GNU sort, the status differs if the message cannot be printed.
    if tell(&failure.line()) && !WARNING_LOST.load(Relaxed) { failure.status() } else { UNTOLD }
}

fn run(command: Command) -> Result<(), Failure> {
    // Refuses an unknown value of SORTIE_ISA before any work, also for commands that build no sorter.
    sortie::Sorter::builder().build()?;
    match command {
        Command::Sort(options) => match options.job(arrays::holds_npy)? {
            Job::Lines(job) => sort::run(&job),
            Job::Array(job) => arrays::sort(&job),
            Job::Records(job) => records::run(&job),
            Job::Fixed(job) => fixed::run(&job),
        },
        Command::Segments(args) => arrays::segments(&args),
        Command::Spectra(args) => spectra::run(&args),
        // Prints in colour if standard output is a terminal.
        Command::Page(page) if io::stdout().is_terminal() => {
            page.print().map_err(Failure::file("write", "standard output".as_ref()))
        }
        Command::Page(page) => print(page.render().to_string().as_bytes()),
        Command::Other(command) => run_other(command),
    }
}

fn run_other(command: OtherCommand) -> Result<(), Failure> {
    match command {
        OtherCommand::Index(command) => index::run(&command),
        OtherCommand::Devices { measure } => print(devices::list(measure)?.as_bytes()),
        OtherCommand::Tune { engine, parallel } => print(devices::tune(engine, parallel)?.as_bytes()),
        OtherCommand::Doctor { engine, large } => doctor::run(engine, large),
        OtherCommand::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut cli::program(), "sortie", &mut script);
            print(&script)
        }
        OtherCommand::Man(args) => man::run(&args),
    }
}

fn print(text: &[u8]) -> Result<(), Failure> {
    let mut output = Output::stdout()?;
    output.write(text)?;
    output.finish()
}

/// Writes `sortie: <line>` to standard error. Returns whether that succeeded.
///
/// As in GNU sort, a line out of order is quoted byte for byte. On a terminal it is escaped, because a terminal would
/// obey control characters in it.
fn tell(line: &[u8]) -> bool {
    let Some((end, text)) = line.split_last() else { return true };
    let mut error = io::stderr().lock();
    let text = match error.is_terminal() {
        true => quote::harmless(&String::from_utf8_lossy(text)).into(),
        false => text.to_vec(),
    };
    error.write_all(&[b"sortie: ", &text[..], &[*end]].concat()).is_ok()
}

/// Whether a warning could not be printed.
static WARNING_LOST: AtomicBool = AtomicBool::new(false);

/// Prints a warning. If printing fails, the work goes on, and only the exit status tells, as in GNU sort.
fn complain(line: &[u8]) {
    if !tell(line) {
        WARNING_LOST.store(true, Relaxed);
    }
}
