//! Merges runs by term into the lists of an index.
//!
//! A tournament finds the run with the smallest term. The documents of each run follow those of the run before, so
//! the lists of a term are concatenated in the order of the runs. If a block ended within a document, that document
//! is the last of one list and the first of the next.

use sortie::merge::Tournament;

use crate::error::Error;
use crate::format::{Counts, POSTINGS, TERMS};
use crate::postings::Encoder;
use crate::publish::Draft;
use crate::run::{Reader, Runs};
use crate::terms::Writer;

/// The number of bytes of lists to write at a time.
const BATCH: usize = 64 << 10;

/// Merges all runs into the terms and postings of a draft, and counts both. The buffers of the runs take `bytes` bytes.
pub fn merge(runs: &Runs, bytes: usize, draft: &mut Draft) -> Result<Counts, Error> {
    let [terms, postings] = draft
        .files
        .get_disjoint_mut([TERMS, POSTINGS])
        .unwrap_or_else(|_| unreachable!("two places of five"));
    let terms_path = terms.path().to_owned();
    let failed = |error| Error::file("write", &terms_path)(error);
    let mut terms = Writer::new(terms);
    let mut counts = Counts::default();
    if runs.len() == 0 {
        return terms.finish().map(|()| counts).map_err(failed);
    }
    let mut readers = runs.readers(bytes);
    readers.iter_mut().try_for_each(Reader::advance)?;
    let compare = |readers: &[Reader<'_>], a: usize, b: usize| {
        let (a, b) = (readers[a].term(), readers[b].term());
        // `None` means the end of a run, and sorts last.
        (a.is_none(), a).cmp(&(b.is_none(), b))
    };
    let mut tournament = Tournament::new(readers.len(), |a, b| compare(&readers, a, b));
    let (mut encoder, mut out, mut term) = (Encoder::default(), Vec::new(), Vec::new());
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
        let (list, length) = encoder.end(&mut out);
        counts.terms += 1;
        counts.postings += list.documents;
        counts.words += list.words;
        terms.push(&term, list, length).map_err(failed)?;
    }
    postings.append(&out)?;
    terms.finish().map(|()| counts).map_err(failed)
}
