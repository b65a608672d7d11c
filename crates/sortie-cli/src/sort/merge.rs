//! Merges sorted inputs line by line, such as the files of `-m`, which Sortie has not sorted itself.

use std::cmp::Ordering;
use std::io::Read;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;

use sortie_formats::lines::LineReader;

use super::LineSort;
use super::input::Input;
use super::items::direct;
use crate::external::{Content, Cursor, Order, Part, Sink, merge_cursors};
use crate::failure::Failure;
use crate::memory::{append_line, room};
use crate::order::Code;

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
    fn advance(&mut self) -> Result<bool, Failure> {
        self.lines.advance().map_err(Failure::file(self.doing, &self.name))
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

    fn item(&self) -> &[u8] {
        self.line
    }
}

impl Order for LineSort {
    type Key = Code;

    fn read_key(&self, line: &[u8], code: &mut Code) -> Result<(), Failure> {
        *code = self.order.code(line);
        Ok(())
    }

    #[inline]
    fn compare_keys(&self, (a, &code_a): (&[u8], &Code), (b, &code_b): (&[u8], &Code)) -> Ordering {
        self.order.compare_coded_keys((a, code_a), (b, code_b))
    }

    fn is_unique(&self) -> bool {
        self.order.unique()
    }

    fn compare_ties(&self, a: &[u8], b: &[u8]) -> Ordering {
        self.order.last_resort().map_or(Ordering::Equal, |descending| direct(a.cmp(b), descending))
    }
}

/// Merges inputs that all fit in memory. Each is read at once and closed, so their number is not limited by
/// open files.
pub fn merge_whole(inputs: &[Input], job: &LineSort, sink: Sink<'_>) -> Result<(), Failure> {
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
pub fn merge(parts: Vec<Part>, budget: u64, job: &LineSort, sink: Sink<'_>) -> Result<(), Failure> {
    let read = (budget / 2 / parts.len() as u64).clamp(READ.0, READ.1) as usize;
    let mut sources = Vec::with_capacity(parts.len());
    for part in parts {
        // Room for one byte more than the part has, so that a read can detect the end.
        let read = if part.bytes > 0 { read.min(part.bytes as usize + 1) } else { read };
        let Content { reader, doing, name } = part.open()?;
        sources.push(PartLines { lines: LineReader::new(reader, job.terminator, read), doing, name });
    }

    thread::scope(|threads| {
        // One block is written while another is filled. No block is queued between them, because a block may
        // hold a line as large as memory.
        let (full, to_write) = mpsc::sync_channel::<Vec<u8>>(0);
        let (written, mut empty) = mpsc::channel();
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
        let writer = thread::Builder::new().spawn_scoped(threads, write).map_err(Failure::threads(1))?;
        let merged = merge_into(sources, job, full, &mut empty);
        let written = writer.join().expect("writing does not panic");
        written.and(merged)
    })
}

/// Sends the merged lines to `full` in blocks. Ends early if the receiver is gone.
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
    // An error means that the writer has failed; the writer reports why.
    let _ = full.send(block);
    Ok(())
}
