//! Stores whole cache lines that bypass the caches, for data that is not read again soon.
//!
//! An ordinary store first fetches the line and evicts others. A whole line needs no fetch; on x86-64 it bypasses the caches.

/// The size of a cache line in bytes.
pub(crate) const LINE: usize = 64;

/// Stores a line, bypassing the caches.
///
/// # Safety
/// Both point to a whole line, and the target is aligned.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
pub(crate) unsafe fn store_line(from: *const u8, to: *mut u8) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    for i in 0..LINE / 16 {
        // SAFETY: the caller guarantees it; every x86-64 processor has these instructions.
        unsafe {
            _mm_stream_si128(to.cast::<__m128i>().add(i), _mm_loadu_si128(from.cast::<__m128i>().add(i)))
        };
    }
}

/// # Safety
/// Both point to a whole line.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline(always)]
pub(crate) unsafe fn store_line(from: *const u8, to: *mut u8) {
    // SAFETY: the caller guarantees it.
    unsafe { std::ptr::copy_nonoverlapping(from, to, LINE) };
}

/// Makes stores that bypassed the caches visible to the threads that this one wakes.
pub(crate) fn fence() {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: every x86-64 processor has the instruction.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
