//! Merging inputs and runs that are sorted already.

use std::cmp::Ordering;
use std::io::Read;
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;

use sortie::merge::Tournament;
use sortie_formats::lines::LineReader;

use super::Job;
use super::items::direct;
use crate::external::{Content, Part, Sink};
use crate::failure::Failure;
use crate::memory::{append, room};

/// Text goes to the writing thread in blocks of this size.
const BLOCK: usize = 1 << 20;
/// The least and the most that is read of a source at a time.
const READ: (u64, u64) = (16 << 10, 1 << 20);
/// A part while it is merged.
struct Source {
    lines: LineReader<Box<dyn Read + Send>>,
    doing: &'static str,
    name: PathBuf,
    /// The key of the current line; unused where lines are compared by their bytes.
    key: Vec<u8>,
    /// The first bytes of the key, greatest where the source is exhausted.
    prefix: u64,
    exhausted: bool,
}

impl Source {
    fn advance(&mut self, job: &Job) -> Result<(), Failure> {
        self.exhausted = !self.lines.advance().map_err(Failure::file(self.doing, &self.name))?;
        if self.exhausted {
            self.prefix = u64::MAX;
            return Ok(());
        }
        let descending = match job.order.plain() {
            Some(descending) => descending,
            None => {
                self.key.clear();
                job.order.encode(self.lines.line(), &mut self.key);
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

    fn key(&self, job: &Job) -> &[u8] {
        if job.order.plain().is_some() { self.lines.line() } else { &self.key }
    }

    fn compare(&self, other: &Source, job: &Job) -> Ordering {
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

/// Merges parts into `sink`, with buffers of half of `budget` bytes.
pub fn merge(parts: Vec<Part>, budget: u64, job: &Job, sink: Sink<'_>) -> Result<(), Failure> {
    if parts.is_empty() {
        return Ok(());
    }
    let read = (budget / 2 / parts.len() as u64).clamp(READ.0, READ.1) as usize;
    let mut sources = Vec::with_capacity(parts.len());
    for part in parts {
        let Content { reader, doing, name } = part.open()?;
        let lines = LineReader::new(reader, job.terminator, read);
        let mut source = Source { lines, doing, name, key: Vec::new(), prefix: 0, exhausted: false };
        source.advance(job)?;
        sources.push(source);
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
        let merged = merge_sources(&mut sources, job, &full, &mut empty);
        drop(full);
        let written = writer.join().expect("writing does not panic");
        written.and(merged)
    })
}

/// Sends the merged lines to `full` in blocks. Ends early where nobody takes them any more.
fn merge_sources(
    sources: &mut [Source],
    job: &Job,
    full: &mpsc::SyncSender<Vec<u8>>,
    empty: &mut mpsc::Receiver<Vec<u8>>,
) -> Result<(), Failure> {
    let mut block = room(BLOCK)?;
    let mut last_key: Option<Vec<u8>> = None;
    let mut tournament = Tournament::new(sources.len(), |a, b| sources[a].compare(&sources[b], job));
    loop {
        let source = &mut sources[tournament.winner()];
        if source.exhausted {
            // An error means that the writer has failed, and will say why.
            let _ = full.send(block);
            return Ok(());
        }
        let key = source.key(job);
        if !job.order.unique() || last_key.as_deref() != Some(key) {
            if job.order.unique() {
                let last = last_key.get_or_insert_default();
                last.clear();
                append(last, key)?;
            }
            let line = source.lines.line();
            // For both: a push cannot say that there is no room.
            let bytes = line.len() + 1;
            block.try_reserve(bytes).map_err(|_| Failure::Memory(bytes as u64))?;
            block.extend_from_slice(line);
            block.push(job.terminator);
            if block.len() >= BLOCK {
                let next = empty.try_recv().unwrap_or_default();
                if full.send(std::mem::replace(&mut block, next)).is_err() {
                    return Ok(());
                }
            }
        }
        source.advance(job)?;
        tournament.replay(|a, b| sources[a].compare(&sources[b], job));
    }
}
