//! Memory of a runner.

use std::time::Instant;

use super::items::Fill;
use crate::failure::Failure;
use crate::memory;
use crate::stats::Ledger;

/// Items of one width, at an address that any number may have.
#[derive(Default)]
pub struct Buffer {
    words: Vec<u128>,
    filled: usize,
}

impl Buffer {
    /// Room for so many bytes. What was in it is lost.
    fn room(&mut self, bytes: usize) -> Result<&mut [u8], Failure> {
        if size_of_val(&self.words[..]) < bytes {
            self.words = Vec::new();
            // Zeroed pages that were not touched yet take no memory.
            self.words = bytemuck::try_zeroed_vec(bytes.div_ceil(size_of::<u128>()))
                .map_err(|()| Failure::Memory(bytes as u64))?;
            memory::prefer_large_pages(&mut self.words);
        }
        Ok(&mut bytemuck::cast_slice_mut(&mut self.words)[..bytes])
    }

    /// Has `fill` write items into so many bytes, and say how many it wrote.
    pub fn fill_by(
        &mut self,
        bytes: usize,
        fill: impl FnOnce(&mut [u8]) -> Result<usize, Failure>,
    ) -> Result<(), Failure> {
        self.filled = fill(self.room(bytes)?)?;
        Ok(())
    }

    /// Has `fill` write so many bytes; true where it writes fewer.
    pub fn fill(&mut self, room: usize, fill: Fill<'_>, ledger: &Ledger) -> Result<bool, Failure> {
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
