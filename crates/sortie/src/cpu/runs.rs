//! Finds two runs and merges them: keys that ascend or descend up to some index and again from there, or that have few
//! others after them.
//!
//! It does not look for more than two: sorting takes no longer than merging those.

use std::mem::MaybeUninit;
use std::ops::Range;

use super::few::fill;
use super::vector::{self, Isa};
use crate::key::{Bits, Transform};
use crate::plan::TAIL;

/// A stretch of keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    pub range: Range<usize>,
    pub order: InRun,
}

/// How the keys of a run follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InRun {
    Ascending,
    /// Each key is less than the one before, so that reading them backwards is stable.
    Descending,
    /// Neither; they are few.
    Mixed,
}

/// Keys as two runs, if the second is sorted too or has few keys.
pub(crate) fn two<B: Bits>(keys: &[B], transform: Transform<B>) -> Option<[Run; 2]> {
    let first = first_run(keys, transform);
    let (start, n) = (first.range.end, keys.len());
    let second = first_run(&keys[start..], transform);
    if second.range.end == n - start {
        return Some([first, Run { range: start..n, order: second.order }]);
    }
    (n - start <= n / TAIL).then_some([first, Run { range: start..n, order: InRun::Mixed }])
}

/// The longest run that begins with the first key.
pub(crate) fn first_run<B: Bits>(keys: &[B], transform: Transform<B>) -> Run {
    // The transform is chosen here once, not again for every key.
    if transform.is_integer() {
        first_run_of_codes(keys, |key| transform.encode_integer(key))
    } else {
        first_run_of_codes(keys, |key| transform.encode(key))
    }
}

fn first_run_of_codes<B: Bits>(keys: &[B], code: impl Fn(B) -> B) -> Run {
    let descends = keys.len() > 1 && code(keys[0]) > code(keys[1]);
    let end = if descends {
        end_of_run(keys, |a, b| code(a) > code(b))
    } else {
        end_of_run(keys, |a, b| code(a) <= code(b))
    };
    Run { range: 0..end, order: if descends { InRun::Descending } else { InRun::Ascending } }
}

/// How many of the first keys are in order.
#[inline]
pub(crate) fn end_of_run<B: Bits>(keys: &[B], in_order: impl Fn(B, B) -> bool) -> usize {
    // Most runs end at once.
    let start = keys.len().min(LOOKED_AT_ONE_BY_ONE);
    let end = in_a_row(&keys[..start], &in_order);
    if end < start || end == keys.len() { end } else { end_of_long_run(keys, start - 1, &in_order) }
}

/// Keys at the start of a run that are compared one by one.
const LOOKED_AT_ONE_BY_ONE: usize = 16;

/// Keys of a run that are compared before each check whether it ended.
const RUN_STRETCH: usize = 64;

/// [`end_of_run`] of keys that are in order up to index `start`.
#[inline(never)]
fn end_of_long_run<B: Bits>(keys: &[B], start: usize, in_order: &impl Fn(B, B) -> bool) -> usize {
    let stretches = || {
        let starts = (start..keys.len() - 1).step_by(RUN_STRETCH);
        starts.take_while(|&i| is_in_order(&keys[i..keys.len().min(i + RUN_STRETCH + 1)], in_order)).count()
    };
    let start = start + vector::compiled_for!(Isa::detect(), stretches) * RUN_STRETCH;
    if start < keys.len() { start + in_a_row(&keys[start..], in_order) } else { keys.len() }
}

/// How many of the first keys are in order, compared one by one.
#[inline]
fn in_a_row<B: Bits>(keys: &[B], in_order: impl Fn(B, B) -> bool) -> usize {
    let steps = keys.iter().zip(keys.iter().skip(1)).take_while(|&(&a, &b)| in_order(a, b)).count();
    (steps + 1).min(keys.len())
}

/// Whether all neighbours are in order. Without a branch, where that lets the compiler use vector instructions.
#[inline(always)]
pub(crate) fn is_in_order<B: Bits>(keys: &[B], in_order: impl Fn(B, B) -> bool) -> bool {
    if B::WIDTH > 64 {
        return keys.is_sorted_by(|&a, &b| in_order(a, b));
    }
    let Some((_, right)) = keys.split_first() else { return true };
    let mut broken = false;
    for (&a, &b) in keys.iter().zip(right) {
        broken |= !in_order(a, b);
    }
    !broken
}

