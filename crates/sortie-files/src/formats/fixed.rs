//! Records of one length, and how they are sorted in memory.

use std::cmp::Ordering;
use std::io::{self, Read};
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::Path;

use rayon::prelude::*;
use sortie::plan::Plan;
use sortie::request::{Beside, KeyForm, Operation};
use sortie::{Engine, Report, Sorter};

use super::Choices;
use crate::memory::{append, filled, room, window};
use crate::{Error, Input, Inputs, Items, Ledger, Sink, sort_items};

/// The number of bytes to read between two signs of progress.
const PIECE: u64 = 4 << 20;
/// The number of bytes that one thread gathers at a time.
const BLOCK: usize = 128 << 10;
/// The memory that a sort of strings needs for each string, besides the reference and the index: two words of symbols,
/// and a copy of the index.
const STRING: usize = 24;

/// The layout of records, and their order.
pub struct Records {
    /// The size of a record in bytes.
    pub size: usize,
    /// The number of bytes that all threads gather together before they are written.
    pub window: usize,
    /// The key bytes, the most significant range first. If empty, the key is the whole record.
    pub keys: Vec<Range<usize>>,
    pub descending: bool,
    /// Whether only the first of records with equal keys is kept.
    pub unique: bool,
    pub engine: Engine,
}

impl Records {
    /// Plans the sort of `count` records.
    pub fn plan(&self, count: usize) -> Result<Plan, sortie::Error> {
        let keys = if let Key::Word = self.key() { KeyForm::of::<u64>() } else { KeyForm::Strings };
        let sorter = self.sorter()?;
        sorter.explain(&sorter.request(Operation::Array, keys, Beside::Indices { stable: true }, count))
    }

    fn sorter(&self) -> Result<Sorter, sortie::Error> {
        Sorter::builder().engine(self.engine).descending(self.descending).build()
    }
}

impl Items for Records {
    type Order = Vec<u32>;

    fn width(&self) -> usize {
        self.size
    }

    fn beside(&self) -> usize {
        size_of::<u32>()
            + match self.key() {
                Key::Word => 3 * size_of::<u64>(),
                Key::Part(_) => size_of::<&[u8]>() + STRING,
                Key::Parts(length) => length + size_of::<&[u8]>() + STRING,
            }
    }

    fn sort(&self, records: &mut [u8], ledger: &Ledger) -> Result<Vec<u32>, Error> {
        let count = records.len() / self.size;
        let mut places = filled(count, 0u32)?;
        let sorter = self.sorter()?;
        let bytes = records.len();
        let each = || records.par_chunks_exact(self.size);
        let report = match self.key() {
            Key::Word => {
                let mut words = filled(count, 0u64)?;
                ledger.timed("encode", bytes, size_of_val(&words[..]), || {
                    words.par_iter_mut().zip(each()).for_each(|(word, record)| *word = self.word(record));
                });
                sorter.argsort(&words, &mut places)?
            }
            Key::Part(part) => {
                let mut keys = filled(count, &[][..])?;
                keys.par_iter_mut().zip(each()).for_each(|(key, record)| *key = &record[part.clone()]);
                sorter.argsort_strings(&keys, &mut places)?
            }
            Key::Parts(length) => {
                let mut text = filled(count * length, 0)?;
                ledger.timed("encode", bytes, text.len(), || {
                    text.par_chunks_exact_mut(length)
                        .zip(each())
                        .for_each(|(key, record)| self.copy_key(record, key));
                });
                let mut keys = filled(count, &[][..])?;
                keys.par_iter_mut().zip(text.par_chunks_exact(length)).for_each(|(key, text)| *key = text);
                sorter.argsort_strings(&keys, &mut places)?
            }
        };
        ledger.absorb(report);
        Ok(places)
    }

    fn write(
        &self,
        records: &[u8],
        places: &Vec<u32>,
        last: &mut Vec<u8>,
        sink: Sink<'_>,
    ) -> Result<(), Error> {
        let Some(&final_place) = places.last() else { return Ok(()) };
        let record = |place: u32| &records[place as usize * self.size..][..self.size];
        if !self.unique {
            return self.gather(records, places, sink);
        }
        let mut kept: Vec<u32> = room(places.len())?;
        for &place in places {
            let before = kept.last().map_or(&last[..], |&place| record(place));
            if before.is_empty() || self.compare(before, record(place)).is_ne() {
                kept.push(place);
            }
        }
        last.clear();
        append(last, record(final_place))?;
        self.gather(records, &kept, sink)
    }

    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        let parts = self.keys.iter().map(|key| a[key.clone()].cmp(&b[key.clone()]));
        let order = match &self.keys[..] {
            [] => a.cmp(b),
            _ => parts.fold(Ordering::Equal, Ordering::then),
        };
        if self.descending { order.reverse() } else { order }
    }
}

