//! Sorts few keys on the calling thread and its stack. There is no plan, no report, no other thread and hardly any
//! heap memory, because each of these takes as long as such a sort.

use std::mem::MaybeUninit;

use crate::cpu::coded::Coded;
use crate::cpu::compiled::CpuSorts;
use crate::cpu::found::Ordered;
use crate::cpu::insert::{
    bring, insert_by_code, insert_codes, insert_pairs, inserted, order_by_code, sort_by_code,
};
pub(crate) use crate::cpu::insert::{insert, inserted_keys};
use crate::cpu::long_runs::are_inserted;
use crate::cpu::order::order_few;
use crate::cpu::ranks::Distinct;
use crate::cpu::room::{Room, fill, room};
use crate::cpu::runs::{self, InRun, Run};
use crate::cpu::tuning::{CODED_FROM, FEW, RANK_FEW_FROM, RANK_SAMPLE_OF_FEW};
use crate::cpu::vector::{self, Isa};
use crate::cpu::{by_std, counting, long_runs, wide};
use crate::key::{self, Bits, Transform};
use crate::{Index, Order, TotalOrder};

/// Sorts up to [`FEW`] keys.
pub(crate) fn sort<B: CpuSorts>(keys: &mut [B], transform: Transform<B>) {
    if keys.len() < inserted_keys::<B>() {
        return insert(keys, transform);
    }
    if const { B::WIDTH > u64::BITS } {
        return sort_integers(keys, transform);
    }
    if const { B::WIDTH >= u16::BITS } && vector::is_small_sorted(&transform) {
        let isa = Isa::detect();
        if keys.len() <= vector::small::<B>(isa) {
            vector::sort_small(keys, &transform, isa);
            return;
        }
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
    if by_std::are_integers_for_std(keys, transform, 1) {
        by_std::sort_integers_by_std(keys, transform);
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
    if const { B::WIDTH >= u16::BITS } {
        vector::sort_keys(keys, &transform, isa);
    } else if keys.len() >= COUNTED_FROM {
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

/// Sorts 8-bit keys by their codes, widened to 16 bits, for which there is a vector sort.
fn sort_widened<B: Bits>(keys: &mut [B], transform: Transform<B>) {
    let (isa, mut words) = (Isa::detect(), room());
    let words = vector::compiled_for!(isa, || {
        fill(&mut words, keys.iter().map(|&key| transform.encode(key).low() as u16))
    });
    vector::sort_keys(words, &Transform::IDENTITY, isa);
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

/// Sorts up to [`FEW`] keys and moves each value with its key. Stable.
pub(crate) fn sort_pairs<B: CpuSorts, V>(keys: &mut [B], payload: &mut [V], transform: Transform<B>) {
    if keys.len() < inserted::<B>() {
        return insert_pairs(keys, payload, |key| transform.encode(key));
    }
    let mut order = room();
    match B::sort_few_of_pairs(keys, transform, &mut order) {
        Ordered::AsIs => {}
        Ordered::Reversed => payload.reverse(),
        Ordered::By(order) => bring(payload, order),
    }
}

/// Sorts up to [`FEW`] keys, and returns the order in which their values follow. Stable.
pub(crate) fn sort_keys_of_pairs<'r, B: CpuSorts>(
    keys: &mut [B],
    transform: Transform<B>,
    order: &'r mut Room<u32>,
) -> Ordered<'r> {
    if const { B::WIDTH <= u32::BITS }
        && transform.is_bijection()
        && keys.len() <= small_words()
        && !begins_as_run(keys, transform)
    {
        let mut words = words();
        let Some(Packed::Sorted(words)) = pack(keys, transform, &mut words) else { return Ordered::AsIs };
        vector::compiled_for!(Isa::detect(), || {
            keys.iter_mut()
                .zip(&*words)
                .for_each(|(key, word)| *key = transform.decode(B::from_low(word >> INDEX_BITS)));
        });
        return Ordered::By(indices_of(words, order));
    }
    let ordered = order_of(keys, transform, order);
    match &ordered {
        Ordered::AsIs => {}
        Ordered::Reversed => keys.reverse(),
        Ordered::By(order) => bring(keys, order),
    }
    ordered
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
    if items.len() < inserted::<B>() {
        return insert_by_code(items, code);
    }
    let sort = |rest: &mut [T]| sort_by_code_after_run(rest, code, less);
    if items.len() <= vector::SMALL || !long_runs::sort_few::<true, T>(items, less, sort) {
        order_by_code(items, code);
    }
}

/// Sorts up to [`FEW`] keys that are not numbers.
pub(crate) fn sort_wide<K: TotalOrder>(keys: &mut [K], order: Order) {
    if const { Coded::<K>::FITS } {
        if keys.len() < CODED_FROM {
            return wide::sort_by_std(keys, order);
        }
        if let Some(coded) = Coded::of(keys, order, 1) {
            return coded.sort_few();
        }
    }
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
    if v.len() >= inserted::<K::Bits>()
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

/// The stable order of up to [`FEW`] keys.
pub(crate) fn order_of<'r, B: CpuSorts>(
    keys: &[B],
    transform: Transform<B>,
    order: &'r mut Room<u32>,
) -> Ordered<'r> {
    let n = keys.len();
    if n < inserted::<B>() {
        let mut codes = [MaybeUninit::uninit(); vector::SMALL];
        let codes = fill(&mut codes, keys.iter().map(|&key| transform.encode(key)));
        let order = fill(order, 0..n as u32);
        return if insert_codes(codes, order) { Ordered::By(order) } else { Ordered::AsIs };
    }
    let are_words = const { B::WIDTH <= u64::BITS } && n <= small_words();
    if are_words && !begins_as_run(keys, transform) {
        return order_words(keys, transform, order);
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
        Start::Ascending(_) if are_words => order_words(keys, transform, order),
        Start::Ascending(_) => Ordered::By(order_mixed(keys, transform, order)),
    }
}

/// Whether the first four of some keys are a run, which few keys in no order have. They are compared without a branch for each.
fn begins_as_run<B: Bits>(keys: &[B], transform: Transform<B>) -> bool {
    let Some(first) = keys.first_chunk::<4>() else { return true };
    let [a, b, c, d] = first.map(|key| transform.encode(key));
    ((a <= b) & (b <= c) & (c <= d)) | ((a > b) & (b > c) & (c > d))
}

/// The stable order of up to [`small_words`] keys, by words.
fn order_words<'r, B: CpuSorts>(
    keys: &[B],
    transform: Transform<B>,
    order: &'r mut Room<u32>,
) -> Ordered<'r> {
    let mut words = words();
    match pack(keys, transform, &mut words) {
        None => Ordered::AsIs,
        Some(Packed::Sorted(words)) => Ordered::By(indices_of(words, order)),
        Some(Packed::Tied) => Ordered::By(order_mixed(keys, transform, order)),
    }
}

