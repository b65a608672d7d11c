//! Sorts keys of fixed width with a payload, or computes the indices of such keys: a stable distribution into scratch
//! memory, from which each bucket is copied back in order.

use std::cmp::Ordering;
use std::mem::MaybeUninit;

use crate::cpu::digits;
use crate::cpu::order::Orderer;
use crate::cpu::profile::{self, Runs};
use crate::cpu::ranks::{Distinct, Ranked};
use crate::cpu::runs::{self, InRun, Rows, Run};
use crate::cpu::scatter::{self, Moved, Pair, Pointers, Source};
use crate::cpu::sorts::CpuSorts;
use crate::cpu::tuning::{
    MERGED_BY_THREADS, PACKED_BY_THREADS, PAIRS_A_BUCKET, PAIRS_AT_ONCE, RANK_FROM, RANK_SAMPLE,
};
use crate::cpu::{Job, compare, counting, packed, permute_pairs, split_at_ranges, widen};
use crate::key::{Indices, Transform};
use crate::request::Budget;
use crate::scratch::{Scratch, reserve};
use crate::ways::CpuWay;
use crate::{Error, Index, Report};

/// Sorts keys and moves each payload with its key. Stable.
pub(crate) fn sort<B: CpuSorts, V: Send>(
    keys: &mut [B],
    payload: &mut [V],
    transform: Transform<B>,
    job: &Job,
) -> Result<Report, Error> {
    let n = keys.len();
    let bytes = size_of_val(keys) + size_of_val(payload);
    if job.way == CpuWay::Merge || !transform.is_bijection() {
        let mut indices: Vec<usize> = vec![0; n];
        let held = size_of_val(&*indices);
        let mut report = argsort(keys, usize::by_width(&mut indices), transform, &job.holding(held))?;
        report.phase_of_one("move", bytes, bytes, || permute_pairs(keys, payload, &mut indices));
        return Ok(report);
    }
    let by_digits = digits::applies_to_pairs::<B, V>(n, job);
    let mut report = check(n, if by_digits { digits::pairs_scratch::<B, V>(n) } else { bytes }, job)?;
    let runs = report
        .phase("profile", size_of_val(keys), 0, || profile::runs(keys, transform, true, job.budget.threads));
    match runs {
        Runs::Ascending => return Ok(report),
        Runs::Descending => {
            report.phase_of_one("finish", bytes, bytes, || {
                keys.reverse();
                payload.reverse();
            });
            return Ok(report);
        }
        Runs::Mixed => {}
    }
    if const { counting::are_narrow::<B>() } && by_digits {
        digits::sort_pairs(keys, payload, transform, job, &mut report)?;
        return Ok(report);
    }
    if job.budget.threads <= MERGED_BY_THREADS
        && let Some(runs) = runs::two(keys, transform)
    {
        let shorter = runs.iter().map(|run| run.range.len()).min().unwrap_or(0);
        let held = shorter * (size_of::<B>() + size_of::<V>());
        // This replaces a copy of everything.
        report.scratch_peak = 0;
        job.budget.scratch(held, "", &mut report)?;
        let mut room = Copies::new(shorter)?;
        if let [_, Run { range, order: InRun::Mixed }] = &runs {
            let (keys, payload) = (&mut keys[range.clone()], &mut payload[range.clone()]);
            report.absorb(sort(keys, payload, transform, &job.holding(held))?);
        }
        report.phase_of_one("finish", 2 * bytes, 2 * bytes, || {
            let room = Rows { keys: &mut room.keys, payload: &mut room.payload };
            runs::merge_pairs_in_place(keys, payload, &runs, transform, room);
        });
        return Ok(report);
    }
    if job.budget.threads == 1 && sort_by_rank(keys, payload, transform, job, &mut report)? {
        return Ok(report);
    }
    if is_ordered_at_once::<B>(n, &job.holding(bytes), &mut report) {
        let mut copies = Copies::new(n)?;
        report.phase_of_one("finish", 2 * bytes, 2 * bytes, || {
            copies.bring(keys, payload, |keys, mover| {
                // SAFETY: an order has each index once.
                Orderer::default()
                    .order_keys(keys, transform)
                    .put(n, |to, from| unsafe { mover.put(to, from) });
            })
        });
        return Ok(report);
    }
    let scratch = Scratch::new(n)?;
    let read = bytes + size_of_val(keys);
    let mut scattered = report.phase_by_thread("distribute", job.budget.threads, read, bytes, |work| {
        let source = Source::Payload(Pointers::of(payload));
        // SAFETY: there are as many payloads as keys. Those moved to scratch memory are moved back into the slice below, as a
        // permutation. Nothing in between panics.
        unsafe { scatter::distribute(scratch, keys, transform, source, job, work) }
    });
    report.phase_by_thread("finish", job.budget.threads, bytes, bytes, |work| {
        // SAFETY: all payloads have been moved out, and every position is written again.
        let payload = unsafe {
            std::slice::from_raw_parts_mut(payload.as_mut_ptr().cast::<MaybeUninit<V>>(), payload.len())
        };
        let buckets = scattered.buckets();
        let targets =
            split_at_ranges(keys, buckets).into_iter().zip(split_at_ranges(payload, buckets)).collect();
        scatter::finish(
            &mut scattered,
            targets,
            work,
            |orderer: &mut Orderer<B>, pairs, (to_keys, to_payload)| {
                orderer.order(pairs.len(), Pair::codes(pairs)).put(pairs.len(), |to, from| {
                    to_keys[to] = transform.decode(pairs[from].code());
                    // SAFETY: each payload of the bucket is moved once.
                    to_payload[to].write(unsafe { pairs[from].payload() });
                });
                orderer.forget();
            },
        );
    });
    Ok(report)
}

