//! Published algorithms as described in their papers, so that the papers' results can be repeated and compared with
//! Sortie.
//!
//! Only benchmarks use them: [`Gpu::sort_segments`](sortie::gpu::Gpu::sort_segments) and
//! [`sort_strings`](sortie::sort_strings) are faster and accept more inputs. Where a paper leaves something open, the
//! documentation of the function says what it does.
//!
//! [`Papers`] holds the kernels of the GPU algorithms for one device:
//!
//! - [`array_sort`]: GPU-ArraySort, many arrays of one length.
//! - [`quicksort`]: GPU-Quicksort, one array.
//! - [`fine_sample_sort`], [`sample_sort`]: sample sort of one array, with the sample of the thesis or of the earlier
//!   paper.
//! - [`radix_sort`]: radix sort of one array with digits of four bits.
//!
//! For strings:
//!
//! - [`msd_radix_sort`]: strings on a CPU, with one task per bucket.
//! - [`argsort_sent_strings`]: strings in host memory, sorted on a GPU. Copies either whole strings or only their first
//!   symbols to the GPU. This is not the published code: it uses
//!   [`Sorter::argsort_strings`](sortie::Sorter::argsort_strings) to compare the two ways.
//!
//! GPU-ArraySort's paper compares with sorting by tags (STA, its section 7.1.1): two stable sorts of pairs over all
//! arrays at once. It has no implementation here, because it only needs a sort of pairs. The paper used that of Thrust;
//! the benchmark suite uses that of CUB, which Thrust calls.

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

/// The threads of a block.
const BLOCK: u32 = 256;

/// The kernels count in 32 bits.
fn check_count(keys: usize) -> Result<(), Error> {
    if u32::try_from(keys).is_err() {
        return Err(Error::Unsupported(format!(
            "a published algorithm sorts fewer than 2^32 keys, not {keys}; use a sort of Gpu"
        )));
    }
    Ok(())
}
