//! Records of one length, and how they are sorted in memory.

use std::cmp::Ordering;
use std::ops::Range;

use rayon::prelude::*;
use sortie::plan::Plan;
use sortie::request::{Beside, KeyForm, Operation};
use sortie::{Engine, Sorter};
use sortie_files::memory::{append, filled, room};
use sortie_files::{Error, Items, Ledger, Sink};

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
