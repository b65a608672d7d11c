//! Sorts items that begin with long runs: the other items are sorted separately, and then all are merged.

use std::mem::MaybeUninit;

use crate::cpu::runs::{InRun, Run, merge_items};
use crate::cpu::tuning::COMPARED;
#[cfg(doc)]
use crate::cpu::tuning::FEW;
use crate::key::{Bits, Transform};

/// The runs with which the items begin, one after the other.
pub(crate) struct LongRuns {
    ends: [usize; MOST_RUNS],
    count: usize,
    /// A bit for each run: whether it descends.
    descend: u64,
}

/// The maximum number of runs that are merged.
pub(crate) const MOST_RUNS: usize = u64::BITS as usize;

impl LongRuns {
    /// The runs, if merging them with the other items takes less time than sorting everything. For a stable sort, no
    /// two items of a descending run are equal.
    #[inline]
    pub(crate) fn of<const STABLE: bool, T>(
        items: &[T],
        most: usize,
        less: impl Fn(&T, &T) -> bool,
    ) -> Option<Self> {
        let first = first_run::<STABLE, T>(items, &less);
        let n = items.len();
        let most = (n / SHORT_RUN).clamp(1, most);
        let end = first.range.end;
        if !is_long(end, n) && end < n / most && !looks_in_order(items, &less) {
            return None;
        }
        let mut runs = LongRuns { ends: [0; MOST_RUNS], count: 0, descend: 0 };
        runs.push(&first);
        while runs.len() < n && runs.count < most {
            runs.push(&first_run::<STABLE, T>(&items[runs.len()..], &less));
        }
        is_long(runs.len(), n).then_some(runs)
    }

    /// Adds a run. Its range counts from the end of the last one.
    fn push(&mut self, run: &Run) {
        self.ends[self.count] = self.len() + run.range.end;
        self.descend |= u64::from(run.order == InRun::Descending) << self.count;
        self.count += 1;
    }

    /// The number of items in the runs.
    fn len(&self) -> usize {
        self.ends[..self.count].last().copied().unwrap_or(0)
    }

    /// Whether `n` items are a single run.
    pub(crate) fn is_one(&self, n: usize) -> bool {
        self.ends[0] == n
    }

    /// The number of items of scratch memory that are needed to merge the runs with the others of `n` items.
    pub(crate) fn room(&self, n: usize) -> usize {
        self.parts(n, |ends| merge_room(0, ends))
    }

    /// Calls `work` with the ends of the runs and of the other items, if there are any.
    fn parts<R>(&self, n: usize, work: impl FnOnce(&[usize]) -> R) -> R {
        let mut ends = [n; MOST_RUNS + 1];
        ends[..self.count].copy_from_slice(&self.ends[..self.count]);
        work(&ends[..self.count + usize::from(self.len() < n)])
    }

    /// Sorts the items: sorts the others with `sort`, and merges everything using the room, see [`LongRuns::room`]. If
    /// `less` panics, the items are a permutation of what they were.
    pub(crate) fn sort<T>(
        &self,
        items: &mut [T],
        less: impl Fn(&T, &T) -> bool,
        room: &mut [MaybeUninit<T>],
        sort: impl FnOnce(&mut [T]),
    ) {
        let mut start = 0;
        for (i, &end) in self.ends[..self.count].iter().enumerate() {
            if self.descend >> i & 1 == 1 {
                items[start..end].reverse();
            }
            start = end;
        }
        if start < items.len() {
            sort(&mut items[start..]);
        }
        self.parts(items.len(), |ends| merge(items, 0, ends, &less, room));
    }
}

/// The longest run at the start of the items. For a stable sort, no two items of a descending run are equal.
#[inline]
pub(crate) fn first_run<const STABLE: bool, T>(items: &[T], less: impl Fn(&T, &T) -> bool) -> Run {
    let ascending = items.windows(2).take_while(|pair| !less(&pair[1], &pair[0])).count();
    let end = (ascending + 1).min(items.len());
    // Equal items at the start fit either direction, unless the sort is stable.
    let ascends = if STABLE { end > 1 } else { end > 1 && less(&items[0], &items[end - 1]) };
    if ascends || end == items.len() {
        return Run { range: 0..end, order: InRun::Ascending };
    }
    let falls = |pair: &&[T]| if STABLE { less(&pair[1], &pair[0]) } else { !less(&pair[0], &pair[1]) };
    let descending = items[end - 1..].windows(2).take_while(falls).count();
    Run { range: 0..end + descending, order: InRun::Descending }
}

/// Whether merging the first `end` of `n` items, which are long runs, with the others takes less time than sorting all
/// of them.
pub(crate) fn is_long(end: usize, n: usize) -> bool {
    end >= n / if n <= COMPARED { LONG_OF_FEW } else { LONG }
}