/// Sorts keys with few distinct codes by the ranks of the codes, and moves the payloads with them. If there are more
/// codes, moves nothing and returns false. Takes no more scratch memory than a copy of both.
fn sort_by_rank<B: CpuSorts, V>(
    keys: &mut [B],
    payload: &mut [V],
    transform: Transform<B>,
    job: &Job,
    report: &mut Report,
) -> Result<bool, Error> {
    let n = keys.len();
    assert_eq!(n, payload.len());
    let mut ranks = Vec::new();
    let Some(ranked) = rank(keys, transform, &mut ranks, report)? else { return Ok(false) };
    let mut copy = Scratch::<V>::new(n)?;
    report.scratch_peak = 0;
    job.budget.scratch(n + size_of_val(payload), "", report)?;
    let (read, written) = (2 * size_of_val(payload), size_of_val(keys) + 2 * size_of_val(payload));
    report.phase_of_one("finish", read, written, || {
        ranked.write_keys(keys, transform);
        // SAFETY: both have the same number of items. Each is moved back once, and nothing panics in between.
        unsafe {
            std::ptr::copy_nonoverlapping(payload.as_ptr(), copy.as_mut_ptr().cast(), n);
        }
        // SAFETY: each index is the target once and the source once; the overwritten payload was moved to the copy.
        ranked.put(|to, from| unsafe { std::ptr::write(&mut payload[to], copy[from].assume_init_read()) });
    });
    Ok(true)
}

/// The ranks of keys with few distinct codes, written to `ranks`. `None` if there are more codes.
fn rank<'r, B: CpuSorts>(
    keys: &[B],
    transform: Transform<B>,
    ranks: &'r mut Vec<u8>,
    report: &mut Report,
) -> Result<Option<Ranked<'r, B>>, Error> {
    let n = keys.len();
    if n < RANK_FROM {
        return Ok(None);
    }
    let Some(distinct) = Distinct::sampled::<RANK_SAMPLE>(n, |i| transform.encode(keys[i])) else {
        return Ok(None);
    };
    *ranks = reserve(n)?;
    ranks.resize(n, 0);
    Ok(report.phase_of_one("profile", size_of_val(keys), n, || distinct.rank(keys, transform, ranks)))
}

