//! Standard input and output that the program was started without.
//!
//! Rust opens `/dev/null` in their place before `main`, and then all that is written is lost without an error.

use std::ffi::c_int;

/// Run by the system's loader, before Rust's own start.
#[used]
#[unsafe(link_section = ".init_array")]
static HOLD_PLACES: extern "C" fn() = hold_places;

/// Puts in the place of a closed standard input or output what can be neither read nor written: a handle of a
/// folder as a place alone.
extern "C" fn hold_places() {
    for stream in [libc::STDIN_FILENO, libc::STDOUT_FILENO] {
        // SAFETY: looks at a number, whether or not a file is open under it.
        if unsafe { libc::fcntl(stream, libc::F_GETFD) } == -1 {
            // SAFETY: the path ends with a NUL. What is opened takes the lowest number that is free: this one, since
            // those below were seen to.
            let _: c_int = unsafe { libc::open(c"/".as_ptr(), libc::O_PATH) };
        }
    }
}
