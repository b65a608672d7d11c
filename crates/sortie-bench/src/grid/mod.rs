//! Shared by the suites of cells: the shapes of arrays, measuring contenders at a cell, results with which a stopped
//! run continues, and the search for a worst array.

pub mod draw;
pub mod race;
pub mod recipe;
pub mod results;
pub mod search;
pub mod shape;

use self::race::Raced;
use crate::measure::median;

/// Each contender's time.
pub fn line(label: &str, raced: &[Raced]) -> String {
    let times = raced.iter().map(|raced| {
        let wrong = if raced.times.right { "" } else { " WRONG" };
        format!("{} {}{wrong}", raced.name, time(median(&raced.times.ms)))
    });
    format!("{label}: {}", times.collect::<Vec<_>>().join(", "))
}

/// A time with a suitable unit.
pub fn time(ms: f64) -> String {
    match ms {
        _ if ms < 1e-3 => format!("{:.1} ns", 1e6 * ms),
        _ if ms < 1.0 => format!("{:.1} us", 1e3 * ms),
        _ => format!("{ms:.2} ms"),
    }
}

/// `None` if there are no ratios.
pub fn geometric_mean(ratios: impl Iterator<Item = f64>) -> Option<f64> {
    let logarithms: Vec<_> = ratios.map(f64::ln).collect();
    let count = logarithms.len() as f64;
    (count > 0.0).then(|| (logarithms.iter().sum::<f64>() / count).exp())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_unit_that_suits_them() {
        assert_eq!([0.000_012_34, 0.0123, 12.3].map(time), ["12.3 ns", "12.3 us", "12.30 ms"]);
    }

    #[test]
    fn means_of_ratios() {
        assert!((geometric_mean([0.5, 8.0].into_iter()).unwrap() - 2.0).abs() < 1e-12);
        assert_eq!(geometric_mean([].into_iter()), None);
    }
}