/// Whether `n` keys are ordered without a distribution.
fn is_ordered_at_once<B>(n: usize, job: &Job, report: &mut Report) -> bool {
    let many = n > PAIRS_A_BUCKET;
    let too_many = n > PAIRS_AT_ONCE || job.budget.threads > 1;
    !many || (!too_many && job.budget.scratch(words(n, size_of::<B>()), "", report).is_ok())
}

/// The scratch memory in bytes to order `n` keys of `key` bytes without a distribution. 0 if they are too many for
/// that.
pub(crate) fn words(n: usize, key: usize) -> usize {
    if n <= PAIRS_AT_ONCE { n * (key + size_of::<u64>()) } else { 0 }
}

/// Room for a copy of keys and payloads.
struct Copies<B, V> {
    keys: Scratch<B>,
    payload: Scratch<V>,
}

impl<B: CpuSorts, V> Copies<B, V> {
    fn new(n: usize) -> Result<Self, Error> {
        Ok(Copies { keys: Scratch::new(n)?, payload: Scratch::new(n)? })
    }

    /// Reorders keys and payloads using the copy. `order` gets the copied keys, and must move each index once.
    fn bring(&mut self, keys: &mut [B], payload: &mut [V], order: impl FnOnce(&[B], &mut Mover<B, V>)) {
        for (copy, &key) in self.keys.iter_mut().zip(&*keys) {
            copy.write(key);
        }
        assert!(keys.len() == self.keys.len() && payload.len() == self.payload.len());
        // SAFETY: all keys were just written.
        let from_keys = unsafe { self.keys.written() };
        // SAFETY: both have the same number of items. Each is moved back once, and nothing panics in between.
        unsafe {
            std::ptr::copy_nonoverlapping(payload.as_ptr(), self.payload.as_mut_ptr().cast(), payload.len());
        }
        order(from_keys, &mut Mover { from_keys, keys, from_payload: &self.payload, payload });
    }
}

/// The copies of keys and payloads, and the slices to which they go.
struct Mover<'a, B, V> {
    from_keys: &'a [B],
    keys: &'a mut [B],
    from_payload: &'a [MaybeUninit<V>],
    payload: &'a mut [V],
}

impl<B: CpuSorts, V> Mover<'_, B, V> {
    /// # Safety
    /// Each index is the target once and the source once.
    #[inline(always)]
    unsafe fn put(&mut self, to: usize, from: usize) {
        self.keys[to] = self.from_keys[from];
        // SAFETY: the copy has all payloads, and each is moved out of it once; the overwritten payload was moved to the
        // copy.
        unsafe { std::ptr::write(&mut self.payload[to], self.from_payload[from].assume_init_read()) };
    }
}

/// Writes the sorting indices of the keys. Stable.
pub(crate) fn argsort<B: CpuSorts>(
    keys: &[B],
    indices: Indices<'_>,
    transform: Transform<B>,
    job: &Job,
) -> Result<Report, Error> {
    if job.way == CpuWay::Merge {
        let code = |i: usize| transform.encode(keys[i]);
        let compare: Compare = &|a, b| code(a).cmp(&code(b));
        return match indices {
            Indices::Narrow(indices) => argsort_by_merge(indices, compare, job),
            Indices::Wide(indices) => argsort_by_merge(indices, compare, job),
        };
    }
    let n = keys.len();
    // Several threads would distribute these, which takes longer.
    let alone = Job { budget: Budget { threads: 1, ..job.budget }, ..*job };
    let job = if B::WIDTH <= u16::BITS && n <= PAIRS_AT_ONCE { &alone } else { job };
    let narrow = n as u64 <= u64::from(u32::MAX);
    let scratch = if narrow && digits::applies::<B>(n, job) {
        digits::scratch(n, size_of::<B>())
    } else {
        size_of_val(keys) + n * if narrow { 4 } else { 8 }
    };
    let mut report = check(n, scratch, job)?;
    let runs = report
        .phase("profile", size_of_val(keys), 0, || profile::runs(keys, transform, true, job.budget.threads));
    match (runs, indices) {
        (Runs::Mixed, Indices::Narrow(indices)) => argsort_mixed(keys, indices, transform, job, &mut report)?,
        (Runs::Mixed, Indices::Wide(indices)) if narrow => {
            argsort_mixed(keys, widen::narrow(indices), transform, job, &mut report)?;
            report.absorb(widened(indices, job));
        }
        (Runs::Mixed, Indices::Wide(indices)) => order_indices::<B, 8>(
            keys,
            // SAFETY: only indices are written.
            unsafe { moved(indices) },
            transform,
            job,
            &mut report,
        )?,
        (runs, Indices::Narrow(indices)) => count_up(indices, runs),
        (runs, Indices::Wide(indices)) => count_up(indices, runs),
    }
    Ok(report)
}

