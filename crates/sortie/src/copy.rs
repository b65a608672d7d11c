//! Copies: as bytes, by all threads, and past the caches where what is written is not read soon.
//!
//! Written straight to its place, a line would first be fetched, and others would leave the cache for it. A whole line needs no
//! fetch and, on x86-64, goes to memory alone.

use std::mem::MaybeUninit;

use bytemuck::Pod;

use crate::parallel;
use crate::plan::COPIED_BY_A_TASK_BYTES;

/// The bytes of these items.
pub(crate) fn bytes<T: Pod>(slice: &[T]) -> &[MaybeUninit<u8>] {
    // SAFETY: the same memory; any byte may be seen as one that need not be initialised.
    unsafe { std::slice::from_raw_parts(slice.as_ptr().cast(), size_of_val(slice)) }
}

/// # Safety
/// No byte is written that is not initialised, but where it is only copied on, as a payload's.
pub(crate) unsafe fn bytes_mut<T: Pod>(slice: &mut [T]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: as above; the caller vouches for what is written.
    unsafe { std::slice::from_raw_parts_mut(slice.as_mut_ptr().cast(), size_of_val(slice)) }
}

/// Copies by all threads: one alone is slower than the way to a device.
pub(crate) fn by_threads<T: Copy + Send + Sync>(to: &mut [T], from: &[T], threads: usize) {
    if threads < 2 {
        return to.copy_from_slice(from);
    }
    let each = COPIED_BY_A_TASK_BYTES / size_of::<T>();
    let parts = to.chunks_mut(each).zip(from.chunks(each));
    parallel::for_each(threads, parts, |(to, from)| to.copy_from_slice(from));
}

/// Bytes of a cache line.
pub(crate) const LINE: usize = 64;

/// Copies; whole lines pass the caches by.
pub(crate) fn past_caches<T: Copy>(to: &mut [MaybeUninit<T>], from: &[T]) {
    assert_eq!(to.len(), from.len());
    let bytes = size_of_val(from);
    let (to, from) = (to.as_mut_ptr().cast::<u8>(), from.as_ptr().cast::<u8>());
    let head = to.align_offset(LINE).min(bytes);
    let end = head + (bytes - head) / LINE * LINE;
    // SAFETY: both are as long, apart from each other, and items that are copied need not be dropped.
    unsafe {
        std::ptr::copy_nonoverlapping(from, to, head);
        for at in (head..end).step_by(LINE) {
            store_line(from.add(at), to.add(at));
        }
        std::ptr::copy_nonoverlapping(from.add(end), to.add(end), bytes - end);
    }
    fence();
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_is_copied_wherever_it_lies() {
        let from: Vec<u8> = (0..1000u32).map(|i| (i * 7) as u8).collect();
        for start in 0..70 {
            for len in [0, 1, 63, 64, 65, 130, 700] {
                let mut to = vec![MaybeUninit::new(0u8); 1000];
                past_caches(&mut to[start..start + len], &from[2 * start..2 * start + len]);
                // SAFETY: all were written at first.
                let to: Vec<u8> = to.iter().map(|byte| unsafe { byte.assume_init() }).collect();
                assert_eq!(to[start..start + len], from[2 * start..2 * start + len]);
                assert!(to[..start].iter().chain(&to[start + len..]).all(|&byte| byte == 0));
            }
        }
    }
}
