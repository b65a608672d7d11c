//! FASTA and FASTQ: records of a name and a sequence, kept byte for byte.
//!
//! `needletail` finds where records end and whether they are complete. It accepts any byte as a letter, so this module checks
//! the bytes.

use std::io::{self, BufRead, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use needletail::errors::{ParseError, ParseErrorKind};
use needletail::parser::{FastaReader, FastqReader, FastxReader};
use rayon::prelude::*;

use crate::Quoted;

/// The size of the reader's buffer in bytes. It grows if a record does not fit.
const BUFFER: usize = 1 << 16;

/// The format of a file of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A line `>name ...`, then the sequence on any number of lines, some of which may be blank.
    Fasta,
    /// Four lines: `@name ...`, the sequence, `+...`, and one quality for each letter of the sequence. Blank lines
    /// after the last record of a file belong to no record.
    Fastq,
}

/// Why records could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The system returned an error, or compressed input is damaged.
    #[error(transparent)]
    Io(#[from] io::Error),

    /// A record does not conform to the format.
    #[error("line {line}: {problem}")]
    Record {
        /// The line number in the source, counted from 1.
        line: u64,
        /// The name of the record, if it was read.
        name: Option<Quoted>,
        problem: String,
    },

    /// A record does not fit in the memory limit.
    #[error(
        "line {line}: this record needs at least {bytes} bytes of memory, but {limit} are allowed; raise the limit"
    )]
    Limit {
        /// The line where the record begins, counted from 1 in the source.
        line: u64,
        bytes: usize,
        limit: usize,
    },

    /// The system has no memory for a record.
    #[error("the system has no memory for a record that takes {bytes} bytes; use a machine with more memory")]
    Memory { bytes: usize },
}

/// Records, stored one after the other in one text.
#[derive(Debug)]
pub struct Records {
    format: Format,
    /// The memory limit in bytes for the records and everything else that is counted for them.
    limit: usize,
    /// What else is counted: a number of bytes for each record, and copies of the text.
    each: usize,
    copies: usize,
    text: Vec<u8>,
    /// The start of each record, which is the end of the record before.
    starts: Vec<usize>,
}

/// One record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Record<'a> {
    format: Format,
    text: &'a [u8],
}

impl Records {
    /// An empty list of records with a memory limit of `limit` bytes: see [`Records::memory`].
    #[must_use]
    pub fn new(format: Format, limit: usize) -> Records {
        Records { format, limit, each: 0, copies: 0, text: Vec::new(), starts: Vec::new() }
    }

    /// Also counts memory of the caller against the limit: `each` bytes for every record, and `copies` copies of its
    /// text.
    #[must_use]
    pub fn counting(self, each: usize, copies: usize) -> Records {
        Records { each, copies, ..self }
    }

    /// Adds all records of a source. If the last line has no line end, one is added. A byte order mark and blank lines before the
    /// first record are left out.
    ///
    /// # Errors
    /// For the first record that is cut short, or that has
    ///
    /// - a different number of qualities than of letters,
    /// - a byte in its sequence other than letters, `*`, `-` and `.`,
    /// - a byte in its qualities other than `!` to `~`,
    /// - in FASTQ, a different title at `+` than at `@`;
    ///
    /// and if the source or an allocation fails. Records before the error may have been added. The limit applies to
    /// all records, and separately to the memory of the reader: see [`Reading::new`].
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

    /// Raises the memory limit to `limit` bytes, if that is more.
    pub fn raise_limit(&mut self, limit: usize) {
        self.limit = self.limit.max(limit);
    }

    /// The bytes of the longest record from index `first` on. 0 if there is none.
    #[must_use]
    pub fn longest(&self, first: usize) -> usize {
        (first..self.len()).map(|place| self.get(place).bytes().len()).max().unwrap_or(0)
    }

