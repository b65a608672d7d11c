//! Items that begin with a long run: the others are sorted by themselves, and then both are merged.

use std::mem::MaybeUninit;

use crate::cpu::few;
use crate::cpu::runs::{InRun, Run, merge_items};
use crate::cpu::tuning::{COMPARED, FEW};
use crate::key::{Bits, Transform};

/// The longest run that items begin with. For a stable sort, no two items of a descending run are equal.
#[inline]
pub(crate) fn first_run<const STABLE: bool, T>(items: &[T], less: impl Fn(&T, &T) -> bool) -> Run {
    let ascending = items.windows(2).take_while(|pair| !less(&pair[1], &pair[0])).count();
    let end = (ascending + 1).min(items.len());
    // Equal items at the start fit either direction, unless they have to keep their order.
    let ascends = if STABLE { end > 1 } else { end > 1 && less(&items[0], &items[end - 1]) };
    if ascends || end == items.len() {
        return Run { range: 0..end, order: InRun::Ascending };
    }
    let falls = |pair: &&[T]| if STABLE { less(&pair[1], &pair[0]) } else { !less(&pair[0], &pair[1]) };
    let descending = items[end - 1..].windows(2).take_while(falls).count();
    Run { range: 0..end + descending, order: InRun::Descending }
}

/// Whether it takes less time to merge the first `end` of `n` items, which are a run, with the others than to sort all of them.
pub(crate) fn is_long(end: usize, n: usize) -> bool {
    end >= n / if n <= COMPARED { LONG_OF_FEW } else { LONG_RUN }
}

/// A run is long if it has at least 1/`LONG_RUN` of the items; of up to [`COMPARED`] items, 1/`LONG_OF_FEW`.
const LONG_RUN: usize = 6;
const LONG_OF_FEW: usize = 2;

/// The number of items of scratch memory that are needed to merge a run of `end` items with the other `n - end`.
pub(crate) fn merge_room(end: usize, n: usize) -> usize {
    if are_inserted(end, n) { 0 } else { end.min(n - end) }
}

/// Whether what follows a run is so little that each item is inserted into it.
fn are_inserted(end: usize, n: usize) -> bool {
    n <= FEW && few::are_inserted(end, n)
}

/// Sorts items that begin with a run: sorts the others with `sort`, and merges both by way of the room, see [`merge_room`]. If
/// `less` panics, the items are a permutation of what they were.
pub(crate) fn sort_after_run<T>(
    items: &mut [T],
    run: &Run,
    less: impl Fn(&T, &T) -> bool,
    room: &mut [MaybeUninit<T>],
    sort: impl FnOnce(&mut [T]),
) {
    if !insert_others(items, run, &less) {
        sort(&mut items[run.range.end..]);
        merge_items(items, run.range.end, less, room);
    }
}

/// Sorts up to [`FEW`] items if they begin with a long run, with `sort` for the others, and returns whether they do.
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
    if !insert_others(items, &run, &less) {
        sort(&mut items[end..]);
        merge_few(items, end, less);
    }
    true
}

/// Puts a run in ascending order, and inserts the items that follow it, if they are few. Returns whether they are.
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

/// Merges two sorted parts by way of the stack, if there is room for the shorter. In a function of its own, which calls no sort: sorts
/// call each other, and each would hold that room.
#[inline(never)]
fn merge_few<T>(items: &mut [T], start: usize, less: impl Fn(&T, &T) -> bool) {
    let room = merge_room(start, items.len());
    if const { size_of::<T>() <= ROOM_ON_STACK_BYTES / ROOM_ON_STACK } && room <= ROOM_ON_STACK {
        merge_items(items, start, less, &mut [const { MaybeUninit::uninit() }; ROOM_ON_STACK]);
    } else {
        merge_items(items, start, less, Vec::with_capacity(room).spare_capacity_mut());
    }
}

/// Items for which there is room on the stack, and their bytes at most.
const ROOM_ON_STACK: usize = 64;
const ROOM_ON_STACK_BYTES: usize = 4 << 10;

/// The comparison of integers under a transform, named by the caller. It is chosen here once, not again for every key.
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

/// [`first_run`] of integers, whose sorts need not be stable.
pub(crate) fn first_run_of_integers<B: Bits>(keys: &[B], transform: Transform<B>) -> Run {
    with_less!(transform, |less| first_run::<false, B>(keys, less))
}

/// [`sort_few`] of integers.
pub(crate) fn sort_few_integers<B: Bits>(
    keys: &mut [B],
    transform: Transform<B>,
    sort: impl FnOnce(&mut [B]),
) -> bool {
    with_less!(transform, |less| sort_few::<false, B>(keys, less, sort))
}

/// [`sort_after_run`] of integers.
pub(crate) fn sort_integers_after_run<B: Bits>(
    keys: &mut [B],
    run: &Run,
    transform: Transform<B>,
    room: &mut [MaybeUninit<B>],
    sort: impl FnOnce(&mut [B]),
) {
    with_less!(transform, |less| sort_after_run(keys, run, less, room, sort));
}
