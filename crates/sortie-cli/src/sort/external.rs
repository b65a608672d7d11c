//! Sorting within a budget of memory: runs on disk, then a merge. Input that fits is sorted in memory.
//!
//! The first run takes the whole budget, which is when it shows whether the rest is needed at all, unless it is plain that it will
//! be. Of those after it one is read, one sorted and one written at a time, where the budget is worth sharing.

use std::io::Read;
use std::time::Instant;

use sortie_formats::lines;

use super::LineSort;
use super::cost::Cost;
use super::input::Input;
use super::items::Lines;
use crate::external::{self, Inputs, Parts, RunFolder, Sink, relay};
use crate::failure::Failure;
use crate::memory::append;
use crate::shortage;

/// What is read at a time, at most, before it is looked at whether it fits: so many empty lines take 12 MB more to be
/// sorted, some 30 where they have keys.
const PIECE: u64 = 256 << 10;

/// Sorts the lines of all inputs into `sink`, which `budget` bytes of memory have to do for.
pub fn sort<'p>(
    inputs: Vec<Input>,
    size: Option<u64>,
    budget: u64,
    folder: &RunFolder,
    parts: impl FnOnce() -> Parts<'p>,
    job: &LineSort,
    sink: Sink<'_>,
) -> Result<(), Failure> {
    job.ledger.progress.stage("sorting", size.unwrap_or(0));
    let mut feed = Feed { inputs: Inputs::new(inputs), rest: Vec::new(), job };
    // What is too large by far, as its size and its first lines show, is shared from the start.
    let may_fit = match size {
        Some(size) => size <= budget && feed.needed(size, budget)? <= 2 * budget,
        None => true,
    };
    let mut first = None;
    if may_fit {
        let mut text = Vec::new();
        let ended = feed.fill(&mut text, budget, 1)?;
        job.start_threads(ended.then(|| job.work(&text)))?;
        let texts = [text];
        if ended {
            return Lines::of(&texts, job).sort(job, |sorted| sorted.write(job, sink));
        }
        let run = folder.write(|sink| Lines::of(&texts, job).sort(job, |sorted| sorted.write(job, sink)))?;
        first = Some(run);
    }

    job.start_threads(size)?;
    let mut parts = parts();
    first.map_or(Ok(()), |run| parts.push(run))?;
    let runners = external::runners(budget);
    let parts = relay(runners, feed, parts, |texts: &mut [Vec<u8>; 1], turn| {
        let ended = turn.feed().fill(&mut texts[0], budget, runners as u64)?;
        turn.sort(ended);
        Lines::of(texts, job).sort(job, |sorted| {
            let Some(parts) = turn.write() else { return Ok(()) };
            parts.push(folder.write(|sink| sorted.write(job, sink))?)
        })
    })?;
    parts.merge(sink)
}

/// The inputs as one stream, in stretches of whole lines.
struct Feed<'a> {
    inputs: Inputs<Box<dyn Read + Send>>,
    /// What was read and not yet handed out: the start of a line, or the first lines.
    rest: Vec<u8>,
    job: &'a LineSort,
}

impl Feed<'_> {
    /// Bytes that it takes to sort all of it at once, `size` bytes of text, as far as the first of them tell.
    fn needed(&mut self, size: u64, budget: u64) -> Result<u64, Failure> {
        let mut text = std::mem::take(&mut self.rest);
        self.read(&mut text, budget)?;
        let LineSort { order, terminator, .. } = self.job;
        let mut cost = Cost::default();
        cost.add(order, lines::count(&text, *terminator), &text, *terminator)?;
        let each = cost.bytes() as f64 / text.len().max(1) as f64;
        self.rest = text;
        Ok(size + (each * size as f64) as u64)
    }

    /// Replaces `text` by what follows, as much as `budget` has room for where so many runners hold one at a time, one of
    /// which is sorted and one is written; a line at least. True where that is the end.
    fn fill(&mut self, text: &mut Vec<u8>, budget: u64, runners: u64) -> Result<bool, Failure> {
        let start = Instant::now();
        text.clear();
        append(text, &std::mem::take(&mut self.rest))?;
        let (mut cost, mut lines_read, mut counted) = (Cost::default(), 0, 0);
        let ended = loop {
            let new = &text[counted..];
            let count = lines::count(new, self.job.terminator);
            lines_read += count;
            cost.add(&self.job.order, count, new, self.job.terminator)?;
            counted = text.len();
            if runners * text.len() as u64 + runners.min(2) * cost.bytes() >= budget && lines_read > 0 {
                let end = memchr::memrchr(self.job.terminator, text).map_or(0, |at| at + 1);
                append(&mut self.rest, &text[end..])?;
                text.truncate(end);
                break false;
            }
            if !self.read(text, budget)? {
                break true;
            }
        };
        self.job.ledger.note("read", start.elapsed(), text.len(), 0);
        Ok(ended)
    }

    /// Appends what is read at a time to `text`; false where there is no more.
    fn read(&mut self, text: &mut Vec<u8>, budget: u64) -> Result<bool, Failure> {
        let piece = (budget / 16).min(PIECE);
        let Some((input, content)) = self.inputs.current(Input::read_text)? else { return Ok(false) };
        let read = text
            .try_reserve(piece as usize)
            .map_err(|_| shortage::while_reading(piece.max(2 * text.capacity() as u64)))
            .and_then(|()| content.take(piece).read_to_end(text))
            .map_err(Failure::file("read", input.name()))?;
        self.job.ledger.progress.advance(read as u64);
        if (read as u64) < piece {
            lines::terminate(text, self.job.terminator);
            self.inputs.close();
        }
        Ok(true)
    }
}
