//! Text as a format of the pipeline. Lines are read until their sort needs all of the memory.

use std::io::Read;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use sortie_formats::lines;

use super::cost::Cost;
use super::lines::Lines;
use super::stretch::Text;
use super::{LineSort, merge, windows};
use crate::memory::append;
use crate::run::Part;
use crate::{Error, Format, Input, Inputs, Share, Sink, Sorted, shortage};

/// The maximum number of bytes to read between two checks of whether the text fits in memory. If all of them are empty lines,
/// their sort needs 12 MB more, or about 30 MB with keys.
const PIECE: u64 = 256 << 10;
/// The memory for long lines with keys, which a merge holds whole, if the budget is smaller.
const LEAST_LONG: u64 = 26 << 20;
/// If this many bytes have no terminator, a long line has begun.
const BEGUN: u64 = 64 << 10;
/// Lines are long if the budget has no room for this many.
const MANY: u64 = 8;

impl Format for LineSort<'_> {
    type Feed = Feed;
    type Stretch = Text;

    const RUNS_AT_ONCE: usize = 64;

    /// If the size and the first lines show that the text is far too large, returns false, so that the runners share the
    /// memory from the start.
    fn may_fit(&self, feed: &mut Feed, size: Option<u64>) -> Result<bool, Error> {
        let may_fit = match size {
            Some(size) => size <= self.budget && feed.needed(size, self)? <= 2 * self.budget,
            None => true,
        };
        if !may_fit {
            self.start_threads(size)?;
        }
        Ok(may_fit)
    }

    fn fill(&self, text: &mut Text, feed: &mut Feed, share: Share<'_>) -> Result<bool, Error> {
        let ended = feed.fill(text, share, self)?;
        self.start_threads(ended.then(|| self.work(&text.bytes)))?;
        Ok(ended)
    }

    fn sort(&self, text: &mut Text, then: impl FnOnce(Sorted<'_>) -> Result<(), Error>) -> Result<(), Error> {
        let bytes = text.bytes.len();
        Lines::of_text(text).sort(self, |lines| {
            let longest = self.longest.fetch_max(lines.longest(), Relaxed).max(lines.longest());
            then(Sorted {
                bytes,
                at_once: self.merged_at_once(longest),
                write: &|sink| lines.write(self, sink),
            })
        })
    }

    fn merge(&self, runs: Vec<Part>, budget: u64, sink: Sink<'_>) -> Result<(), Error> {
        let longest = self.longest.load(Relaxed) as u64;
        self.merge_by(runs, |runs| {
            if longest > windows::share(budget, runs.len()) {
                merge::merge(runs, budget, self, sink)
            } else {
                windows::merge(runs, budget, self, sink)
            }
        })
    }
}

impl LineSort<'_> {
    /// The number of runs to merge at a time. With keys, each run holds a line in memory.
    fn merged_at_once(&self, longest: usize) -> usize {
        match self.order.plain() {
            Some(_) => usize::MAX,
            None => (self.budget.max(LEAST_LONG) / longest.max(1) as u64) as usize,
        }
    }

    /// Whether lines of this length are so long that runs would have few of them, and a merge by keys could hold few at a time.
    fn are_long(&self, longest: usize) -> bool {
        self.order.plain().is_none() && MANY * longest as u64 > self.budget
    }

    /// The bytes of memory for a stretch with a line of this length. If that is more than the budget, it gets some more, because the lines
    /// that follow then often need no run.
    fn room(&self, longest: usize) -> u64 {
        let room = if self.are_long(longest) { self.budget.max(LEAST_LONG) } else { self.budget };
        let longest = longest as u64;
        if longest > self.budget { room.max(longest + longest / 5) } else { room }
    }
}

/// The inputs as one stream, in stretches of whole lines.
pub struct Feed {
    inputs: Inputs<Box<dyn Read + Send>>,
    /// Text that was read but not returned yet: the start of a line, or the first lines.
    rest: Vec<u8>,
    /// The bytes of it that are known to have no terminator.
    searched: usize,
}

impl Feed {
    pub fn new(inputs: Vec<Input>) -> Feed {
        Feed::after(Vec::new(), Inputs::new(inputs))
    }

    /// A text that was read before, and the rest of the inputs.
    pub fn after(text: Vec<u8>, inputs: Inputs<Box<dyn Read + Send>>) -> Feed {
        Feed { inputs, rest: text, searched: 0 }
    }

    /// An estimate, from the first lines, of the memory that sorting all `size` bytes of text at once needs.
    fn needed(&mut self, size: u64, job: &LineSort<'_>) -> Result<u64, Error> {
        let mut text = std::mem::take(&mut self.rest);
        self.read(&mut text, job)?;
        let mut cost = Cost::default();
        cost.add(&job.order, lines::count(&text, job.terminator), &text, job.terminator)?;
        let each = cost.bytes() as f64 / text.len().max(1) as f64;
        self.rest = text;
        Ok(size + (each * size as f64) as u64)
    }

    /// Replaces `text` by the next lines: at least one, and as many as fit in their share of the budget. Returns whether they are
    /// the last.
    fn fill(&mut self, text: &mut Text, share: Share<'_>, job: &LineSort<'_>) -> Result<bool, Error> {
        let start = Instant::now();
        let (mut runners, mut is_alone) = (share.runners as u64, false);
        // The memory of a line longer than the budget is kept for another such line only.
        if text.bytes.len() as u64 > job.budget.max(LEAST_LONG) && self.searched as u64 <= BEGUN {
            *text = Text::default();
        }
        text.clear(std::mem::take(&mut self.searched));
        append(&mut text.bytes, &std::mem::take(&mut self.rest))?;
        let mut cost = Cost::default();
        let ended = loop {
            let known = text.whole();
            let count = text.search(job.terminator);
            cost.add(&job.order, count, &text.bytes[known..], job.terminator)?;
            let bytes = text.bytes.len() as u64;
            let taken = |runners: u64| runners * bytes + runners.min(2) * cost.bytes();
            if !is_alone
                && taken(runners) >= job.budget
                && (text.lines() == 0 || job.are_long(text.longest()))
            {
                share.exceed();
                (runners, is_alone) = (1, true);
            }
            // A second line of such a length might not fit beside the first.
            let is_second = || text.longest() as u64 > job.budget && text.rest().len() as u64 > BEGUN;
            if text.lines() > 0 && (taken(runners) >= job.room(text.longest()) || is_second()) {
                append(&mut self.rest, text.rest())?;
                self.searched = self.rest.len();
                text.drop_rest();
                break self.rest.is_empty() && self.inputs.is_at_end();
            }
            if !self.read(&mut text.bytes, job)? {
                break true;
            }
        };
        job.ledger.note("read", start.elapsed(), text.bytes.len(), 0);
        Ok(ended)
    }

    /// Appends the next piece of the input to `text`. Returns false if there is no more.
    fn read(&mut self, text: &mut Vec<u8>, job: &LineSort<'_>) -> Result<bool, Error> {
        let piece = (job.budget / 16).min(PIECE);
        let Some((input, content)) = self.inputs.current(Input::read_text)? else { return Ok(false) };
        let read = text
            .try_reserve(piece as usize)
            .map_err(|_| shortage::while_reading(piece.max(2 * text.capacity() as u64)))
            .and_then(|()| content.take(piece).read_to_end(text))
            .map_err(Error::file("read", input.name()))?;
        job.ledger.progress.advance(read as u64);
        if (read as u64) < piece {
            lines::terminate(text, job.terminator);
            self.inputs.close();
        }
        Ok(true)
    }
}
