//! Published algorithms as they were published, so that their results can be repeated beside those of Sortie.
//!
//! Benchmarks alone use them: [`Gpu::sort_segments`](sortie::gpu::Gpu::sort_segments) and [`sort_strings`](sortie::sort_strings)
//! are faster and take more. Where a paper is silent, each says what it does instead.
//!
//! [`Papers`] has those for a GPU on one device:
//!
//! - [`array_sort`]: GPU-ArraySort, many arrays of one length.
//! - [`quicksort`]: GPU-Quicksort, one array.
//! - [`fine_sample_sort`], [`sample_sort`]: one array by samples, with the sample of the thesis or of the paper
//!   before it.
//! - [`radix_sort`]: one array by digits of four bits.
//!
//! And of strings:
//!
//! - [`msd_radix_sort`]: strings on a CPU, each bucket a task.
//! - [`argsort_sent_strings`]: strings of the host on a GPU, as a whole or their first symbols alone; not as it was
//!   published but as [`Sorter::argsort_strings`](sortie::Sorter::argsort_strings) does it, to compare the two.
//!
//! The peer that GPU-ArraySort's paper measures against, sorting by tags (STA, its section 7.1.1), is two stable
//! sorts of pairs over all arrays at once. It is no algorithm of its own beyond that sort, for which the paper took
//! Thrust's; the benchmark suite takes CUB's, which is behind Thrust's.

mod array_sort;
mod engine;
mod msd_radix_sort;
mod quicksort;
mod radix_sort;
mod sample_sort;
mod scan;

pub use array_sort::array_sort;
pub use engine::{Papers, Pending};
pub use msd_radix_sort::msd_radix_sort;
pub use quicksort::quicksort;
pub use radix_sort::radix_sort;
pub use sample_sort::{Histograms, fine_sample_sort, sample_sort};
pub use sortie::internals::{Sent, argsort_sent_strings};

use sortie::Error;

/// Threads of a block.
const BLOCK: u32 = 256;

/// Their kernels count in 32 bits.
fn check_count(keys: usize) -> Result<(), Error> {
    if u32::try_from(keys).is_err() {
        return Err(Error::Unsupported(format!(
            "{keys} keys are too many for a published algorithm, which takes fewer than 2^32; use a sort of Gpu"
        )));
    }
    Ok(())
}
