//! How many keys are in each bin between edges.
//!
//! Cells of equal width, in the codes or in the numbers that floats are, divide the order. A table has the number of edges before each cell.
//! A key is then compared with one edge, or searched among the edges of its cell, in the same number of steps for every key and without a
//! branch on the keys.

use std::hint::select_unpredictable;

use crate::cpu::Job;
use crate::cpu::search::{BATCH, search_batch};
use crate::key::{Bits, Transform};
use crate::parallel::{self, ITEMS_A_TASK};
use crate::{Order, Report, TotalOrder};

/// So many cells that most have no edge, but no more than keep their table in the first cache.
const CELLS_AN_EDGE: usize = 16;
const MOST_CELLS: usize = 1 << 13;

/// Equal neighbours would wait for the increment before, so keys take turns at some counters of a bin: a power of two.
const TABLES: usize = 4;
/// Counters of more bins would leave the second cache.
const SHARED_FROM: usize = 1 << 12;

/// The scratch of a count between this many edges in bytes, with cells of both kinds.
pub(crate) fn scratch<T>(edges: usize, threads: usize) -> usize {
    let counters = tables(edges) * (edges + 1) * size_of::<usize>();
    2 * (edges * size_of::<T>() + cells(edges) * size_of::<u32>()) + threads * counters
}

fn tables(edges: usize) -> usize {
    if edges < SHARED_FROM { TABLES } else { 1 }
}

fn cells(edges: usize) -> usize {
    (CELLS_AN_EDGE * edges).next_power_of_two().min(MOST_CELLS)
}

/// Writes how many numbers each bin has.
pub(crate) fn numbers<B: Bits>(
    keys: &[B],
    edges: &[B],
    transform: Transform<B>,
    counts: &mut [usize],
    job: &Job,
) -> Report {
    // Choosing the transform once, here, avoids a choice for every key.
    if const { B::OF_INTEGERS } || transform.is_integer() {
        of_codes(keys, edges, move |key| transform.encode_integer(key), counts, job)
    } else if transform.is_plain_float() {
        of_floats(keys, edges, move |key| transform.encode_plain_float(key), counts, job)
    } else {
        of_floats(keys, edges, move |key| transform.encode(key), counts, job)
    }
}

/// Counts floats by cells of numbers or of codes, whichever have fewer edges.
fn of_floats<B: Bits>(
    keys: &[B],
    edges: &[B],
    code: impl Fn(B) -> B + Sync + Copy,
    counts: &mut [usize],
    job: &Job,
) -> Report {
    // A NaN that is not after all bins would be in the wrong cell.
    let has_nan = edges.iter().any(|&edge| value(edge).is_nan());
    let lower = &edges[..edges.len().saturating_sub(1)];
    if !has_nan && let Some(cells) = ValueCells::of(lower) {
        let before = cells.before(lower);
        if before.most < Cells::of(lower, code).before(lower, code).most {
            let cell = move |key: B, _| cells.cell(value(key));
            return of_cells(keys, edges, code, &before, cell, counts, job);
        }
    }
    of_codes(keys, edges, code, counts, job)
}

/// Counts numbers by cells of codes.
fn of_codes<B: Bits>(
    keys: &[B],
    edges: &[B],
    code: impl Fn(B) -> B + Sync + Copy,
    counts: &mut [usize],
    job: &Job,
) -> Report {
    let lower = &edges[..edges.len().saturating_sub(1)];
    let cells = Cells::of(lower, code);
    let cell = move |_, code: B| cells.cell(code.left_aligned());
    of_cells(keys, edges, code, &cells.before(lower, code), cell, counts, job)
}

/// Counts numbers by their cells, each of which `cell` returns of a key and its code.
fn of_cells<B: Bits>(
    keys: &[B],
    edges: &[B],
    code: impl Fn(B) -> B + Sync + Copy,
    before: &Before,
    cell: impl Fn(B, B) -> usize + Sync + Copy,
    counts: &mut [usize],
    job: &Job,
) -> Report {
    let [lower @ .., last] = edges else { return Report::default() };
    // A search may go beyond the edges, by all that a cell has and one more.
    let beyond = std::iter::repeat_n(B::MAX, before.most + 1);
    let codes: Vec<B> = lower.iter().map(|&edge| code(edge)).chain(beyond).collect();
    let (codes, edges, last) = (&codes[..], &before.edges[..], code(*last));
    let key = move |i: usize| {
        let code = code(keys[i]);
        (code, edges[cell(keys[i], code)] as usize)
    };
    let begins = move |edge: usize, code: B| codes[edge] <= code;
    count(keys.len(), key, before.most, begins, move |code| code > last, counts, job)
}

/// The same for keys of other types.
pub(crate) fn keys<K: TotalOrder>(
    keys: &[K],
    edges: &[K],
    order: Order,
    counts: &mut [usize],
    job: &Job,
) -> Report {
    let [edges @ .., last] = edges else { return Report::default() };
    let begins = move |edge: usize, key: &K| edges[edge].compare(key, order).is_le();
    let is_after = move |key: &K| last.compare(key, order).is_lt();
    count(keys.len(), move |i| (&keys[i], 0), edges.len(), begins, is_after, counts, job)
}

/// The number that a float is; NaN for one of 16 bits. These have few codes, so that cells of codes are narrow enough.
#[inline(always)]
fn value<B: Bits>(key: B) -> f64 {
    match B::WIDTH {
        u32::BITS => f64::from(f32::from_bits(key.low() as u32)),
        u64::BITS => f64::from_bits(key.low()),
        _ => f64::NAN,
    }
}

