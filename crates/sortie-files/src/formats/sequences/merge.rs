//! Merges runs of records. A run is the text of whole records. The keys are found again as the records are read.

use std::cmp::Ordering;

use sortie_formats::sequences::Format;

use super::{SequenceSort, keys};
use crate::formats::text::compare_bytes;
use crate::memory::room;
use crate::merge::{Cursor, Order, merge_cursors};
use crate::run::{Part, Source};
use crate::{Error, Sink};

/// The number of bytes to pass to the sink at a time.
const PIECE: usize = 1 << 18;
/// The smallest and the largest buffer of a run. It grows if a record is longer.
const READ: (u64, u64) = (16 << 10, 4 << 20);

/// Merges runs with `budget` bytes of memory. The runs are in the order in which their records were read.
pub fn merge(runs: Vec<Part>, budget: u64, job: &SequenceSort<'_>, sink: Sink<'_>) -> Result<(), Error> {
    let share = (budget / 2 / runs.len() as u64).clamp(READ.0, READ.1) as usize;
    let format = job.order.format;
    let open = |run: Part| Source::open(run, share).map(|run| RunRecords { run, format, record: 0 });
    let runs: Vec<_> = runs.into_iter().map(open).collect::<Result<_, _>>()?;
    let mut piece = room(PIECE)?;
    merge_cursors(runs, job, |record| {
        job.gather.put(&mut piece, PIECE, &record, sink)?;
        Ok(true)
    })?;
    sink(&piece)
}

/// The records of a run.
struct RunRecords {
    run: Source,
    format: Format,
    /// The bytes of the current record.
    record: usize,
}

impl Cursor for RunRecords {
    fn advance(&mut self) -> Result<bool, Error> {
        self.run.take(self.record);
        loop {
            let is_all = !self.run.goes_on();
            if let Some(record) = self.format.first(self.run.rest(), is_all) {
                self.record = record.bytes().len();
                return Ok(true);
            }
            if is_all {
                return Ok(false);
            }
            self.run.load(|records| self.format.first(records, false).is_some())?;
        }
    }

    fn item(&self) -> &[u8] {
        &self.run.rest()[..self.record]
    }
}

impl Order for SequenceSort<'_> {
    type Key = Vec<u8>;

    fn read_key(&self, record: &[u8], key: &mut Vec<u8>) -> Result<(), Error> {
        key.clear();
        keys::append(self.order.format.record(record), self.order.by, key)
    }

    fn compare_keys(&self, (_, a): (&[u8], &Vec<u8>), (_, b): (&[u8], &Vec<u8>)) -> Ordering {
        let ordering = compare_bytes(a, b);
        if self.order.descending { ordering.reverse() } else { ordering }
    }

    fn is_unique(&self) -> bool {
        self.order.unique
    }
}
