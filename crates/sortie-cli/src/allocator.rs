//! The global allocator: the system's, but if it fails to allocate a small block, the program ends with a one-line
//! message.
//!
//! Large blocks are allocated in ways that can fail, and the program then says how much it needs. Small blocks are
//! allocated everywhere, in std and in libraries too, where a failure would abort the program.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rustix::stdio::stderr;

/// Blocks smaller than this are small.
const SMALL: usize = 512 << 10;

/// Whether a thread is about to print the final message and end the program.
static ENDING: AtomicBool = AtomicBool::new(false);

struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

// SAFETY: every call is passed unchanged to the system's allocator. Its result is returned, or the process ends.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the same contract.
        granted(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller upholds the same contract.
        granted(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller upholds the same contract.
        granted(unsafe { System.realloc(old, layout, size) }, size)
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the same contract.
        unsafe { System.dealloc(old, layout) }
    }
}

#[inline]
fn granted(piece: *mut u8, size: usize) -> *mut u8 {
    if piece.is_null() && size < SMALL {
        give_up();
    }
    piece
}

/// Ends the program with a message and status 2, as other failures do, without allocating memory. It cleans up no
/// more than a killed process does.
#[cold]
fn give_up() -> ! {
    begin_the_end();
    let line = b"sortie: out of memory; raise ulimit -v, or lower -S or --parallel\n";
    let _ = rustix::io::write(stderr(), line);
    // SAFETY: ends the process without running any more of its code.
    unsafe { libc::_exit(2) }
}

/// Returns in the first thread that calls it, so that only one thread prints a final message. All other threads wait
/// until the process ends.
pub fn begin_the_end() {
    while ENDING.swap(true, Relaxed) {
        // SAFETY: waits for a signal, and touches no memory.
        unsafe { libc::pause() };
    }
}
