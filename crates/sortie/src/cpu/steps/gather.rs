//! Moves items by indices. All threads read the items in any order, and prefetch them.

use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::cpu::permute;
use crate::cpu::prefetch::{AHEAD, prefetch_item};
use crate::cpu::scatter::Pointers;
use crate::cpu::tuning::STRINGS_A_TASK;
use crate::parallel;
use crate::request::Budget;
use crate::scratch::Scratch;
use crate::{Error, Index};

/// The scratch memory of [`gather`] in bytes.
pub(crate) fn scratch<T>(n: usize) -> usize {
    n.saturating_mul(size_of::<T>()).saturating_add(n.div_ceil(8))
}

/// Puts `v[indices[i]]` at index `i`, for all `i`. Uses a copy if the budget has room for one, else exchanges on one
/// thread. `indices`, a permutation, is overwritten. Returns the scratch memory that was used.
pub(crate) fn bring<T: Send, I: Index>(v: &mut [T], indices: &mut [I], budget: &Budget) -> usize {
    let copy = scratch::<T>(v.len());
    if copy as u64 <= budget.left() && gather(v, indices, budget.threads).is_ok() {
        return copy;
    }
    permute(v, indices);
    0
}

/// Puts `v[indices[i]]` at index `i`, for all `i`, using a copy.
pub(crate) fn gather<T: Send, I: Index>(v: &mut [T], indices: &[I], threads: usize) -> Result<(), Error> {
    gather_through(v, indices, &mut Scratch::new(v.len())?, threads);
    Ok(())
}

/// [`gather`] with the copy in `room`.
pub(crate) fn gather_through<T: Send, I: Index>(
    v: &mut [T],
    indices: &[I],
    room: &mut [MaybeUninit<T>],
    threads: usize,
) {
    let n = v.len();
    // With other indices, an item would be dropped twice.
    assert!(indices.len() == n && is_permutation(indices, threads), "the indices are not a permutation");
    let copy = &mut room[..n];
    let from = Pointers::of(v);
    let read = |(to, indices): (&mut [MaybeUninit<T>], &[I])| {
        for (i, to) in to.iter_mut().enumerate() {
            // SAFETY: each item is copied once. Afterwards only the copy is used, which is moved back.
            unsafe {
                if let Some(later) = indices.get(i + AHEAD) {
                    prefetch_item(from.at(later.to_usize()));
                }
                to.write(from.at(indices[i].to_usize()).read());
            }
        }
    };
    // SAFETY: both have the same number of items, and each is moved back once. No code runs meanwhile that could see or
    // drop an item twice.
    let back = |(to, from): (&mut [T], &[MaybeUninit<T>])| unsafe {
        std::ptr::copy_nonoverlapping(from.as_ptr().cast::<T>(), to.as_mut_ptr(), to.len());
    };
    let parts = copy.chunks_mut(STRINGS_A_TASK).zip(indices.chunks(STRINGS_A_TASK));
    parallel::for_each(threads, parts, read);
    let copy = Pointers::of(copy);
    parallel::for_each(threads, v.chunks_mut(STRINGS_A_TASK).enumerate(), |(i, to)| {
        // SAFETY: this is the part of the copy with these items.
        let from = unsafe { std::slice::from_raw_parts(copy.at(i * STRINGS_A_TASK), to.len()) };
        back((to, from));
    });
}

/// Whether each index occurs once.
fn is_permutation<I: Index>(indices: &[I], threads: usize) -> bool {
    let seen: Vec<AtomicU64> = (0..indices.len().div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
    if threads > 1 {
        return parallel::all(threads, indices.chunks(STRINGS_A_TASK), |part| {
            part.iter().all(|index| {
                let (word, bit) = (index.to_usize() / 64, 1 << (index.to_usize() % 64));
                index.to_usize() < indices.len() && seen[word].fetch_or(bit, Ordering::Relaxed) & bit == 0
            })
        });
    }
    // Uses no atomic read-modify-write operations, which take longer than the reads.
    indices.iter().all(|index| {
        let (word, bit) = (index.to_usize() / 64, 1 << (index.to_usize() % 64));
        index.to_usize() < indices.len() && {
            let before = seen[word].load(Ordering::Relaxed);
            seen[word].store(before | bit, Ordering::Relaxed);
            before & bit == 0
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_gathered_by_one_thread_and_by_several() {
        for (n, threads) in [(0, 1), (1, 2), (1000, 1), (3 * STRINGS_A_TASK + 5, 2)] {
            let mut indices: Vec<u32> = (0..n as u32).collect();
            fastrand::Rng::with_seed(1).shuffle(&mut indices);
            let items: Vec<String> = (0..n).map(|i| i.to_string()).collect();
            let mut gathered = items.clone();
            gather(&mut gathered, &indices, threads).unwrap();
            assert!(gathered.iter().zip(&indices).all(|(item, &index)| *item == items[index as usize]));
        }
    }

    #[test]
    fn items_are_brought_with_and_without_room_for_a_copy() {
        let mut indices: Vec<usize> = (0..1000).collect();
        fastrand::Rng::with_seed(1).shuffle(&mut indices);
        let items: Vec<String> = (0..1000).map(|i| i.to_string()).collect();
        for memory in [0, u64::MAX] {
            let mut brought = items.clone();
            let budget = Budget { memory, ..Budget::of_threads(1) };
            assert_eq!(bring(&mut brought, &mut indices.clone(), &budget) == 0, memory == 0);
            assert!(brought.iter().zip(&indices).all(|(item, &index)| *item == items[index]));
        }
    }

    #[test]
    fn indices_that_are_no_permutation_are_told() {
        for indices in [&[0u32, 0][..], &[0, 2], &[0]] {
            let gathered = std::panic::catch_unwind(|| gather(&mut [Box::new(1), Box::new(2)], indices, 1));
            assert!(gathered.is_err(), "{indices:?}");
        }
    }
}
