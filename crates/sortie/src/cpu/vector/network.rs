//! Sorts up to four register files of keys: columns with an optimal network, then bitonic merges of columns.
//!
//! R registers of L lanes hold L columns of R keys: a block. The columns are sorted by compare-exchanges of whole
//! registers. Then groups of columns are merged, doubling their width each time. The first step of each bitonic merge
//! compares a group with its mirror image, later steps compare columns, and the last log R steps compare whole
//! registers without any shuffle. Blocks are merged in the same way. The keys of a block are then in column order and
//! are zipped into rows. No branch depends on a key.
//!
//! Source: Batcher's bitonic merge; the networks of 4, 8 and 16 inputs are the smallest known (Knuth, TAOCP 3, 5.3.4).
//! The column-wise use of registers follows Blacher et al., "Vectorized and performance-portable quicksort" (2022). The
//! column order of the merges, in which most steps need no shuffle, is ours.

use std::mem::MaybeUninit;

use super::Vector;
use crate::key::{Bits, Transform};

/// The maximum number of keys for [`sort`].
pub(super) const fn capacity<V: Vector>() -> usize {
    4 * V::ROWS * V::LANES
}

/// Sorts `n` keys, at most [`capacity`].
///
/// # Safety
/// `keys` is valid for `n` keys; the machine supports the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn sort<V: Vector>(keys: *mut V::Lane, n: usize) {
    debug_assert!(n <= capacity::<V>());
    // SAFETY: the caller guarantees it.
    unsafe {
        if n <= V::ROWS * V::LANES {
            V::sort_small(std::slice::from_raw_parts_mut(keys, n), &Transform::IDENTITY);
        } else if V::ROWS == 8 {
            sort_blocks::<V, 8>(keys, n);
        } else {
            sort_blocks::<V, 16>(keys, n);
        }
    }
}

/// Sorts at most one block of keys, which are codes only while they are in registers. Returns whether any was moved.
///
/// # Safety
/// There are at most `ROWS` registers of keys, integers or floats in the plain order; the machine supports the instructions of `V`, and
/// the caller is compiled for them.
#[inline(always)]
pub(super) unsafe fn sort_small<V: Vector>(keys: &mut [V::Lane], transform: &Transform<V::Lane>) -> bool {
    debug_assert!(keys.len() <= V::ROWS * V::LANES);
    if keys.len() < 2 {
        return false;
    }
    // SAFETY: the caller guarantees it.
    unsafe {
        let coding = Coding::<V>::of(transform);
        if keys.len() > V::LANES
            && let Some(ascending) = is_run(keys, coding)
        {
            if !ascending {
                keys.reverse();
            }
            return !ascending;
        }
        match keys.len().div_ceil(V::LANES) {
            0 | 1 => sort_block::<V, 1>(keys, coding),
            2 => sort_block::<V, 2>(keys, coding),
            3..=4 => sort_block::<V, 4>(keys, coding),
            9.. if V::ROWS > 8 => sort_block::<V, 16>(keys, coding),
            _ => sort_block::<V, 8>(keys, coding),
        }
    }
}

/// Whether all keys ascend, or else all descend and no two of them are equal. `None` if neither is so, which the first row usually shows.
/// It takes less time than sorting them, and a sort by comparisons would not need to sort them.
#[inline(always)]
unsafe fn is_run<V: Vector>(keys: &[V::Lane], coding: Coding<V>) -> Option<bool> {
    let (n, at) = (keys.len(), keys.as_ptr());
    let (mut compared, mut descents) = (0, 0);
    while compared + 1 < n {
        let count = (n - 1 - compared).min(V::LANES);
        // SAFETY: both rows are cut to the keys; the machine supports the instructions of `V`.
        unsafe {
            let row = coding.encode(load_row(at.add(compared), count, coding.pad));
            let next = coding.encode(load_row(at.add(compared + 1), count, coding.pad));
            descents += next.less(row).count_ones() as usize;
        }
        compared += count;
        if descents != 0 && descents != compared {
            return None;
        }
    }
    Some(descents == 0)
}

