//! How many threads a sort is worth.

use std::num::NonZeroUsize;
use std::thread;

use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::failure::Failure;

/// A thread with less than this takes longer to start, and to be waited for, than it saves.
const BYTES_A_THREAD: u64 = 512 << 10;

/// As many threads as were asked for, or as there are cores, but no more than `bytes` of input keep busy, where it is
/// known how many those are.
pub fn of_use(asked: Option<NonZeroUsize>, bytes: Option<u64>) -> usize {
    let busy = bytes.map_or(usize::MAX, |bytes| (bytes / BYTES_A_THREAD) as usize + 1);
    // To count the cores, std reads files about control groups, which takes as long as a small sort.
    if busy == 1 {
        return 1;
    }
    let asked = asked.or_else(|| thread::available_parallelism().ok());
    asked.map_or(1, NonZeroUsize::get).min(busy)
}

/// Has so many threads do all work that is not given to others.
pub fn start(asked: Option<NonZeroUsize>, bytes: Option<u64>) -> Result<(), Failure> {
    let threads = of_use(asked, bytes);
    ThreadPoolBuilder::new().num_threads(threads).build_global().map_err(Failure::threads(threads))
}

/// As [`start`], but where one thread is enough, it is the calling one. That must then never wait for another thread
/// which has work for all.
pub fn start_with_this(asked: Option<NonZeroUsize>, bytes: Option<u64>) -> Result<(), Failure> {
    if of_use(asked, bytes) > 1 {
        return start(asked, bytes);
    }
    ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global().map_err(Failure::threads(1))
}

/// As many threads as that.
pub fn pool(asked: Option<NonZeroUsize>, bytes: Option<u64>) -> Result<ThreadPool, Failure> {
    let threads = of_use(asked, bytes);
    ThreadPoolBuilder::new().num_threads(threads).build().map_err(Failure::threads(threads))
}
