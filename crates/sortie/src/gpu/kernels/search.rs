//! What kernels that search sorted keys share with the host.

use super::layout::shared;

shared! {
    /// A search of queries in sorted keys.
    argument "Search" SearchJob {
        keys: u64,
        count: u64,
        queries: u64,
        queried: u64,
        positions: u64,
        position_bytes: u64,
        right: u64,
        index: u64,
        top: u32,
        levels: u32,
        stride: u64,
        lead: u64,
        whole: u64,
        bounds: u64,
        unordered: u64,
    }
}
