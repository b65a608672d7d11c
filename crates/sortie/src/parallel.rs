//! Work that the threads of the current rayon pool share. Rayon calls it through a pointer, so that its code is
//! compiled once and not for every type of key: for a program that sorts, that was a third of the compiler's work.

use std::sync::{Mutex, PoisonError};

use rayon::ThreadPool;
use rayon::prelude::*;

/// The least number of keys or strings in a task, if threads share the work.
pub(crate) const ITEMS_A_TASK: usize = 1 << 16;

/// Runs `work` on a thread of the pool.
pub(crate) fn install<R: Send>(pool: &ThreadPool, work: impl FnOnce() -> R + Send) -> R {
    let (mut work, mut result) = (Some(work), None);
    installed(pool, &mut || result = work.take().map(|work| work()));
    result.expect("the pool ran it")
}

/// Runs both, each on a thread of its own if one is free.
pub(crate) fn join(a: impl FnOnce() + Send, b: impl FnOnce() + Send) {
    let (mut a, mut b) = (Some(a), Some(b));
    both(&mut || called(&mut a), &mut || called(&mut b));
}

/// Calls `work` with each item, on several threads if there are to be more than one.
pub(crate) fn for_each<T: Send>(threads: usize, items: impl IntoIterator<Item = T>, work: impl Fn(T) + Sync) {
    if threads < 2 {
        return items.into_iter().for_each(work);
    }
    let items = slots(items);
    each_index(items.len(), &|i| work(taken(&items[i])));
}

/// The results of `work` on each item, in their order.
pub(crate) fn map<T: Send, R: Send>(
    threads: usize,
    items: impl IntoIterator<Item = T>,
    work: impl Fn(T) -> R + Sync,
) -> Vec<R> {
    if threads < 2 {
        return items.into_iter().map(work).collect();
    }
    let items = slots(items);
    let results: Vec<Mutex<Option<R>>> = items.iter().map(|_| Mutex::new(None)).collect();
    each_index(items.len(), &|i| {
        let result = work(taken(&items[i]));
        *results[i].lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
    });
    results.iter().map(taken).collect()
}

/// The results of `work` on each item of a slice, in their order. If it panics, results are leaked.
pub(crate) fn collect<T: Sync, R: Send>(
    threads: usize,
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let mut results = Vec::with_capacity(items.len());
    collect_into(&mut results, threads, items, work);
    results
}

/// [`collect`] into a vector that is empty and has room.
pub(crate) fn collect_into<T: Sync, R: Send>(
    results: &mut Vec<R>,
    threads: usize,
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
) {
    assert!(results.is_empty(), "the results are all of it");
    if threads < 2 {
        return results.extend(items.iter().map(work));
    }
    let slots = &mut results.spare_capacity_mut()[..items.len()];
    let part = items.len().div_ceil(8 * threads).clamp(1 << 10, ITEMS_A_TASK);
    for_each(threads, slots.chunks_mut(part).zip(items.chunks(part)), |(slots, items)| {
        for (slot, item) in slots.iter_mut().zip(items) {
            slot.write(work(item));
        }
    });
    // SAFETY: the chunks cover the items, and each slot of theirs was written.
    unsafe { results.set_len(items.len()) };
}

/// Whether `work` returns true for all items. Stops early once it has returned false for one.
pub(crate) fn all<T: Send>(
    threads: usize,
    items: impl IntoIterator<Item = T>,
    work: impl Fn(T) -> bool + Sync,
) -> bool {
    if threads < 2 {
        return items.into_iter().all(work);
    }
    let items = slots(items);
    all_indices(items.len(), &|i| work(taken(&items[i])))
}

fn installed(pool: &ThreadPool, work: &mut (dyn FnMut() + Send)) {
    pool.install(work);
}

fn both(a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
    rayon::join(a, b);
}

fn each_index(n: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..n).into_par_iter().for_each(work);
}

fn all_indices(n: usize, work: &(dyn Fn(usize) -> bool + Sync)) -> bool {
    (0..n).into_par_iter().all(work)
}

/// Items that threads take out by index.
fn slots<T>(items: impl IntoIterator<Item = T>) -> Vec<Mutex<Option<T>>> {
    items.into_iter().map(|item| Mutex::new(Some(item))).collect()
}

fn taken<T>(slot: &Mutex<Option<T>>) -> T {
    let item = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
    item.expect("each index comes once")
}

fn called(work: &mut Option<impl FnOnce()>) {
    if let Some(work) = work.take() {
        work();
    }
}
