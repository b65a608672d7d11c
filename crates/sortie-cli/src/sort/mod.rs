//! `sortie sort` for text: reads input, sorts it in memory or in runs on disk, and writes the output.

mod alike;
mod check;
mod cost;
mod explain;
mod external;
mod items;
mod keyed;
mod lines;
mod long;
mod merge;
mod numbers;
mod records_note;
mod sorter;
mod text;
mod windows;

use std::num::NonZeroUsize;
use std::sync::OnceLock;
use std::sync::atomic::AtomicUsize;
use std::time::Instant;

use sortie_files::compression::Compression;
use sortie_files::memory::window;
use sortie_files::run::Part;
use sortie_files::threads::of_use;
use sortie_files::{Error, Gather, Input, Ledger, PARALLEL_FROM, Sink, Task};

use crate::cli::{LinesJob, MemorySize};
use crate::failure::Failure;
use crate::order::{LineOrder, warnings};
use crate::{complain, inputs, memory, remark, stats, threads};
use external::Feed;
use lines::Lines;
use sorter::LINES_A_BLOCK;

/// The default number of inputs to merge at a time.
const INPUTS_AT_ONCE: usize = 256;
/// Inputs of at most this total size are merged from memory, however many there are.
const MERGED_WHOLE: u64 = 4 << 20;

/// The CPU sorts a text smaller than this before a GPU has even started.
const GPU_FROM: u64 = 64 << 20;
/// The size of text from which a thread pool is started. No step divides the few lines of a smaller text among
/// threads.
const POOL_FROM: usize = LINES_A_BLOCK;
/// The number of bytes of a line that a sort compares in most texts.
const COMPARED_OF_A_LINE: usize = 64;
/// The number of samples, and the bytes of each, for estimating the length of a text's lines.
const SAMPLES: usize = 4;
const SAMPLE: usize = 16 << 10;

/// The settings and state that every step of a sort needs.
pub struct LineSort {
    order: LineOrder,
    terminator: u8,
    debug: bool,
    engine: sortie::Engine,
    /// The values of `--parallel` and `--buffer-size`.
    asked: (Option<NonZeroUsize>, Option<MemorySize>),
    /// The bytes of memory for the text and its sort.
    budget: u64,
    /// The number of bytes that are gathered and written at a time.
    window: usize,
    /// The number of threads, once they are started.
    threads: OnceLock<usize>,
    /// The bytes of the longest line that was sorted.
    longest: AtomicUsize,
    ledger: Ledger,
}

/// Sorts, merges or checks text as the command line asks.
pub fn run(args: &LinesJob) -> Result<(), Failure> {
    let mut job = LineSort::new(args)?;
    if args.debug {
        warnings(args).iter().for_each(|warning| complain(format!("{warning}\n").as_bytes()));
    }
    let inputs = inputs::all(&args.sources)?;
    inputs.iter().try_for_each(Input::examine)?;
    let compression = Compression::of(args.compress, args.output.as_deref(), false)?;
    if args.sources.check.is_none() && !args.sources.as_is {
        records_note::of(&inputs).for_each(|note| remark(format!("{note}\n").as_bytes()));
    }
    match args.sources.check {
        _ if args.resources.explain => return explain::explain(&inputs, args, &job),
        Some(how) => inputs.iter().try_for_each(|input| {
            let bytes = input.size().unwrap_or(0) as usize;
            job.ledger.timed("check", bytes, 0, || check::check(input, how, &job))
        })?,
        None => sort(inputs, args, compression, &mut job)?,
    }
    stats::close(job.ledger, args.resources.stats)
}

fn sort(
    inputs: Vec<Input>,
    args: &LinesJob,
    compression: Option<Compression>,
    job: &mut LineSort,
) -> Result<(), Error> {
    let size = inputs.iter().map(Input::size).sum::<Option<u64>>();
    let threads = || of_use(args.resources.parallel, None);
    job.budget = memory::budget(args.resources.buffer_size, size, threads);
    job.window = window(job.budget, size);
    let job = &*job;
    let task = Task::new(&args.temporary, job.budget, &job.ledger);
    task.publish(args.output.as_deref(), compression, |sink| {
        memory::hold_back(args.resources.buffer_size);
        if args.merge && compression.is_some() {
            // This thread merges, while another one writes and waits for the pool to compress. So this thread must not
            // be part of the pool.
            threads::start(args.resources.parallel, None)?;
        }
        sort_or_merge(inputs, size, args, &task, job, &mut |text| match text {
            [_, ..] if job.debug => sink(&job.annotated(text)),
            text => sink(text),
        })
    })
}

fn sort_or_merge(
    inputs: Vec<Input>,
    size: Option<u64>,
    args: &LinesJob,
    task: &Task<'_>,
    job: &LineSort,
    sink: Sink<'_>,
) -> Result<(), Error> {
    let is_small = size.is_some_and(|size| size <= job.budget.min(MERGED_WHOLE));
    if args.merge && args.temporary.batch_size.is_none() && is_small {
        let bytes = size.unwrap_or(0) as usize;
        return job.ledger.timed("merge", bytes, bytes, || merge::merge_whole(&inputs, job, sink));
    }
    if args.merge {
        // The inputs of `-m` may not really be sorted, so they need the merge that reads line by line.
        let merge = |inputs, budget, sink: Sink<'_>| {
            job.merge_by(inputs, |inputs| merge::merge(inputs, budget, job, sink))
        };
        let mut parts = task.parts(INPUTS_AT_ONCE, &merge);
        parts.add_inputs(inputs);
        return parts.merge(sink);
    }
    if args.resources.buffer_size.is_none() && sort_at_once(&inputs, size, job, sink)? {
        return Ok(());
    }
    task.sort(job, Feed::new(inputs), size, sink)
}

