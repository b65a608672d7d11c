//! Reads all inputs as one stream of records, one part at a time.

use sortie_formats::Quoted;
use sortie_formats::sequences::{self, Reading, Records};

use super::SequenceSort;
use crate::{Error, Input, Inputs, compression, quote};

/// The inputs as one stream of records.
pub struct Feed {
    inputs: Inputs<Reading<'static>>,
    /// The bytes of the longest record so far.
    longest: Option<usize>,
}

/// After this many bytes of records, their length is known.
const SAMPLE: u64 = 1 << 20;

impl Feed {
    pub fn new(inputs: Vec<Input>) -> Feed {
        Feed { inputs: Inputs::new(inputs), longest: None }
    }

    /// Reads the next records, until they take `enough` bytes or no more of them fit in their share of memory together with
    /// their keys and their sort. `share` returns it for the length of the longest record, if it is known. Also returns whether
    /// they are the last.
    pub fn next(
        &mut self,
        share: impl Fn(Option<usize>) -> u64,
        enough: u64,
        job: &SequenceSort<'_>,
    ) -> Result<(Records, bool), Error> {
        let mut records = job.no_records(share(self.longest));
        loop {
            let open = |input: &Input| {
                let source = compression::reader(input.open()?, input.name(), job.ledger.counter())?;
                let reading = Reading::new(job.order.format, source, as_size(job.of_reader()));
                reading.map_err(|error| job.unreadable(error, input, &records, 0))
            };
            let Some((input, reading)) = self.inputs.current(open)? else { return Ok((records, true)) };
            let before = records.len();
            let is_sample = self.longest.is_none();
            let ended =
                reading.fill(&mut records, as_size(if is_sample { enough.min(SAMPLE) } else { enough }));
            let ended = ended.map_err(|error| job.unreadable(error, input, &records, before))?;
            self.longest = self.longest.max(Some(records.longest(before)));
            records.raise_limit(as_size(share(self.longest)));
            if ended {
                self.inputs.close();
            } else if !is_sample || records.bytes() as u64 >= enough {
                return Ok((records, false));
            }
        }
    }
}

/// The number as a `usize`, or the largest `usize`.
pub fn as_size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

impl SequenceSort<'_> {
    /// The failure for an input that cannot be read to its end. `first` is the index of its first record.
    fn unreadable(&self, error: sequences::Error, input: &Input, records: &Records, first: usize) -> Error {
        let file = quote::name(input.name());
        match error {
            sequences::Error::Io(error) if records.len() == first => Error::file("read", input.name())(error),
            sequences::Error::Io(error) => {
                let last = Quoted::new(records.get(records.len() - 1).name());
                Error::invalid(format!("{file}: reading stopped after record {last}: {error}"))
            }
            sequences::Error::Record { line, name, problem } => {
                let record = name.map(|name| format!("record {name}: ")).unwrap_or_default();
                Error::invalid(format!("{file}:{line}: {record}{problem}"))
            }
            sequences::Error::Limit { line, bytes, limit } => {
                self.too_long(format!("{file}:{line}"), bytes as u64, limit as u64)
            }
            sequences::Error::Memory { bytes } => Error::Memory(bytes as u64),
            other => Error::invalid(format!("{file}: {other}")),
        }
    }
}
