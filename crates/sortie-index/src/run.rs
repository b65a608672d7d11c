//! Runs: sorted blocks on disk, all in one unnamed file, until they are merged.
//!
//! A run is a sequence of records. A record is a term, stored as its difference from the term before, and documents with
//! frequencies. A term may have several records, one after the other, so no record has to fit in memory.
//!
//! Some records have their whole term. [`Runs`] knows where, so that threads can merge different ranges of terms.

use std::fs::File;
use std::io::Write;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use crate::block::{Block, pair};
use crate::error::Error;
use crate::varint;

/// The number of pairs of a block that a thread encodes at a time.
const PART: usize = 1 << 18;
/// The number of pairs between two marks, about 32 KB of a run. Records are longer if a term has more documents.
const PAIRS_A_MARK: usize = if cfg!(test) { 16 } else { 1 << 14 };

/// The smallest buffer of a reader, which is a page of the file.
pub const LEAST_BUFFER: usize = 4 << 10;

/// A document in a list, and how often it contains the term.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Posting {
    pub document: u32,
    pub frequency: u32,
}

/// The runs of a collection.
#[derive(Debug)]
pub struct Runs {
    file: File,
    folder: PathBuf,
    each: Vec<Run>,
}

#[derive(Debug)]
struct Run {
    /// Where it ends in the file.
    end: u64,
    /// At least one, if it has records. The first is at its start.
    marks: Vec<Mark>,
}

/// A record that has its whole term, so that a reader can start there.
#[derive(Debug)]
struct Mark {
    start: u64,
    term: Box<[u8]>,
}

/// A range of terms, from one term up to another, which it does not include. `None` is no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TermRange<'a> {
    pub from: Option<&'a [u8]>,
    pub to: Option<&'a [u8]>,
}

impl Runs {
    /// No runs yet. They go to an unnamed file in the folder.
    pub fn new(folder: &Path) -> Result<Runs, Error> {
        let file =
            tempfile::tempfile_in(folder).map_err(Error::file("create a temporary file in", folder))?;
        Ok(Runs { file, folder: folder.to_owned(), each: Vec::new() })
    }

    pub fn len(&self) -> usize {
        self.each.len()
    }

    /// The size of all runs in bytes.
    pub fn bytes(&self) -> u64 {
        self.each.last().map_or(0, |run| run.end)
    }

    /// Writes a block, whose keys must be sorted, as the next run. Uses the threads of the current rayon pool.
    pub fn write(&mut self, block: &Block) -> Result<(), Error> {
        let mut end = self.bytes();
        let mut marks = Vec::new();
        let mut rest = 0..block.keys.len();
        while !rest.is_empty() {
            let mut parts = Vec::new();
            while !rest.is_empty() && parts.len() < rayon::current_num_threads() {
                let cut = cut(&block.keys, rest.start + PART);
                parts.push(rest.start..cut);
                rest.start = cut;
            }
            let encoded: Vec<_> = parts.into_par_iter().map(|part| encode(block, part)).collect();
            for (bytes, marked) in encoded {
                (&self.file).write_all(&bytes).map_err(self.failure("write a temporary file in"))?;
                marks.extend(marked.into_iter().map(|mark| Mark { start: end + mark.start, ..mark }));
                end += bytes.len() as u64;
            }
        }
        self.each.push(Run { end, marks });
        Ok(())
    }

