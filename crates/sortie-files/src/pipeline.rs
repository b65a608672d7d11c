//! Sorts input of any format within a memory limit.
//!
//! 1. *Read and cut* ([`Format::fill`]): whole items are read until they fill their share of memory. They are a stretch.
//! 2. *Key and sort* ([`Format::sort`]): the stretch is sorted in memory.
//! 3. *Spill*: the sorted stretch is written to disk as a run.
//! 4. *Merge* ([`Format::merge`]): the runs are merged into the output. If there are too many runs, some are first merged
//!    into longer runs ([`Parts`]).
//! 5. *Publish* ([`Task::publish`]): once the output is complete, it is moved to its final place.
//!
//! The first stretch has all of the memory. If all items fit in it, they are written to the output, and there are no
//! runs. Later stretches share the memory, and steps 1 to 3 run at the same time, each on a different stretch.

use std::num::NonZeroUsize;
use std::path::Path;

use crate::compression::Compression;
use crate::format::{Format, Share, Sorted};
use crate::relay::{relay, runners, runners_of_several};
use crate::run::{Merge, Parts, RunFolder};
use crate::sink::Sink;
use crate::{Error, Ledger, Output, Temporary};

/// A sort within a memory limit.
pub struct Task<'a> {
    /// Bytes of memory for the items and their sort.
    pub budget: u64,
    pub(crate) folder: RunFolder,
    /// See [`Temporary::batch_size`].
    pub(crate) at_once: Option<NonZeroUsize>,
    pub(crate) ledger: &'a Ledger,
    /// See [`Task::with_threads`].
    threads: Option<usize>,
}

impl<'a> Task<'a> {
    /// A sort with `budget` bytes of memory, such as [`memory::budget`](crate::memory::budget) returns.
    pub fn new(temporary: &Temporary, budget: u64, ledger: &'a Ledger) -> Self {
        Task {
            budget,
            folder: RunFolder::new(temporary, budget),
            at_once: temporary.batch_size,
            ledger,
            threads: None,
        }
    }

    /// The same task, for `threads` threads instead of those of rayon's pool: of more than one, three run its steps at a time.
    pub fn with_threads(self, threads: usize) -> Self {
        Task { threads: Some(threads), ..self }
    }

    /// The number of runners that share `budget` bytes of memory.
    pub(crate) fn runners(&self, budget: u64) -> usize {
        match self.threads {
            Some(1) => 1,
            Some(_) => runners_of_several(budget),
            None => runners(budget),
        }
    }

