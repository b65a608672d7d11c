//! Merges runs by term into the lists of an index.
//!
//! The terms are cut into ranges, and each thread merges one range at a time. A tournament finds the run with the smallest term.
//! The documents of each run follow those of the run before, so the lists of a term are concatenated in the order of the runs. If
//! a block ended within a document, that document is the last of one list and the first of the next.
//!
//! The files of the index take the ranges in order. A thread that has merged a certain amount waits until the ranges before its
//! own are complete, and from then on writes as it merges.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use sortie::merge::Tournament;

use crate::error::Error;
use crate::format::{Counts, POSTINGS, TERMS};
use crate::postings::{Encoder, List};
use crate::publish::{Draft, Sealed};
use crate::run::{LEAST_BUFFER, Reader, Runs};
use crate::terms::Writer;

/// The number of bytes to write at a time, once it is a range's turn.
const BATCH: usize = if cfg!(test) { 64 } else { 64 << 10 };
/// The number of ranges for each thread, so that they end at about the same time.
const RANGES_A_THREAD: u64 = 8;
/// The minimum bytes of a range for each run. A reader starts at a mark before its range, 16 KB before it on average.
const LEAST_OF_A_RUN: u64 = if cfg!(test) { 64 } else { 256 << 10 };

/// Merges all runs into the terms and postings of a draft, and counts both. Uses `bytes` bytes of memory: half for the buffers of
/// the runs, half for what waits to be written. Uses the threads of the current rayon pool, but only as many as this memory has
/// buffers for. One thread always gets its buffers.
pub fn merge(runs: &Runs, bytes: usize, draft: &mut Draft) -> Result<Counts, Error> {
    let [terms, postings] = draft
        .files
        .get_disjoint_mut([TERMS, POSTINGS])
        .unwrap_or_else(|_| unreachable!("two places of five"));
    let output = Output {
        turn: AtomicUsize::new(0),
        turned: Condvar::new(),
        files: Mutex::new(Files {
            terms_path: terms.path().to_owned(),
            terms: Writer::new(terms),
            postings,
            counts: Counts::default(),
            failed: false,
        }),
    };
    if runs.len() > 0 {
        merge_by_ranges(runs, bytes / 2, &output)?;
    }
    output.finish()
}

fn merge_by_ranges(runs: &Runs, bytes: usize, output: &Output<'_>) -> Result<(), Error> {
    let threads = threads(runs.len(), bytes, rayon::current_num_threads());
    let least = LEAST_OF_A_RUN * runs.len() as u64;
    let ranges = match threads as u64 {
        1 => runs.ranges(u64::MAX),
        threads => runs.ranges((runs.bytes() / (RANGES_A_THREAD * threads)).max(least)),
    };
    let bytes = bytes / threads;
    let next = AtomicUsize::new(0);
    let merge_next = || -> Result<(), Error> {
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(&range) = ranges.get(number) else { return Ok(()) };
            let mut readers = runs.readers(range, bytes)?;
            if !merge_range(number, &mut readers, bytes, output)? {
                return Ok(());
            }
        }
    };
    let merged = rayon::broadcast(|thread| {
        if thread.index() >= threads {
            return Ok(());
        }
        let failing = Failing(output);
        let merged = merge_next();
        if merged.is_ok() {
            std::mem::forget(failing);
        }
        merged
    });
    merged.into_iter().collect()
}

/// The number of threads, at most `most`, whose smallest buffers fit in `bytes` bytes. Each has one for each run.
fn threads(runs: usize, bytes: usize, most: usize) -> usize {
    let least = runs.saturating_mul(LEAST_BUFFER).max(BATCH);
    (bytes / least).clamp(1, most)
}

/// Merges a range of terms, and holds up to about `most` bytes of it until its turn. Returns whether it is complete. If not, another
/// thread has failed.
fn merge_range(
    number: usize,
    readers: &mut [Reader<'_>],
    most: usize,
    output: &Output<'_>,
) -> Result<bool, Error> {
    let compare = |readers: &[Reader<'_>], a: usize, b: usize| {
        let (a, b) = (readers[a].term(), readers[b].term());
        // `None` means the end of a run, and sorts last.
        (a.is_none(), a).cmp(&(b.is_none(), b))
    };
    let mut tournament = Tournament::new(readers.len(), |a, b| compare(readers, a, b));
    let (mut encoder, mut merged, mut term) = (Encoder::default(), Merged::default(), Vec::new());
    while let Some(least) = readers[tournament.winner()].term() {
        term.clear();
        term.extend_from_slice(least);
        while readers[tournament.winner()].term() == Some(&term) {
            let reader = &mut readers[tournament.winner()];
            reader.postings(|posting| encoder.push(posting, &mut merged.postings))?;
            reader.advance()?;
            tournament.replay(|a, b| compare(readers, a, b));
            if merged.bytes() >= BATCH {
                if output.turn.load(Ordering::Acquire) != number && merged.bytes() < most / 2 {
                    continue;
                }
                let Some(mut files) = output.wait(number) else { return Ok(false) };
                files.append(&mut merged)?;
            }
        }
        let (list, length) = encoder.end(&mut merged.postings);
        merged.push(&term, list, length);
    }
    let Some(mut files) = output.wait(number) else { return Ok(false) };
    files.append(&mut merged)?;
    output.turn.store(number + 1, Ordering::Release);
    output.turned.notify_all();
    Ok(true)
}

/// Terms and postings of a range that are merged, but not written yet.
#[derive(Default)]
struct Merged {
    /// All terms, one after the other.
    terms: Vec<u8>,
    /// For each term where it ends, and its list.
    lists: Vec<(usize, List, u64)>,
    postings: Vec<u8>,
}

impl Merged {
    fn push(&mut self, term: &[u8], list: List, length: u64) {
        self.terms.extend_from_slice(term);
        self.lists.push((self.terms.len(), list, length));
    }

    /// The memory in use. Vectors that grow may hold twice as much.
    fn bytes(&self) -> usize {
        self.terms.len() + size_of_val(&self.lists[..]) + self.postings.len()
    }
}

/// The files that take the ranges in order.
struct Output<'a> {
    /// The range that writes. Changes only while the files are locked.
    turn: AtomicUsize,
    turned: Condvar,
    files: Mutex<Files<'a>>,
}

