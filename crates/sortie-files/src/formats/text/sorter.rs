//! The library's sorters, as a sort of text uses them.

use sortie::{Sorter, SorterBuilder};

use super::LineSort;

/// The keys of this many lines share one allocation. Fewer lines than this are encoded and ordered by one
/// thread.
pub const LINES_A_BLOCK: usize = 1 << 14;

/// A sorter of `lines` lines or keys.
pub fn sorter(job: &LineSort<'_>, descending: bool, lines: usize) -> Result<Sorter, sortie::Error> {
    builder(job, lines).engine(job.engine).descending(descending).build()
}

/// A builder for sorters of `lines` lines or keys. They use the program's thread pool, or one thread if there is no pool or the lines are
/// too few to divide.
pub fn builder(job: &LineSort<'_>, lines: usize) -> SorterBuilder {
    if job.is_alone() || lines < LINES_A_BLOCK { Sorter::builder().threads(1) } else { Sorter::builder() }
}
