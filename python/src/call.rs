//! How a sort is run: without the GIL, by threads of this package, with panics caught and the report kept.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;
use std::{process, thread};

use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use sortie::{Error, Report};

use crate::errors::{Failure, of_panic};
use crate::options::Options;

/// Fewer elements than this, in fewer bytes, are sorted with the GIL held: to release it takes as long as the sort.
const RELEASE_FROM: usize = 1 << 11;
const RELEASE_BYTES_FROM: usize = 1 << 15;

/// Fewer elements than this are sorted by the calling thread, as in the library.
const PARALLEL_FROM: usize = 1 << 16;

thread_local! {
    static LAST: RefCell<Option<Report>> = const { RefCell::new(None) };
}

/// The report of the last sort that this thread has asked for.
pub fn last_report() -> Option<Report> {
    LAST.with_borrow(Clone::clone)
}

/// Runs `work` on `n` elements of `bytes` bytes in all, by threads of the pool. It returns what it made, and what it did.
pub fn run<R: Send>(
    py: Python<'_>,
    options: &Options,
    n: usize,
    bytes: usize,
    work: impl FnOnce() -> Result<(R, Report), Failure> + Send,
) -> PyResult<R> {
    if n < RELEASE_FROM && bytes < RELEASE_BYTES_FROM {
        return kept(catch_unwind(AssertUnwindSafe(work)));
    }
    run_here(py, options, n, |threads| threads.install(work))
}

/// Runs `work` on the calling thread, which alone learns of signals. What it installs, threads of the pool run.
pub fn run_here<R: Send>(
    py: Python<'_>,
    options: &Options,
    n: usize,
    work: impl FnOnce(&Threads) -> Result<(R, Report), Failure> + Send,
) -> PyResult<R> {
    let threads = Threads(pool(options, n)?);
    timed(py, || work(&threads))
}

/// Runs `work` on the calling thread, with a pool of threads even if they are only one.
pub fn run_with_pool<R: Send>(
    py: Python<'_>,
    options: &Options,
    work: impl FnOnce(&ThreadPool) -> Result<(R, Report), Failure> + Send,
) -> PyResult<R> {
    let pool = pool_of(options.threads.unwrap_or(0))?;
    timed(py, || work(&pool))
}

/// Runs `work` without the GIL, and keeps its report.
fn timed<R: Send>(py: Python<'_>, work: impl FnOnce() -> Result<(R, Report), Failure> + Send) -> PyResult<R> {
    kept(py.detach(|| {
        let start = Instant::now();
        let mut result = catch_unwind(AssertUnwindSafe(work));
        if let Ok(Ok((_, report))) = &mut result {
            report.elapsed = Some(start.elapsed().as_secs_f64() * 1e3);
        }
        result
    }))
}

/// Runs `work`, whose panics become exceptions, without the GIL.
pub fn caught<R: Send>(py: Python<'_>, work: impl FnOnce() -> Result<R, Failure> + Send) -> PyResult<R> {
    caught_attached(|| py.detach(work).map_err(PyErr::from))
}

/// The same with the GIL held.
pub fn caught_attached<R>(work: impl FnOnce() -> PyResult<R>) -> PyResult<R> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(of_panic(&*panic)))
}

/// The threads of a call.
pub struct Threads(Option<Arc<ThreadPool>>);

impl Threads {
    /// Their number.
    pub fn count(&self) -> usize {
        self.0.as_ref().map_or(1, |pool| pool.current_num_threads())
    }

    /// Runs `work` by these threads.
    pub fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        match &self.0 {
            Some(pool) => pool.install(work),
            None => work(),
        }
    }
}

/// Keeps the report of a sort, and returns what it made, or an exception.
fn kept<R>(result: thread::Result<Result<(R, Report), Failure>>) -> PyResult<R> {
    let (made, report) = result.map_err(|panic| of_panic(&*panic))??;
    LAST.set(Some(report));
    Ok(made)
}

/// The most pools that are kept for further calls. One that is dropped ends when the calls that use it have returned.
const KEPT_POOLS: usize = 3;

/// The number of the process that has started threads, and its pools with the number of their threads, the last used first.
type Pools = (u32, VecDeque<(usize, Arc<ThreadPool>)>);

/// The threads that are to sort `n` elements, if there are to be several.
///
/// They are of this package, and not rayon's global ones: a process that `fork` has made has no threads but the one that
/// called it, so it needs pools of its own. The lock is taken with the GIL held, so nobody else holds it during a fork.
fn pool(options: &Options, n: usize) -> PyResult<Option<Arc<ThreadPool>>> {
    if n < PARALLEL_FROM || options.threads == Some(1) {
        return Ok(None);
    }
    // 0 stands for as many as rayon chooses.
    let threads = options.threads.unwrap_or(0);
    match pool_of(threads) {
        Ok(pool) => Ok(Some(pool)),
        // The calling thread sorts alone, as in the library, unless a number was asked for.
        Err(_) if threads == 0 => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// A pool with this number of threads, which is kept for further calls.
fn pool_of(threads: usize) -> Result<Arc<ThreadPool>, Failure> {
    static POOLS: Mutex<Option<Pools>> = Mutex::new(None);
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    let process = process::id();
    if pools.as_ref().is_some_and(|(of, _)| *of != process) {
        // Threads of the parent cannot be joined here.
        std::mem::forget(pools.take());
    }
    let (_, pools) = pools.get_or_insert_with(|| (process, VecDeque::new()));
    if let Some(known) = pools.iter().position(|(of, _)| *of == threads).and_then(|at| pools.remove(at)) {
        let pool = known.1.clone();
        pools.push_front(known);
        return Ok(pool);
    }
    let built = ThreadPoolBuilder::new().num_threads(threads).thread_name(|i| format!("sortie-{i}")).build();
    let pool = built.map_err(|error| Failure::Sort(Error::Threads { threads, reason: error.to_string() }))?;
    let pool = Arc::new(pool);
    pools.push_front((threads, pool.clone()));
    pools.truncate(KEPT_POOLS);
    Ok(pool)
}
