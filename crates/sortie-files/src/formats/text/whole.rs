//! Whole jobs: sorts, merges and checks of all inputs.

use std::path::Path;
use std::time::Instant;

use sortie::Report;
use sortie::plan::Plan;

use super::LineSort;
use super::check::{self, Disorder};
use super::external::Feed;
use super::items;
use super::lines::Lines;
use super::merge::{self, INPUTS_AT_ONCE};
use super::order::{LineOrder, TextOrder};
use crate::formats::Choices;
use crate::{Error, Input, Ledger, PARALLEL_FROM, Sink, Task};

/// Inputs of at most this total size are merged from memory, however many there are.
const MERGED_WHOLE: u64 = 4 << 20;

/// Sorts the lines of all inputs into the file `output`, or standard output, as GNU sort does in the C locale. A missing end of the
/// last line of an input is added. An input that is compressed is decompressed, and one that is not text is refused.
///
/// [`Choices::unique`] and [`Choices::descending`] are the same as [`TextOrder::unique`] and `reverse` of [`TextOrder::options`]. The
/// file is replaced once the result is complete, and may be one of the inputs. Uses rayon's current thread pool.
///
/// # Errors
/// If the options of a key are incompatible, an input, an output or a temporary file cannot be read or written, an input is not text,
/// or memory is short. Then the output is as it was.
pub fn sort_text(
    order: &TextOrder,
    inputs: Vec<Input>,
    output: Option<&Path>,
    choices: &Choices,
) -> Result<Report, Error> {
    run(order, inputs, output, choices, |job, inputs, size, task, sink| {
        job.sort_inputs(inputs, size, task, sink)
    })
}

/// Merges inputs that are in order already into the file `output`, or standard output. See [`sort_text`].
///
/// # Errors
/// As that function. That an input is not in order is no error: then the output is not in order either.
pub fn merge_text(
    order: &TextOrder,
    inputs: Vec<Input>,
    output: Option<&Path>,
    choices: &Choices,
) -> Result<Report, Error> {
    run(order, inputs, output, choices, |job, inputs, size, task, sink| {
        job.merge_inputs(inputs, size, task, sink)
    })
}

/// Writes the first `count` lines of what [`sort_text`] would write, without sorting the others: each input is read once, and lines that
/// cannot be among the first are refused. If the first `count` lines do not fit in memory, everything is sorted.
///
/// ```
/// use sortie_files::Input;
/// use sortie_files::formats::Choices;
/// use sortie_files::formats::text::{TextOrder, top_text};
///
/// # let folder = tempfile::tempdir()?;
/// # let [sales, best] = ["sales.csv", "best.csv"].map(|name| folder.path().join(name));
/// std::fs::write(&sales, "apples,9\npears,11\nplums,10\n")?;
/// // The two lines with the greatest numbers in their second column.
/// let order = TextOrder { keys: vec!["2,2nr".parse()?], separator: Some(b','), ..TextOrder::default() };
/// top_text(&order, 2, vec![Input::named(&sales)], Some(&best), &Choices::default())?;
/// assert_eq!(std::fs::read_to_string(&best)?, "pears,11\nplums,10\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// As [`sort_text`].
pub fn top_text(
    order: &TextOrder,
    count: u64,
    inputs: Vec<Input>,
    output: Option<&Path>,
    choices: &Choices,
) -> Result<Report, Error> {
    run(order, inputs, output, choices, |job, inputs, size, task, sink| {
        job.top_inputs(count, inputs, size, task, sink)
    })
}

/// The first line of an input that is out of order, or equal to the one before if the lines are to be unique.
///
/// # Errors
/// As [`sort_text`].
pub fn check_text(order: &TextOrder, input: &Input) -> Result<Option<Disorder>, Error> {
    input.examine()?;
    let ledger = Ledger::default();
    LineSort::new(LineOrder::new(order)?, &threads_of_pool, &ledger).check(input)
}

