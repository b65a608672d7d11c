//! Handles standard streams that were closed when the program started, and SIGPIPE.

use std::ffi::c_int;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether SIGPIPE was already ignored when the program started.
static IGNORES_SIGPIPE: AtomicBool = AtomicBool::new(false);

/// Has the system call [`prepare`] before `main`. Otherwise Rust would open /dev/null in place of closed streams, so that output would
/// be lost without an error, and it would no longer be known whether SIGPIPE was ignored.
#[used]
#[unsafe(link_section = ".init_array")]
static PREPARE: extern "C" fn() = prepare;

extern "C" fn prepare() {
    hold_closed_streams();
    // With SIGPIPE ignored, a write to a closed pipe returns an error, so the program can remove its temporary
    // files before it ends.
    // SAFETY: only changes what the signal does, and installs no handler.
    let before = unsafe { libc::signal(libc::SIGPIPE, libc::SIG_IGN) };
    IGNORES_SIGPIPE.store(before == libc::SIG_IGN, Ordering::Relaxed);
}

/// Ends the program by SIGPIPE, as a write to a closed pipe normally does, unless the program was started with
/// SIGPIPE ignored.
pub fn end_by_sigpipe() {
    if !IGNORES_SIGPIPE.load(Ordering::Relaxed) {
        // SAFETY: restores the default action of the signal, and installs no handler.
        unsafe {
            libc::signal(libc::SIGPIPE, libc::SIG_DFL);
            libc::raise(libc::SIGPIPE);
        }
    }
}

/// Standard error. Writing to std's succeeds if the stream is closed.
pub struct StandardError;

impl Write for StandardError {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        Ok(rustix::io::write(rustix::stdio::stderr(), text)?)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Opens `/` with `O_PATH` in place of each closed stream, so that reads and writes of the stream fail. Otherwise the
/// next file that the program opens would take the place of the stream.
fn hold_closed_streams() {
    for stream in [libc::STDIN_FILENO, libc::STDOUT_FILENO, libc::STDERR_FILENO] {
        // SAFETY: only checks a descriptor number, which need not be open.
        if unsafe { libc::fcntl(stream, libc::F_GETFD) } == -1 {
            // SAFETY: the path ends with a NUL. `open` returns the lowest free descriptor, which is this one,
            // because the lower ones are already open.
            let _: c_int = unsafe { libc::open(c"/".as_ptr(), libc::O_PATH) };
        }
    }
}
