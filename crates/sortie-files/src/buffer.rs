//! The memory of a runner for items of one width.

use std::time::Instant;

use crate::memory::prefer_large_pages;
use crate::{Error, Ledger};

/// Fills a buffer with whole items, and returns the number of bytes filled. It is smaller only at the end of the input.
pub type Fill<'a> = &'a mut (dyn FnMut(&mut [u8]) -> Result<usize, Error> + Send);

/// Items of one width, in memory that is aligned for any number type.
#[derive(Default)]
pub struct Buffer {
    words: Vec<u128>,
    filled: usize,
}

impl Buffer {
    /// Room for `bytes` bytes. The old content is lost.
    fn room(&mut self, bytes: usize) -> Result<&mut [u8], Error> {
        if size_of_val(&self.words[..]) < bytes {
            self.words = Vec::new();
            // Zeroed pages take no memory until they are touched.
            self.words = bytemuck::try_zeroed_vec(bytes.div_ceil(size_of::<u128>()))
                .map_err(|()| Error::Memory(bytes as u64))?;
            prefer_large_pages(&mut self.words);
        }
        Ok(&mut bytemuck::cast_slice_mut(&mut self.words)[..bytes])
    }

    /// Lets `fill` write items into `bytes` bytes. `fill` returns the number of bytes that it wrote.
    pub fn fill_by(
        &mut self,
        bytes: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<usize, Error>,
    ) -> Result<(), Error> {
        self.filled = fill(self.room(bytes)?)?;
        Ok(())
    }

    /// Lets `fill` write `room` bytes. Returns true if it writes fewer, which means the end of the input.
    pub fn fill(&mut self, room: usize, fill: Fill<'_>, ledger: &Ledger) -> Result<bool, Error> {
        let start = Instant::now();
        self.fill_by(room, fill)?;
        ledger.note("read", start.elapsed(), self.filled, 0);
        Ok(self.filled < room)
    }

    pub fn filled(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.filled]
    }

    pub fn filled_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.filled]
    }
}
