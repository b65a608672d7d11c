//! What the kernel that counts keys between edges shares with the host.

use super::layout::shared;

shared! {
    /// Keys, edges, and the counts of the bins between them.
    argument "Job" HistogramJob {
        keys: u64,
        count: u64,
        edges: u64,
        edge_count: u32,
        copies: u32,
        counts: u64,
    }
}
