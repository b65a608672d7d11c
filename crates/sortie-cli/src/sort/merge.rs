//! Merging what is sorted already: lines of any source, and inputs of which nothing is known but that.

use std::cmp::Ordering;
use std::io::Read;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;

use sortie::merge::Tournament;
use sortie_formats::lines::LineReader;

use super::LineSort;
use super::input::Input;
use super::items::{direct, encode_key};
use crate::external::{Content, Part, Sink};
use crate::failure::Failure;
use crate::memory::{append, append_line, room};

/// Text goes to the writing thread in blocks of this size.
const BLOCK: usize = 1 << 20;
/// What inputs in memory are merged to is written in blocks of this size.
const WHOLE_BLOCK: usize = 128 << 10;
/// The least and the most that is read of a source at a time.
const READ: (u64, u64) = (16 << 10, 256 << 10);

/// Where lines come from, one at a time.
pub trait Cursor {
    /// Moves to the next line; false after the last.
    fn advance(&mut self) -> Result<bool, Failure>;

    /// The current line.
    fn line(&self) -> &[u8];
}

/// The lines of a part.
struct PartLines {
    lines: LineReader<Box<dyn Read + Send>>,
    doing: &'static str,
    name: PathBuf,
}

impl Cursor for PartLines {
    fn advance(&mut self) -> Result<bool, Failure> {
        self.lines.advance().map_err(Failure::file(self.doing, &self.name))
    }

    fn line(&self) -> &[u8] {
        self.lines.line()
    }
}

/// The lines of text in memory, each of which is ended.
pub struct Slice<'a> {
    rest: &'a [u8],
    line: &'a [u8],
    terminator: u8,
}

impl<'a> Slice<'a> {
    pub fn new(text: &'a [u8], job: &LineSort) -> Self {
        Slice { rest: text, line: &[], terminator: job.terminator }
    }
}

impl Cursor for Slice<'_> {
    fn advance(&mut self) -> Result<bool, Failure> {
        let Some(end) = memchr::memchr(self.terminator, self.rest) else { return Ok(false) };
        (self.line, self.rest) = (&self.rest[..end], &self.rest[end + 1..]);
        Ok(true)
    }

    fn line(&self) -> &[u8] {
        self.line
    }
}

/// What takes part in a merge.
struct Source<C> {
    lines: C,
    /// The key of the current line; unused where lines are compared by their bytes.
    key: Vec<u8>,
    /// The first bytes of the key, greatest where the source is exhausted.
    prefix: u64,
    exhausted: bool,
}

impl<C: Cursor> Source<C> {
    /// At the first line.
    fn new(lines: C, job: &LineSort) -> Result<Self, Failure> {
        let mut source = Source { lines, key: Vec::new(), prefix: 0, exhausted: false };
        source.advance(job)?;
        Ok(source)
    }

    fn advance(&mut self, job: &LineSort) -> Result<(), Failure> {
        self.exhausted = !self.lines.advance()?;
        if self.exhausted {
            self.prefix = u64::MAX;
            return Ok(());
        }
        let descending = match job.order.plain() {
            Some(descending) => descending,
            None => {
                self.key.clear();
                encode_key(self.lines.line(), &job.order, &mut self.key)?;
                false
            }
        };
        let key = self.key(job);
        let mut first = [0; 8];
        let length = key.len().min(8);
        first[..length].copy_from_slice(&key[..length]);
        let prefix = u64::from_be_bytes(first);
        self.prefix = if descending { !prefix } else { prefix };
        Ok(())
    }

    fn key(&self, job: &LineSort) -> &[u8] {
        if job.order.plain().is_some() { self.lines.line() } else { &self.key }
    }

    fn compare(&self, other: &Self, job: &LineSort) -> Ordering {
        let prefixes = self.prefix.cmp(&other.prefix).then(self.exhausted.cmp(&other.exhausted));
        if prefixes.is_ne() || self.exhausted {
            return prefixes;
        }
        let keys = direct(self.key(job).cmp(other.key(job)), job.order.plain() == Some(true));
        match job.order.last_resort() {
            Some(descending) => {
                keys.then_with(|| direct(self.lines.line().cmp(other.lines.line()), descending))
            }
            None => keys,
        }
    }
}