/// Loads `count` lanes, at least one, and fills them up with `pad`.
#[inline(always)]
unsafe fn load_row<V: Vector>(keys: *const V::Lane, count: usize, pad: V) -> V {
    // SAFETY: the caller guarantees that many keys.
    unsafe { if count == V::LANES { V::load(keys) } else { V::load_first(keys, count, pad) } }
}

/// Sorts one block, of which more than half of the rows have keys. There are at least two keys. Returns whether any was moved, which is
/// seen in a block of one row only.
#[inline(always)]
unsafe fn sort_block<V: Vector, const R: usize>(keys: &mut [V::Lane], coding: Coding<V>) -> bool {
    let (n, at) = (keys.len(), keys.as_mut_ptr());
    // SAFETY: the loads and stores are cut to the keys; the caller guarantees the rest.
    unsafe {
        let mut rows = load_padded::<V, R>(at, n, coding.pad);
        coding.encode_rows(&mut rows);
        if R == 1 {
            let next = coding.encode(V::load_first(at.add(1), n - 1, coding.pad));
            if next.less(rows[0]) == 0 {
                return false;
            }
            sort_row(&mut rows[0], n);
        } else {
            sort_rows(&mut rows);
        }
        zip_columns(&mut rows);
        coding.decode_rows(&mut rows);
        for (r, row) in rows.into_iter().enumerate() {
            let to = at.add(r * V::LANES);
            match n.saturating_sub(r * V::LANES) {
                _ if r < R / 2 => row.store(to),
                0 => {}
                left if left < V::LANES => store_few(row, to, left),
                _ => row.store(to),
            }
        }
    }
    true
}

/// Stores the first `count` lanes, not all, by up to two stores that overlap. After a masked store, the processor would wait with the
/// load of an array that begins after these lanes.
#[inline(always)]
unsafe fn store_few<V: Vector>(row: V, to: *mut V::Lane, count: usize) {
    /// Copies at least S bytes and at most twice as many.
    #[inline(always)]
    unsafe fn copy<const S: usize>(from: *const u8, to: *mut u8, bytes: usize) {
        // SAFETY: both have that many bytes.
        unsafe {
            let (first, last) = (from.cast::<[u8; S]>().read(), from.add(bytes - S).cast::<[u8; S]>().read());
            to.cast::<[u8; S]>().write(first);
            to.add(bytes - S).cast::<[u8; S]>().write(last);
        }
    }
    let mut lanes = MaybeUninit::<V>::uninit();
    // SAFETY: the target has that many lanes, and so has the register.
    unsafe {
        row.store(lanes.as_mut_ptr().cast());
        let (from, to, bytes) = (lanes.as_ptr().cast(), to.cast(), count * size_of::<V::Lane>());
        match bytes {
            32.. => copy::<32>(from, to, bytes),
            16.. => copy::<16>(from, to, bytes),
            8.. => copy::<8>(from, to, bytes),
            4.. => copy::<4>(from, to, bytes),
            _ => copy::<2>(from, to, bytes),
        }
    }
}

/// The codes of keys, as `Transform` has them for integers and for floats in the plain order.
#[derive(Clone, Copy)]
struct Coding<V> {
    /// The code of zero.
    zero: V,
    /// The key with the largest code.
    pad: V,
    is_float: bool,
}

impl<V: Vector> Coding<V> {
    #[inline(always)]
    unsafe fn of(transform: &Transform<V::Lane>) -> Self {
        // SAFETY (here and below): the machine supports the instructions of `V`.
        let (zero, pad) =
            unsafe { (V::splat(transform.encode(V::Lane::ZERO)), V::splat(transform.decode(V::Lane::MAX))) };
        Coding { zero, pad, is_float: !transform.is_integer() }
    }

