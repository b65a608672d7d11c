//! Runs and sorted inputs. If there are too many to be read together, some are merged into longer runs first.

use std::collections::VecDeque;
use std::ops::Range;
use std::{fmt, fs};

use rustix::process::{Resource, getrlimit};

use super::{Content, Pages, Run, RunFolder};
use crate::sink::Sink;
use crate::{Error, Input, Ledger};

/// The maximum number of parts that are open at a time, if the process may open as many files.
const OPEN: usize = 256;
/// The maximum number of inputs to merge at a time if some are compressed.
const COMPRESSED_AT_ONCE: usize = 16;
/// While more input is read and sorted, merging gets one part in this many of the memory.
const MEANWHILE: u64 = 8;

/// A sorted input, or a run.
pub struct Part {
    what: Sorted,
    pub bytes: u64,
    /// The number of bytes that are best read together.
    pub block: usize,
}

enum Sorted {
    Input(Input),
    /// A run has no name, so its file is open from the start.
    Run(Run),
}

impl Part {
    fn of_input(input: Input) -> Part {
        Part { bytes: input.size().unwrap_or(0), block: 1, what: Sorted::Input(input) }
    }

    fn of_run(run: Run) -> Part {
        Part { bytes: run.bytes, block: run.block(), what: Sorted::Run(run) }
    }

    /// Whether the part is a run, which Sortie has written.
    pub fn is_run(&self) -> bool {
        matches!(self.what, Sorted::Run(_))
    }

    /// Whether the part is an input without any bytes.
    pub fn is_empty(&self) -> bool {
        match &self.what {
            Sorted::Input(input) => self.bytes == 0 && input.size() == Some(0) && input.is_empty(),
            Sorted::Run(_) => false,
        }
    }

    /// Whether [`Part::pages`] can open the part: not if it is a pipe or compressed.
    pub fn has_pages(&self) -> bool {
        match &self.what {
            Sorted::Input(input) => self.bytes > 0 && !input.is_stdin(),
            Sorted::Run(run) => run.has_pages(),
        }
    }

    /// Opens the part to read it at any position.
    pub fn pages(self) -> Result<Pages, Error> {
        match self.what {
            Sorted::Input(input) => {
                let (file, name) = (input.open()?, input.name().to_owned());
                Ok(Pages { file, bytes: self.bytes, block: 1, sums: None, doing: "read", name })
            }
            Sorted::Run(run) => Ok(run.pages()),
        }
    }

    /// Opens the part at its start.
    pub fn open(self) -> Result<Content, Error> {
        match self.what {
            Sorted::Input(input) => {
                Ok(Content { reader: input.read_text()?, doing: "read", name: input.name().to_owned() })
            }
            Sorted::Run(run) => run.read(),
        }
    }
}

/// Parts, in the order in which their items were read. If there are too many, neighbours are merged into runs.
pub struct Parts<'a> {
    parts: Vec<Part>,
    at_once: usize,
    /// The number of parts that may be open while a run is being written.
    open: usize,
    budget: u64,
    folder: &'a RunFolder,
    ledger: &'a Ledger,
    merge: Merge<'a>,
}

/// How many merges runs of about the same size take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Merges {
    runs: usize,
    at_once: usize,
    merges: usize,
    /// How often a byte is merged, on average.
    pub passes: f64,
}

impl Merges {
    /// Of `runs` runs, of which at most `at_once` are merged at a time.
    pub fn of(runs: usize, at_once: usize) -> Merges {
        let at_once = at_once.max(2);
        // The runs of which each part was made. The smallest parts are merged first, about as in a queue.
        let mut parts = VecDeque::from(vec![1; runs]);
        let (mut merges, mut merged) = (1, runs);
        while parts.len() > at_once {
            let most = at_once.min(parts.len() - at_once + 1);
            let part = parts.drain(..most).sum();
            parts.push_back(part);
            (merges, merged) = (merges + 1, merged + part);
        }
        Merges { runs, at_once, merges, passes: merged as f64 / runs.max(1) as f64 }
    }
}

