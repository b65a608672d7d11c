//! The items that the library sorts: lines, or lines with encoded keys.

use std::cmp::Ordering;
use std::time::Instant;

use rayon::prelude::*;
use sortie::plan::Plan;
use sortie::request::{Beside, KeyForm, Operation};
use sortie::{Sorter, SorterBuilder};
use sortie_files::memory::{filled, room};
use sortie_files::{Error, Item, Keyed, Sink};
use sortie_formats::lines;

use super::alike::{self, Numbers};
use super::cost::Cost;
use super::text::{PART, Text};
use super::{LineSort, numbers};
use crate::order::LineOrder;

/// The keys of this many lines share one allocation. Fewer lines than this are encoded and ordered by one
/// thread.
pub const LINES_A_BLOCK: usize = 1 << 14;
/// The memory reserved for the key of a short line.
const KEY: usize = 64;

/// Text in memory, and the number of lines in each of its parts.
pub struct Lines<'a> {
    parts: Vec<&'a [u8]>,
    counts: Vec<usize>,
}

/// Lines in sorted order.
#[derive(Clone, Copy)]
pub enum Sorted<'a, 's> {
    Plain(&'s [&'a [u8]]),
    Keyed(&'s [Keyed<'a>]),
    Numbers(Numbers<'s>),
}

impl Sorted<'_, '_> {
    /// The bytes of the longest line.
    pub fn longest(self) -> usize {
        match self {
            Sorted::Plain(lines) => lines.iter().map(|line| line.len()).max(),
            Sorted::Keyed(items) => items.iter().map(|item| item.bytes.len()).max(),
            Sorted::Numbers(numbers) => Some(numbers.longest()),
        }
        .unwrap_or(0)
    }

    /// Writes the lines into `sink`.
    pub fn write(self, job: &LineSort, sink: Sink<'_>) -> Result<(), Error> {
        match self {
            Sorted::Plain(lines) => write(lines, job, sink),
            Sorted::Keyed(items) => write(items, job, sink),
            Sorted::Numbers(numbers) => {
                let (start, mut written) = (Instant::now(), 0);
                numbers.write(job, &mut |lines| {
                    written += lines.len();
                    sink(lines)
                })?;
                job.ledger.note("write", start.elapsed(), numbers.bytes(), written);
                Ok(())
            }
        }
    }
}

fn write<'a>(items: &[impl Item<'a>], job: &LineSort, sink: Sink<'_>) -> Result<(), Error> {
    let mut gather = job.gather();
    let bytes = gather.bytes(items);
    gather.alone |= gather.copied(items) < PART;
    job.ledger.timed("write", bytes, bytes, || gather.write(items, sink))
}

impl<'a> Lines<'a> {
    /// The lines of several texts in sequence. Each text ends with a terminator.
    pub fn of(texts: &'a [Vec<u8>], job: &LineSort) -> Self {
        let parts = |text: &[u8]| if job.is_alone() { 1 } else { text.len().div_ceil(PART) };
        let cut = |text: &'a Vec<u8>| lines::parts(text, job.terminator, parts(text));
        let parts: Vec<_> = texts.iter().flat_map(cut).collect();
        let count = |part: &&[u8]| lines::count(part, job.terminator);
        let counts = if job.is_alone() {
            parts.iter().map(count).collect()
        } else {
            parts.par_iter().map(count).collect()
        };
        Lines { parts, counts }
    }

    /// The lines of a text that was searched.
    pub fn of_text(text: &'a Text) -> Self {
        let (parts, counts) = text.parts().unzip();
        Lines { parts, counts }
    }

    /// The number of lines.
    pub fn count(&self) -> usize {
        self.counts.iter().sum()
    }

    /// The bytes of memory needed to sort the lines, including the text.
    pub fn cost(&self, job: &LineSort) -> Result<u64, Error> {
        let mut cost = Cost::default();
        for (part, &count) in self.parts.iter().zip(&self.counts) {
            cost.add(&job.order, count, part, job.terminator)?;
        }
        Ok(self.bytes() as u64 + cost.bytes())
    }