/// How items compare by their indices. A trait object, so that the sorts are compiled only once for each type of index.
type Compare<'a> = &'a (dyn Fn(usize, usize) -> Ordering + Sync);

fn argsort_by_merge<I: Index>(indices: &mut [I], compare: Compare, job: &Job) -> Result<Report, Error> {
    compare::check(size_of_val(indices), job)?;
    count_up(indices, Runs::Ascending);
    compare::merge(indices, |a, b| compare(a.to_usize(), b.to_usize()), job)
}

/// Writes the sorting indices of keys that are one run.
fn count_up<I: Index>(indices: &mut [I], runs: Runs) {
    let n = indices.len();
    for (i, index) in indices.iter_mut().enumerate() {
        *index = I::from_usize(if runs == Runs::Descending { n - 1 - i } else { i });
    }
}

/// Widens indices that were found as narrow ones.
fn widened(indices: &mut [u64], job: &Job) -> Report {
    let (mut report, bytes) = (Report::default(), size_of_val(indices));
    report.phase_by_thread("finish", job.budget.threads, bytes / 2, bytes, |work| {
        widen::widen(indices, work);
    });
    report
}

/// Writes the sorting indices of keys that are not one run.
fn argsort_mixed<B: CpuSorts>(
    keys: &[B],
    indices: &mut [u32],
    transform: Transform<B>,
    job: &Job,
    report: &mut Report,
) -> Result<(), Error> {
    let n = keys.len();
    if const { counting::are_narrow::<B>() } && digits::applies::<B>(n, job) {
        digits::argsort(keys, transform, indices, job, report)?;
    } else if job.budget.threads <= MERGED_BY_THREADS
        && let Some(runs) = runs::two(keys, transform)
    {
        merge_indices(keys, transform, indices, &runs, job, report)?;
    } else if (job.budget.threads == 1 && argsort_by_rank(keys, transform, indices, job, report)?)
        || (const { B::WIDTH >= u32::BITS }
            && n > PAIRS_AT_ONCE
            && job.budget.threads <= PACKED_BY_THREADS
            && packed::argsort(keys, transform, indices, job, report)?)
    {
        // The indices are written.
    } else if is_ordered_at_once::<B>(n, job, report) {
        let read = size_of_val(keys) + n * size_of::<u32>();
        report.phase_of_one("finish", read, size_of_val(indices), || {
            Orderer::default().order_keys(keys, transform).write(Indices::Narrow(indices));
        });
    } else {
        // SAFETY: only indices are written.
        order_indices::<B, 4>(keys, unsafe { moved(indices) }, transform, job, report)?;
    }
    Ok(())
}

/// Writes the sorting indices of keys with few distinct codes. If there are more codes, writes nothing and returns
/// false.
fn argsort_by_rank<B: CpuSorts>(
    keys: &[B],
    transform: Transform<B>,
    indices: &mut [u32],
    job: &Job,
    report: &mut Report,
) -> Result<bool, Error> {
    let mut ranks = Vec::new();
    let Some(ranked) = rank(keys, transform, &mut ranks, report)? else { return Ok(false) };
    report.scratch_peak = 0;
    job.budget.scratch(keys.len(), "", report)?;
    report.phase_of_one("finish", keys.len(), size_of_val(indices), || {
        ranked.put(|to, from| indices[to] = from as u32);
    });
    Ok(true)
}