    #[inline(always)]
    unsafe fn encode(self, keys: V) -> V {
        // SAFETY: see above.
        unsafe { if self.is_float { self.encode_float(keys) } else { keys.xor(self.zero) } }
    }

    #[inline(always)]
    unsafe fn encode_float(self, keys: V) -> V {
        // SAFETY: see above.
        unsafe { flip(keys, keys).sub(V::splat(V::Lane::SIGN).sub(self.zero)) }
    }

    // The kind of the keys is looked at once, because of the code that a row takes if it is looked at for each. Closures would not
    // always be compiled for the instructions of `V`.
    #[inline(always)]
    unsafe fn encode_rows<const R: usize>(self, rows: &mut [V; R]) {
        // SAFETY: see above.
        unsafe {
            if self.is_float {
                for row in rows {
                    *row = self.encode_float(*row);
                }
            } else {
                for row in rows {
                    *row = row.xor(self.zero);
                }
            }
        }
    }

    #[inline(always)]
    unsafe fn decode_rows<const R: usize>(self, rows: &mut [V; R]) {
        // SAFETY: see above.
        unsafe {
            if self.is_float {
                for row in rows {
                    let code = row.sub(self.zero.sub(V::splat(V::Lane::SIGN)));
                    *row = flip(code, code.xor(V::splat(V::Lane::MAX)));
                }
            } else {
                for row in rows {
                    *row = row.xor(self.zero);
                }
            }
        }
    }
}

/// Flips all bits of the lanes whose `negative` has the sign bit, and the sign bit of the others.
#[inline(always)]
unsafe fn flip<V: Vector>(lanes: V, negative: V) -> V {
    // SAFETY: the machine supports the instructions of `V`.
    unsafe { lanes.xor(negative.sign_mask().or(V::splat(V::Lane::SIGN))) }
}

/// Sorts one row, of which the first `n` lanes hold keys. Groups of lanes that are wider than `n` are not merged.
#[inline(always)]
unsafe fn sort_row<V: Vector>(row: &mut V, n: usize) {
    // SAFETY: the machine supports the instructions of `V`.
    unsafe {
        let rows = std::array::from_mut(row);
        merge::<V, 1, 2>(rows);
        merge::<V, 1, 4>(rows);
        if V::LANES >= 8 && n > 4 {
            merge::<V, 1, 8>(rows);
        }
        if V::LANES >= 16 && n > 8 {
            merge::<V, 1, 16>(rows);
        }
        if V::LANES >= 32 && n > 16 {
            merge::<V, 1, 32>(rows);
        }
    }
}

/// Sorts two to four blocks: sorts each separately, then merges them.
#[inline(always)]
unsafe fn sort_blocks<V: Vector, const R: usize>(keys: *mut V::Lane, n: usize) {
    let size = R * V::LANES;
    let count = n.div_ceil(size);
    let mut blocks = [MaybeUninit::<[V; R]>::uninit(); 4];
    let at = blocks.as_mut_ptr().cast::<V>();
    // SAFETY: each block starts within the keys and is cut to the keys that are left; `at` has room for four blocks.
    unsafe {
        for b in 0..count {
            let mut rows = load::<V, R>(keys.add(b * size), n - b * size);
            sort_rows(&mut rows);
            write_block(rows, at.add(b * R));
        }
        merge_blocks::<V, R>(at, at.add(R));
        if count > 2 {
            let (first, second, third, fourth) = (at, at.add(R), at.add(2 * R), at.add(3 * R));
            if count > 3 {
                merge_blocks::<V, R>(third, fourth);
            } else {
                write_block([V::splat(V::Lane::MAX); R], fourth);
            }
            for up in 0..R / 2 {
                // The first block is compared with the mirror image of the last, the second with that of the third.
                let down = R - 1 - up;
                let (a, b) =
                    (order_mirrored(first, fourth, up, down), order_mirrored(first, fourth, down, up));
                let (c, d) =
                    (order_mirrored(second, third, up, down), order_mirrored(second, third, down, up));
                write_pairs([a, b], first, third, [up, down]);
                write_pairs([c, d], second, fourth, [up, down]);
            }
            for b in [0, 2 * R] {
                for r in 0..R {
                    let (low, high) = (at.add(b + r), at.add(b + R + r));
                    (*low, *high) = (*low).order(*high);
                }
            }
            for b in 0..count {
                clean_block::<V, R>(at.add(b * R));
            }
        }
        for b in 0..count {
            store_zipped::<V, R>(read_block(at.add(b * R)), keys.add(b * size), n - b * size);
        }
    }
}

