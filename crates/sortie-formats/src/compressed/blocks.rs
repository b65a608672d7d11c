//! Decompresses blocks of BGZF, many together by all threads of the caller's pool. (SAM/BAM format specification, section 4.1.)

use std::io::{self, BufRead, ErrorKind};
use std::sync::atomic::Ordering::Relaxed;

use libdeflater::{DecompressionError, Decompressor};
use rayon::prelude::*;

use super::Way;
use super::tap::Tap;

/// The most bytes of a block, and of its text.
const LARGEST: usize = 64 << 10;
/// The most blocks that are read together. The first one is read alone, and then twice as many each time, so that little is read for the
/// beginning of a file.
const TOGETHER: usize = 64;
/// The bytes before the extra fields, whose length is in the last two; those before and with the size of the block; and those after
/// its data.
const FIXED: usize = 12;
const SIZE: usize = 16;
const HEADER: usize = 18;
const TRAILER: usize = 8;

/// Blocks that follow each other.
pub struct Blocks {
    tap: Tap,
    /// The text of the blocks that were read last, and how much of it was taken.
    text: Vec<u8>,
    taken: usize,
    /// The number of blocks to read next.
    together: usize,
}

impl Blocks {
    /// Those that follow in `tap`, of which the first begins at once.
    pub fn new(tap: Tap) -> Blocks {
        Blocks { tap, text: Vec::new(), taken: 0, together: 1 }
    }

    /// What follows the blocks.
    pub fn into_tap(self) -> Tap {
        self.tap
    }

    /// Fills `into` as far as there is text. Returns 0 after the last block.
    pub fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.text.len() {
            if !self.load()? {
                return Ok(0);
            }
        }
        let now = into.len().min(self.text.len() - self.taken);
        into[..now].copy_from_slice(&self.text[self.taken..][..now]);
        self.taken += now;
        Ok(now)
    }

    /// Reads more blocks. Returns whether there are any.
    fn load(&mut self) -> io::Result<bool> {
        let mut stored = Vec::new();
        while stored.len() < self.together {
            match self.next()? {
                Some(block) => stored.push(block),
                None => break,
            }
        }
        self.together = (2 * self.together).min(TOGETHER);
        self.taken = 0;
        let sizes = stored.iter().map(|block| text_size(block)).collect::<io::Result<Vec<_>>>()?;
        self.text.clear();
        self.text.try_reserve(sizes.iter().sum()).map_err(|_| ErrorKind::OutOfMemory)?;
        self.text.resize(sizes.iter().sum(), 0);
        let mut rest = &mut self.text[..];
        let texts: Vec<_> =
            sizes.iter().map(|&size| rest.split_off_mut(..size).expect("there is room for all")).collect();
        let each = stored.iter().zip(texts).collect::<Vec<_>>();
        let has_more = !each.is_empty();
        if rayon::current_thread_index().is_some() {
            each.into_par_iter()
                .map_init(Decompressor::new, |deflate, (block, text)| inflate(deflate, block, text))
                .collect::<io::Result<()>>()?;
        } else {
            // A thread outside of a pool would start one.
            let mut deflate = Decompressor::new();
            each.into_iter().try_for_each(|(block, text)| inflate(&mut deflate, block, text))?;
        }
        Ok(has_more)
    }

    /// Takes the next block, if another one follows.
    fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let head = self.tap.look_ahead(HEADER)?;
        if !begin(head) {
            return Ok(None);
        }
        let size = usize::from(u16::from_le_bytes([head[SIZE], head[SIZE + 1]])) + 1;
        let found = self.tap.look_ahead(size)?;
        let found = found[..size.min(found.len())].to_vec();
        self.tap.consume(found.len());
        if found.len() < size {
            self.tap.reached.is_cut.store(true, Relaxed);
            return Err(ErrorKind::UnexpectedEof.into());
        }
        Ok(Some(found))
    }
}

fn wrong(why: &'static str) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why)
}

/// The number of bytes of the text of a block, as it says at its end.
fn text_size(block: &[u8]) -> io::Result<usize> {
    let size = block.last_chunk().map(|size| u32::from_le_bytes(*size) as usize);
    size.filter(|&size| size <= LARGEST).ok_or_else(|| wrong("a block has more than 64 KiB"))
}

/// Decompresses a block to its text.
fn inflate(deflate: &mut Decompressor, block: &[u8], text: &mut [u8]) -> io::Result<()> {
    let start = FIXED + usize::from(u16::from_le_bytes([block[FIXED - 2], block[FIXED - 1]]));
    let data = block.len().checked_sub(TRAILER).and_then(|end| block.get(start..end));
    let (Some(data), Some(trailer)) = (data, block.last_chunk::<TRAILER>()) else {
        return Err(wrong("a block is shorter than its header"));
    };
    match deflate.deflate_decompress(data, text) {
        Ok(size) if size == text.len() => (),
        Ok(_) | Err(DecompressionError::InsufficientSpace) => {
            return Err(wrong("a block does not have the size that it says"));
        }
        Err(DecompressionError::BadData) => return Err(wrong("a block is damaged")),
    }
    if libdeflater::crc32(text).to_le_bytes() != trailer[..4] {
        return Err(wrong("the checksum of a block is wrong"));
    }
    Ok(())
}

/// Whether blocks of BGZF follow a file that begins with `head`.
pub fn begin(head: &[u8]) -> bool {
    head.len() >= HEADER && Way::of(head).map(|way| way.or_bgzf(head)) == Some(Way::Bgzf)
}