    /// The ranges of terms that have about `bytes` bytes of the runs each, in order. Together they have all terms. A range has more
    /// if a single term has.
    pub fn ranges(&self, bytes: u64) -> Vec<TermRange<'_>> {
        let mut parts: Vec<(&[u8], u64)> = Vec::new();
        for run in self.each.iter().filter(|run| !run.marks.is_empty()) {
            let ends = run.marks[1..].iter().map(|mark| mark.start).chain([run.end]);
            parts.extend(run.marks.iter().zip(ends).map(|(mark, end)| (&*mark.term, end - mark.start)));
        }
        parts.sort_unstable();
        let (mut ranges, mut from, mut held) = (Vec::new(), None, 0);
        for (term, part) in parts {
            if held >= bytes && from < Some(term) {
                ranges.push(TermRange { from, to: Some(term) });
                (from, held) = (Some(term), 0);
            }
            held += part;
        }
        ranges.push(TermRange { from, to: None });
        ranges
    }

    /// Readers of a range of all runs, each at its first record. Together they use `bytes` bytes of memory, but
    /// each at least [`LEAST_BUFFER`] and at most 1 MiB.
    pub fn readers<'a>(&'a self, range: TermRange<'a>, bytes: usize) -> Result<Vec<Reader<'a>>, Error> {
        let buffer = (bytes / self.len().max(1)).clamp(LEAST_BUFFER, 1 << 20);
        let reader = |run: &'a Run| {
            let mut reader = Reader::new(self, run.part(range), range.to, buffer);
            reader.advance()?;
            // The records between the mark and the range.
            while reader.term().is_some_and(|term| Some(term) < range.from) {
                reader.postings(|_| Ok(()))?;
                reader.advance()?;
            }
            Ok(reader)
        };
        self.each.iter().map(reader).collect()
    }

    /// Makes reads beyond `bytes` fail.
    #[cfg(test)]
    pub fn cut_short(&self, bytes: u64) {
        self.file.set_len(bytes).unwrap();
    }

    fn failure(&self, doing: &'static str) -> impl FnOnce(std::io::Error) -> Error {
        Error::file(doing, &self.folder)
    }
}

impl Run {
    /// The part of the file from the last mark before a range of terms to the first mark behind it. Records of the first term of a
    /// range may precede the mark that has this term.
    fn part(&self, range: TermRange<'_>) -> Range<u64> {
        let before = self.marks.partition_point(|mark| Some(&*mark.term) < range.from);
        let start = self.marks.get(before.saturating_sub(1)).map_or(self.end, |mark| mark.start);
        let behind = range.to.and_then(|to| {
            let before = self.marks.partition_point(|mark| *mark.term < *to);
            self.marks.get(before)
        });
        start..behind.map_or(self.end, |mark| mark.start)
    }
}

/// The first index, not before `from`, at which the key changes.
fn cut(keys: &[u64], from: usize) -> usize {
    if from >= keys.len() {
        return keys.len();
    }
    let last = keys[from - 1];
    from + keys[from..].partition_point(|&key| key == last)
}

/// Encodes a part of the keys as records, and marks some of them, the first one too. All keys that are equal must be in the same
/// part.
fn encode(block: &Block, part: Range<usize>) -> (Vec<u8>, Vec<Mark>) {
    let mut out = Vec::with_capacity(2 * part.len());
    let (mut marks, mut since_mark) = (Vec::new(), PAIRS_A_MARK);
    let mut before = 0;
    for keys in block.keys[part].chunk_by(|&a, &b| pair(a).0 == pair(b).0) {
        let rank = pair(keys[0]).0;
        let term = block.term(rank as usize);
        let shared = if since_mark >= PAIRS_A_MARK {
            marks.push(Mark { start: out.len() as u64, term: term.into() });
            since_mark = 0;
            0
        } else {
            block.shared(before, rank)
        };
        since_mark += keys.len();
        before = rank;
        varint::put(shared as u64, &mut out);
        varint::put((term.len() - shared) as u64, &mut out);
        out.extend_from_slice(&term[shared..]);
        let mut next = 0;
        for same in keys.chunk_by(|a, b| a == b) {
            let document = pair(same[0]).1;
            let gap = u64::from(document) - next + 1;
            next = u64::from(document) + 1;
            // Most words occur once in a document.
            if same.len() == 1 {
                varint::put(gap << 1, &mut out);
            } else {
                varint::put(gap << 1 | 1, &mut out);
                varint::put(same.len() as u64, &mut out);
            }
        }
        out.push(0);
    }
    (out, marks)
}