/// Calls `put(to, from)` for each index in the order of two sorted runs. Stable; each index comes once.
#[inline(always)]
pub(crate) fn merge<B: Bits>(runs: &[Run; 2], code: impl Fn(usize) -> B, mut put: impl FnMut(usize, usize)) {
    let [mut a, mut b] = [Cursor::of(&runs[0]), Cursor::of(&runs[1])];
    let mut to = 0;
    while a.left > 0 && b.left > 0 {
        // Without a branch: which run is next cannot be predicted.
        let second = code(b.at) < code(a.at);
        put(to, if second { b.at } else { a.at });
        a.advance(usize::from(!second));
        b.advance(usize::from(second));
        to += 1;
    }
    let rest = if a.left > 0 { &mut a } else { &mut b };
    while rest.left > 0 {
        put(to, rest.at);
        rest.advance(1);
        to += 1;
    }
}

/// Merges two runs of keys in place, by way of room for the shorter.
pub(crate) fn merge_in_place<B: Bits>(
    keys: &mut [B],
    runs: &[Run; 2],
    transform: Transform<B>,
    room: &mut [MaybeUninit<B>],
) {
    for Run { range, order } in runs {
        if *order == InRun::Descending {
            keys[range.clone()].reverse();
        }
    }
    let start = runs[1].range.start;
    // The transform is chosen here once, not again for every key.
    if transform.is_integer() {
        merge_at(keys, start, |key| transform.encode_integer(key), room);
    } else if transform.is_plain_float() {
        merge_at(keys, start, |key| transform.encode_plain_float(key), room);
    } else {
        merge_at(keys, start, |key| transform.encode(key), room);
    }
}

/// Merges the keys before `start` with those from it on.
fn merge_at<B: Bits>(keys: &mut [B], start: usize, code: impl Fn(B) -> B, room: &mut [MaybeUninit<B>]) {
    if start <= keys.len() - start {
        merge_forwards(keys, start, code, room);
    } else {
        merge_backwards(keys, start, code, room);
    }
}

/// The first run waits in the room.
fn merge_forwards<B: Bits>(keys: &mut [B], start: usize, code: impl Fn(B) -> B, room: &mut [MaybeUninit<B>]) {
    let first = fill(room, keys[..start].iter().copied());
    let (mut a, mut b) = (0, start);
    while a < first.len() && b < keys.len() {
        // Without a branch: which run is next cannot be predicted.
        let second = code(keys[b]) < code(first[a]);
        keys[a + b - start] = if second { keys[b] } else { first[a] };
        a += usize::from(!second);
        b += usize::from(second);
    }
    let to = a + b - start;
    keys[to..][..first.len() - a].copy_from_slice(&first[a..]);
}

/// The second run waits in the room.
fn merge_backwards<B: Bits>(
    keys: &mut [B],
    start: usize,
    code: impl Fn(B) -> B,
    room: &mut [MaybeUninit<B>],
) {
    let second = fill(room, keys[start..].iter().copied());
    let (mut a, mut b) = (start, second.len());
    while a > 0 && b > 0 {
        let first = code(keys[a - 1]) > code(second[b - 1]);
        keys[a + b - 1] = if first { keys[a - 1] } else { second[b - 1] };
        a -= usize::from(first);
        b -= usize::from(!first);
    }
    keys[..b].copy_from_slice(&second[..b]);
}

/// Where a merge is in a run.
struct Cursor {
    at: usize,
    /// 1 forwards, -1 backwards.
    step: usize,
    left: usize,
}

impl Cursor {
    fn of(run: &Run) -> Self {
        let Run { range, order } = run;
        match order {
            InRun::Descending => Cursor { at: range.end - 1, step: usize::MAX, left: range.len() },
            InRun::Ascending | InRun::Mixed => Cursor { at: range.start, step: 1, left: range.len() },
        }
    }

    #[inline(always)]
    fn advance(&mut self, by: usize) {
        self.at = self.at.wrapping_add(self.step.wrapping_mul(by));
        self.left -= by;
    }
}
