//! Finds two runs and merges them. Two runs are keys that ascend or descend up to some index and again from there, or a
//! run followed by few other keys. Also merges two sorted parts of any items.
//!
//! It does not look for more than two runs of keys, because sorting takes no longer than merging those.

use std::mem::MaybeUninit;
use std::ops::Range;

use crate::cpu::room::fill;
use crate::cpu::tuning::{MERGED_KEY_PICOSECONDS, MOVED_KEY_PICOSECONDS, TAIL, sort_step_picoseconds};
use crate::cpu::vector::{self, Isa};
use crate::key::{Bits, Transform};

/// A range of keys in some order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Run {
    pub range: Range<usize>,
    pub order: InRun,
}

/// The order of the keys in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum InRun {
    Ascending,
    /// Each key is less than the one before, so reading them backwards is stable.
    Descending,
    /// Neither; they are few.
    Mixed,
}

/// Whether the keys are already one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Runs {
    /// Each key is at least the one before.
    Ascending,
    /// No key is greater than the one before.
    Descending,
    /// Neither.
    Mixed,
}

/// The keys as two runs, if the second is sorted too or has few keys.
pub(crate) fn two<B: Bits>(keys: &[B], transform: Transform<B>) -> Option<[Run; 2]> {
    let first = first_run(keys, transform);
    let (start, n) = (first.range.end, keys.len());
    let second = first_run(&keys[start..], transform);
    if second.range.end == n - start {
        return Some([first, Run { range: start..n, order: second.order }]);
    }
    (n - start <= n / TAIL).then_some([first, Run { range: start..n, order: InRun::Mixed }])
}

/// Whether one thread merges the runs faster than `threads` threads sort the keys with vectors. For keys without payload.
pub(crate) fn merge_pays<B: Bits>(
    keys: &[B],
    runs: &[Run; 2],
    transform: Transform<B>,
    isa: Isa,
    threads: usize,
) -> bool {
    let Some(step) = sort_step_picoseconds(isa, B::WIDTH) else { return true };
    let n = keys.len();
    let one_by_one = interleaved(keys, runs, transform).min(n);
    MERGED_KEY_PICOSECONDS * one_by_one + MOVED_KEY_PICOSECONDS * (n - one_by_one)
        < step * n.ilog2() as usize * n / threads
}

/// Estimates how many keys the merge compares one by one, from a few keys of the shorter run. The others move in blocks.
fn interleaved<B: Bits>(keys: &[B], runs: &[Run; 2], transform: Transform<B>) -> usize {
    let [first, second] = runs;
    if second.order == InRun::Mixed {
        return MERGED_AT_ONCE * second.range.len();
    }
    let (short, long) =
        if first.range.len() < second.range.len() { (first, second) } else { (second, first) };
    if short.range.is_empty() {
        return 0;
    }
    let code = |run: &Run, i: usize| {
        let Range { start, end } = run.range;
        transform.encode(keys[if run.order == InRun::Descending { end - 1 - i } else { start + i }])
    };
    // The number of keys in the longer run that are less than `bound`. There are at least `low`.
    let less = |bound: B, mut low: usize| {
        let mut high = long.range.len();
        while low < high {
            let middle = low.midpoint(high);
            if code(long, middle) < bound { low = middle + 1 } else { high = middle }
        }
        low
    };
    let (mut mixed, mut from) = (0, (0, less(code(short, 0), 0)));
    for part in 1..=INTERLEAVING_LOOKS {
        let i = short.range.len() * part / INTERLEAVING_LOOKS;
        let to = (i, less(code(short, i.saturating_sub(1)), from.1));
        let (of_short, of_long) = (to.0 - from.0, to.1 - from.1);
        mixed += (of_short + of_long).min(MERGED_AT_ONCE * of_short.min(of_long));
        from = to;
    }
    mixed
}

/// The number of keys of the shorter run that are examined.
const INTERLEAVING_LOOKS: usize = 4;

