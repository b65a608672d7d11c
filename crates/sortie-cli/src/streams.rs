//! Standard streams that the program was started without, and SIGPIPE.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether whoever started the program had it ignore SIGPIPE.
static IGNORES_SIGPIPE: AtomicBool = AtomicBool::new(false);

/// To be called before anything is opened.
pub fn prepare() {
    hold_closed_streams();
    // A write into a closed pipe is to fail, so that what the program has on disk is removed before it ends.
    // SAFETY: changes what the signal does, and runs no code of ours.
    let before = unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    IGNORES_SIGPIPE.store(before == libc::SIG_IGN, Ordering::Relaxed);
}

/// Ends the program by SIGPIPE, as a write into a closed pipe does, unless it was started to ignore that.
pub fn end_by_sigpipe() {
    if !IGNORES_SIGPIPE.load(Ordering::Relaxed) {
        // SAFETY: what the signal does is set to the system's default, which runs no code of ours.
        unsafe {
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
            libc::raise(libc::SIGPIPE);
        }
    }
}

/// Opens `/` with `O_PATH` in place of each closed stream, so that reads and writes fail. Otherwise the next file that is opened
/// would take its place.
fn hold_closed_streams() {
    for stream in [libc::STDIN_FILENO, libc::STDOUT_FILENO, libc::STDERR_FILENO] {
        // SAFETY: looks at a number, whether or not a file is open under it.
        if unsafe { libc::fcntl(stream, libc::F_GETFD) } == -1 {
            // SAFETY: the path ends with a NUL. What is opened takes the lowest number that is free: this one, since
            // those below were seen to.
            let _: c_int = unsafe { libc::open(c"/".as_ptr(), libc::O_PATH) };
        }
    }
}
