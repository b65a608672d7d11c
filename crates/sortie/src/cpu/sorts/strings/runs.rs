//! Handles strings that are already one run, which is kept or reversed, or that begin with a long run, which is merged
//! with the others.

use std::cmp::Ordering;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::{Sort, Strings, compare_bytes};
use crate::cpu::long_runs::is_long;
use crate::cpu::runs::merge_items;
use crate::cpu::tuning::STRINGS_A_TASK;
use crate::parallel;
use crate::report::Work;

/// Items in order, or in reverse.
pub(super) enum Run {
    Ascending,
    /// Each is at most the one before.
    Descending {
        /// Whether some are equal.
        ties: bool,
    },
}

impl<F> Sort<'_, F> {
    /// The run that all items form, if they do. Looks no further than the first item that is out of order. Several
    /// threads look no further than the first such stretch of each.
    pub(super) fn run_of<P: Sync>(&self, items: &[P], depth: usize, work: Option<&Work>) -> Option<Run>
    where
        F: Strings<P>,
    {
        let order = |a: &[u8], b: &[u8]| compare_bytes(a, b, self.descending);
        // Equal items at the start fit either direction. If a whole stretch is equal, the items are assumed to ascend.
        let start = items.len().min(STRINGS_A_TASK + 1);
        let level = self.in_a_row(&items[..start], depth, |a, b| a == b);
        let falls = level < start && self.compare(&items[level - 1], &items[level], depth).is_gt();
        let from = level.saturating_sub(1);
        if !falls {
            let ascends = |a: &[u8], b: &[u8]| order(a, b).is_le();
            return self.all_neighbours(items, depth, from, work, ascends).then_some(Run::Ascending);
        }
        let ties = AtomicBool::new(from > 0);
        let falls = |a: &[u8], b: &[u8]| match order(a, b) {
            Ordering::Less => false,
            Ordering::Equal => {
                ties.store(true, Relaxed);
                true
            }
            Ordering::Greater => true,
        };
        let all = self.all_neighbours(items, depth, from, work, falls);
        all.then(|| Run::Descending { ties: ties.into_inner() })
    }

    /// The longest run at the start of the items, and its length, if it should be merged with the others.
    pub(super) fn long_run<P>(&self, items: &[P], depth: usize) -> Option<(Run, usize)>
    where
        F: Strings<P>,
    {
        let (run, end) = self.first_run(items, depth);
        is_long(end, items.len()).then_some((run, end))
    }

    fn first_run<P>(&self, items: &[P], depth: usize) -> (Run, usize)
    where
        F: Strings<P>,
    {
        let order = |a: &[u8], b: &[u8]| compare_bytes(a, b, self.descending);
        let level = self.in_a_row(items, depth, |a, b| a == b);
        let from = level.saturating_sub(1);
        if level == items.len() || self.compare(&items[from], &items[level], depth).is_lt() {
            return (Run::Ascending, from + self.in_a_row(&items[from..], depth, |a, b| order(a, b).is_le()));
        }
        let mut ties = from > 0;
        let falls = |a: &[u8], b: &[u8]| {
            let order = order(a, b);
            ties |= order.is_eq();
            order.is_ge()
        };
        let end = from + self.in_a_row(&items[from..], depth, falls);
        (Run::Descending { ties }, end)
    }

    /// Merges `items[..start]` and `items[start..]`, each of which is sorted, using room for the shorter part. Stable.
    pub(super) fn merge<P>(&self, items: &mut [P], start: usize, depth: usize, room: &mut [MaybeUninit<P>])
    where
        F: Strings<P>,
    {
        merge_items(items, start, |a, b| self.compare(a, b, depth).is_lt(), room);
    }

    /// The length of the longest prefix in which all neighbours are `good`.
    fn in_a_row<P>(&self, items: &[P], depth: usize, mut good: impl FnMut(&[u8], &[u8]) -> bool) -> usize
    where
        F: Strings<P>,
    {
        let Some((first, rest)) = items.split_first() else { return 0 };
        let mut before = self.rest(first, depth);
        let steps = rest.iter().take_while(|item| {
            let string = self.rest(item, depth);
            good(std::mem::replace(&mut before, string), string)
        });
        1 + steps.count()
    }

    /// Whether all neighbours from an item on are `good`. Checked by the threads of a phase, or by this thread alone.
    fn all_neighbours<P: Sync>(
        &self,
        items: &[P],
        depth: usize,
        from: usize,
        work: Option<&Work>,
        good: impl Fn(&[u8], &[u8]) -> bool + Sync,
    ) -> bool
    where
        F: Strings<P>,
    {
        let all = |from: usize, to: usize| self.in_a_row(&items[from..to], depth, &good) == to - from;
        let Some(work) = work else { return all(from, items.len()) };
        let first = items.len().min(from + STRINGS_A_TASK);
        // Most inputs break the run at once. No thread is woken for those.
        if !work.task(|| all(from, first)) {
            return false;
        }
        let starts = (first - 1..items.len() - 1).step_by(STRINGS_A_TASK);
        parallel::all(work.threads(), starts, |from| {
            work.task(|| all(from, items.len().min(from + STRINGS_A_TASK + 1)))
        })
    }

    /// Puts a run in order. Stable.
    pub(super) fn straighten<P>(&self, items: &mut [P], run: &Run, depth: usize)
    where
        F: Strings<P>,
    {
        let Run::Descending { ties } = run else { return };
        items.reverse();
        if *ties {
            let equal = |a: &P, b: &P| self.compare(a, b, depth).is_eq();
            items.chunk_by_mut(equal).for_each(<[P]>::reverse);
        }
    }
}
