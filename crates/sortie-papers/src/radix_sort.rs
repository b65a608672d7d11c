//! The radix sort that Capannini, Silvestri and Baraglia, "Sorting on GPUs for large scale datasets: A thorough
//! comparison" (2011), compare with in section 6.1.

use sortie::Error;
use sortie_device::{Launch, Stream, View};

use super::scan::{Scan, sums_of};
use super::{BLOCK, check_count};
use crate::engine::{File, Papers, Pending, scratch};

const DIGIT_BITS: usize = 4;
const VALUES: usize = 1 << DIGIT_BITS;
const TILE: usize = 1024;
/// Bytes of `radix_sort::Shared` of the kernels.
const SHARED: usize = 4 * (8 + TILE + 2 * VALUES);

/// Enqueues a radix sort of the keys, in place and ascending, and does not wait.
///
/// Eight digits of b = 4 bits, the least significant first. For each, blocks sort h = 1024 keys by four binary
/// splits, write them and a histogram of 16 words, and after a prefix sum over all histograms copy the keys to their
/// places. Scratch: as much as the keys, and a thirty-second of it. Cost: two reads and two writes of the keys a
/// digit.
///
/// What differs from the publication, or is left open there: keys are `u32` alone; a block has 256 threads, as the
/// sort that it describes (Satish, Harris and Garland, 2009); the prefix sums are by shuffles, which that card did
/// not have.
///
/// # Errors
/// [`Error::Unsupported`] for 2^32 keys or more; [`Error::Device`] if scratch or a kernel is not available.
/// Nothing has been enqueued that changes the keys then.
///
/// # Safety
/// Nothing else uses the keys until the sort is done. The stream is of the engine's device.
pub unsafe fn radix_sort<'papers>(
    papers: &'papers Papers,
    stream: &Stream,
    keys: View<'_, u32>,
) -> Result<Pending<'papers>, Error> {
    let n = keys.len();
    check_count(n)?;
    if n < 2 {
        return papers.pending(stream);
    }
    let [sort_tiles, scatter] = papers.kernels(File::RadixSort, ["sort_tiles", "scatter"])?;
    let scan = Scan::new(papers)?;
    let tiles = n.div_ceil(TILE);
    let words = tiles * VALUES;
    let scratch = scratch(stream, n + 2 * words + sums_of(words))?;
    let sorted = scratch.range(0..n);
    let table = scratch.range(n..n + words);
    let starts = scratch.range(n + words..n + 2 * words);
    let sums = scratch.range(n + 2 * words..n + 2 * words + sums_of(words));
    let launch = Launch { blocks: tiles as u32, threads: BLOCK, shared: SHARED };
    let count = n as u64;
    for shift in (0..u32::BITS).step_by(DIGIT_BITS) {
        // SAFETY: these are the kernels' arguments; they stay within the keys and the parts of the scratch.
        unsafe {
            sort_tiles.launch(stream, launch, (keys, count, shift, sorted, table, starts))?;
            scan.launch(stream, table, sums)?;
            scatter.launch(stream, launch, (sorted, count, shift, table, sums, starts, keys))?;
        }
    }
    papers.pending(stream)
}
