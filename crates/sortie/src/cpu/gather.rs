//! Items brought to their places by several threads: they are read from anywhere, which takes one thread long.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use crate::Error;
use crate::plan::STRINGS_A_TASK;
use crate::scratch::Scratch;

/// Bytes of scratch of [`gather`].
pub(crate) fn scratch<T>(n: usize) -> usize {
    n.saturating_mul(size_of::<T>()).saturating_add(n.div_ceil(8))
}

/// Puts `v[places[i]]` at place `i`, for all `i`, by way of a copy.
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