/// The longest run that starts with the first key.
pub(crate) fn first_run<B: Bits>(keys: &[B], transform: Transform<B>) -> Run {
    // Choosing the transform once, here, avoids a choice for every key.
    if const { B::OF_INTEGERS } || transform.is_integer() {
        first_run_of_codes(keys, |key| transform.encode_integer(key))
    } else {
        first_run_of_codes(keys, |key| transform.encode(key))
    }
}

fn first_run_of_codes<B: Bits>(keys: &[B], code: impl Fn(B) -> B) -> Run {
    let descends = keys.len() > 1 && code(keys[0]) > code(keys[1]);
    let end =
        if descends { end_of_run(keys, code, |a, b| a > b) } else { end_of_run(keys, code, |a, b| a <= b) };
    Run { range: 0..end, order: if descends { InRun::Descending } else { InRun::Ascending } }
}

/// How many keys at the start have codes in order.
#[inline]
pub(crate) fn end_of_run<B: Bits>(
    keys: &[B],
    code: impl Fn(B) -> B,
    in_order: impl Fn(B, B) -> bool,
) -> usize {
    // Most runs end at once.
    let start = keys.len().min(LOOKED_AT_ONE_BY_ONE);
    let end = in_a_row(&keys[..start], &code, &in_order);
    if end < start || end == keys.len() {
        end
    } else if keys.len() > RUN_STRETCH {
        end_of_long_run(keys, start - 1, &code, &in_order)
    } else if is_in_order(&keys[start - 1..], |a, b| in_order(code(a), code(b))) {
        keys.len()
    } else {
        start - 1 + in_a_row(&keys[start - 1..], &code, &in_order)
    }
}

/// The number of keys at the start of a run that are compared one by one.
const LOOKED_AT_ONE_BY_ONE: usize = 8;

/// The number of keys of a run that are compared before each check whether it has ended.
const RUN_STRETCH: usize = 64;

/// [`end_of_run`] for keys that are in order up to index `start`.
#[inline(never)]
fn end_of_long_run<B: Bits>(
    keys: &[B],
    start: usize,
    code: &impl Fn(B) -> B,
    in_order: &impl Fn(B, B) -> bool,
) -> usize {
    let neighbours = |a, b| in_order(code(a), code(b));
    let start = vector::compiled_for!(Isa::detect(), || {
        let mut i = start;
        while i < keys.len() - 1 && is_in_order(&keys[i..keys.len().min(i + RUN_STRETCH + 1)], neighbours) {
            i += RUN_STRETCH;
        }
        i
    });
    if start < keys.len() { start + in_a_row(&keys[start..], code, in_order) } else { keys.len() }
}

/// How many keys at the start have codes in order, compared one by one.
#[inline]
fn in_a_row<B: Bits>(keys: &[B], code: impl Fn(B) -> B, in_order: impl Fn(B, B) -> bool) -> usize {
    let Some((&first, rest)) = keys.split_first() else { return 0 };
    let mut before = code(first);
    for (i, &key) in rest.iter().enumerate() {
        let of_key = code(key);
        if !in_order(before, of_key) {
            return 1 + i;
        }
        before = of_key;
    }
    keys.len()
}

/// Whether all neighbours are in order. Without a branch if that lets the compiler use vector instructions.
#[inline(always)]
pub(crate) fn is_in_order<B: Bits>(keys: &[B], in_order: impl Fn(B, B) -> bool) -> bool {
    let mut broken = false;
    for i in 1..keys.len() {
        broken |= !in_order(keys[i - 1], keys[i]);
        if B::WIDTH > u64::BITS && broken {
            break;
        }
    }
    !broken
}

