//! Strings, by their bytes: references move, never bodies.
//!
//! 1. *Profile*: the alphabet of a sample, and the prefix that all strings share.
//! 2. *Distribute*: the next symbols of every string, as a word beside its place, go to buckets: many symbols a
//!    pass. All threads work on all strings.
//! 3. *Finish*: each bucket is ordered by its words, which were cached for that; strings with equal words go on with
//!    their next symbols, as in multikey quicksort, where a vectorised sort of the words replaces the
//!    three-way partition. One thread works on a bucket; a tie as large as an input of its own is distributed again.
//!
//! Source: Drozd, Pericas and Matsuoka, "Efficient string sorting on multi- and many-core architectures" (2014),
//! sections II (data-parallel passes, then task-parallel buckets) and III.A; the cached symbols after Ng and Kakehi,
//! "Cache efficient radix sort for string sorting" (2007).

mod symbols;

use std::cmp::Ordering;
use std::mem::MaybeUninit;
use std::sync::Mutex;

use rayon::prelude::*;

use self::symbols::Symbols;
use super::order::Orderer;
use super::scatter::{Pair, Places};
use super::scratch::Scratch;
use super::vector::Isa;
use super::{Job, compare, pairs};
use crate::key::Transform;
use crate::plan::{ALPHABET_SAMPLE, INSERT_UP_TO, PARALLEL_FROM};
use crate::{Algorithm, Error, Index, Report, Segments};

/// Sorts strings. Stable.
pub(crate) fn sort<S: Send + Sync>(
    strings: &mut [S],
    bytes: impl Fn(&S) -> &[u8] + Sync,
    descending: bool,
    job: &Job,
) -> Result<Report, Error> {
    if compared(strings.len(), job) {
        return compare::sort(strings, |a, b| compare_bytes(bytes(a), bytes(b), descending), job);
    }
    if u32::try_from(strings.len()).is_ok() {
        sort_by_places::<S, u32>(strings, bytes, descending, job)
    } else {
        sort_by_places::<S, usize>(strings, bytes, descending, job)
    }
}

/// Writes the places of the strings in order. Stable.
pub(crate) fn argsort<S: Sync, I: Index>(
    strings: &[S],
    bytes: impl Fn(&S) -> &[u8] + Sync,
    places: &mut [I],
    descending: bool,
    job: &Job,
) -> Result<Report, Error> {
    places.iter_mut().enumerate().for_each(|(i, place)| *place = I::from_place(i));
    if compared(strings.len(), job) {
        let string = |place: &I| bytes(&strings[place.place()]);
        return compare::sort(places, |a, b| compare_bytes(string(a), string(b), descending), job);
    }
    let mut report = Report::default();
    let sort = Sort { string: |place: usize| bytes(&strings[place]), descending, job, isa: Isa::detect() };
    sort.run(places, &mut report)?;
    Ok(report)
}

/// Sorts the strings between offsets, and writes offsets and bytes anew. Stable.
pub(crate) fn sort_array<O: Index>(
    offsets: &mut [O],
    bytes: &mut [u8],
    descending: bool,
    job: &Job,
) -> Result<Report, Error> {
    let ends: Vec<usize> = offsets.iter().map(|offset| offset.place()).collect();
    let (Some(&start), Some(&end)) = (ends.first(), ends.last()) else {
        return Err(Error::Segments("a string array has at least one offset; there are none".into()));
    };
    Segments::Offsets(&ends).check(bytes.len())?;
    let copied = end - start + size_of_val(&*ends) + ends.len() * size_of::<&[u8]>();
    job.scratch(copied, "the bodies are copied once, at the end")?;
    let copy = bytes[start..end].to_vec();
    let mut strings: Vec<&[u8]> =
        ends.windows(2).map(|pair| &copy[pair[0] - start..pair[1] - start]).collect();
    let mut report = sort(&mut strings, |string| string, descending, job)?;
    report.hold(report.scratch_peak as usize + copied);
    report.phase("move", copy.len(), copy.len(), || {
        let mut at = start;
        for (string, offset) in strings.iter().zip(&mut offsets[1..]) {
            bytes[at..at + string.len()].copy_from_slice(string);
            at += string.len();
            *offset = O::from_place(at);
        }
    });
    Ok(report)
}

/// Whether so many strings are sorted by comparison: few are, and those for which it was asked.
fn compared(n: usize, job: &Job) -> bool {
    n <= INSERT_UP_TO || matches!(job.algorithm, Algorithm::Merge | Algorithm::Quicksort)
}

fn compare_bytes(a: &[u8], b: &[u8], descending: bool) -> Ordering {
    if descending { b.cmp(a) } else { a.cmp(b) }
}

