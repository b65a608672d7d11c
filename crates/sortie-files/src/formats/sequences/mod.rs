//! Whole records of FASTA and FASTQ.
//!
//! Records are read into one text and stay there. The library sorts references to them, by keys that are in that text too if
//! possible, and the records are written from the text. Input that does not fit in memory goes through sorted runs on disk.
//!
//! ```
//! use sortie_files::Input;
//! use sortie_files::formats::Choices;
//! use sortie_files::formats::sequences::{Format, SequenceKey, SequenceOrder, sort_sequences};
//!
//! # let folder = tempfile::tempdir()?;
//! # let [reads, distinct] = ["reads.fq", "distinct.fq"].map(|name| folder.path().join(name));
//! std::fs::write(&reads, "@a\nGT\n+\nII\n@b\nAC\n+\nII\n@c\nGT\n+\nII\n")?;
//! // One read of each sequence, in the order of the sequences.
//! let order = SequenceOrder { unique: true, ..SequenceOrder::new(Format::Fastq, SequenceKey::Sequence) };
//! sort_sequences(&order, vec![Input::named(&reads)], Some(&distinct), &Choices::default())?;
//! assert_eq!(std::fs::read_to_string(&distinct)?, "@b\nAC\n+\nII\n@a\nGT\n+\nII\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod check;
mod feed;
mod keys;
mod merge;

use std::path::Path;
use std::time::Instant;

use sortie::plan::Plan;
use sortie::request::{Beside, KeyForm, Operation};
use sortie::{Bound, Engine, Report, Sorter};
pub use sortie_formats::sequences::Format;
use sortie_formats::sequences::Records;

use crate::formats::Choices;
use crate::memory::{leaving, window};
use crate::run::Part;
use crate::{Error, Gather, Input, Keyed, Ledger, Share, Sink, Sorted, Task, Tight};
pub use check::Disorder;
use feed::{Feed, as_size};
use keys::Keys;

/// The scratch memory of a sort of strings for each record: a copy of the reference, and two words.
const SCRATCH: usize = size_of::<Keyed<'_, '_>>() + 2 * size_of::<u64>();

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
/// A memory limit must be about this many times the longest record, for each copy of its text: three runners share half of what the
/// limit leaves.
const TIMES: usize = 7;
/// What a run holds in a merge, in quarters of its longest record: the record, a quarter more, and a key as long as the record.
/// All runs together may take a quarter of the limit.
const MERGED: u64 = 5 + 4;

/// What records are sorted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SequenceOrder {
    pub format: Format,
    pub by: SequenceKey,
    pub descending: bool,
    /// Whether only the first of several records with equal keys is kept.
    pub unique: bool,
}

/// The key of a record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SequenceKey {
    /// Its letters, without line ends.
    #[default]
    Sequence,
    /// The text after `>` or `@` up to a blank.
    Name,
    /// The number of its letters.
    Length,
}

impl SequenceOrder {
    /// The ascending order by this key.
    pub fn new(format: Format, by: SequenceKey) -> Self {
        SequenceOrder { format, by, descending: false, unique: false }
    }
}

/// Sorts the records of all inputs into the file `output`, or standard output. Records keep every byte; only a missing last line end is
/// added. Those with equal keys keep their order. An input that is compressed is decompressed, and an output whose name ends in `.gz` is
/// in blocks (BGZF).
///
/// [`Choices::unique`] and [`Choices::descending`] are the same as those of `order`. The file is replaced once the result is complete, and
/// may be one of the inputs. Uses rayon's current thread pool.
///
/// # Errors
/// If an input, an output or a temporary file cannot be read or written, a record does not conform to its format, or memory is short:
/// a limit must be about 7 times the longest record, or 14 times in FASTA by sequence. Then the output is as it was.
pub fn sort_sequences(
    order: &SequenceOrder,
    inputs: Vec<Input>,
    output: Option<&Path>,
    choices: &Choices,
) -> Result<Report, Error> {
    let (descending, unique) = (order.descending || choices.descending, order.unique || choices.unique);
    let order = SequenceOrder { descending, unique, ..*order };
    choices.publish(output, None, true, |task, sink| {
        SequenceSort::new(order, task.budget, choices.memory.is_some(), task.ledger)
            .sort_inputs(inputs, task, sink)
    })
}

/// The first record of an input that is out of order, or has the key of the one before if they are to be unique. `memory` is the most
/// memory in bytes that the process may take.
///
/// # Errors
/// As [`sort_sequences`].
pub fn check_sequences(
    order: &SequenceOrder,
    input: Input,
    memory: Option<u64>,
) -> Result<Option<Disorder>, Error> {
    let ledger = Ledger::default();
    let limit = crate::memory::budget(memory, None, rayon::current_num_threads);
    SequenceSort::new(*order, limit, memory.is_some(), &ledger).check(input)
}

