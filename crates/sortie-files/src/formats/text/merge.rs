//! Merges sorted inputs line by line, such as the files of `-m`, which Sortie has not sorted itself.

use std::cmp::Ordering;
use std::io::Read;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;

use sortie_formats::lines::{self, LineReader};

use super::order::{Code, directed};
use super::{LineSort, long};
use crate::memory::{append, room};
use crate::merge::{Cursor, Order, merge_cursors};
use crate::relay::is_in_pool;
use crate::run::{Content, Part};
use crate::threads::spawn;
use crate::{Error, Input, Sink};

/// The default number of inputs to merge at a time.
pub const INPUTS_AT_ONCE: usize = 256;
/// The size of the blocks that are sent to the writing thread.
const BLOCK: usize = 1 << 20;
/// The block size for writing when the inputs are merged from memory.
const WHOLE_BLOCK: usize = 128 << 10;
/// The smallest and the largest number of bytes to read from a source at a time.
const READ: (u64, u64) = (16 << 10, 256 << 10);

/// The lines of one sorted part.
struct PartLines {
    lines: LineReader<Box<dyn Read + Send>>,
    doing: &'static str,
    name: PathBuf,
}

impl Cursor for PartLines {
    fn advance(&mut self) -> Result<bool, Error> {
        self.lines.advance().map_err(Error::file(self.doing, &self.name))
    }

    fn item(&self) -> &[u8] {
        self.lines.line()
    }
}

/// The lines of text in memory. Every line ends with a terminator.
pub struct Slice<'a> {
    rest: &'a [u8],
    line: &'a [u8],
    terminator: u8,
}

impl<'a> Slice<'a> {
    pub fn new(text: &'a [u8], job: &LineSort<'_>) -> Self {
        Slice { rest: text, line: &[], terminator: job.terminator }
    }
}

impl Cursor for Slice<'_> {
    fn advance(&mut self) -> Result<bool, Error> {
        let Some(end) = lines::first(self.rest, self.terminator) else { return Ok(false) };
        (self.line, self.rest) = (&self.rest[..end], &self.rest[end + 1..]);
        Ok(true)
    }

    fn item(&self) -> &[u8] {
        self.line
    }
}

impl Order for LineSort<'_> {
    type Key = Code;

    fn read_key(&self, line: &[u8], code: &mut Code) -> Result<(), Error> {
        *code = self.order.code(line);
        Ok(())
    }

    #[inline(always)]
    fn compare_leading(&self, a: &Code, b: &Code) -> Option<Ordering> {
        a.compare(*b).filter(|ordering| ordering.is_ne())
    }

    fn compare_keys(&self, (a, &code_a): (&[u8], &Code), (b, &code_b): (&[u8], &Code)) -> Ordering {
        self.order.compare_coded_keys((a, code_a), (b, code_b))
    }

    fn is_unique(&self) -> bool {
        self.order.unique()
    }

    fn compare_ties(&self, a: &[u8], b: &[u8]) -> Ordering {
        self.order.last_resort().map_or(Ordering::Equal, |descending| directed(a.cmp(b), descending))
    }
}

/// Merges inputs that all fit in memory. Each is read at once and closed, so their number is not limited by
/// open files.
pub fn merge_whole(inputs: &[Input], job: &LineSort<'_>, sink: Sink<'_>) -> Result<(), Error> {
    let texts = inputs.iter().map(|input| input.read_whole(job.terminator, &|_| ()));
    let texts: Vec<Vec<u8>> = texts.collect::<Result<_, _>>()?;
    let mut block = room(texts.iter().map(Vec::len).sum::<usize>().min(WHOLE_BLOCK))?;
    let gather = job.gather();
    merge_cursors(texts.iter().map(|text| Slice::new(text, job)), job, |line| {
        gather.put(&mut block, WHOLE_BLOCK, &line, sink)?;
        Ok(true)
    })?;
    sink(&block)
}