/// Sorts the places of the strings, then moves the strings there.
fn sort_by_places<S: Send + Sync, P: Index>(
    strings: &mut [S],
    bytes: impl Fn(&S) -> &[u8] + Sync,
    descending: bool,
    job: &Job,
) -> Result<Report, Error> {
    let n = strings.len();
    let moved = n * (size_of::<P>() + size_of::<S>());
    job.scratch(moved, "the references are copied once")?;
    let mut places: Vec<P> = (0..n).map(P::from_place).collect();
    let mut scratch = Scratch::<S>::new(n)?;
    let mut report = argsort(strings, bytes, &mut places, descending, job)?;
    report.hold(report.scratch_peak as usize + moved);
    let bytes = size_of_val(strings);
    report.phase("move", 2 * bytes, 2 * bytes, || {
        let (from, to) = (Places::of(strings), Places::of(&mut scratch));
        // SAFETY: the places are a permutation, so each string is moved once; it comes back below.
        let gather =
            |i: usize| unsafe { to.at(i).write(MaybeUninit::new(from.at(places[i].place()).read())) };
        if job.threads > 1 {
            (0..n).into_par_iter().with_min_len(PARALLEL_FROM / 4).for_each(gather);
        } else {
            (0..n).for_each(gather);
        }
        // SAFETY: the scratch holds all strings, each once, and forgets them.
        unsafe { std::ptr::copy_nonoverlapping(scratch.as_ptr().cast(), strings.as_mut_ptr(), n) };
    });
    Ok(report)
}

/// One sort of places by the strings there.
struct Sort<'a, F> {
    string: F,
    descending: bool,
    job: &'a Job,
    isa: Isa,
}

/// What a thread keeps from bucket to bucket.
#[derive(Default)]
struct Work {
    orderer: Orderer,
    /// The words of the bucket at hand, in order.
    words: Vec<u64>,
}

