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

    /// Repetitions, each with fresh data; the median of them counts.
    #[arg(long, default_value_t = 5, value_parser = above_zero)]
    pub reps: usize,

    /// Where all random data comes from.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,

    /// Name what would run, and stop.
    #[arg(long)]
    pub list: bool,

    /// Append each result to this file as a line of JSON.
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Draw the results as bars.
    #[arg(long, value_name = "FILE.svg")]
    pub plot: Option<PathBuf>,

    /// Suite files: the folder for inputs and outputs, which needs three times the size of the largest input.
    #[arg(long, value_name = "FOLDER", default_value_os_t = std::env::temp_dir())]
    pub dir: PathBuf,

    /// Suite files: the program to measure [default: `sortie` beside this program].
    #[arg(long, value_name = "FILE")]
    pub sortie: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Suite {
    /// Keys, pairs, places and segments in memory.
    Cpu,
    /// Strings in memory.
    Strings,
    /// Whole text files, by whole programs.
    Files,
}

fn above_zero(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("it must be above 0".into()),
        Ok(number) => Ok(number),
        Err(e) => Err(format!("{e}")),
    }
}
