//! Stable distribution into scratch memory. The threads count, then move, each its own stripe of the keys (`stripes.rs`).
//!
//! The codes are read twice and the payload once. Both are written once, side by side.

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use crate::cpu::distribute::Classifier;
use crate::cpu::lines::Lines;
use crate::cpu::tuning::{CELLS, CLASSIFY_AHEAD, PAIR_BUCKETS, PAIRS_A_BUCKET, PAIRS_IN_CACHE};
use crate::cpu::vector::{self, Isa};
use crate::cpu::{Job, split_at_ranges, stripes};
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

impl<B: Bits, P> Pair<B, P> {
    /// The code of the pair at an index.
    pub(crate) fn codes(pairs: &[Self]) -> impl Fn(usize) -> B {
        move |i| pairs[i].code()
    }
}

/// Bytes that are moved as they are, with any padding: payloads and indices, so that the sorts are compiled once for each size.
pub(crate) type Moved<const N: usize> = MaybeUninit<[u8; N]>;

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

/// What moves with each key.
pub(crate) enum Source<P> {
    /// The payloads of a slice, which are moved out of it.
    Payload(Pointers<P>),
    /// The index of the key, in as many bytes as P has: 4, enough for the number of keys, or 8.
    Index,
}

impl<P> Source<P> {
    /// # Safety
    /// The payload still exists, and is not used again if it is not an index.
    #[inline(always)]
    unsafe fn take(&self, i: usize) -> MaybeUninit<P> {
        // SAFETY: the caller guarantees it; an index is as large as P.
        unsafe {
            match self {
                Source::Payload(payload) => payload.at(i).cast::<MaybeUninit<P>>().read(),
                Source::Index if const { size_of::<P>() == size_of::<u32>() } => {
                    std::mem::transmute_copy(&(i as u32))
                }
                Source::Index if const { size_of::<P>() == size_of::<u64>() } => {
                    std::mem::transmute_copy(&(i as u64))
                }
                Source::Index => unreachable!("an index has 4 or 8 bytes"),
            }
        }
    }
}

/// Distributes keys, with their payloads or indices, into scratch memory, to a suitable number of buckets.
///
/// # Safety
/// The slice of payloads, if there is one, has as many of them as there are keys. They are used again only after they have been moved
/// back.
pub(crate) unsafe fn distribute<B: Bits, P: Send>(
    mut pairs: Scratch<Pair<B, P>>,
    keys: &[B],
    transform: Transform<B>,
    source: Source<P>,
    job: &Job,
    work: &Work,
) -> Scattered<B, P> {
    assert_eq!(pairs.len(), keys.len());
    let classifier = work.task(|| classifier(keys, transform, size_of::<Pair<B, P>>(), job));
    let to = Pointers::of(&mut pairs);
    let buckets = stripes::distribute(
        keys.len(),
        work,
        &|stripe| count(&keys[stripe], transform, &classifier),
        &|stripe, starts| {
            // SAFETY: the starts are sums of the counts of the same codes, so every position is written once, by one stripe.
            let mut lines = unsafe { Lines::new(to.all(&starts)) };
            classify(&keys[stripe.clone()], transform, &classifier, |i, code, bucket| {
                // SAFETY: the caller guarantees it for the payload. The counts leave room for the pair.
                unsafe {
                    let payload = source.take(stripe.start + i);
                    lines.push(bucket, MaybeUninit::new(Pair { code, payload }));
                }
            });
            lines.finish();
        },
    );
    Scattered { pairs, buckets }
}

/// A classifier for a suitable number of buckets of pairs of this many bytes.
fn classifier<B: Bits>(keys: &[B], transform: Transform<B>, pair: usize, job: &Job) -> Classifier<B> {
    let wanted = if job.way == CpuWay::Quicksort { 1 } else { keys.len() / PAIRS_A_BUCKET };
    let many = pair >= PAIR_BYTES && keys.len() > PAIR_BUCKETS * PAIRS_IN_CACHE;
    let most = if many { CELLS } else { PAIR_BUCKETS };
    let buckets = wanted.next_power_of_two().min(most);
    Classifier::sampled(keys.len(), |i| transform.encode(keys[i]), buckets, Isa::detect())
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

/// The number of keys in each bucket.
fn count<B: Bits>(keys: &[B], transform: Transform<B>, classifier: &Classifier<B>) -> Vec<usize> {
    let mut counts = vec![0usize; classifier.buckets()];
    classify(keys, transform, classifier, |_, _, bucket| counts[bucket] += 1);
    counts
}

/// Calls `take(index, code, bucket)` for each key.
#[inline(always)]
fn classify<B: Bits>(
    keys: &[B],
    transform: Transform<B>,
    classifier: &Classifier<B>,
    mut take: impl FnMut(usize, B, usize),
) {
    let isa = Isa::detect();
    let (mut codes, mut cells) = ([B::ZERO; CLASSIFY_AHEAD], [B::ZERO; CLASSIFY_AHEAD]);
    let mut i = 0;
    while i < keys.len() {
        let ahead = &keys[i..keys.len().min(i + CLASSIFY_AHEAD)];
        if let Some(ahead) = ahead.first_chunk() {
            find_cells(ahead, transform, classifier, &mut codes, &mut cells, isa);
        } else {
            for (j, &key) in ahead.iter().enumerate() {
                codes[j] = transform.encode(key);
                cells[j] = classifier.cell(codes[j]);
            }
        }
        for (j, (&code, &cell)) in codes[..ahead.len()].iter().zip(&cells).enumerate() {
            take(i + j, code, classifier.bucket_of_cell(cell));
        }
        i += ahead.len();
    }
}

/// The codes of keys, and their cells. Not inlined, because it is compiled for each instruction set.
#[inline(never)]
fn find_cells<B: Bits>(
    keys: &[B; CLASSIFY_AHEAD],
    transform: Transform<B>,
    classifier: &Classifier<B>,
    codes: &mut [B; CLASSIFY_AHEAD],
    cells: &mut [B; CLASSIFY_AHEAD],
    isa: Isa,
) {
    vector::compiled_for!(isa, || {
        // Choosing the transform once, here, avoids a choice for every key.
        if const { B::OF_INTEGERS } || transform.is_integer() {
            for i in 0..CLASSIFY_AHEAD {
                codes[i] = transform.encode_integer(keys[i]);
                cells[i] = classifier.cell(codes[i]);
            }
        } else {
            for i in 0..CLASSIFY_AHEAD {
                codes[i] = transform.encode(keys[i]);
                cells[i] = classifier.cell(codes[i]);
            }
        }
    });
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
    /// The index is within the slice, which still exists, and no other thread uses that position.
    #[inline(always)]
    pub(crate) unsafe fn at(&self, i: usize) -> *mut T {
        // SAFETY: the caller guarantees it.
        unsafe { self.0.add(i) }
    }

    /// # Safety
    /// The range is within the slice, which still exists, and nothing else uses that part of it for as long.
    pub(crate) unsafe fn slice<'a>(&self, range: Range<usize>) -> &'a mut [T] {
        // SAFETY: the caller guarantees it.
        unsafe { std::slice::from_raw_parts_mut(self.at(range.start), range.len()) }
    }

    /// # Safety
    /// Each index is within the slice, or its length; else as [`Pointers::at`].
    pub(crate) unsafe fn all(&self, indices: &[usize]) -> Vec<*mut T> {
        // SAFETY: the caller guarantees it.
        indices.iter().map(|&i| unsafe { self.at(i) }).collect()
    }
}
