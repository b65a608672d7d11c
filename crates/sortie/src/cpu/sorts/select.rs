//! The keys at some indices of their order: profile, distribute, finish.
//!
//! 1. A sample bounds each wanted code.
//! 2. One pass sets apart the codes between the bounds (`bands.rs`).
//! 3. A selection finds the wanted ones among these.
//!
//! Few codes are copied, and partitioned at one index after the other. For many indices, a copy of the codes is sorted. Where the codes
//! are not the whole order of their keys, or indices of keys are asked for, another pass finds the key.

use std::cmp::Ordering;

use crate::cpu::Job;
use crate::cpu::bands::{self, Found};
use crate::cpu::items::{Items, Keys, Numbers, resized};
use crate::cpu::nth::nth_of_each;
use crate::cpu::sorts::CpuSorts;
use crate::cpu::vector::{self, BLOCK, Isa};
use crate::key::{Bits, Transform};
use crate::parallel::ITEMS_A_TASK;
use crate::ways::CpuWay;
use crate::{Error, Order, Report, TotalOrder, scratch as memory};

/// Up to this many codes are copied. A sample of them would not leave out enough.
const COPIED: usize = 1 << 15;

/// The most bands. Each adds 0.2 ns for a key of 32 bits and 0.35 ns for one of 64; to sort 10^7 of them takes 4.3 and 10 ns a key.
pub(crate) const BANDS: usize = 16;

/// The numbers at these indices of the order, which ascend. `L` is the width of their codes in registers. Numbers can be recovered from
/// their codes.
pub(crate) fn numbers<B: CpuSorts, L: CpuSorts>(
    keys: &[B],
    transform: Transform<B>,
    indices: &[usize],
    job: &Job,
) -> Result<(Vec<B>, Report), Error> {
    debug_assert!(B::WIDTH <= L::WIDTH && transform.is_bijection());
    let mut report = Report::default();
    let found = find::<L, _>(&Numbers { keys, transform }, indices, size_of_val(keys), job, &mut report)?;
    let decode = |found: Found<L>| transform.decode(resized(found.code));
    Ok((found.into_iter().map(decode).collect(), report))
}

/// The indices of numbers at these indices of the stable order.
pub(crate) fn of_numbers<B: Bits, L: CpuSorts>(
    keys: &[B],
    transform: Transform<B>,
    indices: &[usize],
    job: &Job,
) -> Result<(Vec<usize>, Report), Error> {
    select::<L, _>(&Numbers { keys, transform }, indices, size_of_val(keys), job)
}

/// The same for keys without a fixed-width code, strings included.
pub(crate) fn of_keys<K: TotalOrder>(
    keys: &[K],
    order: Order,
    indices: &[usize],
    job: &Job,
) -> Result<(Vec<usize>, Report), Error> {
    select::<u64, _>(&Keys { keys, order }, indices, size_of_val(keys), job)
}

/// Puts the numbers at these indices of the order there, lesser ones before them and greater ones after them.
pub(crate) fn partition<B: Bits>(
    keys: &mut [B],
    transform: Transform<B>,
    indices: &[usize],
) -> Result<Report, Error> {
    let (isa, bytes) = (Isa::detect(), size_of_val(keys));
    let mut report = Report::default();
    report.phase("distribute", bytes, bytes, || {
        vector::compiled_for!(isa, || transform.encode_slice(keys));
        nth_of_each(keys, indices, 0, isa);
        vector::compiled_for!(isa, || transform.decode_slice(keys));
    });
    Ok(report)
}

/// The same for items under a comparison. `from` is the index of the first.
pub(crate) fn partition_by<T>(
    items: &mut [T],
    indices: &[usize],
    from: usize,
    compare: &impl Fn(&T, &T) -> Ordering,
) {
    let half = indices.len() / 2;
    let Some(&index) = indices.get(half) else { return };
    let (less, _, others) = items.select_nth_unstable_by(index - from, compare);
    partition_by(less, &indices[..half], from, compare);
    partition_by(others, &indices[half + 1..], index + 1, compare);
}

/// The most scratch for the keys at some indices, in this many bands, or for their indices, if codes have `code` bytes and may be the
/// whole order. For more than [`BANDS`], the sort of a copy takes more.
pub(crate) fn scratch(n: usize, bands: usize, code: usize, are_whole: bool, threads: usize) -> usize {
    let codes = if is_copied(n, bands) {
        n.saturating_mul(code)
    } else {
        bands::scratch(n, bands, code, threads_for(n, threads))
    };
    let ties = if are_whole { 0 } else { n.saturating_mul(size_of::<usize>()) };
    codes.max(ties)
}

