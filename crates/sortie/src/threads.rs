//! How many threads there are to sort with, and threads that block on a device: none of a rayon pool, whose other work
//! would wait for them.

use std::error::Error as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::{panic, thread};

use rayon::ThreadPoolBuilder;

use crate::Error;

/// The threads of the rayon pool that the caller is in, or of the global one, which is started where it was not. 1 where the
/// system refuses its threads: rayon would panic, and a sort needs no more than the caller's.
pub(crate) fn of_current_pool() -> usize {
    static IS_THERE: OnceLock<bool> = OnceLock::new();
    if rayon::current_thread_index().is_some() {
        return rayon::current_num_threads();
    }
    let start = || match ThreadPoolBuilder::new().build_global() {
        Ok(()) => true,
        // It has a source where threads were refused, which rayon does not try again.
        Err(error) if error.source().is_some() => false,
        // Somebody else has started it, or was refused.
        Err(_) => panic::catch_unwind(rayon::current_num_threads).is_ok(),
    };
    if *IS_THERE.get_or_init(start) { rayon::current_num_threads() } else { 1 }
}

/// Runs `work` on a thread for each item, with its number, and waits for all of them. What `work` gets last becomes true when one
/// has failed, so that the others may stop.
///
/// # Errors
/// The first one of `work`; [`Error::Threads`] where not all could be started.
pub(crate) fn for_each<T: Send, R: Send>(
    items: &mut [T],
    work: impl Fn(usize, &mut T, &AtomicBool) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    let (failed, count) = (AtomicBool::new(false), items.len());
    let run = |number: usize, item: &mut T| {
        work(number, item, &failed).inspect_err(|_| failed.store(true, Relaxed))
    };
    thread::scope(|scope| {
        let run = &run;
        let mut threads = Vec::with_capacity(count);
        let mut ended = Ok(());
        for (number, item) in items.iter_mut().enumerate() {
            match thread::Builder::new().spawn_scoped(scope, move || run(number, item)) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    failed.store(true, Relaxed);
                    ended = Err(Error::Threads { threads: count, reason: error.to_string() });
                    break;
                }
            }
        }
        let joined = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panicked| panic::resume_unwind(panicked)))
            .collect::<Vec<_>>();
        ended.and_then(|()| joined.into_iter().collect())
    })
}
