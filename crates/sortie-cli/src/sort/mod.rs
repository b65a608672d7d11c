//! `sortie sort` on text: input, memory or runs on disk, output.

mod check;
mod cost;
mod external;
mod gather;
mod input;
mod items;
mod merge;
mod windows;

use std::io::Read;
use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::time::Instant;

use crate::cli::SortArgs;
use crate::external::{Part, Parts, RunFolder, Sink};
use crate::failure::Failure;
use crate::order::{LineOrder, warnings};
use crate::output::Output;
use crate::stats::Ledger;
use crate::{complain, explain, memory, threads};
pub use input::Input;
use items::Lines;

/// How many are merged at a time where the command line does not say.
const INPUTS_AT_ONCE: usize = 256;
const RUNS_AT_ONCE: usize = 64;
/// Inputs that come to this are merged from memory, however many they are.
const MERGED_WHOLE: u64 = 4 << 20;

/// Smaller text is sorted before a GPU has started.
const GPU_FROM: u64 = 64 << 20;
/// How much of the first input tells how long lines are.
const LOOKED_AT: u64 = 1 << 20;

/// What every step of a sort needs to know.
pub struct LineSort {
    order: LineOrder,
    terminator: u8,
    debug: bool,
    engine: sortie::Engine,
    /// Whether a GPU may sort where none was named.
    may_take_gpu: bool,
    /// How many were asked for.
    threads: Option<NonZeroUsize>,
    /// Bytes that are gathered and written at a time.
    window: usize,
    started: OnceLock<()>,
    ledger: Ledger,
}

/// Sorts, merges or checks text as the command line says.
pub fn run(args: &SortArgs) -> Result<(), Failure> {
    let mut job = LineSort {
        order: LineOrder::new(args)?,
        terminator: if args.zero_terminated { 0 } else { b'\n' },
        debug: args.debug,
        engine: args.resources.engine,
        may_take_gpu: false,
        threads: args.resources.parallel,
        window: 0,
        started: OnceLock::new(),
        ledger: Ledger::open(),
    };
    if args.debug {
        warnings(args).iter().for_each(|warning| complain(format!("{warning}\n").as_bytes()));
    }
    let inputs = Input::all(args)?;
    // To look for a GPU takes as long as a small sort.
    if inputs.iter().map(Input::size).sum::<Option<u64>>().is_none_or(|size| size >= GPU_FROM) {
        job.may_take_gpu = explain::may_take_gpu(job.engine, args.resources.buffer_size);
    }
    match args.check_mode() {
        _ if args.resources.explain => return explain(&inputs, args, &job),
        Some(how) => inputs.iter().try_for_each(|input| check::check(input, how, &job))?,
        None => sort(inputs, args, &mut job)?,
    }
    job.ledger.close(args.resources.stats)
}

/// Prints how the lines would be sorted, of which there are as many as the first of them let expect.
fn explain(inputs: &[Input], args: &SortArgs, job: &LineSort) -> Result<(), Failure> {
    let size = inputs.iter().map(Input::size).sum::<Option<u64>>();
    let size = size.ok_or_else(explain::unknown_size)?;
    let of_use = || threads::of_use(args.resources.parallel, None);
    let budget = memory::budget(args.resources.buffer_size, Some(size), of_use);
    let in_runs = if size > budget / 2 { explain::IN_RUNS } else { "" };
    job.start_threads(Some(size))?;
    let mut head = Vec::new();
    for input in inputs {
        if head.is_empty() {
            let read = input.open()?.take(LOOKED_AT).read_to_end(&mut head);
            read.map_err(Failure::file("read", input.name()))?;
        }
    }
    let ends = head.iter().filter(|&&byte| byte == job.terminator).count().max(1);
    let lines = (size as f64 * ends as f64 / head.len().max(1) as f64).round() as usize;
    let plan = items::plan(job, lines)?;
    let bytes = explain::counted(size as usize, "byte", "bytes");
    let lines = explain::counted(lines, "line", "lines");
    explain::print(&format!("{bytes}, about {lines}{in_runs}"), &plan)
}

