//! Copies memory as bytes, by all threads, and past the caches if what is written is not read soon.

use std::mem::MaybeUninit;

use bytemuck::Pod;

use crate::cache_line::{LINE, fence, store_line};
use crate::gpu::tuning::COPIED_BY_A_TASK_BYTES;
use crate::parallel;

/// The bytes of these items.
pub(crate) fn bytes<T: Pod>(slice: &[T]) -> &[MaybeUninit<u8>] {
    // SAFETY: the same memory; any byte may be viewed as one that need not be initialised.
    unsafe { std::slice::from_raw_parts(slice.as_ptr().cast(), size_of_val(slice)) }
}

/// The bytes of these items.
///
/// # Safety
/// Only initialised bytes are written, except where they are merely copied on, as those of a payload.
pub(crate) unsafe fn bytes_mut<T: Pod>(slice: &mut [T]) -> &mut [MaybeUninit<u8>] {
    // SAFETY: as above; the caller guarantees it for what is written.
    unsafe { std::slice::from_raw_parts_mut(slice.as_mut_ptr().cast(), size_of_val(slice)) }
}

/// Copies with all threads, because one alone is slower than the transfer to a device.
pub(crate) fn by_threads<T: Copy + Send + Sync>(to: &mut [T], from: &[T], threads: usize) {
    if threads < 2 {
        return to.copy_from_slice(from);
    }
    let each = COPIED_BY_A_TASK_BYTES / size_of::<T>();
    let parts = to.chunks_mut(each).zip(from.chunks(each));
    parallel::for_each(threads, parts, |(to, from)| to.copy_from_slice(from));
}

/// Copies; whole cache lines are written past the caches.
pub(crate) fn past_caches<T: Copy>(to: &mut [MaybeUninit<T>], from: &[T]) {
    assert_eq!(to.len(), from.len());
    let bytes = size_of_val(from);
    let (to, from) = (to.as_mut_ptr().cast::<u8>(), from.as_ptr().cast::<u8>());
    let head = to.align_offset(LINE).min(bytes);
    let end = head + (bytes - head) / LINE * LINE;
    // SAFETY: both have the same length and do not overlap, and items that are copied need not be dropped.
    unsafe {
        std::ptr::copy_nonoverlapping(from, to, head);
        for at in (head..end).step_by(LINE) {
            store_line(from.add(at), to.add(at));
        }
        std::ptr::copy_nonoverlapping(from.add(end), to.add(end), bytes - end);
    }
    fence();
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
                // SAFETY: all were written at the start.
                let to: Vec<u8> = to.iter().map(|byte| unsafe { byte.assume_init() }).collect();
                assert_eq!(to[start..start + len], from[2 * start..2 * start + len]);
                assert!(to[..start].iter().chain(&to[start + len..]).all(|&byte| byte == 0));
            }
        }
    }
}