/// Reads a part of a run.
#[derive(Debug)]
pub struct Reader<'a> {
    runs: &'a Runs,
    /// The part of the file that has not been read into the buffer yet.
    rest: Range<u64>,
    buffer: Vec<u8>,
    at: usize,
    capacity: usize,
    term: Vec<u8>,
    /// The first term that is not to be read.
    to: Option<&'a [u8]>,
    ended: bool,
}

/// The maximum number of bytes of a term or a posting.
const LARGEST_PIECE: usize = 2 * varint::LONGEST + 256;

impl<'a> Reader<'a> {
    fn new(runs: &'a Runs, rest: Range<u64>, to: Option<&'a [u8]>, capacity: usize) -> Reader<'a> {
        Reader { runs, rest, buffer: Vec::new(), at: 0, capacity, term: Vec::new(), to, ended: false }
    }

    /// The term of the current record; `None` at the end.
    pub fn term(&self) -> Option<&[u8]> {
        (!self.ended).then_some(&self.term)
    }

    /// Goes to the next record. Read its postings before the next call.
    pub fn advance(&mut self) -> Result<(), Error> {
        self.fill()?;
        if self.at == self.buffer.len() {
            self.ended = true;
            return Ok(());
        }
        let mut bytes = &self.buffer[self.at..];
        let head = varint::take(&mut bytes).zip(varint::take(&mut bytes));
        let (shared, more) = head.ok_or_else(|| self.damaged())?;
        if shared > self.term.len() as u64 || more > bytes.len() as u64 {
            return Err(self.damaged());
        }
        let (suffix, rest) = bytes.split_at(more as usize);
        self.term.truncate(shared as usize);
        self.term.extend_from_slice(suffix);
        self.at = self.buffer.len() - rest.len();
        self.ended = self.to.is_some_and(|to| *self.term >= *to);
        Ok(())
    }

    /// Calls `each` with the postings of the record, by ascending document.
    pub fn postings(&mut self, mut each: impl FnMut(Posting) -> Result<(), Error>) -> Result<(), Error> {
        let mut next = 0u64;
        loop {
            self.fill()?;
            let whole = self.rest.is_empty();
            let mut bytes = &self.buffer[self.at..];
            while whole || bytes.len() >= LARGEST_PIECE {
                let gap = varint::take(&mut bytes).ok_or_else(|| self.damaged())?;
                if gap == 0 {
                    self.at = self.buffer.len() - bytes.len();
                    return Ok(());
                }
                let frequency = if gap & 1 == 0 { Some(1) } else { varint::take(&mut bytes) };
                // Both summands are below 2^63.
                next += gap >> 1;
                let document = next.checked_sub(1).and_then(|document| u32::try_from(document).ok());
                let frequency = frequency.and_then(|frequency| u32::try_from(frequency).ok());
                let posting = document.zip(frequency.filter(|&frequency| frequency > 0));
                let (document, frequency) = posting.ok_or_else(|| self.damaged())?;
                each(Posting { document, frequency })?;
            }
            self.at = self.buffer.len() - bytes.len();
        }
    }

    /// Reads more if the buffer may not have the whole next term or posting.
    fn fill(&mut self) -> Result<(), Error> {
        if self.buffer.len() - self.at >= LARGEST_PIECE || self.rest.is_empty() {
            return Ok(());
        }
        self.buffer.drain(..self.at);
        self.at = 0;
        let held = self.buffer.len();
        let left = self.rest.end - self.rest.start;
        let wanted =
            (self.capacity.max(2 * LARGEST_PIECE) - held).min(usize::try_from(left).unwrap_or(usize::MAX));
        self.buffer.resize(held + wanted, 0);
        let read = self.runs.file.read_exact_at(&mut self.buffer[held..], self.rest.start);
        read.map_err(self.runs.failure("read a temporary file in"))?;
        self.rest.start += wanted as u64;
        Ok(())
    }

    fn damaged(&self) -> Error {
        Error::damaged(&self.runs.folder, "a temporary file does not hold what was written")
    }
}
