//! The command line.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Compare the speed of Sortie and its peers: on the same data, in one process, with every result checked.
#[derive(Debug, Parser)]
#[command(version)]
pub struct Args {
    /// The suite to run.
    #[arg(long, value_enum)]
    pub suite: Suite,

    /// Run only what has this in its name: a workload, a distribution or a contender (the baseline always runs).
    #[arg(long, default_value = "")]
    pub filter: String,

    /// Numbers of threads to measure contenders with.
    #[arg(long, value_delimiter = ',', default_value = "1,2", value_parser = above_zero)]
    pub threads: Vec<usize>,

    /// Keys, strings or lines per workload, instead of the suite's own number.
    #[arg(long, value_parser = above_zero)]
    pub n: Option<usize>,

    /// Repetitions, each with new data; their median counts [default: 5, or the number in the paper].
    #[arg(long, value_parser = above_zero)]
    pub reps: Option<usize>,

    /// Seed of all random data.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// List what would run, and exit.
    #[arg(long)]
    pub list: bool,

    /// Append each result to this file as a line of JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Draw the results: as bars; sweeps and the papers' figures as curves; suites grid and cpu-grid as heat maps.
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,

    /// Suite soak: how long it runs [default: 60]; suite cpu-grid: the time after which no cell is started [default: 3600].
    #[arg(long, value_name = "SECONDS")]
    pub seconds: Option<u64>,

    /// Suites files, files-small, locales, external, index and soak: the folder for inputs and outputs, with free space for three times
    /// the largest input.
    #[arg(long, value_name = "FOLDER", default_value_os_t = std::env::temp_dir())]
    pub dir: PathBuf,

    /// Suites files, files-small, locales, external and soak: the program to measure [default: `sortie` beside this program].
    #[arg(long, value_name = "FILE")]
    pub sortie: Option<PathBuf>,

    /// Suite index: the memory of each contender, in bytes.
    #[arg(long, value_name = "BYTES", default_value_t = 1 << 30)]
    pub memory: u64,

    /// Suites on a GPU: the library built from peers/cub.cu; suite cpu-grid: the one from peers/cpu.cpp. Without it, these peers
    /// are left out.
    #[arg(long, value_name = "FILE.so", env = "SORTIE_PEERS")]
    pub peers: Option<PathBuf>,

    /// Suite papers: run each published sort of one array once, on uniform keys, for profilers.
    #[arg(long)]
    pub once: bool,

    /// Suites grid and cpu-grid: sort random arrays for SECONDS instead of the cells, and print the one on which Sortie is
    /// furthest behind.
    #[arg(long, value_name = "SECONDS")]
    pub search: Option<u64>,

    /// Suite batch: measure the rate against the length instead of the table, for LENGTHS lengths per doubling.
    #[arg(long, value_name = "LENGTHS", value_parser = above_zero)]
    pub sweep: Option<usize>,

    /// Suite batch: the shortest and the longest segment of a sweep.
    #[arg(long, value_name = "A..B", default_value = "1..1000000", value_parser = ends)]
    pub lengths: (u64, u64),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Suite {
    /// Calls on arrays of many types, sizes and shapes in memory, compared with the standard library and the best peer.
    CpuGrid,
    /// Whole text files, by whole programs.
    Files,
    /// Small text files, checks and merges, by whole programs.
    FilesSmall,
    /// Lines in the order of locales, by whole programs.
    Locales,
    /// Many segments in one call, on a GPU.
    Batch,
    /// One array, on a GPU.
    Large,
    /// Arrays of many types, sizes and shapes, and segments, in GPU memory, compared with the best peer.
    Grid,
    /// One array on several GPUs, `--n` keys on each.
    MultiGpu,
    /// Strings in GPU memory.
    DeviceStrings,
    /// Strings in host memory, by a GPU and the CPU.
    HostStrings,
    /// One array in host memory, by the CPU, by a GPU and by both.
    Hybrid,
    /// Files larger than the memory limit, by whole programs, from and to the disk.
    External,
    /// Random jobs of the program under random limits, each checked, for --seconds. Finds faults and measures nothing.
    Soak,
    /// Building an index of documents.
    Index,
    /// The measurements of published papers, with their algorithms and Sortie.
    Papers,
    /// Write the tables and the picture of README.md and docs/benchmarks.md from the kept runs. Measures nothing.
    Docs,
}

fn above_zero(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("it must be greater than 0".into()),
        Ok(number) => Ok(number),
        Err(e) => Err(format!("{e}")),
    }
}

/// `A..B`, both above 0 and in order.
fn ends(text: &str) -> Result<(u64, u64), String> {
    let ends = text.split_once("..").and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
    match ends {
        Some((from, to)) if 0 < from && from <= to => Ok((from, to)),
        _ => Err("it must be two numbers greater than 0 in ascending order, such as 1..512".into()),
    }
}
