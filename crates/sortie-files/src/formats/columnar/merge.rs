//! [`Merge`]: merges runs, portion by portion.

use std::cmp::Ordering;
use std::io::{self, BufReader, Read, Write};
use std::num::NonZeroUsize;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::{ArrowError, SchemaRef};

use super::keys::{Key, comparator};
use super::rows::{Distinct, Rows, failed};
use crate::run::{Run, RunFolder};
use crate::{Error, Sink};

/// The runs that are merged at once, and the share of memory that a batch of one takes.
const RUNS: usize = 24;
const BATCH_SHARE: u64 = 128;

/// Receives rows in order.
pub type Emit<'e> = dyn FnMut(&Rows) -> Result<(), Error> + 'e;

/// How runs are written and merged.
pub struct Merge<'a> {
    pub keys: &'a [Key],
    pub schema: &'a SchemaRef,
    pub unique: bool,
    pub top: Option<u64>,
    pub budget: u64,
    pub at_once: Option<NonZeroUsize>,
    pub folder: &'a RunFolder,
}

impl Merge<'_> {
    /// Writes the rows that `fill` emits to a run.
    pub fn write(&self, fill: &mut dyn FnMut(&mut Emit<'_>) -> Result<(), Error>) -> Result<Run, Error> {
        self.folder.write(|sink| {
            let mut file =
                StreamWriter::try_new(ToSink { sink, failure: None }, self.schema).map_err(failed)?;
            let filled = fill(&mut |rows| {
                let most = (self.budget / BATCH_SHARE) as usize / rows.row_bytes.max(1);
                let step = most.clamp(1, rows.step());
                for start in (0..rows.len()).step_by(step) {
                    let batch = rows.batch(start..rows.len().min(start + step)).map_err(failed)?;
                    file.write(&batch).map_err(|error| file.get_mut().explained(error))?;
                }
                Ok(())
            });
            filled?;
            file.finish().map_err(|error| file.get_mut().explained(error))
        })
    }

    /// Merges all runs. Earlier runs have the earlier of equal rows.
    pub fn all(&self, mut runs: Vec<Run>, emit: &mut Emit<'_>) -> Result<(), Error> {
        let most = self.at_once.map_or(RUNS, NonZeroUsize::get).max(2);
        while runs.len() > most {
            let mut longer = Vec::new();
            let mut rest = runs.into_iter().peekable();
            while rest.peek().is_some() {
                let some: Vec<Run> = rest.by_ref().take(most).collect();
                let mut some = Some(some);
                longer.push(self.write(&mut |emit| self.some(some.take().unwrap_or_default(), emit))?);
            }
            runs = longer;
        }
        self.some(runs, emit)
    }

    fn some(&self, runs: Vec<Run>, emit: &mut Emit<'_>) -> Result<(), Error> {
        let (mut heads, mut distinct, mut left) = (Vec::new(), Distinct::default(), self.top);
        for run in runs {
            heads.extend(Head::open(run, self.keys)?);
        }
        let most_rows = |heads: &[Head]| heads.iter().map(|head| head.batch.num_rows()).sum::<usize>() / 4;
        while !heads.is_empty() && left != Some(0) {
            let (mut portion, mut rows, enough) = (Vec::new(), 0, most_rows(&heads));
            while !heads.is_empty() && (rows == 0 || rows < enough) {
                rows += self.round(&mut heads, &mut portion)?;
            }
            let mut rows = Rows::sorted(self.schema, portion, self.keys).map_err(failed)?;
            if self.unique {
                distinct.filter(&mut rows, self.keys).map_err(failed)?;
            }
            if let Some(left) = &mut left {
                rows.truncate(*left);
                *left -= rows.len() as u64;
            }
            emit(&rows)?;
        }
        Ok(())
    }

    /// Takes the rows that come before all others, up to the last one in memory of some run. Returns how many.
    fn round(&self, heads: &mut Vec<Head>, portion: &mut Vec<RecordBatch>) -> Result<usize, Error> {
        let mut first = 0;
        for index in 1..heads.len() {
            let (head, before) = (&heads[index], &heads[first]);
            let compare = comparator(self.keys, &head.keys, &before.keys).map_err(failed)?;
            if compare(head.batch.num_rows() - 1, before.batch.num_rows() - 1).is_lt() {
                first = index;
            }
        }
        let bound = heads[first].keys.clone();
        let last = heads[first].batch.num_rows() - 1;
        let mut rows = 0;
        for (index, head) in std::mem::take(heads).into_iter().enumerate() {
            // More rows like the bound may follow in its run, and those of later runs come after them.
            let count = match index.cmp(&first) {
                Ordering::Less => head.rows_until(self.keys, &bound, last, Ordering::is_le)?,
                Ordering::Equal => last + 1,
                Ordering::Greater => head.rows_until(self.keys, &bound, last, Ordering::is_lt)?,
            };
            if count > 0 {
                rows += count;
                portion.push(head.batch.slice(0, count));
            }
            heads.extend(head.without(count, self.keys)?);
        }
        Ok(rows)
    }
}

