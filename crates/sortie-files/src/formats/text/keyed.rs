//! Lines with encoded keys.

use std::cmp::Ordering;

use rayon::prelude::*;
use sortie::Sorter;

use super::LineSort;
use super::order::{LineOrder, directed};
use super::sorter::{LINES_A_BLOCK, builder};
use crate::memory::{filled, room};
use crate::{Error, Keyed};

/// The memory reserved for the key of a short line.
const KEY: usize = 64;
/// From this many lines on that are equal in some keys, it pays to encode the other keys.
const MANY: usize = 1 << 9;

/// The keys of some lines, stored one after the other.
pub struct Block {
    keys: Vec<u8>,
    ends: Vec<usize>,
}

/// Encodes the keys of all lines, from the one at `first`.
pub fn encode(lines: &[&[u8]], first: usize, job: &LineSort<'_>) -> Result<Vec<Block>, Error> {
    let encode = |lines: &[&[u8]]| {
        let mut block = Block { keys: Vec::new(), ends: room(lines.len())? };
        for line in lines {
            encode_key(line, &job.order, first, &mut block.keys)?;
            block.ends.push(block.keys.len());
        }
        Ok(block)
    };
    if lines.len() <= LINES_A_BLOCK {
        Ok(vec![encode(lines)?])
    } else {
        lines.par_chunks(LINES_A_BLOCK).map(encode).collect()
    }
}

/// Appends the keys of a line from the one at `first`. They are usually no longer than the line.
pub fn encode_key(line: &[u8], order: &LineOrder, first: usize, keys: &mut Vec<u8>) -> Result<(), Error> {
    let reserved = keys.try_reserve(line.len() + KEY);
    reserved.map_err(|_| Error::Memory((keys.len() + line.len()) as u64))?;
    order.encode(line, first, keys);
    Ok(())
}

