//! What Sortie must reach: the least ratios of its rate to another contender's, in the same run.

use crate::report::Row;

/// A ratio asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// The contender to compare with.
    pub against: &'static str,
    pub ratio: f64,
}

impl Bar {
    /// Met at 95%.
    pub fn met(self, ratio: f64) -> bool {
        ratio >= 0.95 * self.ratio
    }
}

/// The bars for this row.
pub fn bars(row: &Row) -> Vec<Bar> {
    if row.contender != "sortie" {
        return Vec::new();
    }
    let against_std = |ratio| vec![Bar { against: "std", ratio }];
    let [one, two] = match (row.work, row.key, row.payload, row.n, row.distribution) {
        ("sort", "u32", "", 10_000_000, "uniform") => [4.3, 7.0],
        ("sort", "u64", "", 10_000_000, "uniform") => [2.2, 4.0],
        // At least 0.95 of std, so even is met at 95%.
        ("sort", "u32" | "u64", "", 10_000_000, "sorted" | "reversed" | "equal") => [1.0, 1.0],
        ("pairs", "u64", "u64", 10_000_000, "uniform") => [2.0, 3.3],
        ("argsort", "u64", "", 10_000_000, "uniform") => [1.5, 2.5],
        ("segments", "f32", "", 20_000_000, "uniform") => [6.4, 12.0],
        ("strings", _, _, 1_000_000, "words") => [4.0, 7.0],
        ("strings", _, _, 1_000_000, "DNA reads") => [2.6, 4.6],
        ("strings", _, _, 1_000_000, "URLs") => [1.3, 2.3],
        ("strings", _, _, 1_000_000, "real words") => [1.7, 3.0],
        ("lines", _, _, 10_000_000, "words" | "DNA reads") => {
            let others = ["duckdb", "polars"].map(|against| Bar { against, ratio: 1.0 });
            return [vec![Bar { against: "GNU sort", ratio: 2.0 }], others.to_vec()].concat();
        }
        ("lines in 256 MB", _, _, 10_000_000, _) => return vec![Bar { against: "GNU sort", ratio: 1.0 }],
        _ => return Vec::new(),
    };
    match row.threads {
        1 => against_std(one),
        2 => against_std(two),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn met_at_95_percent() {
        let bar = Bar { against: "std", ratio: 4.0 };
        assert!(bar.met(3.81) && !bar.met(3.79));
    }
}
