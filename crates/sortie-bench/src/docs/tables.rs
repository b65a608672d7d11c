//! The tables of `docs/benchmarks.md`.

use super::table::{Column, Table};
use crate::bars::{GRID_MEANS, GRID_MEANS_FROM};
use crate::grid::shape::Shape;
use crate::measure::{Facts, amount};
use crate::report::Row;

const STD: &[&str] = &["std"];
const CRATES: &[&str] = &["rdst", "radsort", "voracious", "voracious (stable)", "rayon"];
const ON_GPUS: &[&str] = &["CUB radix sort", "CUB radix sort, pairs", "torch.sort"];
const SEGMENTED: &[&str] = &["CUB segmented sort", "CUB segmented radix sort", "torch.sort"];

pub const TABLES: &[Table] = &[
    Table {
        name: "cpu",
        run: "2026-11-26-cpu-xeon",
        of: |_| true,
        head: "work",
        label: keys,
        columns: &[
            Column::over("over std, 1 thread", "sortie", STD).of(|row| row.threads == 1),
            Column::over("over std, 2 threads", "sortie", STD).of(|row| row.threads == 2),
            Column::over("over the best crate, 1 thread", "sortie", CRATES).of(|row| row.threads == 1),
            Column::over("over the best crate, 2 threads", "sortie", CRATES).of(|row| row.threads == 2),
        ],
    },
    Table {
        name: "cpu-avx2",
        run: "2026-11-26-cpu-avx2-xeon",
        of: |row| row.facts.distribution == "uniform",
        head: "work, AVX2 only",
        label: keys,
        columns: &[
            Column::over("over std, 1 thread", "sortie", STD).of(|row| row.threads == 1),
            Column::over("over std, 2 threads", "sortie", STD).of(|row| row.threads == 2),
        ],
    },
    Table {
        name: "strings",
        run: "2026-11-26-strings-xeon",
        of: |_| true,
        head: "strings",
        label: strings,
        columns: &[
            Column::over("over std, 1 thread", "sortie", STD).of(|row| row.threads == 1),
            Column::over("over std, 2 threads", "sortie", STD).of(|row| row.threads == 2),
            Column::over("over rayon, 2 threads", "sortie", &["rayon"]).of(|row| row.threads == 2),
        ],
    },
    Table {
        name: "16-threads",
        run: "2026-11-26-16-threads-xeon",
        of: |row| row.threads == 16,
        head: "work, 16 threads",
        label: |row| if row.facts.key == "bytes" { strings(row) } else { keys(row) },
        columns: &[
            Column::over("over rayon", "sortie", &["rayon"]),
            Column::over("over rdst", "sortie", &["rdst"]),
            Column::over("over voracious", "sortie", &["voracious"]),
        ],
    },
    Table {
        name: "files",
        run: "2026-11-21-files",
        of: |_| true,
        head: "file",
        label: strings,
        columns: &[
            Column::over("over GNU sort", "sortie", &["GNU sort"]),
            Column::over("over DuckDB", "sortie", &["duckdb"]),
            Column::over("over Polars", "sortie", &["polars"]),
        ],
    },
    Table {
        name: "external",
        run: "2026-11-23-external",
        of: |row| row.facts.work == "lines",
        head: "file",
        label: strings,
        columns: &[
            Column::over("over GNU sort", "sortie", &["GNU sort"]),
            Column::over("over DuckDB", "sortie", &["duckdb"]),
            Column::over("over DataFusion", "sortie", &["datafusion"]),
            Column::over("over Polars, no limit", "sortie", &["polars, no limit"]),
        ],
    },
    Table {
        name: "external-memory",
        run: "2026-11-23-external",
        of: |row| row.facts.work == "lines",
        head: "peak resident memory (MB)",
        label: strings,
        columns: &[
            Column::told("Sortie", "sortie", "peak ", " MB"),
            Column::told("GNU sort", "GNU sort", "peak ", " MB"),
            Column::told("DuckDB", "duckdb", "peak ", " MB"),
            Column::told("DataFusion", "datafusion", "peak ", " MB"),
            Column::told("Polars, no limit", "polars, no limit", "peak ", " MB"),
        ],
    },
    Table {
        name: "external-bound",
        run: "2026-11-23-external",
        of: |_| true,
        head: "file",
        label: strings,
        columns: &[
            Column::over("over two reads and writes", "sortie", &["the disk"]),
            Column::over("over Sortie in memory", "sortie", &["sortie, in memory"]),
        ],
    },
    Table {
        name: "segments",
        run: "2026-11-22-batch-h200",
        of: |row| row.facts.work == "segments" && row.facts.key != "f64",
        head: "segments",
        label: keys,
        columns: &[
            Column::rate("torch.sort", "torch.sort"),
            Column::rate("CUB segmented sort", "CUB segmented sort"),
            Column::rate("CUB's parts by hand", "by hand from CUB's parts"),
            Column::rate("Sortie", "sortie"),
            Column::rate("a copy of the keys", "copy"),
        ],
    },
    Table {
        name: "segments-with-payloads",
        run: "2026-11-22-batch-h200",
        of: |row| row.facts.work == "segments" && row.facts.segments == Some(2_000_000),
        head: "segments",
        label: keys,
        columns: &[
            Column::rate("keys alone", "sortie"),
            Column::rate("payload of 4 bytes", "sortie, payloads of 4"),
            Column::rate("8 bytes", "sortie, payloads of 8"),
            Column::rate("16 bytes", "sortie, payloads of 16"),
            Column::rate("argsort", "sortie, argsort"),
        ],
    },
    Table {
        name: "segments-of-2-to-the-26-keys",
        run: "2026-11-25-grid-h200",
        // Segments of one key have nothing to sort.
        of: |row| row.facts.work == "segments" && row.facts.length != Some(1),
        head: "segments",
        label: |row| match row.facts.segments {
            Some(count) => format!("{} `{}`", amount_of(count), row.facts.key),
            None => {
                let (_, lengths) = row.facts.distribution.split_once(", ").unwrap_or_default();
                format!("{lengths}, `{}`", row.facts.key)
            }
        },
        columns: &[
            Column::rate("torch.sort", "torch.sort"),
            Column::rate("CUB segmented sort", "CUB segmented sort"),
            Column::rate("CUB segmented radix sort", "CUB segmented radix sort"),
            Column::rate("Sortie", "sortie"),
            Column::over("over the best", "sortie", SEGMENTED),
        ],
    },
    Table {
        name: "segments-on-the-host",
        run: "2026-11-22-batch-h200",
        of: |row| row.facts.work == "segments, host to host",
        head: "segments",
        label: keys,
        columns: &[
            Column::rate("transfers alone", "transfers"),
            Column::rate("Sortie, pinned memory", "sortie, pinned"),
            Column::rate("Sortie, pageable memory", "sortie, pageable"),
        ],
    },
    Table {
        name: "large-means",
        run: "2026-11-25-grid-h200",
        of: |row| mean(row).is_some(),
        head: "arrays",
        label: |row| mean(row).unwrap_or_default().into(),
        columns: &[Column::over("geometric mean over the best peer", "sortie", ON_GPUS)],
    },
    Table {
        name: "large-work",
        run: "2026-11-25-grid-h200",
        of: |row| is_array(row) && row.facts.distribution == "uniform" && row.facts.n >= 1 << 28,
        head: "work",
        label: keys,
        columns: LARGE,
    },
    Table {
        name: "large-sizes",
        run: "2026-11-25-grid-h200",
        of: |row| {
            row.facts.work == "keys"
                && matches!(row.facts.key, "u32" | "u64")
                && row.facts.distribution == "uniform"
        },
        head: "keys",
        label: keys,
        columns: &[
            Column::rate("CUB radix sort", "CUB radix sort"),
            Column::rate("Sortie", "sortie"),
            Column::over("over CUB", "sortie", ON_GPUS),
        ],
    },
    Table {
        name: "large-shapes",
        run: "2026-11-25-grid-h200",
        of: |row| is_array(row) && row.facts.n == 1 << 28,
        head: "distribution",
        label: |row| row.facts.distribution.into(),
        columns: &[
            Column::over("`u32`", "sortie", ON_GPUS).of(|row| is(row, "keys", "u32", "")),
            Column::over("`u64`", "sortie", ON_GPUS).of(|row| is(row, "keys", "u64", "")),
            Column::over("`f32`", "sortie", ON_GPUS).of(|row| is(row, "keys", "f32", "")),
            Column::over("`u32` with `u32`", "sortie", ON_GPUS).of(|row| is(row, "pairs", "u32", "u32")),
            Column::over("`u64` with `u64`", "sortie", ON_GPUS).of(|row| is(row, "pairs", "u64", "u64")),
            Column::over("argsort of `u32`", "sortie", ON_GPUS).of(|row| is(row, "argsort", "u32", "")),
        ],
    },
    Table {
        name: "large-by-comparison",
        run: "2026-11-22-large-one-launch-h200",
        of: |row| row.facts.work == "keys" && row.facts.distribution == "uniform" && row.facts.n >= 1 << 28,
        head: "keys",
        label: keys,
        columns: &[
            Column::rate("CUB merge sort", "CUB merge sort"),
            Column::rate("Sortie by comparison", "sortie, by comparison"),
            Column::rate("Sortie in place (bitonic)", "sortie, bitonic"),
        ],
    },
    Table {
        name: "device-strings",
        run: "2026-11-22-device-strings-64-bits-h200",
        of: |_| true,
        head: "strings",
        label: strings,
        columns: &[
            Column::rate("CUB merge sort of indices", "CUB merge sort of places"),
            Column::rate("Sortie", "sortie"),
            Column::over("ratio", "sortie", &["CUB merge sort of places"]),
        ],
    },
    Table {
        name: "host-arrays",
        run: "2026-11-22-hybrid-h200",
        of: |row| row.facts.work != "sort, larger than the GPU",
        head: "work",
        label: keys,
        columns: &[
            Column::rate("GPU", "GPU alone"),
            Column::over("GPU over the cores", "GPU alone", &["CPU alone"]),
            Column::over("both over the GPU", "hybrid", &["GPU alone"]),
        ],
    },
    Table {
        name: "larger-than-gpu",
        run: "2026-11-23-larger-than-gpu-h200",
        of: |_| true,
        head: "work",
        label: keys,
        columns: &[
            Column::rate("Sortie", "2 MB cached"),
            Column::over("over the cores", "2 MB cached", &["CPU alone"]),
        ],
    },
    Table {
        name: "host-strings",
        run: "2026-11-22-host-strings-overlapped-h200",
        of: |_| true,
        head: "strings",
        label: strings,
        columns: &[
            Column::rate("GPU and cores", "sortie, GPU and CPU"),
            Column::over("over the cores", "sortie, GPU and CPU", &["sortie, CPU"]),
        ],
    },
    Table {
        name: "host-strings-larger-than-gpu",
        run: "2026-11-23-strings-larger-than-gpu-h200",
        of: |_| true,
        head: "strings",
        label: strings,
        columns: IN_RANGES,
    },
    Table {
        name: "host-strings-on-another-machine",
        run: "2026-11-23-strings-hybrid-h200",
        of: |row| row.facts.work == "argsort strings, larger than the GPU",
        head: "strings",
        label: strings,
        columns: IN_RANGES,
    },
    Table {
        name: "multi-gpu-links",
        run: "2026-11-26-multi-gpu-4-h200",
        of: |row| row.facts.work == "links",
        head: "4 devices",
        label: |_| "GB/s, slowest to fastest".into(),
        columns: &[
            Column::told("one link, one way", "one way", "nothing; ", " GB/s"),
            Column::told("one link, both ways", "both ways", "nothing; ", " GB/s"),
            Column::told("all to all, into each", "all to all", "nothing; ", " GB/s"),
        ],
    },
    Table {
        name: "multi-gpu",
        run: "2026-11-26-multi-gpu-4-h200",
        of: |row| row.facts.work == "keys",
        head: "keys",
        label: |row| format!("`{}`, {}", row.facts.key, row.facts.distribution),
        columns: &[
            Column::rate("one device", "sortie, one device"),
            Column::rate("2 devices", "sortie, 2 devices"),
            Column::rate("3 devices", "sortie, 3 devices"),
            Column::rate("4 devices", "sortie, 4 devices"),
            Column::over("2 over one", "sortie, 2 devices", &["sortie, one device"]),
            Column::over("3 over one", "sortie, 3 devices", &["sortie, one device"]),
            Column::over("4 over one", "sortie, 4 devices", &["sortie, one device"]),
            Column::told("exchange on 4 (% of the time)", "sortie, 4 devices", "ms (", "% of the time"),
            Column::told("parts on 4 within (%)", "sortie, 4 devices", "parts within ", "%"),
        ],
    },
    Table {
        name: "index",
        run: "2026-11-22-index",
        of: |row| row.figure.is_empty(),
        head: "documents",
        label: strings,
        columns: &[
            Column::over("over tantivy", "sortie", &["tantivy"]),
            Column::told("Sortie's index (bytes)", "sortie", "index of ", " bytes"),
            Column::told("tantivy's index (bytes)", "tantivy", "index of ", " bytes"),
        ],
    },
    Table {
        name: "index-on-gpu",
        run: "2026-11-22-index-h200",
        of: |row| row.figure == "Capannini table 2 and figure 8A",
        head: "documents",
        label: strings,
        columns: &[
            Column::over("GPU sorts, over the cores alone", "Index_gpu", &["Index_cpu"]),
            Column::over("GPU and cores overlap, over the cores alone", "Index_gpu+", &["Index_cpu"]),
        ],
    },
];

