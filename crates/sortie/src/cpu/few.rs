//! Sorts few keys on the calling thread and its stack. There is no plan, no report, no other thread and hardly any
//! heap memory, because each of these takes as long as such a sort.

use std::mem::MaybeUninit;

use super::by_code;
use super::order::order_few;
use super::ranks::Distinct;
use super::runs::{self, InRun, Run};
use super::sorts::CpuSorts;
use super::vector::{self, Isa};
use super::{counting, long_runs, permute, wide};
use crate::cpu::tuning::{FEW, RANK_FEW_FROM, RANK_SAMPLE_OF_FEW};
use crate::key::{self, Bits, Transform};
use crate::{Index, Order, TotalOrder};

/// Memory on the stack for one item for each key.
pub type Room<T> = [MaybeUninit<T>; FEW];

pub(crate) const fn room<T>() -> Room<T> {
    [const { MaybeUninit::uninit() }; FEW]
}

/// Fills the room with items, and returns them as a slice. There must be no more items than the room holds.
#[inline(always)]
pub(crate) fn fill<T: Copy>(
    room: &mut [MaybeUninit<T>],
    items: impl ExactSizeIterator<Item = T>,
) -> &mut [T] {
    let room = &mut room[..items.len()];
    let mut written = 0;
    for (slot, item) in room.iter_mut().zip(items) {
        slot.write(item);
        written += 1;
    }
    // SAFETY: `written` items were just initialised.
    unsafe { &mut *(std::ptr::from_mut(&mut room[..written]) as *mut [T]) }
}

/// Fewer keys than this are sorted by insertion, as std does. Any other method takes longer on nearly sorted
/// keys.
pub(crate) const INSERTED: usize = 16;

/// Sorts fewer than [`INSERTED`] keys. Inlined into the caller.
#[inline(always)]
pub(crate) fn insert<B: Bits>(keys: &mut [B], transform: Transform<B>) {
    // Choosing the transform once, here, avoids a choice in every comparison.
    if transform.is_identity() {
        insert_keys(keys, |key| key);
    } else if transform.is_integer() {
        insert_keys(keys, |key| transform.encode_integer(key));
    } else {
        insert_keys(keys, |key| transform.encode(key));
    }
}

#[inline(always)]
fn insert_keys<B: Bits>(keys: &mut [B], code_of: impl Fn(B) -> B) {
    for i in 1..keys.len() {
        let (key, code) = (keys[i], code_of(keys[i]));
        let mut at = i;
        while at > 0 && code < code_of(keys[at - 1]) {
            keys[at] = keys[at - 1];
            at -= 1;
        }
        keys[at] = key;
    }
}

/// Items of up to this many bytes are moved together with their codes. Larger items are moved once, when all
/// indices are known.
const INSERTED_WITH_CODES_BYTES: usize = 32;

/// Sorts fewer than [`INSERTED`] items by a code. Calls `code` once for each item. Stable.
#[inline]
fn insert_by_code<T, B: Bits>(items: &mut [T], code: impl Fn(&T) -> B) {
    let mut codes = [MaybeUninit::uninit(); INSERTED];
    let codes = fill(&mut codes, items.iter().map(code));
    if size_of::<T>() <= INSERTED_WITH_CODES_BYTES {
        return insert_with_codes(items, codes);
    }
    let mut order: [u32; INSERTED] = std::array::from_fn(|i| i as u32);
    let order = &mut order[..items.len()];
    if insert_codes(codes, order) {
        bring(items, order);
    }
}

/// Sorts items together with their codes, by the codes. Stable.
#[inline]
fn insert_with_codes<T, B: Bits>(items: &mut [T], codes: &mut [B]) {
    assert!(items.len() == codes.len());
    let items = items.as_mut_ptr();
    for i in 1..codes.len() {
        let (code, mut at) = (codes[i], i);
        if code >= codes[i - 1] {
            continue;
        }
        // SAFETY: all indices are below the number of codes, which is the number of items. Nothing panics until the
        // item that was taken out is written back.
        unsafe {
            let item = items.add(i).read();
            while at > 0 && code < codes[at - 1] {
                codes[at] = codes[at - 1];
                items.add(at).copy_from_nonoverlapping(items.add(at - 1), 1);
                at -= 1;
            }
            items.add(at).write(item);
        }
        codes[at] = code;
    }
}

/// Sorts fewer than [`INSERTED`] codes together with their indices. Stable. Returns whether anything moved.
#[inline(always)]
fn insert_codes<B: Bits>(codes: &mut [B], order: &mut [u32]) -> bool {
    let mut moved = false;
    for i in 1..codes.len() {
        let (code, index, mut at) = (codes[i], order[i], i);
        while at > 0 && code < codes[at - 1] {
            (codes[at], order[at]) = (codes[at - 1], order[at - 1]);
            at -= 1;
        }
        (codes[at], order[at]) = (code, index);
        moved |= at < i;
    }
    moved
}

