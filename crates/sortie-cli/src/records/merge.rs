//! Merges runs of records. A run is the text of whole records. Their keys are found again as they are read.

use std::cmp::Ordering;

use sortie::merge::Tournament;
use sortie_formats::sequences::Format;

use super::RecordSort;
use super::keys;
use crate::external::{self, Part, Sink};
use crate::failure::Failure;
use crate::memory::{append, room};

/// Bytes that are passed to the sink at a time.
const PIECE: usize = 1 << 18;
/// The smallest and the largest buffer of a run. It grows if a record is longer.
const READ: (u64, u64) = (16 << 10, 4 << 20);

/// Merges runs within `budget` bytes. The runs are in the order in which their records were read.
pub fn merge(parts: Vec<Part>, budget: u64, job: &RecordSort<'_>, sink: Sink<'_>) -> Result<(), Failure> {
    let share = (budget / 2 / parts.len() as u64).clamp(READ.0, READ.1) as usize;
    let open = |run: Part| Source::new(run, share, job);
    let mut sources: Vec<Source> = parts.into_iter().map(open).collect::<Result<_, _>>()?;
    let compare =
        |sources: &[Source], a: usize, b: usize| sources[a].compare(&sources[b], job.args.descending);
    let mut tournament = Tournament::new(sources.len(), |a, b| compare(&sources, a, b));
    let (mut piece, mut last) = (room(PIECE)?, None::<Vec<u8>>);
    loop {
        let first = &mut sources[tournament.winner()];
        if first.exhausted {
            break;
        }
        let is_known = job.args.unique && last.as_ref() == Some(&first.key);
        if !is_known {
            if job.args.unique {
                let last = last.get_or_insert_default();
                last.clear();
                append(last, &first.key)?;
            }
            // A large record is a piece of its own and is not copied.
            let record = first.record();
            if piece.len() + record.len() > PIECE {
                sink(&piece)?;
                piece.clear();
            }
            if record.len() > PIECE { sink(record)? } else { append(&mut piece, record)? }
        }
        first.advance(job)?;
        tournament.replay(|a, b| compare(&sources, a, b));
    }
    sink(&piece)
}

/// A run at one of its records.
struct Source {
    run: external::Source,
    /// Bytes of the record.
    record: usize,
    key: Vec<u8>,
    exhausted: bool,
}

impl Source {
    /// Opens a run at its first record.
    fn new(run: Part, share: usize, job: &RecordSort<'_>) -> Result<Source, Failure> {
        let run = external::Source::open(run, share)?;
        let mut source = Source { run, record: 0, key: Vec::new(), exhausted: false };
        source.advance(job)?;
        Ok(source)
    }

    fn record(&self) -> &[u8] {
        &self.run.rest()[..self.record]
    }

    /// Moves to the next record.
    fn advance(&mut self, job: &RecordSort<'_>) -> Result<(), Failure> {
        let format: Format = job.args.format.into();
        self.run.take(self.record);
        loop {
            let is_all = !self.run.goes_on();
            if let Some(record) = format.first(self.run.rest(), is_all) {
                self.record = record.bytes().len();
                self.key.clear();
                return keys::append(record, job.args.by, &mut self.key);
            }
            if is_all {
                self.exhausted = true;
                return Ok(());
            }
            self.run.load(|records| format.first(records, false).is_some())?;
        }
    }

    fn compare(&self, other: &Source, descending: bool) -> Ordering {
        if self.exhausted || other.exhausted {
            return self.exhausted.cmp(&other.exhausted);
        }
        let order = self.key.cmp(&other.key);
        if descending { order.reverse() } else { order }
    }
}
