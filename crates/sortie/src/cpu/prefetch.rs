//! Asking for memory before it is read.

/// How many strings ahead of the one at hand memory is asked for. 10^7 strings of 1024 letters were cut and sorted in 50 ms with
/// it and 68 without, by a GPU and 16 cores; in 102 and 123 ms by those alone. Strings of 8 gain nothing.
pub(crate) const AHEAD: usize = 16;

/// Asks for the first bytes of a string. Only a hint: nothing is read.
#[inline(always)]
pub(crate) fn prefetch(string: &[u8]) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: no address is read, and none faults.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(string.as_ptr().cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = string;
}
