//! Strings, by their bytes: references move, never bodies.
//!
//! 1. *Profile*: the alphabet of a sample, and the prefix that all strings share.
//! 2. *Distribute*: the next symbols of every string, as a word beside its place, go to buckets: many symbols a
//!    pass. All threads work on all strings.
//! 3. *Finish*: each bucket is ordered by its words, which were cached for that; strings with equal words go on with
//!    their next symbols, as in multikey quicksort, where a vectorised sort of the words replaces the
//!    three-way partition. One thread works on a bucket; a tie as large as an input of its own is distributed again.
//!
//! Few strings are compared instead: the passes would take longer to prepare than the sort.
//!
//! Source: Drozd, Pericas and Matsuoka, "Efficient string sorting on multi- and many-core architectures" (2014),
//! sections II (data-parallel passes, then task-parallel buckets) and III.A; the cached symbols after Ng and Kakehi,
//! "Cache efficient radix sort for string sorting" (2007).

mod cut;
mod lcps;
mod pivot;
mod symbols;

use std::cmp::Ordering;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rayon::prelude::*;

pub(crate) use self::cut::Cut;
use self::lcps::Lcp;
use self::symbols::Symbols;
use super::order::Orderer;
use super::prefetch::ahead;
use super::scatter::{self, Pair, Pointers, Scattered};
use super::vector::Isa;
use super::{Job, compare, split_at_ranges};
use crate::key::Transform;
use crate::plan::{
    ALPHABET_SAMPLE, COMPARE_STRINGS_UP_TO, CpuWay, INSERT_UP_TO, PARALLEL_FROM, STRINGS_A_TASK,
};
use crate::report::Work;
use crate::scratch::Scratch;
use crate::{Error, Index, Report, Segments};

/// Sorts strings. Stable.
pub(crate) fn sort<S: Send + Sync>(
    strings: &mut [S],
    bytes: impl Fn(&S) -> &[u8] + Sync,
    descending: bool,
    job: &Job,
) -> Result<Report, Error> {
    if size_of::<S>() == 0 {
        // All are the same, and there may be more of them than memory has addresses for words.
        return Ok(Report::default());
    }
    let unasked = &mut vec![(); strings.len()];
    sort_with_lcps(strings, unasked, bytes, descending, job)
}

/// Sorts strings and writes how many bytes each shares with the one before. Stable.
pub(crate) fn sort_with_lcps<S: Send + Sync, L: Lcp>(
    strings: &mut [S],
    lcps: &mut [L],
    bytes: impl Fn(&S) -> &[u8] + Sync,
    descending: bool,
    job: &Job,
) -> Result<Report, Error> {
    Sort { strings: Own(bytes), descending, job }.run(strings, lcps)
}

/// Writes the places of the strings in order. Stable.
pub(crate) fn argsort<S: Sync, I: Index>(
    strings: &[S],
    bytes: impl Fn(&S) -> &[u8] + Sync,
    places: &mut [I],
    descending: bool,
    job: &Job,
) -> Result<Report, Error> {
    let unasked = &mut vec![(); strings.len()];
    argsort_with_lcps(strings, bytes, places, unasked, descending, job)
}

/// Writes the places of the strings in order, and how many bytes each shares with the one before. Stable.
pub(crate) fn argsort_with_lcps<S: Sync, I: Index, L: Lcp>(
    strings: &[S],
    bytes: impl Fn(&S) -> &[u8] + Sync,
    places: &mut [I],
    lcps: &mut [L],
    descending: bool,
    job: &Job,
) -> Result<Report, Error> {
    check_scratch::<I>(places.len(), job)?;
    places.iter_mut().enumerate().for_each(|(i, place)| *place = I::from_place(i));
    Sort { strings: Elsewhere { strings, bytes }, descending, job }.run(places, lcps)
}

/// The string that an item stands for.
trait Strings<P>: Sync {
    fn get<'s>(&'s self, item: &'s P) -> &'s [u8];
}

/// Items that refer to their strings themselves.
struct Own<F>(F);

impl<P, F: Fn(&P) -> &[u8] + Sync> Strings<P> for Own<F> {
    #[inline(always)]
    fn get<'s>(&'s self, item: &'s P) -> &'s [u8] {
        self.0(item)
    }
}