    /// The bytes counted if a record of `record` bytes is added.
    fn with(&self, record: usize) -> usize {
        (1 + self.copies) * (self.text.len() + record) + (self.len() + 1) * (size_of::<usize>() + self.each)
    }

    /// The bytes counted so far.
    fn counted(&self) -> usize {
        (1 + self.copies) * self.text.len() + self.len() * (size_of::<usize>() + self.each)
    }

    /// The bytes counted for a record of `record` bytes alone.
    fn alone(&self, record: usize) -> usize {
        (1 + self.copies) * record + size_of::<usize>() + self.each
    }

    /// Adds a record if the limit and the system allow it. Returns whether they do.
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

    /// Checks the bytes of all records from `first` on. They begin at `start` in the text, after `lines` lines of
    /// their source.
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

    /// The bytes of memory for the text and for the positions of the records.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.text.len() + size_of_val(&*self.starts)
    }

    /// The record at index `place`.
    ///
    /// # Panics
    /// If there is no such record.
    #[must_use]
    pub fn get(&self, place: usize) -> Record<'_> {
        let end = self.starts.get(place + 1).copied().unwrap_or(self.text.len());
        Record { format: self.format, text: &self.text[self.starts[place]..end] }
    }

    /// The line where the record at index `place` begins, counted from 1 through all sources.
    ///
    /// # Panics
    /// If there is no such record.
    #[must_use]
    pub fn line(&self, place: usize) -> u64 {
        line_number(&self.text[..self.starts[place]])
    }
}

/// Reads the records of one source, as many at a time as fit in memory.
pub struct Reading<'a> {
    format: Format,
    /// `None` if the source is empty.
    reader: Option<Box<dyn FastxReader + 'a>>,
    held: Arc<Held>,
    /// A record that was read but did not fit. Empty if there is none.
    pending: Vec<u8>,
    /// The number of lines before the records and in those returned so far.
    lines: u64,
    /// The number of lines before the records.
    skipped: u64,
}

