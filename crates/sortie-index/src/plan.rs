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
    let beside = (threads * BYTES_A_THREAD).min(memory / 2);
    let scratch = if sorts == Sorts::OnCpu { KEY.div_ceil(CPU_SCRATCH_PART) } else { 0 };
    let others = if overlapped { 2 * KEY } else { 0 };
    let bytes_a_pair = WORD + KEY + scratch + others;
    let pairs = match sorts {
        Sorts::OnCpu => MOST_PAIRS,
        Sorts::OnGpu { algorithm, memory } => {
            usize::try_from(memory).unwrap_or(usize::MAX) / bytes_a_pair_on_gpu(algorithm)
        }
    };
    Limits { pairs: pairs.clamp(1, MOST_PAIRS), bytes: (memory - beside).max(1), bytes_a_pair }
}

/// The bitonic network sorts in place; what else there is has a second array of keys. So blocks under one limit are half as
/// large, and runs twice as many: the argument of Capannini, Silvestri and Baraglia (2011), section 7.
fn bytes_a_pair_on_gpu(algorithm: Algorithm) -> usize {
    if algorithm == Algorithm::Bitonic { KEY } else { 2 * KEY }
}

/// With [`Pipeline::Auto`](crate::Pipeline::Auto) smaller blocks are sorted by the CPU: it takes less for them than a GPU
/// takes to start.
pub const AUTO_GPU_FROM: usize = 1 << 26;

/// For the buffers of all runs that are merged: more than enough for each to be read in long stretches, unless there are
/// thousands.
pub fn merge_bytes(memory: u64) -> usize {
    usize::try_from(memory / 2).unwrap_or(usize::MAX)
}
