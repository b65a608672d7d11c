//! Reads all inputs as one stream of records, one part at a time.

use std::slice;

use sortie_formats::Quoted;
use sortie_formats::sequences::{Error, Reading, Records};

use super::RecordSort;
use crate::failure::Failure;
use crate::sort::Input;
use crate::{compression, quote};

pub struct Feed<'a> {
    inputs: slice::Iter<'a, Input>,
    open: Option<(&'a Input, Reading<'a>)>,
    job: &'a RecordSort<'a>,
}

impl<'a> Feed<'a> {
    pub fn new(inputs: &'a [Input], job: &'a RecordSort<'a>) -> Self {
        Feed { inputs: inputs.iter(), open: None, job }
    }

    /// The next records: until they take `enough` bytes, or as many as fit in `share` bytes of memory together with what is
    /// held for each of them. Also returns whether they are the last.
    pub fn next(&mut self, share: u64, enough: u64) -> Result<(Records, bool), Failure> {
        let mut records = self.job.no_records(share);
        loop {
            let (input, reading) = match &mut self.open {
                Some(open) => open,
                None => {
                    let Some(input) = self.inputs.next() else { return Ok((records, true)) };
                    let source = compression::reader(input.open()?, input.name(), &self.job.ledger.progress)?;
                    let reading =
                        Reading::new(self.job.args.format.into(), source, as_size(self.job.of_reader()));
                    let reading = reading.map_err(|error| self.job.unreadable(error, input, &records, 0))?;
                    self.open.insert((input, reading))
                }
            };
            let before = records.len();
            let ended = reading.fill(&mut records, as_size(enough));
            match ended.map_err(|error| self.job.unreadable(error, input, &records, before))? {
                true => self.open = None,
                false => return Ok((records, false)),
            }
        }
    }
}

/// The number as a `usize`, or the largest `usize`.
pub fn as_size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

impl RecordSort<'_> {
    /// The failure for an input that cannot be read to its end. `first` is the index of its first record.
    fn unreadable(&self, error: Error, input: &Input, records: &Records, first: usize) -> Failure {
        let file = quote::name(input.name());
        match error {
            Error::Io(error) if records.len() == first => Failure::file("read", input.name())(error),
            Error::Io(error) => {
                let last = Quoted::new(records.get(records.len() - 1).name());
                Failure::new(format!("{file}: broken off after record {last}: {error}"))
            }
            Error::Record { line, name, problem } => {
                let record = name.map(|name| format!("record {name}: ")).unwrap_or_default();
                Failure::new(format!("{file}:{line}: {record}{problem}"))
            }
            Error::Limit { line, bytes, limit } => {
                let problem = self.too_long(bytes as u64, limit as u64);
                Failure::new(format!("{file}:{line}: {problem}"))
            }
            Error::Memory { bytes } => Failure::Memory(bytes as u64),
            other => Failure::new(format!("{file}: {other}")),
        }
    }
}
