//! `sortie sort` for text: the crate `sortie-files` sorts, merges or checks lines as the command line asks.

mod explain;
mod records_note;
mod warnings;

use std::os::unix::ffi::OsStrExt;

use sortie_files::compression::Compression;
use sortie_files::formats::text::{Disorder, LineOrder, LineSort, POOL_FROM, TextOrder};
use sortie_files::threads::of_use;
use sortie_files::{Error, Input, Ledger, Task};

use crate::cli::{Check, LinesJob, Resources};
use crate::failure::Failure;
use crate::{complain, inputs, locale, memory, remark, stats, threads};

/// The CPU sorts a text smaller than this before a GPU has even started.
const GPU_FROM: u64 = 64 << 20;

/// Sorts, merges or checks text as the command line asks.
pub fn run(args: &LinesJob) -> Result<(), Failure> {
    let text = order(args)?;
    // The process ends soon, and need not unmap the locale before.
    std::mem::forget(text.locale.clone());
    let order = LineOrder::new(&text)?;
    let ledger = stats::open();
    let start = |work| start_threads(&args.resources, work);
    let mut job = LineSort::new(order, &start, &ledger);
    job.terminator = if args.zero_terminated { 0 } else { b'\n' };
    job.engine = args.resources.engine;
    // The marks of `--debug` are printed under each line, and distinct lines are counted.
    job.whole_lines = args.debug || args.distinct.is_some();
    if args.debug {
        warnings::of(args, &text.locale)
            .iter()
            .for_each(|warning| complain(format!("{warning}\n").as_bytes()));
    }
    let inputs = inputs::all(&args.sources)?;
    inputs.iter().try_for_each(Input::examine)?;
    let compression = Compression::of(args.compress, args.output.as_deref(), false)?;
    if args.sources.check.is_none() && !args.sources.as_is {
        records_note::of(&inputs).for_each(|note| remark(format!("{note}\n").as_bytes()));
    }
    match args.sources.check {
        _ if args.resources.explain => return explain::explain(&inputs, args, &text.locale, &job),
        Some(how) => inputs.iter().try_for_each(|input| check(input, how, &job))?,
        None => sort(inputs, args, compression, job, &ledger)?,
    }
    stats::close(ledger, args.resources.stats)
}

/// What the lines are sorted by.
fn order(args: &LinesJob) -> Result<TextOrder, Error> {
    Ok(TextOrder {
        keys: args.keys.iter().map(|key| key.spec).collect(),
        options: args.ordering,
        separator: args.separator,
        stable: args.stable,
        unique: args.unique,
        random_source: args.random_source.clone(),
        locale: locale::of(&args.rules, args.shuffles())?,
    })
}

fn sort(
    inputs: Vec<Input>,
    args: &LinesJob,
    compression: Option<Compression>,
    job: LineSort<'_>,
    ledger: &Ledger,
) -> Result<(), Error> {
    let size = inputs.iter().map(Input::size).sum::<Option<u64>>();
    let Resources { parallel, buffer_size, .. } = args.resources;
    let budget = memory::budget(buffer_size, size, || of_use(parallel, None));
    // The other half is for the tables that count lines.
    let has_tables = args.distinct.is_some() && job.order.plain().is_some();
    let budget = if has_tables { budget / 2 } else { budget };
    let job = job.within(budget, buffer_size.is_some(), size);
    let task = Task::new(&args.temporary, budget, ledger);
    task.publish(args.output.as_deref(), compression, |sink| {
        memory::hold_back(buffer_size);
        if args.merge && compression.is_some() {
            // This thread merges, while another one writes and waits for the pool to compress. So this thread must not
            // be part of the pool.
            threads::start(parallel, None)?;
        }
        let sink = &mut |text: &[u8]| match text {
            [_, ..] if args.debug => sink(&annotated(text, &job)),
            text => sink(text),
        };
        match (args.top, args.distinct) {
            (Some(count), _) => job.top_inputs(count, inputs, size, &task, sink),
            (_, Some(how)) => job.distinct_inputs(how, inputs, size, &task, sink),
            _ if args.merge => job.merge_inputs(inputs, size, &task, sink),
            _ => job.sort_inputs(inputs, size, &task, sink),
        }
    })
}

/// Starts the threads, and returns their number. `work` is the number of bytes that are worth dividing among them, if it is known. A few
/// lines are sorted without a pool, because starting one takes longer than sorting them, even if it has no second thread.
fn start_threads(resources: &Resources, work: Option<u64>) -> Result<usize, Error> {
    // The threads that wait for a GPU are separate from the pool, and may themselves wait for work done in
    // the pool.
    if resources.engine.has_gpu() || may_take_gpu(resources, work) {
        threads::start(resources.parallel, work)?;
    } else if work.is_none_or(|bytes| bytes >= POOL_FROM as u64) {
        threads::start_with_this(resources.parallel, work)?;
    }
    Ok(of_use(resources.parallel, work))
}

/// Whether a GPU may be chosen for a sort of this many bytes.
fn may_take_gpu(resources: &Resources, work: Option<u64>) -> bool {
    // Looking for a GPU takes as long as a small sort.
    work.is_none_or(|bytes| bytes >= GPU_FROM)
        && crate::devices::may_be_chosen(resources.engine, resources.buffer_size)
}

/// Fails with the first line that is out of order.
fn check(input: &Input, how: Check, job: &LineSort<'_>) -> Result<(), Failure> {
    match (job.check(input)?, how) {
        (None, _) => Ok(()),
        (Some(found), Check::DiagnoseFirst) => Err(Failure::Disorder(message(input, found, job.terminator))),
        (Some(_), Check::Quiet) => Err(Failure::Disorder(Vec::new())),
    }
}

fn message(input: &Input, Disorder { number, mut line }: Disorder, terminator: u8) -> Vec<u8> {
    let place = format!(":{number}: disorder: ");
    // The line may take a large part of memory, so it is not copied.
    line.push(terminator);
    line.splice(..0, [input.name().as_os_str().as_bytes(), place.as_bytes()].concat());
    line
}

/// Whole lines as `--debug` prints them, with marks under each line.
fn annotated(text: &[u8], job: &LineSort<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    for line in text.strip_suffix(&[job.terminator]).unwrap_or(text).split(|&byte| byte == job.terminator) {
        // A tab would break the alignment with the marks below.
        out.extend(line.iter().map(|&byte| if byte == b'\t' { b'>' } else { byte }));
        out.push(b'\n');
        job.order.annotate(line, &mut out);
    }
    out
}
