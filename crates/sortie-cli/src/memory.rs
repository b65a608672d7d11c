//! What `-S` and `ulimit` mean to this process.

use rustix::process::{Resource, getrlimit};
use sortie_files::limits::{self, addressable};
use sortie_files::memory::{self, LEAST};

use crate::cli::MemorySize;

/// Every machine has at least this much memory, so up to this size there is no need to ask.
const SURELY_THERE: u64 = 1 << 30;
/// Enough stack for the main thread, which does not recurse and sorts only small inputs.
const GROWN_STACK: usize = 512 << 10;

/// [`memory::budget`] for a value of `-S`.
pub fn budget(asked: Option<MemorySize>, input: Option<u64>, threads: impl FnOnce() -> usize) -> u64 {
    memory::budget(asked.map(bytes), input, threads)
}

/// The bytes that `-S` means on this machine: at most all of its memory, or all that its control group allows. A larger limit could
/// not be used, and could overflow in a multiplication.
pub fn bytes(size: MemorySize) -> u64 {
    let bytes = match size {
        MemorySize::Bytes(bytes) if bytes <= SURELY_THERE => bytes,
        MemorySize::Bytes(bytes) => bytes.min(limits::total()),
        MemorySize::Percent(part) => (limits::total() as f64 * part.min(100) as f64 / 100.0) as u64,
    };
    bytes.max(LEAST)
}

/// Grows the stack of this thread now if `ulimit -v` limits memory. Later there may be no room for it, and the system
/// would then kill the program without a message.
pub fn grow_stack() {
    let may_grow = getrlimit(Resource::Stack).current.is_none_or(|limit| limit >= 2 * GROWN_STACK as u64);
    if may_grow && getrlimit(Resource::As).current.is_some() {
        touch_stack();
    }
}

/// A separate function, because a function touches all of its stack frame as soon as it is called.
#[inline(never)]
fn touch_stack() {
    std::hint::black_box([1u8; GROWN_STACK]);
}

/// Makes the allocator keep as little free memory as possible if `-S` or `ulimit` limits memory.
pub fn hold_back(asked: Option<MemorySize>) {
    let limited = addressable().is_some();
    if asked.is_some() || limited {
        keep_nothing_freed();
    }
    if limited {
        share_one_heap();
    }
}

/// Makes all threads allocate from one arena. By default glibc reserves 64 MiB of address space for each
/// thread.
fn share_one_heap() {
    #[cfg(target_env = "gnu")]
    // SAFETY: sets a parameter of the allocator, and may be called at any time.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Makes the allocator return freed memory to the system, so that the memory held is the memory in use. By
/// default glibc may keep freed blocks of up to 32 MiB in every thread.
fn keep_nothing_freed() {
    #[cfg(target_env = "gnu")]
    // SAFETY: sets a parameter of the allocator, and may be called at any time.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 256 << 10);
    }
}
