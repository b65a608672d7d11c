//! Cuts strings to words of their first symbols, which are sorted elsewhere, and sorts the strings that tie by their
//! words.
//!
//! Source: Drozd, Pericas and Matsuoka, "Efficient string sorting on multi- and many-core architectures" (2014),
//! section III: only a block of the first symbols is copied to the device, and the CPU finishes ties. Here, a block is
//! one word. The smaller the alphabet, the more symbols it holds.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Mutex;

use super::alone::State;
use super::symbols::Symbols;
use super::{Elsewhere, SCRATCH_HINT, Sort, Tie, alphabet_of, lcps, scratch};
use crate::cpu::Job;
use crate::cpu::prefetch::ahead;
use crate::cpu::tuning::CUT_SAMPLE;
use crate::cpu::tuning::STRINGS_A_TASK;
use crate::parallel;
use crate::parallel::ITEMS_A_TASK;
use crate::{Error, Index, Report};

/// How strings are cut to words.
pub(crate) struct Cut<'a, S, F> {
    strings: &'a [S],
    bytes: F,
    /// The common prefix of all strings according to a sample. Words begin after it.
    prefix: &'a [u8],
    symbols: Symbols,
}

impl<'a, S: Sync, F: Fn(&S) -> &[u8] + Sync> Cut<'a, S, F> {
    /// Uses the alphabet and the common prefix of a sample.
    pub fn of_sample(strings: &'a [S], bytes: F) -> Self {
        let prefix = strings.first().map_or(&[][..], &bytes);
        let shared = sampled(strings).fold(prefix.len(), |shared, item| match bytes(item) {
            string if string.starts_with(&prefix[..shared]) => shared,
            string => lcps::shared(&prefix[..shared], string),
        });
        let prefix = &prefix[..shared];
        let symbols = Symbols::new(&alphabet_of(sampled(strings).map(|item| &bytes(item)[shared..])));
        Cut { strings, bytes, prefix, symbols }
    }

    /// Uses all bytes, from the start of the strings. For when [`Cut::write`] has found a string that does not fit the
    /// sample.
    pub fn of_all_bytes(self) -> Self {
        Cut { prefix: &[], symbols: Symbols::bytes(), ..self }
    }

    /// If the string ends within its word, the word is a multiple of this.
    pub fn base(&self) -> u32 {
        self.symbols.base()
    }

    /// Writes the words of the strings from index `first` on, eight bytes each. Returns whether all strings have one.
    pub fn write(&self, first: usize, words: &mut [MaybeUninit<u8>], threads: usize) -> bool {
        let strings = &self.strings[first..first + words.len() / size_of::<u64>()];
        let write = |(strings, words): (&[S], &mut [MaybeUninit<u8>])| {
            let words = words.chunks_exact_mut(size_of::<u64>());
            ahead(strings, &self.bytes).zip(words).all(|(string, to)| {
                let word = self.word(string);
                to.iter_mut().zip(word.unwrap_or(0).to_ne_bytes()).for_each(|(to, byte)| {
                    to.write(byte);
                });
                word.is_some()
            })
        };
        let words = words.chunks_mut(STRINGS_A_TASK * size_of::<u64>());
        parallel::all(threads, strings.chunks(STRINGS_A_TASK).zip(words), write)
    }

    /// The share of strings that will tie with another, estimated from a sample.
    pub fn tied_share(&self) -> f64 {
        let mut words: Vec<u64> = sampled(self.strings).filter_map(|string| self.word(string)).collect();
        words.sort_unstable();
        let (mut pairs, mut more) = (0, 0);
        for tie in words.chunk_by(|a, b| a == b).filter(|tie| !self.symbols.ends(tie[0])) {
            match tie.len() {
                1 => {}
                2 => pairs += 2,
                many => more += many,
            }
        }
        // Pairs in the sample occur by chance, and more often among more strings. Longer ties mean that strings are
        // really similar.
        let sample = words.len().max(1) as f64;
        let more = more as f64 / sample;
        let by_chance = f64::from(pairs) / sample * (self.strings.len() as f64 / sample);
        (more + by_chance).min(1.0)
    }

    /// The average length of a string in bytes, estimated from a sample.
    pub fn sampled_length(&self) -> f64 {
        let bytes: usize = sampled(self.strings).map(|string| (self.bytes)(string).len()).sum();
        bytes as f64 / CUT_SAMPLE.min(self.strings.len()).max(1) as f64
    }

