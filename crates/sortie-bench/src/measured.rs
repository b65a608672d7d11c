//! What is measured: the facts of a case, and the results of a contender.

use serde::{Deserialize, Serialize};
use sortie::Report;

/// The description of a case, as reported.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    pub suite: &'static str,
    pub work: &'static str,
    pub key: &'static str,
    pub payload: &'static str,
    /// The number of keys, strings or lines.
    pub n: usize,
    pub segments: Option<usize>,
    /// The length of a segment or a string, if all have the same.
    pub length: Option<usize>,
    pub distribution: &'static str,
    /// Work that the time includes besides the sort. A row adds to it.
    #[serde(skip)]
    pub includes: &'static str,
}

impl Facts {
    /// The case in a few words, for the table and for `--filter`.
    pub fn label(&self) -> String {
        let types = match (self.key, self.payload) {
            ("bytes", _) => String::new(),
            (key, "") => format!(" {key}"),
            (key, payload) => format!(" ({key},{payload})"),
        };
        format!("{}{types}, {}, {}", self.work, amount(self.n), self.distribution)
    }
}

/// Facts for tests, which change the fields that matter to them.
#[cfg(test)]
pub const FACTS: Facts = Facts {
    suite: "test",
    work: "sort",
    key: "u8",
    payload: "",
    n: 4,
    segments: None,
    length: None,
    distribution: "uniform",
    includes: "",
};

/// Formats a number: 10000000 as 10^7, others in full.
pub fn amount(n: usize) -> String {
    let exponent = n.max(1).ilog10();
    if exponent > 3 && n == 10usize.pow(exponent) { format!("10^{exponent}") } else { n.to_string() }
}

/// The results of all repetitions of one contender.
#[derive(Debug, Clone, Default)]
pub struct Measured {
    pub times_ms: Vec<f64>,
    /// Bytes of the input.
    pub bytes: usize,
    /// The peak memory, if known.
    pub peak_bytes: u64,
    pub verified: bool,
    /// The report of each repetition, if it has phases.
    pub reports: Vec<Report>,
    /// The note of the last repetition.
    pub note: String,
}

/// The mean and the sample standard deviation, with n - 1 in the denominator. There must be at least one value.
pub fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (values.len() - 1).max(1) as f64).sqrt())
}

/// The middle value, or the mean of the two middle ones. There must be at least one value.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len().is_multiple_of(2) { (sorted[middle - 1] + sorted[middle]) / 2.0 } else { sorted[middle] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians() {
        assert_eq!(median(&[7.0]), 7.0);
        assert_eq!(median(&[9.0, 1.0, 5.0]), 5.0);
        assert_eq!(median(&[9.0, 1.0, 5.0, 2.0]), 3.5);
    }

    #[test]
    fn means_and_deviations() {
        assert_eq!(mean_and_deviation(&[7.0]), (7.0, 0.0));
        assert_eq!(mean_and_deviation(&[1.0, 3.0]), (2.0, 2f64.sqrt()));
        assert_eq!(mean_and_deviation(&[2.0, 4.0, 6.0]), (4.0, 2.0));
    }

    #[test]
    fn amounts() {
        assert_eq!(amount(10_000_000), "10^7");
        assert_eq!(amount(20_000_000), "20000000");
        assert_eq!(amount(100), "100");
    }
}