/// Merges parts into `sink`. The read buffers take half of `budget` bytes.
pub fn merge(mut parts: Vec<Part>, budget: u64, job: &LineSort<'_>, sink: Sink<'_>) -> Result<(), Error> {
    parts.retain(|part| !part.is_empty());
    if parts.is_empty() {
        return Ok(());
    }
    if job.order.plain().is_some() && parts.iter().all(Part::has_pages) {
        let pages: Vec<_> = parts.into_iter().map(Part::pages).collect::<Result<_, _>>()?;
        return write_beside(sink, job, |blocks| long::merge(&pages, budget, job, |text| blocks.put(text)));
    }
    let read = (budget / 2 / parts.len() as u64).clamp(READ.0, READ.1) as usize;
    let mut sources = Vec::with_capacity(parts.len());
    for part in parts {
        // Room for one byte more than the part has, so that a read can detect the end.
        let read = if part.bytes > 0 { read.min(part.bytes as usize + 1) } else { read };
        let Content { reader, doing, name } = part.open()?;
        sources.push(PartLines { lines: LineReader::new(reader, job.terminator, read), doing, name });
    }

    write_beside(sink, job, |blocks| {
        merge_cursors(sources, job, |line| blocks.put_line(line, job.terminator))
    })
}

/// Calls `merge` with the blocks that it fills. Another thread writes them to `sink`, unless this one is of a pool.
fn write_beside(
    sink: Sink<'_>,
    job: &LineSort<'_>,
    merge: impl FnOnce(&mut Blocks<'_>) -> Result<(), Error>,
) -> Result<(), Error> {
    let whole = job.whole_lines.then_some(job.terminator);
    if is_in_pool() {
        let mut blocks = Blocks { block: room(BLOCK)?, whole, to: To::Sink(sink) };
        merge(&mut blocks)?;
        return blocks.end();
    }
    thread::scope(|scope| {
        // One block is written while another is filled. No block is queued between them.
        let (full, to_write) = mpsc::sync_channel::<Vec<u8>>(0);
        let (written, empty) = mpsc::channel();
        let write = move || {
            to_write.into_iter().try_for_each(|mut block| {
                sink(&block)?;
                if block.capacity() <= 2 * BLOCK {
                    block.clear();
                    // After the last block, nobody receives it, and the error is ignored.
                    let _ = written.send(block);
                }
                Ok(())
            })
        };
        let writer = spawn(scope, write).map_err(Error::threads(1))?;
        let mut blocks = Blocks { block: room(BLOCK)?, whole, to: To::Writer { full, empty } };
        let merged = merge(&mut blocks);
        // If the writing thread has failed, it reports why.
        let _ = blocks.end();
        let written = writer.join().expect("writing does not panic");
        written.and(merged)
    })
}

/// Blocks of merged text.
struct Blocks<'a> {
    block: Vec<u8>,
    /// The terminator, if a block must end with a whole line.
    whole: Option<u8>,
    to: To<'a>,
}

/// Where full blocks go.
enum To<'a> {
    Sink(Sink<'a>),
    /// To a thread that writes them and sends them back.
    Writer {
        full: mpsc::SyncSender<Vec<u8>>,
        empty: mpsc::Receiver<Vec<u8>>,
    },
}

impl Blocks<'_> {
    /// Adds a line and its terminator. Returns false if the writing thread has failed.
    fn put_line(&mut self, line: &[u8], terminator: u8) -> Result<bool, Error> {
        if self.whole.is_none() && line.len() < BLOCK - self.block.len() {
            self.block.extend_from_slice(line);
            self.block.push(terminator);
            return Ok(true);
        }
        Ok(self.put(line)? && self.put(&[terminator])?)
    }

    /// Adds text of any size. Returns false if the writing thread has failed.
    fn put(&mut self, mut text: &[u8]) -> Result<bool, Error> {
        if let Some(terminator) = self.whole {
            append(&mut self.block, text)?;
            return Ok(self.block.len() < BLOCK || text.last() != Some(&terminator) || self.send()?);
        }
        while text.len() >= BLOCK - self.block.len() {
            let (now, rest) = text.split_at(BLOCK - self.block.len());
            self.block.extend_from_slice(now);
            text = rest;
            if !self.send()? {
                return Ok(false);
            }
        }
        self.block.extend_from_slice(text);
        Ok(true)
    }

    fn send(&mut self) -> Result<bool, Error> {
        match &mut self.to {
            To::Sink(sink) => {
                sink(&self.block)?;
                self.block.clear();
                Ok(true)
            }
            To::Writer { full, empty } => {
                let next = empty.try_recv().map_or_else(|_| room(BLOCK), Ok)?;
                Ok(full.send(std::mem::replace(&mut self.block, next)).is_ok())
            }
        }
    }

    /// Passes on the rest.
    fn end(mut self) -> Result<(), Error> {
        match &mut self.to {
            To::Sink(sink) => sink(&self.block),
            To::Writer { full, .. } => {
                let _ = full.send(self.block);
                Ok(())
            }
        }
    }
}
