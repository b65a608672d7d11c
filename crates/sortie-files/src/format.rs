//! What a format says of itself: how its items are read, sorted and merged.

use crate::run::Part;
use crate::{Error, Sink};

/// The parts of a sort that differ between formats: how items are read, sorted and merged.
pub trait Format: Sync {
    /// The source of the items.
    type Feed: Send;

    /// The items that are in memory together. Once they are written, the stretch is filled again.
    type Stretch: Default + Send;

    /// The number of runs to merge at a time, unless [`Temporary`](crate::Temporary) says otherwise.
    const RUNS_AT_ONCE: usize;

    /// Whether all items of `feed` may fit in memory. `size` is their number of bytes, if it is known.
    fn may_fit(&self, _feed: &mut Self::Feed, _size: Option<u64>) -> Result<bool, Error> {
        Ok(true)
    }

    /// Replaces `stretch` by the next items: as many as fit in its share of memory, but at least one if there are more. Returns
    /// whether the items are the last.
    fn fill(
        &self,
        stretch: &mut Self::Stretch,
        feed: &mut Self::Feed,
        share: Share<'_>,
    ) -> Result<bool, Error>;

    /// Sorts a stretch, and passes the result to `then`. The sort is stable.
    fn sort(
        &self,
        stretch: &mut Self::Stretch,
        then: impl FnOnce(Sorted<'_>) -> Result<(), Error>,
    ) -> Result<(), Error>;

    /// Merges runs with `budget` bytes of memory. The runs are in the order in which their items were read.
    fn merge(&self, runs: Vec<Part>, budget: u64, sink: Sink<'_>) -> Result<(), Error>;
}

/// The share of memory that a stretch may take.
#[derive(Clone, Copy)]
pub struct Share<'a> {
    /// This many runners each hold a stretch. At any time, one of these stretches is being sorted and one is being written.
    pub runners: usize,
    pub(crate) wait: &'a dyn Fn(),
}

impl Share<'_> {
    /// Waits until no other stretch is in memory, because an item alone takes more than the share, or a great part of all memory.
    pub fn exceed(&self) {
        (self.wait)();
    }
}

/// A sorted stretch.
pub struct Sorted<'a> {
    /// The bytes of its items.
    pub bytes: usize,
    /// The maximum number of runs of this kind to merge at a time.
    pub at_once: usize,
    /// Writes the items.
    pub write: &'a dyn Fn(Sink<'_>) -> Result<(), Error>,
}