/// Calls `put(to, from)` for each index in the merged order of two runs. Stable. Each index occurs once.
#[inline(always)]
pub(crate) fn merge<B: Bits>(runs: &[Run; 2], code: impl Fn(usize) -> B, mut put: impl FnMut(usize, usize)) {
    let [mut a, mut b] = [Cursor::of(&runs[0]), Cursor::of(&runs[1])];
    let mut to = 0;
    while a.left > 0 && b.left > 0 {
        // Without a branch, because the next run cannot be predicted.
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

/// Merges two runs of keys in place, using room for the shorter run.
///
/// # Panics
/// If the room is too short. Nothing has moved then.
pub(crate) fn merge_in_place<B: Bits>(
    keys: &mut [B],
    runs: &[Run; 2],
    transform: Transform<B>,
    room: &mut [MaybeUninit<B>],
) {
    assert!(room.len() >= shorter(runs));
    for Run { range, order } in runs {
        if *order == InRun::Descending {
            keys[range.clone()].reverse();
        }
    }
    let isa = Isa::detect();
    vector::compiled_for!(isa, || transform.encode_slice(keys));
    merge_items(keys, runs[1].range.start, |a, b| a < b, room);
    vector::compiled_for!(isa, || transform.decode_slice(keys));
}

/// Merges `items[..start]` and `items[start..]`, each of which is sorted, using room for the shorter part. Stable. If
/// `less` panics, the items are a permutation of what they were.
///
/// # Panics
/// If the room is too short. Nothing has moved then.
pub(crate) fn merge_items<T>(
    items: &mut [T],
    start: usize,
    less: impl Fn(&T, &T) -> bool,
    room: &mut [MaybeUninit<T>],
) {
    assert!(start <= items.len());
    let (first, second) = (start, items.len() - start);
    assert!(room.len() >= first.min(second));
    let (at, room) = (items.as_mut_ptr(), room.as_mut_ptr().cast::<T>());
    // SAFETY: the room holds that many items and does not overlap them. From then on, each item is either in the slice
    // or waits in the room, for which the slice has a gap of the same length.
    unsafe {
        if first <= second {
            std::ptr::copy_nonoverlapping(at, room, first);
            let mut waiting = Waiting { from: room, left: first, to: at };
            merge_items_forwards(&mut waiting, at.add(first), at.add(items.len()), less);
        } else {
            std::ptr::copy_nonoverlapping(at.add(first), room, second);
            let mut waiting = Waiting { from: room, left: second, to: at.add(first) };
            merge_items_backwards(&mut waiting, at, less);
        }
    }
}

/// Items that wait in the room. When this is dropped, they fill the gap in the slice.
struct Waiting<T> {
    from: *const T,
    left: usize,
    to: *mut T,
}

impl<T> Drop for Waiting<T> {
    fn drop(&mut self) {
        // SAFETY: the gap has this length.
        unsafe { std::ptr::copy_nonoverlapping(self.from, self.to, self.left) };
    }
}

/// Merges the first part, which waits in the room, with the second.
///
/// # Safety
/// The second part is at `next..end`, directly after the gap, which is as long as the first part.
unsafe fn merge_items_forwards<T>(
    first: &mut Waiting<T>,
    mut next: *const T,
    end: *const T,
    less: impl Fn(&T, &T) -> bool,
) {
    // SAFETY: no more items of a part are read than are left, and the gap is as long as the waiting part.
    unsafe {
        while first.left > 0 && next < end {
            let of_first = first.left.min(MERGED_AT_ONCE);
            let of_second = (end.offset_from(next) as usize).min(MERGED_AT_ONCE);
            if less(&*next.add(of_second - 1), &*first.from) {
                std::ptr::copy(next, first.to, of_second);
                next = next.add(of_second);
                first.to = first.to.add(of_second);
            } else if !less(&*next, &*first.from.add(of_first - 1)) {
                std::ptr::copy_nonoverlapping(first.from, first.to, of_first);
                first.from = first.from.add(of_first);
                first.to = first.to.add(of_first);
                first.left -= of_first;
            } else {
                // Without a branch, because the next run cannot be predicted.
                let steps = if of_first.min(of_second) == MERGED_AT_ONCE { MERGED_AT_ONCE } else { 1 };
                for _ in 0..steps {
                    let second = less(&*next, &*first.from);
                    std::ptr::copy_nonoverlapping(if second { next } else { first.from }, first.to, 1);
                    next = next.add(usize::from(second));
                    first.from = first.from.add(usize::from(!second));
                    first.left -= usize::from(!second);
                    first.to = first.to.add(1);
                }
            }
        }
    }
}

/// Merges the second part, which waits in the room, with the first.
///
/// # Safety
/// The first part is from `start` up to the gap, which is as long as the second part.
unsafe fn merge_items_backwards<T>(second: &mut Waiting<T>, start: *const T, less: impl Fn(&T, &T) -> bool) {
    // SAFETY: no more items of a part are read than are left, and the gap is as long as the waiting part.
    unsafe {
        while second.left > 0 && start < second.to {
            let of_first = (second.to.cast_const().offset_from(start) as usize).min(MERGED_AT_ONCE);
            let of_second = second.left.min(MERGED_AT_ONCE);
            if less(&*second.from.add(second.left - 1), &*second.to.sub(of_first)) {
                second.to = second.to.sub(of_first);
                std::ptr::copy(second.to, second.to.add(second.left), of_first);
            } else if !less(&*second.from.add(second.left - of_second), &*second.to.sub(1)) {
                second.left -= of_second;
                let from = second.from.add(second.left);
                std::ptr::copy_nonoverlapping(from, second.to.add(second.left), of_second);
            } else {
                let steps = if of_first.min(of_second) == MERGED_AT_ONCE { MERGED_AT_ONCE } else { 1 };
                for _ in 0..steps {
                    let (last, to) = (second.from.add(second.left - 1), second.to.add(second.left - 1));
                    let first = less(&*last, &*second.to.sub(1));
                    let from = if first { second.to.sub(1).cast_const() } else { last };
                    std::ptr::copy_nonoverlapping(from, to, 1);
                    second.to = second.to.sub(usize::from(first));
                    second.left -= usize::from(!first);
                }
            }
        }
    }
}

/// Merges two runs of keys in place, and moves each payload with its key. Stable.
///
/// # Panics
/// If the room is too short, or keys cannot be decoded from their codes. Nothing has moved then.
pub(crate) fn merge_pairs_in_place<B: Bits, V>(
    keys: &mut [B],
    payload: &mut [V],
    runs: &[Run; 2],
    transform: Transform<B>,
    room: Rows<'_, B, V>,
) {
    assert_eq!(keys.len(), payload.len());
    assert!(room.keys.len().min(room.payload.len()) >= shorter(runs));
    assert!(transform.is_bijection());
    for Run { range, order } in runs {
        if *order == InRun::Descending {
            keys[range.clone()].reverse();
            payload[range.clone()].reverse();
        }
    }
    let start = runs[1].range.start;
    // SAFETY: `MaybeUninit<V>` has the layout of V, and dropping it does nothing. The merge does not panic. After it,
    // each payload is in the slice once.
    let payload = unsafe { std::slice::from_raw_parts_mut(payload.as_mut_ptr().cast(), payload.len()) };
    // Codes are faster to compare.
    let isa = Isa::detect();
    vector::compiled_for!(isa, || transform.encode_slice(keys));
    if start <= keys.len() - start {
        merge_forwards(keys, payload, start, room);
    } else {
        merge_backwards(keys, payload, start, room);
    }
    vector::compiled_for!(isa, || transform.decode_slice(keys));
}

/// The length of the shorter run.
fn shorter(runs: &[Run; 2]) -> usize {
    runs[0].range.len().min(runs[1].range.len())
}

/// Room for keys and their payloads.
pub(crate) struct Rows<'a, B, V> {
    pub keys: &'a mut [MaybeUninit<B>],
    pub payload: &'a mut [MaybeUninit<V>],
}

/// The number of keys of one run that are moved at once if all of them come before the next key of the other.
const MERGED_AT_ONCE: usize = 16;

/// Merges codes and their payloads while the first run waits in the room.
fn merge_forwards<B: Bits, V>(
    keys: &mut [B],
    payload: &mut [MaybeUninit<V>],
    start: usize,
    room: Rows<'_, B, V>,
) {
    let first = fill(room.keys, keys[..start].iter().copied());
    let first_payload = room.payload;
    copy(&payload[..start], &mut first_payload[..start]);
    let (mut a, mut b) = (0, start);
    while a < first.len() && b < keys.len() {
        let (of_first, of_second) = (MERGED_AT_ONCE.min(first.len() - a), MERGED_AT_ONCE.min(keys.len() - b));
        let to = a + b - start;
        if keys[b + of_second - 1] < first[a] {
            keys.copy_within(b..b + of_second, to);
            copy_within(payload, b..b + of_second, to);
            b += of_second;
        } else if first[a + of_first - 1] <= keys[b] {
            keys[to..][..of_first].copy_from_slice(&first[a..][..of_first]);
            copy(&first_payload[a..][..of_first], &mut payload[to..][..of_first]);
            a += of_first;
        } else {
            // Without a branch, because the next run cannot be predicted.
            let steps = if of_first.min(of_second) == MERGED_AT_ONCE { MERGED_AT_ONCE } else { 1 };
            for to in to..to + steps {
                let second = keys[b] < first[a];
                keys[to] = if second { keys[b] } else { first[a] };
                payload[to] = same(if second { &payload[b] } else { &first_payload[a] });
                a += usize::from(!second);
                b += usize::from(second);
            }
        }
    }
    let (to, left) = (a + b - start, first.len() - a);
    keys[to..][..left].copy_from_slice(&first[a..]);
    copy(&first_payload[a..][..left], &mut payload[to..][..left]);
}

/// Merges codes and their payloads while the second run waits in the room.
fn merge_backwards<B: Bits, V>(
    keys: &mut [B],
    payload: &mut [MaybeUninit<V>],
    start: usize,
    room: Rows<'_, B, V>,
) {
    let second = fill(room.keys, keys[start..].iter().copied());
    let second_payload = room.payload;
    copy(&payload[start..], &mut second_payload[..second.len()]);
    let (mut a, mut b) = (start, second.len());
    while a > 0 && b > 0 {
        let (of_first, of_second) = (MERGED_AT_ONCE.min(a), MERGED_AT_ONCE.min(b));
        if keys[a - of_first] > second[b - 1] {
            a -= of_first;
            keys.copy_within(a..a + of_first, a + b);
            copy_within(payload, a..a + of_first, a + b);
        } else if second[b - of_second] >= keys[a - 1] {
            b -= of_second;
            keys[a + b..][..of_second].copy_from_slice(&second[b..][..of_second]);
            copy(&second_payload[b..][..of_second], &mut payload[a + b..][..of_second]);
        } else {
            let steps = if of_first.min(of_second) == MERGED_AT_ONCE { MERGED_AT_ONCE } else { 1 };
            for _ in 0..steps {
                let first = keys[a - 1] > second[b - 1];
                keys[a + b - 1] = if first { keys[a - 1] } else { second[b - 1] };
                payload[a + b - 1] = same(if first { &payload[a - 1] } else { &second_payload[b - 1] });
                a -= usize::from(first);
                b -= usize::from(!first);
            }
        }
    }
    keys[..b].copy_from_slice(&second[..b]);
    copy(&second_payload[..b], &mut payload[..b]);
}

/// A bitwise copy. Only one of the two may be used as a `V`.
#[inline(always)]
fn same<V>(of: &MaybeUninit<V>) -> MaybeUninit<V> {
    // SAFETY: these bits are only used as one `V`.
    unsafe { std::ptr::read(of) }
}

/// Copies a range bitwise to the one that begins at `to`.
fn copy_within<V>(items: &mut [MaybeUninit<V>], from: Range<usize>, to: usize) {
    assert!(from.start <= from.end && from.end.max(to + from.len()) <= items.len());
    let at = items.as_mut_ptr();
    // SAFETY: both ranges are within the slice.
    unsafe { std::ptr::copy(at.add(from.start), at.add(to), from.len()) };
}

/// Copies bitwise.
fn copy<V>(from: &[MaybeUninit<V>], to: &mut [MaybeUninit<V>]) {
    assert_eq!(from.len(), to.len());
    // SAFETY: both have the same length, and a mutable reference overlaps no other.
    unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), to.as_mut_ptr(), from.len()) };
}