/// How many edges come before each cell.
struct Before {
    edges: Vec<u32>,
    /// The most edges that one cell has.
    most: usize,
}

impl Before {
    /// Of edges in these cells, which ascend.
    fn new(cells: usize, of_edges: impl Iterator<Item = usize>) -> Before {
        let mut ends = vec![0u32; cells + 1];
        of_edges.for_each(|cell| ends[cell + 1] += 1);
        let most = ends.iter().copied().max().map_or(0, |most| most as usize);
        (0..cells).for_each(|cell| ends[cell + 1] += ends[cell]);
        Before { edges: ends, most }
    }
}

/// Cells of equal width in the codes, by their high bits.
#[derive(Clone, Copy)]
struct Cells {
    start: u64,
    shift: u32,
    last: usize,
}

impl Cells {
    /// Cells for edges in order.
    fn of<B: Bits>(edges: &[B], code: impl Fn(B) -> B) -> Cells {
        let count = cells(edges.len());
        let aligned = |edge: Option<&B>| edge.map_or(0, |&edge| code(edge).left_aligned());
        let (start, end) = (aligned(edges.first()), aligned(edges.last()));
        let shift = (u64::BITS - (end - start).leading_zeros()).saturating_sub(count.ilog2());
        Cells { start, shift, last: count - 1 }
    }

    fn before<B: Bits>(self, edges: &[B], code: impl Fn(B) -> B) -> Before {
        Before::new(self.last + 1, edges.iter().map(|&edge| self.cell(code(edge).left_aligned())))
    }

    #[inline(always)]
    fn cell(self, code: u64) -> usize {
        ((code.saturating_sub(self.start) >> self.shift) as usize).min(self.last)
    }
}

/// Cells of equal width in the numbers that floats are. Those of a descending order have a negative one.
#[derive(Clone, Copy)]
struct ValueCells {
    start: f64,
    scale: f64,
    last: usize,
}

impl ValueCells {
    /// Cells for edges in order; none unless two of them are different finite numbers.
    fn of<B: Bits>(edges: &[B]) -> Option<ValueCells> {
        let count = cells(edges.len());
        let mut finite = edges.iter().map(|&edge| value(edge)).filter(|edge| edge.is_finite());
        let (start, end) = (finite.next()?, finite.next_back()?);
        let scale = (count - 1) as f64 / (end - start);
        scale.is_normal().then_some(ValueCells { start, scale, last: count - 1 })
    }

    fn before<B: Bits>(self, edges: &[B]) -> Before {
        Before::new(self.last + 1, edges.iter().map(|&edge| self.cell(value(edge))))
    }

    /// NaN is in the first cell, although it may be after all bins.
    #[inline(always)]
    fn cell(self, value: f64) -> usize {
        (((value - self.start) * self.scale) as usize).min(self.last)
    }
}

/// Counts `n` keys.
///
/// - `key(i)`: key i, and a number of edges that are not after it; of others, at most the next `most` are not.
/// - `begins(edge, key)`: whether one of these is not after a key. It may be asked for one edge more.
/// - `is_after(key)`: whether a key is after the last bin.
fn count<T: Copy>(
    n: usize,
    key: impl Fn(usize) -> (T, usize) + Sync + Copy,
    most: usize,
    begins: impl Fn(usize, T) -> bool + Sync + Copy,
    is_after: impl Fn(T) -> bool + Sync + Copy,
    counts: &mut [usize],
    job: &Job,
) -> Report {
    let mut report = Report::default();
    counts.fill(0);
    if counts.is_empty() {
        return report;
    }
    let (bins, threads) = (counts.len(), job.budget.threads);
    let tables = tables(bins + 1);
    let part = n.div_ceil(threads.max(1)).max(ITEMS_A_TASK);
    let starts: Vec<usize> = (0..n).step_by(part).collect();
    report.phase("count", 0, 0, || {
        let parts = parallel::map(threads, &starts, |&start| {
            // What is copied here, the compiler knows to stay the same while counters change.
            let (key, begins, is_after) = (key, begins, is_after);
            // Before the first bin, each bin, and after the last.
            let mut counted = vec![0; tables * (bins + 2)];
            let mut add = |i: usize, begun: usize, key: T| {
                let slot = select_unpredictable(is_after(key), bins + 1, begun.min(bins));
                counted[slot * tables + (i & (tables - 1))] += 1;
            };
            let end = n.min(start + part);
            if most <= 1 {
                for i in start..end {
                    let (key, first) = key(i);
                    add(i, first + usize::from(begins(first, key)), key);
                }
                return counted;
            }
            let mut keys = [key(start).0; BATCH];
            let mut found = [0; BATCH];
            for start in (start..end).step_by(BATCH) {
                let batch = BATCH.min(end - start);
                (0..batch).for_each(|i| (keys[i], found[i]) = key(start + i));
                search_batch(&keys[..batch], &mut found, most, &begins);
                (0..batch).for_each(|i| add(i, found[i], keys[i]));
            }
            counted
        });
        for part in &parts {
            let slots = part.chunks(tables).skip(1);
            counts.iter_mut().zip(slots).for_each(|(count, slot)| *count += slot.iter().sum::<usize>());
        }
    });
    report
}
