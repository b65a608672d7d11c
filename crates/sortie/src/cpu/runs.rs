//! Two runs: keys that ascend or descend up to some index and so again from there, or that have few others behind. They are merged.
//!
//! More runs than two are not looked for: to sort keys takes no longer than to merge those.

use std::ops::Range;

use super::vector::{self, Isa};
use crate::key::{Bits, Transform};
use crate::plan::{PROFILE_STRETCH, TAIL};

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
    /// Each key is less than the one before, so that to read them backwards is stable.
    Descending,
    /// Neither; they are few.
    Mixed,
}

/// The two runs of keys that have no more, if the first is long or the second is sorted too.
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
fn first_run<B: Bits>(keys: &[B], transform: Transform<B>) -> Run {
    let code = |key: B| transform.encode(key);
    let descends = keys.len() > 1 && code(keys[0]) > code(keys[1]);
    let end = if descends {
        end_of_run(keys, |a, b| code(a) > code(b))
    } else {
        end_of_run(keys, |a, b| code(a) <= code(b))
    };
    Run { range: 0..end, order: if descends { InRun::Descending } else { InRun::Ascending } }
}

/// How many keys are in order.
fn end_of_run<B: Bits>(keys: &[B], in_order: impl Fn(B, B) -> bool) -> usize {
    let stretches = || {
        let all = (0..keys.len()).step_by(PROFILE_STRETCH);
        all.take_while(|&start| {
            is_in_order(&keys[start..keys.len().min(start + PROFILE_STRETCH + 1)], &in_order)
        })
        .count()
    };
    let start = vector::compiled_for(Isa::detect(), stretches) * PROFILE_STRETCH;
    let rest = &keys[start.min(keys.len())..];
    let steps = rest.windows(2).take_while(|pair| in_order(pair[0], pair[1])).count();
    (start + steps + 1).min(keys.len())
}

/// Whether all neighbours are in order. Without a branch where that becomes vector instructions.
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
        // Without a branch: which run is next cannot be foretold.
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