/// Items that are places in a slice of strings.
struct Elsewhere<'a, S, F> {
    strings: &'a [S],
    bytes: F,
}

impl<I: Index, S: Sync, F: Fn(&S) -> &[u8] + Sync> Strings<I> for Elsewhere<'_, S, F> {
    #[inline(always)]
    fn get<'s>(&'s self, place: &'s I) -> &'s [u8] {
        (self.bytes)(&self.strings[place.place()])
    }
}

/// Sorts the strings between offsets, by `sort`, and writes offsets and bytes anew.
pub(crate) fn sort_array<O: Index>(
    offsets: &mut [O],
    bytes: &mut [u8],
    job: &Job,
    sort: impl FnOnce(&mut [&[u8]], &Job) -> Result<Report, Error>,
) -> Result<Report, Error> {
    let ends: Vec<usize> = offsets.iter().map(|offset| offset.place()).collect();
    let (Some(&start), Some(&end)) = (ends.first(), ends.last()) else {
        return Err(Error::Segments("a string array has at least one offset; there are none".into()));
    };
    Segments::Offsets(&ends).check(bytes.len())?;
    let copied = end - start + size_of_val(&*ends) + ends.len() * size_of::<&[u8]>();
    // Before the copy is made: what it takes together with the sort.
    let together = job.holding(copied);
    check_scratch::<&[u8]>(ends.len() - 1, &together)?;
    let copy = bytes[start..end].to_vec();
    let mut strings: Vec<&[u8]> =
        ends.windows(2).map(|pair| &copy[pair[0] - start..pair[1] - start]).collect();
    let mut report = sort(&mut strings, &together)?;
    report.phase_of_one("move", copy.len(), copy.len(), || {
        let mut at = start;
        for (string, offset) in strings.iter().zip(&mut offsets[1..]) {
            bytes[at..at + string.len()].copy_from_slice(string);
            at += string.len();
            *offset = O::from_place(at);
        }
    });
    Ok(report)
}

/// Whether strings are sorted by comparison: where that was asked for.
fn compared(job: &Job) -> bool {
    job.way != CpuWay::Distribute
}

/// Whether the limit leaves room for the sort of `n` items.
fn check_scratch<P>(n: usize, job: &Job) -> Result<(), Error> {
    if compared(job) {
        compare::check(n * size_of::<P>(), job).map(drop)
    } else {
        job.budget.scratch(scratch::<P>(n), SCRATCH_HINT, &mut Report::default())
    }
}

/// Bytes of scratch for `n` items: a word each, and a word beside each; for a few, what std's sort takes.
fn scratch<P>(n: usize) -> usize {
    if n <= INSERT_UP_TO {
        0
    } else if n <= COMPARE_STRINGS_UP_TO {
        n * size_of::<P>()
    } else {
        n.saturating_mul(size_of::<u64>() + size_of::<Pair<u64, P>>())
    }
}

const SCRATCH_HINT: &str = "a copy of the references and 16 bytes for each; sort in parts, or by comparison";

fn compare_bytes(a: &[u8], b: &[u8], descending: bool) -> Ordering {
    if descending { b.cmp(a) } else { a.cmp(b) }
}

/// One sort of items by their strings; items are references, or the places of some.
struct Sort<'a, F> {
    strings: F,
    descending: bool,
    job: &'a Job,
}

/// What a thread keeps from bucket to bucket.
#[derive(Default)]
struct State {
    orderer: Orderer,
    /// The words of the bucket at hand, in order.
    words: Vec<u64>,
}

/// Called with the places of a tie that is too large for one thread, and the bytes that its strings share.
type Later<'a> = &'a mut dyn FnMut(Range<usize>, usize);