struct Files<'a> {
    terms_path: PathBuf,
    terms: Writer<&'a mut Sealed>,
    postings: &'a mut Sealed,
    counts: Counts,
    /// Whether a thread has failed. Then no further range is written.
    failed: bool,
}

impl<'a> Output<'a> {
    /// Waits until it is the turn of a range. `None` if a thread has failed.
    fn wait(&self, number: usize) -> Option<MutexGuard<'_, Files<'a>>> {
        // A thread that panics while it holds the files does not end its turn.
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let is_early = |files: &mut Files<'_>| !files.failed && self.turn.load(Ordering::Acquire) != number;
        let files = self.turned.wait_while(files, is_early).unwrap_or_else(PoisonError::into_inner);
        (!files.failed).then_some(files)
    }

    fn finish(self) -> Result<Counts, Error> {
        let Files { terms_path, terms, counts, .. } =
            self.files.into_inner().expect("a thread that panicked has ended the merge");
        terms.finish().map_err(Error::file("write", &terms_path))?;
        Ok(counts)
    }
}

impl Files<'_> {
    fn append(&mut self, merged: &mut Merged) -> Result<(), Error> {
        self.postings.append(&merged.postings)?;
        let mut start = 0;
        for &(end, list, length) in &merged.lists {
            self.counts.terms += 1;
            self.counts.postings += list.documents;
            self.counts.words += list.words;
            let pushed = self.terms.push(&merged.terms[start..end], list, length);
            pushed.map_err(Error::file("write", &self.terms_path))?;
            start = end;
        }
        merged.postings.clear();
        merged.terms.clear();
        merged.lists.clear();
        Ok(())
    }
}

/// Dropped by a thread that fails or panics: the others stop waiting for its range.
struct Failing<'a, 'b>(&'a Output<'b>);

impl Drop for Failing<'_, '_> {
    fn drop(&mut self) {
        self.0.files.lock().unwrap_or_else(PoisonError::into_inner).failed = true;
        self.0.turned.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::block::Block;
    use crate::documents::{Document, Item};
    use crate::parse::{Limits, Parser};

    /// Runs of one document each, which have some hundreds of terms in common.
    fn runs(folder: &Path) -> Runs {
        let mut random = fastrand::Rng::with_seed(1);
        let mut runs = Runs::new(folder).unwrap();
        for document in 0..5 {
            let text: Vec<_> = (0..2000).map(|_| format!("w{}", random.u32(0..800))).collect();
            let documents = vec![Document { name: document.to_string(), text: text.join(" ") }];
            let source = Box::new([Item::Documents(documents)].into_iter());
            let limits = Limits { pairs: 1 << 20, bytes: 1 << 20, bytes_a_pair: 1 };
            let parsed = Parser::new(source, 1, true, &|_| ()).parse(limits).unwrap().unwrap();
            let mut block = Block::new(parsed, &[document], Vec::new()).unwrap();
            block.keys.sort_unstable();
            runs.write(&block).unwrap();
        }
        runs
    }

    fn merged_by(threads: usize, runs: &Runs, folder: &Path) -> Result<Counts, Error> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut draft = Draft::new(&folder.join("index")).unwrap();
        pool.install(|| merge(runs, 1 << 10, &mut draft))
    }

    #[test]
    fn ranges_have_every_term_once() {
        let folder = tempfile::tempdir().unwrap();
        let runs = runs(folder.path());
        for bytes in [1, 100, 1000, u64::MAX] {
            let ranges = runs.ranges(bytes);
            assert_eq!((ranges[0].from, ranges[ranges.len() - 1].to), (None, None));
            assert!(ranges.windows(2).all(|pair| pair[0].to.is_some() && pair[0].to == pair[1].from));
            let expected = if bytes == u64::MAX { 1..=1 } else { 4..=1000 };
            assert!(expected.contains(&ranges.len()), "{} ranges of {bytes} bytes", ranges.len());
        }
        let counts = merged_by(1, &runs, folder.path()).unwrap();
        assert_eq!((counts.terms, counts.words), (800, 10_000));
        for threads in 2..5 {
            assert_eq!(merged_by(threads, &runs, folder.path()).unwrap(), counts);
        }
    }

    #[test]
    fn memory_limits_the_threads() {
        assert_eq!(threads(1000, 128 << 20, 128), 32);
        assert_eq!(threads(20, 128 << 20, 16), 16);
        assert_eq!(threads(100_000, 1 << 20, 16), 1);
    }

    #[test]
    fn a_run_that_cannot_be_read_ends_all_threads() {
        let folder = tempfile::tempdir().unwrap();
        let runs = runs(folder.path());
        for end in [runs.bytes() - 1, runs.bytes() / 2, 0] {
            runs.cut_short(end);
            for threads in 1..5 {
                let failed = merged_by(threads, &runs, folder.path());
                assert!(
                    matches!(failed, Err(Error::File { .. })),
                    "{threads} threads, {end} bytes: {failed:?}"
                );
            }
        }
    }
}
