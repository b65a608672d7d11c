//! `sortie spectra`: sorts the peaks of each mass spectrum.
//!
//! A file is processed in stretches of many spectra. One thread reads and decompresses them, one parses them with the pool, and
//! the calling thread sorts and writes them, all at the same time. Each of the three has one stretch at a time and a share of
//! the memory for it. The share covers everything that is made from the stretch.

mod batch;
mod stretch;
mod write;

use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

use sortie::request::{Beside, KeyForm, Lengths, Operation};
use sortie::{Segments, Sorter};
use sortie_files::compression::Compression;
use sortie_files::threads::{of_use, spawn};
use sortie_files::{Ledger, Output, quote};
use sortie_formats::spectra::Kept;

use crate::cli::{SpectraArgs, temporary_folder};
use crate::failure::Failure;
use crate::{devices, explain, memory, stats, threads};
use batch::{Batch, Parser};
use stretch::Stretches;
use write::Writer;

/// The number of stretches in memory: one is read, one parsed, and one sorted and written.
const STRETCHES: u64 = 3;

/// `sortie spectra`.
pub fn run(args: &SpectraArgs) -> Result<(), Failure> {
    let output = Some(args.output.as_path()).filter(|output| *output != Path::new("-"));
    let compression = Compression::of(args.compress, output, false)?;
    memory::hold_back(args.resources.buffer_size);
    let budget =
        memory::budget(args.resources.buffer_size, None, || of_use(args.resources.parallel, None) + 2);
    threads::start(args.resources.parallel, None)?;
    let ledger = stats::open();
    let stretches = Stretches::open(&args.input, budget / STRETCHES, &ledger)?;
    let mut writer = Writer::new(Output::open(output, &temporary_folder(), compression)?);
    let parser = Parser::new(args, stretches.name().to_owned(), compression.is_some());
    devices::may_be_chosen(args.resources.engine, args.resources.buffer_size);
    let kept = thread::scope(|scope| {
        // No stretch is queued between two threads.
        let (read, to_parse) = mpsc::sync_channel(0);
        let (parsed, to_sort) = mpsc::sync_channel(0);
        // If a send fails, the receiver has stopped, and has reported why.
        let read = move || stretches.map_while(|stretch| read.send(stretch).ok()).for_each(drop);
        let parse = move || {
            let mut parser = parser;
            to_parse.iter().all(|stretch| {
                let goes_on = parser.parse(stretch, |batch| parsed.send(Ok(batch)).is_ok());
                goes_on.unwrap_or_else(|failure| {
                    let _ = parsed.send(Err(failure));
                    false
                })
            })
        };
        spawn(scope, read).map_err(Failure::threads(2))?;
        spawn(scope, parse).map_err(Failure::threads(1))?;
        sort(args, to_sort.iter(), &mut writer, &ledger)
    })?;
    if args.resources.explain {
        return Ok(());
    }
    // Finishes the output only now, because the batches of a thread that panicked would be missing.
    writer.finish()?;
    if let Some(note) = note(kept) {
        crate::remark(format!("{}: {note}\n", quote::name(&args.input)).as_bytes());
    }
    stats::close(ledger, args.resources.stats)
}

/// Sorts and writes all batches. Returns the counts of what stays as it is.
fn sort(
    args: &SpectraArgs,
    batches: impl Iterator<Item = Result<Batch, Failure>>,
    writer: &mut Writer,
    ledger: &Ledger,
) -> Result<Kept, Failure> {
    let mut kept = Kept::default();
    let sorter = Sorter::builder().engine(args.resources.engine).descending(args.descending).build()?;
    for batch in batches {
        let mut batch = batch?;
        let bytes = batch.text.len();
        ledger.note("read", batch.reading, bytes, 0);
        ledger.note("parse", batch.parsing, bytes, size_of_val(&*batch.keys));
        let segments = Segments::Offsets(&batch.offsets);
        if args.resources.explain {
            explain_batch(&sorter, &batch, segments)?;
            break;
        }
        ledger.absorb(sorter.sort_pairs_segments(&mut batch.keys, &mut batch.places, segments)?);
        let start = Instant::now();
        let written = writer.write(&batch)?;
        for (_, part) in &batch.parts {
            kept.spectra += part.kept().spectra;
            kept.arrays += part.kept().arrays;
        }
        ledger.note("write", start.elapsed(), bytes, written as usize);
    }
    Ok(kept)
}

/// Says what stays as it is, if anything does.
fn note(Kept { spectra, arrays }: Kept) -> Option<String> {
    let counted = |count, one: &str, more: &str| match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {more}"),
    };
    let spectra_kept = counted(
        spectra,
        "spectrum without m/z or intensities, or with text for its peaks, stays as it is",
        "spectra without m/z or intensities, or with text for their peaks, stay as they are",
    );
    let arrays_kept = counted(
        arrays,
        "array of text or of another length than its peaks stays as it is",
        "arrays of text or of another length than their peaks stay as they are",
    );
    match (spectra, arrays) {
        (0, 0) => None,
        (_, 0) => Some(spectra_kept),
        (0, _) => Some(arrays_kept),
        _ => Some(format!("{spectra_kept}; {arrays_kept}")),
    }
}

/// Prints how a batch would be sorted.
fn explain_batch(sorter: &Sorter, batch: &Batch, segments: Segments<'_>) -> Result<(), Failure> {
    let (peaks, spectra) = (batch.keys.len(), batch.offsets.len().saturating_sub(1));
    let operation = Operation::Segments(Some(Box::new(Lengths::of(peaks, segments))));
    let beside = Beside::Payload { bytes: size_of::<u32>(), stable: true };
    let plan = sorter.explain(&sorter.request(operation, KeyForm::of::<f64>(), beside, peaks))?;
    let peaks = explain::counted(peaks, "peak", "peaks");
    let spectra = explain::counted(spectra, "spectrum", "spectra");
    explain::print(&format!("{peaks} of {spectra} at a time"), &plan)
}
