//! `sortie sort --format`: the crate `sortie-files` sorts or checks whole records of FASTA and FASTQ as the command line asks.

use sortie_files::compression::Compression;
use sortie_files::formats::sequences::{Disorder, SequenceOrder, SequenceSort};
use sortie_files::threads::of_use;
use sortie_files::{Input, Task, quote};
use sortie_formats::Quoted;

use crate::cli::{Check, RecordsJob, Resources};
use crate::failure::Failure;
use crate::{devices, explain, inputs, memory, stats, threads};

/// Sorts or checks records as the command line says.
pub fn run(args: &RecordsJob) -> Result<(), Failure> {
    let inputs = inputs::all(&args.sources)?;
    let size = inputs.iter().map(Input::stored).sum();
    let compression = Compression::of(args.compress, args.output.as_deref(), true)?;
    let Resources { buffer_size, parallel, engine, .. } = args.resources;
    memory::hold_back(buffer_size);
    // The size of an input does not tell how much data it has, because it may be compressed.
    let limit = memory::budget(buffer_size, None, || of_use(parallel, size));
    threads::start(parallel, size)?;
    let ledger = stats::open();
    let order = SequenceOrder {
        format: args.format,
        by: args.by.into(),
        descending: args.descending,
        unique: args.unique,
    };
    let mut job = SequenceSort::new(order, limit, buffer_size.is_some(), &ledger);
    job.engine = engine;
    ledger.progress.stage("sorting", size.unwrap_or(0));
    if let Some(how) = args.sources.check {
        let [input] = <[Input; 1]>::try_from(inputs).expect("a check has one input");
        check(input, how, &job)?;
    } else {
        devices::may_be_chosen(engine, buffer_size);
        if args.resources.explain {
            return explain(inputs, &job);
        }
        let task = Task::new(&args.temporary, limit, &ledger);
        task.publish(args.output.as_deref(), compression, |sink| job.sort_inputs(inputs, &task, sink))?;
    }
    stats::close(ledger, args.resources.stats)
}

/// Prints how the records would be sorted.
fn explain(inputs: Vec<Input>, job: &SequenceSort<'_>) -> Result<(), Failure> {
    let (records, all) = job.first(inputs)?;
    let in_runs = if all { String::new() } else { format!(" at a time{}", explain::IN_RUNS) };
    let counted = explain::counted(records, "record", "records");
    explain::print(&format!("{counted}{in_runs}"), &job.plan(records)?)
}

/// Fails at the first record that is out of order.
fn check(input: Input, how: Check, job: &SequenceSort<'_>) -> Result<(), Failure> {
    let name = quote::name(input.name());
    match (job.check(input)?, how) {
        (None, _) => Ok(()),
        (Some(Disorder { line, name: record }), Check::DiagnoseFirst) => {
            let record = Quoted::new(&record);
            Err(Failure::Disorder(format!("{name}:{line}: disorder: record {record}\n").into()))
        }
        (Some(_), Check::Quiet) => Err(Failure::Disorder(Vec::new())),
    }
}
