//! Strings in device memory in the order of their places.

use sortie_device::{Kernel, Launch, Stream, View};

use super::kernels::{File, Instance};
use super::strings::{Addresses, BLOCK, Strings, TILE, WARPS_SHARED, check_count, launch};
use super::{Gpu, Pending};
use crate::Error;
use crate::error::same_length;

/// Bytes that a thread writes at a time, `COPIED` of gather_strings.cu.
const COPIED: usize = 16;

impl Gpu {
    /// Enqueues the strings in the order of these places, and does not wait: offsets from 0 on, and bytes.
    ///
    /// Cost: of each string a read and a write; a thread writes 16 bytes, whose string it searches for.
    /// Scratch: 8 bytes for 2048 strings.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] where there are not as many strings to be written as places; [`Error::Unsupported`] for
    /// offsets of two widths, or more than 2^32 - 2^16 places; [`Error::Memory`] where the device has too little free for
    /// the scratch; [`Error::Device`] where a kernel could not be had.
    ///
    /// # Safety
    /// Places are less than the number of strings; there is room for all bytes of those, and offsets are wide enough.
    /// Nothing else uses either strings or the places until that is done. The stream is of this engine's device.
    pub unsafe fn gather_strings(
        &self,
        stream: &Stream,
        strings: Strings<'_>,
        places: View<'_, u32>,
        to: Strings<'_>,
    ) -> Result<Pending<'_>, Error> {
        same_length("strings to be written", places.len(), to.count())?;
        if strings.offset_bytes() != to.offset_bytes() {
            return Err(Error::Unsupported("offsets of strings have one width, before and after".into()));
        }
        check_count(places.len())?;
        let kernel = |kernel| Instance {
            kernel,
            file: File::GatherStrings,
            defines: vec![("SORTIE_OFFSET_BYTES", strings.offset_bytes().to_string())],
        };
        let names = ["sum_lengths", "sum_tiles", "write_offsets", "copy_bytes"];
        let kernels =
            <[Kernel; 4]>::try_from(self.kernels(&names.map(kernel))?).expect("as many as instances");
        let [sum_lengths, sum_tiles, write_offsets, copy_bytes] = kernels;
        let tiles = places.len().div_ceil(TILE);
        let scratch = self.scratch(2 * tiles)?;
        let sums = scratch.range(0..2 * tiles);
        let by_tile = launch(self, tiles, 2 * WARPS_SHARED);
        let one = Launch { blocks: 1, ..by_tile };
        let copying = launch(self, to.bytes.len().div_ceil(COPIED * BLOCK as usize), 0);
        let (from, count) = (strings.addresses(), places.len() as u32);
        let Addresses { bytes, offsets, .. } = to.addresses();
        // SAFETY: these are the kernels' arguments; as the caller states, there is room for all that they write.
        unsafe {
            if count == 0 {
                stream.fill(to.offset_words(), 0)?;
            } else {
                sum_lengths.launch(stream, by_tile, (from, places, count, sums))?;
                sum_tiles.launch(stream, one, (sums, tiles as u32))?;
                write_offsets.launch(stream, by_tile, (from, places, count, sums, offsets))?;
                copy_bytes.launch(stream, copying, (from, places, count, offsets, bytes))?;
            }
        }
        self.pending(stream, Some(scratch))
    }
}
