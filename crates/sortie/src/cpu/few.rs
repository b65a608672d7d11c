//! Few keys: sorted by the calling thread, on its stack. No plan, no report, no thread and nothing from the heap: each takes as
//! long as such a sort.

use std::mem::MaybeUninit;

use super::order::order_few;
use super::runs::{self, InRun, Run};
use super::vector::{self, Isa};
use super::{by_code, permute, wide};
use crate::key::{self, Bits, Code, Transform};
use crate::plan::FEW;
use crate::{Index, Key, Order};

/// Room on the stack for an item of each key.
pub(crate) type Room<T> = [MaybeUninit<T>; FEW];

pub(crate) const fn room<T>() -> Room<T> {
    [const { MaybeUninit::uninit() }; FEW]
}

/// The items, of which there are no more than the room has.
#[inline(always)]
pub(crate) fn fill<T: Copy>(room: &mut Room<T>, items: impl ExactSizeIterator<Item = T>) -> &mut [T] {
    let room = &mut room[..items.len()];
    let mut written = 0;
    for (slot, item) in room.iter_mut().zip(items) {
        slot.write(item);
        written += 1;
    }
    // SAFETY: so many were just written.
    unsafe { &mut *(std::ptr::from_mut(&mut room[..written]) as *mut [T]) }
}

/// Fewer keys are inserted one after the other: whatever else is begun takes longer.
pub(crate) const INSERTED: usize = 6;

/// Sorts fewer than [`INSERTED`] keys, in the caller's code.
#[inline(always)]
pub(crate) fn insert<B: Bits>(keys: &mut [B], transform: Transform<B>) {
    for i in 1..keys.len() {
        let (key, code) = (keys[i], transform.encode(keys[i]));
        let mut at = i;
        while at > 0 && code < transform.encode(keys[at - 1]) {
            keys[at] = keys[at - 1];
            at -= 1;
        }
        keys[at] = key;
    }
}

/// Sorts fewer than [`INSERTED`] items by a code of each, which is asked for once. Stable.
#[inline]
fn insert_by_code<T, B: Bits>(items: &mut [T], code: impl Fn(&T) -> B) {
    let mut codes = [B::ZERO; INSERTED];
    codes.iter_mut().zip(&*items).for_each(|(slot, item)| *slot = code(item));
    for i in 1..items.len() {
        let mut at = i;
        while at > 0 && codes[at] < codes[at - 1] {
            codes.swap(at, at - 1);
            items.swap(at, at - 1);
            at -= 1;
        }
    }
}

/// Sorts up to [`FEW`] keys.
#[inline]
pub(crate) fn sort<B: Bits>(keys: &mut [B], transform: Transform<B>) {
    match Start::of(keys, transform) {
        Start::Ascending(sorted) if sorted == keys.len() => {}
        Start::Ascending(sorted) if are_inserted(sorted, keys.len()) => {
            for i in sorted..keys.len() {
                let code = transform.encode(keys[i]);
                let at = keys[..i].partition_point(|&before| transform.encode(before) <= code);
                keys[at..=i].rotate_right(1);
            }
        }
        Start::Descending => keys.reverse(),
        Start::Ascending(_) => sort_mixed(keys, transform),
    }
}

fn sort_mixed<B: Bits>(keys: &mut [B], transform: Transform<B>) {
    match B::WIDTH {
        32 | 64 if transform.is_identity() => vector::sort(keys, Isa::detect()),
        64 => sort_encoded::<B, u64>(keys, transform),
        128 if keys.len() <= COMPARED || by_code::has_few_codes(keys.len(), |i| keys[i]) => {
            transform.encode_slice(keys);
            keys.sort_unstable();
            transform.decode_slice(keys);
        }
        128 => sort_by_code(keys, |&key| transform.encode(key)),
        _ => sort_encoded::<B, u32>(keys, transform),
    }
}

/// Sorts keys by their codes as words that vectors hold.
fn sort_encoded<B: Bits, W: Bits>(keys: &mut [B], transform: Transform<B>) {
    let (isa, mut words) = (Isa::detect(), room());
    let words = vector::compiled_for(isa, || {
        fill(&mut words, keys.iter().map(|&key| W::from_low(transform.encode(key).low())))
    });
    vector::sort(words, isa);
    vector::compiled_for(isa, || {
        let keys = keys.iter_mut().zip(words);
        keys.for_each(|(key, word)| *key = transform.decode(B::from_low(word.low())));
    });
}

/// How keys begin.
enum Start {
    /// With so many that ascend.
    Ascending(usize),
    /// All descend, no two of them equal.
    Descending,
}

impl Start {
    #[inline]
    fn of<B: Bits>(keys: &[B], transform: Transform<B>) -> Start {
        // The transform is chosen here once, not again for every key.
        if transform.is_identity() {
            let neighbours = || keys.iter().zip(keys.iter().skip(1));
            let ascending = neighbours().take_while(|(a, b)| a <= b).count();
            if ascending == 0 && keys.len() > 1 && neighbours().all(|(a, b)| a > b) {
                return Start::Descending;
            }
            Start::Ascending((ascending + 1).min(keys.len()))
        } else if transform.is_plain_float() {
            Start::of_codes(keys.iter().map(|&key| transform.encode_plain_float(key)))
        } else {
            Start::of_codes(keys.iter().map(|&key| transform.encode(key)))
        }
    }