/// The next rows of a run, at least one.
struct Head {
    batch: RecordBatch,
    keys: Vec<ArrayRef>,
    rest: Stream,
}

type Stream = StreamReader<BufReader<FromRun>>;

impl Head {
    fn open(run: Run, keys: &[Key]) -> Result<Option<Head>, Error> {
        let block = run.block();
        let content = run.read()?;
        let reader = FromRun { content, failure: None };
        let stream = StreamReader::try_new(BufReader::with_capacity(block, reader), None);
        Head::of(stream.map_err(failed)?, keys)
    }

    fn of(mut rest: Stream, keys: &[Key]) -> Result<Option<Head>, Error> {
        while let Some(batch) = rest.next() {
            let batch = batch.map_err(|error| rest.get_mut().get_mut().explained(error))?;
            if batch.num_rows() > 0 {
                let values = keys.iter().map(|key| key.values(batch.column(key.column)));
                let keys = values.collect::<Result<_, _>>().map_err(failed)?;
                return Ok(Some(Head { batch, keys, rest }));
            }
        }
        Ok(None)
    }

    /// How many rows compare with a row as `holds` says.
    fn rows_until(
        &self,
        keys: &[Key],
        bound: &[ArrayRef],
        row: usize,
        holds: fn(Ordering) -> bool,
    ) -> Result<usize, Error> {
        let compare = comparator(keys, &self.keys, bound).map_err(failed)?;
        let (mut start, mut end) = (0, self.batch.num_rows());
        while start < end {
            let middle = start.midpoint(end);
            if holds(compare(middle, row)) { start = middle + 1 } else { end = middle }
        }
        Ok(start)
    }

    /// The rest of the run after the first rows.
    fn without(self, rows: usize, keys: &[Key]) -> Result<Option<Head>, Error> {
        match self.batch.num_rows() - rows {
            0 => Head::of(self.rest, keys),
            left => Ok(Some(Head {
                batch: self.batch.slice(rows, left),
                keys: self.keys.iter().map(|column| column.slice(rows, left)).collect(),
                rest: self.rest,
            })),
        }
    }
}

/// Writes to a sink, and keeps the reason why it failed.
struct ToSink<'s> {
    sink: Sink<'s>,
    failure: Option<Error>,
}

impl ToSink<'_> {
    fn explained(&mut self, error: ArrowError) -> Error {
        self.failure.take().unwrap_or_else(|| failed(error))
    }
}

impl Write for ToSink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        (self.sink)(bytes).map(|()| bytes.len()).map_err(|error| {
            self.failure = Some(error);
            io::Error::other("the temporary file failed")
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads a run, and keeps the reason why it failed.
struct FromRun {
    content: crate::run::Content,
    failure: Option<Error>,
}

impl FromRun {
    fn explained(&mut self, error: ArrowError) -> Error {
        self.failure.take().unwrap_or_else(|| failed(error))
    }
}

impl Read for FromRun {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.content.reader.read(into).map_err(|error| {
            let kind = error.kind();
            self.failure = Some(Error::file(self.content.doing, &self.content.name)(error));
            io::Error::from(kind)
        })
    }
}
