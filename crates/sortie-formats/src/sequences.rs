//! FASTA and FASTQ: records of a name and a sequence, kept byte for byte.
//!
//! `needletail` finds where records end and whether they are complete. It accepts any byte as a letter, so this module checks
//! the bytes.

use std::io::{self, BufRead, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use needletail::errors::{ParseError, ParseErrorKind};
use needletail::parser::{FastaReader, FastqReader, FastxReader};
use rayon::prelude::*;

use crate::Quoted;

/// The size of the reader's buffer in bytes. It grows if a record does not fit.
const BUFFER: usize = 1 << 16;

/// How records are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A line `>name ...`, and the sequence on any number of lines, of which some may be blank.
    Fasta,
    /// Four lines: `@name ...`, the sequence, `+...`, and as many qualities as the sequence has letters. Blank lines may follow
    /// the last record of a file; they belong to no record.
    Fastq,
}

/// Why records could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system returned an error, or compressed input is damaged.
    #[error(transparent)]
    Io(#[from] io::Error),

    /// A record does not have the format.
    #[error("line {line}: {problem}")]
    Record {
        /// Counted from 1 in the source that is read.
        line: u64,
        /// The name of the record, if that was read.
        name: Option<Quoted>,
        problem: String,
    },

    /// A record does not fit within a limit.
    #[error(
        "line {line}: with this record {bytes} bytes of memory are needed, or more, and {limit} are allowed; allow more"
    )]
    Limit {
        /// Where the record begins, counted from 1 in the source that is read.
        line: u64,
        bytes: usize,
        limit: usize,
    },

    /// The system has no memory for a record.
    #[error("the system has no room for a record that takes {bytes} bytes; use a machine with more memory")]
    Memory { bytes: usize },
}

/// Records, one after the other in one text.
#[derive(Debug)]
pub struct Records {
    format: Format,
    /// The most bytes of memory that they may take, together with what else is counted for them.
    limit: usize,
    /// What else is counted: bytes for each record, and copies of the text.
    each: usize,
    copies: usize,
    text: Vec<u8>,
    /// Where each record begins, which is where the one before it ends.
    starts: Vec<usize>,
}

/// One record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    format: Format,
    text: &'a [u8],
}

impl Records {
    /// An empty list of records, which may take `limit` bytes of memory: see [`Records::memory`].
    #[must_use]
    pub fn new(format: Format, limit: usize) -> Records {
        Records { format, limit, each: 0, copies: 0, text: Vec::new(), starts: Vec::new() }
    }

    /// Counts against the limit what the caller holds besides them: `each` bytes for every record, and `copies` copies of its
    /// text.
    #[must_use]
    pub fn counting(self, each: usize, copies: usize) -> Records {
        Records { each, copies, ..self }
    }

    /// Adds all records of a source. If the last line has no line end, it gets one.
    ///
    /// # Errors
    /// For the first record that is cut short or that has
    ///
    /// - a different number of qualities than of letters,
    /// - a byte in its sequence other than letters, `*`, `-` and `.`,
    /// - a byte in its qualities other than `!` to `~`,
    /// - in FASTQ, a different title at `+` than at `@`;
    ///
    /// and if the source or an allocation fails. Records before the error may have been added. The limit applies to all records,
    /// and once more to what the reader holds of one: see [`Reading::new`].
    ///
    /// ```
    /// use sortie_formats::sequences::{Format, Records};
    /// let mut records = Records::new(Format::Fasta, usize::MAX);
    /// records.read(&b">one first\nAC\nGT\n>two"[..]).unwrap_err();
    /// let record = records.get(0);
    /// assert_eq!((record.name(), record.bytes()), (&b"one"[..], &b">one first\nAC\nGT\n"[..]));
    /// assert_eq!(record.sequence().collect::<Vec<_>>(), [b"AC", b"GT"]);
    /// ```
    pub fn read(&mut self, source: impl BufRead + Send) -> Result<(), Error> {
        let mut reading = Reading::new(self.format, source, self.limit)?;
        match reading.fill(self, usize::MAX)? {
            true => Ok(()),
            false => {
                let bytes = self.with(reading.pending.len() + 1);
                Err(Error::Limit { line: 1 + reading.lines, bytes, limit: self.limit })
            }
        }
    }

    /// What is counted with one more record of `record` bytes.
    fn with(&self, record: usize) -> usize {
        (1 + self.copies) * (self.text.len() + record) + (self.len() + 1) * (size_of::<usize>() + self.each)
    }

    /// What is counted against the limit.
    fn counted(&self) -> usize {
        (1 + self.copies) * self.text.len() + self.len() * (size_of::<usize>() + self.each)
    }