fn run(
    order: &TextOrder,
    inputs: Vec<Input>,
    output: Option<&Path>,
    choices: &Choices,
    job: impl FnOnce(&LineSort<'_>, Vec<Input>, Option<u64>, &Task<'_>, Sink<'_>) -> Result<(), Error>,
) -> Result<Report, Error> {
    let mut order = order.clone();
    order.unique |= choices.unique;
    order.options.reverse |= choices.descending;
    let order = LineOrder::new(&order)?;
    inputs.iter().try_for_each(Input::examine)?;
    let size = inputs.iter().map(Input::size).sum::<Option<u64>>();
    choices.publish(output, size, false, |task, sink| {
        let sort = LineSort::new(order, &threads_of_pool, task.ledger);
        job(&sort.within(task.budget, choices.memory.is_some(), size), inputs, size, task, sink)
    })
}

/// The threads of rayon's current pool.
fn threads_of_pool(_: Option<u64>) -> Result<usize, Error> {
    Ok(rayon::current_num_threads())
}

/// What the sort of some text took.
pub struct Trial {
    pub lines: usize,
    /// The bytes of memory, the text included.
    pub memory: u64,
    pub seconds: f64,
}

impl LineSort<'_> {
    /// Sorts the lines of all inputs into `sink`. `size` is their number of bytes, if it is known.
    pub fn sort_inputs(
        &self,
        inputs: Vec<Input>,
        size: Option<u64>,
        task: &Task<'_>,
        sink: Sink<'_>,
    ) -> Result<(), Error> {
        if !self.is_limited && self.sort_at_once(&inputs, size, sink)? {
            return Ok(());
        }
        task.sort(self, Feed::new(inputs), size, sink)
    }

    /// Merges inputs that are in order into `sink`.
    pub fn merge_inputs(
        &self,
        inputs: Vec<Input>,
        size: Option<u64>,
        task: &Task<'_>,
        sink: Sink<'_>,
    ) -> Result<(), Error> {
        let is_small = size.is_some_and(|size| size <= self.budget.min(MERGED_WHOLE));
        if task.at_once.is_none() && is_small {
            let bytes = size.unwrap_or(0) as usize;
            return self.ledger.timed("merge", bytes, bytes, || merge::merge_whole(&inputs, self, sink));
        }
        // The inputs may not really be sorted, so they need the merge that reads line by line.
        let merge = |inputs, budget, sink: Sink<'_>| {
            self.merge_by(inputs, |inputs| merge::merge(inputs, budget, self, sink))
        };
        let mut parts = task.parts(INPUTS_AT_ONCE, &merge);
        parts.add_inputs(inputs);
        parts.merge(sink)
    }

    /// The first line of an input that is out of order.
    pub fn check(&self, input: &Input) -> Result<Option<Disorder>, Error> {
        let bytes = input.size().unwrap_or(0) as usize;
        self.ledger.timed("check", bytes, 0, || check::check(input, self))
    }

    /// Sorts a text, and measures what that takes. Every line ends with a terminator.
    pub fn try_out(&self, text: Vec<u8>) -> Result<Trial, Error> {
        let texts = [text];
        let lines = Lines::of(&texts, self);
        let (count, memory) = (lines.count(), lines.cost(self)?);
        let start = Instant::now();
        lines.sort(self, |_| Ok(()))?;
        Ok(Trial { lines: count, memory, seconds: start.elapsed().as_secs_f64() })
    }

    /// Plans the sort of `lines` lines in memory.
    pub fn plan(&self, lines: usize) -> Result<Plan, Error> {
        Ok(items::plan(self, lines)?)
    }

    /// Sorts in memory if all input is in files and fits. Several threads read it at once. Returns false if it does
    /// not fit.
    fn sort_at_once(&self, inputs: &[Input], size: Option<u64>, sink: Sink<'_>) -> Result<bool, Error> {
        let Some(size) = size.filter(|&size| size <= self.budget / 2) else { return Ok(false) };
        // Standard input cannot be read a second time, which is necessary if the sort turns out to need too much memory.
        if inputs.iter().any(Input::is_stdin) {
            return Ok(false);
        }
        // All threads together read a larger file.
        if size >= PARALLEL_FROM as u64 {
            self.start_threads(Some(size))?;
        }
        self.ledger.progress.stage("reading", size);
        let start = Instant::now();
        let advance = |bytes| self.ledger.progress.advance(bytes);
        let read = |input: &Input| input.read_whole(self.terminator, &advance);
        let texts: Vec<Vec<u8>> = inputs.iter().map(read).collect::<Result<_, _>>()?;
        self.ledger.note("read", start.elapsed(), texts.iter().map(Vec::len).sum(), 0);
        self.start_threads(Some(texts.iter().map(|text| self.work(text)).sum()))?;
        let lines = Lines::of(&texts, self);
        // Very short lines need many times their own size.
        if lines.cost(self)? > self.budget {
            return Ok(false);
        }
        self.ledger.progress.stage("sorting", 0);
        lines.sort(self, |sorted| sorted.write(self, sink))?;
        Ok(true)
    }
}
