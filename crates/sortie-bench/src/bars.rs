//! The targets: the minimum ratio of Sortie's rate to that of another contender in the same run, and on a GPU also
//! minimum rates.

use crate::measure::Facts;
use crate::report::Row;

/// A target ratio.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bar {
    /// The contender to compare with.
    pub against: &'static str,
    pub asked: f64,
    /// The ratio from which the target counts as met.
    pub met_from: f64,
}

impl Bar {
    /// A target that is met at 95% of the ratio.
    fn of(asked: f64, against: &'static str) -> Bar {
        Bar { against, asked, met_from: 0.95 * asked }
    }
}

/// The targets for this row.
pub fn bars(row: &Row) -> Vec<Bar> {
    match (row.contender, row.facts.suite) {
        (_, "papers") => Vec::new(),
        ("sortie", "files") => against_programs(row),
        ("sortie", "files-small") => vec![of_small_files(row)],
        ("sortie", "locales") => vec![in_a_locale(row)],
        ("sortie", "external") => {
            ["GNU sort", "duckdb", "datafusion", "polars, no limit"].map(|peer| Bar::of(1.0, peer)).into()
        }
        ("sortie", "batch") => against_cub(row).into_iter().collect(),
        ("hybrid", "hybrid") => shared(row),
        ("in chunks", "hybrid") => vec![Bar::of(2.0, "CPU alone")],
        (_, "multi-gpu") => against_one_device(row).into_iter().collect(),
        ("sortie, GPU and CPU", _) => against_cpu(row),
        ("sortie", "index") => vec![Bar::of(1.5, "tantivy")],
        ("sortie", "device-strings") => against_places(row).into_iter().collect(),
        _ => Vec::new(),
    }
}

fn in_a_locale(row: &Row) -> Bar {
    let asked = match row.facts.work {
        "sort" => 5.0,
        "sort in 256 MB" => 3.0,
        "sort -c" | "sort -m" => 1.5,
        _ => 4.0,
    };
    Bar::of(asked, "GNU sort")
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

/// Above 64 KB, 95% of GNU sort's rate. Up to 64 KB, at most 0.3 ms slower.
fn of_small_files(row: &Row) -> Bar {
    let asked = if row.bytes > 64 << 10 { 0.95 } else { (1.0 - 0.3 / row.median_ms).clamp(0.0, 0.95) };
    Bar { against: "GNU sort", asked, met_from: asked }
}

/// The target for segments with power-law lengths.
fn against_cub(row: &Row) -> Option<Bar> {
    let ragged = row.facts.key == "f32" && row.facts.length.is_none() && row.facts.n == 1_000_000_000;
    ragged.then(|| Bar::of(3.0, "CUB segmented sort"))
}

/// The targets for a GPU and the CPU together: faster than either alone.
fn shared(row: &Row) -> Vec<Bar> {
    let Facts { payload, n, distribution, .. } = row.facts;
    let asked = match (payload, n, distribution) {
        ("", 0x4000_0000, "uniform") => 1.08,
        (_, 0x2000_0000 | 0x4000_0000, _) => 1.05,
        _ => 1.0,
    };
    ["GPU alone", "CPU alone"].map(|alone| Bar { against: alone, asked, met_from: asked }).into()
}

/// The target for one array on several devices, compared with one device that sorts its own share.
fn against_one_device(row: &Row) -> Option<Bar> {
    let asked = match (row.contender, row.facts.key, row.facts.n, row.facts.distribution) {
        ("sortie, 2 devices", "u32", 0x1_0000_0000, "uniform") => 1.5,
        ("sortie, 4 devices", "u32", 0x2_0000_0000, "uniform") => 2.7,
        _ => return None,
    };
    Some(Bar::of(asked, "sortie, one device"))
}

/// The targets for argsorts of strings by a GPU and the CPU.
fn against_cpu(row: &Row) -> Vec<Bar> {
    match row.facts.distribution {
        "words" => vec![Bar::of(3.0, "sortie, CPU"), Bar::of(3.0, "polars")],
        _ => vec![Bar { against: "sortie, CPU", asked: 1.0, met_from: 1.0 }],
    }
}

/// The target for argsorts of words on a GPU.
fn against_places(row: &Row) -> Option<Bar> {
    let words = row.facts.n == 100_000_000 && matches!(row.facts.distribution, "words" | "real words");
    words.then(|| Bar::of(8.0, "CUB merge sort of places"))
}

/// The minimum keys per second for this row on an H200. Met at 95%.
pub fn least_rate(row: &Row) -> Option<f64> {
    let billions = match (row.facts.suite, row.contender, row.facts.key, row.facts.n, row.facts.length) {
        ("batch", "sortie", "f32", 100_000_000, Some(50)) => 210.0,
        ("batch", "sortie", "f32", 200_000_000, Some(200)) => 235.0,
        ("batch", "sortie", "f32", 200_000_000 | 2_000_000_000, Some(1000)) => 170.0,
        ("batch", "sortie", "f32", 800_000_000, Some(4000)) => 130.0,
        ("batch", "sortie", "f32", 500_000_000, Some(10_000)) => 95.0,
        ("batch", "sortie", "f32", 1_000_000_000, None) => 80.0,
        ("large", ..) => return least_rate_of_one_array(row),
        ("device-strings", ..) => return least_rate_of_strings(row),
        _ => return None,
    };
    Some(billions * 1e9)
}

/// Suite `grid`: the minimum ratio to the best peer, for any array.
pub const GRID_WORST: f64 = 0.95;
/// Smaller arrays may be slower, by at most `GRID_SLACK_MS`.
pub const GRID_SMALL: usize = 1 << 20;
pub const GRID_SLACK_MS: f64 = 0.002;

/// Suite `grid`: the maximum milliseconds for each sort in a replayed graph.
pub const GRID_GRAPH_SORT_MS: f64 = 0.030;

/// Suite `grid`: the minimum geometric mean of ratios to the best peer, for some operations on keys of one type.
pub struct GridMean {
    pub name: &'static str,
    pub works: &'static [&'static str],
    pub key: &'static str,
    pub asked: f64,
}

