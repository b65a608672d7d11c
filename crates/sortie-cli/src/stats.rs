//! What a sort tells: progress while it works, and with `--stats` afterwards what it did, on standard error.

use std::io::{self, Write};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::json;
use sortie::Report;

use crate::cli::StatsFormat;
use crate::failure::Failure;
use crate::progress::Progress;

/// Where all threads of a sort note what they do.
pub struct Ledger {
    pub progress: Progress,
    opened: Instant,
    report: Mutex<Report>,
}

impl Ledger {
    pub fn open() -> Ledger {
        Ledger { progress: Progress::start(), opened: Instant::now(), report: Mutex::default() }
    }

    /// Runs `work` as a phase that reads and writes so many bytes.
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

    /// Takes the bar away, and prints the report where that was asked for.
    pub fn close(self, format: Option<StatsFormat>) -> Result<(), Failure> {
        drop(self.progress);
        let Some(format) = format else { return Ok(()) };
        let mut report = self.report.into_inner().expect("no thread panicked");
        // One stretch is read while another is sorted, so the times of the phases may come to more.
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

/// The report on one line.
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
