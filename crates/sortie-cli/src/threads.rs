//! How many threads a sort is worth.

use std::num::NonZeroUsize;
use std::thread;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::failure::Failure;

/// Starting a thread takes as long as sorting about so much.
const BYTES_A_THREAD: u64 = 64 << 10;

/// As many threads as were asked for, or as there are cores, but no more than `bytes` of input keep busy, where it is
/// known how many those are.
pub fn of_use(asked: Option<NonZeroUsize>, bytes: Option<u64>) -> usize {
    let asked = asked.or_else(|| thread::available_parallelism().ok()).map_or(1, NonZeroUsize::get);
    bytes.map_or(asked, |bytes| asked.min((bytes / BYTES_A_THREAD) as usize + 1))
}

/// Has so many threads do all work that is not given to others.
pub fn start(asked: Option<NonZeroUsize>, bytes: Option<u64>) -> Result<(), Failure> {
    let threads = of_use(asked, bytes);
    ThreadPoolBuilder::new().num_threads(threads).build_global().map_err(Failure::threads(threads))
}

/// As many threads as that.
pub fn pool(asked: Option<NonZeroUsize>, bytes: Option<u64>) -> Result<ThreadPool, Failure> {
    let threads = of_use(asked, bytes);
    ThreadPoolBuilder::new().num_threads(threads).build().map_err(Failure::threads(threads))
}
