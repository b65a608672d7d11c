//! Sorts strings by their bytes. Only references move, not the bytes.
//!
//! 1. *Profile*: checks whether the strings are in order or in reverse, or begin with a long run, which is then merged
//!    with the others after those are sorted (`runs.rs`). Finds the alphabet of a sample, and the prefix that its
//!    strings share.
//! 2. *Distribute*: the next symbols of every string, as a word next to its index, are distributed to buckets: many
//!    symbols per pass. All threads work on all strings.
//! 3. *Finish*: each bucket is ordered by its words, which are cached. Strings with equal words continue with the bytes
//!    that follow (`alone.rs`). One thread works on a bucket. A tie that is as large as a separate input is distributed
//!    again.
//!
//! Strings for which a distribution does not pay are sorted by one thread from the start.
//!
//! Source: Drozd, Pericas and Matsuoka, "Efficient string sorting on multi- and many-core architectures" (2014),
//! sections II (data-parallel passes, then task-parallel buckets) and III.A. The cached symbols follow Ng and Kakehi,
//! "Cache efficient radix sort for string sorting" (2007).

mod alone;
#[cfg(feature = "gpu")]
mod cut;
mod lcps;
mod pivot;
mod runs;
mod symbols;
mod words;

use std::cmp::Ordering;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use self::alone::State;
#[cfg(feature = "gpu")]
pub(crate) use self::cut::Cut;
use self::lcps::Lcp;
use self::symbols::Symbols;
use self::words::{Follow, Words};
use crate::cpu::prefetch::ahead;
use crate::cpu::scatter::{self, Pair, Pointers, Scattered, Source};
use crate::cpu::tuning::{
    ALPHABET_SAMPLE, COMPARE_STRINGS_UP_TO, DISTRIBUTE_STRINGS_BY_THREADS_FROM, DISTRIBUTE_STRINGS_FROM, FEW,
    MERGED_BY_THREADS, STRINGS_A_TASK,
};
use crate::cpu::{Job, compare, split_at_ranges};
use crate::key::Transform;
use crate::parallel;
use crate::parallel::ITEMS_A_TASK;
use crate::report::Work;
use crate::request::Budget;
use crate::scratch::Scratch;
use crate::ways::CpuWay;
use crate::{Error, Index, Report, Segments};

/// Sorts strings. Stable.
pub(crate) fn sort<S: Send + Sync>(
    strings: &mut [S],
    bytes: impl Fn(&S) -> &[u8] + Sync,
    descending: bool,
    job: &Job,
) -> Result<Report, Error> {
    if size_of::<S>() == 0 {
        // All are equal, and there may be more of them than there are addresses for words.
        return Ok(Report::default());
    }
    let unasked = &mut vec![(); strings.len()];
    sort_with_lcps(strings, unasked, bytes, descending, job)
}

/// Sorts strings that are too few for threads, phases or a choice. Stable.
pub(crate) fn sort_few<S: Send + Sync>(
    strings: &mut [S],
    bytes: impl Fn(&S) -> &[u8] + Sync,
    descending: bool,
) -> Report {
    Sort { strings: Own(bytes), descending, job: &JOB_OF_FEW }
        .sort_alone(strings, &mut [(); FEW][..strings.len()]);
    report_of_few::<S>(strings.len())
}

/// Writes the sorting indices of strings that are too few for threads, phases or a choice. Stable.
pub(crate) fn argsort_few<S: Sync, I: Index>(
    strings: &[S],
    bytes: impl Fn(&S) -> &[u8] + Sync,
    indices: &mut [I],
    descending: bool,
) -> Report {
    indices.iter_mut().enumerate().for_each(|(i, index)| *index = I::from_usize(i));
    Sort { strings: Elsewhere { strings, bytes }, descending, job: &JOB_OF_FEW }
        .sort_alone(indices, &mut [(); FEW][..strings.len()]);
    report_of_few::<I>(strings.len())
}

/// The report of a sort of `n` items, with the memory for which a limit must have room.
fn report_of_few<P>(n: usize) -> Report {
    Report { scratch_peak: scratch::<P>(n) as u64, ..Report::default() }
}

const JOB_OF_FEW: Job = Job { way: CpuWay::Distribute, stable: true, budget: Budget::of_threads(1) };

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

/// Writes the sorting indices of the strings. Stable.
pub(crate) fn argsort<S: Sync, I: Index>(
    strings: &[S],
    bytes: impl Fn(&S) -> &[u8] + Sync,
    indices: &mut [I],
    descending: bool,
    job: &Job,
) -> Result<Report, Error> {
    let unasked = &mut vec![(); strings.len()];
    argsort_with_lcps(strings, bytes, indices, unasked, descending, job)
}

