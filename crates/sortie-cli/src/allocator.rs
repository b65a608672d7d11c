//! The allocator: glibc's, but where it has no room for a small piece, the program ends with one line.
//!
//! Large pieces are asked for in ways that can fail, and then the program says what it needs. Small ones are asked for
//! everywhere, in std and in libraries too, where a refusal would abort the program.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use rustix::stdio::stderr;

/// Pieces below this size are small.
const SMALL: usize = 512 << 10;

/// Whether a thread is about to say why the program ends.
static ENDING: AtomicBool = AtomicBool::new(false);

struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

// SAFETY: every call is handed on to the system's allocator as it is, and its result is returned, or the process ends.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps to the same contract.
        granted(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps to the same contract.
        granted(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, old: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps to the same contract.
        granted(unsafe { System.realloc(old, layout, size) }, size)
    }

    unsafe fn dealloc(&self, old: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps to the same contract.
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

/// Ends the program as any failure does, without asking for memory. What a killed process leaves behind, this does.
#[cold]
fn give_up() -> ! {
    begin_the_end();
    let line = b"sortie: out of memory; raise ulimit -v, or give -S or --parallel less\n";
    let _ = rustix::io::write(stderr(), line);
    // SAFETY: ends the process, and runs none of its code.
    unsafe { libc::_exit(2) }
}

/// Returns to the first thread that is about to end the program with a line, so that there is one. Others wait for the end.
pub fn begin_the_end() {
    while ENDING.swap(true, Relaxed) {
        // SAFETY: waits for a signal, and touches nothing.
        unsafe { libc::pause() };
    }
}
