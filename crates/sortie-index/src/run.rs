//! Runs: sorted blocks on disk, all in one unnamed file, until they are merged.
//!
//! A run is a sequence of records. A record is a term, stored as its difference from the term before, and documents with
//! frequencies. A term may have several records, one after the other, so no record has to fit in memory.

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
    /// Where each run ends in the file.
    ends: Vec<u64>,
}

impl Runs {
    /// No runs yet. They go to an unnamed file in the folder.
    pub fn new(folder: &Path) -> Result<Runs, Error> {
        let file =
            tempfile::tempfile_in(folder).map_err(Error::file("create a temporary file in", folder))?;
        Ok(Runs { file, folder: folder.to_owned(), ends: Vec::new() })
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// The size of all runs in bytes.
    pub fn bytes(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// Writes a block, whose keys must be sorted, as the next run. Uses the threads of the current rayon pool.
    pub fn write(&mut self, block: &Block) -> Result<(), Error> {
        let mut end = self.bytes();
        let mut rest = 0..block.keys.len();
        while !rest.is_empty() {
            let mut parts = Vec::new();
            while !rest.is_empty() && parts.len() < rayon::current_num_threads() {
                let cut = cut(&block.keys, rest.start + PART);
                parts.push(rest.start..cut);
                rest.start = cut;
            }
            let encoded: Vec<Vec<u8>> = parts.into_par_iter().map(|part| encode(block, part)).collect();
            for bytes in encoded {
                (&self.file).write_all(&bytes).map_err(self.failure("write a temporary file in"))?;
                end += bytes.len() as u64;
            }
        }
        self.ends.push(end);
        Ok(())
    }

    /// Readers of all runs, which together use `bytes` bytes of memory.
    pub fn readers(&self, bytes: usize) -> Vec<Reader<'_>> {
        let buffer = (bytes / self.len().max(1)).clamp(4 << 10, 1 << 20);
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| Reader::new(self, start..end, buffer)).collect()
    }

    fn failure(&self, doing: &'static str) -> impl FnOnce(std::io::Error) -> Error {
        Error::file(doing, &self.folder)
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

/// Encodes a part of the keys as records. All keys that are equal must be in the same part.
fn encode(block: &Block, part: Range<usize>) -> Vec<u8> {
    let mut out = Vec::with_capacity(2 * part.len());
    // The last term before the part. The first record may continue it.
    let mut before = part.start.checked_sub(1).map(|at| pair(block.keys[at]).0);
    for keys in block.keys[part].chunk_by(|&a, &b| pair(a).0 == pair(b).0) {
        let rank = pair(keys[0]).0;
        let term = block.term(rank as usize);
        let shared = block.shared(before, rank).unwrap_or(term.len());
        before = Some(rank);
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
    out
}

/// Reads a run from its start.
#[derive(Debug)]
pub struct Reader<'a> {
    runs: &'a Runs,
    /// The part of the run that is not in the buffer yet.
    rest: Range<u64>,
    buffer: Vec<u8>,
    at: usize,
    capacity: usize,
    term: Vec<u8>,
    ended: bool,
}

/// The maximum number of bytes of a term or a posting.
const LARGEST_PIECE: usize = 2 * varint::LONGEST + 256;

impl<'a> Reader<'a> {
    fn new(runs: &'a Runs, rest: Range<u64>, capacity: usize) -> Reader<'a> {
        Reader { runs, rest, buffer: Vec::new(), at: 0, capacity, term: Vec::new(), ended: false }
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
