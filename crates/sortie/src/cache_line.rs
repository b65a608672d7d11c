//! Stores whole cache lines past the caches, where what is written is not read soon.
//!
//! An ordinary store first fetches the line and evicts others. A whole line needs no fetch; on x86-64 it bypasses the caches.

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Stores a line past the caches.
///
/// # Safety
/// Both are as long as a line, and the one that is written is aligned.
#[cfg(all(target_arch = "x86_64", not(miri)))]
#[inline(always)]
pub(crate) unsafe fn store_line(from: *const u8, to: *mut u8) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
    for i in 0..LINE / 16 {
        // SAFETY: as the caller states; every x86-64 has the instruction.
        unsafe {
            _mm_stream_si128(to.cast::<__m128i>().add(i), _mm_loadu_si128(from.cast::<__m128i>().add(i)))
        };
    }
}

/// # Safety
/// Both are as long as a line.
#[cfg(not(all(target_arch = "x86_64", not(miri))))]
#[inline(always)]
pub(crate) unsafe fn store_line(from: *const u8, to: *mut u8) {
    // SAFETY: as the caller states.
    unsafe { std::ptr::copy_nonoverlapping(from, to, LINE) };
}

/// Makes what was stored past the caches visible to the threads that this one wakes.
pub(crate) fn fence() {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: every x86-64 has the instruction.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    }
}
