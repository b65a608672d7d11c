//! Published algorithms as they were published, so that their results can be repeated beside those of this engine.
//!
//! Nothing else here uses them: [`Gpu::sort_segments`](crate::gpu::Gpu::sort_segments) is faster and takes more. Where a
//! paper is silent, each says what it does instead.
//!
//! - [`array_sort`]: GPU-ArraySort, many arrays of one length.
//!
//! The peer that GPU-ArraySort's paper measures against, sorting by tags (STA, its section 7.1.1), is two stable sorts
//! of pairs over all arrays at once. It is no algorithm of its own beyond that sort, for which the paper took Thrust's;
//! the benchmark suite takes CUB's, which is behind Thrust's.

mod array_sort;

pub use array_sort::array_sort;
