//! `--stats`: what a sort did, on standard error.

use std::io::{self, Write};

use serde_json::json;
use sortie::Report;

use crate::cli::StatsFormat;
use crate::failure::Failure;

pub fn print(report: &Report, format: StatsFormat) -> Result<(), Failure> {
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