/// Orders row `up` of one block with row `down` of the mirror image of another.
#[inline(always)]
unsafe fn order_mirrored<V: Vector>(block: *const V, other: *const V, up: usize, down: usize) -> (V, V) {
    // SAFETY: the rows are within their blocks; the machine supports the instructions of `V`.
    unsafe { (*block.add(up)).order(mirror(*other.add(down))) }
}

/// Writes the lesser of each pair to one block and the greater to another.
#[inline(always)]
unsafe fn write_pairs<V: Vector>(pairs: [(V, V); 2], low: *mut V, high: *mut V, rows: [usize; 2]) {
    for (pair, row) in pairs.into_iter().zip(rows) {
        // SAFETY: the rows are within their blocks.
        unsafe { (*low.add(row), *high.add(row)) = pair };
    }
}

/// Merges two sorted blocks.
#[inline(always)]
unsafe fn merge_blocks<V: Vector, const R: usize>(low: *mut V, high: *mut V) {
    // SAFETY: both are blocks; the machine supports the instructions of `V`.
    unsafe {
        for up in 0..R / 2 {
            let down = R - 1 - up;
            let pairs = [order_mirrored(low, high, up, down), order_mirrored(low, high, down, up)];
            write_pairs(pairs, low, high, [up, down]);
        }
        clean_block::<V, R>(low);
        clean_block::<V, R>(high);
    }
}

/// Sorts a bitonic block.
#[inline(always)]
unsafe fn clean_block<V: Vector, const R: usize>(block: *mut V) {
    // SAFETY: it is a block; the machine supports the instructions of `V`.
    unsafe {
        let mut rows: [V; R] = read_block(block);
        for row in &mut rows {
            match V::LANES {
                4 => *row = clean_lanes::<V, 4>(*row),
                8 => *row = clean_lanes::<V, 8>(*row),
                16 => *row = clean_lanes::<V, 16>(*row),
                _ => *row = clean_lanes::<V, 32>(*row),
            }
        }
        half_clean_columns(&mut rows);
        write_block(rows, block);
    }
}

/// Reads a block row by row. Copying it as a whole would go through memory once more.
#[inline(always)]
unsafe fn read_block<V: Vector, const R: usize>(block: *const V) -> [V; R] {
    // SAFETY: it is a block.
    std::array::from_fn(|r| unsafe { *block.add(r) })
}

#[inline(always)]
unsafe fn write_block<V: Vector, const R: usize>(rows: [V; R], block: *mut V) {
    for (r, row) in rows.iter().enumerate() {
        // SAFETY: it is a block.
        unsafe { *block.add(r) = *row };
    }
}

/// Reverses all lanes.
#[inline(always)]
unsafe fn mirror<V: Vector>(row: V) -> V {
    // SAFETY: the machine supports the instructions of `V`.
    unsafe {
        match V::LANES {
            4 => row.reverse::<4>(),
            8 => row.reverse::<8>(),
            16 => row.reverse::<16>(),
            _ => row.reverse::<32>(),
        }
    }
}

/// Loads the first R rows of `n` keys, filled up with the largest key.
#[inline(always)]
unsafe fn load<V: Vector, const R: usize>(keys: *const V::Lane, n: usize) -> [V; R] {
    // SAFETY: the caller guarantees it.
    unsafe { load_padded(keys, n, V::splat(V::Lane::MAX)) }
}