impl<'a> Reading<'a> {
    /// Reads a source. The reader has a small buffer. For a longer record it needs up to twice the bytes of the
    /// record and, for FASTA, 16 bytes for each of its lines. `limit` bounds this memory. If the system cannot
    /// provide it, the process ends.
    ///
    /// # Errors
    /// [`Error::Io`] if the source cannot be read.
    pub fn new(format: Format, mut source: impl BufRead + Send + 'a, limit: usize) -> Result<Self, Error> {
        let (beginning, lines) = skip_to_records(&mut source)?;
        let mut source = Cursor::new(beginning).chain(source);
        let is_empty = source.fill_buf()?.is_empty();
        let held = Arc::new(Held { limit, has_lines: format == Format::Fasta, ..Held::default() });
        let source = Bounded { source, held: held.clone() };
        let reader = (!is_empty).then(|| -> Box<dyn FastxReader + 'a> {
            match format {
                // The reader rejects a last record without a sequence, although it is valid. An additional line end
                // gives it an empty sequence. A last header without a line end is still rejected, because it is cut
                // short.
                Format::Fasta => Box::new(FastaReader::new(source.chain(&b"\n"[..]))),
                Format::Fastq => Box::new(FastqReader::new(source)),
            }
        });
        Ok(Reading { format, reader, held, pending: Vec::new(), lines, skipped: lines })
    }

    /// Adds records until the source ends, the next record does not fit, or all records together take `enough` bytes.
    /// The next call continues after them. Returns whether the source has ended.
    ///
    /// # Errors
    /// Those of [`Records::read`]; [`Error::Limit`] if a record does not fit even alone.
    pub fn fill(&mut self, records: &mut Records, enough: usize) -> Result<bool, Error> {
        let (first, start) = (records.len(), records.text.len());
        let read = self.append(records, start, enough);
        // An error in a record comes before an error of the source that follows it.
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

    /// Appends records. `start` is the length of the text before this call of `fill`.
    fn append(&mut self, records: &mut Records, start: usize, enough: usize) -> Result<bool, Error> {
        let (lines, skipped) = (self.lines, self.skipped);
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
            let record = record.map_err(|error| refusal(self.format, error, skipped))?;
            let text = record.all();
            self.held.take(text);
            // Reads the next record even if there are enough, to see whether the source has ended.
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
    /// The record that consists of the whole text.
    #[must_use]
    pub fn record(self, text: &[u8]) -> Record<'_> {
        Record { format: self, text }
    }

    /// The first record of a text in which whole records follow each other, as [`Records`] store them. `None` if no record is
    /// complete. If the end of a record is not visible, it is complete only if `is_all` says that nothing follows the text.
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
    /// The whole record as it was read, including its last line end.
    #[must_use]
    pub fn bytes(self) -> &'a [u8] {
        self.text
    }

    /// The text after `>` or `@` up to a blank or the end of the line.
    #[must_use]
    pub fn name(self) -> &'a [u8] {
        self.title().split(|byte| matches!(byte, b' ' | b'\t')).next().expect("a part at least")
    }

    /// The whole line after `>` or `@`.
    fn title(self) -> &'a [u8] {
        &lines(self.text).next().expect("a record has a line")[1..]
    }

    /// The lines of the sequence that are not blank, without their line ends.
    pub fn sequence(self) -> impl Iterator<Item = &'a [u8]> {
        let count = if self.format == Format::Fastq { 1 } else { usize::MAX };
        lines(self.text).skip(1).take(count).filter(|line| !line.is_empty())
    }

    /// The first line with an error, counted from 0 in the record, and the error.
    fn problem(self) -> Option<(usize, String)> {
        lines(self.text).enumerate().skip(1).find_map(|(number, line)| {
            let problem = match (self.format, number) {
                (Format::Fastq, 2) => self.other_title(&line[1..]),
                (Format::Fastq, 3) => stray(line, |byte| byte.is_ascii_graphic())
                    .map(|byte| format!("{byte} in its qualities; only the characters ! to ~ are allowed")),
                _ => stray(line, |byte| byte.is_ascii_alphabetic() | matches!(byte, b'*' | b'-' | b'.')).map(
                    |byte| format!("{byte} in its sequence; only letters, '*', '-' and '.' are allowed"),
                ),
            };
            problem.map(|problem| (number, problem))
        })
    }

    /// Describes the error in the title after `+`, if it equals neither the title after `@` nor the name in that.
    fn other_title(self, title: &[u8]) -> Option<String> {
        let own = self.title();
        let title = title.trim_ascii_end();
        if title.is_empty() || title == own.trim_ascii_end() || title == self.name() {
            return None;
        }
        let [title, own] = [title, own].map(Quoted::new);
        Some(format!(
            "its third line has the title {title}, but its first has {own}; make them equal, or make the third line only '+'"
        ))
    }
}

/// The memory that the reader holds.
#[derive(Default)]
struct Held {
    /// The maximum number of bytes in addition to its buffer.
    limit: usize,
    /// Whether the reader stores the positions of line ends.
    has_lines: bool,
    /// The bytes and line ends that were read and belong to no returned record.
    ahead: AtomicUsize,
    lines: AtomicUsize,
    /// Whether the limit is exceeded.
    exceeds: AtomicBool,
}

impl Held {
    /// The bytes in addition to the buffer. If more was read ahead than fits in the buffer, most of it belongs to one
    /// record, and the reader may have allocated twice the memory for its bytes and lines.
    fn bytes(&self) -> usize {
        match self.ahead.load(Relaxed) {
            0..=BUFFER => 0,
            ahead => 2 * (ahead + self.lines.load(Relaxed) * size_of::<usize>()),
        }
    }

    fn lines(&self, text: &[u8]) -> usize {
        if self.has_lines { memchr::memchr_iter(b'\n', text).count() } else { 0 }
    }

