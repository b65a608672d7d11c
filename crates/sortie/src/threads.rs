//! How many threads there are to sort with.

use std::error::Error as _;
use std::panic;
use std::sync::OnceLock;

use rayon::ThreadPoolBuilder;

/// The number of threads of the rayon pool that the caller is in, or else of the global pool, which is started if
/// necessary. Returns 1 if the system refuses to start its threads: rayon would panic, but a sort can do with the
/// caller's thread.
pub(crate) fn of_current_pool() -> usize {
    static IS_THERE: OnceLock<bool> = OnceLock::new();
    if rayon::current_thread_index().is_some() {
        return rayon::current_num_threads();
    }
    let start = || match ThreadPoolBuilder::new().build_global() {
        Ok(()) => true,
        // The error has a source if threads were refused; rayon does not try again then.
        Err(error) if error.source().is_some() => false,
        // Somebody else has started the pool, or has been refused.
        Err(_) => panic::catch_unwind(rayon::current_num_threads).is_ok(),
    };
    if *IS_THERE.get_or_init(start) { rayon::current_num_threads() } else { 1 }
}
