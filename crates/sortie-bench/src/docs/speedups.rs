//! The README's table: how much faster Sortie is than common alternatives.

use super::run;
use crate::Result;
use crate::report::Row;

pub struct Speedup {
    pub work: &'static str,
    /// The file in `runs/`, without its extension.
    pub run: &'static str,
    /// Selects the rows of the run that belong to the case.
    of: fn(&Row) -> bool,
    threads: usize,
    /// Their names in the run and in the README.
    peers: &'static [(&'static str, &'static str)],
    /// Whether the picture also shows it.
    pub drawn: bool,
}

pub const SPEEDUPS: &[Speedup] = &[
    Speedup {
        work: "10^7 lines of DNA (1 GB), 2 threads",
        run: "2026-11-21-files",
        of: |row| is(row, "lines", "bytes", 10_000_000, "DNA reads"),
        threads: 2,
        peers: &[("GNU sort", "GNU sort"), ("duckdb", "DuckDB"), ("polars", "Polars")],
        drawn: true,
    },
    Speedup {
        work: "10^7 words (150 MB), 2 threads",
        run: "2026-11-21-files",
        of: |row| is(row, "lines", "bytes", 10_000_000, "words"),
        threads: 2,
        peers: &[("GNU sort", "GNU sort"), ("duckdb", "DuckDB"), ("polars", "Polars")],
        drawn: false,
    },
    Speedup {
        work: "the DNA file within 256 MB, cold cache",
        run: "2026-11-23-external",
        of: |row| is(row, "lines", "bytes", 10_000_000, "DNA reads"),
        threads: 2,
        peers: &[("GNU sort", "GNU sort"), ("duckdb", "DuckDB"), ("datafusion", "DataFusion")],
        drawn: false,
    },
    Speedup {
        work: "`u32`, 10^7, 1 thread",
        run: "2026-11-26-cpu-xeon",
        of: |row| is(row, "sort", "u32", 10_000_000, "uniform"),
        threads: 1,
        peers: &[("std", "`slice::sort_unstable`"), ("rdst", "rdst")],
        drawn: false,
    },
    Speedup {
        work: "`u64`, 10^7, 1 thread",
        run: "2026-11-26-cpu-xeon",
        of: |row| is(row, "sort", "u64", 10_000_000, "uniform"),
        threads: 1,
        peers: &[("std", "`slice::sort_unstable`"), ("rdst", "rdst")],
        drawn: true,
    },
    Speedup {
        work: "20,000 segments of 1000 `f32`, 1 thread",
        run: "2026-11-26-cpu-xeon",
        of: |row| row.facts.segments == Some(20_000),
        threads: 1,
        peers: &[("std", "`slice::sort_unstable_by`")],
        drawn: false,
    },
    Speedup {
        work: "10^6 words in memory, 1 thread",
        run: "2026-11-26-strings-xeon",
        of: |row| is(row, "strings", "bytes", 1_000_000, "words"),
        threads: 1,
        peers: &[("std", "`slice::sort_unstable`")],
        drawn: false,
    },
    Speedup {
        work: "`u32`, 2^28, on an H200",
        run: "2026-11-25-grid-h200",
        of: |row| is(row, "keys", "u32", 1 << 28, "uniform"),
        threads: 1,
        peers: &[("CUB radix sort", "CUB radix sort")],
        drawn: false,
    },
    Speedup {
        work: "`u64`, 2^28, on an H200",
        run: "2026-11-25-grid-h200",
        of: |row| is(row, "keys", "u64", 1 << 28, "uniform"),
        threads: 1,
        peers: &[("CUB radix sort", "CUB radix sort")],
        drawn: false,
    },
    Speedup {
        work: "`f32`, 2^28, on an H200",
        run: "2026-11-25-grid-h200",
        of: |row| is(row, "keys", "f32", 1 << 28, "uniform"),
        threads: 1,
        peers: &[("CUB radix sort", "CUB radix sort"), ("torch.sort", "torch.sort")],
        drawn: true,
    },
    Speedup {
        work: "200,000 segments of 1000 `f32`, on an H200",
        run: "2026-11-22-batch-h200",
        of: |row| {
            row.facts.key == "f32" && row.facts.segments == Some(200_000) && row.facts.length == Some(1000)
        },
        threads: 1,
        peers: &[("CUB segmented sort", "CUB segmented sort"), ("torch.sort", "torch.sort")],
        drawn: true,
    },
    Speedup {
        work: "43 million words to an index, 2 threads",
        run: "2026-11-22-index",
        of: |row| row.figure.is_empty(),
        threads: 2,
        peers: &[("tantivy", "tantivy")],
        drawn: false,
    },
];

fn is(row: &Row, work: &str, key: &str, n: usize, distribution: &str) -> bool {
    let facts = &row.facts;
    (facts.work, facts.key, facts.n, facts.distribution) == (work, key, n, distribution)
}

impl Speedup {
    /// The name of each peer in the README, and Sortie's rate divided by the peer's.
    pub fn ratios(&self) -> Result<Vec<(&'static str, f64)>> {
        let rows: Vec<_> = run::read(self.run)?.into_iter().filter(|row| (self.of)(row)).collect();
        let missing = |name: &str| format!("run {} has no {name} for {}", self.run, self.work);
        let sortie = rows.iter().find(|row| row.contender == "sortie" && row.threads == self.threads);
        let sortie = sortie.ok_or_else(|| missing("sortie"))?;
        let ratio = |&(contender, name)| {
            let peer = rows.iter().find(|row| row.contender == contender && run::is_peer(row, sortie));
            Ok((name, sortie.rate / peer.ok_or_else(|| missing(contender))?.rate))
        };
        self.peers.iter().map(ratio).collect()
    }
}

pub fn markdown(speedups: &[Speedup]) -> Result<String> {
    let mut text = "| work | against | speed-up | run |\n|---|---|---|---|\n".to_string();
    for speedup in speedups {
        let (names, ratios): (Vec<_>, Vec<_>) = speedup.ratios()?.into_iter().unzip();
        let ratios: Vec<_> = ratios.into_iter().map(times).collect();
        let link = run::link(speedup.run, &speedup.run[..10], "");
        text += &format!("| {} | {} | {} | {link} |\n", speedup.work, names.join("; "), ratios.join("; "));
    }
    Ok(text)
}

/// The ratio with two significant digits.
fn times(ratio: f64) -> String {
    if ratio < 9.95 { format!("{ratio:.1}x") } else { format!("{ratio:.0}x") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_have_two_digits() {
        assert_eq!([0.94, 2.25, 9.94, 9.96, 18.4].map(times), ["0.9x", "2.2x", "9.9x", "10x", "18x"]);
    }
}
