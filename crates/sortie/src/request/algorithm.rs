//! [`Algorithm`]: the method of a sort.

/// How a sort works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Algorithm {
    /// Whatever the plan finds fastest for the input.
    #[default]
    Auto,
    /// Distribution to buckets by the leading bits of the code, then a sort of each bucket. Stable. For keys of fixed width and
    /// strings.
    Radix,
    /// Quicksort, without a distribution. Not stable, so pairs and argsort need `.unstable()`.
    Quicksort,
    /// Merge sort by comparison (std's or rayon's). On a GPU, tiles are sorted and merged in pairs, for keys of up to 64 bits.
    /// Stable.
    Merge,
    /// A bitonic network on a GPU, for keys of up to 64 bits, alone or, with `.unstable()`, with a payload. In place, without
    /// scratch on the device, and equally fast whatever the keys are.
    Bitonic,
    /// Distribution by samples and a merge sort of each bucket, by comparison alone, on a GPU. For keys of 32 to 128 bits and
    /// what moves with them. Stable.
    SampleSort,
}
