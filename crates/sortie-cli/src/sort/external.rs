//! Sorting within a budget of memory: runs on disk, then a merge. Input that fits is sorted in memory.
//!
//! The first run takes the whole budget, which is when it shows whether the rest is needed at all. Of those after it one is
//! read, one sorted and one written at a time, where the budget is worth sharing.

use std::fs::File;
use std::io::Read;
use std::slice;
use std::time::Instant;

use sortie_formats::lines;

use super::Job;
use super::cost::Cost;
use super::input::Input;
use super::items::Lines;
use crate::external::{self, Parts, RunFolder, Sink, relay};
use crate::failure::Failure;

/// What is read at a time, at most.
const PIECE: u64 = 1 << 20;

/// Sorts the lines of all inputs into `sink`, which `budget` bytes of memory have to do for.
pub fn sort(
    inputs: &[Input],
    budget: u64,
    folder: &RunFolder,
    mut parts: Parts<'_>,
    job: &Job,
    sink: Sink<'_>,
) -> Result<(), Failure> {
    let size = inputs.iter().map(Input::size).sum::<Option<u64>>();
    job.ledger.progress.stage("sorting", size.unwrap_or(0));
    let mut feed = Feed { inputs: inputs.iter(), open: None, rest: Vec::new(), job };
    // Text of a size that does not fit is shared from the start.
    if size.is_none_or(|size| size <= budget) {
        let mut text = Vec::new();
        let ended = feed.fill(&mut text, budget, 1)?;
        job.start_threads(ended.then_some(text.len() as u64))?;
        let texts = [text];
        if ended {
            return Lines::of(&texts, job).sort(job, |sorted| sorted.write(job, sink));
        }
        parts
            .push(folder.write(|sink| Lines::of(&texts, job).sort(job, |sorted| sorted.write(job, sink)))?)?;
    }

    job.start_threads(size)?;
    let runners = external::runners(budget);
    let parts = relay(runners, feed, parts, |texts: &mut [Vec<u8>; 1], mut reading| {
        let ended = reading.feed().fill(&mut texts[0], budget, runners as u64)?;
        let sorting = reading.sort(ended);
        Lines::of(texts, job).sort(job, |sorted| {
            let Some(mut parts) = sorting.write() else { return Ok(()) };
            parts.push(folder.write(|sink| sorted.write(job, sink))?)
        })
    })?;
    parts.merge(sink)
}

/// The inputs as one stream, in stretches of whole lines.
struct Feed<'a> {
    inputs: slice::Iter<'a, Input>,
    open: Option<(&'a Input, File)>,
    /// The start of a line whose end was not yet read.
    rest: Vec<u8>,
    job: &'a Job,
}

impl Feed<'_> {
    /// Replaces `text` by what follows, as much as `budget` has room for where so many runners hold one at a time, one of
    /// which is sorted and one is written; a line at least. True where that is the end.
    fn fill(&mut self, text: &mut Vec<u8>, budget: u64, runners: u64) -> Result<bool, Failure> {
        let start = Instant::now();
        let piece = (budget / 16).min(PIECE);
        let mut cost = Cost::default();
        text.clear();
        text.append(&mut self.rest);
        let mut lines_read = 0;
        let ended = loop {
            let (input, file) = match &mut self.open {
                Some(open) => open,
                None => match self.inputs.next() {
                    Some(input) => self.open.insert((input, input.open()?)),
                    None => break true,
                },
            };
            let before = text.len();
            let read = text
                .try_reserve(piece as usize)
                .map_err(|_| std::io::ErrorKind::OutOfMemory.into())
                .and_then(|()| file.take(piece).read_to_end(text))
                .map_err(Failure::file("read", input.name()))?;
            self.job.ledger.progress.advance(read as u64);
            if (read as u64) < piece {
                lines::terminate(text, self.job.terminator);
                self.open = None;
            }
            let count = lines::count(&text[before..], self.job.terminator);
            lines_read += count;
            cost.add(&self.job.order, count, &text[before..], self.job.terminator);
            if runners * text.len() as u64 + runners.min(2) * cost.bytes() >= budget && lines_read > 0 {
                let end = memchr::memrchr(self.job.terminator, text).map_or(0, |at| at + 1);
                self.rest = text.split_off(end);
                break false;
            }
        };
        self.job.ledger.note("read", start.elapsed(), text.len(), 0);
        Ok(ended)
    }
}
