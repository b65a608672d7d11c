//! The first `k` items, or their indices: profile, distribute, finish.
//!
//! 1. A sample bounds the `k`-th code.
//! 2. One pass sets apart the candidates, the items before the bound (`candidates.rs`).
//! 3. The first `k` candidates are sorted.
//!
//! The result does not depend on the sample. If it misleads, so that there are fewer than `k` candidates, the pass is repeated
//! without its bound. Each step takes O(n) time for every input, and the sort of the result O(k log k).

use crate::cpu::candidates::{self, Bound, Candidates, Origin};
use crate::cpu::draw::Draw;
use crate::cpu::items::{Items, Keys, Numbers};
use crate::cpu::nth::nth;
use crate::cpu::sorts::{CpuSorts, sort_pairs};
use crate::cpu::tuning::FEW;
use crate::cpu::vector::Isa;
use crate::cpu::{Job, compare, counting, few, pairs};
use crate::key::{Bits, Transform};
use crate::parallel::{self, ITEMS_A_TASK};
use crate::ways::CpuWay;
use crate::{Error, Order, Report, TotalOrder};

/// One code in this many is sampled: of 10^7 codes 2,441, which takes 50 us of the 3 ms.
const SAMPLED: usize = 1 << 12;
/// The bounds of the sample's size.
const LEAST_SAMPLE: usize = 1 << 8;
const LARGEST_SAMPLE: usize = 1 << 14;

/// Writes the first `k` numbers, in their order or in any, where `k` is the length of `top`. `L` is the width of their codes in
/// registers. Numbers can be recovered from their codes.
pub(crate) fn numbers<B: CpuSorts, L: CpuSorts>(
    keys: &[B],
    top: &mut [B],
    transform: Transform<B>,
    sorted: bool,
    job: &Job,
) -> Result<Report, Error> {
    debug_assert!(B::WIDTH <= L::WIDTH && transform.is_bijection());
    let (items, k) = (Numbers { keys, transform }, top.len());
    let mut report = Report::default();
    let scratch = scratch_of_codes(keys.len(), k, size_of::<L>(), job.budget.threads);
    job.budget.scratch(scratch, "ask for fewer keys", &mut report)?;
    let candidates = find::<L, (), _>(&items, size_of_val(keys), k, job, &mut report)?;
    for (key, code) in top.iter_mut().zip(candidates.into_parts().0) {
        *key = transform.decode(B::from_low(code.low()));
    }
    if sorted {
        let job = Job { way: CpuWay::Distribute, ..*job };
        let sort = B::sort(top, transform, &job)?;
        report.scratch_peak = report.scratch_peak.max(sort.scratch_peak);
    }
    Ok(report)
}

/// The indices of the first `k` numbers, in their order or in any.
pub(crate) fn of_numbers<B: Bits, L: CpuSorts>(
    keys: &[B],
    transform: Transform<B>,
    k: usize,
    sorted: bool,
    job: &Job,
) -> Result<(Vec<usize>, Report), Error> {
    select::<L, _>(&Numbers { keys, transform }, size_of_val(keys), k, sorted, job)
}

/// The same for keys without a fixed-width code, strings included.
pub(crate) fn of_keys<K: TotalOrder>(
    keys: &[K],
    order: Order,
    k: usize,
    sorted: bool,
    job: &Job,
) -> Result<(Vec<usize>, Report), Error> {
    select::<u64, _>(&Keys { keys, order }, size_of_val(keys), k, sorted, job)
}

/// The most scratch for the first `k` of `n` numbers with codes of `code` bytes, besides that of the sort of the result, which
/// follows.
pub(crate) fn scratch_of_codes(n: usize, k: usize, code: usize, threads: usize) -> usize {
    candidates::scratch_of_codes(n, k, code).saturating_mul(copies(n, k, threads))
}

/// Candidates of several threads are brought together.
fn copies(n: usize, k: usize, threads: usize) -> usize {
    let threads = threads_for(n, k, threads);
    if threads > 1 { 2 * threads } else { 1 }
}

/// The most scratch for the indices of the first `k` of `n` keys with codes of `code` bytes, which may be their whole order.
pub(crate) fn scratch(n: usize, k: usize, code: usize, are_whole: bool, threads: usize) -> usize {
    let candidates = candidates::scratch(n, k, code, are_whole).saturating_mul(copies(n, k, threads));
    let counters = if code <= size_of::<u16>() { counting::scratch::<u16>() } else { 0 };
    let pairs = k.saturating_mul(code + size_of::<usize>());
    let sort = pairs.saturating_add(pairs::words(k, code)).saturating_add(counters);
    let ties = if are_whole {
        0
    } else {
        let threads = threads_for(n, k, threads);
        compare::scratch((size_of::<usize>() as u64).saturating_mul(k as u64), threads)
    };
    candidates.saturating_add(sort.max(ties as usize))
}

/// The threads that read the keys. Each finds up to `k` candidates, and one thread selects from all of them.
fn threads_for(n: usize, k: usize, threads: usize) -> usize {
    (n / k.saturating_mul(8).max(ITEMS_A_TASK)).clamp(1, threads.max(1))
}

fn select<L: CpuSorts, S: Items<L>>(
    items: &S,
    bytes: usize,
    k: usize,
    sorted: bool,
    job: &Job,
) -> Result<(Vec<usize>, Report), Error> {
    let mut report = Report::default();
    let scratch = scratch(items.len(), k, size_of::<L>(), S::HAS_WHOLE_CODES, job.budget.threads);
    job.budget.scratch(scratch, "ask for fewer keys", &mut report)?;
    let candidates = find::<L, usize, _>(items, bytes, k, job, &mut report)?;
    let (mut codes, mut indices) = candidates.into_parts();
    if sorted {
        let result = k * size_of::<usize>();
        report.phase("finish", result, result, || sort(items, &mut codes, &mut indices, job))?;
    }
    Ok((indices, report))
}