const LARGE: &[Column] = &[
    Column::rate("torch.sort", "torch.sort"),
    Column::rate("CUB radix sort", "CUB radix sort"),
    Column::rate("CUB radix sort of pairs", "CUB radix sort, pairs"),
    Column::rate("Sortie", "sortie"),
    Column::over("over the best", "sortie", ON_GPUS),
];

const IN_RANGES: &[Column] = &[
    Column::rate("GPU and cores", "sortie, in ranges"),
    Column::over("over the cores", "sortie, in ranges", &["sortie, CPU"]),
];

fn is(row: &Row, work: &str, key: &str, payload: &str) -> bool {
    (row.facts.work, row.facts.key, row.facts.payload) == (work, key, payload)
}

/// Whether a row of suite `grid` measures one array, and not segments or a graph.
fn is_array(row: &Row) -> bool {
    matches!(row.facts.work, "keys" | "pairs" | "argsort")
}

/// The mean of `GRID_MEANS` that a row belongs to.
fn mean(row: &Row) -> Option<&'static str> {
    let Facts { work, key, n, distribution, .. } = row.facts;
    let easy = Shape::ALL.iter().any(|shape| shape.name() == distribution && shape.is_easy());
    let mean = GRID_MEANS.iter().find(|mean| mean.works.contains(&work) && mean.key == key)?;
    (n >= GRID_MEANS_FROM && !easy).then_some(mean.name)
}

