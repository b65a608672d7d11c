//! Merges parts whose lines may be longer than memory, in an order of plain bytes.
//!
//! Only the first bytes of a long line are in memory. The rest is read when the line is compared with another that begins alike,
//! and again when it is written. To read as little as possible, each long line is compared once with the same one, the pivot. How far
//! two lines agree with the pivot, and on which side of it they are, says how they compare, unless both are equal.

use std::cell::{Cell, RefCell};
use std::cmp::Ordering;
use std::ops::Range;

use sortie::merge::Tournament;

use super::LineSort;
use super::order::directed;
use crate::Error;
use crate::memory::{append, filled};
use crate::run::Pages;

/// The least and the most bytes of a line that are in memory.
const PREFIX: (u64, u64) = (8 << 10, 128 << 10);
/// The bytes of the rest of a line that are read at a time.
const READ: usize = 256 << 10;

/// Passes the lines of all parts in order to `put`, in pieces, until it returns false. Each line is followed by a terminator. The
/// first bytes of lines take half of `budget` bytes.
pub fn merge(
    parts: &[Pages],
    budget: u64,
    job: &LineSort<'_>,
    mut put: impl FnMut(&[u8]) -> Result<bool, Error>,
) -> Result<(), Error> {
    let files = Files::new(parts, job)?;
    let prefix = (budget / 4 / parts.len() as u64).clamp(PREFIX.0, PREFIX.1) as usize;
    let mut heads = Vec::with_capacity(parts.len());
    for (part, pages) in parts.iter().enumerate() {
        heads.push(Head::new(part, pages, prefix, job)?);
    }
    let unique = job.order.unique();
    let mut last: Option<Last> = None;
    let mut tournament = Tournament::new(heads.len(), |a, b| files.compare(&heads[a], &heads[b]));
    loop {
        files.no_failure()?;
        let winner = tournament.winner();
        let head = &heads[winner];
        if head.exhausted {
            return Ok(());
        }
        let known = last.as_ref().filter(|last| unique && files.is_same(last, head));
        files.no_failure()?;
        let bytes = match known {
            Some(last) => last.bytes,
            None => {
                let Some(bytes) = files.write(head, &mut put)? else { return Ok(()) };
                if unique {
                    let mut line = last.take().map_or_else(Vec::new, |last| last.line);
                    line.clear();
                    append(&mut line, head.line())?;
                    last = Some(Last { line, long: head.long.clone(), bytes });
                }
                bytes
            }
        };
        heads[winner].advance(bytes, &parts[winner], job)?;
        tournament.replay(|a, b| files.compare(&heads[a], &heads[b]));
    }
}

/// The current line of a part.
struct Head {
    part: usize,
    /// The position of the line in the part.
    start: u64,
    buffer: Vec<u8>,
    /// The bytes of the buffer from the start of the line on.
    held: Range<usize>,
    /// The number of bytes of a longer line that are compared in memory.
    prefix: usize,
    /// The number of bytes of the line that are in memory: all, or those of the prefix.
    length: usize,
    long: Option<Long>,
    /// The first bytes of the line in the order of the sort, or the maximum if the part is exhausted.
    first: u64,
    exhausted: bool,
}

/// A line that is not whole in memory.
#[derive(Clone)]
struct Long {
    at: At,
    /// How the line compares with a pivot, and the number of bytes in which they agree.
    known: Cell<Option<(At, Ordering, u64)>>,
}

/// The part of a line, and its start there.
#[derive(Clone, Copy, PartialEq)]
struct At {
    part: usize,
    start: u64,
}

/// The last line that was written: what is in memory of it, and all of its bytes with the terminator.
struct Last {
    line: Vec<u8>,
    long: Option<Long>,
    bytes: u64,
}

