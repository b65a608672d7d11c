//! Mass spectra: the peaks of each are put in order.
//!
//! The file passes through in stretches of many spectra. One thread reads and decompresses them, one has them parsed, and
//! this one has them sorted and writes them, all at the same time.

mod batch;
mod stretch;
mod write;

use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use sortie::{Report, Segments, Sorter};

use crate::cli::{SpectraArgs, temporary_folder};
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::{stats, threads};
use batch::{Batch, Parser};
use stretch::Stretches;
use write::Writer;

/// `sortie spectra`.
pub fn run(args: &SpectraArgs) -> Result<(), Failure> {
    threads::start(args.parallel, None)?;
    let progress = Progress::start();
    let stretches = Stretches::open(&args.input, &progress)?;
    let mut writer = Writer::new(Output::open(Some(&args.output), &temporary_folder())?, &args.output);
    let parser = Parser::new(args, stretches.name().to_owned());
    let report = thread::scope(|scope| {
        // Each thread is one stretch ahead of the next.
        let (read, to_parse) = mpsc::sync_channel(1);
        let (parsed, to_sort) = mpsc::sync_channel(1);
        // A send fails where the receiver has given up, and then it has said why.
        let read = move || stretches.map_while(|stretch| read.send(stretch).ok()).for_each(drop);
        let parse = move || {
            let mut parser = parser;
            to_parse.iter().map_while(|stretch| parsed.send(parser.parse(stretch)).ok()).for_each(drop)
        };
        thread::Builder::new().spawn_scoped(scope, read).map_err(Failure::threads(2))?;
        thread::Builder::new().spawn_scoped(scope, parse).map_err(Failure::threads(1))?;
        sort(args, to_sort.iter(), &mut writer)
    })?;
    // Not before it is known that no thread has panicked, whose batches would be missing.
    writer.finish()?;
    drop(progress);
    match args.stats {
        Some(format) => stats::print(&report, format),
        None => Ok(()),
    }
}

/// Sorts and writes all batches.
fn sort(
    args: &SpectraArgs,
    batches: impl Iterator<Item = Result<Batch, Failure>>,
    writer: &mut Writer,
) -> Result<Report, Failure> {
    let sorter = Sorter::builder().engine(args.engine).descending(args.descending).build()?;
    let mut report = Report::default();
    for batch in batches {
        let mut batch = batch?;
        let bytes = batch.text.len() as u64;
        report.add("read", batch.reading, bytes, 0);
        report.add("parse", batch.parsing, bytes, size_of_val(&*batch.keys) as u64);
        let segments = Segments::Offsets(&batch.offsets);
        report.absorb(sorter.sort_pairs_segments(&mut batch.keys, &mut batch.places, segments)?);
        let start = Instant::now();
        let written = writer.write(&batch)?;
        report.add("write", start.elapsed(), bytes, written);
    }
    Ok(report)
}
