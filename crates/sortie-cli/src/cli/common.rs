//! What every kind of sort can be told.

use std::num::NonZeroUsize;

use clap::Args;
use sortie_formats::Kind;

use super::{MemorySize, StatsFormat, element, threads};

/// What a sort may take, where it works, and what it tells.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Resources")]
pub struct Resources {
    /// Use no more than SIZE memory, for segments and lanes of an array beside itself, a GPU's included; in KiB, or with a suffix
    /// of %bKMGTPE
    #[arg(short = 'S', long, value_name = "SIZE", allow_hyphen_values = true)]
    pub buffer_size: Option<MemorySize>,

    /// Work on N threads; by default as many as there are cores
    #[arg(long, value_name = "N", value_parser = threads)]
    pub parallel: Option<NonZeroUsize>,

    /// Where to sort: cpu; cuda[:N], a GPU (sortie devices lists them); cuda:N,N..., one array of numbers on several; hybrid[:N],
    /// a GPU and the CPU together, in the shares that sortie tune has found; or auto: segments on a GPU where that is faster
    /// by what sortie devices --measure has found, all else on the CPU
    #[arg(long, value_name = "ENGINE", default_value = "auto")]
    pub engine: sortie::Engine,

    /// Print what the sort did on standard error
    #[arg(
        long,
        value_name = "FORMAT",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "table"
    )]
    pub stats: Option<StatsFormat>,
}

/// How an array is stored and sorted.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Arrays")]
pub struct ArrayOptions {
    /// The elements are little-endian numbers of TYPE; a .npy file says itself what it holds
    #[arg(long = "type", value_name = "TYPE", value_parser = element())]
    pub element: Option<Kind>,

    /// The largest first
    #[arg(long)]
    pub descending: bool,

    /// Write where each element was (in its segment), not the elements: u64, or int64 in .npy
    #[arg(long)]
    pub argsort: bool,
}