    #[inline]
    fn of_codes<B: Bits>(codes: impl ExactSizeIterator<Item = B> + Clone) -> Start {
        let n = codes.len();
        let sorted = in_a_row(codes.clone(), |before, code| before <= code);
        if sorted == 1 && n > 1 && in_a_row(codes, |before, code| before > code) == n {
            return Start::Descending;
        }
        Start::Ascending(sorted)
    }
}

/// How many of the first codes are in order.
#[inline]
fn in_a_row<B: Bits>(mut codes: impl Iterator<Item = B>, in_order: impl Fn(B, B) -> bool) -> usize {
    let Some(mut before) = codes.next() else { return 0 };
    let follows = |&code: &B| in_order(std::mem::replace(&mut before, code), code);
    1 + codes.take_while(follows).count()
}

/// Whether keys behind so many that ascend are few enough to be inserted among them.
fn are_inserted(sorted: usize, n: usize) -> bool {
    n - sorted <= 2 + n / 64
}

/// Sorts up to [`FEW`] keys and moves each payload with its key. Stable.
pub(crate) fn sort_pairs<B: Bits, V>(keys: &mut [B], payload: &mut [V], transform: Transform<B>) {
    let mut order = room();
    match order_of(keys, transform, &mut order) {
        Ordered::AsIs => {}
        Ordered::Reversed => {
            keys.reverse();
            payload.reverse();
        }
        Ordered::By(order) => {
            bring(keys, order);
            bring(payload, order);
        }
    }
}

/// Writes the indices of up to [`FEW`] keys in order. Stable.
pub(crate) fn argsort<B: Bits, I: Index>(keys: &[B], indices: &mut [I], transform: Transform<B>) {
    order_of(keys, transform, &mut room()).write(indices);
}

/// Sorts up to [`FEW`] items by the keys of fixed width that `key` draws from them, once each. Stable.
pub(crate) fn sort_by_key<T, K: Key>(v: &mut [T], key: impl Fn(&T) -> K, transform: Transform<K::Bits>) {
    sort_by_code(v, |item| transform.encode(key::to_bits(&key(item))));
}

/// Sorts up to [`FEW`] items by a code of each, which is asked for once. Stable.
#[inline]
pub(crate) fn sort_by_code<T, B: Bits>(items: &mut [T], code: impl Fn(&T) -> B) {
    if items.len() < INSERTED { insert_by_code(items, code) } else { order_by_code(items, code) }
}

#[inline(never)]
fn order_by_code<T, B: Bits>(items: &mut [T], code: impl Fn(&T) -> B) {
    let (mut codes, mut order) = (room(), room());
    let codes = fill(&mut codes, items.iter().map(code));
    match order_of(codes, unsigned(), &mut order) {
        Ordered::AsIs => {}
        Ordered::Reversed => items.reverse(),
        Ordered::By(order) => bring(items, order),
    }
}

/// Sorts up to [`FEW`] keys that are no numbers.
pub(crate) fn sort_wide<K: Key>(keys: &mut [K], order: Order) {
    if !wide::is_sorted(keys, order) {
        sort_by_code(keys, |key| key.prefix(order));
        wide::sort_ties(keys, order);
    }
}

/// Sorts up to [`FEW`] keys that are no numbers and moves each payload with its key. Stable.
pub(crate) fn sort_wide_pairs<K: Key, V>(keys: &mut [K], payload: &mut [V], order: Order) {
    if !wide::is_sorted(keys, order) {
        let mut indices = room();
        let indices = order_of_wide(keys, order, &mut indices);
        bring(keys, indices);
        bring(payload, indices);
    }
}

/// Writes the indices of up to [`FEW`] keys that are no numbers in order. Stable.
pub(crate) fn argsort_wide<K: Key, I: Index>(keys: &[K], indices: &mut [I], order: Order) {
    if wide::is_sorted(keys, order) {
        return Ordered::AsIs.write(indices);
    }
    Ordered::By(order_of_wide(keys, order, &mut room())).write(indices);
}

/// Sorts up to [`FEW`] items by keys that are no numbers. Stable.
pub(crate) fn sort_by_wide_key<T, K: Key>(v: &mut [T], key: impl Fn(&T) -> K, order: Order) {
    let keys: Vec<K> = v.iter().map(key).collect();
    if !wide::is_sorted(&keys, order) {
        bring(v, order_of_wide(&keys, order, &mut room()));
    }
}

/// The stable order of keys that are no numbers: a permutation.
fn order_of_wide<'r, K: Key>(keys: &[K], order: Order, indices: &'r mut Room<u32>) -> &'r mut [u32] {
    let (mut prefixes, mut sorted) = (room(), room());
    let prefixes = fill(&mut prefixes, keys.iter().map(|key| key.prefix(order)));
    let indices = fill(indices, keys.iter().map(|_| 0));
    order_of(prefixes, unsigned(), &mut sorted).write(indices);
    if K::IS_PREFIX {
        return indices;
    }
    for tie in indices.chunk_by_mut(|&a, &b| prefixes[a as usize] == prefixes[b as usize]) {
        if tie.len() > 1 {
            tie.sort_by(|&a, &b| keys[a as usize].compare(&keys[b as usize], order));
        }
    }
    indices
}

