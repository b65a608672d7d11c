//! What Sortie must reach: the least ratios of its rate to another contender's, in the same run.

use crate::measure::Facts;
use crate::report::Row;

/// A ratio asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// The contender to compare with.
    pub against: &'static str,
    pub asked: f64,
    /// From what ratio on it counts as reached.
    pub met_from: f64,
}

impl Bar {
    /// A ratio that is met at 95%.
    fn of(asked: f64, against: &'static str) -> Bar {
        Bar { against, asked, met_from: 0.95 * asked }
    }
}

/// The bars for this row.
pub fn bars(row: &Row) -> Vec<Bar> {
    match (row.contender, row.facts.suite) {
        ("sortie", "files") => against_programs(row),
        ("sortie", _) => against_std(row).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn against_std(row: &Row) -> Option<Bar> {
    let Facts { work, key, payload, n, distribution, .. } = row.facts;
    let [one, two] = match (work, key, payload, n, distribution) {
        ("sort", "u32" | "u64", "", 10_000_000, "sorted" | "reversed" | "equal") => {
            return Some(Bar { against: "std", asked: 0.95, met_from: 0.95 });
        }
        ("sort", "u32", "", 10_000_000, "uniform") => [4.3, 7.0],
        ("sort", "u64", "", 10_000_000, "uniform") => [2.2, 4.0],
        ("pairs", "u64", "u64", 10_000_000, "uniform") => [2.0, 3.3],
        ("argsort", "u64", "", 10_000_000, "uniform") => [1.5, 2.5],
        ("segments", "f32", "", 20_000_000, "uniform") => [6.4, 12.0],
        ("strings", _, _, 1_000_000, "words") => [4.0, 7.0],
        ("strings", _, _, 1_000_000, "DNA reads") => [2.6, 4.6],
        ("strings", _, _, 1_000_000, "URLs") => [1.3, 2.3],
        ("strings", _, _, 1_000_000, "real words") => [1.7, 3.0],
        _ => return None,
    };
    match row.threads {
        1 => Some(Bar::of(one, "std")),
        2 => Some(Bar::of(two, "std")),
        _ => None,
    }
}

fn against_programs(row: &Row) -> Vec<Bar> {
    match (row.facts.work, row.facts.n) {
        ("lines", 10_000_000) => {
            vec![Bar::of(2.0, "GNU sort"), Bar::of(1.0, "duckdb"), Bar::of(1.0, "polars")]
        }
        ("lines in 256 MB", 10_000_000) => vec![Bar::of(1.0, "GNU sort")],
        _ => Vec::new(),
    }
}