/// The first `k` items.
fn find<L: CpuSorts, O: Origin, S: Items<L>>(
    items: &S,
    bytes: usize,
    k: usize,
    job: &Job,
    report: &mut Report,
) -> Result<Candidates<L, O>, Error> {
    let (n, isa) = (items.len(), Isa::detect());
    if k == 0 {
        return Candidates::new(0, 0, Bound::None);
    }
    let threads = threads_for(n, k, job.budget.threads);
    let bound = report.phase("profile", 0, 0, || bound(items, k, isa));
    report.phase("distribute", bytes, k * (size_of::<L>() + size_of::<O>()), || {
        let mut candidates = read(items, k, bound, threads, isa)?;
        if candidates.len() < k {
            candidates = read(items, k, Bound::All, threads, isa)?;
        }
        candidates.keep_first(items, isa);
        Ok(candidates)
    })
}

/// A bound within which a sample shows that there are more than `k` items. `Bound::All` if it would not leave out many.
fn bound<L: Bits, S: Items<L>>(items: &S, k: usize, isa: Isa) -> Bound<L> {
    let n = items.len();
    let drawn = (n / SAMPLED).clamp(LEAST_SAMPLE, LARGEST_SAMPLE);
    // The number of sampled items among the first `k` is nearly a Poisson distribution. It exceeds its mean by this much in
    // less than one of 10^6 cases.
    let expected = drawn as f64 * k as f64 / n as f64;
    let rank = (expected + 5.0 * expected.sqrt() + 10.0) as usize;
    if n <= FEW || rank > drawn / 2 {
        return Bound::All;
    }
    let mut draw = Draw::new();
    let mut sample: Vec<L> = (0..drawn).map(|_| items.code(draw.below(n))).collect();
    Bound::UpTo(nth(&mut sample, rank, isa))
}

/// The candidates among all items.
fn read<L: Bits, O: Origin, S: Items<L>>(
    items: &S,
    k: usize,
    bound: Bound<L>,
    threads: usize,
    isa: Isa,
) -> Result<Candidates<L, O>, Error> {
    let n = items.len();
    if threads == 1 {
        let mut candidates = Candidates::new(n, k, bound)?;
        candidates.read(items, 0..n, isa);
        return Ok(candidates);
    }
    let parts = parallel::map(threads, 0..threads, |part| {
        let mut candidates = Candidates::new(n, k, bound)?;
        candidates.read(items, part * n / threads..(part + 1) * n / threads, isa);
        candidates.keep_first(items, isa);
        Ok(candidates)
    });
    Candidates::join(parts.into_iter().collect::<Result<_, Error>>()?)
}

/// Sorts the result. Its indices ascend, so a stable sort puts the smaller index of equal keys first.
fn sort<L: CpuSorts, S: Items<L>>(
    items: &S,
    codes: &mut [L],
    indices: &mut [usize],
    job: &Job,
) -> Result<(), Error> {
    if codes.len() <= FEW {
        few::sort_pairs(codes, indices, Transform::IDENTITY);
    } else {
        // The scratch has been counted.
        let budget = crate::request::Budget::of_threads(job.budget.threads);
        let job = Job { way: CpuWay::Distribute, stable: true, budget };
        sort_pairs(codes, indices, Transform::IDENTITY, &job)?;
    }
    if S::HAS_WHOLE_CODES {
        return Ok(());
    }
    let mut rest = indices;
    for tie in codes.chunk_by(|a, b| a == b) {
        let (indices, after) = rest.split_at_mut(tie.len());
        if tie.len() > 1 {
            indices.sort_by(|&a, &b| items.compare(a, b));
        }
        rest = after;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;
    use std::ops::Range;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use super::*;
    use crate::cpu::vector::BLOCK;
    use crate::request::Budget;

    /// Items of which the sample sees only the least code.
    struct Misleading {
        codes: Vec<u32>,
        /// Codes that the sample has yet to draw.
        drawn: AtomicUsize,
    }

    impl Items<u32> for Misleading {
        const HAS_WHOLE_CODES: bool = true;
        fn len(&self) -> usize {
            self.codes.len()
        }
        fn code(&self, index: usize) -> u32 {
            let drawn = self.drawn.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
            if drawn.is_ok() { 0 } else { self.codes[index] }
        }
        fn block<'a>(&'a self, block: Range<usize>, _: &'a mut [u32; BLOCK]) -> &'a [u32] {
            &self.codes[block]
        }
        fn transform(&self) -> Transform<u32> {
            Transform::IDENTITY
        }
        fn compare(&self, _: usize, _: usize) -> Ordering {
            unreachable!("the codes are the whole order")
        }
    }

    #[test]
    fn a_sample_that_misleads_changes_nothing() {
        let n = 100_000;
        let codes: Vec<u32> = (1..=n as u32).rev().collect();
        for threads in [1, 3] {
            let job = Job { way: CpuWay::Select, stable: true, budget: Budget::of_threads(threads) };
            for k in [1, 100, 5000] {
                let items = Misleading { codes: codes.clone(), drawn: LEAST_SAMPLE.into() };
                let (indices, _) = select::<u32, _>(&items, 4 * n, k, true, &job).unwrap();
                assert!(indices.into_iter().eq((n - k..n).rev()), "{k}");
                assert_eq!(items.drawn.into_inner(), 0, "the sample has another size");
            }
        }
    }
}
