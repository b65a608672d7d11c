//! Sorts few items by insertion, or by the order of their codes.

use std::mem::MaybeUninit;

use crate::cpu::compiled::CpuSorts;
use crate::cpu::found::Ordered;
use crate::cpu::permute;
use crate::cpu::room::{fill, room};
#[cfg(doc)]
use crate::cpu::tuning::FEW;
use crate::key::{Bits, Transform};

/// Fewer items than this are sorted by insertion. Vectors sort more codes faster, if they have no more than 64 bits.
pub(crate) const fn inserted<B: Bits>() -> usize {
    if B::WIDTH > u64::BITS { MOST_INSERTED } else { 6 }
}

/// The same for keys alone.
pub(crate) const fn inserted_keys<B: Bits>() -> usize {
    if B::WIDTH > u64::BITS { MOST_INSERTED } else { 4 }
}

const MOST_INSERTED: usize = 16;

/// Sorts fewer than [`inserted_keys`] keys. Inlined into the caller.
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
const INSERTED_WITH_CODES_BYTES: usize = 64;

/// Sorts fewer than [`inserted`] items by a code. Calls `code` once for each item. Stable.
#[inline]
pub(crate) fn insert_by_code<T, B: Bits>(items: &mut [T], code: impl Fn(&T) -> B) {
    let mut codes = [MaybeUninit::uninit(); MOST_INSERTED];
    let codes = fill(&mut codes, items.iter().map(code));
    if size_of::<T>() <= INSERTED_WITH_CODES_BYTES {
        return insert_with_codes(items, codes);
    }
    let mut order: [u32; MOST_INSERTED] = std::array::from_fn(|i| i as u32);
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

/// Sorts fewer than [`inserted`] keys by their codes, and moves each value with its key. Stable.
#[inline]
pub(crate) fn insert_pairs<B: Bits, V>(keys: &mut [B], payload: &mut [V], code: impl Fn(B) -> B) {
    assert!(keys.len() == payload.len());
    for i in 1..keys.len() {
        let mut at = i;
        while at > 0 && code(keys[at]) < code(keys[at - 1]) {
            keys.swap(at, at - 1);
            payload.swap(at, at - 1);
            at -= 1;
        }
    }
}

/// Sorts few codes together with their indices. Stable. Returns whether anything moved.
#[inline(always)]
pub(crate) fn insert_codes<B: Bits>(codes: &mut [B], order: &mut [u32]) -> bool {
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

/// Sorts up to [`FEW`] items by a code. Calls `code` once for each item. Stable.
#[inline]
pub(crate) fn sort_by_code<T, B: CpuSorts>(items: &mut [T], code: impl Fn(&T) -> B) {
    if items.len() < inserted::<B>() { insert_by_code(items, code) } else { order_by_code(items, code) }
}

#[inline(never)]
pub(crate) fn order_by_code<T, B: CpuSorts>(items: &mut [T], code: impl Fn(&T) -> B) {
    let (mut codes, mut order) = (room(), room());
    let codes = fill(&mut codes, items.iter().map(code));
    match B::order_few(codes, Transform::IDENTITY, &mut order) {
        Ordered::AsIs => {}
        Ordered::Reversed => items.reverse(),
        Ordered::By(order) => bring(items, order),
    }
}

/// Items of up to this many bytes in total are moved through a copy on the stack.
const MOVED_BYTES: usize = 16 << 10;

/// Puts `items[order[i]]` at index `i`, for all `i`.
#[inline(never)]
pub(crate) fn bring<T>(items: &mut [T], order: &[u32]) {
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
