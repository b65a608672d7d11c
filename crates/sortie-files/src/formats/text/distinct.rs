//! The distinct lines of unsorted inputs, and how often each occurs.
//!
//! If whole lines are compared, the threads take turns to read blocks, and each of them counts the lines of its blocks in a hash table.
//! Then only the lines of the tables are sorted, and equal lines of several tables are added up. If the tables become too large for the
//! memory, the rest of the input is sorted as any text, and what the tables have is merged with it. Lines with keys are all sorted.

use std::cmp::Ordering;
use std::hash::BuildHasher;
use std::iter::Peekable;
use std::sync::Mutex;
use std::time::Instant;
use std::vec;

use foldhash::fast::RandomState;
use hashbrown::HashTable;
use itoa::Buffer;
use rayon::prelude::*;
use sortie_formats::lines;

use super::LineSort;
use super::blocks::Blocks;
use super::external::Feed;
use super::order::Code;
use super::sorter::sorter;
use crate::memory::{append, append_line, room};
use crate::{Error, Input, Sink, Task};

/// The part of the memory, divided among the threads, that a table may take. The sort of its lines takes as much again.
const TABLE: u64 = 3;
/// The bytes that are gathered before they are written.
const BLOCK: usize = 64 << 10;
/// The least width of a count, as in GNU uniq.
const WIDTH: usize = 7;

/// Which distinct lines are written, and how: the options of GNU uniq.
#[derive(Debug, Clone, Copy, Default)]
pub struct Distinct {
    /// Whether each line follows the number of its occurrences (`-c`).
    pub count: bool,
    /// Whether lines that occur once are left out (`-d`).
    pub repeated: bool,
    /// Whether lines that occur several times are left out (`-u`).
    pub single: bool,
}

impl LineSort<'_> {
    /// Writes the first of all lines with equal keys into `sink`, in the order of the keys. Without keys, lines are equal if their bytes
    /// are; if a locale does not order some that differ, those stay in the order of the input, and may occur again. The sort must be stable and pass whole lines
    /// to its sink. `size` is the number of bytes of the inputs, if it is known.
    ///
    /// If whole lines are compared, the tables take as much memory as the budget, besides it.
    pub fn distinct_inputs(
        &self,
        how: Distinct,
        inputs: Vec<Input>,
        size: Option<u64>,
        task: &Task<'_>,
        sink: Sink<'_>,
    ) -> Result<(), Error> {
        let Some(descending) = self.order.plain() else {
            let mut counter = Counter::new(how, self, Vec::new(), sink);
            self.sort_inputs(inputs, size, task, &mut |text| counter.take(text))?;
            return counter.finish();
        };
        self.start_threads(size)?;
        self.ledger.progress.stage("counting", size.unwrap_or(0));
        let start = Instant::now();
        let blocks = Mutex::new(Blocks::new(inputs, size, self));
        let threads = self.readers();
        let count = |_| {
            let mut table = Table::new((self.budget / (TABLE * threads as u64)) as usize);
            table.take(&blocks, self)?;
            Ok(table)
        };
        let tables = if threads == 1 {
            vec![count(0)?]
        } else {
            (0..threads).into_par_iter().map(count).collect::<Result<Vec<_>, Error>>()?
        };
        let blocks = blocks.into_inner().expect("no thread panicked");
        let handed_out = blocks.handed_out() as usize;
        let (rest, inputs) = blocks.into_rest();
        let mut counted = room(tables.iter().map(|table| table.lines.len()).sum())?;
        counted.extend(tables.iter().flat_map(Table::counted));
        self.ledger.note("count", start.elapsed(), handed_out, counted.len());
        self.ledger.absorb(sorter(self, descending, counted.len())?.sort_strings(&mut counted)?);
        let mut counter = Counter::new(how, self, counted, sink);
        if !rest.is_empty() || !inputs.is_at_end() {
            task.sort(self, Feed::after(rest, inputs), None, &mut |text| counter.take(text))?;
        }
        counter.finish()
    }
}

/// The distinct lines that one thread has read.
struct Table {
    lines: HashTable<Line>,
    /// Its keys are random, so that no input can be made for which many hashes are equal.
    hasher: RandomState,
    /// The bytes of the lines, one after the other.
    text: Vec<u8>,
    /// The bytes that may be taken.
    share: usize,
}

struct Line {
    hash: u64,
    /// The line in the text.
    start: usize,
    length: usize,
    count: u64,
}

impl Line {
    fn of<'t>(&self, text: &'t [u8]) -> &'t [u8] {
        &text[self.start..][..self.length]
    }
}

impl Table {
    fn new(share: usize) -> Self {
        Table { lines: HashTable::new(), hasher: RandomState::default(), text: Vec::new(), share }
    }