/// Where codes are, in order.
enum Ordered<'r> {
    AsIs,
    Reversed,
    /// At these indices, a permutation.
    By(&'r mut [u32]),
}

impl Ordered<'_> {
    fn write<I: Index>(self, indices: &mut [I]) {
        let n = indices.len();
        match self {
            Ordered::AsIs => indices.iter_mut().zip(0..).for_each(|(to, i)| *to = I::from_place(i)),
            Ordered::Reversed => {
                indices.iter_mut().zip((0..n).rev()).for_each(|(to, i)| *to = I::from_place(i));
            }
            Ordered::By(order) => {
                indices.iter_mut().zip(order).for_each(|(to, &mut i)| *to = I::from_place(i as usize));
            }
        }
    }
}

/// The stable order of keys.
fn order_of<'r, B: Bits>(keys: &[B], transform: Transform<B>, order: &'r mut Room<u32>) -> Ordered<'r> {
    let n = keys.len();
    let code = |i: &u32| transform.encode(keys[*i as usize]);
    match Start::of(keys, transform) {
        Start::Descending => Ordered::Reversed,
        Start::Ascending(sorted) if sorted == n => Ordered::AsIs,
        Start::Ascending(sorted) if n < INSERTED => {
            let order = fill(order, 0..n as u32);
            for i in sorted..n {
                let mut at = i;
                while at > 0 && code(&order[at]) < code(&order[at - 1]) {
                    order.swap(at, at - 1);
                    at -= 1;
                }
            }
            Ordered::By(order)
        }
        Start::Ascending(sorted) if are_inserted(sorted, n) => {
            let order = fill(order, 0..n as u32);
            for i in sorted..n {
                let at = order[..i].partition_point(|before| code(before) <= code(&order[i]));
                order[at..=i].rotate_right(1);
            }
            Ordered::By(order)
        }
        Start::Ascending(_) => Ordered::By(order_mixed(keys, transform, order)),
    }
}

#[inline(never)]
fn order_mixed<'r, B: Bits>(keys: &[B], transform: Transform<B>, order: &'r mut Room<u32>) -> &'r mut [u32] {
    let mut codes = room();
    let codes = &*vector::compiled_for(Isa::detect(), || {
        fill(&mut codes, keys.iter().map(|&key| transform.encode(key)))
    });
    let runs = if codes.len() < MERGED_FROM { None } else { runs::two(codes, unsigned()) };
    match runs {
        Some(runs) => order_runs(codes, &runs, order),
        None => order_few(order, codes),
    }
}

/// The stable order of two runs of codes.
fn order_runs<'r, B: Bits>(codes: &[B], runs: &[Run; 2], order: &'r mut Room<u32>) -> &'r mut [u32] {
    let order = fill(order, codes.iter().map(|_| 0));
    let [_, Run { range, order: in_run }] = runs;
    if *in_run != InRun::Mixed {
        runs::merge(runs, |i| codes[i], |to, from| order[to] = from as u32);
        return order;
    }
    let start = range.start;
    let mut tail = room();
    let tail = order_few(&mut tail, &codes[start..]);
    let place = |i: usize| if i < start { i } else { start + tail[i - start] as usize };
    runs::merge(runs, |i| codes[place(i)], |to, from| order[to] = place(from) as u32);
    order
}

/// Codes are their own codes.
fn unsigned<B: Bits>() -> Transform<B> {
    Transform::new(Code::Unsigned, Order::default())
}

/// Keys of more than 64 bits that are compared: words of their codes would put as few in order no sooner.
pub(crate) const COMPARED: usize = 20;

/// Codes from which runs are looked for: fewer are sorted as fast.
const MERGED_FROM: usize = 64;

/// Bytes of the stack through which items are moved.
const MOVED_BYTES: usize = 16 << 10;

/// Puts `items[order[i]]` at index `i`, for all `i`.
#[inline(never)]
fn bring<T>(items: &mut [T], order: &[u32]) {
    if size_of_val(items) > MOVED_BYTES || align_of::<T>() > align_of::<u128>() {
        return permute(items, fill(&mut room(), order.iter().copied()));
    }
    let mut copy = MaybeUninit::<[u128; MOVED_BYTES / 16]>::uninit();
    let copy = copy.as_mut_ptr().cast::<T>();
    let (at, n) = (items.as_mut_ptr(), items.len());
    assert!(n == order.len());
    // SAFETY: the copy has room for the items and is aligned for them. The order is a permutation, so each item comes back once.
    unsafe {
        std::ptr::copy_nonoverlapping(at, copy, n);
        for (i, &from) in order.iter().enumerate() {
            std::ptr::copy_nonoverlapping(copy.add(from as usize), at.add(i), 1);
        }
    }
}
