//! Buckets that no block sorts, and how they are sorted then: as segments.

use sortie_device::{Buffer, Stream, View};

use crate::Error;
use crate::gpu::alloc::scratch;
use crate::gpu::kernels::array::LeftList;

/// `LEAST` and `NO_PLACE` of left.cuh, the latter byte by byte.
const LEAST: usize = 1024;
const NO_PLACE: u8 = 0x80;

/// The list of left.cuh.
pub(crate) struct Left {
    /// Its count, then offsets, of so many words.
    scratch: Buffer<u32>,
    offsets_words: usize,
}

impl Left {
    /// Of so many keys, for what is enqueued on this stream.
    pub fn new(stream: &Stream, n: usize) -> Result<Left, Error> {
        Ok(Left { scratch: scratch(stream, Left::words(n))?, offsets_words: Left::offsets_words(n) })
    }

    fn offsets_words(n: usize) -> usize {
        6 * (n / LEAST + 1)
    }

    /// Segments between the offsets of what is left, at most.
    pub fn most(n: usize) -> usize {
        Left::offsets_words(n) / 2 - 1
    }

    /// Words of scratch.
    pub fn words(n: usize) -> usize {
        4 + Left::offsets_words(n)
    }

    /// Makes the list empty.
    pub fn clear(&self, stream: &Stream) -> Result<(), Error> {
        stream.fill(self.scratch.range(0..4), 0)?;
        Ok(stream.fill(self.offsets().cast::<u32>(), NO_PLACE)?)
    }

    pub fn list(&self) -> LeftList {
        LeftList { offsets: self.offsets().address(), count: self.scratch.address() }
    }

    /// Offsets of what is left, and of what is no segment.
    pub fn offsets(&self) -> View<'_, u64> {
        self.scratch.range(4..4 + self.offsets_words).cast()
    }
}
