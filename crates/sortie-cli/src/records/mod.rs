//! `sortie sort --format`: whole records of FASTA and FASTQ.
//!
//! Records are read into one text and stay there. The library sorts references to them, by keys that are in that text too if
//! possible, and the records are written from the text. Input that does not fit in memory goes through sorted runs on disk.

mod feed;
mod keys;
mod merge;

use std::time::Instant;

use sortie::request::{Beside, KeyForm, Operation};
use sortie::{Bound, Sorter};
use sortie_files::compression::Compression;
use sortie_files::memory::{append, leaving, window};
use sortie_files::run::Part;
use sortie_files::shortage::{self, at_least, at_most};
use sortie_files::threads::of_use;
use sortie_files::{Error, Format, Gather, Input, Keyed, Ledger, Share, Sink, Sorted, Task, quote};
use sortie_formats::Quoted;
use sortie_formats::sequences::Records;

use crate::cli::{Check, RecordFormat, RecordKey, RecordsJob, Resources};
use crate::failure::Failure;
use crate::{explain, inputs, memory, stats, threads};
use feed::{Feed, as_size};
use keys::Keys;

/// The scratch memory of a sort of strings for each record: a copy of the reference, and two words.
const SCRATCH: usize = size_of::<Keyed<'_>>() + 2 * size_of::<u64>();

/// Long records get one part in this many of the limit. The rest is for the part of the next record that the reader holds, whose
/// length is not known in advance.
const SHARE: u64 = 2;
/// Short records, of which this many fit in the limit, get more of it, because the reader holds little.
const SHORT: u64 = 1 << 10;
/// The part of the limit that short records get.
const SHARE_OF_SHORT: (u64, u64) = (9, 10);
/// The least that the reader may hold of a record, and a check of all records, even if the limit is smaller. It is part of the
/// memory that the program needs in any case.
const LEAST: u64 = 1 << 20;
/// Bytes of records that are checked at a time.
const CHECKED: u64 = 1 << 20;
/// `-S` must be about this many times the longest record, for each copy of its text: three runners share half of what `-S`
/// leaves.
const TIMES: usize = 7;
/// What a run holds in a merge, in quarters of its longest record: the record, a quarter more, and a key as long as the record.
/// All runs together may take a quarter of the limit.
const MERGED: u64 = 5 + 4;

/// Sorts or checks records as the command line says.
pub fn run(args: &RecordsJob) -> Result<(), Failure> {
    let inputs = inputs::all(&args.sources)?;
    let size = inputs.iter().map(Input::stored).sum();
    let compression = Compression::of(args.compress, args.output.as_deref(), true)?;
    let asked = args.resources.buffer_size;
    memory::hold_back(asked);
    // The size of an input does not tell how much data it has, because it may be compressed.
    let limit = memory::budget(asked, None, || of_use(args.resources.parallel, size));
    threads::start(args.resources.parallel, size)?;
    let gather = Gather {
        window: window(limit, size),
        terminator: None,
        unique: args.unique,
        whole: false,
        alone: false,
    };
    let job = RecordSort { args, compression, limit, gather, ledger: stats::open() };
    job.ledger.progress.stage("sorting", size.unwrap_or(0));
    match args.sources.check {
        Some(how) => job.check(inputs, how)?,
        None => job.sort_all(inputs, size)?,
    }
    stats::close(job.ledger, args.resources.stats)
}

struct RecordSort<'a> {
    args: &'a RecordsJob,
    compression: Option<Compression>,
    /// The maximum bytes of memory for the records and their sort.
    limit: u64,
    gather: Gather,
    ledger: Ledger,
}

