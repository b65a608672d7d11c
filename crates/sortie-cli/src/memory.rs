//! How much memory a sort may take, and how much it takes.

use std::fs::File;
use std::io::Read;

use rustix::mm::{Advice, madvise};
use rustix::param::page_size;
use rustix::process::{Resource, getrlimit};

use crate::cli::MemorySize;
use crate::failure::Failure;

/// Less than this is not worth a run of its own.
const LEAST: u64 = 64 << 10;
/// An input of this size is sorted without a look at how much memory there is, which takes as long as a small sort: lines
/// without a byte take some 100 times their size.
const SMALL: u64 = 1 << 20;
const ENOUGH_FOR_SMALL: u64 = 256 << 20;
/// What the program takes by itself at least: its own pages, stacks, the windows of its output, and what the allocator keeps.
const OWN: u64 = 10 << 20;
/// Beyond that, buffers that grow with the limit take one part in this many of it.
const BUFFERS: u64 = 12;
/// The least and the most bytes of a window of output, where there is memory for it.
const WINDOW: (u64, u64) = (256 << 10, 4 << 20);
/// So much every machine has, without a look at it.
const SURELY_THERE: u64 = 1 << 30;
const LARGE_PAGE: usize = 2 << 20;
/// Windows and blocks of output, and the stacks of the threads that read and write.
const BESIDE: u64 = 24 << 20;
/// The main thread does not recurse, and sorts no more than a small input.
const GROWN_STACK: usize = 512 << 10;
/// What Rust gives a thread, and what the system puts before it.
const STACK: u64 = (2 << 20) + (64 << 10);

/// Bytes of memory that the data and its sort may take together. `asked` is `-S`; `input` is the size of the input in bytes,
/// if it is known; `threads` are counted only where `ulimit` limits memory.
pub fn budget(asked: Option<MemorySize>, input: Option<u64>, threads: impl FnOnce() -> usize) -> u64 {
    let bytes = match (asked, input) {
        (Some(asked), _) => within(bytes(asked)),
        (None, Some(input)) if input <= SMALL => ENOUGH_FOR_SMALL,
        // The rest serves the page cache, which reading and writing depend on.
        _ => meminfo("MemAvailable:") / 10 * 6,
    };
    match addressable() {
        // A buffer may take twice its size while it grows.
        Some(left) => bytes.min(left.saturating_sub(BESIDE + threads() as u64 * STACK) / 2),
        None => bytes,
    }
    .max(LEAST)
}

/// The part of a limit that remains for the data and its sort. The rest is for the program itself, whose buffers grow with the
/// limit. A small limit is divided, because the program cannot do with nothing.
fn within(limit: u64) -> u64 {
    limit - (OWN + limit / BUFFERS).min(limit / 8 * 5)
}

/// The smallest limit of which [`within`] leaves at least `bytes`, up to rounding.
pub fn leaving(bytes: u64) -> u64 {
    let of_a_large_limit = (bytes.saturating_add(OWN) / (BUFFERS - 1)).saturating_mul(BUFFERS);
    let of_a_small_limit = (bytes / 3).saturating_mul(8);
    of_a_large_limit.min(of_a_small_limit) + 16
}

/// Bytes of a window of output; one is gathered while another is written. `input` is the size of the input in bytes, if it is
/// known. A small input gets a small window, because the first access to a page takes as long as sorting what fits on it.
pub fn window(budget: u64, input: Option<u64>) -> usize {
    let most = input.map_or(WINDOW.1, |input| (input / 16).clamp(WINDOW.0, WINDOW.1));
    (budget / 16).clamp(LEAST, most) as usize
}

/// What -S means on this machine: at most all that it has. More would be asked for in vain, and wrap in a product.
pub fn bytes(size: MemorySize) -> u64 {
    let all = || meminfo("MemTotal:");
    let bytes = match size {
        MemorySize::Bytes(bytes) if bytes <= SURELY_THERE => bytes,
        MemorySize::Bytes(bytes) => bytes.min(all()),
        MemorySize::Percent(part) => (all() as f64 * part.min(100) as f64 / 100.0) as u64,
    };
    bytes.max(LEAST)
}

/// What `ulimit -v` and `-d` leave of the memory that the process may ask for, where they limit it.
fn addressable() -> Option<u64> {
    let left = |resource, held| {
        getrlimit(resource)
            .current
            .map(|limit| limit.saturating_sub(kilobytes("/proc/self/status", held) << 10))
    };
    let limits = [left(Resource::As, "VmSize:"), left(Resource::Data, "VmData:")];
    limits.into_iter().flatten().min()
}