    /// What is counted for a record of `record` bytes if there are no others.
    fn alone(&self, record: usize) -> usize {
        (1 + self.copies) * record + size_of::<usize>() + self.each
    }

    /// Adds a record if the limit and the system have room for it. Returns whether they have.
    fn push(&mut self, record: &[u8]) -> bool {
        let fits = self.with(record.len() + 1) <= self.limit
            && self.text.try_reserve(record.len() + 1).is_ok()
            && self.starts.try_reserve(1).is_ok();
        if fits {
            self.starts.push(self.text.len());
            self.text.extend_from_slice(record);
            self.text.push(b'\n');
        }
        fits
    }

    /// Checks that the bytes of all records from `first` on are of the format. These records begin at `start` of the text, and
    /// after `lines` lines of their source.
    fn check(&self, first: usize, start: usize, lines: u64) -> Result<(), Error> {
        let problem = |place| self.get(place).problem().map(|problem| (place, problem));
        match (first..self.len()).into_par_iter().find_map_first(problem) {
            None => Ok(()),
            Some((place, (line, problem))) => Err(Error::Record {
                line: lines + line_number(&self.text[start..self.starts[place]]) + line as u64,
                name: Some(Quoted::new(self.get(place).name())),
                problem,
            }),
        }
    }

    /// The number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there are no records.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// The length of the text in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.text.len()
    }

    /// The number of lines in the text.
    #[must_use]
    pub fn lines(&self) -> u64 {
        line_number(&self.text) - 1
    }

    /// Bytes of memory that they take: those of the text and of the positions where records begin.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.text.len() + size_of_val(&*self.starts)
    }

    /// The record at this index, from 0.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn get(&self, place: usize) -> Record<'_> {
        let end = self.starts.get(place + 1).copied().unwrap_or(self.text.len());
        Record { format: self.format, text: &self.text[self.starts[place]..end] }
    }

    /// The number of the line where the record at this index begins, counted from 1 through all sources.
    ///
    /// # Panics
    /// If there is none.
    #[must_use]
    pub fn line(&self, place: usize) -> u64 {
        line_number(&self.text[..self.starts[place]])
    }
}

/// Reads the records of one source, as many at a time as fit.
pub struct Reading<'a> {
    format: Format,
    /// `None` if the source is empty.
    reader: Option<Box<dyn FastxReader + 'a>>,
    held: Arc<Held>,
    /// A record that was read and did not fit; empty if there is none.
    pending: Vec<u8>,
    /// The number of lines in the records that were returned.
    lines: u64,
}

impl<'a> Reading<'a> {
    /// Reads a source. The reader has a small buffer. For a longer record it takes up to twice the bytes of the record and, for
    /// FASTA, 16 bytes for each of its lines. `limit` bounds this memory. If the system does not have it, the process ends.
    ///
    /// # Errors
    /// [`Error::Io`] if the source cannot be read.
    pub fn new(format: Format, mut source: impl BufRead + Send + 'a, limit: usize) -> Result<Self, Error> {
        let is_empty = source.fill_buf()?.is_empty();
        let held = Arc::new(Held { limit, has_lines: format == Format::Fasta, ..Held::default() });
        let source = Bounded { source, held: held.clone() };
        let reader = (!is_empty).then(|| -> Box<dyn FastxReader + 'a> {
            match format {
                // The reader refuses a last record without a sequence, although that is a valid record. One more line end gives
                // it an empty sequence. A last header without a line end is still refused, because it is cut short.
                Format::Fasta => Box::new(FastaReader::new(source.chain(&b"\n"[..]))),
                Format::Fastq => Box::new(FastqReader::new(source)),
            }
        });
        Ok(Reading { format, reader, held, pending: Vec::new(), lines: 0 })
    }

    /// Adds records until the source ends, the next record does not fit, or all records take `enough` bytes. The next call
    /// continues after them. Returns whether the source has ended.
    ///
    /// # Errors
    /// As [`Records::read`]; [`Error::Limit`] if a record does not fit although there are no others.
    pub fn fill(&mut self, records: &mut Records, enough: usize) -> Result<bool, Error> {
        let (first, start) = (records.len(), records.text.len());
        let read = self.append(records, start, enough);
        // An error in a record comes before the error that ended the reading after it.
        records.check(first, start, self.lines)?;
        let next = self.lines + line_number(&records.text[start..]);
        if self.held.exceeds.load(Relaxed) {
            return Err(Error::Limit { line: next, bytes: self.held.bytes(), limit: self.held.limit });
        }
        let ended = read?;
        if ended && self.format == Format::Fasta && records.len() > first && records.text.ends_with(b"\n\n") {
            records.text.pop();
        }
        self.lines = next - 1;
        Ok(ended)
    }

    /// Appends records. Before this call of `fill`, the text had `start` bytes.
    fn append(&mut self, records: &mut Records, start: usize, enough: usize) -> Result<bool, Error> {
        let lines = self.lines;
        let refused = |records: &Records, text: &[u8]| {
            let (bytes, limit) = (records.alone(text.len() + 1), records.limit);
            match bytes > limit {
                true => Error::Limit { line: lines + line_number(&records.text[start..]), bytes, limit },
                false => Error::Memory { bytes },
            }
        };
        if !self.pending.is_empty() {
            if !records.push(&self.pending) {
                return if records.is_empty() { Err(refused(records, &self.pending)) } else { Ok(false) };
            }
            self.pending = Vec::new();
        }
        let Some(reader) = &mut self.reader else { return Ok(true) };
        while let Some(record) = reader.next() {
            let record = record.map_err(|error| refusal(self.format, error))?;
            let text = record.all();
            self.held.take(text);
            // The next record is read even if there are enough: that shows whether the source has ended.
            if (records.is_empty() || records.counted() < enough) && records.push(text) {
                continue;
            }
            if records.is_empty() || self.pending.try_reserve(text.len()).is_err() {
                return Err(refused(records, text));
            }
            self.pending.extend_from_slice(text);
            return Ok(false);
        }
        Ok(true)
    }
}

