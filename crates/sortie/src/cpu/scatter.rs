//! Stable distribution into scratch memory. The threads count, then move, each its own stripe of the keys.
//!
//! In every bucket, the codes of a stripe come after those of earlier stripes, so equal codes keep their order with any number
//! of threads. The codes are read twice and the payload once. Both are written once, side by side.
//!
//! Source: Drozd, Pericas and Matsuoka, "Efficient string sorting on multi- and many-core architectures" (2014), section III.A:
//! a histogram for each thread, their sum, and a move with pointers of each thread's own.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use super::distribute::Classifier;
use super::lines::Lines;
use super::vector::{self, Isa};
use super::{Job, split_at_ranges};
use crate::cpu::tuning::{CELLS, CLASSIFY_AHEAD, PAIR_BUCKETS, PAIRS_A_BUCKET, PAIRS_IN_CACHE};
use crate::key::{Bits, Transform};
use crate::parallel;
use crate::report::Work;
use crate::scratch::Scratch;
use crate::ways::CpuWay;

/// A code and its payload without a gap, so that scratch memory is no larger than a copy of the data.
#[repr(C, packed)]
pub(crate) struct Pair<B, P> {
    code: B,
    payload: MaybeUninit<P>,
}

impl<B: Bits, P> Pair<B, P> {
    #[inline(always)]
    pub(crate) fn code(&self) -> B {
        self.code
    }

    /// Moves the payload out.
    ///
    /// # Safety
    /// The payload must not be moved out again.
    #[inline(always)]
    pub(crate) unsafe fn payload(&self) -> P {
        // SAFETY: the distribution wrote it; the read is unaligned, because the pair is packed.
        unsafe { (&raw const self.payload).cast::<P>().read_unaligned() }
    }
}

/// Pairs, grouped by bucket.
pub(crate) struct Scattered<B, P> {
    pairs: Scratch<Pair<B, P>>,
    buckets: Vec<Range<usize>>,
}

impl<B, P> Scattered<B, P> {
    pub(crate) fn buckets(&self) -> &[Range<usize>] {
        &self.buckets
    }

    /// All pairs, bucket after bucket.
    pub(crate) fn pairs(&mut self) -> &mut [Pair<B, P>] {
        // SAFETY: the distribution wrote every pair.
        unsafe { std::slice::from_raw_parts_mut(self.pairs.as_mut_ptr().cast(), self.pairs.len()) }
    }
}

/// Pairs of at least this many bytes may have a bucket for each cell, because the lines of those buckets take little memory
/// compared with the pairs.
const PAIR_BYTES: usize = 8;

/// Distributes keys with their payloads into scratch memory, to a suitable number of buckets.
pub(crate) fn distribute<B: Bits, P: Send>(
    scratch: Scratch<Pair<B, P>>,
    keys: &[B],
    transform: Transform<B>,
    payload: impl Fn(usize) -> P + Sync,
    job: &Job,
    isa: Isa,
    work: &Work,
) -> Scattered<B, P> {
    let wanted = if job.way == CpuWay::Quicksort { 1 } else { keys.len() / PAIRS_A_BUCKET };
    let many = size_of::<Pair<B, P>>() >= PAIR_BYTES && keys.len() > PAIR_BUCKETS * PAIRS_IN_CACHE;
    let most = if many { CELLS } else { PAIR_BUCKETS };
    let buckets = wanted.next_power_of_two().min(most);
    let code = |place: usize| transform.encode(keys[place]);
    let classifier = work.task(|| Classifier::sampled(keys.len(), code, buckets, isa));
    scatter(scratch, keys, transform, payload, &classifier, isa, work)
}

/// Runs `sort` on every bucket and its target. Each thread reuses a state.
pub(crate) fn finish<B: Bits, P: Send, T: Send, S: Default + Send>(
    scattered: &mut Scattered<B, P>,
    targets: Vec<T>,
    work: &Work,
    sort: impl Fn(&mut S, &[Pair<B, P>], T) + Sync,
) {
    let buckets = scattered.buckets().to_vec();
    let buckets: Vec<_> = split_at_ranges(scattered.pairs(), &buckets).into_iter().zip(targets).collect();
    let finish = |state: &mut S, (pairs, target): (&mut [Pair<B, P>], T)| {
        work.task(|| sort(state, pairs, target));
    };
    if work.threads() > 1 {
        let states = Mutex::new(Vec::new());
        let states = || states.lock().unwrap_or_else(PoisonError::into_inner);
        parallel::for_each(work.threads(), buckets, |bucket| {
            let mut state = states().pop().unwrap_or_default();
            finish(&mut state, bucket);
            states().push(state);
        });
    } else {
        let mut state = S::default();
        buckets.into_iter().for_each(|bucket| finish(&mut state, bucket));
    }
}

