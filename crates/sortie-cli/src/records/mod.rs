//! `sortie sort --format`: whole records of FASTA and FASTQ.
//!
//! All records are read into one text, where they stay. The library sorts references to them, by keys that lie in that
//! text too wherever they can, and the records are written from there.

mod keys;
mod write;

use std::path::Path;
use std::time::Instant;

use sortie::request::{Beside, KeyForm, Operation};
use sortie::{Bound, Report, Sorter};
use sortie_formats::Quoted;
use sortie_formats::sequences::{Error, Records};

use crate::cli::{Check, MemorySize, RecordsJob, Resources};
use crate::failure::Failure;
use crate::output::Output;
use crate::progress::Progress;
use crate::shortage::{self, at_least, at_most};
use crate::sort::Input;
use crate::{compression, explain, memory, quote, stats, threads};
use keys::{Keyed, Keys};

/// What helps where memory is short.
const IN_MEMORY: &str = "records are sorted in memory: allow more, or sort fewer at a time";

/// What a sort of strings holds for each: a copy of the reference, and two words.
const SCRATCH: usize = size_of::<Keyed<'_>>() + 2 * size_of::<u64>();

/// Sorts or checks records as the command line says.
pub fn run(args: &RecordsJob) -> Result<(), Failure> {
    let inputs = Input::all(&args.sources)?;
    let size = inputs.iter().map(Input::size).sum();
    let compress = args.output.as_deref().map_or(Ok(false), compression::of_output)?;
    let asked = args.resources.buffer_size;
    memory::hold_back(asked);
    // Without -S all memory may be taken that there is.
    let all = asked.unwrap_or(MemorySize::Percent(100));
    let limit = memory::budget(Some(all), size, || threads::of_use(args.resources.parallel, size));
    let pool = threads::pool(args.resources.parallel, size)?;
    let mut job =
        RecordSort { args, compress, limit, progress: Progress::start(), report: Report::default() };
    job.progress.stage("reading", size.unwrap_or(0));
    let done = pool.install(|| match args.sources.check {
        Some(how) => job.check(&inputs, how),
        None => job.sort(&inputs),
    });
    done.map_err(|failure| match failure {
        Failure::Memory(bytes) => Failure::new(shortage::refused("sorting records", bytes, IN_MEMORY)),
        other => other,
    })?;
    let RecordSort { progress, report, .. } = job;
    drop(progress);
    match args.resources.stats {
        Some(format) => stats::print(&report, format),
        None => Ok(()),
    }
}

struct RecordSort<'a> {
    args: &'a RecordsJob,
    compress: bool,
    /// The most bytes that the records and their sort may take.
    limit: u64,
    progress: Progress,
    report: Report,
}