/// Runs are long if they have at least 1/`LONG` of the items; of up to [`COMPARED`] items, 1/`LONG_OF_FEW`.
const LONG: usize = 6;
const LONG_OF_FEW: usize = 2;

/// The minimum average length of several runs; shorter ones are sorted in less time. For 128-bit keys or elements with
/// a key, merging seven runs takes as long as sorting at 1,000 items, and two thirds of that time at 3,000.
const SHORT_RUN: usize = 256;

/// Whether items at equal distances are in order. There may then be long runs although the first one is short.
fn looks_in_order<T>(items: &[T], less: impl Fn(&T, &T) -> bool) -> bool {
    let apart = items.len() / LOOKS;
    (1..LOOKS).all(|i| !less(&items[i * apart], &items[(i - 1) * apart]))
}

const LOOKS: usize = 16;

/// Merges neighbouring sorted parts of items, the first of which begins at `start`. Merges two halves with about the
/// same number of items, recursively.
fn merge<T>(
    items: &mut [T],
    start: usize,
    ends: &[usize],
    less: &impl Fn(&T, &T) -> bool,
    room: &mut [MaybeUninit<T>],
) {
    let Some((first, second)) = halves(start, ends) else { return };
    let (middle, end) = (first[first.len() - 1], second[second.len() - 1]);
    merge(items, start, first, less, room);
    merge(items, middle, second, less, room);
    merge_items(&mut items[start..end], middle - start, less, room);
}

/// The number of items of scratch memory that [`merge`] needs.
fn merge_room(start: usize, ends: &[usize]) -> usize {
    let Some((first, second)) = halves(start, ends) else { return 0 };
    let (middle, end) = (first[first.len() - 1], second[second.len() - 1]);
    (middle - start).min(end - middle).max(merge_room(start, first)).max(merge_room(middle, second))
}

/// The ends of the parts before and after the part boundary that is nearest to the middle. `None` if there is only one
/// part.
fn halves(start: usize, ends: &[usize]) -> Option<(&[usize], &[usize])> {
    let [inner @ .., end] = ends else { return None };
    let middle = start.midpoint(*end);
    let nearest = (0..inner.len()).min_by_key(|&i| inner[i].abs_diff(middle))?;
    Some(ends.split_at(nearest + 1))
}

/// The most memory that a merge of up to [`FEW`] items takes, as the documentation of the crate promises. Larger items take less
/// time to sort than to merge: a merge moves them twice.
const MERGE_ROOM_BYTES: usize = 40 << 10;

/// If up to [`FEW`] items begin with a long run, sorts them, with `sort` for the other items. Returns whether they are sorted;
/// if not, they are a permutation that is as good for a stable sort.
#[inline]
pub(crate) fn sort_few<const STABLE: bool, T>(
    items: &mut [T],
    less: impl Fn(&T, &T) -> bool,
    sort: impl FnOnce(&mut [T]),
) -> bool {
    let run = first_run::<STABLE, T>(items, &less);
    let end = run.range.end;
    if !is_long(end, items.len()) {
        return false;
    }
    if insert_others(items, &run, &less) {
        return true;
    }
    let merges = end.min(items.len() - end) * size_of::<T>() <= MERGE_ROOM_BYTES;
    if merges {
        sort(&mut items[end..]);
        merge_few(items, end, less);
    }
    merges
}

/// Puts a run in ascending order, and inserts the items after it if they are few. Returns whether they are.
fn insert_others<T>(items: &mut [T], run: &Run, less: impl Fn(&T, &T) -> bool) -> bool {
    let (start, n) = (run.range.end, items.len());
    if run.order == InRun::Descending {
        items[..start].reverse();
    }
    if !are_inserted(start, n) {
        return false;
    }
    for end in start..n {
        let (sorted, next) = items[..=end].split_at(end);
        let at = sorted.partition_point(|item| !less(&next[0], item));
        items[at..=end].rotate_right(1);
    }
    true
}

/// Whether the keys after an ascending run of `sorted` keys are few enough to be inserted into it.
pub(crate) fn are_inserted(sorted: usize, n: usize) -> bool {
    n - sorted <= 2 + n / 64
}

/// Merges two sorted parts using the stack, if there is room for the shorter. This is a separate function that calls no
/// sort, because sorts call each other, and each call would hold that room.
#[inline(never)]
fn merge_few<T>(items: &mut [T], start: usize, less: impl Fn(&T, &T) -> bool) {
    let room = start.min(items.len() - start);
    if const { size_of::<T>() <= ROOM_ON_STACK_BYTES / ROOM_ON_STACK } && room <= ROOM_ON_STACK {
        merge_items(items, start, less, &mut [const { MaybeUninit::uninit() }; ROOM_ON_STACK]);
    } else {
        merge_items(items, start, less, Vec::with_capacity(room).spare_capacity_mut());
    }
}

