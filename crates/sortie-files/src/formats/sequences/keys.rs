//! The keys by which records are compared. If the text has a key in the form in which it compares, the key is a reference to
//! the text. Other keys are encoded.

use rayon::prelude::*;
use sortie_formats::sequences::{Record, Records};

use super::SequenceKey;
use crate::memory::filled;
use crate::{Error, Keyed};

/// The number of records whose encoded keys share one allocation.
const BLOCK: usize = 1 << 12;

/// The encoded keys, of the records whose keys are not in the text.
pub struct Keys {
    by: SequenceKey,
    blocks: Vec<Block>,
}

/// Some keys, stored one after the other.
#[derive(Default)]
struct Block {
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Keys {
    pub fn of(records: &Records, by: SequenceKey) -> Result<Keys, Error> {
        let encode = |block: usize| {
            let first = block * BLOCK;
            let mut block = Block::default();
            for place in first..records.len().min(first + BLOCK) {
                block.add(records.get(place), by)?;
            }
            Ok(block)
        };
        let blocks = (0..records.len().div_ceil(BLOCK)).into_par_iter().map(encode).collect::<Result<_, _>>();
        blocks.map(|blocks| Keys { by, blocks })
    }

    /// The bytes of memory that the keys take.
    pub fn bytes(&self) -> usize {
        self.blocks.iter().map(|block| block.bytes.len() + size_of_val(&*block.ends)).sum()
    }

    /// All records with their keys, in the order in which they were read.
    pub fn items<'a>(&'a self, records: &'a Records) -> Result<Vec<Keyed<'a, 'a>>, Error> {
        let mut items = filled(records.len(), Keyed { key: &[], bytes: &[] })?;
        let blocks = items.par_chunks_mut(BLOCK).zip(&self.blocks).enumerate();
        blocks.for_each(|(number, (items, block))| {
            let mut encoded = block.keys();
            for (place, item) in items.iter_mut().enumerate() {
                let record = records.get(number * BLOCK + place);
                let key = in_text(record, self.by).or_else(|| encoded.next());
                *item = Keyed { key: key.expect("it was encoded"), bytes: record.bytes() };
            }
        });
        Ok(items)
    }
}

impl Block {
    /// Encodes the key of a record whose key is not in the text.
    fn add(&mut self, record: Record<'_>, by: SequenceKey) -> Result<(), Error> {
        if in_text(record, by).is_some() {
            return Ok(());
        }
        append(record, by, &mut self.bytes)?;
        self.ends.push(self.bytes.len());
        Ok(())
    }

    fn keys(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |&end| &self.bytes[std::mem::replace(&mut start, end)..end])
    }
}

/// Appends the key of a record.
pub fn append(record: Record<'_>, by: SequenceKey, key: &mut Vec<u8>) -> Result<(), Error> {
    let room = record.bytes().len().max(size_of::<u64>());
    key.try_reserve(room).map_err(|_| Error::Memory((key.len() + room) as u64))?;
    match by {
        SequenceKey::Name => key.extend_from_slice(record.name()),
        SequenceKey::Length => {
            let letters: usize = record.sequence().map(<[u8]>::len).sum();
            key.extend((letters as u64).to_be_bytes());
        }
        SequenceKey::Sequence => record.sequence().for_each(|line| key.extend_from_slice(line)),
    }
    Ok(())
}

/// The key, if it is in the text: a name, or a sequence on one line.
fn in_text(record: Record<'_>, by: SequenceKey) -> Option<&[u8]> {
    match by {
        SequenceKey::Name => Some(record.name()),
        SequenceKey::Length => None,
        SequenceKey::Sequence => {
            let mut lines = record.sequence();
            let first = lines.next().unwrap_or_default();
            lines.next().is_none().then_some(first)
        }
    }
}
