//! The radix sort that Capannini, Silvestri and Baraglia use for comparison in "Sorting on GPUs for large scale
//! datasets: A thorough comparison" (2011), section 6.1.

use sortie::Error;
use sortie_device::{Launch, Stream, View};

use super::scan::{Scan, sums_of};
use super::{BLOCK, check_count};
use crate::engine::{File, Papers, Pending, scratch};

const DIGIT_BITS: usize = 4;
const VALUES: usize = 1 << DIGIT_BITS;
const TILE: usize = 1024;
/// The size of `radix_sort::Shared` in the kernels, in bytes.
const SHARED: usize = 4 * (8 + TILE + 2 * VALUES);

/// Enqueues a radix sort of the keys, in place and ascending, and returns without waiting.
///
/// Sorts by eight digits of b = 4 bits, least significant first. For each digit, each block sorts h = 1024 keys by four
/// binary splits, and writes them and a histogram of 16 words. A prefix sum runs over all histograms. Then the
/// keys are copied to their new positions. Scratch: 33/32 of the size of the keys. Cost: two reads and two writes of
/// the keys per digit.
///
/// Differences from the publication, and choices where it leaves something open: keys are `u32` only; a block has 256
/// threads, as in the sort that the paper describes (Satish, Harris and Garland, 2009); prefix sums use shuffles, which
/// the paper's GPU did not have.
///
/// # Errors
/// [`Error::Unsupported`] for 2^32 keys or more; [`Error::Device`] if scratch or a kernel is not available. After an
/// error, no enqueued work changes the keys.
///
/// # Safety
/// Nothing else uses the keys until the sort is done. The stream belongs to the engine's device.
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
