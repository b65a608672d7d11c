//! Reads a run during a merge. A part of the run is in memory.

use std::io::{self, Read};

use super::{Content, Part};
use crate::Error;

/// A run and a buffer.
pub struct Source {
    content: Content,
    /// The number of bytes that were not read yet.
    left: u64,
    /// The number of bytes that are best read together.
    block: usize,
    buffer: Vec<u8>,
    /// The bytes `buffer[taken..filled]` were read and are not taken yet.
    taken: usize,
    filled: usize,
}

impl Source {
    /// Opens a run. Its buffer has at most `share` bytes, until a longer item needs more.
    pub fn open(run: Part, share: usize) -> Result<Source, Error> {
        let (left, block) = (run.bytes, run.block);
        let bytes = share.min(usize::try_from(left).unwrap_or(usize::MAX));
        let buffer = bytemuck::try_zeroed_vec(bytes).map_err(|()| Error::Memory(bytes as u64))?;
        Ok(Source { content: run.open()?, left, block, buffer, taken: 0, filled: 0 })
    }

    /// The bytes that were read and are not taken yet.
    pub fn rest(&self) -> &[u8] {
        &self.buffer[self.taken..self.filled]
    }

    /// Takes the first `bytes` bytes of [`Source::rest`].
    pub fn take(&mut self, bytes: usize) {
        self.taken += bytes;
    }

    /// Whether there is more to read.
    pub fn goes_on(&self) -> bool {
        self.left > 0
    }

    /// The size of the buffer in bytes.
    pub fn room(&self) -> usize {
        self.buffer.len()
    }

    /// Fills the buffer. Enlarges it until `is_enough` accepts its content or the run ends.
    pub fn load(&mut self, is_enough: impl Fn(&[u8]) -> bool) -> Result<(), Error> {
        loop {
            self.read()?;
            if !self.goes_on() || is_enough(self.rest()) {
                return Ok(());
            }
            // Grows by a quarter only, because an item that needs this may already take a large part of memory.
            let more = (self.buffer.len() / 4).max(self.block);
            let bytes = self.buffer.len() + more;
            self.buffer.try_reserve_exact(more).map_err(|_| Error::Memory(bytes as u64))?;
            self.buffer.resize(bytes, 0);
        }
    }

    fn read(&mut self) -> Result<(), Error> {
        let held = self.filled - self.taken;
        let more = self.readable(self.buffer.len() - held);
        if more == 0 {
            return Ok(());
        }
        self.buffer.copy_within(self.taken..self.filled, 0);
        (self.taken, self.filled) = (0, held + more);
        self.left -= more as u64;
        let Content { reader, doing, name } = &mut self.content;
        let mut read = || {
            reader.read_exact(&mut self.buffer[held..held + more])?;
            // Also checks that the run ends here.
            if self.left == 0 && reader.read(&mut [0])? > 0 {
                Err(io::ErrorKind::InvalidData.into())
            } else {
                Ok(())
            }
        };
        read().map_err(Error::file(doing, name))
    }

    /// The number of bytes to read into `room` free bytes: all that are left, or else whole blocks, because these are read
    /// without a copy. A buffer smaller than a block is filled.
    fn readable(&self, room: usize) -> usize {
        if room as u64 >= self.left {
            self.left as usize
        } else if self.buffer.len() < self.block {
            room
        } else {
            room - room % self.block
        }
    }
}
