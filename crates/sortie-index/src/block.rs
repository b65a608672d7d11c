//! A block: the sorted dictionary of a stretch of documents, and a key for every word of their text.
//!
//! A key is a pair of term and document, the term by its rank in the block's dictionary, the document by its number in
//! the collection. Sorted, the keys are the block's postings.

use rayon::prelude::*;
use sortie::Sorter;

use crate::dictionary::Terms;
use crate::error::{Error, room, zeros};
use crate::parse::{Batch, Parsed};

/// A block whose keys are sorted, or to be sorted.
#[derive(Debug, Default)]
pub struct Block {
    /// Of each thread that parsed it.
    terms: Vec<Terms>,
    /// The distinct terms in order, as places in all of those, one after the other.
    order: Vec<u32>,
    /// How many bytes a term shares with the one before.
    shared: Vec<u8>,
    /// The rank in the upper half, the document in the lower.
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
    /// Ranks the terms and makes the keys, in no order. Each batch begins with the document of the number beside it; what
    /// `keys` holds is overwritten.
    ///
    /// Uses the threads of the rayon pool that it runs in. The terms are sorted as strings; that neighbours are equal is seen
    /// from what they share.
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
                // No term is longer than a byte can say.
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

    /// The term of a rank.
    pub fn term(&self, rank: usize) -> &[u8] {
        let mut place = self.order[rank] as usize;
        for terms in &self.terms {
            if place < terms.len() {
                return terms.get(place);
            }
            place -= terms.len();
        }
        unreachable!("places are those of terms")
    }

    /// How many bytes a term shares with one before it, or with none; nothing where both are the same.
    ///
    /// There may be others in between: the dictionary also has the terms of documents that were left out.
    pub fn shared(&self, before: Option<u32>, rank: u32) -> Option<usize> {
        let first = before.map_or(0, |before| before as usize + 1);
        self.shared[first..=rank as usize].iter().min().map(|&shared| shared.into())
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
