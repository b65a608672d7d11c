//! How many threads there are to sort with.

use std::error::Error as _;
use std::panic;
use std::sync::OnceLock;

use rayon::ThreadPoolBuilder;

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
