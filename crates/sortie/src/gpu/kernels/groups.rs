//! What kernels that find groups of equal keys share with the host.

use super::layout::shared;

shared! {
    /// Sorted keys, and where the heads of their tiles are counted.
    argument "Sorted" SortedKeys {
        keys: u64,
        count: u64,
        heads: u64,
        first: u64,
        groups: u64,
        infinity: u64,
        nans_differ: u64,
    }

    /// The results for each group.
    argument "Groups" GroupResults {
        keys: u64,
        counts: u64,
        indices: u64,
        first: u64,
        inverse: u64,
        number_bytes: u64,
    }
}