/// Writes the sorting indices of the strings, and how many bytes each shares with the one before. Stable.
pub(crate) fn argsort_with_lcps<S: Sync, I: Index, L: Lcp>(
    strings: &[S],
    bytes: impl Fn(&S) -> &[u8] + Sync,
    indices: &mut [I],
    lcps: &mut [L],
    descending: bool,
    job: &Job,
) -> Result<Report, Error> {
    check_scratch::<I>(indices.len(), job)?;
    indices.iter_mut().enumerate().for_each(|(i, index)| *index = I::from_usize(i));
    Sort { strings: Elsewhere { strings, bytes }, descending, job }.run(indices, lcps)
}

/// The string that an item stands for.
trait Strings<P>: Sync {
    fn get<'s>(&'s self, item: &'s P) -> &'s [u8];
}

/// Items that are themselves references to strings.
struct Own<F>(F);

impl<P, F: Fn(&P) -> &[u8] + Sync> Strings<P> for Own<F> {
    #[inline(always)]
    fn get<'s>(&'s self, item: &'s P) -> &'s [u8] {
        self.0(item)
    }
}

/// Items that are indices into a slice of strings.
struct Elsewhere<'a, S, F> {
    strings: &'a [S],
    bytes: F,
}

impl<I: Index, S: Sync, F: Fn(&S) -> &[u8] + Sync> Strings<I> for Elsewhere<'_, S, F> {
    #[inline(always)]
    fn get<'s>(&'s self, index: &'s I) -> &'s [u8] {
        (self.bytes)(&self.strings[index.to_usize()])
    }
}

/// Sorts the strings between offsets with `sort`, and writes the new offsets and bytes.
pub(crate) fn sort_array<O: Index>(
    offsets: &mut [O],
    bytes: &mut [u8],
    job: &Job,
    sort: impl FnOnce(&mut [&[u8]], &Job) -> Result<Report, Error>,
) -> Result<Report, Error> {
    let ends: Vec<usize> = offsets.iter().map(|offset| offset.to_usize()).collect();
    let (Some(&start), Some(&end)) = (ends.first(), ends.last()) else {
        return Err(Error::Segments("a string array needs at least one offset, but has none".into()));
    };
    Segments::Offsets(&ends).check(bytes.len())?;
    let copied = end - start + size_of_val(&*ends) + ends.len() * size_of::<&[u8]>();
    // Checked before the copy is made, because the sort needs its memory in addition.
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
            *offset = O::from_usize(at);
        }
    });
    Ok(report)
}

/// Whether strings are sorted by comparison, if that was requested.
fn compared(job: &Job) -> bool {
    job.way != CpuWay::Distribute
}

/// Checks that the limit leaves room for sorting `n` items.
fn check_scratch<P>(n: usize, job: &Job) -> Result<(), Error> {
    if compared(job) {
        compare::check(n * size_of::<P>(), job).map(drop)
    } else {
        job.budget.scratch(scratch::<P>(n), SCRATCH_HINT, &mut Report::default())
    }
}

/// The scratch memory in bytes for `n` items: a copy of each, a word, and another word.
fn scratch<P>(n: usize) -> usize {
    if n <= COMPARE_STRINGS_UP_TO {
        0
    } else {
        n.saturating_mul(size_of::<u64>() + size_of::<Pair<u64, P>>())
    }
}

const SCRATCH_HINT: &str = "a copy of the references and 16 bytes for each; sort in parts, or by comparison";

/// Compares two strings. Usually the first eight bytes decide, or the first and the last eight, which need no function
/// call.
#[inline(always)]
fn compare_bytes(a: &[u8], b: &[u8], descending: bool) -> Ordering {
    let of = |eight: &[u8; 8]| u64::from_be_bytes(*eight);
    let order = match (a.first_chunk(), b.first_chunk()) {
        (Some(first), Some(second)) if first != second => of(first).cmp(&of(second)),
        (Some(_), Some(_)) if a.len() == b.len() && a.len() <= 16 => {
            // These bytes overlap the first ones, which are equal.
            a.last_chunk().map(of).cmp(&b.last_chunk().map(of))
        }
        _ => a.cmp(b),
    };
    if descending { order.reverse() } else { order }
}

/// A sort of items by their strings. Items are references or indices.
struct Sort<'a, F> {
    strings: F,
    descending: bool,
    job: &'a Job,
}