impl Format for RecordSort<'_> {
    type Feed = Feed;
    type Stretch = Option<Records>;

    const RUNS_AT_ONCE: usize = 64;

    fn fill(&self, stretch: &mut Option<Records>, feed: &mut Feed, share: Share<'_>) -> Result<bool, Error> {
        let limit = |longest| self.share(longest) / share.runners as u64;
        let (records, ended) = self.next(feed, limit, u64::MAX)?;
        *stretch = Some(records);
        Ok(ended)
    }

    fn sort(
        &self,
        stretch: &mut Option<Records>,
        then: impl FnOnce(Sorted<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let records = stretch.take().expect("a stretch is filled before it is sorted");
        let keys = self.keys(&records)?;
        let left = self.left(&records, &keys)?;
        let mut items = keys.items(&records)?;
        let sorted = self.sorter(left)?.sort_strings(&mut items).map_err(|error| match error {
            sortie::Error::Memory { bound: Bound::Limit, needed, .. } => {
                self.over_limit(self.limit - left + needed)
            }
            other => other.into(),
        });
        self.ledger.absorb(sorted?);
        let bytes = self.gather.written(&items);
        let write =
            |sink: Sink<'_>| self.ledger.timed("write", bytes, bytes, || self.gather.write(&items, sink));
        then(Sorted { bytes, at_once: self.merged_at_once(&items), write: &write })
    }

    fn merge(&self, runs: Vec<Part>, budget: u64, sink: Sink<'_>) -> Result<(), Error> {
        self.ledger.timed("merge", 0, 0, || merge::merge(runs, budget, self, sink))
    }
}