impl Head {
    /// The first line of a part.
    fn new(part: usize, pages: &Pages, prefix: usize, job: &LineSort<'_>) -> Result<Head, Error> {
        // Whatever part of a block is before a line, more than the prefix fits behind it.
        let most = 2 * (prefix + pages.block());
        let whole = pages.bytes().next_multiple_of(pages.block() as u64);
        let buffer = filled(whole.min(most as u64) as usize, 0)?;
        let mut head = Head {
            part,
            start: 0,
            buffer,
            held: 0..0,
            prefix,
            length: 0,
            long: None,
            first: 0,
            exhausted: false,
        };
        head.advance(0, pages, job)?;
        Ok(head)
    }

    /// Moves on by the bytes of the current line and its terminator.
    fn advance(&mut self, bytes: u64, pages: &Pages, job: &LineSort<'_>) -> Result<(), Error> {
        self.start = (self.start + bytes).min(pages.bytes());
        self.held.start = (self.held.start as u64 + bytes).min(self.held.end as u64) as usize;
        self.long = None;
        loop {
            let held = &self.buffer[self.held.clone()];
            let searched = &held[..held.len().min(self.prefix + 1)];
            if let Some(end) = memchr::memchr(job.terminator, searched) {
                self.length = end;
            } else if held.len() > self.prefix {
                self.length = self.prefix;
                let at = At { part: self.part, start: self.start };
                self.long = Some(Long { at, known: Cell::default() });
            } else if self.start + held.len() as u64 == pages.bytes() {
                self.length = held.len();
                self.exhausted = held.is_empty();
            } else {
                self.held = pages.read(self.start, &mut self.buffer)?;
                continue;
            }
            break;
        }
        let mut first = [0; 8];
        let length = self.length.min(8);
        first[..length].copy_from_slice(&self.line()[..length]);
        let first = u64::from_be_bytes(first);
        self.first = match job.order.plain() {
            _ if self.exhausted => u64::MAX,
            Some(true) => !first,
            _ => first,
        };
        Ok(())
    }

    /// The line, or its first bytes.
    fn line(&self) -> &[u8] {
        &self.buffer[self.held.start..][..self.length]
    }
}

/// The parts, and what it takes to compare their lines.
struct Files<'a> {
    parts: &'a [Pages],
    terminator: u8,
    descending: bool,
    pivot: Cell<Option<At>>,
    buffers: RefCell<[Vec<u8>; 2]>,
    /// The failure of a comparison.
    failure: Cell<Option<Error>>,
}

