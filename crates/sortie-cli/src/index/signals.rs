//! Signals that come at a time when the program should not end.

use libc::{SIG_IGN, SIGHUP, SIGINT, SIGTERM, c_int, sighandler_t};

/// Runs `work` while the signals that end a program on request are ignored.
///
/// To block them would not do: they would go to a thread that has them not blocked. What comes meanwhile is lost, so `work`
/// is to be short and the last that the program does.
pub fn ignored_during<T>(work: impl FnOnce() -> T) -> T {
    let _ignored = [SIGINT, SIGTERM, SIGHUP].map(Ignored::new);
    work()
}

/// A signal that is ignored until this is dropped.
struct Ignored {
    signal: c_int,
    before: sighandler_t,
}

impl Ignored {
    fn new(signal: c_int) -> Ignored {
        // SAFETY: to ignore a signal runs no code.
        Ignored { signal, before: unsafe { libc::signal(signal, SIG_IGN) } }
    }
}

impl Drop for Ignored {
    fn drop(&mut self) {
        // SAFETY: what was there before may be there again; the program sets no handlers of its own.
        unsafe { libc::signal(self.signal, self.before) };
    }
}