/// Has the stack of this thread grow now where `ulimit -v` limits memory. Later there may be no room for it, which the system
/// tells by a signal that ends the program without a word.
pub fn grow_stack() {
    let may_grow = getrlimit(Resource::Stack).current.is_none_or(|limit| limit >= 2 * GROWN_STACK as u64);
    if may_grow && getrlimit(Resource::As).current.is_some() {
        touch_stack();
    }
}

/// By itself, for a function touches all of its stack as soon as it is called.
#[inline(never)]
fn touch_stack() {
    std::hint::black_box([1u8; GROWN_STACK]);
}

/// Has the allocator hold no more than it must, where the memory is limited: by what was asked for, or by `ulimit`.
pub fn hold_back(asked: Option<MemorySize>) {
    let limited = addressable().is_some();
    if asked.is_some() || limited {
        keep_nothing_freed();
    }
    if limited {
        share_one_heap();
    }
}

/// Has all threads allocate from one place. By itself glibc reserves 64 MiB of addresses for each.
fn share_one_heap() {
    #[cfg(target_env = "gnu")]
    // SAFETY: sets a parameter of the allocator, and may be called at any time.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Has what is freed go back to the system, so that memory held is memory in use. By itself glibc comes to keep
/// freed blocks of up to 32 MiB, in every thread.
fn keep_nothing_freed() {
    #[cfg(target_env = "gnu")]
    // SAFETY: sets a parameter of the allocator, and may be called at any time.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 256 << 10);
    }
}

/// A line of `/proc/meminfo`, in bytes.
fn meminfo(name: &str) -> u64 {
    kilobytes("/proc/meminfo", name) << 10
}

/// A line of a file of the system's.
fn kilobytes(file: &str, name: &str) -> u64 {
    // Room for all of it, which has no size to tell: std would read it a few bytes at a time.
    let mut text = String::with_capacity(4 << 10);
    // What cannot be read tells nothing.
    let _ = File::open(file).and_then(|file| file.take(u64::MAX).read_to_string(&mut text));
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes = line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse().ok());
    // A system that does not say is taken to have 1 GiB.
    kilobytes.unwrap_or(1 << 20)
}

/// An empty vector with room for `count` elements, or the error of there being none.
pub fn room<T>(count: usize) -> Result<Vec<T>, Failure> {
    let mut empty = Vec::new();
    let reserved = empty.try_reserve_exact(count);
    reserved.map_err(|_| Failure::Memory((count as u64).saturating_mul(size_of::<T>() as u64)))?;
    Ok(empty)
}

/// So many of one element.
pub fn filled<T: Clone>(count: usize, element: T) -> Result<Vec<T>, Failure> {
    let mut all = room(count)?;
    all.resize(count, element);
    Ok(all)
}

/// Appends `more`, which may be a line of any size.
pub fn append(text: &mut Vec<u8>, more: &[u8]) -> Result<(), Failure> {
    text.try_reserve(more.len()).map_err(|_| Failure::Memory(more.len() as u64))?;
    text.extend_from_slice(more);
    Ok(())
}

/// Appends a line, which may be of any size, and what ends it.
pub fn append_line(text: &mut Vec<u8>, line: &[u8], terminator: u8) -> Result<(), Failure> {
    // For both: a push cannot say that there is no room.
    let bytes = line.len() + 1;
    text.try_reserve(bytes).map_err(|_| Failure::Memory((text.len() + bytes) as u64))?;
    text.extend_from_slice(line);
    text.push(terminator);
    Ok(())
}

/// Asks for large pages under a buffer not used yet: fewer faults while it is filled, and fewer misses in the
/// address cache while its lines are visited in sorted order.
///
/// The allocator begins a large buffer a few bytes behind the start of a page, which then counts as the buffer's.
pub fn prefer_large_pages<T>(buffer: &mut [T]) {
    let bytes = size_of_val(buffer);
    if bytes >= LARGE_PAGE {
        let before = buffer.as_ptr().addr() % page_size();
        let start = buffer.as_mut_ptr().wrapping_byte_sub(before);
        // SAFETY: every page of the range holds some of the buffer. The advice changes what backs pages, never what they hold.
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
