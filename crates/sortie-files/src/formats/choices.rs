//! What a caller chooses besides the format.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sortie::Report;

use super::layout::Keep;
use crate::compression::{Asked, Compression};
use crate::{Error, Ledger, Progress, Sink, Task, Temporary, memory};

/// What can be chosen for any format.
#[derive(Clone, Default)]
pub struct Choices {
    pub descending: bool,
    /// Whether only one of several items with equal keys is kept: the first, or what `keep` says.
    pub unique: bool,
    /// Which of several items with equal keys is kept if `unique` is set. Only [layouts](super::Layout) keep others than the first.
    pub keep: Keep,
    /// The file that gets the items which `unique` leaves out, as they were read, if any. Only for [layouts](super::Layout).
    pub duplicates: Option<PathBuf>,
    /// The number of items to write, if not all. Only for [layouts](super::Layout).
    pub top: Option<u64>,
    /// The most memory in bytes that the process may take. By default, three fifths of what is available.
    pub memory: Option<u64>,
    pub temporary: Temporary,
    /// By default, the name of the output says whether it is compressed.
    pub compression: Option<Asked>,
    pub progress: Option<Arc<dyn Progress>>,
}

impl Choices {
    /// A ledger with the progress that was chosen.
    pub(super) fn ledger(&self) -> Ledger {
        self.progress.clone().map_or_else(Ledger::default, Ledger::new)
    }

    /// Has `sort` write to `output`, or standard output, with what was chosen. `size` is the number of bytes of the input, if it is
    /// known, and `bgzf` says whether an output whose name ends in `.gz` is in blocks.
    pub(super) fn publish(
        &self,
        output: Option<&Path>,
        size: Option<u64>,
        bgzf: bool,
        sort: impl FnOnce(&Task<'_>, Sink<'_>) -> Result<(), Error>,
    ) -> Result<Report, Error> {
        let compression = Compression::of(self.compression, output, bgzf)?;
        let budget = memory::budget(self.memory, size, rayon::current_num_threads);
        let ledger = self.ledger();
        let task = Task::new(&self.temporary, budget, &ledger);
        task.publish(output, compression, |sink| sort(&task, sink))?;
        drop(task);
        Ok(ledger.close())
    }
}