impl Format {
    /// The record that is all of a text.
    #[must_use]
    pub fn record(self, text: &[u8]) -> Record<'_> {
        Record { format: self, text }
    }

    /// The first record of a text in which whole records follow each other, as [`Records`] keep them. `None` if no record is
    /// complete. A record that has no visible end is complete only if the text `is_all`, so that nothing can follow.
    #[must_use]
    pub fn first(self, text: &[u8], is_all: bool) -> Option<Record<'_>> {
        let end = match self {
            Format::Fastq => memchr::memchr_iter(b'\n', text).nth(3).map(|end| end + 1),
            Format::Fasta => memchr::memmem::find(text, b"\n>").map(|end| end + 1),
        };
        let end = end.or_else(|| (is_all && !text.is_empty()).then_some(text.len()))?;
        Some(self.record(&text[..end]))
    }
}

impl<'a> Record<'a> {
    /// The whole record as it was read, with the end of its last line.
    #[must_use]
    pub fn bytes(self) -> &'a [u8] {
        self.text
    }

    /// What follows `>` or `@` up to a blank or the end of the line.
    #[must_use]
    pub fn name(self) -> &'a [u8] {
        self.title().split(|byte| matches!(byte, b' ' | b'\t')).next().expect("a part at least")
    }

    /// All that follows `>` or `@` in its line.
    fn title(self) -> &'a [u8] {
        &lines(self.text).next().expect("a record has a line")[1..]
    }

    /// The lines of its sequence that are not blank, without their line ends.
    pub fn sequence(self) -> impl Iterator<Item = &'a [u8]> {
        let count = if self.format == Format::Fastq { 1 } else { usize::MAX };
        lines(self.text).skip(1).take(count).filter(|line| !line.is_empty())
    }

    /// The first line that is wrong, counted from 0 in the record, and what is wrong with it.
    fn problem(self) -> Option<(usize, String)> {
        lines(self.text).enumerate().skip(1).find_map(|(number, line)| {
            let problem = match (self.format, number) {
                (Format::Fastq, 2) => self.other_title(&line[1..]),
                (Format::Fastq, 3) => stray(line, |byte| byte.is_ascii_graphic())
                    .map(|byte| format!("{byte} in its qualities, which are of the characters from ! to ~")),
                _ => stray(line, |byte| byte.is_ascii_alphabetic() | matches!(byte, b'*' | b'-' | b'.')).map(
                    |byte| format!("{byte} in its sequence, which is of letters, '*', '-' and '.' alone"),
                ),
            };
            problem.map(|problem| (number, problem))
        })
    }

    /// What is wrong with the title at `+`, if it is neither the one at `@` nor the name in that.
    fn other_title(self, title: &[u8]) -> Option<String> {
        let own = self.title();
        let title = title.trim_ascii_end();
        if title.is_empty() || title == own.trim_ascii_end() || title == self.name() {
            return None;
        }
        let [title, own] = [title, own].map(Quoted::new);
        Some(format!(
            "its third line has the title {title}, and its first {own}; the two must be equal, or the third line '+' alone"
        ))
    }
}

