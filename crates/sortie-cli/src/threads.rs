//! The thread pools of the program.

use std::num::NonZeroUsize;

use rayon::{ThreadPool, ThreadPoolBuilder};
use sortie_files::Error;
use sortie_files::threads::{ensure_room, of_use};

/// Starts the global thread pool with [`of_use`] threads.
pub fn start(asked: Option<NonZeroUsize>, bytes: Option<u64>) -> Result<(), Error> {
    let threads = of_use(asked, bytes);
    ensure_room(threads).map_err(Error::threads(threads))?;
    ThreadPoolBuilder::new().num_threads(threads).build_global().map_err(Error::threads(threads))
}

/// Like [`start`], but if one thread is enough, the calling thread is the pool. That thread must then never wait for
/// another thread that itself waits for work done in the pool.
pub fn start_with_this(asked: Option<NonZeroUsize>, bytes: Option<u64>) -> Result<(), Error> {
    if of_use(asked, bytes) > 1 {
        return start(asked, bytes);
    }
    ThreadPoolBuilder::new().num_threads(1).use_current_thread().build_global().map_err(Error::threads(1))
}

/// A thread pool with [`of_use`] threads.
pub fn pool(asked: Option<NonZeroUsize>, bytes: Option<u64>) -> Result<ThreadPool, Error> {
    let threads = of_use(asked, bytes);
    ensure_room(threads).map_err(Error::threads(threads))?;
    ThreadPoolBuilder::new().num_threads(threads).build().map_err(Error::threads(threads))
}