impl<F> Sort<'_, F> {
    /// Sorts items, and writes what each string shares with the one before.
    fn run<P: Send + Sync, L: Lcp>(&self, items: &mut [P], lcps: &mut [L]) -> Result<Report, Error>
    where
        F: Strings<P>,
    {
        let report =
            if compared(self.job) { self.by_comparison(items, lcps) } else { self.by_words(items, lcps) }?;
        if let Some(first) = lcps.first_mut() {
            *first = L::of(0);
        }
        Ok(report)
    }

    fn by_comparison<P: Send + Sync, L: Lcp>(&self, items: &mut [P], lcps: &mut [L]) -> Result<Report, Error>
    where
        F: Strings<P>,
    {
        let mut report = compare::sort(items, |a, b| self.compare(a, b, 0), self.job)?;
        self.lcps_phase(items, lcps, 0, &mut report);
        Ok(report)
    }

    fn by_words<P: Send + Sync, L: Lcp>(&self, items: &mut [P], lcps: &mut [L]) -> Result<Report, Error>
    where
        F: Strings<P>,
    {
        let mut report = Report::default();
        self.job.budget.scratch(scratch::<P>(items.len()), SCRATCH_HINT, &mut report)?;
        let (refs, written) = (size_of_val(items), size_of_val(items) + size_of_val(lcps));
        if items.len() <= INSERT_UP_TO {
            report.phase_of_one("finish", refs, written, || self.insert(items, lcps, 0));
            return Ok(report);
        }
        if items.len() <= COMPARE_STRINGS_UP_TO {
            report.phase_of_one("finish", refs, written, || self.sort_few(items, lcps));
            return Ok(report);
        }
        self.distribute_all(items, lcps, vec![(0..items.len(), 0)], &mut report)?;
        Ok(report)
    }

    /// Sorts items by comparing what follows the bytes that all of them share.
    fn sort_few<P, L: Lcp>(&self, items: &mut [P], lcps: &mut [L])
    where
        F: Strings<P>,
    {
        let depth = self.common_prefix(items, 0);
        items.sort_by(|a, b| self.compare(a, b, depth));
        self.compare_neighbours(items, lcps, depth);
    }

    /// Sorts ranges of items whose strings share so many bytes, each by all threads.
    fn distribute_all<P: Send + Sync, L: Lcp>(
        &self,
        items: &mut [P],
        lcps: &mut [L],
        mut large: Vec<(Range<usize>, usize)>,
        report: &mut Report,
    ) -> Result<(), Error>
    where
        F: Strings<P>,
    {
        // Ties as large as an input of their own wait for all threads.
        while let Some((range, depth)) = large.pop() {
            let (items, lcps) = (&mut items[range.clone()], &mut lcps[range.clone()]);
            let found = self.distribute_and_finish(items, lcps, depth, report)?;
            large.extend(
                found.into_iter().map(|(tie, depth)| (range.start + tie.start..range.start + tie.end, depth)),
            );
        }
        Ok(())
    }

    /// Sorts items whose strings share the first `depth` bytes, and returns the ties that are left for later.
    fn distribute_and_finish<P: Send + Sync, L: Lcp>(
        &self,
        items: &mut [P],
        lcps: &mut [L],
        depth: usize,
        report: &mut Report,
    ) -> Result<Vec<(Range<usize>, usize)>, Error>
    where
        F: Strings<P>,
    {
        let n = items.len();
        let refs = size_of_val(items);
        let mut phase = Report::default();
        let (sorted, shared) = phase.phase_of_one("profile", refs, 0, || {
            let sorted = self.is_sorted(items, depth);
            (sorted, if sorted { 0 } else { self.common_prefix(items, depth) })
        });
        let depth = depth + shared;
        let large = if sorted {
            self.lcps_phase(items, lcps, depth, &mut phase);
            Vec::new()
        } else {
            let mut words = Scratch::<u64>::new(n)?;
            let pairs = Scratch::<Pair<u64, P>>::new(n)?;
            let threads = self.job.budget.threads;
            let symbols = phase.phase_by_thread("encode", threads, refs + 8 * n, 8 * n, |work| {
                self.encode(items, depth, &mut words, work)
            });
            // SAFETY: `encode` wrote every word.
            let words = unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u64>(), n) };
            let moved = size_of_val(&*pairs);
            let scattered = phase.phase_by_thread("distribute", threads, 16 * n + refs, moved, |work| {
                let source = Pointers::of(items);
                // SAFETY: each item is copied to scratch once; the slice goes on to own them until `finish`.
                let item = |place| unsafe { source.at(place).read() };
                scatter::distribute(pairs, words, self.transform(), item, self.job, Isa::detect(), work)
            });
            phase.phase_by_thread("finish", threads, moved, refs + size_of_val(lcps), |work| {
                self.finish(items, lcps, scattered, depth, &symbols, work)
            })
        };
        report.absorb(phase);
        Ok(large)
    }

    /// Brings each bucket back in order, and returns the ties that are left for later.
    fn finish<P: Send + Sync, L: Lcp>(
        &self,
        items: &mut [P],
        lcps: &mut [L],
        scattered: Scattered<u64, P>,
        depth: usize,
        symbols: &Symbols,
        work: &Work,
    ) -> Vec<(Range<usize>, usize)>
    where
        F: Strings<P>,
    {
        let large = Mutex::new(Vec::new());
        let buckets = scattered.buckets().to_vec();
        let transform = self.transform();
        let back = buckets.iter().map(|_| AtomicBool::new(false)).collect();
        let mut guard = Restore { items, scattered, back };
        let Restore { items, scattered, back } = &mut guard;
        // SAFETY: the slice's items are overwritten with copies of the same, without being dropped.
        let targets = unsafe {
            std::slice::from_raw_parts_mut(items.as_mut_ptr().cast::<MaybeUninit<P>>(), items.len())
        };
        let targets = split_at_ranges(targets, &buckets)
            .into_iter()
            .zip(split_at_ranges(lcps, &buckets))
            .zip(buckets.iter().map(|bucket| bucket.start).zip(&*back))
            .collect();
        scatter::finish(scattered, targets, work, |state: &mut State, pairs, (target, (start, back))| {
            let (to_items, lcps): (&mut [MaybeUninit<P>], &mut [L]) = target;
            let State { orderer, words } = state;
            words.resize(pairs.len(), 0);
            orderer.order(
                pairs.len(),
                |i| pairs[i].code(),
                Isa::detect(),
                |to, from| {
                    // SAFETY: each item of the bucket comes back once.
                    to_items[to].write(unsafe { pairs[from].payload() });
                    words[to] = transform.decode(pairs[from].code());
                },
            );
            back.store(true, Relaxed);
            // SAFETY: the whole bucket was written.
            let items =
                unsafe { std::slice::from_raw_parts_mut(to_items.as_mut_ptr().cast::<P>(), to_items.len()) };
            self.go_on_with_ties(words, items, lcps, depth, symbols, &mut |tie, depth| {
                let tie = start + tie.start..start + tie.end;
                large.lock().expect("no thread panicked").push((tie, depth));
            });
        });
        // Words differ between buckets: whatever ties still wait there, any of their strings tells the same.
        let firsts = buckets.iter().filter(|bucket| !bucket.is_empty()).map(|bucket| bucket.start);
        work.task(|| self.compare_with_previous(items, lcps, firsts, depth));
        large.into_inner().expect("no thread panicked")
    }

    /// Sorts each run of items with equal words by what follows, and what ties there by what follows that, to the end.
    fn go_on_with_ties<P, L: Lcp>(
        &self,
        words: &[u64],
        items: &mut [P],
        lcps: &mut [L],
        depth: usize,
        symbols: &Symbols,
        later: Later,
    ) where
        F: Strings<P>,
    {
        let mut waiting = Vec::new();
        lcps::of_words(words, lcps, depth, symbols);
        ties(words, depth, symbols, &mut |tie, depth| {
            if tie.len() >= PARALLEL_FROM { later(tie, depth) } else { waiting.push((tie, depth)) }
        });
        self.sort_to_the_end(items, lcps, waiting, symbols);
    }

    /// Sorts ranges of items whose strings share so many bytes, and what ties there by what follows, by this thread.
    fn sort_to_the_end<P, L: Lcp>(
        &self,
        items: &mut [P],
        lcps: &mut [L],
        waiting: Vec<(Range<usize>, usize)>,
        symbols: &Symbols,
    ) where
        F: Strings<P>,
    {
        let by_word = |(range, depth)| (range, depth, false);
        let mut waiting: Vec<_> = waiting.into_iter().map(by_word).collect();
        while let Some((range, depth, alike)) = waiting.pop() {
            let (items, lcps) = (&mut items[range.clone()], &mut lcps[range.clone()]);
            let mut later = |tie: Range<usize>, depth| {
                // Never by a pivot twice: it may share nothing more with any of them.
                let alike = !alike && pivot::is_alike(&tie, range.len());
                waiting.push((range.start + tie.start..range.start + tie.end, depth, alike));
            };
            if alike {
                self.sort_by_pivot(items, lcps, depth, &mut later);
            } else {
                self.sort_tie(items, lcps, depth, symbols, &mut later);
            }
        }
    }

    /// Sorts items whose strings share the first `depth` bytes by what one word tells; `later` takes what ties then.
    fn sort_tie<P, L: Lcp>(
        &self,
        items: &mut [P],
        lcps: &mut [L],
        depth: usize,
        symbols: &Symbols,
        later: Later,
    ) where
        F: Strings<P>,
    {
        if items.len() <= INSERT_UP_TO {
            return self.insert(items, lcps, depth);
        }
        let shared = self.common_prefix(items, depth);
        let depth = depth + shared;
        if shared > 0 && items.iter().all(|item| self.strings.get(item).len() == depth) {
            return lcps[1..].fill(L::of(depth));
        }
        let encode = |symbols: &Symbols| -> Option<Vec<u64>> {
            items.iter().map(|item| symbols.word(self.rest(item, depth))).collect()
        };
        let bytes;
        let (symbols, words) = match encode(symbols) {
            Some(words) => (symbols, words),
            None => {
                bytes = Symbols::bytes();
                (&bytes, encode(&bytes).expect("every byte is a symbol"))
            }
        };
        let ordered = self.order_by(items, &words);
        lcps::of_words(&ordered, lcps, depth, symbols);
        ties(&ordered, depth, symbols, later);
    }

    /// Puts items in the order of words that stand for them, and returns the words in order. Stable.
    fn order_by<P>(&self, items: &mut [P], words: &[u64]) -> Vec<u64> {
        assert_eq!(items.len(), words.len());
        let transform = self.transform();
        let mut ordered = vec![0; words.len()];
        let mut unordered = Vec::with_capacity(items.len());
        // SAFETY: copies of the items, as many as there is room for; each goes back into the slice once, below, and
        // nothing between runs code of the caller.
        unsafe {
            std::ptr::copy_nonoverlapping(items.as_ptr(), unordered.as_mut_ptr(), items.len());
            let unordered: *const P = unordered.as_ptr();
            Orderer::default().order(
                words.len(),
                |i| transform.encode(words[i]),
                Isa::detect(),
                |to, from| {
                    items.as_mut_ptr().add(to).write(unordered.add(from).read());
                    ordered[to] = words[from];
                },
            );
        }
        ordered
    }

    /// Insertion sort, by exchanges: a permutation whatever the caller's `as_ref` does.
    fn insert<P, L: Lcp>(&self, items: &mut [P], lcps: &mut [L], depth: usize)
    where
        F: Strings<P>,
    {
        for i in 1..items.len() {
            let mut hole = i;
            while hole > 0 && self.compare(&items[hole - 1], &items[hole], depth).is_gt() {
                items.swap(hole - 1, hole);
                hole -= 1;
            }
        }
        self.compare_neighbours(items, lcps, depth);
    }

    /// The words of the strings behind `depth`, in the alphabet of a sample, or of all bytes if that was wrong.
    fn encode<P: Sync>(
        &self,
        items: &[P],
        depth: usize,
        words: &mut [MaybeUninit<u64>],
        work: &Work,
    ) -> Symbols
    where
        F: Strings<P>,
    {
        let sample = ALPHABET_SAMPLE.min(items.len());
        let sampled = (0..sample).map(|i| self.rest(&items[i * items.len() / sample], depth));
        let sampled = Symbols::new(&alphabet_of(sampled));
        if self.encode_with(&sampled, items, depth, words, work) {
            return sampled;
        }
        let bytes = Symbols::bytes();
        assert!(self.encode_with(&bytes, items, depth, words, work), "every byte is a symbol");
        bytes
    }

    /// Whether all strings have words in this alphabet, which are then written.
    fn encode_with<P: Sync>(
        &self,
        symbols: &Symbols,
        items: &[P],
        depth: usize,
        words: &mut [MaybeUninit<u64>],
        work: &Work,
    ) -> bool
    where
        F: Strings<P>,
    {
        let encode = |(items, words): (&[P], &mut [MaybeUninit<u64>])| {
            work.task(|| {
                ahead(items, |item| self.strings.get(item)).zip(words).all(|(item, to)| {
                    let word = symbols.word(self.rest(item, depth));
                    to.write(word.unwrap_or(0));
                    word.is_some()
                })
            })
        };
        if work.threads() > 1 {
            let words = words.par_chunks_mut(STRINGS_A_TASK);
            items.par_chunks(STRINGS_A_TASK).zip(words).all(encode)
        } else {
            encode((items, words))
        }
    }

    /// Whether the items are in order already; stops at the first that is not.
    fn is_sorted<P>(&self, items: &[P], depth: usize) -> bool
    where
        F: Strings<P>,
    {
        items.windows(2).all(|pair| self.compare(&pair[0], &pair[1], depth).is_le())
    }

    /// How many bytes behind `depth` all strings share.
    fn common_prefix<P>(&self, items: &[P], depth: usize) -> usize
    where
        F: Strings<P>,
    {
        let first = self.rest(&items[0], depth);
        let mut shared = first.len();
        for item in &items[1..] {
            if shared == 0 {
                break;
            }
            let string = self.rest(item, depth);
            shared = shared.min(string.len());
            if first[..shared] != string[..shared] {
                shared = lcps::shared(first, string);
            }
        }
        shared
    }

    #[inline(always)]
    fn compare<P>(&self, a: &P, b: &P, depth: usize) -> Ordering
    where
        F: Strings<P>,
    {
        compare_bytes(self.rest(a, depth), self.rest(b, depth), self.descending)
    }

    /// What follows the first `depth` bytes, which the string has.
    #[inline(always)]
    fn rest<'p, P>(&'p self, item: &'p P, depth: usize) -> &'p [u8]
    where
        F: Strings<P>,
    {
        &self.strings.get(item)[depth..]
    }

    /// Words compare as strings do, or the other way round.
    fn transform(&self) -> Transform<u64> {
        let order = crate::Order { descending: self.descending, ..Default::default() };
        Transform::new(crate::key::Code::Unsigned, order)
    }
}

