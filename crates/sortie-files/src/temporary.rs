//! Where temporary files go: [`Temporary`].

use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Where temporary files go, and how runs are merged.
#[derive(Debug, Clone, Default)]
pub struct Temporary {
    /// The folders, which take turns. If empty, `$TMPDIR` or `/tmp`.
    pub folders: Vec<PathBuf>,
    /// The number of runs to merge at a time. By default, the format decides.
    pub batch_size: Option<NonZeroUsize>,
    /// A program that compresses its standard input, and decompresses it with `-d`.
    pub compress_program: Option<PathBuf>,
}
