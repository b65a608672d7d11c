//! `sortie sort` on text: input, memory or runs on disk, output.

mod check;
mod external;
mod gather;
mod input;
mod items;
mod memory;
mod merge;
mod runs;

use std::num::NonZeroUsize;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use sortie::Report;

use crate::cli::SortArgs;
use crate::failure::Failure;
use crate::order::LineOrder;
use crate::output::Output;
use crate::progress::Progress;
use crate::{stats, threads};
use gather::Sink;
pub use input::Input;
use items::Lines;
pub use memory::{budget, bytes, filled, keep_nothing_freed};
use merge::Parts;
use runs::RunFolder;

/// What every step of a sort needs to know.
pub struct Job {
    order: LineOrder,
    terminator: u8,
    debug: bool,
    engine: sortie::Engine,
    /// How many were asked for.
    threads: Option<NonZeroUsize>,
    started: OnceLock<()>,
    progress: Progress,
    report: Mutex<Report>,
}

/// Sorts, merges or checks text as the command line says.
pub fn run(args: &SortArgs) -> Result<(), Failure> {
    let job = Job {
        order: LineOrder::new(args)?,
        terminator: if args.zero_terminated { 0 } else { b'\n' },
        debug: args.debug,
        engine: args.resources.engine,
        threads: args.resources.parallel,
        started: OnceLock::new(),
        progress: Progress::start(),
        report: Mutex::default(),
    };
    let inputs = Input::all(args)?;
    match args.check_mode() {
        Some(how) => inputs.iter().try_for_each(|input| check::check(input, how, &job))?,
        None => sort(inputs, args, &job)?,
    }
    let Job { progress, report, .. } = job;
    drop(progress);
    match args.resources.stats {
        Some(format) => stats::print(&report.into_inner().expect("no thread panicked"), format),
        None => Ok(()),
    }
}

fn sort(inputs: Vec<Input>, args: &SortArgs, job: &Job) -> Result<(), Failure> {
    let folder = RunFolder::new(args);
    let mut output = Output::open(args.output(), folder.first())?;
    let limited = memory::addressable().is_some();
    let budget = memory::budget(args.resources.buffer_size, threads::of_use(args.resources.parallel, None));
    if args.resources.buffer_size.is_some() || limited {
        memory::keep_nothing_freed();
    }
    if limited {
        memory::share_one_heap();
    }
    let sink = &mut |text: &[u8]| {
        job.progress.advance(text.len() as u64);
        if job.debug && !text.is_empty() { output.write(&job.annotated(text)) } else { output.write(text) }
    };
    if args.merge {
        Parts::inputs(inputs, args.batch_size, budget, &folder).merge(job, sink)?;
    } else if args.resources.buffer_size.is_some() || !sort_at_once(&inputs, budget, job, sink)? {
        let parts = Parts::runs(args.batch_size, budget, &folder);
        external::sort(&inputs, budget, &folder, parts, job, sink)?;
    }
    output.finish()
}

/// Reads all input at once, by several threads, and sorts it, where it is in files and memory has room for that.
fn sort_at_once(inputs: &[Input], budget: u64, job: &Job, sink: Sink<'_>) -> Result<bool, Failure> {
    let Some(size) = inputs.iter().map(Input::size).sum::<Option<u64>>() else { return Ok(false) };
    if size > budget / 2 {
        return Ok(false);
    }
    job.start_threads(Some(size))?;
    job.progress.stage("reading", size);
    let start = Instant::now();
    let advance = |bytes| job.progress.advance(bytes);
    let read = |input: &Input| input.read_whole(job.terminator, &advance);
    let texts: Vec<Vec<u8>> = inputs.iter().map(read).collect::<Result<_, _>>()?;
    job.note("read", start.elapsed(), texts.iter().map(Vec::len).sum(), 0);
    let lines = Lines::of(&texts, job);
    // Very short lines take many times their own bytes.
    if lines.cost(job) > budget {
        return Ok(false);
    }
    job.progress.stage("sorting", 0);
    lines.sort(job, sink)?;
    Ok(true)
}

impl Job {
    /// Starts the threads, the first time that it is called, for an input of so many bytes where that is known.
    fn start_threads(&self, bytes: Option<u64>) -> Result<(), Failure> {
        if self.started.set(()).is_err() {
            return Ok(());
        }
        let threads = threads::of_use(self.threads, bytes);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
        pool.map_err(Failure::threads(threads))
    }

    /// Whole lines as `--debug` prints them, with marks under each.
    fn annotated(&self, text: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        for line in
            text.strip_suffix(&[self.terminator]).unwrap_or(text).split(|&byte| byte == self.terminator)
        {
            // A tab would not line up with the marks under it.
            out.extend(line.iter().map(|&byte| if byte == b'\t' { b'>' } else { byte }));
            out.push(b'\n');
            self.order.debug_line(line, &mut out);
        }
        out
    }

    /// Runs `work` as a phase that reads and writes so many bytes.
    fn timed<R>(&self, phase: &'static str, read: usize, written: usize, work: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = work();
        self.note(phase, start.elapsed(), read, written);
        result
    }

    fn note(&self, phase: &'static str, time: Duration, read: usize, written: usize) {
        self.report.lock().expect("no thread panicked").add(phase, time, read as u64, written as u64);
    }

    fn absorb(&self, report: Report) {
        self.report.lock().expect("no thread panicked").absorb(report);
    }
}
