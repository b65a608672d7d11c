//! Merging inputs and runs that are sorted already.

use std::cmp::Ordering;
use std::io::Read;
use std::num::NonZeroUsize;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::mpsc;
use std::{fs, thread};

use rustix::process::{Resource, getrlimit};
use sortie::merge::Tournament;
use sortie_formats::lines::LineReader;

use super::Job;
use super::input::Input;
use super::items::direct;
use super::memory::{append, room};
use crate::external::{Content, Run, RunFolder, Sink};
use crate::failure::Failure;

/// Text goes to the writing thread in blocks of this size.
const BLOCK: usize = 1 << 20;
/// The least and the most that is read of a source at a time.
const READ: (u64, u64) = (16 << 10, 1 << 20);
/// How many are merged at a time where the command line does not say.
const INPUTS_AT_ONCE: usize = 16;
const RUNS_AT_ONCE: usize = 64;
/// Parts that are open at a time, where the process may have so many files.
const OPEN: usize = 256;

/// Something sorted.
struct Part {
    what: Sorted,
    bytes: u64,
}

enum Sorted {
    Input(Input),
    /// Open from when it is made, since it has no name.
    Run(Run),
}

impl Part {
    fn open(self) -> Result<Content, Failure> {
        match self.what {
            Sorted::Input(input) => {
                Ok(Content { reader: Box::new(input.open()?), doing: "read", name: input.name().to_owned() })
            }
            Sorted::Run(run) => run.read(),
        }
    }
}

/// Parts in the order of their lines in the input, merged into runs where there are too many.
pub struct Parts<'a> {
    parts: Vec<Part>,
    at_once: usize,
    /// How many may be open beside a run that is being written.
    open: usize,
    budget: u64,
    folder: &'a RunFolder,
}

impl<'a> Parts<'a> {
    /// Inputs to merge.
    pub fn inputs(
        inputs: Vec<Input>,
        at_once: Option<NonZeroUsize>,
        budget: u64,
        folder: &'a RunFolder,
    ) -> Self {
        let part = |input: Input| Part { bytes: input.size().unwrap_or(0), what: Sorted::Input(input) };
        let parts = inputs.into_iter().map(part).collect();
        Parts { parts, ..Parts::at_once(at_once.map_or(INPUTS_AT_ONCE, NonZeroUsize::get), budget, folder) }
    }

    /// Runs to come.
    pub fn runs(at_once: Option<NonZeroUsize>, budget: u64, folder: &'a RunFolder) -> Self {
        Parts::at_once(at_once.map_or(RUNS_AT_ONCE, NonZeroUsize::get), budget, folder)
    }

    fn at_once(at_once: usize, budget: u64, folder: &'a RunFolder) -> Self {
        let open = files_left().saturating_sub(folder.files_for_a_run()).clamp(2, OPEN);
        Parts { parts: Vec::new(), at_once: at_once.min(open), open, budget, folder }
    }

    pub fn push(&mut self, run: Run, job: &Job) -> Result<(), Failure> {
        self.parts.push(Part { bytes: run.bytes, what: Sorted::Run(run) });
        // One less than may be open, for the next.
        self.reduce(self.open - 1, job)
    }

    /// Merges all of them into `sink`.
    pub fn merge(mut self, job: &Job, sink: Sink<'_>) -> Result<(), Failure> {
        self.reduce(self.at_once, job)?;
        let bytes = self.parts.iter().map(|part| part.bytes).sum::<u64>() as usize;
        job.progress.stage("merging", bytes as u64);
        job.timed("merge", bytes, bytes, || merge(self.parts, self.budget, job, sink))
    }

    /// Merges neighbours, so that equal lines keep their order, until at most `limit` parts are left. Of all
    /// neighbours takes the shortest, and no more of them than it has to.
    fn reduce(&mut self, limit: usize, job: &Job) -> Result<(), Failure> {
        while self.parts.len() > limit {
            let most = self.at_once.min(self.parts.len() - limit + 1);
            let group = (2..=most).rev().find_map(|size| self.shortest(size));
            let group = group.expect("a run and its neighbour, or two inputs, can always be open");
            let start = group.start;
            let merged: Vec<Part> = self.parts.splice(group, []).collect();
            let bytes = merged.iter().map(|part| part.bytes).sum::<u64>() as usize;
            let run = job.timed("merge", bytes, bytes, || {
                self.folder.write(|sink| merge(merged, self.budget, job, sink))
            })?;
            self.parts.insert(start, Part { bytes: run.bytes, what: Sorted::Run(run) });
        }
        Ok(())
    }

    /// The neighbours with the fewest bytes, of so many as can be open together beside all runs.
    fn shortest(&self, size: usize) -> Option<Range<usize>> {
        let is_input = |part: &&Part| matches!(part.what, Sorted::Input(_));
        let runs = self.parts.len() - self.parts.iter().filter(is_input).count();
        let bytes = |window: &[Part]| window.iter().map(|part| part.bytes).sum::<u64>();
        let windows = self.parts.windows(size).enumerate();
        let can_be = windows.filter(|(_, window)| runs + window.iter().filter(is_input).count() <= self.open);
        can_be.min_by_key(|(_, window)| bytes(window)).map(|(start, _)| start..start + size)
    }
}

/// How many files the process may open beside those that it has.
fn files_left() -> usize {
    let limit = getrlimit(Resource::Nofile).current.map_or(usize::MAX, |limit| limit as usize);
    // One of them is the folder that is read here. Where there is none, a guess: the standard ones and the output.
    let open = fs::read_dir("/proc/self/fd").map_or(4, |open| open.count() - 1);
    limit.saturating_sub(open)
}

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

fn merge(parts: Vec<Part>, budget: u64, job: &Job, sink: Sink<'_>) -> Result<(), Failure> {
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
