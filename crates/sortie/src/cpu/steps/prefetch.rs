//! Prefetches memory.

use crate::cache_line::LINE;

/// How many items ahead of the current one to prefetch. A GPU and 16 cores cut and sort 10^7 strings of 1024 letters in
/// 50 ms with it and in 68 ms without; the cores alone take 102 and 123 ms. Strings of 8 letters gain nothing.
pub(crate) const AHEAD: usize = 16;

/// All items in order. Their strings have been prefetched by then.
#[inline(always)]
pub(crate) fn ahead<'s, T>(
    items: &'s [T],
    string: impl Fn(&'s T) -> &'s [u8],
) -> impl Iterator<Item = &'s T> {
    items.iter().enumerate().map(move |(i, item)| {
        if let Some(later) = items.get(i + AHEAD) {
            prefetch(string(later));
        }
        item
    })
}

/// Prefetches the first bytes of a string. This is only a hint: nothing is read.
#[inline(always)]
pub(crate) fn prefetch(string: &[u8]) {
    prefetch_line(string.as_ptr());
}

/// Prefetches an item, or the first lines of a long one. The processor prefetches the rest by itself.
#[inline(always)]
pub(crate) fn prefetch_item<T>(item: *const T) {
    (0..size_of::<T>().min(4 * LINE))
        .step_by(LINE)
        .for_each(|at| prefetch_line(item.cast::<u8>().wrapping_add(at)));
}

/// Prefetches a cache line. This is only a hint: any address is allowed.
#[inline(always)]
fn prefetch_line(at: *const u8) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: the address is not read, and a prefetch cannot fault.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(at.cast());
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = at;
}
