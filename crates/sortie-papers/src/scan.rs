//! Prefix sums of tables on the device.

use sortie::Error;
use sortie_device::{Kernel, Launch, Stream, View};

use super::BLOCK;
use crate::engine::{File, Papers};

/// The number of words per block: `papers::SCANNED` in the kernels.
const SCANNED: usize = 2048;
/// The shared memory per block, in bytes.
const SHARED: usize = 4 * BLOCK as usize / 32;

/// The number of words of sums for a table of `words` words.
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

    /// Replaces each word of a table by the sum of the words before it within its block's part, and writes the sums of
    /// the parts before to `sums`. `papers::sum_before` in the kernels adds the two.
    ///
    /// # Safety
    /// Nothing else uses the table and the sums. There are as many sums as [`sums_of`] says.
    pub unsafe fn launch(
        &self,
        stream: &Stream,
        table: View<'_, u32>,
        sums: View<'_, u32>,
    ) -> Result<(), Error> {
        let launch = |blocks| Launch { blocks, threads: BLOCK, shared: SHARED };
        let parts = sums.len() as u64;
        // SAFETY: these are the kernels' arguments; they stay within the table and the sums.
        unsafe {
            self.table.launch(stream, launch(parts as u32), (table, table.len() as u64, sums))?;
            self.sums.launch(stream, launch(1), (sums, parts))?;
        }
        Ok(())
    }
}