/// The maximum number of items for which there is room on the stack, and their maximum bytes.
const ROOM_ON_STACK: usize = 64;
const ROOM_ON_STACK_BYTES: usize = 4 << 10;

/// Calls the given code with the comparison of integers under a transform. Choosing it once, here, avoids a choice for
/// every key.
macro_rules! with_less {
    ($transform:expr, |$less:ident| $work:expr) => {
        if $transform.is_identity() {
            let $less = |a: &B, b: &B| a < b;
            $work
        } else if $transform.is_signed() {
            // Compiled to one signed comparison.
            let $less = |a: &B, b: &B| a.xor(B::SIGN) < b.xor(B::SIGN);
            $work
        } else {
            let $less = |a: &B, b: &B| $transform.encode_integer(*a) < $transform.encode_integer(*b);
            $work
        }
    };
}

/// [`LongRuns::of`] for integers, whose sorts need not be stable.
pub(crate) fn of_integers<B: Bits>(keys: &[B], transform: Transform<B>) -> Option<LongRuns> {
    with_less!(transform, |less| LongRuns::of::<false, B>(keys, MOST_RUNS, less))
}

/// [`sort_few`] for integers.
pub(crate) fn sort_few_integers<B: Bits>(
    keys: &mut [B],
    transform: Transform<B>,
    sort: impl FnOnce(&mut [B]),
) -> bool {
    with_less!(transform, |less| sort_few::<false, B>(keys, less, sort))
}

/// [`LongRuns::sort`] for integers.
pub(crate) fn sort_integers<B: Bits>(
    keys: &mut [B],
    runs: &LongRuns,
    transform: Transform<B>,
    room: &mut [MaybeUninit<B>],
    sort: impl FnOnce(&mut [B]),
) {
    with_less!(transform, |less| runs.sort(keys, less, room, sort));
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sorts by the first number of each pair, and compares with std's stable sort.
    fn check(mut items: Vec<(u32, usize)>) -> bool {
        items.iter_mut().enumerate().for_each(|(i, item)| item.1 = i);
        let mut expected = items.clone();
        expected.sort_by_key(|item| item.0);
        let less = |a: &(u32, usize), b: &(u32, usize)| a.0 < b.0;
        let Some(runs) = LongRuns::of::<true, _>(&items, MOST_RUNS, less) else { return false };
        let mut room = vec![MaybeUninit::uninit(); runs.room(items.len())];
        runs.sort(&mut items, less, &mut room, |others| others.sort_by_key(|item| item.0));
        assert_eq!(items, expected);
        true
    }

    /// A number that looks random.
    fn noise(i: usize) -> u32 {
        (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29).wrapping_mul(0xBF58_476D_1CE4_E5B9)
            as u32
    }

    #[test]
    fn runs_of_any_number_and_direction_are_merged() {
        for n in [300, 1000, 3000, 20_000] {
            for runs in 1..=MOST_RUNS.min(n / SHORT_RUN) {
                for distinct in [3, 50, u32::MAX] {
                    let mut items: Vec<_> = (0..n).map(|i| (noise(i) % distinct, 0)).collect();
                    for (i, run) in items.chunks_mut(n.div_ceil(runs)).enumerate() {
                        run.sort();
                        if i % 3 == 1 {
                            run.reverse();
                        }
                    }
                    let found = check(items);
                    assert!(found || distinct < n as u32, "{runs} runs of {n}");
                }
            }
        }
    }

    #[test]
    fn others_follow_runs() {
        for n in [20_000, 50_001] {
            for others in [1, 9, n / 3, n - n / 5] {
                for runs in [1, 2, 5] {
                    let mut items: Vec<_> = (0..n).map(|i| (noise(i), 0)).collect();
                    items[..n - others].chunks_mut((n - others).div_ceil(runs)).for_each(|run| run.sort());
                    assert!(check(items), "{runs} runs, and {others} of {n}");
                }
            }
        }
    }

    #[test]
    fn items_out_of_place_are_short_runs() {
        let mut items: Vec<_> = (0..10_000).map(|i| (i, 0)).collect();
        for i in 0..10 {
            items.swap(i * 900 + 1, 9999 - i * 70);
        }
        assert!(check(items));
    }

    #[test]
    fn random_items_have_no_long_runs() {
        for n in [100, 1000, 5000] {
            assert!(!check((0..n).map(|i| (noise(i), 0)).collect()));
        }
    }
}
