//! What a sort reports on standard error: its progress while it works, and with `--stats` a report at the end.

use std::io::{self, Write};
use std::sync::Arc;

use serde_json::json;
use sortie::Report;
use sortie_files::Ledger;

use crate::cli::StatsFormat;
use crate::failure::Failure;
use crate::progress::Progress;

/// A ledger whose progress a bar shows.
pub fn open() -> Ledger {
    Ledger::new(progress())
}

/// Progress that a bar shows until this is dropped.
pub fn progress() -> Arc<Progress> {
    Arc::new(Progress::start())
}

/// Removes the progress bar, and prints the report if `--stats` asked for it.
pub fn close(ledger: Ledger, format: Option<StatsFormat>) -> Result<(), Failure> {
    print(&ledger.close(), format)
}

/// Prints a report if `--stats` asked for it.
pub fn print(report: &Report, format: Option<StatsFormat>) -> Result<(), Failure> {
    let Some(format) = format else { return Ok(()) };
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
