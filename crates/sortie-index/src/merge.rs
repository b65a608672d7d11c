//! Runs are merged by term to the lists of an index.
//!
//! A tournament says which run has the least term. Runs hold documents in the order of their numbers, and so do the lists of
//! a term one after the other, from run to run; a document that was cut in two by the end of a block is the last of one list
//! and the first of the next.

use std::sync::mpsc;
use std::thread;

use sortie::merge::Tournament;

use crate::error::Error;
use crate::format::{Counts, POSTINGS, TERMS};
use crate::postings::Encoder;
use crate::publish::{Draft, Sealed};
use crate::run::{Reader, Runs};

/// So many bytes of terms go to the dictionary at a time.
const BATCH: usize = 64 << 10;

/// Terms in order, and where the tails of their lists begin.
#[derive(Default)]
struct Terms {
    bytes: Vec<u8>,
    /// Where a term ends, and its tail.
    each: Vec<(usize, u64)>,
}

/// Merges all runs into the terms and postings of a draft, and counts both. Buffers of the runs take so many bytes.
pub fn merge(runs: &Runs, bytes: usize, draft: &mut Draft) -> Result<Counts, Error> {
    let [terms, postings] = draft
        .files
        .get_disjoint_mut([TERMS, POSTINGS])
        .unwrap_or_else(|_| unreachable!("two places of five"));
    thread::scope(|scope| {
        // To build the dictionary takes as long as to merge lists, where they are short.
        let (to_build, batches) = mpsc::sync_channel::<Terms>(4);
        let build = move || build_dictionary(batches, terms);
        let dictionary = thread::Builder::new().spawn_scoped(scope, build).map_err(Error::threads(1))?;
        let counts = merge_lists(runs, bytes, postings, &to_build);
        drop(to_build);
        let built = dictionary.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        built.and(counts)
    })
}

fn merge_lists(
    runs: &Runs,
    bytes: usize,
    postings: &mut Sealed,
    to_build: &mpsc::SyncSender<Terms>,
) -> Result<Counts, Error> {
    let mut counts = Counts::default();
    if runs.len() == 0 {
        return Ok(counts);
    }
    let mut readers = runs.readers(bytes);
    readers.iter_mut().try_for_each(Reader::advance)?;
    let compare = |readers: &[Reader<'_>], a: usize, b: usize| {
        let (a, b) = (readers[a].term(), readers[b].term());
        // Nothing is the end, which comes last.
        (a.is_none(), a).cmp(&(b.is_none(), b))
    };
    let mut tournament = Tournament::new(readers.len(), |a, b| compare(&readers, a, b));
    let (mut encoder, mut out) = (Encoder::default(), Vec::new());
    let (mut terms, mut term) = (Terms::default(), Vec::new());
    while let Some(least) = readers[tournament.winner()].term() {
        term.clear();
        term.extend_from_slice(least);
        while readers[tournament.winner()].term() == Some(&term) {
            let reader = &mut readers[tournament.winner()];
            reader.postings(|posting| encoder.push(posting, &mut out))?;
            reader.advance()?;
            tournament.replay(|a, b| compare(&readers, a, b));
            if out.len() >= BATCH {
                postings.append(&out)?;
                out.clear();
            }
        }
        let (tail, list) = encoder.end(&mut out);
        counts.terms += 1;
        counts.postings += list.documents;
        counts.words += list.words;
        terms.bytes.extend_from_slice(&term);
        terms.each.push((terms.bytes.len(), tail));
        if terms.bytes.len() >= BATCH && to_build.send(std::mem::take(&mut terms)).is_err() {
            // The dictionary has failed, and says why.
            return Ok(counts);
        }
    }
    let _ = to_build.send(terms);
    postings.append(&out).map(|()| counts)
}

fn build_dictionary(batches: mpsc::Receiver<Terms>, file: &mut Sealed) -> Result<(), Error> {
    let path = file.path().to_owned();
    let failed = |error| match error {
        fst::Error::Io(error) => Error::file("write", &path)(error),
        fst::Error::Fst(error) => Error::damaged(&path, format!("terms are out of order: {error}")),
    };
    let mut map = fst::MapBuilder::new(file).map_err(failed)?;
    for batch in batches {
        let mut start = 0;
        for (end, tail) in batch.each {
            map.insert(&batch.bytes[start..end], tail).map_err(failed)?;
            start = end;
        }
    }
    map.finish().map_err(failed)
}