/// The position of a merge in a run.
struct Cursor {
    at: usize,
    /// 1 for forwards, -1 for backwards.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Merges keys that are two runs, with payloads that own memory, and compares with std's stable sort.
    fn check(keys: &[u32]) {
        let transform = Transform::IDENTITY;
        let payload: Vec<String> = (0..keys.len()).map(|i| i.to_string()).collect();
        let mut expected: Vec<(u32, String)> = keys.iter().copied().zip(payload.iter().cloned()).collect();
        expected.sort_by_key(|&(key, _)| key);
        let runs = two(keys, transform).expect("there are two runs");
        let shorter = runs[0].range.len().min(runs[1].range.len());
        let (mut alone, mut keys, mut payload) = (keys.to_vec(), keys.to_vec(), payload);
        merge_in_place(&mut alone, &runs, transform, &mut vec![MaybeUninit::uninit(); shorter]);
        let mut room = vec![MaybeUninit::uninit(); shorter];
        let mut more: Vec<MaybeUninit<String>> = (0..shorter).map(|_| MaybeUninit::uninit()).collect();
        let room = Rows { keys: &mut room, payload: &mut more };
        merge_pairs_in_place(&mut keys, &mut payload, &runs, transform, room);
        assert_eq!(alone, keys);
        assert!(keys.into_iter().zip(payload).eq(expected));
    }