/// Items that still have to be sorted, and whose strings share the first `depth` bytes.
struct Tie {
    range: Range<usize>,
    depth: usize,
    /// Whether they are most of the strings of a larger tie, and so should be compared with a pivot.
    alike: bool,
}

impl Tie {
    fn new(range: Range<usize>, depth: usize) -> Self {
        Tie { range, depth, alike: false }
    }
}

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
        // A trait object, so its sorts are compiled only once for each type of item.
        let compare: &(dyn Fn(&P, &P) -> Ordering + Sync) = &|a, b| self.compare(a, b, 0);
        let mut report = compare::sort(items, compare, self.job)?;
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
        if !self.are_distributed(items.len()) {
            report.phase_of_one("finish", refs, written, || self.sort_alone(items, lcps));
        } else {
            self.distribute_all(items, lcps, vec![Tie::new(0..items.len(), 0)], &mut report)?;
        }
        Ok(report)
    }

    /// Whether this many strings are distributed, and not sorted by one thread alone.
    fn are_distributed(&self, n: usize) -> bool {
        let is_shared = self.job.budget.threads > MERGED_BY_THREADS;
        n >= if is_shared { DISTRIBUTE_STRINGS_BY_THREADS_FROM } else { DISTRIBUTE_STRINGS_FROM }
    }

    /// Sorts ties, each with all threads.
    fn distribute_all<P: Send + Sync, L: Lcp>(
        &self,
        items: &mut [P],
        lcps: &mut [L],
        mut ties: Vec<Tie>,
        report: &mut Report,
    ) -> Result<(), Error>
    where
        F: Strings<P>,
    {
        // Ties that are as large as a separate input get all threads.
        while let Some(Tie { range, depth, alike }) = ties.pop() {
            let (items, lcps) = (&mut items[range.clone()], &mut lcps[range.clone()]);
            let found = self.distribute_and_finish(items, lcps, depth, alike, report)?;
            ties.extend(found.into_iter().map(|(tie, depth)| Tie {
                // Never uses a pivot twice in a row, because the second one may share nothing with the other strings.
                alike: !alike && tie.len() > range.len() / 2,
                range: range.start + tie.start..range.start + tie.end,
                depth,
            }));
        }
        Ok(())
    }

    /// Sorts items whose strings share the first `depth` bytes. Returns the ties that remain.
    fn distribute_and_finish<P: Send + Sync, L: Lcp>(
        &self,
        items: &mut [P],
        lcps: &mut [L],
        depth: usize,
        alike: bool,
        report: &mut Report,
    ) -> Result<Vec<(Range<usize>, usize)>, Error>
    where
        F: Strings<P>,
    {
        let n = items.len();
        let refs = size_of_val(items);
        let threads = self.job.budget.threads;
        let mut phase = Report::default();
        let run =
            phase.phase_by_thread("profile", threads, refs, 0, |work| self.run_of(items, depth, Some(work)));
        let large = if let Some(run) = run {
            phase.phase_of_one("finish", refs, refs, || self.straighten(items, &run, depth));
            self.lcps_phase(items, lcps, depth, &mut phase);
            Vec::new()
        } else if threads <= MERGED_BY_THREADS
            && let Some((run, end)) = self.long_run(items, depth)
        {
            let mut room = Scratch::new(end.min(n - end))?;
            phase.phase("finish", 2 * refs, 2 * refs, || -> Result<(), Error> {
                self.straighten(&mut items[..end], &run, depth);
                self.sort_rest(&mut items[end..], &mut lcps[end..], depth)?;
                self.merge(items, end, depth, &mut room);
                Ok(())
            })?;
            self.lcps_phase(items, lcps, depth, &mut phase);
            Vec::new()
        } else {
            let mut encoded = Scratch::<u64>::new(n)?;
            let pairs = Scratch::<Pair<u64, P>>::new(n)?;
            let (depth, words) = phase.phase_by_thread("encode", threads, refs + 8 * n, 8 * n, |work| {
                if alike {
                    self.encode_by_pivot(items, depth, &mut encoded, work)
                } else {
                    self.encode(items, depth, &mut encoded, work)
                }
            });
            // SAFETY: every word was written.
            let encoded = unsafe { encoded.written() };
            let moved = size_of_val(&*pairs);
            let scattered = phase.phase_by_thread("distribute", threads, 16 * n + refs, moved, |work| {
                let source = Source::Payload(Pointers::of(items));
                // SAFETY: there is a word for each item. The slice still owns the items until `finish`.
                unsafe { scatter::distribute(pairs, encoded, self.transform(), source, self.job, work) }
            });
            phase.phase_by_thread("finish", threads, moved, refs + size_of_val(lcps), |work| {
                self.finish(items, lcps, scattered, depth, &words, work)
            })
        };
        report.absorb(phase);
        Ok(large)
    }

    /// Sorts items whose strings share the first `depth` bytes.
    fn sort_rest<P: Send + Sync, L: Lcp>(
        &self,
        items: &mut [P],
        lcps: &mut [L],
        depth: usize,
    ) -> Result<(), Error>
    where
        F: Strings<P>,
    {
        let mut all = vec![Tie::new(0..items.len(), depth)];
        if self.are_distributed(items.len()) {
            return self.distribute_all(items, lcps, all, &mut Report::default());
        }
        self.sort_ties(items, lcps, &mut all, &mut State::default());
        Ok(())
    }

    /// Copies each bucket back in order. Returns the ties that remain.
    fn finish<P: Send + Sync, L: Lcp>(
        &self,
        items: &mut [P],
        lcps: &mut [L],
        scattered: Scattered<u64, P>,
        depth: usize,
        words: &Words,
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
        // SAFETY: the slice's items are overwritten with copies of the same items, without being dropped.
        let targets = unsafe {
            std::slice::from_raw_parts_mut(items.as_mut_ptr().cast::<MaybeUninit<P>>(), items.len())
        };
        let targets = split_at_ranges(targets, &buckets)
            .into_iter()
            .zip(split_at_ranges(lcps, &buckets))
            .zip(buckets.iter().map(|bucket| bucket.start).zip(&*back))
            .collect();
        scatter::finish(scattered, targets, work, |state: &mut State<P>, pairs, (target, (start, back))| {
            let (to_items, lcps): (&mut [MaybeUninit<P>], &mut [L]) = target;
            let mut ties = Vec::new();
            let mut follow = Follow::new(words, lcps, depth, 0, &mut ties, true);
            state.orderer.order(pairs.len(), Pair::codes(pairs)).put(pairs.len(), |to, from| {
                // SAFETY: each item of the bucket is copied back once.
                to_items[to].write(unsafe { pairs[from].payload() });
                follow.next(to, transform.decode(pairs[from].code()));
            });
            state.orderer.forget();
            follow.end(pairs.len());
            back.store(true, Relaxed);
            // SAFETY: the whole bucket was written.
            let items =
                unsafe { std::slice::from_raw_parts_mut(to_items.as_mut_ptr().cast::<P>(), to_items.len()) };
            for tie in ties.extract_if(.., |tie| tie.range.len() >= ITEMS_A_TASK) {
                let range = start + tie.range.start..start + tie.range.end;
                large.lock().expect("no thread panicked").push((range, tie.depth));
            }
            self.sort_ties(items, lcps, &mut ties, state);
        });
        // Words differ between buckets, so any string of a bucket can be compared, even if the bucket still has ties.
        let firsts = buckets.iter().filter(|bucket| !bucket.is_empty()).map(|bucket| bucket.start);
        work.task(|| self.compare_with_previous(items, lcps, firsts, depth));
        large.into_inner().expect("no thread panicked")
    }

    /// Writes words of the strings in the alphabet of a sample. They start after `depth` and the prefix that the sample
    /// shares. If a string does not fit the sample, the words start at `depth`, in the alphabet of all strings. Returns
    /// the number of bytes before the words.
    fn encode<P: Sync>(
        &self,
        items: &[P],
        depth: usize,
        words: &mut [MaybeUninit<u64>],
        work: &Work,
    ) -> (usize, Words)
    where
        F: Strings<P>,
    {
        let sample = ALPHABET_SAMPLE.min(items.len());
        let sampled = || (0..sample).map(|i| self.rest(&items[i * items.len() / sample], depth));
        let first = self.rest(&items[0], depth);
        let shared = sampled().fold(first.len(), |shared, string| lcps::shared(&first[..shared], string));
        let prefix = &first[..shared];
        let symbols = Symbols::new(&alphabet_of(sampled().map(|string| &string[shared..])));
        if self.encode_with(items, depth, words, work, |string| symbols.word(string.strip_prefix(prefix)?)) {
            return (depth + shared, Words::Symbols(symbols));
        }
        let symbols = Symbols::new(&self.alphabet(items, depth, work));
        let written = self.encode_with(items, depth, words, work, |string| symbols.word(string));
        assert!(written, "`as_ref` returned other bytes than before");
        (depth, Words::Symbols(symbols))
    }

    /// The bytes that occur in any of the strings after `depth`.
    fn alphabet<P: Sync>(&self, items: &[P], depth: usize, work: &Work) -> [bool; 256]
    where
        F: Strings<P>,
    {
        let of = |items: &[P]| {
            let strings = ahead(items, |item| self.rest(item, depth)).map(|item| self.rest(item, depth));
            work.task(|| alphabet_of(strings))
        };
        let parts = parallel::map(work.threads(), items.chunks(STRINGS_A_TASK), of);
        std::array::from_fn(|byte| parts.iter().any(|part| part[byte]))
    }

    /// Writes what each string shares with the longest of them after `depth`.
    fn encode_by_pivot<P: Sync>(
        &self,
        items: &[P],
        depth: usize,
        words: &mut [MaybeUninit<u64>],
        work: &Work,
    ) -> (usize, Words)
    where
        F: Strings<P>,
    {
        let pivot = self.longest(items, depth);
        self.encode_with(items, depth, words, work, |string| Some(pivot::code(string, pivot)));
        (depth, Words::Pivot(pivot.len()))
    }

    /// Writes the words of all strings. Returns false if a string has no word.
    fn encode_with<P: Sync>(
        &self,
        items: &[P],
        depth: usize,
        words: &mut [MaybeUninit<u64>],
        work: &Work,
        word: impl Fn(&[u8]) -> Option<u64> + Sync,
    ) -> bool
    where
        F: Strings<P>,
    {
        let encode = |(items, words): (&[P], &mut [MaybeUninit<u64>])| {
            work.task(|| {
                ahead(items, |item| self.rest(item, depth)).zip(words).all(|(item, to)| {
                    let word = word(self.rest(item, depth));
                    to.write(word.unwrap_or(0));
                    word.is_some()
                })
            })
        };
        let words = words.chunks_mut(STRINGS_A_TASK);
        parallel::all(work.threads(), items.chunks(STRINGS_A_TASK).zip(words), encode)
    }

    /// The part of the longest string after `depth`. As a pivot, it distinguishes prefixes of one string at once.
    fn longest<'p, P>(&'p self, items: &'p [P], depth: usize) -> &'p [u8]
    where
        F: Strings<P>,
    {
        let longest = items.iter().max_by_key(|item| self.strings.get(item).len());
        self.rest(longest.expect("a tie has items"), depth)
    }

    #[inline(always)]
    fn compare<P>(&self, a: &P, b: &P, depth: usize) -> Ordering
    where
        F: Strings<P>,
    {
        compare_bytes(self.rest(a, depth), self.rest(b, depth), self.descending)
    }

    /// The part of a string after the first `depth` bytes, which it must have.
    #[inline(always)]
    fn rest<'p, P>(&'p self, item: &'p P, depth: usize) -> &'p [u8]
    where
        F: Strings<P>,
    {
        &self.strings.get(item)[depth..]
    }

    /// Words compare as strings do, or in reverse.
    fn transform(&self) -> Transform<u64> {
        let order = crate::Order { descending: self.descending, ..Default::default() };
        Transform::new(crate::key::Code::Unsigned, order)
    }
}

/// The bytes that occur in these strings.
fn alphabet_of<'s>(strings: impl Iterator<Item = &'s [u8]>) -> [bool; 256] {
    let mut seen = [false; 256];
    for string in strings {
        string.iter().take(64).for_each(|&byte| seen[usize::from(byte)] = true);
    }
    seen
}

/// If a caller's `as_ref` panics while buckets are copied back, restores the other buckets from scratch memory too, so
/// that the slice is a permutation of what it was. Items that are back stay as they are, because `as_ref` may have
/// changed them.
struct Restore<'a, P> {
    items: &'a mut [P],
    scattered: Scattered<u64, P>,
    /// Whether each bucket was copied back.
    back: Vec<AtomicBool>,
}

impl<P> Drop for Restore<'_, P> {
    fn drop(&mut self) {
        for (i, back) in self.back.iter_mut().enumerate() {
            if !*back.get_mut() {
                let bucket = self.scattered.buckets()[i].clone();
                for (item, pair) in self.items[bucket.clone()].iter_mut().zip(&self.scattered.pairs()[bucket])
                {
                    // SAFETY: scratch memory has the only copy of each item of the bucket that is still used.
                    unsafe { std::ptr::write(item, pair.payload()) };
                }
            }
        }
    }
}
