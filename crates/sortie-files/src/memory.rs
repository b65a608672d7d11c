//! How much memory a sort may use.

use rustix::mm::{Advice, madvise};
use rustix::param::page_size;

use crate::error::Error;
use crate::limits::{self, addressable};

/// A memory budget is never smaller than this: a smaller run is not worth writing.
pub const LEAST: u64 = 64 << 10;
/// An input of at most this size is sorted without asking how much memory the machine has, because asking takes as
/// long as a small sort. [`ENOUGH_FOR_SMALL`] suffices for it: empty lines need about 100 times their size.
const SMALL: u64 = 1 << 20;
const ENOUGH_FOR_SMALL: u64 = 256 << 20;
/// The least memory that the program itself uses: its code pages, its stacks, the output windows, and what the
/// allocator keeps.
const OWN: u64 = 10 << 20;
/// In addition, buffers that grow with the limit take one part in this many of it.
const BUFFERS: u64 = 12;
/// The smallest and the largest output window in bytes, if memory allows.
const WINDOW: (u64, u64) = (256 << 10, 4 << 20);
const LARGE_PAGE: usize = 2 << 20;
/// Output windows and blocks, and the stacks of the threads that read and write.
const BESIDE: u64 = 24 << 20;
/// The stack that Rust gives a thread, and the guard pages that the system adds.
const STACK: u64 = (2 << 20) + (64 << 10);

/// The bytes of memory that the data and its sort may take together. `limit` is what the whole process may take, if the caller
/// limits it. `input` is the size of the input in bytes, if it is known. `threads` is called only if `ulimit` limits memory.
pub fn budget(limit: Option<u64>, input: Option<u64>, threads: impl FnOnce() -> usize) -> u64 {
    let bytes = match (limit, input) {
        (Some(limit), _) => within(limit.max(LEAST)),
        (None, Some(input)) if input <= SMALL => ENOUGH_FOR_SMALL,
        // The rest is left to the page cache, which reading and writing depend on.
        _ => limits::available() / 10 * 6,
    };
    match addressable() {
        // A buffer may temporarily take twice its size while it grows.
        Some(left) => bytes.min(left.saturating_sub(BESIDE + threads() as u64 * STACK) / 2),
        None => bytes,
    }
    .max(LEAST)
}

/// The part of a limit that remains for the data and its sort. The rest is for the program itself, whose buffers grow
/// with the limit. At least 3/8 of a limit remains for the data, however small the limit is.
fn within(limit: u64) -> u64 {
    limit - (OWN + limit / BUFFERS).min(limit / 8 * 5)
}

/// The smallest limit of which at least `bytes` remain for the data and its sort, up to rounding.
pub fn leaving(bytes: u64) -> u64 {
    let of_a_large_limit = (bytes.saturating_add(OWN) / (BUFFERS - 1)).saturating_mul(BUFFERS);
    let of_a_small_limit = (bytes / 3).saturating_mul(8);
    of_a_large_limit.min(of_a_small_limit) + 16
}

/// The size in bytes of an output window; the program fills one while it writes another. `input` is the size of the
/// input in bytes, if it is known. A small input gets a small window, because the first access to a page takes as
/// long as sorting the data that fits in it.
pub fn window(budget: u64, input: Option<u64>) -> usize {
    let most = input.map_or(WINDOW.1, |input| (input / 16).clamp(WINDOW.0, WINDOW.1));
    (budget / 16).clamp(LEAST, most) as usize
}

/// An empty vector with room for `count` elements, or an error if the memory cannot be allocated.
pub fn room<T>(count: usize) -> Result<Vec<T>, Error> {
    let mut empty = Vec::new();
    let reserved = empty.try_reserve_exact(count);
    reserved.map_err(|_| Error::Memory((count as u64).saturating_mul(size_of::<T>() as u64)))?;
    Ok(empty)
}

/// A vector of `count` copies of `element`.
pub fn filled<T: Clone>(count: usize, element: T) -> Result<Vec<T>, Error> {
    let mut all = room(count)?;
    all.resize(count, element);
    Ok(all)
}

/// Appends `more`, which may be of any size, or returns an error if there is no memory for it.
pub fn append(text: &mut Vec<u8>, more: &[u8]) -> Result<(), Error> {
    text.try_reserve(more.len()).map_err(|_| Error::Memory(more.len() as u64))?;
    text.extend_from_slice(more);
    Ok(())
}

/// Appends a line, which may be of any size, and its terminator.
pub fn append_line(text: &mut Vec<u8>, line: &[u8], terminator: u8) -> Result<(), Error> {
    // Reserves room for both, because `push` cannot report that memory is short.
    let bytes = line.len() + 1;
    text.try_reserve(bytes).map_err(|_| Error::Memory((text.len() + bytes) as u64))?;
    text.extend_from_slice(line);
    text.push(terminator);
    Ok(())
}

/// Asks for large pages for a buffer that is not used yet. They cause fewer page faults while the buffer is
/// filled, and fewer TLB misses while its lines are visited in sorted order.
///
/// The allocator places a large buffer a few bytes after the start of a page. The advice covers that page too.
pub fn prefer_large_pages<T>(buffer: &mut [T]) {
    let bytes = size_of_val(buffer);
    if bytes >= LARGE_PAGE {
        let before = buffer.as_ptr().addr() % page_size();
        let start = buffer.as_mut_ptr().wrapping_byte_sub(before);
        // SAFETY: every page of the range holds a part of the buffer. The advice changes how pages are backed, not
        // their content.
        let _ = unsafe { madvise(start.cast(), before + bytes, Advice::LinuxHugepage) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_leaves_what_it_was_asked_to_leave() {
        for bytes in [0, 1, 100, 1 << 20, 5 << 20, 17 << 20, (1 << 30) - 1, 1 << 40] {
            let left = within(leaving(bytes));
            assert!((bytes..bytes + 32).contains(&left), "{left} of {bytes}");
        }
    }
}