    /// Wherever the comparison panics, no item is lost or duplicated.
    #[test]
    fn a_comparison_that_panics_leaves_a_permutation() {
        for (n, start) in [(50, 20), (50, 30), (90, 5)] {
            for calls in 0u32.. {
                let key = |i: usize| if i < start { 2 * i } else { 2 * (i - start) + 1 };
                let mut items: Vec<String> = (0..n).map(|i| format!("{:09}", key(i))).collect();
                let mut expected = items.clone();
                expected.sort();
                let left = std::cell::Cell::new(calls);
                let less = |a: &String, b: &String| {
                    assert_ne!(left.replace(left.get().saturating_sub(1)), 0, "no more comparisons");
                    a < b
                };
                let mut room = Vec::with_capacity(start.min(n - start));
                let merge = || merge_items(&mut items, start, less, room.spare_capacity_mut());
                let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(merge)).is_ok();
                if !ended {
                    items.sort();
                }
                assert_eq!(items, expected, "{start} of {n}, {calls} comparisons");
                if ended {
                    break;
                }
            }
        }
    }

    #[test]
    fn two_runs_of_any_lengths_are_merged() {
        let block = MERGED_AT_ONCE;
        for n in [2, 3, block, block + 1, 3 * block, 5 * block + 3] {
            for start in [1, 2, block - 1, block, block + 1, n / 2, n - 1] {
                if start >= n {
                    continue;
                }
                // Runs that alternate by one key and by many, runs that are apart, and runs with equal keys.
                for (step, apart) in [(2, 1), (40, 3), (2, 1000), (1, 0)] {
                    let ascending = |from: usize, i: usize| (from * apart + 1 + i / 2 * step) as u32;
                    let first: Vec<u32> = (0..start).map(|i| ascending(1, i) + 2).collect();
                    let second: Vec<u32> = (0..n - start).map(|i| ascending(2, i)).collect();
                    let least = |run: &[u32], rest: &[u32]| *run.last().unwrap() > rest[0];
                    if least(&first, &second) {
                        check(&[&*first, &*second].concat());
                    }
                    if least(&second, &first) {
                        check(&[&*second, &*first].concat());
                    }
                }
                // Keys that descend without equal ones, and then ascend from a key in between.
                let down = (0..start).map(|i| 10_000 - 3 * i as u32);
                let up = (0..n - start).map(|i| 10_001 - 3 * start as u32 + 5 * i as u32);
                let keys: Vec<u32> = down.chain(up).collect();
                if start > 1 {
                    check(&keys);
                }
            }
        }
    }
}
