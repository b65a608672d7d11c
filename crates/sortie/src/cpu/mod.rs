//! The CPU engine.

pub(crate) mod compare;
pub(crate) mod counting;
pub(crate) mod distribute;
pub(crate) mod keys;
pub(crate) mod lines;
pub(crate) mod order;
pub(crate) mod pairs;
pub(crate) mod parallel_partition;
pub(crate) mod prefetch;
pub(crate) mod scatter;
pub(crate) mod scratch;
pub(crate) mod segment_pairs;
pub(crate) mod segments;
pub(crate) mod strings;
pub(crate) mod vector;
pub(crate) mod wide;

use std::mem::MaybeUninit;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use self::scratch::Scratch;
use crate::plan::STRINGS_A_TASK;
use crate::{Algorithm, Bound, Error, Index, Report};

/// What a sort may use and must keep to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Job {
    /// Threads of the current rayon pool that may work; with 1, rayon is not called.
    pub threads: usize,
    pub algorithm: Algorithm,
    /// Most scratch in bytes.
    pub memory_limit: u64,
    pub stable: bool,
    /// Bytes of scratch that are held already.
    pub held: usize,
}

impl Job {
    /// The job of a part, for which so much more is held.
    pub fn holding(&self, bytes: usize) -> Job {
        Job { held: self.held + bytes, ..*self }
    }

    /// Asks for scratch before work starts, and notes it in the report.
    pub fn scratch(&self, bytes: usize, hint: &'static str, report: &mut Report) -> Result<(), Error> {
        let needed = (self.held + bytes) as u64;
        if needed > self.memory_limit {
            return Err(Error::Memory { bound: Bound::Limit, needed, available: self.memory_limit, hint });
        }
        report.scratch_peak = report.scratch_peak.max(needed);
        Ok(())
    }
}

/// The slices at consecutive ranges that cover `items`.
fn split_at_ranges<'a, T>(mut items: &'a mut [T], ranges: &[Range<usize>]) -> Vec<&'a mut [T]> {
    ranges
        .iter()
        .map(|range| items.split_off_mut(..range.len()).expect("the ranges cover the items"))
        .collect()
}

/// Puts `v[places[i]]` at place `i`, for all `i`. `places`, a permutation, is used up.
pub(crate) fn permute<T, I: Index>(v: &mut [T], places: &mut [I]) {
    permute_by(v.len(), places, |a, b| v.swap(a, b));
}

/// [`permute`] for keys and their payloads.
fn permute_pairs<K, V, I: Index>(keys: &mut [K], payload: &mut [V], places: &mut [I]) {
    permute_by(keys.len(), places, |a, b| {
        keys.swap(a, b);
        payload.swap(a, b);
    });
}

/// Walks the cycles of a permutation of `n` places by exchanges; a place that is done refers to itself.
fn permute_by<I: Index>(n: usize, places: &mut [I], mut swap: impl FnMut(usize, usize)) {
    for start in 0..n {
        let mut hole = start;
        loop {
            let from = places[hole].place();
            places[hole] = I::from_place(hole);
            if from == start {
                break;
            }
            swap(hole, from);
            hole = from;
        }
    }
}

/// Bytes of scratch of [`gather`].
pub(crate) fn gather_scratch<T>(n: usize) -> usize {
    n * size_of::<T>() + n.div_ceil(8)
}

/// [`permute`] by way of a copy, and by several threads: items are read from anywhere, which takes one thread long.
pub(crate) fn gather<T: Send + Sync>(v: &mut [T], places: &[u32], threads: usize) -> Result<(), Error> {
    let n = v.len();
    // Other places would drop one item twice.
    assert!(places.len() == n && is_permutation(places, threads), "the places are no permutation");
    let mut copy = Scratch::<T>::new(n)?;
    let from = &*v;
    let read = |(to, places): (&mut [MaybeUninit<T>], &[u32])| {
        for (to, &place) in to.iter_mut().zip(places) {
            // SAFETY: each item is copied once, and lives on in the copy alone, which is moved back.
            to.write(unsafe { std::ptr::read(&from[place as usize]) });
        }
    };
    // SAFETY: as many items, each moved back once; nothing runs meanwhile that could see or drop one twice.
    let back = |(to, from): (&mut [T], &[MaybeUninit<T>])| unsafe {
        std::ptr::copy_nonoverlapping(from.as_ptr().cast::<T>(), to.as_mut_ptr(), to.len());
    };
    if threads > 1 {
        copy.par_chunks_mut(STRINGS_A_TASK).zip(places.par_chunks(STRINGS_A_TASK)).for_each(read);
        v.par_chunks_mut(STRINGS_A_TASK).zip(copy.par_chunks(STRINGS_A_TASK)).for_each(back);
    } else {
        read((&mut copy, places));
        back((v, &copy));
    }
    Ok(())
}

/// Whether each of as many places is there once.
fn is_permutation(places: &[u32], threads: usize) -> bool {
    let seen: Vec<AtomicU64> = (0..places.len().div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
    let is_new = |&place: &u32| {
        let bit = 1 << (place % 64);
        (place as usize) < places.len()
            && seen[place as usize / 64].fetch_or(bit, Ordering::Relaxed) & bit == 0
    };
    if threads > 1 { places.par_iter().all(is_new) } else { places.iter().all(is_new) }
}

/// The error for naming an algorithm that cannot be stable where stability was not waived.
fn unstable_only(algorithm: &str) -> Error {
    Error::Unsupported(format!(
        "{algorithm} does not keep the order of equal keys; allow that with unstable(), or choose another algorithm"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_gathered_by_one_thread_and_by_several() {
        for (n, threads) in [(0, 1), (1, 2), (1000, 1), (3 * STRINGS_A_TASK + 5, 2)] {
            let mut places: Vec<u32> = (0..n as u32).collect();
            fastrand::Rng::with_seed(1).shuffle(&mut places);
            let items: Vec<String> = (0..n).map(|i| i.to_string()).collect();
            let mut gathered = items.clone();
            gather(&mut gathered, &places, threads).unwrap();
            assert!(gathered.iter().zip(&places).all(|(item, &place)| *item == items[place as usize]));
        }
    }

    #[test]
    fn places_that_are_no_permutation_are_told() {
        for places in [&[0, 0][..], &[0, 2], &[0]] {
            let gathered = std::panic::catch_unwind(|| gather(&mut [Box::new(1), Box::new(2)], places, 1));
            assert!(gathered.is_err(), "{places:?}");
        }
    }
}
