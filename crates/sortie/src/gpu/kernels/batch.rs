//! The structs that the kernels of a distribution of many segments share with the host.

use super::layout::shared;

shared! {
    /// A segment, or a bucket of one, that is split.
    memory "Split" Split {
        start: u64,
        length: u32,
        equal: u32,
    }

    /// How it is split.
    memory "Cut" SplitCut {
        start: u64,
        length: u32,
        first_tile: u32,
        first: u32,
        ways: u32,
        tree_bits: u32,
        with_equal: u32,
    }

    /// How many entries of a level's tables are taken.
    memory "State" SplitState {
        splits: u32,
        ready: u32,
        tiles: u32,
        nodes: u32,
    }

    /// A level of the distribution.
    argument "Level" SplitLevel {
        from: u64,
        to: u64,
        state: u64,
        splits: u64,
        cuts: u64,
        cut_of: u64,
        trees: u64,
        cursors: u64,
        ready: u64,
        next_state: u64,
        next: u64,
        capacity: u32,
        share: u32,
    }
}
