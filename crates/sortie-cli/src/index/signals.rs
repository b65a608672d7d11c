//! Ignores signals at times when the program should not end.

use libc::{SIG_IGN, SIGHUP, SIGINT, SIGTERM, c_int, sighandler_t};

/// Runs `work` while the signals that ask a program to end are ignored.
///
/// Blocking them in this thread would not suffice, because the system would deliver them to another thread. Signals
/// that arrive meanwhile are lost, so `work` should be short and the last step of the program.
pub fn ignored_during<T>(work: impl FnOnce() -> T) -> T {
    let _ignored = [SIGINT, SIGTERM, SIGHUP].map(Ignored::new);
    work()
}

/// Ignores a signal until this is dropped.
struct Ignored {
    signal: c_int,
    before: sighandler_t,
}

impl Ignored {
    fn new(signal: c_int) -> Ignored {
        // SAFETY: ignoring a signal installs no handler.
        Ignored { signal, before: unsafe { libc::signal(signal, SIG_IGN) } }
    }
}

impl Drop for Ignored {
    fn drop(&mut self) {
        // SAFETY: restores the previous action; the program installs no handlers of its own.
        unsafe { libc::signal(self.signal, self.before) };
    }
}
