//! The output of a run: a table, lines of JSON, and a chart.

pub mod curve;
pub mod figures;
pub mod heat_map;
pub mod json;
pub mod plot;
pub mod table;

use serde::{Deserialize, Serialize};
use sortie::Report;

use crate::measured::{Facts, Measured, mean_and_deviation, median};

/// The result of a case.
pub enum Outcome {
    Timed(Vec<Row>),
    Counted(Vec<Counted>),
}

/// The result of one contender in one case. The README describes the fields, which are those of a JSON line. Fields
/// with a default are missing in the oldest runs that were kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Row {
    #[serde(flatten)]
    pub facts: Facts,
    /// The paper's figure or table that the case belongs to, or an empty string.
    #[serde(default)]
    pub figure: &'static str,
    /// The case in a few words.
    #[serde(skip)]
    pub label: String,
    pub threads: usize,
    pub engine: &'static str,
    pub device: String,
    pub contender: &'static str,
    pub median_ms: f64,
    pub min_ms: f64,
    pub max_ms: f64,
    #[serde(default)]
    pub mean_ms: f64,
    #[serde(default)]
    pub deviation_ms: f64,
    /// The time of each repetition.
    #[serde(default)]
    pub times_ms: Vec<f64>,
    /// The phases of the repetition with the median time, if they were measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub phases: Vec<PhaseTime>,
    /// Keys, strings or lines per second, from the median time.
    pub rate: f64,
    pub bytes: usize,
    pub includes: String,
    pub verified: bool,
    pub version: &'static str,
    pub date: String,
    /// The peak memory of a program, if known.
    #[serde(skip)]
    pub peak_bytes: u64,
    /// What the contender chose or reports for this case, or an empty string.
    #[serde(skip)]
    pub note: String,
}

/// One phase of a sort.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PhaseTime {
    pub name: &'static str,
    pub ms: f64,
    /// The time that each thread worked.
    pub work_ms: Vec<f64>,
}

impl Row {
    pub fn new(facts: &Facts, contender: &'static str, threads: usize, measured: &Measured) -> Row {
        let Measured { ref times_ms, bytes, peak_bytes, verified, ref reports, ref note } = *measured;
        let median_ms = median(times_ms);
        let (mean_ms, deviation_ms) = mean_and_deviation(times_ms);
        let mut includes = facts.includes.to_string();
        if peak_bytes > 0 {
            includes += &format!("; peak {} MB resident", peak_bytes / 1_000_000);
        }
        if !note.is_empty() {
            includes += &format!("; {note}");
        }
        Row {
            facts: facts.clone(),
            figure: "",
            label: facts.label(),
            threads,
            engine: "cpu",
            device: device(),
            contender,
            median_ms,
            min_ms: times_ms.iter().copied().fold(f64::INFINITY, f64::min),
            max_ms: times_ms.iter().copied().fold(0.0, f64::max),
            mean_ms,
            deviation_ms,
            times_ms: times_ms.clone(),
            phases: middle(times_ms, reports).map_or(Vec::new(), phases),
            rate: facts.n as f64 / (median_ms / 1e3),
            bytes,
            includes,
            verified,
            version: env!("CARGO_PKG_VERSION"),
            date: now(),
            peak_bytes,
            note: note.clone(),
        }
    }
}

/// The report of the repetition with the median time, or with the next lower time.
fn middle<'a>(times_ms: &[f64], reports: &'a [Report]) -> Option<&'a Report> {
    let mut order: Vec<_> = (0..reports.len()).collect();
    order.sort_by(|&a, &b| times_ms[a].total_cmp(&times_ms[b]));
    order.get(order.len().saturating_sub(1) / 2).map(|&at| &reports[at])
}

fn phases(report: &Report) -> Vec<PhaseTime> {
    let phases = report.phases.iter();
    phases
        .map(|phase| PhaseTime { name: phase.name, ms: phase.milliseconds, work_ms: phase.work.clone() })
        .collect()
}

/// The cost of one contender in one case, counted instead of timed. These fields are also those of a JSON line.
#[derive(Debug, Clone, Serialize)]
pub struct Counted {
    pub suite: &'static str,
    pub figure: &'static str,
    pub key: &'static str,
    pub n: u64,
    pub distribution: &'static str,
    pub contender: &'static str,
    /// What counted the cost, and on what device.
    pub counted_by: &'static str,
    pub device: String,
    #[serde(flatten)]
    pub counts: Counts,
    pub verified: bool,
    pub version: &'static str,
    pub date: String,
}

/// The counts of Capannini's table 1. A formula only gives the transactions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub transactions: u64,
    pub conflicts: Option<u64>,
    pub divergent_branches: Option<u64>,
}

/// The current time in UTC.
pub fn now() -> String {
    jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// The processor and its number of threads.
pub fn device() -> String {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    format!("{}, {threads} threads", model.map_or(std::env::consts::ARCH, |(_, name)| name.trim()))
}
