//! How large a block may be, and every other number that memory decides.

use sortie::Algorithm;

use crate::parse::Limits;

/// What the program and each thread take beside blocks: an item and what it is parsed to, a part of a run.
const BYTES_A_THREAD: usize = 4 << 20;
/// A word's number, while its block is parsed.
const WORD: usize = 4;
/// A pair, once the block is numbered.
const KEY: usize = 8;
/// The CPU's sort in place takes a twentieth of the keys, and the radix sort on a GPU a second array of them there.
const CPU_SCRATCH_PART: usize = 20;
/// More pairs than this do not make a block better, and places in it have 32 bits.
const MOST_PAIRS: usize = 1 << 31;

/// Blocks that overlap are no larger than this, however much memory there is: of one block nothing overlaps. The CPU sorts so
/// many pairs in 0.2 to 0.8 s, about what a GPU takes to start.
const OVERLAPPED_PAIRS: usize = 1 << 26;

/// Where blocks are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sorts {
    OnCpu,
    /// With so much memory there.
    OnGpu {
        algorithm: Algorithm,
        memory: u64,
    },
}

/// How large blocks may be under a limit of memory. With `overlapped` stages there are three at a time: parsed, sorted,
/// written.
pub fn limits(memory: u64, threads: usize, sorts: Sorts, overlapped: bool) -> Limits {
    let memory = usize::try_from(memory).unwrap_or(usize::MAX);
    let beside = threads.saturating_mul(BYTES_A_THREAD).min(memory / 2);
    let scratch = if sorts == Sorts::OnCpu { KEY.div_ceil(CPU_SCRATCH_PART) } else { 0 };
    let others = if overlapped { 2 * KEY } else { 0 };
    let most = if overlapped { OVERLAPPED_PAIRS } else { MOST_PAIRS };
    Limits {
        pairs: sorts.pairs().min(most),
        bytes: (memory - beside).max(1),
        bytes_a_pair: WORD + KEY + scratch + others,
    }
}

impl Sorts {
    /// How many pairs can be sorted at a time.
    ///
    /// On a GPU the bitonic network sorts in place; what else there is has a second array of keys. So blocks under one limit
    /// are half as large, and runs twice as many: the argument of Capannini, Silvestri and Baraglia (2011), section 7.
    fn pairs(self) -> usize {
        let Sorts::OnGpu { algorithm, memory } = self else { return MOST_PAIRS };
        let bytes = if algorithm == Algorithm::Bitonic { KEY } else { 2 * KEY };
        usize::try_from(memory / bytes as u64).unwrap_or(usize::MAX).clamp(1, MOST_PAIRS)
    }
}

/// With [`Pipeline::Auto`](crate::Pipeline::Auto) smaller blocks are sorted by the CPU: it takes less for them than a GPU
/// takes to start.
pub fn least_for_gpu(sorts: Sorts) -> usize {
    sorts.pairs().min(OVERLAPPED_PAIRS)
}

/// For the buffers of all runs that are merged: more than enough for each to be read in long stretches, unless there are
/// thousands.
pub fn merge_bytes(memory: u64) -> usize {
    usize::try_from(memory / 2).unwrap_or(usize::MAX)
}