/// The low bits of a word that hold an index. The bits above them are the leading bits of its code.
const INDEX_BITS: u32 = 7;

const WORDS: usize = 1 << INDEX_BITS;

/// The number of keys up to which they are ordered by words that fit in the registers.
fn small_words() -> usize {
    vector::small::<u64>(Isa::detect()).min(WORDS)
}

fn words() -> [MaybeUninit<u64>; WORDS] {
    [const { MaybeUninit::uninit() }; WORDS]
}

/// The indices of sorted words.
fn indices_of<'r>(words: &[u64], order: &'r mut Room<u32>) -> &'r mut [u32] {
    fill(order, words.iter().map(|&word| word as u32 % WORDS as u32))
}

/// Keys in words, with their indices.
enum Packed<'w> {
    Sorted(&'w [u64]),
    /// Keys that differ only in bits for which a word has no room are in the wrong order.
    Tied,
}

/// Sorts words of the codes of up to [`small_words`] keys and their indices. `None` if the keys are in order. Stable.
fn pack<'w, B: Bits>(
    keys: &[B],
    transform: Transform<B>,
    words: &'w mut [MaybeUninit<u64>; WORDS],
) -> Option<Packed<'w>> {
    let isa = Isa::detect();
    // Choosing the transform once, here, avoids a choice for every key.
    let (words, dropped) = if const { B::OF_INTEGERS } || transform.is_integer() {
        vector::compiled_for!(isa, || write_words(keys, |key| transform.encode_integer(key), words))
    } else {
        vector::compiled_for!(isa, || write_words(keys, |key| transform.encode(key), words))
    };
    let moved = vector::sort_small(words, &Transform::IDENTITY, isa);
    if const { B::WIDTH + INDEX_BITS > u64::BITS } && dropped > 0 {
        let code = |word: &u64| transform.encode(keys[*word as usize % WORDS]);
        if !words.is_sorted_by_key(code) {
            return Some(Packed::Tied);
        }
    }
    moved.then_some(Packed::Sorted(words))
}

/// Writes a word for each key. Returns them, and the number of bits of a code for which they have no room.
#[inline(always)]
fn write_words<'w, B: Bits>(
    keys: &[B],
    code: impl Fn(B) -> B,
    words: &'w mut [MaybeUninit<u64>; WORDS],
) -> (&'w mut [u64], u32) {
    let (mut low, mut dropped) = (B::ZERO, 0);
    if const { B::WIDTH + INDEX_BITS > u64::BITS } {
        let ends = (B::MAX, B::ZERO);
        let (least, greatest) =
            keys.iter().map(|&key| code(key)).fold(ends, |(low, high), code| (low.min(code), high.max(code)));
        low = least;
        dropped = INDEX_BITS.saturating_sub(greatest.wrapping_sub(low).leading_zeros());
    }
    let word = |(i, &key): (usize, &B)| code(key).wrapping_sub(low).low() >> dropped << INDEX_BITS | i as u64;
    (fill(words, keys.iter().enumerate().map(word)), dropped)
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
    ranked.put(|to, from| order[to] = from as u32);
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
    let index = |i: usize| if i < start { i } else { start + tail[i - start] as usize };
    let mut sorted = room();
    let sorted = fill(&mut sorted, (0..codes.len()).map(|i| codes[index(i)]));
    runs::merge(runs, |i| sorted[i], |to, from| order[to] = index(from) as u32);
    order
}

/// Runs are looked for from this number of codes. Fewer codes are sorted just as fast without.
const MERGED_FROM: usize = 64;
