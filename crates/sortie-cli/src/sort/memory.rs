//! How much memory a sort may take, and how much it takes.

use std::fs;
use std::io;

use rustix::mm::{Advice, madvise};

use super::items::Keyed;
use crate::cli::MemorySize;
use crate::order::LineOrder;

/// What the sort holds a line, beside the references and a copy of them: two words of cached symbols.
const WORDS: usize = 16;
/// Less than this is not worth a run of its own.
const LEAST: u64 = 64 << 10;
const LARGE_PAGE: usize = 2 << 20;
/// The keys of so many lines stand for those of all lines read with them.
const KEYS_SAMPLED: usize = 64;

/// The bytes that text and its sort may take together.
pub fn budget(asked: Option<MemorySize>) -> u64 {
    let bytes = match asked {
        Some(MemorySize::Bytes(bytes)) => bytes,
        Some(MemorySize::Percent(part)) => (meminfo("MemTotal:") as f64 * part as f64 / 100.0) as u64,
        // What is left serves the page cache, which reading and writing live off.
        None => meminfo("MemAvailable:") / 10 * 6,
    };
    bytes.max(LEAST)
}

/// Has what is freed go back to the system, so that memory held is memory in use. By itself glibc comes to keep
/// freed blocks of up to 32 MiB, in every thread.
pub fn keep_nothing_freed() {
    #[cfg(target_env = "gnu")]
    // SAFETY: sets a parameter of the allocator, and may be called at any time.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, 1 << 20);
    }
}

/// A line of `/proc/meminfo`, in bytes.
fn meminfo(name: &str) -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes = line.and_then(|rest| rest.trim().trim_end_matches(" kB").parse::<u64>().ok());
    // A system that does not say is taken to have 1 GiB.
    kilobytes.unwrap_or(1 << 20) << 10
}

/// An empty vector with room for `bytes`, or the error of there being none.
pub fn reserve(bytes: usize) -> io::Result<Vec<u8>> {
    let mut empty = Vec::new();
    empty.try_reserve_exact(bytes).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
    Ok(empty)
}

/// Asks for large pages under a buffer not used yet: fewer faults while it is filled, and fewer misses in the
/// address cache while its lines are visited in sorted order.
pub fn prefer_large_pages(buffer: &mut [u8]) {
    let inner = buffer.as_ptr().align_offset(LARGE_PAGE);
    if let Some(inner) = buffer.get_mut(inner..) {
        // SAFETY: the range is whole and ours; the advice changes what backs it, never what it holds.
        let _ = unsafe { madvise(inner.as_mut_ptr().cast(), inner.len(), Advice::LinuxHugepage) };
    }
}

/// Counts what sorting some text takes, apart from the text.
#[derive(Debug, Clone, Copy, Default)]
pub struct Cost {
    bytes: usize,
}

impl Cost {
    /// Adds `count` lines, of which `text` holds the first.
    pub fn add(&mut self, order: &LineOrder, count: usize, text: &[u8], terminator: u8) {
        if order.plain().is_some() {
            self.bytes += count * (2 * size_of::<&[u8]>() + WORDS);
            return;
        }
        let mut keys = Vec::new();
        let mut sampled = 0;
        for line in text.split(|&byte| byte == terminator).take(count.min(KEYS_SAMPLED)) {
            order.encode(line, &mut keys);
            sampled += 1;
        }
        self.bytes += count * (2 * size_of::<Keyed<'_>>() + WORDS) + keys.len() * count / sampled.max(1);
    }

    /// In bytes.
    pub fn bytes(self) -> u64 {
        self.bytes as u64
    }
}
