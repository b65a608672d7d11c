//! Runs and sorted inputs, merged into fewer runs where there are too many to be read together.

use std::fs;
use std::ops::Range;

use rustix::process::{Resource, getrlimit};

use super::Sink;
use super::runs::{Content, Run, RunFolder};
use crate::failure::Failure;
use crate::sort::Input;
use crate::stats::Ledger;

/// Parts that are open at a time, where the process may have so many files.
const OPEN: usize = 256;
/// Inputs that are merged at a time where some are compressed.
const COMPRESSED_AT_ONCE: usize = 16;
/// What of the memory is for merging while more is read and sorted.
const MEANWHILE: u64 = 8;

/// Something sorted.
pub struct Part {
    what: Sorted,
    pub bytes: u64,
    /// Bytes that are best read together.
    pub block: usize,
}

enum Sorted {
    Input(Input),
    /// Open from when it is made, since it has no name.
    Run(Run),
}

impl Part {
    fn of_input(input: Input) -> Part {
        Part { bytes: input.size().unwrap_or(0), block: 1, what: Sorted::Input(input) }
    }

    fn of_run(run: Run) -> Part {
        Part { bytes: run.bytes, block: run.block(), what: Sorted::Run(run) }
    }

    /// What it holds, from the start.
    pub fn open(self) -> Result<Content, Failure> {
        match self.what {
            Sorted::Input(input) => {
                Ok(Content { reader: input.read_text()?, doing: "read", name: input.name().to_owned() })
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
    ledger: &'a Ledger,
    merge: Merge<'a>,
}

/// Merges parts with so many bytes of memory.
pub type Merge<'a> = &'a (dyn Fn(Vec<Part>, u64, Sink<'_>) -> Result<(), Failure> + Sync);

impl<'a> Parts<'a> {
    /// None yet, of which at most `at_once` are to be merged at a time.
    pub fn new(
        at_once: usize,
        budget: u64,
        folder: &'a RunFolder,
        ledger: &'a Ledger,
        merge: Merge<'a>,
    ) -> Self {
        let open = files_left().saturating_sub(folder.files_for_a_run()).clamp(2, OPEN);
        Parts { parts: Vec::new(), at_once: at_once.min(open), open, budget, folder, ledger, merge }
    }

    /// Has no more than `most` parts, or two, merged at a time from now on.
    pub fn at_most(&mut self, most: usize) {
        self.at_once = self.at_once.min(most.max(2));
    }

    /// Adds inputs, which are sorted. Each that is compressed takes memory of its own while it is open.
    pub fn add_inputs(&mut self, inputs: Vec<Input>) {
        if inputs.iter().any(Input::is_compressed) {
            self.at_most(COMPRESSED_AT_ONCE);
        }
        self.parts.extend(inputs.into_iter().map(Part::of_input));
    }

    /// Adds a run, and merges some where there are too many to be open. That happens while more is read and sorted, so with
    /// a part of the memory.
    pub fn push(&mut self, run: Run) -> Result<(), Failure> {
        self.parts.push(Part::of_run(run));
        // One less than may be open, for the next.
        self.reduce(self.open - 1, self.budget / MEANWHILE)
    }

    /// Merges all of them into `sink`.
    pub fn merge(mut self, sink: Sink<'_>) -> Result<(), Failure> {
        if self.parts.is_empty() {
            return Ok(());
        }
        self.reduce(self.at_once, self.budget)?;
        self.ledger.progress.stage("merging", self.parts.iter().map(|part| part.bytes).sum());
        (self.merge)(self.parts, self.budget, sink)
    }

    /// Merges neighbours, so that equal lines keep their order, until at most `limit` parts are left. Of all
    /// neighbours takes the shortest, and no more of them than it has to.
    fn reduce(&mut self, limit: usize, budget: u64) -> Result<(), Failure> {
        while self.parts.len() > limit {
            let most = self.at_once.min(self.parts.len() - limit + 1);
            let group = (2..=most).rev().find_map(|size| self.shortest(size));
            let group = group.expect("a run and its neighbour, or two inputs, can always be open");
            let start = group.start;
            let merged: Vec<Part> = self.parts.splice(group, []).collect();
            let run = self.folder.write(|sink| (self.merge)(merged, budget, sink))?;
            self.parts.insert(start, Part::of_run(run));
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
