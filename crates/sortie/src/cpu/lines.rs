//! Writing to many places at once: a cache line for each bucket gathers in cache and goes to memory whole.
//!
//! Written straight to its place, every item would first fetch the line that it lands in, and wait for it. A whole
//! line needs no fetch and, on x86-64, passes the caches by.
//!
//! Source: Satish et al., "Fast sort on CPUs and GPUs: a case for bandwidth oblivious SIMD sort" (2010), section 4.2.

use crate::cache_line::{LINE, fence, store_line};

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; LINE]);

/// Where each of several buckets is written next.
pub(crate) struct Lines<T> {
    /// For each bucket a line, and a second one where items may cross the end of the first.
    buffers: Vec<Line>,
    lines: usize,
    starts: Vec<*mut T>,
    next: Vec<*mut T>,
}

impl<T> Lines<T> {
    /// Buckets that are written from these places on.
    ///
    /// # Safety
    /// Until [`Lines::finish`], nothing else touches the items that are pushed, nor drops any.
    pub(crate) unsafe fn new(starts: Vec<*mut T>) -> Self {
        let crosses = || {
            let size = size_of::<T>();
            !LINE.is_multiple_of(size) || starts.iter().any(|start| start.addr() % size != 0)
        };
        let lines = if !Self::gathers() { 0 } else { 1 + usize::from(crosses()) };
        Lines { buffers: vec![Line([0; LINE]); lines * starts.len()], lines, next: starts.clone(), starts }
    }

    /// Whether items are small enough for lines.
    const fn gathers() -> bool {
        size_of::<T>() > 0 && size_of::<T>() <= LINE
    }

    /// Writes an item behind the last of its bucket.
    ///
    /// # Safety
    /// There is such a bucket, and room for it.
    #[inline(always)]
    pub(crate) unsafe fn push(&mut self, bucket: usize, item: T) {
        // SAFETY: the bucket is there; its lines have room for an item that starts within the first.
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
                // The line may start before the slice, where nothing of it is used.
                let line = next.wrapping_byte_sub(at + size_of::<T>()).cast::<u8>();
                self.flush(bucket, line);
            }
        }
    }

    /// Writes the full line of a bucket, and keeps what lies beyond it.
    ///
    /// # Safety
    /// The line is the one that the buffer holds.
    #[inline(always)]
    unsafe fn flush(&mut self, bucket: usize, line: *mut u8) {
        // SAFETY: from the bucket's start on, the line belongs to the bucket.
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
                // SAFETY: the last bytes before `next` belong to the bucket, back to its start or the line's.
                unsafe {
                    let from = buffer[0].0.as_ptr().add(at - before);
                    std::ptr::copy_nonoverlapping(from, next.byte_sub(before).cast::<u8>(), before);
                }
            }
        }
        fence();
    }
}
