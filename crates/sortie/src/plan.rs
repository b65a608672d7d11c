//! From request and profile to plan; every tuning constant stands here with the measurement that chose it.

/// Fewer keys than this are sorted by the calling thread alone.
pub(crate) const PARALLEL_FROM: usize = 1 << 16;