    /// Counts bytes that were read from the source.
    fn read(&self, bytes: &[u8]) {
        self.ahead.fetch_add(bytes.len(), Relaxed);
        self.lines.fetch_add(self.lines(bytes), Relaxed);
    }

    /// Subtracts a record that was returned. Its last line end is not in `text`, and may not be in the source either.
    fn take(&self, text: &[u8]) {
        let less =
            |count: &AtomicUsize, by: usize| count.store(count.load(Relaxed).saturating_sub(by), Relaxed);
        less(&self.ahead, text.len() + 1);
        if self.has_lines {
            less(&self.lines, self.lines(text) + 1);
        }
    }
}

/// A source that fails when the reader holds more than the limit allows. Otherwise a record without an end would fill
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

/// A description of the first byte for which `fits` is false.
fn stray(line: &[u8], fits: impl Fn(u8) -> bool) -> Option<String> {
    // A loop without an early exit can be vectorised.
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

/// The number of the line after `before`, counted from 1.
fn line_number(before: &[u8]) -> u64 {
    1 + memchr::memchr_iter(b'\n', before).count() as u64
}

/// Skips what may precede the records and belongs to none: a byte order mark and blank lines. Returns the bytes after it that
/// were read from the source, and the number of lines that were skipped.
fn skip_to_records(source: &mut impl BufRead) -> io::Result<(Vec<u8>, u64)> {
    const MARK: &[u8] = b"\xEF\xBB\xBF";
    let mut seen = Vec::new();
    while seen.len() < MARK.len() && source.fill_buf()?.first() == Some(&MARK[seen.len()]) {
        seen.push(MARK[seen.len()]);
        source.consume(1);
    }
    if !seen.is_empty() && seen != MARK {
        return Ok((seen, 0));
    }
    let mut lines = 0;
    loop {
        let text = source.fill_buf()?;
        let blank = text.iter().take_while(|byte| matches!(byte, b'\n' | b'\r')).count();
        if blank == 0 {
            return Ok((Vec::new(), lines));
        }
        lines += line_number(&text[..blank]) - 1;
        source.consume(blank);
    }
}

/// Converts an error of the reader, with a message of this module. `skipped` is the number of lines before the first that the
/// reader saw.
fn refusal(format: Format, error: ParseError, skipped: u64) -> Error {
    let problem = match (&error.kind, format) {
        (ParseErrorKind::Io, _) => return Error::Io(io::Error::other(error.msg)),
        (ParseErrorKind::InvalidStart, Format::Fasta) => {
            "a FASTA file begins with '>', but this one does not; it may have another format"
        }
        (ParseErrorKind::InvalidStart, Format::Fastq) => {
            "a FASTQ record begins with '@', but this line does not; the file may have another format"
        }
        (ParseErrorKind::InvalidSeparator, _) => {
            "its third line must begin with '+', but this line does not; a FASTQ record must have four lines"
        }
        (ParseErrorKind::UnequalLengths, _) => {
            &format!("it must have one quality for each letter: {}", error.msg.to_lowercase())
        }
        (ParseErrorKind::UnexpectedEnd, Format::Fasta) => {
            "the file ends within a header line; it is cut short"
        }
        (ParseErrorKind::UnexpectedEnd, Format::Fastq) => {
            "the file ends before the record has four lines; it is cut short"
        }
        (ParseErrorKind::UnknownFormat | ParseErrorKind::EmptyFile, _) => &error.msg,
    };
    // The reader counts lines from 0 until it has read something. For wrong qualities it gives the line where the record
    // begins.
    let qualities = if error.kind == ParseErrorKind::UnequalLengths { 3 } else { 0 };
    let line = skipped + error.position.line.max(1) + qualities;
    let name = error.position.id.map(|id| Quoted::new(id.split('\t').next().unwrap_or_default()));
    Error::Record { line, name, problem: problem.into() }
}

#[cfg(test)]
mod tests;
