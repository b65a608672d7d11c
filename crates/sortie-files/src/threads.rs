//! How many threads to use for a sort, and their start.

use std::num::NonZeroUsize;
use std::thread::{self, Scope, ScopedJoinHandle};
use std::{io, ptr};

use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};

/// The address space that a thread takes at its start: the stack that std gives it, and more than its second stack, for signals.
const STACK: usize = (2 << 20) + (256 << 10);

/// Starting and joining a thread takes longer than sorting this many bytes.
const BYTES_A_THREAD: u64 = 512 << 10;

/// The number of threads to use: as many as `asked` says, or one for each core, but no more than `bytes` of input
/// keep busy, if that size is known.
pub fn of_use(asked: Option<NonZeroUsize>, bytes: Option<u64>) -> usize {
    let busy = bytes.map_or(usize::MAX, |bytes| (bytes / BYTES_A_THREAD) as usize + 1);
    // To count the cores, std reads files about control groups, which takes as long as a small sort.
    if busy == 1 {
        return 1;
    }
    let asked = asked.or_else(|| thread::available_parallelism().ok());
    asked.map_or(1, NonZeroUsize::get).min(busy)
}

/// Starts a thread in a scope.
///
/// # Errors
/// Those of std, and of [`ensure_room`].
pub fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> io::Result<ScopedJoinHandle<'scope, T>> {
    ensure_room(1)?;
    thread::Builder::new().spawn_scoped(scope, work)
}

/// Fails if memory is too short to start this many threads.
///
/// std aborts the process if a thread gets its own stack, but not a second one, on which it handles signals.
pub fn ensure_room(threads: usize) -> io::Result<()> {
    let (bytes, access) = (threads * STACK, ProtFlags::READ | ProtFlags::WRITE);
    // SAFETY: this makes a mapping of its own and removes it, and nothing uses it in between.
    unsafe { munmap(mmap_anonymous(ptr::null_mut(), bytes, access, MapFlags::PRIVATE)?, bytes)? };
    Ok(())
}