    /// Opens the output, lets `sort` write to it, and moves it to its final place.
    pub fn publish(
        &self,
        path: Option<&Path>,
        compression: Option<Compression>,
        sort: impl FnOnce(Sink<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut output = Output::open(path, self.folder.first(), compression)?;
        sort(&mut |bytes| {
            self.ledger.check()?;
            self.ledger.progress.advance(bytes.len() as u64);
            output.write(bytes)
        })?;
        self.ledger.may_publish()?;
        output.finish()
    }

    /// Sorts all items of `feed` into `sink`. `size` is their number of bytes, if it is known.
    pub fn sort<F: Format>(
        &self,
        format: &F,
        mut feed: F::Feed,
        size: Option<u64>,
        sink: Sink<'_>,
    ) -> Result<(), Error> {
        self.ledger.progress.stage("sorting", size.unwrap_or(0));
        let merge = |runs, budget, sink: Sink<'_>| format.merge(runs, budget, sink);
        let no_parts = || self.parts(F::RUNS_AT_ONCE, &merge);
        // Created only when needed: it counts the open files, which takes as long as a small sort.
        let mut parts = None;
        if format.may_fit(&mut feed, size)? {
            let mut stretch = F::Stretch::default();
            let ended = format.fill(&mut stretch, &mut feed, Share { runners: 1, wait: &|| () })?;
            self.ledger.check()?;
            format.sort(&mut stretch, |sorted| {
                if ended {
                    self.ledger.progress.stage("writing", sorted.bytes as u64);
                    return (sorted.write)(sink);
                }
                self.spill(sorted, parts.insert(no_parts()))
            })?;
            if ended {
                return Ok(());
            }
        }
        let runners = self.runners(self.budget);
        let written = (parts.unwrap_or_else(no_parts), sink);
        let (parts, sink) = relay(runners, feed, written, |stretch: &mut F::Stretch, turn| {
            let ended = {
                let (feed, wait) = turn.feed_and_wait();
                format.fill(stretch, feed, Share { runners, wait: &wait })?
            };
            self.ledger.check()?;
            turn.sort(ended);
            format.sort(stretch, |sorted| match turn.write() {
                // A single item may take more than the share of a runner, and be all there is.
                Some((parts, sink)) if ended && parts.is_empty() => (sorted.write)(*sink),
                Some((parts, _)) => self.spill(sorted, parts),
                None => Ok(()),
            })
        })?;
        parts.merge(sink)
    }

    /// An empty list of parts for `merge` to merge, `at_once` at a time unless [`Temporary::batch_size`] says otherwise.
    pub fn parts<'p>(&'p self, at_once: usize, merge: Merge<'p>) -> Parts<'p> {
        let at_once = self.at_once.map_or(at_once, NonZeroUsize::get);
        Parts::new(at_once, self.budget, &self.folder, self.ledger, merge)
    }

    /// Writes a stretch as a run, if it has any items.
    fn spill(&self, sorted: Sorted<'_>, parts: &mut Parts<'_>) -> Result<(), Error> {
        if sorted.bytes == 0 {
            return Ok(());
        }
        parts.at_most(sorted.at_once);
        parts.push(self.folder.write(sorted.write)?)
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;
    use std::vec;

    use super::*;
    use crate::merge::{Cursor, Order, merge_cursors};
    use crate::run::{Part, Source};

    /// A small format, to show what one needs. An item is a word after a byte with its length. Words are sorted by their
    /// first letter.
    struct Words {
        /// The number of words that fit in memory.
        most: usize,
        at_once: usize,
    }

    impl Format for Words {
        type Feed = vec::IntoIter<Vec<u8>>;
        type Stretch = Vec<Vec<u8>>;

        const RUNS_AT_ONCE: usize = 5;

        fn fill(
            &self,
            words: &mut Vec<Vec<u8>>,
            feed: &mut vec::IntoIter<Vec<u8>>,
            share: Share<'_>,
        ) -> Result<bool, Error> {
            words.clear();
            words.extend(feed.take(self.most.div_ceil(share.runners)));
            Ok(feed.len() == 0)
        }

        fn sort(
            &self,
            words: &mut Vec<Vec<u8>>,
            then: impl FnOnce(Sorted<'_>) -> Result<(), Error>,
        ) -> Result<(), Error> {
            words.sort_by_key(|word| word[1]);
            let bytes = words.iter().map(Vec::len).sum();
            let write = |sink: Sink<'_>| words.iter().try_for_each(|word| sink(word));
            then(Sorted { bytes, at_once: self.at_once, write: &write })
        }

        fn merge(&self, runs: Vec<Part>, budget: u64, sink: Sink<'_>) -> Result<(), Error> {
            assert!((2..=self.at_once.clamp(2, Self::RUNS_AT_ONCE)).contains(&runs.len()));
            let open = |run| Source::open(run, budget as usize).map(|run| RunWords { run, word: 0 });
            let runs: Vec<_> = runs.into_iter().map(open).collect::<Result<_, _>>()?;
            merge_cursors(runs, self, |word| sink(word).map(|()| true))
        }
    }

    struct RunWords {
        run: Source,
        /// The bytes of the current word.
        word: usize,
    }

    /// The bytes of the first word with its length, if the word is complete.
    fn first(words: &[u8]) -> Option<usize> {
        let bytes = 1 + usize::from(*words.first()?);
        (words.len() >= bytes).then_some(bytes)
    }

    impl Cursor for RunWords {
        fn advance(&mut self) -> Result<bool, Error> {
            self.run.take(self.word);
            if first(self.run.rest()).is_none() {
                self.run.load(|words| first(words).is_some())?;
            }
            let next = first(self.run.rest());
            self.word = next.unwrap_or(0);
            Ok(next.is_some())
        }

        fn item(&self) -> &[u8] {
            &self.run.rest()[..self.word]
        }
    }

    impl Order for Words {
        type Key = u8;

        fn read_key(&self, word: &[u8], key: &mut u8) -> Result<(), Error> {
            *key = word[1];
            Ok(())
        }

        fn compare_keys(&self, (_, a): (&[u8], &u8), (_, b): (&[u8], &u8)) -> Ordering {
            a.cmp(b)
        }

        fn is_unique(&self) -> bool {
            false
        }
    }

    /// Words of many lengths with few different first letters. The rest of a word is its position, so that the test sees
    /// whether the sort is stable.
    fn words(count: usize) -> Vec<Vec<u8>> {
        let word = |i: usize| {
            let letter = b'a' + (i * i % 7) as u8;
            let rest = format!("{i}").repeat(1 + i % 40);
            let length = u8::try_from(1 + rest.len()).unwrap();
            [&[length, letter][..], rest.as_bytes()].concat()
        };
        (0..count).map(word).collect()
    }

    #[test]
    fn a_format_is_sorted_stably_whatever_fits_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let temporary = Temporary { folders: vec![folder.path().to_owned()], ..Temporary::default() };
        for count in [0, 1, 2, 1_000] {
            let unsorted = words(count);
            let mut expected = unsorted.clone();
            expected.sort_by_key(|word| word[1]);
            for most in [1, 2, 7, 300, 999, 1_000, 5_000] {
                // Tests one runner and one for each step, with buffers shorter than a word and shorter than a block.
                for (budget, at_once) in [(16, 1), (16, usize::MAX), (8 << 20, 3)] {
                    let ledger = Ledger::default();
                    let task = Task::new(&temporary, budget, &ledger);
                    let mut sorted = Vec::new();
                    let format = Words { most, at_once };
                    let written = task.sort(&format, unsorted.clone().into_iter(), None, &mut |bytes| {
                        sorted.extend_from_slice(bytes);
                        Ok(())
                    });
                    written.unwrap();
                    assert!(
                        sorted == expected.concat(),
                        "{count} words, {most} at a time, {budget}, {at_once}"
                    );
                }
            }
        }
        assert_eq!(folder.path().read_dir().unwrap().count(), 0);
    }
}