impl<'a> Files<'a> {
    fn new(parts: &'a [Pages], job: &LineSort<'_>) -> Result<Files<'a>, Error> {
        let room = parts.iter().map(|pages| 2 * pages.block()).fold(READ, usize::max);
        Ok(Files {
            parts,
            terminator: job.terminator,
            descending: job.order.plain() == Some(true),
            pivot: Cell::new(None),
            buffers: RefCell::new([filled(room, 0)?, filled(room, 0)?]),
            failure: Cell::new(None),
        })
    }

    /// Fails if a comparison has failed.
    fn no_failure(&self) -> Result<(), Error> {
        self.failure.take().map_or(Ok(()), Err)
    }

    fn compare(&self, a: &Head, b: &Head) -> Ordering {
        let first = a.first.cmp(&b.first).then(a.exhausted.cmp(&b.exhausted));
        if first.is_ne() || a.exhausted {
            return first;
        }
        let lines = a.line().cmp(b.line()).then_with(|| self.compare_rest(a.long.as_ref(), b.long.as_ref()));
        directed(lines, self.descending)
    }

    fn is_same(&self, last: &Last, head: &Head) -> bool {
        last.line == head.line() && self.compare_rest(last.long.as_ref(), head.long.as_ref()).is_eq()
    }

    /// Compares lines that agree in memory.
    fn compare_rest(&self, a: Option<&Long>, b: Option<&Long>) -> Ordering {
        let (Some(a), Some(b)) = (a, b) else { return a.is_some().cmp(&b.is_some()) };
        self.compare_long(a, b).unwrap_or_else(|failure| {
            self.failure.set(Some(failure));
            Ordering::Equal
        })
    }

    fn compare_long(&self, a: &Long, b: &Long) -> Result<Ordering, Error> {
        let pivot = match self.pivot.get() {
            // A pivot that begins differently tells nothing.
            Some(pivot) if self.to(pivot, a)?.1 >= PREFIX.0 => pivot,
            _ => a.at,
        };
        self.pivot.set(Some(pivot));
        let ((side, agree), (side_of_b, agree_of_b)) = (self.to(pivot, a)?, self.to(pivot, b)?);
        Ok(match side.cmp(&side_of_b) {
            Ordering::Equal if agree != agree_of_b => {
                let nearer = agree.cmp(&agree_of_b);
                if side.is_lt() { nearer } else { nearer.reverse() }
            }
            Ordering::Equal if side.is_ne() => self.compare_from(a.at, b.at, agree)?.0,
            sides => sides,
        })
    }

    /// How a line compares with the pivot, and the number of bytes in which they agree.
    fn to(&self, pivot: At, line: &Long) -> Result<(Ordering, u64), Error> {
        if line.at == pivot {
            return Ok((Ordering::Equal, u64::MAX));
        }
        if let Some((of, side, agree)) = line.known.get()
            && of == pivot
        {
            return Ok((side, agree));
        }
        let (side, agree) = self.compare_from(line.at, pivot, 0)?;
        // Lines that are equal agree in as many bytes as the pivot has.
        let agree = if side.is_eq() { u64::MAX } else { agree };
        line.known.set(Some((pivot, side, agree)));
        Ok((side, agree))
    }

    /// Compares two lines that agree in their first `from` bytes. Also returns the number of bytes in which they agree.
    fn compare_from(&self, a: At, b: At, from: u64) -> Result<(Ordering, u64), Error> {
        let [of_a, of_b] = &mut *self.buffers.borrow_mut();
        let mut agree = from;
        loop {
            let (a, b) = (self.read(a, agree, of_a)?, self.read(b, agree, of_b)?);
            let length = a.len().min(b.len());
            let same = common(&a[..length], &b[..length]);
            if let Some(end) = memchr::memchr(self.terminator, &a[..same]) {
                return Ok((Ordering::Equal, agree + end as u64));
            }
            agree += same as u64;
            if same < length {
                // A line that ends comes before one that goes on.
                let byte = |line: &[u8]| Some(line[same]).filter(|&byte| byte != self.terminator);
                return Ok((byte(a).cmp(&byte(b)), agree));
            }
        }
    }

    /// The next bytes of a line. A part ends with a terminator, even if its file does not.
    fn read<'b>(&'b self, line: At, from: u64, buffer: &'b mut [u8]) -> Result<&'b [u8], Error> {
        let held = self.parts[line.part].read(line.start + from, buffer)?;
        Ok(if held.is_empty() { std::slice::from_ref(&self.terminator) } else { &buffer[held] })
    }

    /// Passes a line and a terminator to `put`. Returns their number of bytes, or `None` if `put` returns false.
    fn write(
        &self,
        head: &Head,
        mut put: impl FnMut(&[u8]) -> Result<bool, Error>,
    ) -> Result<Option<u64>, Error> {
        let mut bytes = head.length as u64;
        let mut goes_on = put(head.line())?;
        if let Some(long) = &head.long {
            let [buffer, _] = &mut *self.buffers.borrow_mut();
            let mut ended = false;
            while goes_on && !ended {
                let text = self.read(long.at, bytes, buffer)?;
                let end = memchr::memchr(self.terminator, text);
                let text = &text[..end.unwrap_or(text.len())];
                goes_on = put(text)?;
                bytes += text.len() as u64;
                ended = end.is_some();
            }
        }
        Ok((goes_on && put(&[self.terminator])?).then_some(bytes + 1))
    }
}

/// The number of bytes in which two slices of one length agree.
pub fn common(a: &[u8], b: &[u8]) -> usize {
    const STEP: usize = 4 << 10;
    let steps = a.chunks(STEP).zip(b.chunks(STEP));
    let start = a.len().min(STEP * steps.take_while(|(a, b)| a == b).count());
    start + a[start..].iter().zip(&b[start..]).take_while(|(a, b)| a == b).count()
}