/// The label of an array or of segments.
fn keys(row: &Row) -> String {
    let Facts { work, key, payload, n, segments, length, distribution, .. } = row.facts;
    let mut text = match (segments, length) {
        (Some(count), Some(length)) if count > 1 => {
            format!("{} x {} `{key}`", amount_of(count), amount_of(length))
        }
        (Some(count), None) => format!("{} of power-law lengths, `{key}`", amount_of(count)),
        _ if work.starts_with("argsort") => format!("argsort of `{key}`, {}", amount_of(n)),
        _ if !payload.is_empty() => format!("`{key}` with `{payload}`, {}", amount_of(n)),
        _ => format!("`{key}`, {}", amount_of(n)),
    };
    if !distribution.starts_with("uniform") {
        text += &format!(", {distribution}");
    }
    text
}

/// The label of strings, lines, records, or the words of documents.
fn strings(row: &Row) -> String {
    let Facts { work, key, n, length, distribution, .. } = row.facts;
    let many = amount_of(n);
    let text = match (work, distribution, length) {
        ("records", _, Some(length)) => format!("{many} records of {length} bytes"),
        ("numbers", ..) => format!("{many} `{key}`"),
        (_, "DNA reads", Some(length)) => format!("{many} DNA reads of {length} letters"),
        _ if distribution.ends_with(" letters") => format!("{many} strings of {distribution}"),
        _ => format!("{many} {distribution}"),
    };
    match work {
        "argsort strings" if row.engine == "cpu" => format!("argsort of {text}"),
        "lines in 256 MB" => format!("{text}, within 256 MB"),
        _ => text,
    }
}

/// A number as a power of two or ten, or with commas.
fn amount_of(n: usize) -> String {
    if n.is_power_of_two() && n >= 1 << 10 {
        return format!("2^{}", n.ilog2());
    }
    let power = amount(n);
    if power.contains('^') && n > 10_000 {
        return power;
    }
    let digits = n.to_string();
    let groups: Vec<_> = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_powers_or_have_commas() {
        let amounts = [512, 1 << 28, 10_000_000, 10_000, 43_178_144].map(amount_of);
        assert_eq!(amounts, ["512", "2^28", "10^7", "10,000", "43,178,144"]);
    }
}