/// Sorts up to [`FEW`] keys.
pub(crate) fn sort<B: CpuSorts>(keys: &mut [B], transform: Transform<B>) {
    if keys.len() < INSERTED {
        return insert(keys, transform);
    }
    if const { B::WIDTH > u64::BITS } {
        return sort_integers(keys, transform);
    }
    match Start::of(keys, transform, false) {
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

/// Sorts 128-bit integers.
fn sort_integers<B: CpuSorts>(keys: &mut [B], transform: Transform<B>) {
    if long_runs::sort_few_integers(keys, transform, |rest| sort_integers(rest, transform)) {
        return;
    }
    if by_code::are_integers_for_std(keys, transform, 1) {
        by_code::sort_integers_by_std(keys, transform);
    } else {
        sort_by_code(keys, |&key| transform.encode(key));
    }
}

fn sort_mixed<B: CpuSorts>(keys: &mut [B], transform: Transform<B>) {
    let isa = Isa::detect();
    if keys.len() >= MERGED_FROM
        && let Some(runs) = runs::two(keys, transform)
        && runs::merge_pays(keys, &runs, transform, isa, 1)
    {
        return sort_runs(keys, &runs, transform);
    }
    if const { B::WIDTH >= u32::BITS } {
        vector::compiled_for!(isa, || transform.encode_slice(keys));
        vector::sort(keys, isa);
        vector::compiled_for!(isa, || transform.decode_slice(keys));
    } else if const { B::WIDTH == u8::BITS } && keys.len() >= COUNTED_FROM {
        counting::sort(keys, transform);
    } else {
        sort_widened(keys, transform);
    }
}

/// From this number of keys, 8-bit keys are sorted by counting.
const COUNTED_FROM: usize = 256;

/// Sorts keys that consist of two runs.
fn sort_runs<B: CpuSorts>(keys: &mut [B], runs: &[Run; 2], transform: Transform<B>) {
    let [_, Run { range, order }] = runs;
    if *order == InRun::Mixed {
        sort_mixed(&mut keys[range.clone()], transform);
    }
    runs::merge_in_place(keys, runs, transform, &mut room::<B>());
}

/// Sorts keys narrower than 32 bits by their codes, widened to 32 bits, for which there is a vector sort.
fn sort_widened<B: Bits>(keys: &mut [B], transform: Transform<B>) {
    let (isa, mut words) = (Isa::detect(), room());
    let words = vector::compiled_for!(isa, || {
        fill(&mut words, keys.iter().map(|&key| transform.encode(key).low() as u32))
    });
    vector::sort(words, isa);
    vector::compiled_for!(isa, || {
        let keys = keys.iter_mut().zip(words);
        keys.for_each(|(key, word)| *key = transform.decode(B::from_low(u64::from(*word))));
    });
}

/// How an array of keys begins.
enum Start {
    /// This many keys at the start ascend.
    Ascending(usize),
    /// All keys descend. If the sort is stable, no two of them are equal.
    Descending,
}

impl Start {
    #[inline]
    fn of<B: Bits>(keys: &[B], transform: Transform<B>, stable: bool) -> Start {
        // Choosing the transform once, here, avoids a choice for every key.
        if const { B::OF_INTEGERS } || transform.is_integer() {
            Start::of_codes(keys, |key| transform.encode_integer(key), stable)
        } else if transform.is_plain_float() {
            Start::of_codes(keys, |key| transform.encode_plain_float(key), stable)
        } else {
            Start::of_codes(keys, |key| transform.encode(key), stable)
        }
    }

    #[inline]
    fn of_codes<B: Bits>(keys: &[B], code: impl Fn(B) -> B, stable: bool) -> Start {
        let (&[first, .., last], n) = (keys, keys.len()) else { return Start::Ascending(keys.len()) };
        if code(first) > code(last) {
            let end = runs::end_of_run(keys, &code, |a, b| (a > b) | (!stable & (a == b)));
            if end == n {
                return Start::Descending;
            }
        }
        Start::Ascending(runs::end_of_run(keys, code, |a, b| a <= b))
    }
}

/// Whether the keys after an ascending run of `sorted` keys are few enough to be inserted into it.
pub(crate) fn are_inserted(sorted: usize, n: usize) -> bool {
    n - sorted <= 2 + n / 64
}

/// Sorts up to [`FEW`] keys and moves each value with its key. Stable.
pub(crate) fn sort_pairs<B: CpuSorts, V>(keys: &mut [B], payload: &mut [V], transform: Transform<B>) {
    let mut order = room();
    match B::order_few(keys, transform, &mut order) {
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

/// Writes the sorted order of up to [`FEW`] keys as indices. Stable.
pub(crate) fn argsort<B: CpuSorts, I: Index>(keys: &[B], indices: &mut [I], transform: Transform<B>) {
    B::order_few(keys, transform, &mut room()).write(indices);
}

/// Sorts up to [`FEW`] items by the fixed-width keys that `key` returns, whose order `transform` has. Stable.
pub(crate) fn sort_by_key<T, K: TotalOrder<Bits: CpuSorts>>(
    v: &mut [T],
    key: impl Fn(&T) -> K,
    transform: Transform<K::Bits>,
    order: Order,
) {
    // The choice is made at compile time, so that the code of an integer takes one instruction.
    if const { K::FORM.is_float() } {
        let code = |item: &T| transform.encode(key::to_bits(&key(item)));
        if order == Order::default() {
            // Takes half as many instructions as comparing codes.
            let less = |a: &T, b: &T| key(a).compare(&key(b), Order::default()).is_lt();
            sort_by_code_after_run(v, &code, &less);
        } else {
            sort_by_code_after_run(v, &code, &|a, b| code(a) < code(b));
        }
    } else {
        let code = |item: &T| transform.encode_integer(key::to_bits(&key(item)));
        sort_by_code_after_run(v, &code, &|a, b| code(a) < code(b));
    }
}

/// Sorts up to [`FEW`] items by a code, as `less` compares them. If the items begin with a long run, sorts the rest and merges both.
/// Stable.
fn sort_by_code_after_run<T, B: CpuSorts>(
    items: &mut [T],
    code: &impl Fn(&T) -> B,
    less: &impl Fn(&T, &T) -> bool,
) {
    if items.len() < INSERTED {
        return insert_by_code(items, code);
    }
    let sort = |rest: &mut [T]| sort_by_code_after_run(rest, code, less);
    if !long_runs::sort_few::<true, T>(items, less, sort) {
        order_by_code(items, code);
    }
}

/// Sorts up to [`FEW`] items by a code. Calls `code` once for each item. Stable.
#[inline]
pub(crate) fn sort_by_code<T, B: CpuSorts>(items: &mut [T], code: impl Fn(&T) -> B) {
    if items.len() < INSERTED { insert_by_code(items, code) } else { order_by_code(items, code) }
}

#[inline(never)]
fn order_by_code<T, B: CpuSorts>(items: &mut [T], code: impl Fn(&T) -> B) {
    let (mut codes, mut order) = (room(), room());
    let codes = fill(&mut codes, items.iter().map(code));
    match B::order_few(codes, Transform::IDENTITY, &mut order) {
        Ordered::AsIs => {}
        Ordered::Reversed => items.reverse(),
        Ordered::By(order) => bring(items, order),
    }
}

/// Sorts up to [`FEW`] keys that are not numbers.
pub(crate) fn sort_wide<K: TotalOrder>(keys: &mut [K], order: Order) {
    if wide::sort_few_runs(keys, order, |rest| sort_wide(rest, order)) {
        return;
    }
    if wide::are_for_std(keys, order, 1) {
        return wide::sort_by_std(keys, order);
    }
    sort_by_code(keys, |key| key.prefix(order));
    wide::sort_ties(keys, order, 1);
}

/// Sorts up to [`FEW`] keys that are not numbers, and moves each value with its key. Stable.
pub(crate) fn sort_wide_pairs<K: TotalOrder, V>(keys: &mut [K], payload: &mut [V], order: Order) {
    if !wide::is_sorted(keys, order) {
        let mut indices = room();
        let indices = order_of_wide(keys, order, &mut indices);
        bring(keys, indices);
        bring(payload, indices);
    }
}

/// Writes the sorted order of up to [`FEW`] keys that are not numbers, as indices. Stable.
pub(crate) fn argsort_wide<K: TotalOrder, I: Index>(keys: &[K], indices: &mut [I], order: Order) {
    if wide::is_sorted(keys, order) {
        return Ordered::AsIs.write(indices);
    }
    Ordered::By(order_of_wide(keys, order, &mut room())).write(indices);
}

/// Sorts up to [`FEW`] items by keys that are not numbers. Stable.
pub(crate) fn sort_by_wide_key<T, K: TotalOrder>(v: &mut [T], key: &impl Fn(&T) -> K, order: Order) {
    let less = |a: &T, b: &T| key(a).compare(&key(b), order).is_lt();
    if v.len() >= INSERTED
        && long_runs::sort_few::<true, T>(v, less, |rest| sort_by_wide_key(rest, key, order))
    {
        return;
    }
    let keys: Vec<K> = v.iter().map(key).collect();
    if !wide::is_sorted(&keys, order) {
        bring(v, order_of_wide(&keys, order, &mut room()));
    }
}

/// The stable order of keys that are not numbers, as a permutation.
fn order_of_wide<'r, K: TotalOrder>(keys: &[K], order: Order, indices: &'r mut Room<u32>) -> &'r mut [u32] {
    let (mut prefixes, mut sorted) = (room(), room());
    let prefixes = fill(&mut prefixes, keys.iter().map(|key| key.prefix(order)));
    let indices = fill(indices, keys.iter().map(|_| 0));
    u64::order_few(prefixes, Transform::IDENTITY, &mut sorted).write(indices);
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

/// The sorted order of some codes.
#[derive(Debug)]
pub enum Ordered<'r> {
    AsIs,
    Reversed,
    /// The indices of the codes in sorted order: a permutation.
    By(&'r mut [u32]),
}

impl Ordered<'_> {
    fn write<I: Index>(self, indices: &mut [I]) {
        let n = indices.len();
        match self {
            Ordered::AsIs => indices.iter_mut().zip(0..).for_each(|(to, i)| *to = I::from_usize(i)),
            Ordered::Reversed => {
                indices.iter_mut().zip((0..n).rev()).for_each(|(to, i)| *to = I::from_usize(i));
            }
            Ordered::By(order) => {
                indices.iter_mut().zip(order).for_each(|(to, &mut i)| *to = I::from_usize(i as usize));
            }
        }
    }
}

/// The stable order of up to [`FEW`] keys.
pub(crate) fn order_of<'r, B: CpuSorts>(
    keys: &[B],
    transform: Transform<B>,
    order: &'r mut Room<u32>,
) -> Ordered<'r> {
    let n = keys.len();
    if n < INSERTED {
        let mut codes = [MaybeUninit::uninit(); INSERTED];
        let codes = fill(&mut codes, keys.iter().map(|&key| transform.encode(key)));
        let order = fill(order, 0..n as u32);
        return if insert_codes(codes, order) { Ordered::By(order) } else { Ordered::AsIs };
    }
    let code = |i: &u32| transform.encode(keys[*i as usize]);
    match Start::of(keys, transform, true) {
        Start::Descending => Ordered::Reversed,
        Start::Ascending(sorted) if sorted == n => Ordered::AsIs,
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
fn order_mixed<'r, B: CpuSorts>(
    keys: &[B],
    transform: Transform<B>,
    order: &'r mut Room<u32>,
) -> &'r mut [u32] {
    let mut codes = room();
    let codes = &*vector::compiled_for!(Isa::detect(), || {
        fill(&mut codes, keys.iter().map(|&key| transform.encode(key)))
    });
    let runs = if codes.len() < MERGED_FROM { None } else { runs::two(codes, Transform::IDENTITY) };
    match runs {
        Some(runs) => order_runs(codes, &runs, order),
        None => order_by_rank(codes, order).unwrap_or_else(|order| order_few(order, codes)),
    }
}

