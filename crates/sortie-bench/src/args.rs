//! The command line.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Measures Sortie against its peers: the same data, one process, every result checked.
#[derive(Debug, Parser)]
#[command(version)]
pub struct Args {
    /// What to measure.
    #[arg(long, value_enum)]
    pub suite: Suite,

    /// Only what has this in its name: a workload, a distribution or a contender (the baseline always runs).
    #[arg(long, default_value = "")]
    pub filter: String,

    /// The numbers of threads to measure contenders with.
    #[arg(long, value_delimiter = ',', default_value = "1,2", value_parser = above_zero)]
    pub threads: Vec<usize>,

    /// Keys, strings or lines a workload, in place of its own number.
    #[arg(long, value_parser = above_zero)]
    pub n: Option<usize>,

    /// Repetitions, each with fresh data; the median of them counts [default: 5, or as many as a paper has].
    #[arg(long, value_parser = above_zero)]
    pub reps: Option<usize>,

    /// Where all random data comes from.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// Name what would run, and stop.
    #[arg(long)]
    pub list: bool,

    /// Append each result to this file as a line of JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Draw the results: as bars, a sweep and the papers' figures as curves, suites grid and cpu-grid as heat maps.
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,

    /// Suite soak: how long it goes on [default: 60]; suite cpu-grid: when no further cell is begun [default: 3600].
    #[arg(long, value_name = "SECONDS")]
    pub seconds: Option<u64>,

    /// Suites files, files-small, external, index and soak: the folder for inputs and outputs, which needs three times the size of the largest input.
    #[arg(long, value_name = "FOLDER", default_value_os_t = std::env::temp_dir())]
    pub dir: PathBuf,

    /// Suites files, files-small, external and soak: the program to measure [default: `sortie` beside this program].
    #[arg(long, value_name = "FILE")]
    pub sortie: Option<PathBuf>,

    /// Suite index: the memory of every contender, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 30)]
    pub memory: u64,

    /// Suites on a GPU: the library built from peers/cub.cu; suite cpu-grid: that from peers/cpu.cpp. Without it these peers
    /// are left out.
    #[arg(long, value_name = "FILE.so", env = "SORTIE_PEERS")]
    pub peers: Option<PathBuf>,

    /// Suite papers: each published sort of one array sorts uniform keys once, and nothing is repeated: for profilers.
    #[arg(long)]
    pub once: bool,

    /// Suites grid and cpu-grid: sort random arrays for SECONDS in place of the cells, and print the one where Sortie is
    /// furthest behind.
    #[arg(long, value_name = "SECONDS")]
    pub search: Option<u64>,

    /// Suite batch: in place of the table, the rate against the length, for so many lengths a doubling.
    #[arg(long, value_name = "LENGTHS", value_parser = above_zero)]
    pub sweep: Option<usize>,

    /// Suite batch: the shortest and the longest segment of a sweep.
    #[arg(long, value_name = "A..B", default_value = "1..1000000", value_parser = ends)]
    pub lengths: (u64, u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Suite {
    /// Keys, pairs, places and segments in memory.
    Cpu,
    /// Calls on arrays of many types, sizes and shapes in memory, beside the standard library's and the best peer.
    CpuGrid,
    /// Strings in memory.
    Strings,
    /// Whole text files, by whole programs.
    Files,
    /// Small text files, checks and merges, by whole programs.
    FilesSmall,
    /// Many segments in one call, on a GPU.
    Batch,
    /// One array, on a GPU.
    Large,
    /// One array in GPU memory, of many types, sizes and shapes, and segments, beside the best peer.
    Grid,
    /// One array on several GPUs, `--n` keys on each.
    MultiGpu,
    /// Strings in a GPU's memory.
    DeviceStrings,
    /// Strings in the host's memory, by a GPU and the CPU.
    HostStrings,
    /// One array in the host's memory, by the CPU, by a GPU and by both.
    Hybrid,
    /// Files that are larger than the memory allowed, by whole programs, from and to the disk.
    External,
    /// Random jobs of the program under random limits, each checked, for --seconds: finds faults, and measures nothing.
    Soak,
    /// Building an index of documents.
    Index,
    /// What published papers measured, with their algorithms beside Sortie.
    Papers,
    /// Write the tables and the picture of README.md and docs/benchmarks.md from the kept runs: measures nothing.
    Docs,
}

fn above_zero(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("it must be above 0".into()),
        Ok(number) => Ok(number),
        Err(e) => Err(format!("{e}")),
    }
}

/// `A..B`, both above 0 and in order.
fn ends(text: &str) -> Result<(u64, u64), String> {
    let ends = text.split_once("..").and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    match ends {
        Some((from, to)) if 0 < from && from <= to => Ok((from, to)),
        _ => Err("it must be two numbers above 0 in order, as in 1..512".into()),
    }
}
