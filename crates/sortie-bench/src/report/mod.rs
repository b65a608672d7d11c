//! What comes out: a table, lines of JSON, a picture.

pub mod curve;
pub mod json;
pub mod plot;
pub mod table;

use serde::Serialize;

use crate::measure::{Facts, Measured, median};

/// One contender at one case. The fields are those of a JSON line, see the README.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    #[serde(flatten)]
    pub facts: Facts,
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
    /// Keys, strings or lines a second, by the median.
    pub rate: f64,
    pub bytes: usize,
    pub includes: String,
    pub verified: bool,
    pub version: &'static str,
    pub date: String,
    /// The most memory a program held, where it is known.
    #[serde(skip)]
    pub peak_bytes: u64,
    /// What the contender chose for this case, or nothing.
    #[serde(skip)]
    pub note: String,
}

impl Row {
    pub fn new(facts: &Facts, contender: &'static str, threads: usize, measured: &Measured) -> Row {
        let Measured { ref times_ms, bytes, peak_bytes, verified } = *measured;
        let median_ms = median(times_ms);
        let mut includes = facts.includes.to_string();
        if peak_bytes > 0 {
            includes += &format!("; peak {} MB resident", peak_bytes / 1_000_000);
        }
        Row {
            facts: facts.clone(),
            label: facts.label(),
            threads,
            engine: "cpu",
            device: device(),
            contender,
            median_ms,
            min_ms: times_ms.iter().copied().fold(f64::INFINITY, f64::min),
            max_ms: times_ms.iter().copied().fold(0.0, f64::max),
            rate: facts.n as f64 / (median_ms / 1e3),
            bytes,
            includes,
            verified,
            version: env!("CARGO_PKG_VERSION"),
            date: jiff::Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
            peak_bytes,
            note: String::new(),
        }
    }
}

/// The processor and how many of its threads there are.
fn device() -> String {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpuinfo.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    format!("{}, {threads} threads", model.map_or(std::env::consts::ARCH, |(_, name)| name.trim()))
}
