//! What Rust changes before `main`: standard input and output that the program was started without, and SIGPIPE.
//!
//! Rust opens `/dev/null` in place of closed ones, and then all that is written is lost without an error. And it ignores SIGPIPE,
//! whatever was done about it before.

use std::ffi::c_int;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};

/// Run by the system's loader, before Rust's own start.
#[used]
#[unsafe(link_section = ".init_array")]
static BEFORE_RUST: extern "C" fn() = before_rust;

/// Whether whoever started the program had it ignore SIGPIPE.
static IGNORES_SIGPIPE: AtomicBool = AtomicBool::new(false);

extern "C" fn before_rust() {
    hold_places();
    // SAFETY: a record of the system's for which zeros are valid, and which it fills; no signal is changed.
    let ignores = unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        libc::sigaction(libc::SIGPIPE, ptr::null(), &raw mut action);
        action.sa_sigaction == libc::SIG_IGN
    };
    IGNORES_SIGPIPE.store(ignores, Ordering::Relaxed);
}

/// Ends the program by SIGPIPE, as a write into a closed pipe does, unless it was started to ignore that.
pub fn end_by_sigpipe() {
    if !IGNORES_SIGPIPE.load(Ordering::Relaxed) {
        // SAFETY: what the signal does was set to the system's default, which runs no code of ours.
        unsafe {
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
            libc::raise(libc::SIGPIPE);
        }
    }
}

/// Puts in the place of a closed standard input or output what can be neither read nor written: a handle of a
/// folder as a place alone.
fn hold_places() {
    for stream in [libc::STDIN_FILENO, libc::STDOUT_FILENO] {
        // SAFETY: looks at a number, whether or not a file is open under it.
        if unsafe { libc::fcntl(stream, libc::F_GETFD) } == -1 {
            // SAFETY: the path ends with a NUL. What is opened takes the lowest number that is free: this one, since
            // those below were seen to.
            let _: c_int = unsafe { libc::open(c"/".as_ptr(), libc::O_PATH) };
        }
    }
}