impl RecordSort<'_> {
    fn sort_all(&self, inputs: Vec<Input>, size: Option<u64>) -> Result<(), Failure> {
        let mut feed = Feed::new(inputs);
        if self.args.resources.explain {
            let (records, ended) = self.next(&mut feed, |longest| self.share(longest), u64::MAX)?;
            return self.explain(records.len(), ended);
        }
        let task = Task::new(&self.args.temporary, self.limit, &self.ledger);
        let output = self.args.output.as_deref();
        Ok(task.publish(output, self.compression, |sink| task.sort(self, feed, size, sink))?)
    }

    /// The bytes that all records in memory may take, their keys and sort included, if the longest has `longest` bytes.
    fn share(&self, longest: Option<usize>) -> u64 {
        match longest {
            Some(longest) if (longest as u64).saturating_mul(SHORT) <= self.limit => {
                self.limit / SHARE_OF_SHORT.1 * SHARE_OF_SHORT.0
            }
            _ => self.limit / SHARE,
        }
    }

    /// The number of runs like this one that may be merged at a time. Each holds one record in memory.
    fn merged_at_once(&self, items: &[Keyed<'_>]) -> usize {
        let longest = items.iter().map(|item| item.bytes.len()).max().unwrap_or(0);
        as_size(self.limit / MERGED / longest.max(1) as u64)
    }

    /// Prints how this many records would be sorted. `all` is false if there are more of them.
    fn explain(&self, records: usize, all: bool) -> Result<(), Failure> {
        let beside = Beside::Payload { bytes: size_of::<Keyed<'_>>(), stable: true };
        let sorter = self.sorter(u64::MAX)?;
        let request = sorter.request(Operation::Array, KeyForm::Strings, beside, records);
        let in_runs = if all { String::new() } else { format!(" at a time{}", explain::IN_RUNS) };
        let records = explain::counted(records, "record", "records");
        explain::print(&format!("{records}{in_runs}"), &sorter.explain(&request)?)
    }

    fn sorter(&self, left: u64) -> Result<Sorter, Error> {
        let Resources { engine, buffer_size, .. } = self.args.resources;
        explain::may_take_gpu(engine, buffer_size);
        // Most of what the library counts is on the device.
        let left = if engine.device().is_some() { u64::MAX } else { left };
        let builder = Sorter::builder().engine(engine).descending(self.args.descending);
        Ok(builder.memory_limit(left).build()?)
    }

    /// Fails at the first record that is out of order.
    fn check(&self, inputs: Vec<Input>, how: Check) -> Result<(), Failure> {
        let name = quote::name(inputs[0].name());
        let mut feed = Feed::new(inputs);
        let is_wrong = |before: &[u8], key: &[u8]| {
            let order = before.cmp(key);
            let order = if self.args.descending { order.reverse() } else { order };
            order.is_gt() || order.is_eq() && self.args.unique
        };
        // The last key of the records before these, and the number of lines in all records before these.
        let (mut last, mut lines) = (None::<Vec<u8>>, 0);
        loop {
            let (records, ended) = self.next(&mut feed, |_| (self.limit / SHARE).max(LEAST), CHECKED)?;
            let keys = self.keys(&records)?;
            let items = keys.items(&records)?;
            let first_is_wrong = match (&last, items.first()) {
                (Some(last), Some(first)) => is_wrong(last, first.key),
                _ => false,
            };
            let wrong_after = || items.windows(2).position(|pair| is_wrong(pair[0].key, pair[1].key));
            let wrong = if first_is_wrong { Some(0) } else { wrong_after().map(|before| before + 1) };
            if let Some(place) = wrong {
                let mut message = String::new();
                if how == Check::DiagnoseFirst {
                    let line = lines + records.line(place);
                    let record = Quoted::new(records.get(place).name());
                    message = format!("{name}:{line}: disorder: record {record}\n");
                }
                return Err(Failure::Disorder(message.into()));
            }
            if ended {
                return Ok(());
            }
            if let Some(item) = items.last() {
                let last = last.get_or_insert_default();
                last.clear();
                append(last, item.key)?;
            }
            lines += records.lines();
        }
    }

    /// Calls [`Feed::next`], and adds a phase to the report.
    fn next(
        &self,
        feed: &mut Feed,
        share: impl Fn(Option<usize>) -> u64,
        enough: u64,
    ) -> Result<(Records, bool), Error> {
        let start = Instant::now();
        let (records, ended) = feed.next(share, enough, self)?;
        self.ledger.note("read", start.elapsed(), records.bytes(), records.bytes());
        Ok((records, ended))
    }

    /// An empty list of records with a memory limit of `share` bytes, which also covers their keys and their sort.
    fn no_records(&self, share: u64) -> Records {
        let key = if self.args.by == RecordKey::Length { 2 * size_of::<u64>() } else { size_of::<usize>() };
        Records::new(self.args.format.into(), as_size(share))
            .counting(size_of::<Keyed<'_>>() + SCRATCH + key, self.copies())
    }

    /// The number of copies of a record's text that its key needs: 1 if a sequence may be on several lines, else 0.
    fn copies(&self) -> usize {
        usize::from(self.args.by == RecordKey::Sequence && self.args.format == RecordFormat::Fasta)
    }

    /// The bytes of a record that the reader may hold in addition to its buffer.
    fn of_reader(&self) -> u64 {
        (self.limit / SHARE).max(LEAST)
    }

    /// The bytes that the limit leaves after the records, their keys and the references to both.
    fn left(&self, records: &Records, keys: &Keys) -> Result<u64, Error> {
        let held = (records.memory() + keys.bytes() + records.len() * size_of::<Keyed<'_>>()) as u64;
        let all = held + (records.len() * SCRATCH) as u64;
        self.limit.checked_sub(held).ok_or_else(|| self.over_limit(all))
    }

    /// The failure if at least `needed` bytes are needed and the limit does not allow them.
    fn over_limit(&self, needed: u64) -> Error {
        let (needed, left) = (at_least(needed), self.what_is_left(self.limit));
        Error::invalid(format!("sorting records needs at least {needed} of memory, but {left}; allow more"))
    }

    /// The message for a record that needs at least `needed` bytes and may take `limit`.
    fn too_long(&self, needed: u64, limit: u64) -> String {
        let advice = match self.args.resources.buffer_size {
            Some(_) => {
                let part = SHARE.max(self.limit / limit.max(1));
                let size = leaving(needed.saturating_mul(part)).div_ceil(1 << 20);
                let times = TIMES * (1 + self.copies());
                format!("give -S {size}M or more, about {times} times the longest record")
            }
            None => "give --parallel 1, or use a machine with more memory".into(),
        };
        let (needed, left) = (at_least(needed), self.what_is_left(limit));
        format!("this record needs at least {needed} of memory, but {left} for one record; {advice}")
    }

    fn what_is_left(&self, limit: u64) -> String {
        match self.args.resources.buffer_size {
            Some(_) => format!("--buffer-size and ulimit -v leave {}", at_most(limit)),
            None => format!("{}, which leave {}", shortage::limit(), at_most(limit)),
        }
    }

    fn keys(&self, records: &Records) -> Result<Keys, Error> {
        let start = Instant::now();
        let keys = Keys::of(records, self.args.by)?;
        self.ledger.note("encode", start.elapsed(), records.bytes(), keys.bytes());
        Ok(keys)
    }
}