/// A sort of records, for a program that reports errors and progress in its own way. [`sort_sequences`] needs none of it.
pub struct SequenceSort<'a> {
    order: SequenceOrder,
    pub engine: Engine,
    /// The maximum bytes of memory for the records and their sort.
    limit: u64,
    /// Whether the caller limits memory.
    is_limited: bool,
    gather: Gather,
    ledger: &'a Ledger,
}

impl crate::Format for SequenceSort<'_> {
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

impl<'a> SequenceSort<'a> {
    /// A sort with `limit` bytes of memory for the records and their sort. `is_limited` says whether the caller limits memory, for
    /// messages.
    pub fn new(order: SequenceOrder, limit: u64, is_limited: bool, ledger: &'a Ledger) -> Self {
        let gather = Gather { window: 0, terminator: None, unique: order.unique, whole: false, alone: false };
        SequenceSort { order, engine: Engine::default(), limit, is_limited, gather, ledger }
    }

    /// Sorts the records of all inputs into `sink`.
    pub fn sort_inputs(mut self, inputs: Vec<Input>, task: &Task<'_>, sink: Sink<'_>) -> Result<(), Error> {
        // The number of stored bytes. How much data a compressed input has is not known.
        let size = inputs.iter().map(Input::stored).sum();
        self.gather.window = window(self.limit, size);
        task.sort(&self, Feed::new(inputs), size, sink)
    }

    /// The number of records that are sorted together in memory, of all inputs, and whether these are all.
    pub fn first(&self, inputs: Vec<Input>) -> Result<(usize, bool), Error> {
        let (records, ended) = self.next(&mut Feed::new(inputs), |longest| self.share(longest), u64::MAX)?;
        Ok((records.len(), ended))
    }

    /// Plans the sort of `records` records in memory.
    pub fn plan(&self, records: usize) -> Result<Plan, Error> {
        let beside = Beside::Payload { bytes: size_of::<Keyed<'_, '_>>(), stable: true };
        let sorter = self.sorter(u64::MAX)?;
        Ok(sorter.explain(&sorter.request(Operation::Array, KeyForm::Strings, beside, records))?)
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
    fn merged_at_once(&self, items: &[Keyed<'_, '_>]) -> usize {
        let longest = items.iter().map(|item| item.bytes.len()).max().unwrap_or(0);
        as_size(self.limit / MERGED / longest.max(1) as u64)
    }

    fn sorter(&self, left: u64) -> Result<Sorter, Error> {
        // Most of what the library counts is on the device.
        let left = if self.engine.device().is_some() { u64::MAX } else { left };
        let builder = Sorter::builder().engine(self.engine).descending(self.order.descending);
        Ok(builder.memory_limit(left).build()?)
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
        let key =
            if self.order.by == SequenceKey::Length { 2 * size_of::<u64>() } else { size_of::<usize>() };
        Records::new(self.order.format, as_size(share))
            .counting(size_of::<Keyed<'_, '_>>() + SCRATCH + key, self.copies())
    }

    /// The number of copies of a record's text that its key needs: 1 if a sequence may be on several lines, else 0.
    fn copies(&self) -> usize {
        usize::from(self.order.by == SequenceKey::Sequence && self.order.format == Format::Fasta)
    }

    /// The bytes of a record that the reader may hold in addition to its buffer.
    fn of_reader(&self) -> u64 {
        (self.limit / SHARE).max(LEAST)
    }

    /// The bytes that the limit leaves after the records, their keys and the references to both.
    fn left(&self, records: &Records, keys: &Keys) -> Result<u64, Error> {
        let held = (records.memory() + keys.bytes() + records.len() * size_of::<Keyed<'_, '_>>()) as u64;
        let all = held + (records.len() * SCRATCH) as u64;
        self.limit.checked_sub(held).ok_or_else(|| self.over_limit(all))
    }

    /// The failure if at least `needed` bytes are needed and the limit does not allow them.
    fn over_limit(&self, needed: u64) -> Error {
        Error::Tight(Tight {
            record: None,
            needed,
            left: self.limit,
            enough: None,
            is_limited: self.is_limited,
        })
    }

    /// The failure if the record at `place` needs at least `needed` bytes and may take `limit`.
    fn too_long(&self, place: String, needed: u64, limit: u64) -> Error {
        let part = SHARE.max(self.limit / limit.max(1));
        let enough = (leaving(needed.saturating_mul(part)), TIMES * (1 + self.copies()));
        Error::Tight(Tight {
            record: Some(place),
            needed,
            left: limit,
            enough: Some(enough),
            is_limited: self.is_limited,
        })
    }

    fn keys(&self, records: &Records) -> Result<Keys, Error> {
        let start = Instant::now();
        let keys = Keys::of(records, self.order.by)?;
        self.ledger.note("encode", start.elapsed(), records.bytes(), keys.bytes());
        Ok(keys)
    }
}
