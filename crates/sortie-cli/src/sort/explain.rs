//! `--explain` for lines: what the sort would do, how much memory and how long it would take. The first lines stand for all: they
//! are sorted, and their time is the measure.

use std::io::Read;

use sortie_files::formats::text::{INPUTS_AT_ONCE, LineSort, Locale, Trial};
use sortie_files::relay::runners;
use sortie_files::run::Merges;
use sortie_files::threads::of_use;
use sortie_files::{Format, Input};

use super::warnings;
use crate::cli::LinesJob;
use crate::explain::{self, counted};
use crate::failure::Failure;
use crate::memory;

/// The number of bytes of the first inputs that are sorted.
const HEAD: u64 = 1 << 20;
/// Nanoseconds in which a byte is read from an input, or written to the output.
const MOVED: f64 = 0.5;
/// Nanoseconds in which a byte of a run is written, read again and merged. A line takes `TURN` more for each doubling of the runs.
const SPILLED: f64 = 1.5;
const TURN: f64 = 10.0;

/// Prints how the lines would be sorted.
pub fn explain(
    inputs: &[Input],
    args: &LinesJob,
    locale: &Locale,
    job: &LineSort<'_>,
) -> Result<(), Failure> {
    let size = inputs.iter().map(Input::size).sum::<Option<u64>>();
    let size = size.ok_or_else(explain::unknown_size)?;
    let threads = || of_use(args.resources.parallel, None);
    let budget = memory::budget(args.resources.buffer_size, Some(size), threads);
    job.start_threads(Some(size))?;
    let mut head = Vec::new();
    for input in inputs {
        let room = HEAD - head.len() as u64;
        let read = input.read_text()?.take(room).read_to_end(&mut head);
        read.map_err(Failure::file("read", input.name()))?;
    }
    sortie_formats::lines::terminate(&mut head, job.terminator);
    let bytes_of_head = head.len().max(1) as f64;
    let part = |whole: f64| whole * size as f64 / bytes_of_head;

    let Trial { lines: in_head, memory: cost, seconds: measured } = job.try_out(head)?;
    let lines = part(in_head as f64).round() as usize;
    let needed = part(cost as f64) as u64;
    // The time for a byte grows with the depth of the sort.
    let depth = |lines: f64| lines.max(2.0).log2() / (in_head as f64).max(2.0).log2();
    let sort = |lines: f64| part(measured) * depth(lines).max(1.0);
    let moved = 2.0 * MOVED * size as f64 / 1e9;

    let (how, seconds) = if needed <= budget {
        (String::new(), sort(lines as f64) + moved)
    } else {
        let runners = runners(budget) as u64;
        let beside = needed.saturating_sub(size) as f64 / size as f64;
        let run = budget as f64 / (runners as f64 + runners.min(2) as f64 * beside);
        let runs = (size as f64 / run).ceil() as usize;
        let most = args.temporary.batch_size.map_or(<LineSort<'_> as Format>::RUNS_AT_ONCE, usize::from);
        let merges = Merges::of(runs, most.min(INPUTS_AT_ONCE));
        let turns = lines as f64 * (runs.min(most) as f64).log2() * TURN / runners.min(2) as f64;
        let merged = merges.passes * (SPILLED * size as f64 + turns) / 1e9;
        (format!(", {merges}"), sort(lines as f64 / runs as f64) + moved + merged)
    };
    let mut plan = job.plan(lines)?;
    if let Some(of_cpu) = plan.predicted.iter_mut().find(|predicted| predicted.gpu.is_none()) {
        of_cpu.seconds = seconds;
    }
    plan.scratch.host = needed.min(budget);
    let bytes = counted(size as usize, "byte", "bytes");
    let is_in_c = locale.collation().is_none() && locale.missing().is_none();
    let rules = if is_in_c { String::new() } else { format!("; {}", warnings::rules(locale)) };
    explain::print(&format!("{bytes}, about {}{how}{rules}", counted(lines, "line", "lines")), &plan)
}