    /// Sorts the lines, then passes them to `then`.
    pub fn sort(
        self,
        job: &LineSort,
        then: impl FnOnce(Sorted<'_, '_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let bytes = self.bytes();
        if let Some(descending) = job.order.number_line()
            && let Some((mut numbers, decimals)) =
                job.ledger.timed("parse", bytes, 0, || alike::read(&self, job))?
        {
            job.ledger.absorb(sorter(job, descending, numbers.len())?.sort(&mut numbers)?);
            if job.order.unique() {
                numbers.dedup();
            }
            return then(Sorted::Numbers(Numbers::new(&numbers, decimals)));
        }
        let mut lines = job.ledger.timed("split", bytes, 0, || self.split(job))?;
        if let Some(descending) = job.order.plain() {
            job.ledger.absorb(sorter(job, descending, lines.len())?.sort_strings(&mut lines)?);
            return then(Sorted::Plain(&lines));
        }
        if job.order.is_number() {
            numbers::sort(&mut lines, bytes, job)?;
            return then(Sorted::Plain(&lines));
        }
        let blocks = job.ledger.timed("encode", bytes, 0, || encode(&lines, job))?;
        let mut items = keyed(&lines, &blocks)?;
        drop(lines);
        job.ledger.absorb(sorter(job, false, items.len())?.sort_strings(&mut items)?);
        if let Some(descending) = job.order.last_resort() {
            // This sort compares items, so it never uses a GPU.
            let sorter = builder(job, items.len()).descending(descending).build()?;
            job.ledger.timed("last resort", 0, 0, || order_equal(&mut items, descending, &sorter))?;
        }
        then(Sorted::Keyed(&items))
    }

    /// The text.
    pub fn parts(&self) -> &[&'a [u8]] {
        &self.parts
    }

    /// The number of lines in each part.
    pub fn counts(&self) -> &[usize] {
        &self.counts
    }

    fn bytes(&self) -> usize {
        self.parts.iter().map(|part| part.len()).sum()
    }

    fn split(&self, job: &LineSort) -> Result<Vec<&'a [u8]>, Error> {
        let mut found = filled(self.count(), &[][..])?;
        let mut rest = &mut found[..];
        let rooms = self.counts.iter().map(|&count| rest.split_off_mut(..count).expect("as many as counted"));
        let work = self.parts.iter().zip(rooms);
        let split = |(part, room): (&&'a [u8], &mut [&'a [u8]])| match room {
            // The part is a single line, whose terminator is the last byte.
            [line] => *line = &part[..part.len() - 1],
            room => lines::split(part, job.terminator, room),
        };
        // Parts that are single lines are no work.
        if job.is_alone() || self.counts.iter().filter(|&&count| count > 1).count() < 2 {
            work.for_each(split);
        } else {
            work.collect::<Vec<_>>().into_par_iter().for_each(split);
        }
        Ok(found)
    }
}

/// Plans the sort of `lines` lines.
pub fn plan(job: &LineSort, lines: usize) -> Result<Plan, sortie::Error> {
    let sorter = sorter(job, job.order.plain().unwrap_or(false), lines)?;
    let is_keyed = job.order.plain().is_none() && !job.order.is_number();
    let item = if is_keyed { size_of::<Keyed<'_>>() } else { size_of::<&[u8]>() };
    let keys = if job.order.is_number() { KeyForm::of::<u64>() } else { KeyForm::Strings };
    let beside = Beside::Payload { bytes: item, stable: true };
    sorter.explain(&sorter.request(Operation::Array, keys, beside, lines))
}

/// A sorter of `lines` lines or keys.
pub fn sorter(job: &LineSort, descending: bool, lines: usize) -> Result<Sorter, sortie::Error> {
    builder(job, lines).engine(job.engine).descending(descending).build()
}

/// A builder for sorters of `lines` lines or keys. They use the program's thread pool, or one thread if there is no pool or the lines are
/// too few to divide.
pub fn builder(job: &LineSort, lines: usize) -> SorterBuilder {
    if job.is_alone() || lines < LINES_A_BLOCK { Sorter::builder().threads(1) } else { Sorter::builder() }
}

/// The keys of some lines, stored one after the other.
struct Block {
    keys: Vec<u8>,
    ends: Vec<usize>,
}

fn encode(lines: &[&[u8]], job: &LineSort) -> Result<Vec<Block>, Error> {
    let encode = |lines: &[&[u8]]| {
        let mut block = Block { keys: Vec::new(), ends: room(lines.len())? };
        for line in lines {
            encode_key(line, &job.order, &mut block.keys)?;
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

/// Appends the key of a line. It is usually no longer than the line.
pub fn encode_key(line: &[u8], order: &LineOrder, keys: &mut Vec<u8>) -> Result<(), Error> {
    let reserved = keys.try_reserve(line.len() + KEY);
    reserved.map_err(|_| Error::Memory((keys.len() + line.len()) as u64))?;
    order.encode(line, keys);
    Ok(())
}

fn keyed<'a>(lines: &[&'a [u8]], blocks: &'a [Block]) -> Result<Vec<Keyed<'a>>, Error> {
    let mut items = filled(lines.len(), Keyed { key: &[], bytes: &[] })?;
    let pair = |((items, lines), block): ((&mut [Keyed<'a>], &[&'a [u8]]), &'a Block)| {
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
fn order_equal(items: &mut [Keyed<'_>], descending: bool, sorter: &Sorter) -> Result<(), Error> {
    let by_line = |a: &Keyed<'_>, b: &Keyed<'_>| direct(a.bytes.cmp(b.bytes), descending);
    if items.len() < LINES_A_BLOCK {
        items.chunk_by_mut(|a, b| a.key == b.key).for_each(|equal| equal.sort_unstable_by(by_line));
        return Ok(());
    }
    // Finds the items equal to the middle item, and recurses into both sides.
    let key = items[items.len() / 2].key;
    let start = items.partition_point(|item| item.key < key);
    let end = items.partition_point(|item| item.key <= key);
    let (rest, after) = items.split_at_mut(end);
    let (before, equal) = rest.split_at_mut(start);
    let (sides, middle) = rayon::join(
        || {
            let (before, after) = rayon::join(
                || order_equal(before, descending, sorter),
                || order_equal(after, descending, sorter),
            );
            before.and(after)
        },
        || order_by_line(equal, by_line, sorter),
    );
    sides.and(middle)
}

/// Orders items whose keys are all equal.
fn order_by_line(
    equal: &mut [Keyed<'_>],
    by_line: impl Fn(&Keyed<'_>, &Keyed<'_>) -> Ordering,
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

pub fn direct(ordering: Ordering, descending: bool) -> Ordering {
    if descending { ordering.reverse() } else { ordering }
}