/// Loads the first R rows of `n` keys, filled up with `pad`.
#[inline(always)]
unsafe fn load_padded<V: Vector, const R: usize>(keys: *const V::Lane, n: usize, pad: V) -> [V; R] {
    // SAFETY: each row is within the `n` keys, or is cut to them.
    unsafe {
        let mut rows = [pad; R];
        if n >= R * V::LANES {
            for (r, row) in rows.iter_mut().enumerate() {
                *row = V::load(keys.add(r * V::LANES));
            }
        } else {
            for (r, row) in rows.iter_mut().enumerate() {
                let from = r * V::LANES;
                if from < n {
                    *row = V::load_first(keys.add(from), (n - from).min(V::LANES), pad);
                }
            }
        }
        rows
    }
}

/// Stores the first `n` keys of a block that is in column order.
#[inline(always)]
unsafe fn store_zipped<V: Vector, const R: usize>(mut rows: [V; R], keys: *mut V::Lane, n: usize) {
    // SAFETY: each row is within the `n` keys, or is cut to them.
    unsafe {
        zip_columns(&mut rows);
        if n >= R * V::LANES {
            for (r, row) in rows.iter().enumerate() {
                row.store(keys.add(r * V::LANES));
            }
        } else {
            for (r, row) in rows.iter().enumerate() {
                let to = r * V::LANES;
                if to < n {
                    row.store_first(keys.add(to), (n - to).min(V::LANES));
                }
            }
        }
    }
}

/// Sorts a block into column order.
#[inline(always)]
unsafe fn sort_rows<V: Vector, const R: usize>(rows: &mut [V; R]) {
    // SAFETY: the machine supports the instructions of `V`.
    unsafe {
        sort_columns(rows);
        merge::<V, R, 2>(rows);
        merge::<V, R, 4>(rows);
        if V::LANES >= 8 {
            merge::<V, R, 8>(rows);
        }
        if V::LANES >= 16 {
            merge::<V, R, 16>(rows);
        }
        if V::LANES >= 32 {
            merge::<V, R, 32>(rows);
        }
    }
}

macro_rules! compare_exchange {
    ($rows:ident: $($a:literal $b:literal),*) => {$(
        ($rows[$a], $rows[$b]) = $rows[$a].order($rows[$b]);
    )*};
}

/// Sorts each column.
#[inline(always)]
unsafe fn sort_columns<V: Vector, const R: usize>(rows: &mut [V; R]) {
    // SAFETY: the machine supports the instructions of `V`.
    unsafe {
        match R {
            2 => {
                compare_exchange!(rows: 0 1);
            }
            4 => {
                compare_exchange!(rows: 0 1, 2 3, 0 2, 1 3, 1 2);
            }
            8 => {
                compare_exchange!(rows:
                    0 2, 1 3, 4 6, 5 7, 0 4, 1 5, 2 6, 3 7, 0 1, 2 3, 4 5, 6 7, 2 4, 3 5, 1 4, 3 6, 1 2, 3 4, 5 6);
            }
            16 => {
                compare_exchange!(rows:
                    0 1, 2 3, 4 5, 6 7, 8 9, 10 11, 12 13, 14 15, 0 2, 1 3, 4 6, 5 7, 8 10, 9 11, 12 14, 13 15,
                    0 4, 1 5, 2 6, 3 7, 8 12, 9 13, 10 14, 11 15, 0 8, 1 9, 2 10, 3 11, 4 12, 5 13, 6 14, 7 15,
                    5 10, 6 9, 3 12, 13 14, 4 8, 7 11, 1 2, 1 4, 7 13, 2 8, 11 14, 2 4, 5 6, 9 10, 11 13, 3 8, 7 12,
                    6 8, 10 12, 3 5, 7 9, 3 4, 5 6, 7 8, 9 10, 11 12, 6 7, 8 9);
            }
            _ => {}
        }
    }
}