/// Sorts the records of all inputs, of `size` bytes each, by the ranges `keys` of their bytes. See
/// [`sort_layout`](super::sort_layout).
///
/// # Errors
/// As that function.
pub fn sort_records(
    size: NonZeroUsize,
    keys: &[Range<usize>],
    inputs: Vec<Input>,
    output: Option<&Path>,
    choices: &Choices,
) -> Result<Report, Error> {
    if let Some(key) = keys.iter().find(|key| key.is_empty() || key.end > size.get()) {
        return Err(Error::invalid(format!("the key {key:?} is not in records of {size} bytes")));
    }
    let bytes = inputs.iter().map(Input::raw_size).sum::<Option<u64>>();
    choices.publish(output, bytes, false, |task, sink| {
        let records = Records {
            size: size.get(),
            window: window(task.budget, bytes),
            keys: keys.to_owned(),
            descending: choices.descending,
            unique: choices.unique,
            engine: Engine::default(),
        };
        let mut feed = RecordFeed::new(inputs, size.get(), task.ledger);
        sort_items(&records, task, &mut |items| feed.fill(items), bytes, sink)
    })
}

/// How the keys of records are sorted.
enum Key {
    /// As numbers that contain all bytes of the key.
    Word,
    /// As strings within the records.
    Part(Range<usize>),
    /// As strings of this many bytes, each concatenated from parts of the record.
    Parts(usize),
}

impl Records {
    fn key(&self) -> Key {
        let length = self.parts().map(|part| part.len()).sum();
        match &self.keys[..] {
            _ if length <= size_of::<u64>() => Key::Word,
            [] => Key::Part(0..self.size),
            [part] => Key::Part(part.clone()),
            _ => Key::Parts(length),
        }
    }

    /// The byte ranges of the key.
    fn parts(&self) -> impl Iterator<Item = Range<usize>> {
        let whole = self.keys.is_empty().then_some(0..self.size);
        self.keys.iter().cloned().chain(whole)
    }

    /// A key of at most 8 bytes as a number.
    fn word(&self, record: &[u8]) -> u64 {
        let mut word = [0; size_of::<u64>()];
        self.copy_key(record, &mut word);
        u64::from_be_bytes(word)
    }

    fn copy_key(&self, record: &[u8], mut to: &mut [u8]) {
        for part in self.parts() {
            let now = to.split_off_mut(..part.len()).expect("there is room for all parts");
            now.copy_from_slice(&record[part]);
        }
    }

    /// Writes the records at `places`. One window is written while the next is gathered.
    fn gather(&self, records: &[u8], places: &[u32], sink: Sink<'_>) -> Result<(), Error> {
        let in_block = (BLOCK / self.size).max(1);
        let in_window = (self.window / self.size).max(1);
        let fill = |window: &mut Vec<u8>, places: &[u32]| {
            window.resize(places.len() * self.size, 0);
            let blocks = window.par_chunks_mut(in_block * self.size).zip(places.par_chunks(in_block));
            blocks.for_each(|(block, places)| {
                for (to, &place) in block.chunks_exact_mut(self.size).zip(places) {
                    to.copy_from_slice(&records[place as usize * self.size..][..self.size]);
                }
            });
        };
        // Reserves room for a whole window now, because a failure to grow it later could not be reported.
        let bytes = places.len().min(in_window) * self.size;
        let (mut full, mut empty): (Vec<u8>, Vec<u8>) = (room(bytes)?, room(bytes)?);
        for places in places.chunks(in_window) {
            rayon::join(|| sink(&full), || fill(&mut empty, places)).0?;
            std::mem::swap(&mut full, &mut empty);
        }
        sink(&full)
    }
}

/// The inputs as one stream of whole records.
pub struct RecordFeed<'a> {
    /// Each with the number of its bytes that were read.
    inputs: Inputs<(Box<dyn Read + Send>, u64)>,
    size: usize,
    ledger: &'a Ledger,
}

impl<'a> RecordFeed<'a> {
    /// The records of `size` bytes of all inputs.
    pub fn new(inputs: Vec<Input>, size: usize, ledger: &'a Ledger) -> Self {
        RecordFeed { inputs: Inputs::new(inputs), size, ledger }
    }

    /// Fills `bytes` with whole records, and returns the number of bytes filled. It is smaller only at the end of the input.
    pub fn fill(&mut self, bytes: &mut [u8]) -> Result<usize, Error> {
        let room = bytes.len() - bytes.len() % self.size;
        let mut filled = 0;
        while filled < room {
            let open = |input: &Input| Ok((input.read_raw()?, 0));
            let Some((input, (content, read))) = self.inputs.current(open)? else { break };
            let piece = &mut bytes[filled..room.min(filled + PIECE as usize)];
            let more = match content.read(piece) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                more => more.map_err(Error::file("read", input.name()))?,
            };
            filled += more;
            *read += more as u64;
            self.ledger.progress.advance(more as u64);
            if more == 0 {
                if !read.is_multiple_of(self.size as u64) {
                    return Err(Error::Uneven {
                        path: input.name().to_owned(),
                        bytes: *read,
                        size: self.size,
                    });
                }
                self.inputs.close();
            }
        }
        Ok(filled)
    }
}