impl<'a, F: Fn(usize) -> &'a [u8] + Sync> Sort<'_, F> {
    /// Sorts all places.
    fn run<P: Index>(&self, places: &mut [P], report: &mut Report) -> Result<(), Error> {
        let n = places.len();
        let scratch = n * (size_of::<u64>() + size_of::<Pair<u64, P>>());
        self.job.scratch(scratch, "a word and a place for each string; sort in parts, or by comparison")?;
        report.hold(scratch);
        // Ties as large as an input of their own wait for all threads.
        let mut large = vec![(0..n, 0)];
        while let Some((range, depth)) = large.pop() {
            let found = self.distribute_and_finish(&mut places[range.clone()], depth, report)?;
            large.extend(
                found.into_iter().map(|(tie, depth)| (range.start + tie.start..range.start + tie.end, depth)),
            );
        }
        Ok(())
    }

    /// Sorts places whose strings share the first `depth` bytes, and returns the ties that are left for later.
    fn distribute_and_finish<P: Index>(
        &self,
        places: &mut [P],
        depth: usize,
        report: &mut Report,
    ) -> Result<Vec<(std::ops::Range<usize>, usize)>, Error> {
        let n = places.len();
        let refs = n * size_of::<&[u8]>();
        let (sorted, depth) = report.phase("profile", refs, 0, || {
            (self.is_sorted(places, depth), depth + self.common_prefix(places, depth))
        });
        if sorted {
            return Ok(Vec::new());
        }
        let mut words = Scratch::<u64>::new(n)?;
        let pairs = Scratch::<Pair<u64, P>>::new(n)?;
        let symbols = report.phase("encode", refs + 8 * n, 8 * n, || self.encode(places, depth, &mut words));
        // SAFETY: `encode` wrote every word.
        let words = unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u64>(), n) };
        let moved = size_of_val(&*pairs);
        let transform = self.transform();
        let mut scattered = report.phase("distribute", 16 * n + size_of_val(places), moved, || {
            pairs::distribute(pairs, words, transform, |i| places[i], self.job, self.isa)
        });
        let large = Mutex::new(Vec::new());
        report.phase("finish", moved, size_of_val(places), || {
            let buckets = scattered.buckets().to_vec();
            let targets =
                pairs::split(places, &buckets).into_iter().zip(buckets.iter().map(|b| b.start)).collect();
            let finish = |work: &mut Work, pairs: &[Pair<u64, P>], (places, start): (&mut [P], usize)| {
                let Work { orderer, words } = work;
                words.resize(pairs.len(), 0);
                orderer.order(
                    pairs.len(),
                    |i| pairs[i].code(),
                    self.isa,
                    |to, from| {
                        // SAFETY: a place is an index, moved as often as one likes.
                        places[to] = unsafe { pairs[from].payload() };
                        words[to] = transform.decode(pairs[from].code());
                    },
                );
                self.go_on_with_ties(words, places, depth, &symbols, &mut |tie, depth| {
                    large.lock().expect("no thread panics").push((start + tie.start..start + tie.end, depth));
                });
            };
            pairs::finish(&mut scattered, targets, self.job, finish);
        });
        Ok(large.into_inner().expect("no thread panics"))
    }

    /// Sorts each run of places with equal words by what follows; `later` takes those too large for one thread.
    fn go_on_with_ties<P: Index>(
        &self,
        words: &[u64],
        places: &mut [P],
        depth: usize,
        symbols: &Symbols,
        later: &mut dyn FnMut(std::ops::Range<usize>, usize),
    ) {
        let mut start = 0;
        for tie in words.chunk_by(|a, b| a == b) {
            let range = start..start + tie.len();
            start = range.end;
            if tie.len() == 1 || symbols.ends(tie[0]) {
                continue;
            }
            let depth = depth + symbols.count;
            if tie.len() >= PARALLEL_FROM {
                later(range, depth);
            } else {
                self.sort_tie(&mut places[range], depth, symbols);
            }
        }
    }

    /// Sorts places whose strings share the first `depth` bytes, by one thread.
    fn sort_tie<P: Index>(&self, places: &mut [P], depth: usize, symbols: &Symbols) {
        if places.len() <= INSERT_UP_TO {
            return self.insert(places, depth);
        }
        let depth = depth + self.common_prefix(places, depth);
        let mut words = Vec::with_capacity(places.len());
        let mut fits = true;
        words.extend(places.iter().map(|&place| {
            let word = symbols.word(self.rest(place, depth));
            fits &= word.is_some();
            word.unwrap_or(0)
        }));
        let bytes;
        let symbols = if fits {
            symbols
        } else {
            bytes = Symbols::bytes();
            let word = |&place: &P| bytes.word(self.rest(place, depth)).expect("every byte is known");
            words.clear();
            words.extend(places.iter().map(word));
            &bytes
        };
        let (unordered, transform) = (places.to_vec(), self.transform());
        let mut ordered = vec![0; words.len()];
        Orderer::default().order(
            words.len(),
            |i| transform.encode(words[i]),
            self.isa,
            |to, from| {
                places[to] = unordered[from];
                ordered[to] = words[from];
            },
        );
        if ordered[0] == ordered[ordered.len() - 1] && symbols.ends(ordered[0]) {
            return;
        }
        drop((words, unordered));
        self.go_on_with_ties(&ordered, places, depth, symbols, &mut |_, _| {
            unreachable!("a part of a small tie is small");
        });
    }

    /// Insertion sort.
    fn insert<P: Index>(&self, places: &mut [P], depth: usize) {
        for i in 1..places.len() {
            let place = places[i];
            let string = self.rest(place, depth);
            let mut hole = i;
            while hole > 0
                && compare_bytes(self.rest(places[hole - 1], depth), string, self.descending).is_gt()
            {
                places[hole] = places[hole - 1];
                hole -= 1;
            }
            places[hole] = place;
        }
    }

    /// The words of the strings behind `depth`, in the alphabet of a sample, or of all bytes if that was wrong.
    fn encode<P: Index>(&self, places: &[P], depth: usize, words: &mut [MaybeUninit<u64>]) -> Symbols {
        let mut seen = [false; 256];
        for i in 0..ALPHABET_SAMPLE.min(places.len()) {
            let place = places[i * places.len() / ALPHABET_SAMPLE.min(places.len())];
            self.rest(place, depth).iter().take(64).for_each(|&byte| seen[usize::from(byte)] = true);
        }
        let sampled = Symbols::new(&seen);
        if self.encode_with(&sampled, places, depth, words) {
            return sampled;
        }
        let bytes = Symbols::bytes();
        self.encode_with(&bytes, places, depth, words);
        bytes
    }

    /// Whether all strings have words in this alphabet, which are then written.
    fn encode_with<P: Index>(
        &self,
        symbols: &Symbols,
        places: &[P],
        depth: usize,
        words: &mut [MaybeUninit<u64>],
    ) -> bool {
        let encode = |(places, words): (&[P], &mut [MaybeUninit<u64>])| {
            places.iter().zip(words).all(|(&place, to)| {
                let word = symbols.word(self.rest(place, depth));
                to.write(word.unwrap_or(0));
                word.is_some()
            })
        };
        let stretch = PARALLEL_FROM / 4;
        if self.job.threads > 1 {
            places.par_chunks(stretch).zip(words.par_chunks_mut(stretch)).all(encode)
        } else {
            encode((places, words))
        }
    }

    /// Whether the places are in order already; stops at the first that is not.
    fn is_sorted<P: Index>(&self, places: &[P], depth: usize) -> bool {
        let in_order = |pair: &[P]| {
            !compare_bytes(self.rest(pair[0], depth), self.rest(pair[1], depth), self.descending).is_gt()
        };
        places.windows(2).all(in_order)
    }

    /// The bytes behind `depth` that all strings share.
    fn common_prefix<P: Index>(&self, places: &[P], depth: usize) -> usize {
        let first = self.rest(places[0], depth);
        let mut shared = first.len();
        for &place in &places[1..] {
            if shared == 0 {
                break;
            }
            let string = self.rest(place, depth);
            shared = shared.min(string.len());
            if first[..shared] != string[..shared] {
                shared = first.iter().zip(string).take_while(|(a, b)| a == b).count();
            }
        }
        shared
    }

    /// What follows the first `depth` bytes, which the string has.
    #[inline(always)]
    fn rest<P: Index>(&self, place: P, depth: usize) -> &'a [u8] {
        &(self.string)(place.place())[depth..]
    }

    /// Words compare as strings do, or the other way round.
    fn transform(&self) -> Transform<u64> {
        let order = crate::Order { descending: self.descending, ..Default::default() };
        Transform::new(crate::key::Code::Unsigned, order)
    }
}
