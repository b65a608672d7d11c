//! Strings that are one run already: kept, or reversed.

use std::cmp::Ordering;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::{Sort, Strings};
use crate::parallel;
use crate::plan::STRINGS_A_TASK;
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
    /// The run that all items are, if they are one. Looks no further than the first item that is out of order; several
    /// threads look no further than the first stretch of each that has one.
    pub(super) fn run_of<P: Sync>(&self, items: &[P], depth: usize, work: Option<&Work>) -> Option<Run>
    where
        F: Strings<P>,
    {
        let order = |pair: &[P]| self.compare(&pair[0], &pair[1], depth);
        // Equal items at the start fit either direction. A whole stretch of them is taken to ascend.
        let level = items.windows(2).take(STRINGS_A_TASK).position(|pair| order(pair).is_ne());
        let Some(level) = level.filter(|&level| order(&items[level..level + 2]).is_gt()) else {
            let ascends = |pair: &[P]| order(pair).is_le();
            return all_neighbours(items, level.unwrap_or(0), work, ascends).then_some(Run::Ascending);
        };
        let ties = AtomicBool::new(level > 0);
        let falls = |pair: &[P]| match order(pair) {
            Ordering::Less => false,
            Ordering::Equal => {
                ties.store(true, Relaxed);
                true
            }
            Ordering::Greater => true,
        };
        all_neighbours(items, level, work, falls).then(|| Run::Descending { ties: ties.into_inner() })
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

/// Whether all neighbours from an item on are as `good` wants them: by the threads of a phase, or by this one alone.
fn all_neighbours<P: Sync>(
    items: &[P],
    from: usize,
    work: Option<&Work>,
    good: impl Fn(&[P]) -> bool + Sync,
) -> bool {
    let all = |from: usize, to: usize| items[from..to].windows(2).all(&good);
    let Some(work) = work else { return all(from, items.len()) };
    let first = items.len().min(from + STRINGS_A_TASK);
    // Most inputs break the run at once: no thread is woken for those.
    if !work.task(|| all(from, first)) {
        return false;
    }
    let starts = (first - 1..items.len() - 1).step_by(STRINGS_A_TASK);
    parallel::all(work.threads(), starts, |from| {
        work.task(|| all(from, items.len().min(from + STRINGS_A_TASK + 1)))
    })
}
