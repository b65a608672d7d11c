//! Checks that input is sorted: reads blocks of whole lines, and compares neighbouring lines in place.

mod long;

use std::cmp::Ordering;
use std::io::{self, Read};
use std::ops::Range;

use rayon::prelude::*;

use super::LineSort;
use super::cost::SHORT as COMPARED_BY_C_LIBRARY;
use super::order::{compare_bytes, directed};
use crate::{Error, Input, shortage};
use long::Successor;

/// The bytes of a block, which fits in the cache of a core.
const READ: usize = 256 << 10;
/// The bytes of a block after the first `LARGE_AFTER` blocks. All threads divide it among them.
const READ_LARGE: usize = 4 * READ;
const LARGE_AFTER: usize = 8;

/// After a longer line, the first line of at most this length is compared in blocks again.
const SHORT: usize = 16 << 10;

/// A line that is out of order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Disorder {
    /// The number of the line, from 1.
    pub number: u64,
    /// The line, without its terminator.
    pub line: Vec<u8>,
}

/// The first line that is out of order.
pub fn check(input: &Input, job: &LineSort<'_>) -> Result<Option<Disorder>, Error> {
    let mut blocks = Blocks::of(input, job)?;
    let mut lines_before = 0;
    let found = |number, line| Ok(Some(Disorder { number, line }));
    loop {
        match blocks.next().map_err(Error::file("read", input.name()))? {
            Next::End => return Ok(None),
            Next::Long => match blocks.check_long(lines_before, input, job)? {
                Ok(number) => lines_before = number.saturating_sub(1),
                Err((number, line)) => return found(number, line),
            },
            Next::Block(block) => {
                if block.len() > READ {
                    job.start_threads(input.size())?;
                }
                match disorder(block, job) {
                    Ok(lines) => lines_before += lines - 1,
                    Err((number, line)) => return found(lines_before + number, line.to_vec()),
                }
            }
        }
    }
}

/// The number of lines if all are in order, else the number of the first line out of order, and that line.
fn disorder<'a>(block: &'a [u8], job: &LineSort<'_>) -> Result<u64, (u64, &'a [u8])> {
    if block.len() <= READ {
        return disorder_in_piece(block, job);
    }
    let pieces = pieces(block, rayon::current_num_threads(), job.terminator);
    let checked: Vec<_> = pieces.into_par_iter().map(|piece| disorder_in_piece(&block[piece], job)).collect();
    let mut lines_before = 0;
    for lines in checked {
        lines_before += lines.map_err(|(number, line)| (lines_before + number, line))? - 1;
    }
    Ok(lines_before + 1)
}

/// Divides a block into pieces of whole lines. Each piece begins with the last line of the piece before.
fn pieces(block: &[u8], count: usize, terminator: u8) -> Vec<Range<usize>> {
    let mut pieces: Vec<Range<usize>> = Vec::with_capacity(count);
    for i in 1..=count {
        let end = memchr::memrchr(terminator, &block[..block.len() * i / count]).map_or(0, |at| at + 1);
        let start = pieces.last().map_or(0, |before| start_of_last_line(&block[..before.end], terminator));
        if pieces.last().map_or(end > 0, |before| end > before.end) {
            pieces.push(start..end);
        }
    }
    pieces
}

/// The start of the last of these whole lines.
fn start_of_last_line(lines: &[u8], terminator: u8) -> usize {
    memchr::memrchr(terminator, &lines[..lines.len() - 1]).map_or(0, |at| at + 1)
}

fn disorder_in_piece<'a>(block: &'a [u8], job: &LineSort<'_>) -> Result<u64, (u64, &'a [u8])> {
    let unique = job.order.unique();
    let Some(descending) = job.order.plain() else {
        if job.order.cut(0) == Some(0) {
            // Neighbours are much alike, so that comparing them takes less time than finding their codes.
            if block.len() > COMPARED_BY_C_LIBRARY {
                job.order.prepare();
            }
            return first_out_of_order(
                block,
                job.terminator,
                |line| line,
                |a, b| {
                    let ordering = job.order.compare(a, b);
                    ordering.is_gt() || (ordering.is_eq() && unique)
                },
            );
        }
        let coded = |line| (line, job.order.code(line));
        return first_out_of_order(block, job.terminator, coded, |a, b| {
            let ordering = job.order.compare_coded(a, b);
            ordering.is_gt() || (ordering.is_eq() && unique)
        });
    };
    let whole = |line| line;
    match (descending, unique) {
        (false, false) => {
            first_out_of_order(block, job.terminator, whole, |a, b| compare_bytes(a, b).is_gt())
        }
        (false, true) => first_out_of_order(block, job.terminator, whole, |a, b| compare_bytes(a, b).is_ge()),
        (true, false) => first_out_of_order(block, job.terminator, whole, |a, b| compare_bytes(a, b).is_lt()),
        (true, true) => first_out_of_order(block, job.terminator, whole, |a, b| compare_bytes(a, b).is_le()),
    }
}

/// Like [`disorder_in_piece`]. `find` returns what is compared of a line.
fn first_out_of_order<'a, T: Copy>(
    block: &'a [u8],
    terminator: u8,
    find: impl Fn(&'a [u8]) -> T,
    is_out_of_order: impl Fn(T, T) -> bool,
) -> Result<u64, (u64, &'a [u8])> {
    let mut before = None;
    let (mut start, mut number) = (0, 0);
    for end in memchr::memchr_iter(terminator, block) {
        let line = &block[start..end];
        let found = find(line);
        number += 1;
        if before.is_some_and(|before| is_out_of_order(before, found)) {
            return Err((number, line));
        }
        (before, start) = (Some(found), end + 1);
    }
    Ok(number)
}

