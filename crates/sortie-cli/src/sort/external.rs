//! Sorting within a budget of memory: runs on disk, then a merge. Input that fits is sorted in memory.
//!
//! The first run takes the whole budget, which is when it shows whether the rest is needed at all. After it the
//! next stretch of input is read while one is sorted and written, where the budget is worth sharing.

use std::fs::File;
use std::io::Read;
use std::sync::mpsc;
use std::time::Instant;
use std::{slice, thread};

use sortie_formats::lines;

use super::Job;
use super::input::Input;
use super::items::Lines;
use super::memory::Cost;
use super::merge::Parts;
use crate::external::{RunFolder, Sink};
use crate::failure::Failure;

/// A budget below this is not shared between reading and sorting.
const SHARED_FROM: u64 = 16 << 20;
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
    job.progress.stage("sorting", 0);
    let mut feed = Feed { inputs: inputs.iter(), open: None, rest: Vec::new(), job };
    let mut text = Vec::new();
    let ended = feed.fill(&mut text, budget, 1)?;
    job.start_threads(ended.then_some(text.len() as u64))?;
    let texts = [text];
    if ended {
        return Lines::of(&texts, job).sort(job, sink);
    }
    parts.push(folder.write(|sink| Lines::of(&texts, job).sort(job, sink))?, job)?;

    let shares = if rayon::current_num_threads() > 1 && budget >= SHARED_FROM { 2 } else { 1 };
    // Larger than those to come.
    drop(texts);
    thread::scope(|threads| -> Result<(), Failure> {
        let (give_back, empty) = mpsc::channel();
        let (fill, full) = mpsc::sync_channel(1);
        for _ in 0..shares {
            give_back.send(Vec::new()).expect("the other end is here");
        }
        let read = move || {
            for mut text in empty {
                let ended = feed.fill(&mut text, budget, shares);
                let stop = !matches!(ended, Ok(false));
                if fill.send(ended.map(|_| text)).is_err() || stop {
                    return;
                }
            }
        };
        thread::Builder::new().spawn_scoped(threads, read).map_err(Failure::threads(1))?;
        for text in full {
            let mut texts = [text?];
            parts.push(folder.write(|sink| Lines::of(&texts, job).sort(job, sink))?, job)?;
            // The reader may be done.
            let _ = give_back.send(std::mem::take(&mut texts[0]));
        }
        Ok(())
    })?;
    parts.merge(job, sink)
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
    /// Replaces `text` by what follows, as much as `budget` has room for where so many texts are held at a time
    /// as there are `shares`, and one is sorted; a line at least. True where that is the end.
    fn fill(&mut self, text: &mut Vec<u8>, budget: u64, shares: u64) -> Result<bool, Failure> {
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
            self.job.progress.advance(read as u64);
            if (read as u64) < piece {
                lines::terminate(text, self.job.terminator);
                self.open = None;
            }
            let count = lines::count(&text[before..], self.job.terminator);
            lines_read += count;
            cost.add(&self.job.order, count, &text[before..], self.job.terminator);
            if shares * text.len() as u64 + cost.bytes() >= budget && lines_read > 0 {
                let end = memchr::memrchr(self.job.terminator, text).map_or(0, |at| at + 1);
                self.rest = text.split_off(end);
                break false;
            }
        };
        self.job.note("read", start.elapsed(), text.len(), 0);
        Ok(ended)
    }
}