/// Orders codes that have few distinct values. Stable. If they have many, returns `order` unused.
fn order_by_rank<'r, B: Bits>(
    codes: &[B],
    order: &'r mut Room<u32>,
) -> Result<&'r mut [u32], &'r mut Room<u32>> {
    if codes.len() < RANK_FEW_FROM {
        return Err(order);
    }
    let Some(distinct) = Distinct::sampled::<RANK_SAMPLE_OF_FEW>(codes.len(), |i| codes[i]) else {
        return Err(order);
    };
    let mut ranks = [0; FEW];
    let Some(ranked) = distinct.rank(codes, Transform::IDENTITY, &mut ranks[..codes.len()]) else {
        return Err(order);
    };
    let order = fill(order, codes.iter().map(|_| 0));
    ranked.place(|to, from| order[to] = from as u32);
    Ok(order)
}

/// The stable order of codes that consist of two runs.
fn order_runs<'r, B: CpuSorts>(codes: &[B], runs: &[Run; 2], order: &'r mut Room<u32>) -> &'r mut [u32] {
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
    let mut sorted = room();
    let sorted = fill(&mut sorted, (0..codes.len()).map(|i| codes[place(i)]));
    runs::merge(runs, |i| sorted[i], |to, from| order[to] = place(from) as u32);
    order
}

/// Runs are looked for from this number of codes. Fewer codes are sorted just as fast without.
const MERGED_FROM: usize = 64;

/// Items of up to this many bytes in total are moved through a copy on the stack.
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
    // SAFETY: the copy has room for the items and is aligned for them. The order is a permutation, so each item is
    // written back exactly once.
    unsafe {
        std::ptr::copy_nonoverlapping(at, copy, n);
        for (i, &from) in order.iter().enumerate() {
            std::ptr::copy_nonoverlapping(copy.add(from as usize), at.add(i), 1);
        }
    }
}