impl RecordSort<'_> {
    fn sort(&mut self, inputs: &[Input]) -> Result<(), Failure> {
        let mut output = Output::open(self.args.output.as_deref(), &self.args.folder)?;
        let records = self.read(inputs)?;
        self.progress.stage("sorting", 0);
        let keys = self.keys(&records)?;
        let left = self.left(&records, &keys)?;
        let mut items = keys.items(&records)?;
        let Resources { engine, .. } = self.args.resources;
        let descending = self.args.descending;
        explain::may_take_gpu(engine, self.args.resources.buffer_size);
        // What the library counts lies on the device for the most part.
        let left = if engine.device().is_some() { u64::MAX } else { left };
        let sorter = Sorter::builder().engine(engine).descending(descending).memory_limit(left).build()?;
        if self.args.resources.explain {
            let beside = Beside::Payload { bytes: size_of::<Keyed<'_>>(), stable: true };
            let request = sorter.request(Operation::Array, KeyForm::Strings, beside, items.len());
            return explain::print(
                &explain::counted(items.len(), "record", "records"),
                &sorter.explain(&request)?,
            );
        }
        let sorted = sorter.sort_strings(&mut items).map_err(|error| match error {
            sortie::Error::Memory { bound: Bound::Limit, needed, .. } => {
                self.over_limit(self.limit - left + needed)
            }
            other => other.into(),
        });
        self.report.absorb(sorted?);
        if self.args.unique {
            items.dedup_by(|later, first| later.key == first.key);
        }
        let size = items.iter().map(|item| item.record.len() as u64).sum();
        self.progress.stage("writing", size);
        let start = Instant::now();
        let written = write::write(&items, self.compress, &mut output, &self.progress)?;
        self.report.add("write", start.elapsed(), size, written);
        output.finish()
    }

    /// Fails with the first record that does not belong after the one before it.
    fn check(&mut self, inputs: &[Input], how: Check) -> Result<(), Failure> {
        let records = self.read(inputs)?;
        let keys = self.keys(&records)?;
        self.left(&records, &keys)?;
        let items = keys.items(&records)?;
        let is_wrong = |pair: &[Keyed<'_>]| {
            let order = pair[0].key.cmp(pair[1].key);
            let order = if self.args.descending { order.reverse() } else { order };
            order.is_gt() || order.is_eq() && self.args.unique
        };
        let Some(before) = items.windows(2).position(is_wrong) else { return Ok(()) };
        let mut message = String::new();
        if how == Check::DiagnoseFirst {
            let (name, line) = (quote::name(inputs[0].name()), records.line(before + 1));
            let record = Quoted::new(records.get(before + 1).name());
            message = format!("{name}:{line}: disorder: record {record}\n");
        }
        Err(Failure::Disorder(message.into()))
    }

    /// The records of all inputs.
    fn read(&mut self, inputs: &[Input]) -> Result<Records, Failure> {
        let start = Instant::now();
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let mut records = Records::new(self.args.format.into(), limit);
        for input in inputs {
            let before = records.len();
            let source = compression::reader(input.open()?, input.name(), &self.progress)?;
            records.read(source).map_err(|error| match error {
                Error::Memory { bytes } if bytes > limit => {
                    // Of a pipe or a compressed file no more is known than what was read.
                    let size = inputs.iter().map(|input| input.size().unwrap_or(0)).sum::<u64>();
                    self.over_limit(least(&records, size.max(bytes as u64)))
                }
                other => unreadable(other, input.name(), &records, before),
            })?;
        }
        self.report.add("read", start.elapsed(), records.bytes() as u64, records.bytes() as u64);
        Ok(records)
    }

    /// The bytes that are left of the limit beside the records, their keys and references to both.
    fn left(&self, records: &Records, keys: &Keys) -> Result<u64, Failure> {
        let held = (records.memory() + keys.bytes() + records.len() * size_of::<Keyed<'_>>()) as u64;
        let all = held + (records.len() * SCRATCH) as u64;
        self.limit.checked_sub(held).ok_or_else(|| self.over_limit(all))
    }

    /// So many bytes and perhaps more are needed, which the limit does not allow.
    fn over_limit(&self, needed: u64) -> Failure {
        let left = match self.args.resources.buffer_size {
            Some(_) => format!("--buffer-size and ulimit -v leave {}", at_most(self.limit)),
            None => shortage::limit(),
        };
        let needed = at_least(needed);
        Failure::new(format!("sorting records needs at least {needed} of memory, but {left}; {IN_MEMORY}"))
    }

    fn keys(&mut self, records: &Records) -> Result<Keys, Failure> {
        let start = Instant::now();
        let keys = Keys::of(records, self.args.by)?;
        self.report.add("encode", start.elapsed(), records.bytes() as u64, keys.bytes() as u64);
        Ok(keys)
    }
}

/// The least memory that it takes to sort `size` bytes of records like the first of them.
fn least(first: &Records, size: u64) -> u64 {
    let beside = first.memory() - first.bytes() + first.len() * (size_of::<Keyed<'_>>() + SCRATCH);
    size + (size as f64 / first.bytes().max(1) as f64 * beside as f64) as u64
}

/// Why the file `name` cannot be read, of which the records from `first` on could be.
fn unreadable(error: Error, name: &Path, records: &Records, first: usize) -> Failure {
    let file = quote::name(name);
    match error {
        Error::Io(error) if records.len() == first => Failure::file("read", name)(error),
        Error::Io(error) => {
            let last = Quoted::new(records.get(records.len() - 1).name());
            Failure::new(format!("{file}: broken off after record {last}: {error}"))
        }
        Error::Record { line, name, problem } => {
            let record = name.map(|name| format!("record {name}: ")).unwrap_or_default();
            Failure::new(format!("{file}:{line}: {record}{problem}"))
        }
        Error::Memory { bytes } => Failure::Memory(bytes as u64),
        other => Failure::new(format!("{file}: {other}")),
    }
}