/// What [`Blocks`] have next.
enum Next<'a> {
    Block(&'a [u8]),
    /// A line that is longer than a block. Only if lines compare by their bytes.
    Long,
    End,
}

/// An input as blocks of whole lines. Each block begins with the last line of the block before.
struct Blocks {
    content: Box<dyn Read + Send>,
    terminator: u8,
    /// Whether [`Blocks::check_long`] can check a line that is longer than a block.
    is_plain: bool,
    text: Vec<u8>,
    /// The start of the last line of the previous block, the end of that block, and the end of the data that
    /// was read.
    last: usize,
    whole: usize,
    filled: usize,
    ended: bool,
    /// The number of blocks returned so far.
    handed_out: usize,
}

impl Blocks {
    fn of(input: &Input, job: &LineSort<'_>) -> Result<Blocks, Error> {
        let content = input.read_text()?;
        // Reserves room for a missing terminator at the end, and for one byte to detect that there is no more
        // data.
        let size = input.size().map_or(READ, |size| READ.min(size as usize + 2));
        let text = crate::memory::filled(size, 0)?;
        Ok(Blocks {
            content,
            terminator: job.terminator,
            is_plain: job.order.plain().is_some(),
            text,
            last: 0,
            whole: 0,
            filled: 0,
            ended: false,
            handed_out: 0,
        })
    }

    /// The next block. It has at least one line after the last line of the block before.
    fn next(&mut self) -> io::Result<Next<'_>> {
        self.text.copy_within(self.last..self.filled, 0);
        let before = self.whole - self.last;
        (self.filled, self.last) = (self.filled - self.last, 0);
        let mut searched = before;
        loop {
            if let Some(at) = memchr::memrchr(self.terminator, &self.text[searched..self.filled]) {
                self.whole = searched + at + 1;
                self.last = start_of_last_line(&self.text[..self.whole], self.terminator);
                self.handed_out += 1;
                return Ok(Next::Block(&self.text[..self.whole]));
            }
            searched = self.filled;
            if !self.ended && self.is_plain && self.is_full() && self.text.len() >= READ {
                self.whole = before;
                return Ok(Next::Long);
            }
            if !self.ended {
                self.fill()?;
            } else if self.filled > before {
                self.text[self.filled] = self.terminator;
                self.filled += 1;
            } else {
                return Ok(Next::End);
            }
        }
    }

    /// Reads as much as fits, leaving one byte free. Enlarges the buffer if it is full.
    fn fill(&mut self) -> io::Result<()> {
        let is_full = self.is_full();
        let is_long = self.handed_out >= LARGE_AFTER && self.text.len() < READ_LARGE;
        if is_full || is_long {
            // Grows by a part only, because a line that needs this may already take a large part of memory.
            let more = if is_long { READ_LARGE - self.text.len() } else { self.text.len() / 4 + READ };
            let needed = (self.text.len() + more) as u64;
            self.text.try_reserve_exact(more).map_err(|_| shortage::while_reading(needed))?;
            self.text.resize(self.text.len() + more, 0);
        }
        self.read()
    }

    fn is_full(&self) -> bool {
        self.filled + 1 >= self.text.len()
    }

    /// Reads into the rest of the buffer.
    fn read(&mut self) -> io::Result<()> {
        let room = self.text.len() - 1;
        match self.content.read(&mut self.text[self.filled..room]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => {
                let read = read?;
                self.filled += read;
                self.ended = read == 0;
            }
        }
        Ok(())
    }

    /// Checks lines while they are read, from a long one on, until they are short again. `lines_before` is the number of lines before
    /// the last line of the block before. Returns the number of the last line that was checked, or the first line out of order with
    /// its number.
    fn check_long(
        &mut self,
        lines_before: u64,
        input: &Input,
        job: &LineSort<'_>,
    ) -> Result<Result<u64, (u64, Vec<u8>)>, Error> {
        let descending = job.order.plain() == Some(true);
        let before = self.text[..self.whole].strip_suffix(&[self.terminator]);
        let mut number = lines_before + u64::from(before.is_some());
        let mut long = Successor::of(before)?;
        let mut start = self.whole;
        loop {
            let rest = &self.text[start..self.filled];
            let end = memchr::memchr(self.terminator, rest);
            long.push(&rest[..end.unwrap_or(rest.len())])?;
            if end.is_none() && !self.ended {
                (self.filled, start) = (0, 0);
                self.read().map_err(Error::file("read", input.name()))?;
                continue;
            }
            // Without a terminator, the input ends here. If a line has begun, it ends too.
            if end.is_some() || long.has_begun() {
                number += 1;
                if long.end().is_some_and(|found| is_disorder(directed(found, descending), job)) {
                    return Ok(Err((number, long.into_line())));
                }
            }
            start += end.map_or(rest.len(), |end| end + 1);
            let line = long.line();
            let rest = start..self.filled;
            if self.ended {
                (self.last, self.whole, self.filled) = (0, 0, 0);
                return Ok(Ok(number));
            }
            if line.len() <= SHORT && line.len() + 1 + rest.len() < self.text.len() {
                self.whole = line.len() + 1;
                (self.last, self.filled) = (0, self.whole + rest.len());
                self.text.copy_within(rest, self.whole);
                self.text[..line.len()].copy_from_slice(line);
                self.text[line.len()] = self.terminator;
                return Ok(Ok(number));
            }
        }
    }
}

fn is_disorder(found: Ordering, job: &LineSort<'_>) -> bool {
    found.is_lt() || (found.is_eq() && job.order.unique())
}