/// Writes the sorting indices of two runs of keys.
fn merge_indices<B: CpuSorts>(
    keys: &[B],
    transform: Transform<B>,
    indices: &mut [u32],
    runs: &[Run; 2],
    job: &Job,
    report: &mut Report,
) -> Result<(), Error> {
    let code = |i: usize| transform.encode(keys[i]);
    let read = size_of_val(keys);
    let [_, Run { range, order: InRun::Mixed }] = runs else {
        report.phase_of_one("finish", read, size_of_val(indices), || {
            runs::merge(runs, code, |to, from| indices[to] = from as u32);
        });
        return Ok(());
    };
    let start = range.start;
    report.absorb(argsort(&keys[start..], Indices::Narrow(&mut indices[start..]), transform, job)?);
    // This takes less scratch memory than an argsort of all keys.
    let mut tail = Scratch::<(B, u32)>::new(keys.len() - start)?;
    for (slot, &i) in tail.iter_mut().zip(&indices[start..]) {
        slot.write((code(start + i as usize), i));
    }
    // SAFETY: all elements were just written.
    let tail = unsafe { tail.written() };
    report.phase_of_one("finish", read, size_of_val(indices), || {
        runs::merge(
            runs,
            |i| if i < start { code(i) } else { tail[i - start].0 },
            |to, from| {
                indices[to] = if from < start { from as u32 } else { start as u32 + tail[from - start].1 };
            },
        );
    });
    Ok(())
}

/// Writes the sorting indices of keys. Scratch memory holds them in N bytes too.
fn order_indices<B: CpuSorts, const N: usize>(
    keys: &[B],
    indices: &mut [Moved<N>],
    transform: Transform<B>,
    job: &Job,
    report: &mut Report,
) -> Result<(), Error> {
    let scratch = Scratch::<Pair<B, Moved<N>>>::new(keys.len())?;
    let moved = size_of_val(&*scratch);
    let read = 2 * size_of_val(keys);
    let mut scattered = report.phase_by_thread("distribute", job.budget.threads, read, moved, |work| {
        // SAFETY: there are no payloads.
        unsafe { scatter::distribute(scratch, keys, transform, Source::Index, job, work) }
    });
    report.phase_by_thread("finish", job.budget.threads, moved, size_of_val(indices), |work| {
        let targets = split_at_ranges(indices, scattered.buckets());
        scatter::finish(&mut scattered, targets, work, |orderer: &mut Orderer<B>, pairs, to_indices| {
            orderer.order(pairs.len(), Pair::codes(pairs)).put(pairs.len(), |to, from| {
                // SAFETY: an index can be copied any number of times.
                to_indices[to] = unsafe { pairs[from].payload() };
            });
            orderer.forget();
        });
    });
    Ok(())
}

/// Indices as bytes.
///
/// # Safety
/// The caller leaves indices in the slice.
unsafe fn moved<I: Index, const N: usize>(indices: &mut [I]) -> &mut [Moved<N>] {
    const { assert!(size_of::<I>() == N) }
    // SAFETY: the sizes are equal, and bytes have no alignment. The caller leaves valid indices.
    unsafe { std::slice::from_raw_parts_mut(indices.as_mut_ptr().cast(), indices.len()) }
}

/// Checks that the job allows this much scratch memory for sorting `n` pairs.
pub(crate) fn check(n: usize, scratch: usize, job: &Job) -> Result<Report, Error> {
    let mut report = Report::default();
    if n > 1 {
        job.budget.scratch(
            scratch,
            "a stable sort of pairs needs a copy of them; sort keys alone, or in parts",
            &mut report,
        )?;
    }
    Ok(report)
}
