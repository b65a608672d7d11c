//! Work that the threads of the current rayon pool share. Rayon calls it through a pointer, so that its code is
//! compiled once and not for every type of key: for a program that sorts, that was a third of the compiler's work.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
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
pub(crate) fn for_each<I>(threads: usize, items: I, work: impl Fn(I::Item) + Sync)
where
    I: IntoIterator<IntoIter: Send>,
{
    let items = Mutex::new(items.into_iter());
    on_each(threads, &|| {
        while let Some(item) = next(&items) {
            work(item);
        }
    });
}

/// The results of `work` on each item, in their order.
pub(crate) fn map<I, R>(threads: usize, items: I, work: impl Fn(I::Item) -> R + Sync) -> Vec<R>
where
    I: IntoIterator<IntoIter: ExactSizeIterator + Send>,
    R: Send,
{
    let items = items.into_iter();
    let mut results = Vec::new();
    results.resize_with(items.len(), || None);
    for_each(threads, results.iter_mut().zip(items), |(slot, item)| *slot = Some(work(item)));
    let mut all = Vec::with_capacity(results.len());
    for result in results {
        all.push(result.expect("each item has a result"));
    }
    all
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
    let slots = &mut results.spare_capacity_mut()[..items.len()];
    let part = items.len().div_ceil(8 * threads.max(1)).clamp(1 << 10, ITEMS_A_TASK);
    for_each(threads, slots.chunks_mut(part).zip(items.chunks(part)), |(slots, items)| {
        for (slot, item) in slots.iter_mut().zip(items) {
            slot.write(work(item));
        }
    });
    // SAFETY: the chunks cover the items, and each slot of theirs was written.
    unsafe { results.set_len(items.len()) };
}

/// Whether `work` returns true for all items. Stops early once it has returned false for one.
pub(crate) fn all<I>(threads: usize, items: I, work: impl Fn(I::Item) -> bool + Sync) -> bool
where
    I: IntoIterator<IntoIter: Send>,
{
    let (items, all) = (Mutex::new(items.into_iter()), AtomicBool::new(true));
    on_each(threads, &|| {
        while all.load(Relaxed)
            && let Some(item) = next(&items)
        {
            if !work(item) {
                all.store(false, Relaxed);
            }
        }
    });
    all.into_inner()
}

/// The next item. Each is a task of some length, so that threads hardly ever wait for each other here.
fn next<I: Iterator>(items: &Mutex<I>) -> Option<I::Item> {
    items.lock().unwrap_or_else(PoisonError::into_inner).next()
}

fn installed(pool: &ThreadPool, work: &mut (dyn FnMut() + Send)) {
    pool.install(work);
}

fn both(a: &mut (dyn FnMut() + Send), b: &mut (dyn FnMut() + Send)) {
    rayon::join(a, b);
}

/// Calls `work` this often, each time on a thread of its own if one is free.
fn on_each(threads: usize, work: &(dyn Fn() + Sync)) {
    if threads < 2 {
        return work();
    }
    (0..threads).into_par_iter().with_max_len(1).for_each(|_| work());
}

fn called(work: &mut Option<impl FnOnce()>) {
    if let Some(work) = work.take() {
        work();
    }
}
