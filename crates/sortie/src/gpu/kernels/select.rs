//! What kernels that select share with the host.

use super::CodeTransform;
use super::layout::shared;

/// The most numbers that one launch passes to a selection of keys at indices.
pub(crate) const PUT: usize = 256;

shared! {
    /// How keys become codes. The bits of infinity and of a NaN count if floats are compared by value.
    argument "Codes" SelectCodes {
        transform: CodeTransform,
        infinity: u64,
        nan: u64,
    }

    /// Rows, and how many keys of each are selected.
    argument "Rows" SelectRows {
        keys: u64,
        length: u64,
        k: u64,
    }

    /// A selection of the first keys of an order.
    argument "Job" SelectJob {
        keys: u64,
        count: u64,
        k: u64,
        capacity: u64,
        sampled: u32,
        rank: u32,
        seed: u64,
        parts: u64,
        found: u64,
        bound: u64,
        firsts: u64,
        digits: u64,
        levels: u64,
        words: u64,
    }

    /// Where a selection writes its results.
    argument "Top" TopResults {
        keys: u64,
        indices: u64,
        index_bytes: u64,
    }

    /// The candidates of each row.
    argument "Candidates" SelectCandidates {
        found: u64,
        words: u64,
        capacity: u64,
    }

    /// Numbers of the host, from this one on.
    argument "Numbers" NthNumbers {
        first: u32,
        count: u32,
        values: [u32; PUT],
    }

    /// A selection of keys at indices.
    argument "Job" NthJob {
        keys: u64,
        count: u64,
        seed: u64,
        sampled: u32,
        ranges: u32,
        wanted: u32,
        takes_all: u32,
        capacity: u64,
        sample: u64,
        numbers: u64,
        bounds: u64,
        bases: u64,
        table: u64,
        counts: u64,
        found: u64,
        missed: u64,
        greatest: u64,
        at: u64,
        known: u64,
        levels: u64,
        digits: u64,
        words: u64,
        nth: u64,
    }
}
