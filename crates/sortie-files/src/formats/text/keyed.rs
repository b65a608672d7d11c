//! Lines with encoded keys.

use std::cmp::Ordering;
use std::collections::HashMap;

use foldhash::fast::RandomState;
use rayon::prelude::*;
use sortie::Sorter;

use super::LineSort;
use super::order::{LineOrder, directed};
use super::sorter::{LINES_A_BLOCK, builder};
use crate::memory::{filled, room};
use crate::{Error, Keyed};

/// The memory reserved for the key of a short line.
const KEY: usize = 64;
/// Up to this many lines that are equal in some keys, it does not pay to find codes of the next key.
const FEW: usize = 8;
/// From this many lines on, it pays to encode the other keys.
const MANY: usize = 1 << 9;
/// If this many lines have one text on average, each text is compared once.
const ALIKE: usize = 4;

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
        let is_first = firsts(items, cut, job)?;
        let mut is_first = is_first.iter();
        items.retain(|_| *is_first.next().expect("one for each"));
        items.iter_mut().for_each(|item| item.key = item.bytes);
    }
    Ok(())
}

/// For each line, whether it differs from the one before in the keys from the one at `cut`.
fn firsts(items: &[Keyed<'_, '_>], cut: usize, job: &LineSort<'_>) -> Result<Vec<bool>, Error> {
    let mut firsts = filled(items.len(), true)?;
    let differs = |pair: &[Keyed<'_, '_>]| {
        let [a, b] = [0, 1].map(|place| pair[place].bytes);
        let [text_a, text_b] = [a, b].map(|line| job.order.text_of_key(cut, line));
        pair[0].key != pair[1].key
            || job.order.compare_cut(cut, pair[0].key, text_a, text_b).is_ne()
            || job.order.compare_keys_from(cut + 1, a, b).is_ne()
    };
    let others = &mut firsts[items.len().min(1)..];
    if items.len() < LINES_A_BLOCK {
        others.iter_mut().zip(items.windows(2)).for_each(|(is_first, pair)| *is_first = differs(pair));
    } else {
        others
            .par_iter_mut()
            .zip(items.par_windows(2))
            .for_each(|(is_first, pair)| *is_first = differs(pair));
    }
    Ok(firsts)
}

/// Orders lines by their keys from the one at `cut`, whose encodings are equal.
fn order_from<'a>(cut: usize, items: &mut [Keyed<'_, 'a>], job: &LineSort<'_>) -> Result<(), Error> {
    let encoding = items[0].key;
    let text = |line: &'a [u8]| job.order.text_of_key(cut, line);
    let compare = |a: &[u8], b: &[u8]| job.order.compare_cut(cut, encoding, a, b);
    // Most ties of text are lines that repeat.
    let first = text(items[0].bytes);
    if items[1..].iter().all(|item| text(item.bytes) == first) {
        return if job.order.has_keys_after(cut) { order_after(cut + 1, items, job) } else { Ok(()) };
    }
    if items.len() <= FEW {
        let compare_others = |a: &_, b: &_| job.order.compare_keys_from(cut + 1, a, b);
        let mut pairs = [(&[][..], &[][..]); FEW];
        let pairs = &mut pairs[..items.len()];
        pairs.iter_mut().zip(&*items).for_each(|(pair, item)| *pair = (text(item.bytes), item.bytes));
        pairs.sort_by(|a, b| compare(a.0, b.0).then_with(|| compare_others(a.1, b.1)));
        items.iter_mut().zip(pairs).for_each(|(item, (_, line))| item.bytes = line);
        return Ok(());
    }
    let ends = sort_distinct(items, text, compare, job)?;
    if ends.is_none() {
        sort_by(items, text, compare, job)?;
    }
    if !job.order.has_keys_after(cut) {
        return Ok(());
    }
    let Some(ends) = ends else {
        let mut equal = items.chunk_by_mut(|a, b| compare(text(a.bytes), text(b.bytes)).is_eq());
        return equal.try_for_each(|equal| order_after(cut + 1, equal, job));
    };
    let starts = [0].into_iter().chain(ends.iter().copied());
    starts.zip(&ends).try_for_each(|(start, &end)| order_after(cut + 1, &mut items[start..end], job))
}

