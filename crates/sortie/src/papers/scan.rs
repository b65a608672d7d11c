//! Prefix sums of tables on the device.

use sortie_device::{Kernel, Launch, Stream, View};

use super::BLOCK;
use crate::Error;
use crate::gpu::Gpu;
use crate::gpu::kernels::blocks;
use crate::gpu::kernels::{File, Instance};

/// Words that a block takes: `papers::SCANNED` of the kernels.
const SCANNED: usize = 2048;
/// Bytes of shared memory.
const SHARED: usize = 4 * BLOCK as usize / 32;

/// Words of sums for a table of so many.
pub(super) const fn sums_of(words: usize) -> usize {
    words.div_ceil(SCANNED)
}

pub(super) struct Scan {
    table: Kernel,
    sums: Kernel,
}

impl Scan {
    pub fn new(gpu: &Gpu) -> Result<Scan, Error> {
        let kernel = |kernel| gpu.kernel(&Instance { kernel, file: File::ScanTable, defines: vec![] });
        Ok(Scan { table: kernel("scan_table")?, sums: kernel("scan_sums")? })
    }

    /// Turns a table into what `papers::sum_before` of the kernels adds up.
    ///
    /// # Safety
    /// Nothing else uses the two; there are as many sums as [`sums_of`] says.
    pub unsafe fn launch(
        &self,
        stream: &Stream,
        table: View<'_, u32>,
        sums: View<'_, u32>,
    ) -> Result<(), Error> {
        let launch = |blocks| Launch { blocks, threads: BLOCK, shared: SHARED };
        let parts = sums.len() as u64;
        // SAFETY: these are the kernels' arguments; they stay within table and sums.
        unsafe {
            self.table.launch(stream, launch(blocks(parts)?), (table, table.len() as u64, sums))?;
            self.sums.launch(stream, launch(1), (sums, parts))?;
        }
        Ok(())
    }
}
