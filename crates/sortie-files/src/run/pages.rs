//! Reads a sorted part at any position. A merge needs that for lines that are too long for memory.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use crate::{Damaged, Error};

/// A part in a file.
pub struct Pages {
    pub(super) file: File,
    pub(super) bytes: u64,
    /// The bytes of a block, and the checksum of each block. A file of the user has none, and blocks of one byte.
    pub(super) block: usize,
    pub(super) sums: Option<Vec<u32>>,
    /// The action and the path for [`Error::file`] if a read fails.
    pub(super) doing: &'static str,
    pub(super) name: PathBuf,
}

impl Pages {
    /// The bytes of the part.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The bytes of a block.
    pub fn block(&self) -> usize {
        self.block
    }

    /// Reads the bytes from `at` on into `buffer`, which has room for at least one block. Returns where they are in it: they go on
    /// to the end of the part, or to less than a block before the end of the buffer.
    pub fn read(&self, at: u64, buffer: &mut [u8]) -> Result<Range<usize>, Error> {
        let (first, skipped) = (at / self.block as u64, (at % self.block as u64) as usize);
        let start = at - skipped as u64;
        let room = buffer.len() - buffer.len() % self.block;
        let filled = (self.bytes.saturating_sub(start)).min(room as u64) as usize;
        let filled = &mut buffer[..filled];
        let read = self.file.read_exact_at(filled, start).and_then(|()| match &self.sums {
            Some(sums) => {
                let mut blocks = filled.chunks(self.block).zip(&sums[first as usize..]);
                let is_intact = blocks.all(|(block, &sum)| crc32fast::hash(block) == sum);
                if is_intact {
                    Ok(())
                } else {
                    Err(Damaged("the data read is not the data that was written").into())
                }
            }
            None => Ok(()),
        });
        read.map_err(Error::file(self.doing, &self.name))?;
        Ok(skipped.min(filled.len())..filled.len())
    }
}