/// What a reader holds of its source.
#[derive(Default)]
struct Held {
    /// The most bytes besides its buffer.
    limit: usize,
    /// Whether the reader keeps the positions of line ends.
    has_lines: bool,
    /// Bytes and line ends that were read and belong to no record that was returned.
    ahead: AtomicUsize,
    lines: AtomicUsize,
    /// Whether that is too much.
    exceeds: AtomicBool,
}

impl Held {
    /// Bytes besides the buffer. If more was read ahead than fits in the buffer, most of that belongs to one record, and the
    /// reader may have allocated twice the memory for its bytes and lines.
    fn bytes(&self) -> usize {
        match self.ahead.load(Relaxed) {
            0..=BUFFER => 0,
            ahead => 2 * (ahead + self.lines.load(Relaxed) * size_of::<usize>()),
        }
    }

    fn lines(&self, text: &[u8]) -> usize {
        if self.has_lines { memchr::memchr_iter(b'\n', text).count() } else { 0 }
    }

    /// Counts what was read from the source.
    fn read(&self, bytes: &[u8]) {
        self.ahead.fetch_add(bytes.len(), Relaxed);
        self.lines.fetch_add(self.lines(bytes), Relaxed);
    }

    /// Stops counting a record that was returned. Its last line end is not in `text`, and may not be in the source either.
    fn take(&self, text: &[u8]) {
        let less =
            |count: &AtomicUsize, by: usize| count.store(count.load(Relaxed).saturating_sub(by), Relaxed);
        less(&self.ahead, text.len() + 1);
        if self.has_lines {
            less(&self.lines, self.lines(text) + 1);
        }
    }
}

/// A source that fails when the reader holds more than the limit allows. Otherwise a record without an end would fill the
/// memory before its length is known.
struct Bounded<R> {
    source: R,
    held: Arc<Held>,
}

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let count = self.source.read(to)?;
        self.held.read(&to[..count]);
        if self.held.bytes() > self.held.limit {
            self.held.exceeds.store(true, Relaxed);
            return Err(io::Error::other("more than is allowed"));
        }
        Ok(count)
    }
}

/// A description of the first byte that is not allowed.
fn stray(line: &[u8], fits: impl Fn(u8) -> bool) -> Option<String> {
    // Without an early exit, the loop is vectorised.
    if line.iter().fold(true, |all, &byte| all & fits(byte)) {
        return None;
    }
    line.iter().find(|&&byte| !fits(byte)).map(|byte| format!("there is '{}'", byte.escape_ascii()))
}

/// The lines of a text, without their line ends. The text ends with a line end.
fn lines(mut text: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::from_fn(move || {
        let end = memchr::memchr(b'\n', text)?;
        let line = &text[..end];
        text = &text[end + 1..];
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    })
}

/// The number of the line that follows the text, counted from 1.
fn line_number(before: &[u8]) -> u64 {
    1 + memchr::memchr_iter(b'\n', before).count() as u64
}

/// An error of the reader as one of this module, with its own message.
fn refusal(format: Format, error: ParseError) -> Error {
    let problem = match (&error.kind, format) {
        (ParseErrorKind::Io, _) => return Error::Io(io::Error::other(error.msg)),
        (ParseErrorKind::InvalidStart, Format::Fasta) => {
            "a FASTA file begins with '>', and this does not; it may be of another format"
        }
        (ParseErrorKind::InvalidStart, Format::Fastq) => {
            "a FASTQ record begins with '@', and this line does not; it may be of another format"
        }
        (ParseErrorKind::InvalidSeparator, _) => {
            "this should be its third line, which begins with '+'; of FASTQ four lines a record are read"
        }
        (ParseErrorKind::UnequalLengths, _) => {
            &format!("its qualities are not as many as its letters: {}", error.msg.to_lowercase())
        }
        (ParseErrorKind::UnexpectedEnd, Format::Fasta) => {
            "the file ends in a header, before the end of its line; it is cut short"
        }
        (ParseErrorKind::UnexpectedEnd, Format::Fastq) => {
            "the file ends before the record has its four lines; it is cut short"
        }
        (ParseErrorKind::UnknownFormat | ParseErrorKind::EmptyFile, _) => &error.msg,
    };
    // The reader counts lines from 0 until it has read something. For wrong qualities it gives the line where the record
    // begins.
    let qualities = if error.kind == ParseErrorKind::UnequalLengths { 3 } else { 0 };
    let line = error.position.line.max(1) + qualities;
    let name = error.position.id.map(|id| Quoted::new(id.split('\t').next().unwrap_or_default()));
    Error::Record { line, name, problem: problem.into() }
}

#[cfg(test)]
mod tests;