pub const GRID_MEANS: [GridMean; 4] = [
    GridMean { name: "u32 keys", works: &["keys"], key: "u32", asked: 1.2 },
    GridMean { name: "u64 keys", works: &["keys"], key: "u64", asked: 2.0 },
    GridMean { name: "u32 pairs and argsort", works: &["pairs", "argsort"], key: "u32", asked: 1.05 },
    GridMean { name: "u64 pairs", works: &["pairs"], key: "u64", asked: 1.3 },
];
/// The minimum size of the arrays in these means.
pub const GRID_MEANS_FROM: usize = 1 << 24;

/// Suite `cpu-grid`: the minimum ratio to the standard library's equivalent, for any call.
pub const CPU_GRID_WORST: f64 = 0.95;
/// A call on fewer elements may be slower, by at most `CPU_GRID_SLACK_MS`.
pub const CPU_GRID_SMALL: usize = 16;
pub const CPU_GRID_SLACK_MS: f64 = 10e-6;
/// The minimum geometric mean of the ratios to the best peer of each cell, on one thread.
pub const CPU_GRID_MEAN: f64 = 0.9;

/// Suite `cpu-grid`: the minimum ratio to a contender at one cell.
pub struct CpuGridBar {
    pub call: &'static str,
    pub n: usize,
    pub input: &'static str,
    pub against: &'static str,
    /// The ratios on one thread and on two.
    pub one: f64,
    pub two: Option<f64>,
}

impl CpuGridBar {
    const fn of(
        call: &'static str,
        n: usize,
        input: &'static str,
        against: &'static str,
        one: f64,
        two: Option<f64>,
    ) -> CpuGridBar {
        CpuGridBar { call, n, input, against, one, two }
    }

