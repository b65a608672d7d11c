//! The CPU engine.

pub(crate) mod compare;
pub(crate) mod counting;
pub(crate) mod distribute;
pub(crate) mod keys;
pub(crate) mod lines;
pub(crate) mod order;
pub(crate) mod pairs;
pub(crate) mod parallel_partition;
pub(crate) mod scatter;
pub(crate) mod scratch;
pub(crate) mod segments;
pub(crate) mod strings;
pub(crate) mod vector;
pub(crate) mod wide;

use crate::{Algorithm, Error, Index};

/// What a sort may use and must keep to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Job {
    /// Threads of the current rayon pool that may work; with 1, rayon is not called.
    pub threads: usize,
    pub algorithm: Algorithm,
    /// Most scratch in bytes.
    pub memory_limit: u64,
    pub stable: bool,
}

impl Job {
    /// Asks for scratch before work starts.
    pub fn scratch(&self, needed: usize, hint: &'static str) -> Result<(), Error> {
        if needed as u64 <= self.memory_limit {
            return Ok(());
        }
        Err(Error::Memory { needed: needed as u64, available: self.memory_limit, hint })
    }
}

/// Puts `v[places[i]]` at place `i`, for all `i`. `places`, a permutation, is used up.
pub(crate) fn permute<T, I: Index>(v: &mut [T], places: &mut [I]) {
    for start in 0..v.len() {
        // Walks one cycle; a place that is done refers to itself.
        let mut hole = start;
        loop {
            let from = places[hole].place();
            places[hole] = I::from_place(hole);
            if from == start {
                break;
            }
            v.swap(hole, from);
            hole = from;
        }
    }
}

/// The error for naming an algorithm that cannot be stable where stability was not waived.
fn unstable_only(algorithm: &str) -> Error {
    Error::Unsupported(format!(
        "{algorithm} does not keep the order of equal keys; allow that with unstable(), or choose another algorithm"
    ))
}