/// Sorts in memory if all input is in files and fits. Several threads read it at once. Returns false if it does
/// not fit.
fn sort_at_once(inputs: &[Input], size: Option<u64>, job: &LineSort, sink: Sink<'_>) -> Result<bool, Error> {
    let Some(size) = size.filter(|&size| size <= job.budget / 2) else { return Ok(false) };
    // Standard input cannot be read a second time, which is necessary if the sort turns out to need too much memory.
    if inputs.iter().any(Input::is_stdin) {
        return Ok(false);
    }
    // All threads together read a larger file.
    if size >= PARALLEL_FROM as u64 {
        job.start_threads(Some(size))?;
    }
    job.ledger.progress.stage("reading", size);
    let start = Instant::now();
    let advance = |bytes| job.ledger.progress.advance(bytes);
    let read = |input: &Input| input.read_whole(job.terminator, &advance);
    let texts: Vec<Vec<u8>> = inputs.iter().map(read).collect::<Result<_, _>>()?;
    job.ledger.note("read", start.elapsed(), texts.iter().map(Vec::len).sum(), 0);
    job.start_threads(Some(texts.iter().map(|text| job.work(text)).sum()))?;
    let lines = Lines::of(&texts, job);
    // Very short lines need many times their own size.
    if lines.cost(job)? > job.budget {
        return Ok(false);
    }
    job.ledger.progress.stage("sorting", 0);
    lines.sort(job, |sorted| sorted.write(job, sink))?;
    Ok(true)
}

impl LineSort {
    fn new(args: &LinesJob) -> Result<LineSort, Failure> {
        Ok(LineSort {
            order: LineOrder::new(args)?,
            terminator: if args.zero_terminated { 0 } else { b'\n' },
            debug: args.debug,
            engine: args.resources.engine,
            asked: (args.resources.parallel, args.resources.buffer_size),
            budget: 0,
            window: 0,
            threads: OnceLock::new(),
            longest: AtomicUsize::new(0),
            ledger: stats::open(),
        })
    }

    /// Starts the threads on the first call. `work` is the number of bytes that are worth dividing among them, if it is
    /// known. A few lines are sorted without a pool, because starting one takes longer than sorting them, even if it has no
    /// second thread.
    fn start_threads(&self, work: Option<u64>) -> Result<(), Error> {
        if self.threads.get().is_some() {
            return Ok(());
        }
        let (asked, limit) = self.asked;
        // Looking for a GPU takes as long as a small sort.
        let may_take_gpu =
            || work.is_none_or(|bytes| bytes >= GPU_FROM) && crate::explain::may_take_gpu(self.engine, limit);
        // The threads that wait for a GPU are separate from the pool, and may themselves wait for work done in
        // the pool.
        if self.engine.has_gpu() || may_take_gpu() {
            threads::start(asked, work)?;
        } else if work.is_none_or(|bytes| bytes >= POOL_FROM as u64) {
            threads::start_with_this(asked, work)?;
        }
        let _ = self.threads.set(of_use(asked, work));
        Ok(())
    }

    /// Merges the parts with `merge`, and adds a phase to the report.
    fn merge_by(
        &self,
        parts: Vec<Part>,
        merge: impl FnOnce(Vec<Part>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let bytes = parts.iter().map(|part| part.bytes).sum::<u64>() as usize;
        self.ledger.timed("merge", bytes, bytes, || merge(parts))
    }

    /// Whether one thread does all the work. There may be no pool then, and calling rayon would start one.
    fn is_alone(&self) -> bool {
        self.threads.get() == Some(&1)
    }

    fn gather(&self) -> Gather {
        Gather {
            window: self.window,
            terminator: Some(self.terminator),
            unique: self.order.unique(),
            // With `--debug`, the sink needs whole lines, because it prints marks under each of them.
            whole: self.debug,
            alone: self.is_alone(),
        }
    }

    /// The bytes of a text that are worth dividing among threads. A sort usually compares only the beginning of a long line
    /// and copies the rest. Samples estimate how long the lines are.
    fn work(&self, text: &[u8]) -> u64 {
        // For a larger text, reading and writing alone make threads worthwhile.
        if text.len() <= SAMPLES * SAMPLE || text.len() >= PARALLEL_FROM {
            return text.len() as u64;
        }
        let sample = |i: usize| &text[i * (text.len() / SAMPLES)..][..SAMPLE];
        let lines: usize =
            (0..SAMPLES).map(|i| 1 + sortie_formats::lines::count(sample(i), self.terminator)).sum();
        let compared = (COMPARED_OF_A_LINE * lines).min(SAMPLES * SAMPLE);
        let work = text.len() as f64 * compared as f64 / (SAMPLES * SAMPLE) as f64;
        // The samples may have missed many short lines, which need a pool.
        (work as u64).max(POOL_FROM as u64)
    }

    /// Whole lines as `--debug` prints them, with marks under each line.
    fn annotated(&self, text: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        for line in
            text.strip_suffix(&[self.terminator]).unwrap_or(text).split(|&byte| byte == self.terminator)
        {
            // A tab would break the alignment with the marks below.
            out.extend(line.iter().map(|&byte| if byte == b'\t' { b'>' } else { byte }));
            out.push(b'\n');
            self.order.debug_line(line, &mut out);
        }
        out
    }
}