    pub fn asked_on(&self, threads: usize) -> Option<f64> {
        match threads {
            1 => Some(self.one),
            2 => self.two,
            _ => None,
        }
    }
}

pub const CPU_GRID_BARS: &[CpuGridBar] = &[
    CpuGridBar::of("keys u32", 10_000_000, "uniform", "std", 4.3, Some(7.0)),
    CpuGridBar::of("keys u64", 10_000_000, "uniform", "std", 2.2, Some(4.0)),
    CpuGridBar::of("keys u32", 10_000_000, "uniform", "vqsort", 0.95, None),
    CpuGridBar::of("keys u64", 10_000_000, "uniform", "vqsort", 1.1, None),
    CpuGridBar::of("keys u16", 1_000_000, "uniform", "std", 5.0, None),
    CpuGridBar::of("keys u128", 1_000_000, "uniform", "std", 1.5, None),
    CpuGridBar::of("pairs u64 + 8 bytes", 10_000_000, "uniform", "std", 2.0, Some(3.4)),
    CpuGridBar::of("argsort u64", 10_000_000, "uniform", "std", 1.5, Some(2.5)),
    CpuGridBar::of("by key u64 in 16 bytes", 10_000_000, "uniform", "std", 1.3, Some(2.2)),
    CpuGridBar::of("segments f32, 1000 each", 10_000_000, "uniform", "std", 6.4, Some(12.0)),
    CpuGridBar::of("strings", 1_000_000, "words", "std", 4.5, Some(8.0)),
    CpuGridBar::of("strings", 10_000_000, "words", "std", 4.5, Some(8.0)),
    CpuGridBar::of("strings", 1_000_000, "DNA reads", "std", 3.0, Some(5.5)),
    CpuGridBar::of("strings", 10_000_000, "DNA reads", "std", 3.5, Some(6.5)),
    CpuGridBar::of("strings", 1_000_000, "URLs", "std", 1.6, Some(2.8)),
    CpuGridBar::of("strings", 10_000_000, "URLs", "std", 1.6, Some(2.8)),
    CpuGridBar::of("strings", 1_000_000, "real words", "std", 2.0, Some(3.6)),
    CpuGridBar::of("strings", 10_000_000, "real words", "std", 3.3, Some(6.0)),
];

fn least_rate_of_strings(row: &Row) -> Option<f64> {
    let billions = match (row.contender, row.facts.n, row.facts.distribution) {
        ("sortie", 100_000_000, "words") => 4.0,
        ("sortie", 100_000_000, "real words") => 1.0,
        ("sortie", 100_000_000, "DNA reads of 51") => 2.0,
        ("sortie", 100_000_000, "DNA reads") => 1.5,
        ("sortie", 10_000_000, "URLs") => 0.3,
        _ => return None,
    };
    Some(billions * 1e9)
}

fn least_rate_of_one_array(row: &Row) -> Option<f64> {
    let billions = match (row.contender, row.facts.key, row.facts.n, row.facts.distribution) {
        ("sortie", "u32", 0x1000_0000, "uniform") => 80.0,
        ("sortie", "u32", 0x4000_0000, "uniform") => 65.0,
        ("sortie", "u64", 0x1000_0000, "uniform") => 40.0,
        ("sortie", "u64", 0x4000_0000, "uniform") => 32.0,
        ("sortie, pairs", "u32", 0x1000_0000, "uniform") => 38.0,
        ("sortie, unstable pairs", "u32", 0x1000_0000, "uniform") => 50.0,
        ("sortie, by comparison", "u32", 0x1000_0000, "uniform") => 32.0,
        ("sortie, by comparison", "u64", 0x1000_0000, "uniform") => 16.0,
        ("sortie", "u64", 0x1000_0000, "sorted" | "equal") => 400.0,
        ("sortie", "u64", 0x1000_0000, "reversed") => 140.0,
        ("sortie, bitonic", "u32", 0x1000_0000, "uniform") => 8.0,
        _ => return None,
    };
    Some(billions * 1e9)
}