/// Pairs each line with its key.
pub fn keyed<'k, 'a>(lines: &[&'a [u8]], blocks: &'k [Block]) -> Result<Vec<Keyed<'k, 'a>>, Error> {
    let mut items = filled(lines.len(), Keyed { key: &[], bytes: &[] })?;
    let pair = |((items, lines), block): ((&mut [Keyed<'k, 'a>], &[&'a [u8]]), &'k Block)| {
        let mut start = 0;
        for ((item, line), &end) in items.iter_mut().zip(lines).zip(&block.ends) {
            *item = Keyed { key: &block.keys[start..end], bytes: line };
            start = end;
        }
    };
    if let [block] = blocks {
        pair(((&mut items, lines), block));
    } else {
        items.par_chunks_mut(LINES_A_BLOCK).zip(lines.par_chunks(LINES_A_BLOCK)).zip(blocks).for_each(pair);
    }
    Ok(items)
}

/// Orders lines with equal keys by their bytes. `items` must be sorted by key.
pub fn order_equal(items: &mut [Keyed<'_, '_>], descending: bool, sorter: &Sorter) -> Result<(), Error> {
    let by_line = |a: &Keyed<'_, '_>, b: &Keyed<'_, '_>| directed(a.bytes.cmp(b.bytes), descending);
    for_equal(items, &|equal| order_by_line(equal, by_line, sorter))
}

/// Orders lines with equal keys whose encodings are cut off at the key `cut`. If the order is unique, keeps only the first of those that
/// are equal, and replaces the key of each by its bytes. `items` must be sorted by key.
pub fn order_cut<'k, 'a: 'k>(
    items: &mut Vec<Keyed<'k, 'a>>,
    cut: usize,
    job: &LineSort<'_>,
) -> Result<(), Error> {
    for_equal(items, &|equal| order_from(cut, equal, job))?;
    if job.order.unique() {
        items.dedup_by(|next, first| {
            next.key == first.key && job.order.compare_keys_from(cut, first.bytes, next.bytes).is_eq()
        });
        items.iter_mut().for_each(|item| item.key = item.bytes);
    }
    Ok(())
}

/// Orders lines by their keys from the one at `cut`, whose encodings are equal.
fn order_from(cut: usize, items: &mut [Keyed<'_, '_>], job: &LineSort<'_>) -> Result<(), Error> {
    if items.len() < MANY || !job.order.has_keys_after(cut) {
        return sort_by(items, |a, b| job.order.compare_keys_from(cut, a, b), job);
    }
    let compare = |a: &[u8], b: &[u8]| job.order.compare_key(cut, a, b);
    sort_by(items, compare, job)?;
    let mut equal = items.chunk_by_mut(|a, b| compare(a.bytes, b.bytes).is_eq());
    equal.try_for_each(|equal| order_after(cut + 1, equal, job))
}

/// Orders lines by their keys from the one at `first`.
fn order_after(first: usize, items: &mut [Keyed<'_, '_>], job: &LineSort<'_>) -> Result<(), Error> {
    if items.len() < MANY {
        return sort_by(items, |a, b| job.order.compare_keys_from(first, a, b), job);
    }
    let mut lines: Vec<&[u8]> = room(items.len())?;
    lines.extend(items.iter().map(|item| item.bytes));
    let blocks = encode(&lines, first, job)?;
    let mut sorted = keyed(&lines, &blocks)?;
    drop(lines);
    builder(job, sorted.len()).build()?.sort_strings(&mut sorted)?;
    if let Some(cut) = job.order.cut(first) {
        for_equal(&mut sorted, &|equal| order_from(cut, equal, job))?;
    }
    items.iter_mut().zip(sorted).for_each(|(item, sorted)| item.bytes = sorted.bytes);
    Ok(())
}

/// Sorts lines by a comparison.
fn sort_by(
    items: &mut [Keyed<'_, '_>],
    compare: impl Fn(&[u8], &[u8]) -> Ordering + Sync,
    job: &LineSort<'_>,
) -> Result<(), Error> {
    let compare = |a: &Keyed<'_, '_>, b: &Keyed<'_, '_>| compare(a.bytes, b.bytes);
    if items.len() < LINES_A_BLOCK {
        items.sort_by(compare);
    } else {
        builder(job, items.len()).build()?.sort_by(items, compare)?;
    }
    Ok(())
}

/// Passes all items with equal keys to `arrange`, those of several keys at the same time. `items` must be sorted by key.
fn for_equal(
    items: &mut [Keyed<'_, '_>],
    arrange: &(impl Fn(&mut [Keyed<'_, '_>]) -> Result<(), Error> + Sync),
) -> Result<(), Error> {
    if items.len() < LINES_A_BLOCK {
        let mut equal = items.chunk_by_mut(|a, b| a.key == b.key).filter(|equal| equal.len() > 1);
        return equal.try_for_each(arrange);
    }
    // Finds the items equal to the middle item, and recurses into both sides.
    let key = items[items.len() / 2].key;
    let start = items.partition_point(|item| item.key < key);
    let end = items.partition_point(|item| item.key <= key);
    let (rest, after) = items.split_at_mut(end);
    let (before, equal) = rest.split_at_mut(start);
    let (sides, middle) = rayon::join(
        || {
            let (before, after) = rayon::join(|| for_equal(before, arrange), || for_equal(after, arrange));
            before.and(after)
        },
        || arrange(equal),
    );
    sides.and(middle)
}

/// Orders items whose keys are all equal.
fn order_by_line(
    equal: &mut [Keyed<'_, '_>],
    by_line: impl Fn(&Keyed<'_, '_>, &Keyed<'_, '_>) -> Ordering,
    sorter: &Sorter,
) -> Result<(), Error> {
    if equal.len() < LINES_A_BLOCK {
        equal.sort_unstable_by(by_line);
        return Ok(());
    }
    let mut lines: Vec<&[u8]> = room(equal.len())?;
    lines.extend(equal.iter().map(|item| item.bytes));
    sorter.sort_strings(&mut lines)?;
    equal.iter_mut().zip(lines).for_each(|(item, line)| item.bytes = line);
    Ok(())
}