/// Merges inputs that all fit memory, each read at once: as many as there are, for none of them stays open.
pub fn merge_whole(inputs: &[Input], job: &LineSort, sink: Sink<'_>) -> Result<(), Failure> {
    let texts = inputs.iter().map(|input| input.read_whole(job.terminator, &|_| ()));
    let texts: Vec<Vec<u8>> = texts.collect::<Result<_, _>>()?;
    let mut block = room(texts.iter().map(Vec::len).sum::<usize>().min(WHOLE_BLOCK))?;
    merge_cursors(texts.iter().map(|text| Slice::new(text, job)), job, |line| {
        if block.len() + line.len() >= WHOLE_BLOCK {
            sink(&block)?;
            block.clear();
        }
        append_line(&mut block, line, job.terminator)?;
        Ok(true)
    })?;
    sink(&block)
}

/// Merges parts into `sink`, with buffers of half of `budget` bytes.
pub fn merge(parts: Vec<Part>, budget: u64, job: &LineSort, sink: Sink<'_>) -> Result<(), Failure> {
    let read = (budget / 2 / parts.len() as u64).clamp(READ.0, READ.1) as usize;
    let mut sources = Vec::with_capacity(parts.len());
    for part in parts {
        // With room for one byte more, which tells the end.
        let read = if part.bytes > 0 { read.min(part.bytes as usize + 1) } else { read };
        let Content { reader, doing, name } = part.open()?;
        sources.push(PartLines { lines: LineReader::new(reader, job.terminator, read), doing, name });
    }

    thread::scope(|threads| {
        // One block is written while one is filled, and none waits: it may hold a line as large as memory.
        let (full, to_write) = mpsc::sync_channel::<Vec<u8>>(0);
        let (written, mut empty) = mpsc::channel();
        let write = move || {
            to_write.into_iter().try_for_each(|mut block| {
                sink(&block)?;
                if block.capacity() <= 2 * BLOCK {
                    block.clear();
                    // Nobody wants it back after the last.
                    let _ = written.send(block);
                }
                Ok(())
            })
        };
        let writer = thread::Builder::new().spawn_scoped(threads, write).map_err(Failure::threads(1))?;
        let merged = merge_into(sources, job, full, &mut empty);
        let written = writer.join().expect("writing does not panic");
        written.and(merged)
    })
}

/// Sends the merged lines to `full` in blocks. Ends early where nobody takes them any more.
fn merge_into(
    sources: Vec<PartLines>,
    job: &LineSort,
    full: mpsc::SyncSender<Vec<u8>>,
    empty: &mut mpsc::Receiver<Vec<u8>>,
) -> Result<(), Failure> {
    let mut block = room(BLOCK)?;
    merge_cursors(sources, job, |line| {
        append_line(&mut block, line, job.terminator)?;
        if block.len() < BLOCK {
            return Ok(true);
        }
        let next = empty.try_recv().unwrap_or_default();
        Ok(full.send(std::mem::replace(&mut block, next)).is_ok())
    })?;
    // An error means that the writer has failed, and will say why.
    let _ = full.send(block);
    Ok(())
}

/// Has `take` take the lines of all sources in order, of equal keys only the first where the order is `unique`, until it
/// takes no more.
pub fn merge_cursors<C: Cursor>(
    sources: impl IntoIterator<Item = C>,
    job: &LineSort,
    mut take: impl FnMut(&[u8]) -> Result<bool, Failure>,
) -> Result<(), Failure> {
    let sources = sources.into_iter().map(|lines| Source::new(lines, job));
    let mut sources: Vec<_> = sources.collect::<Result<_, _>>()?;
    let mut last_key: Option<Vec<u8>> = None;
    let mut tournament = Tournament::new(sources.len(), |a, b| sources[a].compare(&sources[b], job));
    loop {
        let source = &mut sources[tournament.winner()];
        if source.exhausted {
            return Ok(());
        }
        let key = source.key(job);
        if !job.order.unique() || last_key.as_deref() != Some(key) {
            if job.order.unique() {
                let last = last_key.get_or_insert_default();
                last.clear();
                append(last, key)?;
            }
            if !take(source.lines.line())? {
                return Ok(());
            }
        }
        source.advance(job)?;
        tournament.replay(|a, b| sources[a].compare(&sources[b], job));
    }
}
