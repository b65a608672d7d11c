//! Plans the size of blocks, and everything else that depends on memory.

use sortie::Algorithm;

use crate::parse::Limits;

/// The memory of each thread besides blocks: an item, its parsed form, and a part of a run.
const BYTES_A_THREAD: usize = 4 << 20;
/// The number of a word, while its block is being parsed.
const WORD: usize = 4;
/// A pair, once the block is numbered.
const KEY: usize = 8;
/// The CPU's in-place sort needs scratch memory of a twentieth of the keys. The radix sort on a GPU needs a second
/// array of keys in GPU memory.
const CPU_SCRATCH_PART: usize = 20;
/// More pairs than this do not improve a block, and positions in it have 32 bits.
const MOST_PAIRS: usize = 1 << 31;

/// The maximum size of overlapped blocks, however much memory there is: with a single block, nothing overlaps. The CPU
/// sorts this many pairs in 0.2 to 0.8 s, about the time that a GPU takes to start.
const OVERLAPPED_PAIRS: usize = 1 << 26;

/// Where blocks are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sorts {
    OnCpu,
    /// On a GPU with this many bytes of memory available.
    OnGpu {
        algorithm: Algorithm,
        memory: u64,
    },
}

/// The size limits of blocks for a memory limit. `overlapped` stages have three blocks at a time: one parsed, one
/// sorted, one written.
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
    /// The number of pairs that can be sorted at a time.
    ///
    /// On a GPU, the bitonic network sorts in place, and all other methods need a second array of keys. With the same
    /// memory limit, their blocks are half as large, and there are twice as many runs. This is the argument of
    /// Capannini, Silvestri and Baraglia (2011), section 7.
    fn pairs(self) -> usize {
        let Sorts::OnGpu { algorithm, memory } = self else { return MOST_PAIRS };
        let bytes = if algorithm == Algorithm::Bitonic { KEY } else { 2 * KEY };
        usize::try_from(memory / bytes as u64).unwrap_or(usize::MAX).clamp(1, MOST_PAIRS)
    }
}

/// With [`Pipeline::Auto`](crate::Pipeline::Auto), the CPU sorts blocks smaller than this, because it is done before
/// a GPU has started.
pub fn least_for_gpu(sorts: Sorts) -> usize {
    sorts.pairs().min(OVERLAPPED_PAIRS)
}

/// The memory for a merge: for the buffers of all runs, which each thread has, and for what waits to be written. If it is not
/// enough for all threads, fewer merge. The marks of the runs
/// come on top: about 60 bytes for each 32 KB.
pub fn merge_bytes(memory: u64) -> usize {
    usize::try_from(memory / 2).unwrap_or(usize::MAX)
}