    /// Takes block after block, until there are no more or the table of any thread takes too much memory.
    fn take(&mut self, blocks: &Mutex<Blocks>, job: &LineSort<'_>) -> Result<(), Error> {
        let mut block = Vec::new();
        loop {
            {
                let mut blocks = blocks.lock().expect("no thread panicked");
                if self.taken() > self.share {
                    blocks.stop();
                }
                if blocks.next(&mut block, job)?.is_none() {
                    return Ok(());
                }
            }
            let mut start = 0;
            lines::ends(&block, job.terminator).try_for_each(|end| {
                let line = &block[start..end];
                start = end + 1;
                self.count(line)
            })?;
        }
    }

    /// The bytes that the table takes. While it or the text grows, the old one is held too.
    fn taken(&self) -> usize {
        2 * (self.text.len() + self.lines.allocation_size())
    }

    #[inline]
    fn count(&mut self, line: &[u8]) -> Result<(), Error> {
        let hash = self.hasher.hash_one(line);
        if let Some(known) =
            self.lines.find_mut(hash, |known| known.hash == hash && known.of(&self.text) == line)
        {
            known.count += 1;
            return Ok(());
        }
        let (start, length) = (self.text.len(), line.len());
        append(&mut self.text, line)?;
        let room = self.lines.try_reserve(1, |line| line.hash);
        room.map_err(|_| Error::Memory(2 * self.lines.allocation_size() as u64))?;
        self.lines.insert_unique(hash, Line { hash, start, length, count: 1 }, |line| line.hash);
        Ok(())
    }

    fn counted(&self) -> impl Iterator<Item = Counted<'_>> {
        self.lines.iter().map(|line| Counted { line: line.of(&self.text), count: line.count })
    }
}

/// A line and the number of its occurrences.
#[derive(Clone, Copy)]
struct Counted<'a> {
    line: &'a [u8],
    count: u64,
}

impl AsRef<[u8]> for Counted<'_> {
    fn as_ref(&self) -> &[u8] {
        self.line
    }
}

/// Counts consecutive lines with equal keys, and writes the first of each. Without keys, these are equal lines: as in GNU uniq, their
/// bytes decide that in every locale.
struct Counter<'a, 's> {
    how: Distinct,
    job: &'a LineSort<'a>,
    /// What the tables have, in order.
    tables: Peekable<vec::IntoIter<Counted<'a>>>,
    /// The first of the lines that are being counted, and its code.
    line: Vec<u8>,
    code: Code,
    /// 0 if there was no line yet.
    count: u64,
    /// The bytes to write next.
    block: Vec<u8>,
    sink: Sink<'s>,
}

impl<'a, 's> Counter<'a, 's> {
    fn new(how: Distinct, job: &'a LineSort<'a>, tables: Vec<Counted<'a>>, sink: Sink<'s>) -> Self {
        let tables = tables.into_iter().peekable();
        Counter {
            how,
            job,
            tables,
            line: Vec::new(),
            code: Code::default(),
            count: 0,
            block: Vec::new(),
            sink,
        }
    }

    /// Takes the next sorted lines, and the lines of the tables that come before them.
    fn take(&mut self, text: &[u8]) -> Result<(), Error> {
        let mut start = 0;
        lines::ends(text, self.job.terminator).try_for_each(|end| {
            let line = &text[start..end];
            start = end + 1;
            while let Some(counted) =
                self.tables.next_if(|counted| self.job.order.compare(counted.line, line).is_lt())
            {
                self.add(counted.line, counted.count)?;
            }
            self.add(line, 1)
        })
    }

    fn add(&mut self, line: &[u8], count: u64) -> Result<(), Error> {
        if self.count > 0 && self.line == line {
            self.count += count;
            return Ok(());
        }
        let order = &self.job.order;
        let code = order.code(line);
        let equal = || order.compare_coded_keys((&self.line, self.code), (line, code)) == Ordering::Equal;
        if self.count > 0 && !order.is_of_lines() && equal() {
            self.count += count;
            return Ok(());
        }
        self.put()?;
        self.line.clear();
        append(&mut self.line, line)?;
        (self.code, self.count) = (code, count);
        Ok(())
    }

    /// Writes the line that was counted, if it is wanted.
    fn put(&mut self) -> Result<(), Error> {
        let is_wanted = match self.count {
            0 => false,
            1 => !self.how.repeated,
            _ => !self.how.single,
        };
        if !is_wanted {
            return Ok(());
        }
        if self.how.count {
            let mut buffer = Buffer::new();
            let digits = buffer.format(self.count).as_bytes();
            self.block.resize(self.block.len() + WIDTH.saturating_sub(digits.len()), b' ');
            self.block.extend_from_slice(digits);
            self.block.push(b' ');
        }
        append_line(&mut self.block, &self.line, self.job.terminator)?;
        if self.block.len() >= BLOCK {
            (self.sink)(&self.block)?;
            self.block.clear();
        }
        Ok(())
    }

    /// Writes what is left.
    fn finish(mut self) -> Result<(), Error> {
        while let Some(counted) = self.tables.next() {
            self.add(counted.line, counted.count)?;
        }
        self.put()?;
        if self.block.is_empty() { Ok(()) } else { (self.sink)(&self.block) }
    }
}