/// Orders lines by their keys from the one at `first`.
fn order_after<'a>(first: usize, items: &mut [Keyed<'_, 'a>], job: &LineSort<'_>) -> Result<(), Error> {
    if items.len() <= FEW {
        items.sort_by(|a, b| job.order.compare_keys_from(first, a.bytes, b.bytes));
        return Ok(());
    }
    if items.len() < MANY {
        let coded = |item: &Keyed<'_, 'a>| (item.bytes, job.order.code_of_key(first, item.bytes));
        let mut coded: Vec<_> = items.iter().map(coded).collect();
        coded.sort_by(|&a, &b| job.order.compare_coded_keys_from(first, a, b));
        items.iter_mut().zip(coded).for_each(|(item, (line, _))| item.bytes = line);
        return Ok(());
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

/// Sorts lines by a comparison of their texts, which compares each distinct text once with others. Returns the ends of equal texts. `None`,
/// and the order stays as it is, if most texts are distinct.
fn sort_distinct<'a>(
    items: &mut [Keyed<'_, 'a>],
    text: impl Fn(&'a [u8]) -> &'a [u8],
    compare: impl Fn(&[u8], &[u8]) -> Ordering + Sync,
    job: &LineSort<'_>,
) -> Result<Option<Vec<usize>>, Error> {
    let most = items.len() / ALIKE;
    let mut known: HashMap<&[u8], usize, _> = HashMap::with_hasher(RandomState::default());
    let mut distinct: Vec<&[u8]> = Vec::new();
    // The index of the text of each line.
    let mut texts: Vec<u32> = room(items.len())?;
    for item in &*items {
        let text = text(item.bytes);
        if distinct.len() == distinct.capacity() {
            let more = distinct.len().max(FEW);
            let no_room = |_| Error::Memory((more * size_of::<(&[u8], usize)>()) as u64);
            known.try_reserve(more).map_err(no_room)?;
            distinct
                .try_reserve_exact(more)
                .map_err(|_| Error::Memory((more * size_of::<&[u8]>()) as u64))?;
        }
        let index = *known.entry(text).or_insert(distinct.len());
        if index == distinct.len() {
            if index == most {
                return Ok(None);
            }
            distinct.push(text);
        }
        texts.push(index as u32);
    }
    let mut order: Vec<usize> = room(distinct.len())?;
    order.extend(0..distinct.len());
    let by_text = |&a: &usize, &b: &usize| compare(distinct[a], distinct[b]);
    if order.len() < LINES_A_BLOCK {
        order.sort_unstable_by(by_text);
    } else {
        builder(job, order.len()).build()?.sort_by(&mut order, by_text)?;
    }
    // Texts that differ may be equal. Their lines stay in order among each other.
    let (mut ranks, mut rank) = (filled(distinct.len(), 0)?, 0);
    for pair in order.windows(2) {
        rank += usize::from(compare(distinct[pair[0]], distinct[pair[1]]).is_ne());
        ranks[pair[1]] = rank;
    }
    let mut starts = filled(rank + 2, 0)?;
    texts.iter().for_each(|&text| starts[ranks[text as usize] + 1] += 1);
    (1..starts.len()).for_each(|rank| starts[rank] += starts[rank - 1]);
    let mut sorted: Vec<&[u8]> = filled(items.len(), &[][..])?;
    for (item, &text) in items.iter().zip(&texts) {
        let start = &mut starts[ranks[text as usize]];
        sorted[*start] = item.bytes;
        *start += 1;
    }
    items.iter_mut().zip(sorted).for_each(|(item, line)| item.bytes = line);
    // Each start moved to the end.
    starts.pop();
    Ok(Some(starts))
}

/// Sorts lines by a comparison of their texts.
fn sort_by<'a>(
    items: &mut [Keyed<'_, 'a>],
    text: impl Fn(&'a [u8]) -> &'a [u8] + Sync,
    compare: impl Fn(&[u8], &[u8]) -> Ordering + Sync,
    job: &LineSort<'_>,
) -> Result<(), Error> {
    if items.len() < LINES_A_BLOCK {
        let mut pairs: Vec<_> = room(items.len())?;
        pairs.extend(items.iter().map(|item| (text(item.bytes), item.bytes)));
        pairs.sort_by(|a, b| compare(a.0, b.0));
        items.iter_mut().zip(pairs).for_each(|(item, (_, line))| item.bytes = line);
    } else {
        let by_text = |a: &Keyed<'_, 'a>, b: &Keyed<'_, 'a>| compare(text(a.bytes), text(b.bytes));
        builder(job, items.len()).build()?.sort_by(items, by_text)?;
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
