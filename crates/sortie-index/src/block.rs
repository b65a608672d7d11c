//! A block: the sorted dictionary of some consecutive documents, and a key for every word of their text.
//!
//! A key is a pair of a term and a document. The term is given by its rank in the block's dictionary, the document by
//! its number in the collection. The sorted keys are the block's postings.

use rayon::prelude::*;
use sortie::Sorter;

use crate::dictionary::Terms;
use crate::error::{Error, room, zeros};
use crate::parse::{Batch, Parsed};

/// A block, whose keys may be sorted or not.
#[derive(Debug, Default)]
pub struct Block {
    /// The terms of each thread that parsed the block.
    terms: Vec<Terms>,
    /// The distinct terms in order, as indices into all of `terms`, one thread's after the other.
    order: Vec<u32>,
    /// The number of bytes that each term shares with the term before.
    shared: Vec<u8>,
    /// The keys: the rank in the upper half, the document in the lower half.
    pub keys: Vec<u64>,
}

/// The key of a pair.
pub fn key(rank: u32, document: u32) -> u64 {
    u64::from(rank) << 32 | u64::from(document)
}

/// The pair of a key.
pub fn pair(key: u64) -> (u32, u32) {
    ((key >> 32) as u32, key as u32)
}

impl Block {
    /// Ranks the terms and makes the keys, unsorted. `first_documents` has the number of the first document of each
    /// batch. The content of `keys` is overwritten.
    ///
    /// Uses the threads of the current rayon pool. The terms are sorted as strings. Equal neighbours are recognised
    /// by the length of their common prefix.
    ///
    /// # Errors
    /// [`Error::Memory`], and [`Error::Sort`] if there is no memory to sort the terms.
    pub fn new(parsed: Parsed, first_documents: &[u32], mut keys: Vec<u64>) -> Result<Block, Error> {
        let Parsed { batches, terms } = parsed;
        let mut all: Vec<&[u8]> = room(terms.iter().map(Terms::len).sum())?;
        all.extend(terms.iter().flat_map(|terms| (0..terms.len()).map(|number| terms.get(number))));
        let mut order = zeros::<u32>(all.len())?;
        let mut lcps = zeros::<u32>(all.len())?;
        Sorter::builder().build()?.argsort_strings_with_lcps(&all, &mut order, &mut lcps)?;

        let mut ranks = zeros::<u32>(all.len())?;
        let mut shared = room(all.len())?;
        for at in 0..order.len() {
            let (place, lcp) = (order[at] as usize, lcps[at] as usize);
            let repeats = at > 0 && lcp == all[place].len() && lcp == all[order[at - 1] as usize].len();
            if !repeats {
                // A term has at most 255 bytes.
                shared.push(lcp as u8);
            }
            ranks[place] = shared.len() as u32 - 1;
        }
        drop((all, lcps));
        order.dedup_by_key(|place| ranks[*place as usize]);

        let starts: Vec<usize> = terms
            .iter()
            .scan(0, |start, terms| Some(std::mem::replace(start, *start + terms.len())))
            .collect();
        let count = batches.iter().map(|batch| batch.words.len()).sum();
        if keys.len() < count {
            drop(keys);
            keys = zeros(count)?;
        }
        keys.truncate(count);
        let mut rest = &mut keys[..];
        let work: Vec<_> = batches
            .into_iter()
            .zip(first_documents)
            .map(|(batch, &first)| {
                let own = rest.split_off_mut(..batch.words.len()).expect("as many as words");
                (batch, first, own)
            })
            .collect();
        work.into_par_iter().for_each(|(batch, first, keys)| {
            write_keys(&batch, first, &ranks[starts[batch.thread]..], keys);
        });
        Ok(Block { terms, order, shared, keys })
    }

    /// The term of a given rank.
    pub fn term(&self, rank: usize) -> &[u8] {
        let mut place = self.order[rank] as usize;
        for terms in &self.terms {
            if place < terms.len() {
                return terms.get(place);
            }
            place -= terms.len();
        }
        unreachable!("each index is that of a term")
    }

    /// The number of bytes that the term of rank `rank` shares with the term of a lower rank `before`.
    ///
    /// Other terms may lie between the two, because the dictionary also has the terms of documents that were
    /// left out.
    pub fn shared(&self, before: u32, rank: u32) -> usize {
        let between = &self.shared[before as usize + 1..=rank as usize];
        between.iter().min().map_or(0, |&shared| shared.into())
    }
}

fn write_keys(batch: &Batch, first: u32, ranks: &[u32], keys: &mut [u64]) {
    let mut start = 0;
    for (place, document) in batch.documents.iter().enumerate() {
        let number = first + place as u32;
        let words = &batch.words[start..document.words_end];
        let keys = &mut keys[start..document.words_end];
        for (to, &word) in keys.iter_mut().zip(words) {
            *to = key(ranks[word as usize], number);
        }
        start = document.words_end;
    }
}
