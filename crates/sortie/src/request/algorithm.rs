//! [`Algorithm`]: by what a sort is done.

/// How a sort goes about its work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Algorithm {
    /// Whatever the plan finds fastest for the input.
    #[default]
    Auto,
    /// Distribution to buckets by the leading bits of the code, then a finish a bucket. Stable. For keys of fixed width
    /// and strings.
    Radix,
    /// Quicksort, without a distribution. Not stable, so pairs and argsort need `.unstable()`.
    Quicksort,
    /// Merge sort by comparison (std's or rayon's); on a GPU tiles that are merged by pairs, of keys of up to 64 bits.
    /// Stable.
    Merge,
    /// A bitonic network on a GPU, of keys of up to 64 bits, alone or, with `.unstable()`, with a payload: in place, without
    /// scratch there, and as fast whatever the keys are.
    Bitonic,
    /// Distribution by samples and a merge sort of each bucket, by comparison alone, on a GPU: keys of 32 to 128 bits, and
    /// what goes with them. Stable.
    SampleSort,
}