/// Merges the two sorted halves of every group of G columns.
#[inline(always)]
unsafe fn merge<V: Vector, const R: usize, const G: usize>(rows: &mut [V; R]) {
    // SAFETY: the machine supports the instructions of `V`.
    unsafe {
        // Compares with the mirror image: rows r and R - 1 - r, with lanes reversed within the group.
        for r in 0..R.div_ceil(2) {
            let (a, b) = (rows[r], rows[R - 1 - r]);
            (rows[r], rows[R - 1 - r]) = match G {
                2 => (a.min_max::<1>(b.reverse::<2>()), b.min_max::<1>(a.reverse::<2>())),
                4 => (a.min_max::<2>(b.reverse::<4>()), b.min_max::<2>(a.reverse::<4>())),
                8 => (a.min_max::<4>(b.reverse::<8>()), b.min_max::<4>(a.reverse::<8>())),
                16 => (a.min_max::<8>(b.reverse::<16>()), b.min_max::<8>(a.reverse::<16>())),
                _ => (a.min_max::<16>(b.reverse::<32>()), b.min_max::<16>(a.reverse::<32>())),
            };
        }
        for row in rows.iter_mut() {
            *row = match G {
                2 => *row,
                4 => clean_lanes::<V, 2>(*row),
                8 => clean_lanes::<V, 4>(*row),
                16 => clean_lanes::<V, 8>(*row),
                _ => clean_lanes::<V, 16>(*row),
            };
        }
        half_clean_columns(rows);
    }
}

/// Sorts bitonic groups of G lanes: compares lanes G / 2, ..., 2 and 1 apart.
#[inline(always)]
unsafe fn clean_lanes<V: Vector, const G: usize>(mut row: V) -> V {
    // SAFETY: the machine supports the instructions of `V`.
    unsafe {
        if G >= 32 {
            row = row.min_max::<16>(row.exchange::<16>());
        }
        if G >= 16 {
            row = row.min_max::<8>(row.exchange::<8>());
        }
        if G >= 8 {
            row = row.min_max::<4>(row.exchange::<4>());
        }
        if G >= 4 {
            row = row.min_max::<2>(row.exchange::<2>());
        }
        row.min_max::<1>(row.exchange::<1>())
    }
}

/// Sorts bitonic columns.
#[inline(always)]
unsafe fn half_clean_columns<V: Vector, const R: usize>(rows: &mut [V; R]) {
    // SAFETY: the machine supports the instructions of `V`.
    unsafe {
        if R >= 16 {
            half_clean::<V, R, 8>(rows);
        }
        if R >= 8 {
            half_clean::<V, R, 4>(rows);
        }
        if R >= 4 {
            half_clean::<V, R, 2>(rows);
        }
        if R >= 2 {
            half_clean::<V, R, 1>(rows);
        }
    }
}

/// Compares rows D apart.
#[inline(always)]
unsafe fn half_clean<V: Vector, const R: usize, const D: usize>(rows: &mut [V; R]) {
    for r in 0..R {
        if r & D == 0 && r + D < R {
            // SAFETY: the machine supports the instructions of `V`.
            unsafe {
                (rows[r], rows[r + D]) = rows[r].order(rows[r + D]);
            }
        }
    }
}

/// Converts column order to row order: zips row r with row r + R/2, log R times.
#[inline(always)]
unsafe fn zip_columns<V: Vector, const R: usize>(rows: &mut [V; R]) {
    let mut step = 1;
    while step < R {
        let from = *rows;
        for r in 0..R / 2 {
            // SAFETY: the machine supports the instructions of `V`.
            let (first, second) = unsafe { from[r].zip(from[r + R / 2]) };
            (rows[2 * r], rows[2 * r + 1]) = (first, second);
        }
        step *= 2;
    }
}
