//! Prefix sums of tables on the device.

use sortie::Error;
use sortie_device::{Kernel, Launch, Stream, View};

use super::BLOCK;
use crate::engine::{File, Papers};

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
    pub fn new(papers: &Papers) -> Result<Scan, Error> {
        let [table, sums] = papers.kernels(File::ScanTable, ["scan_table", "scan_sums"])?;
        Ok(Scan { table, sums })
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
            self.table.launch(stream, launch(parts as u32), (table, table.len() as u64, sums))?;
            self.sums.launch(stream, launch(1), (sums, parts))?;
        }
        Ok(())
    }
}