fn sort(inputs: Vec<Input>, args: &SortArgs, job: &mut LineSort) -> Result<(), Failure> {
    let size = inputs.iter().map(Input::size).sum::<Option<u64>>();
    let of_use = || threads::of_use(args.resources.parallel, None);
    let budget = memory::budget(args.resources.buffer_size, size, of_use);
    job.window = memory::window(budget, size);
    let job = &*job;
    let folder = RunFolder::new(args, budget);
    let mut output = Output::open(args.output(), folder.first())?;
    memory::hold_back(args.resources.buffer_size);
    let sink = &mut |text: &[u8]| {
        job.ledger.progress.advance(text.len() as u64);
        if job.debug && !text.is_empty() { output.write(&job.annotated(text)) } else { output.write(text) }
    };
    // What the program did not sort itself need not be sorted.
    let merge_parts = if args.merge { merge::merge } else { windows::merge };
    let merge = |parts: Vec<Part>, budget, sink: Sink<'_>| {
        let bytes = parts.iter().map(|part| part.bytes).sum::<u64>() as usize;
        job.ledger.timed("merge", bytes, bytes, || merge_parts(parts, budget, job, sink))
    };
    let parts = |at_once| {
        let at_once = args.batch_size.map_or(at_once, NonZeroUsize::get);
        Parts::new(at_once, budget, &folder, &job.ledger, &merge)
    };
    if args.merge && args.batch_size.is_none() && size.is_some_and(|size| size <= budget.min(MERGED_WHOLE)) {
        merge::merge_whole(&inputs, job, sink)?;
    } else if args.merge {
        let mut parts = parts(INPUTS_AT_ONCE);
        parts.add_inputs(inputs);
        parts.merge(sink)?;
    } else if args.resources.buffer_size.is_some() || !sort_at_once(&inputs, size, budget, job, sink)? {
        external::sort(&inputs, size, budget, &folder, parts(RUNS_AT_ONCE), job, sink)?;
    }
    output.finish()
}

/// Reads all input at once, by several threads, and sorts it, where it is in files and memory has room for that.
fn sort_at_once(
    inputs: &[Input],
    size: Option<u64>,
    budget: u64,
    job: &LineSort,
    sink: Sink<'_>,
) -> Result<bool, Failure> {
    let Some(size) = size.filter(|&size| size <= budget / 2) else { return Ok(false) };
    // Where it then takes too much memory, all of it is read once more.
    if inputs.iter().any(|input| matches!(input, Input::Stdin)) {
        return Ok(false);
    }
    job.start_threads(Some(size))?;
    job.ledger.progress.stage("reading", size);
    let start = Instant::now();
    let advance = |bytes| job.ledger.progress.advance(bytes);
    let read = |input: &Input| input.read_whole(job.terminator, &advance);
    let texts: Vec<Vec<u8>> = inputs.iter().map(read).collect::<Result<_, _>>()?;
    job.ledger.note("read", start.elapsed(), texts.iter().map(Vec::len).sum(), 0);
    let lines = Lines::of(&texts, job);
    // Very short lines take many times their own bytes.
    if lines.cost(job)? > budget {
        return Ok(false);
    }
    job.ledger.progress.stage("sorting", 0);
    lines.sort(job, |sorted| sorted.write(job, sink))?;
    Ok(true)
}

impl LineSort {
    /// Starts the threads, the first time that it is called, for an input of so many bytes where that is known.
    fn start_threads(&self, bytes: Option<u64>) -> Result<(), Failure> {
        if self.started.set(()).is_err() {
            return Ok(());
        }
        // What waits for a GPU has threads of its own, which may have work for all.
        if self.engine.has_gpu() || self.may_take_gpu {
            threads::start(self.threads, bytes)
        } else {
            threads::start_with_this(self.threads, bytes)
        }
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
}