/// Distributes the codes of `keys`, each with the payload of its index, into scratch memory of the same length.
fn scatter<B: Bits, P: Send>(
    mut pairs: Scratch<Pair<B, P>>,
    keys: &[B],
    transform: Transform<B>,
    payload: impl Fn(usize) -> P + Sync,
    classifier: &Classifier<B>,
    isa: Isa,
    work: &Work,
) -> Scattered<B, P> {
    assert_eq!(pairs.len(), keys.len());
    let (n, threads) = (keys.len(), work.threads());
    let stripe = n.div_ceil(threads).max(1);
    let stripes: Vec<Range<usize>> =
        (0..threads).map(|i| (i * stripe).min(n)..((i + 1) * stripe).min(n)).collect();
    let mut starts = for_each(&stripes, work, |stripe| {
        let mut counts = vec![0usize; classifier.buckets()];
        classify(&keys[stripe.clone()], transform, classifier, isa, |_, _, bucket| counts[bucket] += 1);
        counts
    });
    // Turns the counts of each stripe into its start in each bucket.
    let mut buckets = Vec::with_capacity(classifier.buckets());
    let mut at = 0;
    for bucket in 0..classifier.buckets() {
        let start = at;
        for counts in &mut starts {
            at += std::mem::replace(&mut counts[bucket], at);
        }
        buckets.push(start..at);
    }
    let to = Pointers::of(&mut pairs);
    let stripes: Vec<_> = stripes.into_iter().zip(starts).collect();
    for_each(&stripes, work, |(stripe, starts)| {
        // SAFETY: the starts are sums of the counts of the same codes, so every position is written once, by one stripe.
        let mut lines = unsafe { Lines::new(starts.iter().map(|&start| to.at(start)).collect()) };
        classify(&keys[stripe.clone()], transform, classifier, isa, |place, code, bucket| {
            let pair = Pair { code, payload: MaybeUninit::new(payload(stripe.start + place)) };
            // SAFETY: the counts leave room for it.
            unsafe { lines.push(bucket, MaybeUninit::new(pair)) };
        });
        lines.finish();
    });
    Scattered { pairs, buckets }
}

/// Calls `take(place, code, bucket)` for each key.
fn classify<B: Bits>(
    keys: &[B],
    transform: Transform<B>,
    classifier: &Classifier<B>,
    isa: Isa,
    take: impl FnMut(usize, B, usize),
) {
    // Choosing the transform once, here, avoids a choice for every key.
    if transform.is_identity() {
        classify_with(keys, |key| key, classifier, isa, take);
    } else {
        classify_with(keys, |key| transform.encode(key), classifier, isa, take);
    }
}

#[inline(always)]
fn classify_with<B: Bits>(
    keys: &[B],
    code: impl Fn(B) -> B,
    classifier: &Classifier<B>,
    isa: Isa,
    mut take: impl FnMut(usize, B, usize),
) {
    let (chunks, rest) = keys.as_chunks::<CLASSIFY_AHEAD>();
    let mut place = 0;
    for chunk in chunks {
        let (mut codes, mut cells) = ([B::ZERO; CLASSIFY_AHEAD], [B::ZERO; CLASSIFY_AHEAD]);
        vector::compiled_for!(isa, || {
            for i in 0..CLASSIFY_AHEAD {
                codes[i] = code(chunk[i]);
                cells[i] = classifier.cell(codes[i]);
            }
        });
        for i in 0..CLASSIFY_AHEAD {
            take(place + i, codes[i], classifier.bucket_of_cell(cells[i]));
        }
        place += CLASSIFY_AHEAD;
    }
    for &key in rest {
        let code = code(key);
        take(place, code, classifier.bucket_of_cell(classifier.cell(code)));
        place += 1;
    }
}

/// Runs `run` on every item as a task, and returns the results.
fn for_each<T: Sync, R: Send>(items: &[T], work: &Work, run: impl Fn(&T) -> R + Sync) -> Vec<R> {
    parallel::map(work.threads(), items, |item| work.task(|| run(item)))
}

/// A slice that several threads write, each at positions of its own.
pub(crate) struct Pointers<T>(*mut T);

// SAFETY: every item is touched by one thread, and may be sent to it.
unsafe impl<T: Send> Sync for Pointers<T> {}

impl<T> Clone for Pointers<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Pointers<T> {}

impl<T> Pointers<T> {
    pub(crate) fn of(items: &mut [T]) -> Self {
        Pointers(items.as_mut_ptr())
    }

    /// # Safety
    /// `place` is within the slice, which still exists, and no other thread uses that position.
    #[inline(always)]
    pub(crate) unsafe fn at(&self, place: usize) -> *mut T {
        // SAFETY: the caller guarantees it.
        unsafe { self.0.add(place) }
    }
}