fn is_copied(n: usize, bands: usize) -> bool {
    n <= COPIED || bands > BANDS
}

fn threads_for(n: usize, threads: usize) -> usize {
    (n / ITEMS_A_TASK).clamp(1, threads.max(1))
}

/// The codes at these indices of the order.
fn find<L: CpuSorts, S: Items<L>>(
    items: &S,
    indices: &[usize],
    bytes: usize,
    job: &Job,
    report: &mut Report,
) -> Result<Vec<Found<L>>, Error> {
    let (n, isa, bands) = (items.len(), Isa::detect(), bands::pairs(indices).count());
    let scratch = scratch(n, bands, size_of::<L>(), S::HAS_WHOLE_CODES, job.budget.threads);
    job.budget.scratch(scratch, "ask for fewer keys at once, or sort with a sort", report)?;
    if !is_copied(n, bands) {
        let threads = threads_for(n, job.budget.threads);
        let results = size_of_val(indices);
        return report.phase("distribute", bytes, results, || bands::find(items, indices, threads, isa));
    }
    let mut scratch_peak = 0;
    let found = report.phase("distribute", bytes, n * size_of::<L>(), || {
        let mut codes: Vec<L> = memory::reserve(n)?;
        let (mut room, transform) = ([L::ZERO; BLOCK], items.transform());
        for start in (0..n).step_by(BLOCK) {
            let keys = items.block(start..n.min(start + BLOCK), &mut room);
            vector::compiled_for!(isa, || codes.extend(keys.iter().map(|&key| transform.encode(key))));
        }
        if bands > BANDS {
            let job = Job { way: CpuWay::Distribute, ..job.holding(n * size_of::<L>()) };
            let sort = L::sort(&mut codes, Transform::IDENTITY, &job)?;
            scratch_peak = sort.scratch_peak;
        } else {
            nth_of_each(&mut codes, indices, 0, isa);
        }
        Ok::<_, Error>(bands::found_at(&codes, indices).collect())
    })?;
    report.scratch_peak = report.scratch_peak.max(scratch_peak);
    Ok(found)
}

/// The indices of the items at these indices of the stable order.
fn select<L: CpuSorts, S: Items<L>>(
    items: &S,
    indices: &[usize],
    bytes: usize,
    job: &Job,
) -> Result<(Vec<usize>, Report), Error> {
    let mut report = Report::default();
    let found = find(items, indices, bytes, job, &mut report)?;
    let selected = report.phase("finish", bytes, 0, || {
        let ranked = indices.iter().zip(found);
        ranked.map(|(&index, found)| locate(items, found.code, index - found.less)).collect::<Result<_, _>>()
    })?;
    Ok((selected, report))
}

/// The index of the item that a stable sort puts at index `tie` of those with this code.
fn locate<L: Bits, S: Items<L>>(items: &S, code: L, tie: usize) -> Result<usize, Error> {
    let (n, isa) = (items.len(), Isa::detect());
    let (mut room, transform) = ([L::ZERO; BLOCK], items.transform());
    let (mut before, mut ties) = (0, Vec::new());
    for start in (0..n).step_by(BLOCK) {
        let keys = items.block(start..n.min(start + BLOCK), &mut room);
        let is_tied = |key: &L| transform.encode(*key) == code;
        let count =
            vector::compiled_for!(isa, || keys.iter().map(|key| usize::from(is_tied(key))).sum::<usize>());
        let tied = || keys.iter().enumerate().filter(|(_, key)| is_tied(key)).map(|(at, _)| start + at);
        if S::HAS_WHOLE_CODES && before + count > tie {
            return Ok(tied().nth(tie - before).expect("they were counted"));
        }
        before += count;
        if !S::HAS_WHOLE_CODES && count > 0 {
            ties.try_reserve(count).map_err(|_| memory::refused(before * size_of::<usize>()))?;
            ties.extend(tied());
        }
    }
    let compare = |a: &usize, b: &usize| items.compare(*a, *b).then(a.cmp(b));
    Ok(*ties.select_nth_unstable_by(tie, compare).1)
}
