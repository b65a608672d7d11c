//! A run that is being merged, of which a part is in memory.

use std::io::{self, Read};

use super::{Content, Part};
use crate::failure::Failure;

/// A run and a buffer.
pub struct Source {
    content: Content,
    /// Bytes that were not yet read.
    left: u64,
    /// Bytes that are best read together.
    block: usize,
    buffer: Vec<u8>,
    /// Where in the buffer it begins and ends what was read and not yet taken.
    taken: usize,
    filled: usize,
}

impl Source {
    /// Opens a run. Its buffer has `share` bytes, until an item is longer.
    pub fn open(run: Part, share: usize) -> Result<Source, Failure> {
        let (left, block) = (run.bytes, run.block);
        let bytes = share.min(usize::try_from(left).unwrap_or(usize::MAX));
        let buffer = bytemuck::try_zeroed_vec(bytes).map_err(|()| Failure::Memory(bytes as u64))?;
        Ok(Source { content: run.open()?, left, block, buffer, taken: 0, filled: 0 })
    }

    /// What was read and not yet taken.
    pub fn rest(&self) -> &[u8] {
        &self.buffer[self.taken..self.filled]
    }

    /// Takes the first bytes of the rest.
    pub fn take(&mut self, bytes: usize) {
        self.taken += bytes;
    }

    /// Whether there is more to read.
    pub fn goes_on(&self) -> bool {
        self.left > 0
    }

    /// Bytes of the buffer.
    pub fn room(&self) -> usize {
        self.buffer.len()
    }

    /// Reads as much as there is room for. If that is not enough, and the run goes on, the buffer grows.
    pub fn load(&mut self, is_enough: impl Fn(&[u8]) -> bool) -> Result<(), Failure> {
        loop {
            self.read()?;
            if !self.goes_on() || is_enough(self.rest()) {
                return Ok(());
            }
            // By a quarter only: an item that needs this may be a large part of memory.
            let more = (self.buffer.len() / 4).max(self.block);
            let bytes = self.buffer.len() + more;
            self.buffer.try_reserve_exact(more).map_err(|_| Failure::Memory(bytes as u64))?;
            self.buffer.resize(bytes, 0);
        }
    }

    fn read(&mut self) -> Result<(), Failure> {
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
            // The end is looked at too.
            if self.left == 0 && reader.read(&mut [0])? > 0 {
                Err(io::ErrorKind::InvalidData.into())
            } else {
                Ok(())
            }
        };
        read().map_err(Failure::file(doing, name))
    }

    /// How many bytes to read where there is `room`: all, or whole blocks, which are not copied on the way. A buffer that is
    /// smaller than a block is filled.
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
