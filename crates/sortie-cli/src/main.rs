//! `sortie`: sorts lines of text as GNU sort does, raw and `.npy` arrays, FASTA and FASTQ records,
//! and the peaks of mass spectra. It also indexes documents.

// What only GPUs and `sortie index` use is not worth a condition each. The gate checks a build with both.
#![cfg_attr(not(feature = "index"), allow(dead_code, unused_imports))]
#![cfg_attr(all(target_os = "linux", target_env = "gnu", not(test)), no_main)]

mod allocator;
mod arrays;
mod cli;
#[cfg_attr(not(feature = "parquet"), path = "no_columnar.rs")]
mod columnar;
#[cfg(feature = "gpu")]
mod devices;
#[cfg(feature = "gpu")]
mod doctor;
mod explain;
mod failure;
mod fixed;
#[cfg_attr(not(feature = "index"), path = "no_index.rs")]
mod index;
mod inputs;
mod layout;
mod locale;
mod man;
#[cfg(all(target_os = "linux", target_env = "gnu"))]
mod mathematics;
mod memory;
#[cfg(not(feature = "gpu"))]
mod no_gpus;
mod progress;
mod quantiles;
mod records;
mod sort;
mod spectra;
mod stats;
mod streams;
mod tables;
mod threads;

use std::env;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use sortie_files::{Output, quote};

use cli::{Command, Job, OtherCommand};
use failure::Failure;
#[cfg(not(feature = "gpu"))]
use no_gpus::{devices, doctor};
use streams::StandardError;

// Links the unwinder statically if `build.rs` has found it. Loading libgcc_s.so takes a tenth of the time of a small
// sort, because it queries the features of the processor, which is slow in a virtual machine.
#[cfg(static_unwinder)]
#[link(name = "gcc_eh")]
unsafe extern "C" {}

/// The exit status if standard error cannot be written.
const UNTOLD: u8 = 2;

/// A message of at most this size is printed by a single write, so that no other output comes between its parts. A line out of order
/// may be as large as memory, and is not copied.
const COPIED: usize = 64 << 10;

/// The start of the program. It goes without Rust's runtime, which would read /proc/self/maps so as to tell an overflow of the stack from
/// another fault. That takes a tenth of the time of a small sort. Standard streams and SIGPIPE are prepared before.
#[cfg(all(target_os = "linux", target_env = "gnu", not(test)))]
#[unsafe(export_name = "main")]
extern "C" fn start(_: std::ffi::c_int, _: *const *const std::ffi::c_char) -> std::ffi::c_int {
    /// The exit status after a panic, as in other programs in Rust.
    const PANICKED: u8 = 101;
    std::ffi::c_int::from(std::panic::catch_unwind(work).unwrap_or(PANICKED))
}

#[cfg(not(all(target_os = "linux", target_env = "gnu", not(test))))]
fn main() -> std::process::ExitCode {
    work().into()
}

/// Does what the arguments say, and returns the exit status.
fn work() -> u8 {
    memory::grow_stack();
    let outcome = Command::from_args(env::args_os().collect()).and_then(run);
    let Err(failure) = outcome else {
        return if WARNING_LOST.load(Relaxed) { UNTOLD } else { 0 };
    };
    allocator::begin_the_end();
    if failure.is_closed_pipe() {
        streams::end_by_sigpipe();
    }
    // As in GNU sort, the status differs if the message cannot be printed.
    let status = failure.status();
    let told = tell(&failure.into_line()) && !WARNING_LOST.load(Relaxed);
    if told { status } else { UNTOLD }
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
            Job::Layout(job) => layout::run(&job),
            Job::Table(job) => tables::run(&job),
        },
        Command::Segments(args) => arrays::segments(&args),
        Command::Spectra(args) => spectra::run(&args),
        Command::Quantiles(args) => quantiles::run(&args),
        // Prints in colour if standard output is a terminal.
        Command::Page(page) if io::stdout().is_terminal() => {
            let printed = page.print().and_then(|()| io::stdout().flush());
            printed.map_err(Failure::file("write", "standard output".as_ref()))
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
        OtherCommand::Verify { files } => columnar::verify_all(&files),
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
    Ok(output.finish()?)
}

/// Writes `sortie: <line>` to standard error. Returns whether that succeeded.
///
/// As in GNU sort, a line out of order is quoted byte for byte. On a terminal it is escaped, because a terminal would
/// obey control characters in it.
fn tell(line: &[u8]) -> bool {
    let Some((end, text)) = line.split_last() else { return true };
    let mut error = StandardError;
    let harmless: Vec<u8>;
    let text = if io::stderr().is_terminal() {
        harmless = quote::harmless(&String::from_utf8_lossy(text)).into();
        &harmless
    } else {
        text
    };
    let pieces = [b"sortie: ", text, &[*end]];
    let written = if text.len() <= COPIED {
        error.write_all(&pieces.concat())
    } else {
        pieces.iter().try_for_each(|piece| error.write_all(piece))
    };
    written.is_ok()
}

/// Prints a note. If printing fails, the job has succeeded all the same.
fn remark(line: &[u8]) {
    tell(line);
}

/// Whether a warning could not be printed.
static WARNING_LOST: AtomicBool = AtomicBool::new(false);

/// Prints a warning. If printing fails, the work goes on, and only the exit status tells, as in GNU sort.
fn complain(line: &[u8]) {
    if !tell(line) {
        WARNING_LOST.store(true, Relaxed);
    }
}
