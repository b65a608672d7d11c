//! Merges runs of records. A run is the text of whole records. Their keys are found again as they are read.

use std::cmp::Ordering;

use sortie::merge::Tournament;
use sortie_formats::sequences::Format;

use super::RecordSort;
use super::keys;
use crate::external::{Content, Part, Sink};
use crate::failure::Failure;
use crate::memory::{append, room};

/// Bytes that are passed to the sink at a time.
const PIECE: usize = 1 << 18;
/// The smallest and the largest buffer of a run. It grows if a record is longer.
const READ: (u64, u64) = (16 << 10, 4 << 20);

/// Merges runs within `budget` bytes. The runs are in the order in which their records were read.
pub fn merge(parts: Vec<Part>, budget: u64, job: &RecordSort<'_>, sink: Sink<'_>) -> Result<(), Failure> {
    let share = (budget / 2 / parts.len() as u64).clamp(READ.0, READ.1) as usize;
    let open = |part: Part| Source::new(part.open()?, share, job);
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

/// A run of which a part is in memory.
struct Source {
    content: Content,
    /// The buffer. The current record is from `start` to `end`, and what was read after it ends at `filled`.
    read: Vec<u8>,
    start: usize,
    end: usize,
    filled: usize,
    ended: bool,
    /// The key of the current record.
    key: Vec<u8>,
    exhausted: bool,
}

impl Source {
    /// Opens a run at its first record.
    fn new(content: Content, share: usize, job: &RecordSort<'_>) -> Result<Source, Failure> {
        // Its pages take memory only when they are filled: a run may be shorter.
        let read = bytemuck::try_zeroed_vec(share).map_err(|()| Failure::Memory(share as u64))?;
        let (start, end, filled, key) = (0, 0, 0, Vec::new());
        let mut source = Source { content, read, start, end, filled, ended: false, key, exhausted: false };
        source.advance(job)?;
        Ok(source)
    }

    fn record(&self) -> &[u8] {
        &self.read[self.start..self.end]
    }

    /// Moves to the next record.
    fn advance(&mut self, job: &RecordSort<'_>) -> Result<(), Failure> {
        let format: Format = job.args.format.into();
        self.start = self.end;
        loop {
            if let Some(record) = format.first(&self.read[self.start..self.filled], self.ended) {
                self.end = self.start + record.bytes().len();
                self.key.clear();
                return keys::append(record, job.args.by, &mut self.key);
            }
            if self.ended {
                self.exhausted = true;
                return Ok(());
            }
            self.fill()?;
        }
    }

    /// Reads more of the run after what was read of the current record.
    fn fill(&mut self) -> Result<(), Failure> {
        self.read.copy_within(self.start..self.filled, 0);
        (self.start, self.end, self.filled) = (0, 0, self.filled - self.start);
        if self.filled == self.read.len() {
            // By a quarter only: a record that needs this may already take a large part of the memory.
            let more = self.read.len() / 4;
            self.read.try_reserve_exact(more).map_err(|_| Failure::Memory((self.filled + more) as u64))?;
            self.read.resize(self.filled + more, 0);
        }
        let room = &mut self.read[self.filled..];
        let (wanted, read) = (room.len(), self.content.fill(room)?);
        self.filled += read;
        self.ended = read < wanted;
        Ok(())
    }

    fn compare(&self, other: &Source, descending: bool) -> Ordering {
        if self.exhausted || other.exhausted {
            return self.exhausted.cmp(&other.exhausted);
        }
        let order = self.key.cmp(&other.key);
        if descending { order.reverse() } else { order }
    }
}
