//! Writes to many buckets at once. A cache line for each bucket is filled in the cache and then written to memory as a
//! whole.
//!
//! If every item were written directly to its position, its cache line would have to be fetched first. A whole line
//! needs no fetch and, on x86-64, bypasses the caches.
//!
//! Source: Satish et al., "Fast sort on CPUs and GPUs: a case for bandwidth oblivious SIMD sort" (2010), section 4.2.

use crate::cache_line::{LINE, fence, store_line};

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; LINE]);

/// The position at which each of several buckets is written next.
pub(crate) struct Lines<T> {
    /// A line for each bucket, and a second one if items may extend beyond the first.
    buffers: Vec<Line>,
    lines: usize,
    starts: Vec<*mut T>,
    next: Vec<*mut T>,
}

impl<T> Lines<T> {
    /// Buckets that are written from these positions on.
    ///
    /// # Safety
    /// Until [`Lines::finish`], nothing else accesses the items that are pushed, or drops any.
    pub(crate) unsafe fn new(starts: Vec<*mut T>) -> Self {
        let crosses = || {
            let size = size_of::<T>();
            !LINE.is_multiple_of(size) || starts.iter().any(|start| start.addr() % size != 0)
        };
        let lines = if !Self::gathers() { 0 } else { 1 + usize::from(crosses()) };
        Lines { buffers: vec![Line([0; LINE]); lines * starts.len()], lines, next: starts.clone(), starts }
    }

    /// Whether items are small enough to be collected in lines.
    const fn gathers() -> bool {
        size_of::<T>() > 0 && size_of::<T>() <= LINE
    }

    /// Writes an item after the last one of its bucket.
    ///
    /// # Safety
    /// The bucket exists and has room for the item.
    #[inline(always)]
    pub(crate) unsafe fn push(&mut self, bucket: usize, item: T) {
        // SAFETY: the bucket exists; its lines have room for an item that starts within the first.
        unsafe {
            let next = self.next.get_unchecked_mut(bucket);
            if !Self::gathers() {
                next.write_unaligned(item);
                *next = next.add(1);
                return;
            }
            let at = next.addr() % LINE;
            let buffer = self.buffers.as_mut_ptr().add(bucket * self.lines).cast::<u8>();
            buffer.add(at).cast::<T>().write_unaligned(item);
            *next = next.add(1);
            if at + size_of::<T>() >= LINE {
                // The line may start before the slice. That part of it is not used.
                let line = next.wrapping_byte_sub(at + size_of::<T>()).cast::<u8>();
                self.flush(bucket, line);
            }
        }
    }

    /// Writes the full line of a bucket, and keeps what extends beyond it.
    ///
    /// # Safety
    /// `line` is the address of the line in the buffer.
    #[inline(always)]
    unsafe fn flush(&mut self, bucket: usize, line: *mut u8) {
        // SAFETY: the line belongs to the bucket from the bucket's start on.
        unsafe {
            let buffer = self.buffers.as_mut_ptr().add(bucket * self.lines).cast::<u8>();
            let start = self.starts.get_unchecked(bucket).cast::<u8>();
            if line >= start {
                store_line(buffer, line);
            } else {
                let before = start.addr() - line.addr();
                std::ptr::copy_nonoverlapping(buffer.add(before), start, LINE - before);
            }
            if self.lines > 1 {
                std::ptr::copy_nonoverlapping(buffer.add(LINE), buffer, LINE);
            }
        }
    }

    /// Writes what is left in the buffers.
    pub(crate) fn finish(self) {
        if Self::gathers() {
            for ((next, start), buffer) in
                self.next.iter().zip(&self.starts).zip(self.buffers.chunks(self.lines))
            {
                let at = next.addr() % LINE;
                let before = at.min(next.addr() - start.addr());
                // SAFETY: the last bytes before `next`, back to the start of the bucket or of the line, belong to the
                // bucket.
                unsafe {
                    let from = buffer[0].0.as_ptr().add(at - before);
                    std::ptr::copy_nonoverlapping(from, next.byte_sub(before).cast::<u8>(), before);
                }
            }
        }
        fence();
    }
}
