//! What a sort reports on standard error: its progress while it works, and with `--stats` a report at the end.

use std::io::{self, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::json;
use sortie::Report;

use crate::cli::StatsFormat;
use crate::failure::Failure;
use crate::progress::Progress;

/// The progress bar and the report of a sort, shared by all of its threads.
pub struct Ledger {
    pub progress: Progress,
    opened: Instant,
    report: Mutex<Report>,
}

impl Ledger {
    pub fn open() -> Ledger {
        Ledger { progress: Progress::start(), opened: Instant::now(), report: Mutex::default() }
    }

    /// Runs `work` as a phase that reads and writes the given numbers of bytes.
    pub fn timed<R>(&self, phase: &'static str, read: usize, written: usize, work: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = work();
        self.note(phase, start.elapsed(), read, written);
        result
    }

    pub fn note(&self, phase: &'static str, time: Duration, read: usize, written: usize) {
        self.report.lock().expect("no thread panicked").add(phase, time, read as u64, written as u64);
    }

    pub fn absorb(&self, report: Report) {
        self.report.lock().expect("no thread panicked").absorb(report);
    }

    /// Removes the progress bar, and prints the report if `--stats` asked for it.
    pub fn close(self, format: Option<StatsFormat>) -> Result<(), Failure> {
        drop(self.progress);
        let Some(format) = format else { return Ok(()) };
        let mut report = self.report.into_inner().expect("no thread panicked");
        // One batch is read while another is sorted, so the times of the phases may add up to more than this.
        report.elapsed = Some(self.opened.elapsed().as_secs_f64() * 1e3);
        print(&report, format)
    }
}

fn print(report: &Report, format: StatsFormat) -> Result<(), Failure> {
    let text = match format {
        StatsFormat::Table => report.to_string(),
        StatsFormat::Json => json(report),
    };
    writeln!(io::stderr().lock(), "{text}").map_err(Failure::file("write", "standard error".as_ref()))
}

/// The report as one line of JSON.
fn json(report: &Report) -> String {
    let phases: Vec<_> = report
        .phases
        .iter()
        .map(|phase| {
            json!({
                "name": phase.name,
                "engine": phase.engine.to_string(),
                "milliseconds": phase.milliseconds,
                "bytes_read": phase.bytes_read,
                "bytes_written": phase.bytes_written,
                "work": phase.work,
            })
        })
        .collect();
    json!({
        "phases": phases,
        "milliseconds": report.milliseconds(),
        "scratch_peak": report.scratch_peak,
    })
    .to_string()
}
