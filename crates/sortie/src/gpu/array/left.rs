//! Buckets that no block can sort, and how they are then sorted: as segments.

use sortie_device::{Buffer, Stream, View};

use crate::Error;
use crate::gpu::alloc::scratch;
use crate::gpu::kernels::array::LeftList;

/// `LEAST` and `SEPARATOR` of left.cuh; the latter as one byte, which is repeated.
const LEAST: usize = 1024;
const SEPARATOR: u8 = 0x80;

/// The list of left.cuh.
pub(crate) struct Left {
    /// The count, then this many words of offsets.
    scratch: Buffer<u32>,
    offsets_words: usize,
}

impl Left {
    /// Allocates the list for this many keys, for work that is enqueued on this stream.
    pub fn new(stream: &Stream, n: usize) -> Result<Left, Error> {
        Ok(Left { scratch: scratch(stream, Left::words(n))?, offsets_words: Left::offsets_words(n) })
    }

    fn offsets_words(n: usize) -> usize {
        6 * (n / LEAST + 1)
    }

    /// The most segments that there can be between the offsets of what is left.
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
        Ok(stream.fill(self.offsets().cast::<u32>(), SEPARATOR)?)
    }

    pub fn list(&self) -> LeftList {
        LeftList { offsets: self.offsets().address(), count: self.scratch.address() }
    }

    /// The offsets of what is left, and of the gaps, which are no segments.
    pub fn offsets(&self) -> View<'_, u64> {
        self.scratch.range(4..4 + self.offsets_words).cast()
    }
}
