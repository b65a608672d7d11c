//! Threads that block on a device. They are not threads of a rayon pool, whose other work would have to wait.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::{panic, thread};

use crate::Error;

/// Runs `work` on a thread for each item, with the item's number, and waits for all of them. The last argument of
/// `work` becomes true when one of them has failed, so that the others can stop.
///
/// # Errors
/// The first error of `work`; [`Error::Threads`] if not all threads could be started.
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
