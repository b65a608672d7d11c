//! Tables in Parquet and Arrow IPC files, sorted by columns. Needs the feature `parquet`.
//!
//! The result has the columns, the metadata, the codecs and the size of row groups of the input. A Parquet file also says what it is
//! sorted by, as far as all programs order the values alike: see `sort_columnar`.

#[cfg(feature = "parquet")]
mod check;
#[cfg(feature = "parquet")]
mod decimals;
#[cfg(feature = "parquet")]
mod keys;
#[cfg(feature = "parquet")]
mod layout;
#[cfg(feature = "parquet")]
mod merge;
#[cfg(feature = "parquet")]
mod read;
#[cfg(feature = "parquet")]
mod rows;
#[cfg(feature = "parquet")]
mod sort;
#[cfg(feature = "parquet")]
mod types;
#[cfg(feature = "parquet")]
mod write;

use std::os::unix::fs::FileExt;
use std::path::Path;

#[cfg(feature = "parquet")]
pub use check::{Verdict, check_columnar, verify};
#[cfg(feature = "parquet")]
pub use sort::{Columnar, sort_columnar};

use crate::Input;

/// How a file stores columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Parquet,
    /// Arrow IPC files, also called Feather V2.
    Arrow,
}

impl Kind {
    /// What the bytes of a regular file say, or else the name of the input.
    pub fn of(input: &Input) -> Option<Kind> {
        let by_content = || {
            let file = input.stored().and_then(|_| input.open().ok())?;
            let end = file.metadata().ok()?.len();
            let is_at_both_ends = |magic: &[u8]| {
                let mut found = [0; 6];
                let found = &mut found[..magic.len()];
                [0, end.saturating_sub(magic.len() as u64)]
                    .iter()
                    .all(|&at| file.read_exact_at(found, at).is_ok() && *found == *magic)
            };
            match () {
                // The second is encrypted, which the reader says.
                () if is_at_both_ends(b"PAR1") || is_at_both_ends(b"PARE") => Some(Kind::Parquet),
                () if is_at_both_ends(b"ARROW1") => Some(Kind::Arrow),
                () => None,
            }
        };
        by_content().or_else(|| Kind::of_name(input.name()))
    }

    /// What the name of a file says: `.parquet`, `.parq`, `.pq`, `.arrow`, `.feather` or `.ipc`.
    pub fn of_name(name: &Path) -> Option<Kind> {
        match &*name.extension()?.to_str()?.to_ascii_lowercase() {
            "parquet" | "parq" | "pq" => Some(Kind::Parquet),
            "arrow" | "feather" | "ipc" => Some(Kind::Arrow),
            _ => None,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Kind::Parquet => "Parquet",
            Kind::Arrow => "Arrow",
        }
    }
}
