//! Gathers strings in device memory in the order of their indices.

use sortie_device::{Kernel, Launch, Stream, View};

use super::argsort::{check_count, launch};
use super::stored::Strings;
use crate::Error;
use crate::error::same_length;
use crate::gpu::alloc::scratch;
use crate::gpu::kernels::strings::{BLOCK, LengthSums, StringArrays, TILE};
use crate::gpu::kernels::{File, Instance};
use crate::gpu::{Gpu, Pending};

/// Bytes that a thread writes at a time, `COPIED` of gather_strings.cu.
const COPIED: usize = 16;

impl Gpu {
    /// Enqueues writing the strings in the order of these indices, as offsets from 0 on and bytes, and does not wait.
    ///
    /// Cost: one read and one write of each string. A thread writes 16 bytes, for which it searches the string.
    /// Scratch: 8 bytes for each 2048 strings.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if the number of strings to be written is not that of the indices;
    /// [`Error::Unsupported`] for offsets of two different widths, or more than 2^32 - 2^16 indices; [`Error::Memory`]
    /// if the device has too little free for the scratch; [`Error::Device`] if a kernel is not available.
    ///
    /// # Safety
    /// Indices are less than the number of strings; there is room for the bytes of all gathered strings, and the
    /// offsets are wide enough. Nothing else uses the strings, old or new, or the indices until that is done. The
    /// stream belongs to this engine's device.
    pub unsafe fn gather_strings(
        &self,
        stream: &Stream,
        strings: Strings<'_>,
        indices: View<'_, u32>,
        to: Strings<'_>,
    ) -> Result<Pending<'_>, Error> {
        same_length("strings to be written", indices.len(), to.count())?;
        if strings.offset_bytes() != to.offset_bytes() {
            return Err(Error::Unsupported("offsets of strings have one width, before and after".into()));
        }
        check_count(indices.len())?;
        let names = ["sum_lengths", "sum_tiles", "write_offsets", "copy_bytes"];
        let instances = names.map(|name| instance(name, strings.offset_bytes()));
        let kernels = <[Kernel; 4]>::try_from(self.kernels(&instances)?).expect("as many as instances");
        let [sum_lengths, sum_tiles, write_offsets, copy_bytes] = kernels;
        let tiles = indices.len().div_ceil(TILE);
        let scratch = scratch(stream, 2 * tiles)?;
        let sums = scratch.range(0..2 * tiles);
        let by_tile = launch(self, tiles, size_of::<LengthSums>());
        let one = Launch { blocks: 1, ..by_tile };
        let copying = launch(self, to.bytes.len().div_ceil(COPIED * BLOCK as usize), 0);
        let (from, count) = (strings.addresses(), indices.len() as u32);
        let StringArrays { data, entries, .. } = to.addresses();
        // SAFETY: these are the kernels' arguments; the caller guarantees room for all that they write.
        unsafe {
            if count == 0 {
                stream.fill(to.offset_words(), 0)?;
            } else {
                sum_lengths.launch(stream, by_tile, (from, indices, count, sums))?;
                sum_tiles.launch(stream, one, (sums, tiles as u32))?;
                write_offsets.launch(stream, by_tile, (from, indices, count, sums, entries))?;
                copy_bytes.launch(stream, copying, (from, indices, count, entries, data))?;
            }
        }
        self.pending(stream)
    }

    /// Enqueues writing the views of strings in the order of these indices, and does not wait. The buffers stay as they
    /// are, and the new views refer to them too. No scratch.
    ///
    /// # Errors
    /// [`Error::LengthMismatch`] if the number of views to be written is not that of the indices;
    /// [`Error::Unsupported`] for more than 2^32 - 2^16 indices; [`Error::Device`] if a kernel is not available.
    ///
    /// # Safety
    /// Indices are less than the number of views. Nothing else uses the views, old or new, or the indices until that is
    /// done. The stream belongs to this engine's device.
    pub unsafe fn gather_string_views(
        &self,
        stream: &Stream,
        views: View<'_, u128>,
        indices: View<'_, u32>,
        to: View<'_, u128>,
    ) -> Result<Pending<'_>, Error> {
        same_length("views to be written", indices.len(), to.len())?;
        check_count(indices.len())?;
        let kernel = self.kernel(&instance("gather_views", size_of::<u128>()))?;
        let launch = launch(self, indices.len().div_ceil(BLOCK as usize), 0);
        // SAFETY: these are the kernel's arguments; there is room for as many views as indices.
        unsafe { kernel.launch(stream, launch, (views, indices, indices.len() as u32, to))? };
        self.pending(stream)
    }
}

fn instance(kernel: &'static str, strings: usize) -> Instance {
    Instance { kernel, file: File::GatherStrings, defines: vec![("SORTIE_STRINGS", strings.to_string())] }
}