    /// Sorts the strings that tie, given as `ties` ascending runs of indices. `arrive` delivers the indices piece by
    /// piece, and calls back with their number after each piece. The ties among those are sorted before it continues.
    pub fn finish<I: Index>(
        &self,
        indices: &mut [I],
        ties: usize,
        tie: impl Fn(usize) -> Range<usize> + Sync,
        arrive: impl FnOnce(&mut [I], &mut dyn FnMut(&mut [I], usize)) -> Result<(), Error>,
        descending: bool,
        job: &Job,
    ) -> Result<Report, Error> {
        let strings = Elsewhere { strings: self.strings, bytes: &self.bytes };
        let sort = Sort { strings, descending, job };
        let depth = self.prefix.len() + self.symbols.count;
        let mut report = Report::default();
        let large = Mutex::new(Vec::new());
        let refs = size_of_val(indices);
        report.phase_by_thread("finish", job.budget.threads, refs, refs, |work| {
            let finish = |(mine, start, indices): (Range<usize>, usize, &mut [I])| {
                work.task(|| {
                    let (later, now): (Vec<_>, Vec<_>) =
                        mine.map(&tie).partition(|tie| tie.len() >= ITEMS_A_TASK);
                    large.lock().expect("no thread panicked").extend(later);
                    let tied = |tie: Range<usize>| Tie::new(tie.start - start..tie.end - start, depth);
                    let mut ties = now.into_iter().map(tied).collect();
                    sort.sort_ties(indices, &mut vec![(); indices.len()], &mut ties, &mut State::default());
                });
            };
            let mut sorted = 0;
            arrive(indices, &mut |indices, there| {
                let mine = sorted..sorted + whole_ties(sorted..ties, &tie, there);
                sorted = mine.end;
                let tasks = tasks(indices, mine, &tie);
                parallel::for_each(work.threads(), tasks, finish);
            })
        })?;
        let large = large.into_inner().expect("no thread panicked");
        let longest = large.iter().map(Range::len).max().unwrap_or(0);
        job.budget.scratch(scratch::<I>(longest), SCRATCH_HINT, &mut report)?;
        let unasked = &mut vec![(); indices.len()];
        sort.distribute_all(
            indices,
            unasked,
            large.into_iter().map(|tie| Tie::new(tie, depth)).collect(),
            &mut report,
        )?;
        Ok(report)
    }

    #[inline(always)]
    fn word(&self, string: &S) -> Option<u64> {
        self.symbols.word((self.bytes)(string).strip_prefix(self.prefix)?)
    }
}

/// A sample of the strings, evenly spaced.
fn sampled<S>(strings: &[S]) -> impl Iterator<Item = &S> {
    let sample = CUT_SAMPLE.min(strings.len());
    (0..sample).map(move |i| &strings[i * strings.len() / sample])
}

/// How many of the ties end at or before this index.
fn whole_ties(ties: Range<usize>, tie: impl Fn(usize) -> Range<usize>, there: usize) -> usize {
    let (mut low, mut high) = (ties.start, ties.end);
    while low < high {
        let middle = low.midpoint(high);
        if tie(middle).end <= there { low = middle + 1 } else { high = middle }
    }
    low - ties.start
}

/// Divides the indices into pieces with about the same number of tied strings, one for each task. A piece has its ties,
/// its start, and its indices.
fn tasks<I>(
    mut indices: &mut [I],
    ties: Range<usize>,
    tie: impl Fn(usize) -> Range<usize>,
) -> Vec<(Range<usize>, usize, &mut [I])> {
    let (mut at, mut first) = (0, ties.start);
    let mut tasks = Vec::new();
    while first < ties.end {
        let (mut last, mut strings) = (first, 0);
        while last < ties.end && strings < STRINGS_A_TASK {
            strings += tie(last).len();
            last += 1;
        }
        let (start, end) = (tie(first).start, tie(last - 1).end);
        indices.split_off_mut(..start - at).expect("ties are within the indices");
        let own = indices.split_off_mut(..end - start).expect("ties are within the indices");
        tasks.push((first..last, start, own));
        (at, first) = (end, last);
    }
    tasks
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Once, all tasks had the same number of ties, so one thread got a few long ones.
    #[test]
    fn long_ties_are_shared_among_threads() {
        let (ties, length) = (60, 2000);
        let tie = |i: usize| i * (length + 5)..i * (length + 5) + length;
        let mut indices = vec![0u32; ties * (length + 5)];
        let tasks = tasks(&mut indices, 0..ties, tie);
        assert!(tasks.len() > 5, "{}", tasks.len());
        let mut next = 0;
        for (own, start, indices) in tasks {
            assert_eq!((own.start, start), (next, tie(own.start).start));
            assert_eq!(start + indices.len(), tie(own.end - 1).end);
            next = own.end;
        }
        assert_eq!(next, ties);
    }

    #[test]
    fn ties_are_taken_once_they_are_there_as_a_whole() {
        let ties = [1..3, 3..5, 9..20];
        let whole = |from, there| whole_ties(from..3, |i| ties[i].clone(), there);
        assert_eq!([2, 3, 4, 5, 19, 20].map(|there| whole(0, there)), [0, 1, 1, 2, 2, 3]);
        assert_eq!([4, 5, 20].map(|there| whole(1, there)), [0, 1, 2]);
    }

    #[test]
    fn the_prefix_of_a_sample_is_what_its_strings_share() {
        for (strings, prefix) in
            [(&["id1", "id22", "id1"][..], "id"), (&["a", ""], ""), (&["same"; 3], "same"), (&[], "")]
        {
            assert_eq!(Cut::of_sample(strings, |string| string.as_bytes()).prefix, prefix.as_bytes());
        }
    }
}