impl fmt::Display for Merges {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Merges { runs, at_once, merges, passes } = self;
        write!(f, "in about {runs} runs through temporary files, merged ")?;
        match merges {
            1 => f.write_str("in one pass"),
            _ => write!(f, "at most {at_once} at a time: {merges} merges, {passes:.1} passes"),
        }
    }
}

/// Merges parts with the given number of bytes of memory.
pub type Merge<'a> = &'a (dyn Fn(Vec<Part>, u64, Sink<'_>) -> Result<(), Error> + Sync);

impl<'a> Parts<'a> {
    /// An empty list of parts, of which at most `at_once` are merged at a time.
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

    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// From now on, merges at most `most` parts at a time, but at least two.
    pub fn at_most(&mut self, most: usize) {
        self.at_once = self.at_once.min(most.max(2));
    }

    /// Adds sorted inputs. Fewer are merged at a time if some are compressed, because each of these takes additional
    /// memory while it is open.
    pub fn add_inputs(&mut self, inputs: Vec<Input>) {
        if inputs.iter().any(Input::is_compressed) {
            self.at_most(COMPRESSED_AT_ONCE);
        }
        self.parts.extend(inputs.into_iter().map(Part::of_input));
    }

    /// Adds a run. If too many parts would be open, merges some of them. More input is read and sorted meanwhile, so this
    /// merge gets only a part of the memory.
    pub fn push(&mut self, run: Run) -> Result<(), Error> {
        self.parts.push(Part::of_run(run));
        // Leaves room for one more open file, for the next run.
        self.reduce(self.open - 1, self.budget / MEANWHILE)
    }

    /// Merges all parts into `sink`.
    pub fn merge(mut self, sink: Sink<'_>) -> Result<(), Error> {
        if self.parts.is_empty() {
            return Ok(());
        }
        self.reduce(self.at_once, self.budget)?;
        self.ledger.progress.stage("merging", self.parts.iter().map(|part| part.bytes).sum());
        (self.merge)(self.parts, self.budget, sink)
    }

    /// Merges neighbours until at most `limit` parts are left. Only neighbours are merged, so that equal items keep their
    /// order. Takes the neighbours with the fewest bytes, and no more of them than necessary.
    fn reduce(&mut self, limit: usize, budget: u64) -> Result<(), Error> {
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

    /// The `size` neighbours with the fewest bytes, among those that can be open together with all runs.
    fn shortest(&self, size: usize) -> Option<Range<usize>> {
        let is_input = |part: &&Part| matches!(part.what, Sorted::Input(_));
        let runs = self.parts.len() - self.parts.iter().filter(is_input).count();
        let bytes = |window: &[Part]| window.iter().map(|part| part.bytes).sum::<u64>();
        let windows = self.parts.windows(size).enumerate();
        let can_be = windows.filter(|(_, window)| runs + window.iter().filter(is_input).count() <= self.open);
        can_be.min_by_key(|(_, window)| bytes(window)).map(|(start, _)| start..start + size)
    }
}

/// The number of files that the process may still open.
fn files_left() -> usize {
    let limit = getrlimit(Resource::Nofile).current.map_or(usize::MAX, |limit| limit as usize);
    // One of the open files is the folder that is read here. Without that folder, assumes the standard streams and the
    // output.
    let open = fs::read_dir("/proc/self/fd").map_or(4, |open| open.count() - 1);
    limit.saturating_sub(open)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Once, a part counted as one run, of however many it was made.
    #[test]
    fn passes_count_each_run_as_often_as_it_is_merged() {
        for (runs, at_once, merges, passes) in
            [(3, 16, 1, 1.0), (4, 3, 2, 1.5), (9, 3, 4, 2.0), (8, 2, 7, 3.0)]
        {
            assert_eq!(Merges::of(runs, at_once), Merges { runs, at_once, merges, passes });
        }
    }
}