/// The bytes that these strings begin with.
fn alphabet_of<'s>(strings: impl Iterator<Item = &'s [u8]>) -> [bool; 256] {
    let mut seen = [false; 256];
    for string in strings {
        string.iter().take(64).for_each(|&byte| seen[usize::from(byte)] = true);
    }
    seen
}

/// Calls `found` for each run of equal words that do not contain the end.
fn ties(words: &[u64], depth: usize, symbols: &Symbols, found: Later) {
    let mut start = 0;
    for tie in words.chunk_by(|a, b| a == b) {
        if tie.len() > 1 && !symbols.ends(tie[0]) {
            found(start..start + tie.len(), depth + symbols.count);
        }
        start += tie.len();
    }
}

/// Where a caller's `as_ref` panics while buckets come back: puts the other buckets back from scratch too, so that the
/// slice is a permutation of what it was. Items that are back stay as they are, since `as_ref` may have changed them.
struct Restore<'a, P> {
    items: &'a mut [P],
    scattered: Scattered<u64, P>,
    /// Whether each bucket is back.
    back: Vec<AtomicBool>,
}

impl<P> Drop for Restore<'_, P> {
    fn drop(&mut self) {
        for (i, back) in self.back.iter_mut().enumerate() {
            if !*back.get_mut() {
                let bucket = self.scattered.buckets()[i].clone();
                for (item, pair) in self.items[bucket.clone()].iter_mut().zip(&self.scattered.pairs()[bucket])
                {
                    // SAFETY: of each item of the bucket the scratch has the only copy that is still used.
                    unsafe { std::ptr::write(item, pair.payload()) };
                }
            }
        }
    }
}
