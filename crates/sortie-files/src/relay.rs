//! Reads, sorts and writes at the same time, one stretch after the other.
//!
//! A runner reads a stretch, sorts it and writes it. As many stretches are in progress as there are runners, but no two are at
//! the same step: a runner waits until its next step is free. So stretches keep their order. The memory of a stretch that is written is
//! left to the next one that is read, whichever runner reads it.

use std::cell::Cell;
use std::sync::{Mutex, MutexGuard};
use std::{mem, thread};

use crate::Error;
use crate::threads::spawn;

/// A smaller memory budget is not worth dividing among several runners.
const SHARED_FROM: u64 = 5 << 20;

/// The number of runners that share `budget` bytes of memory in a relay: one for each of its three steps, or only one.
pub fn runners(budget: u64) -> usize {
    if is_in_pool() || rayon::current_num_threads() == 1 { 1 } else { runners_of_several(budget) }
}

/// Whether this is a thread of a pool of rayon. Then no other threads are started: what they do would go to another pool.
pub(crate) fn is_in_pool() -> bool {
    rayon::current_thread_index().is_some()
}

/// The same, if there are several threads.
pub(crate) fn runners_of_several(budget: u64) -> usize {
    if budget >= SHARED_FROM { 3 } else { 1 }
}

/// The source, the target, and the first failure.
struct Course<F, W, B> {
    feed: Mutex<Option<F>>,
    sorting: Mutex<()>,
    written: Mutex<W>,
    failure: Mutex<Option<Error>>,
    spare: Mutex<Vec<Spare<B>>>,
}

/// The memory of a stretch that is written.
#[derive(Default)]
struct Spare<B> {
    buffer: B,
    /// Whether that stretch was alone in memory.
    is_large: bool,
}

/// The steps of one stretch, one after the other. No other runner is at the step that this one has reached.
pub struct Turn<'a, F, W, B> {
    course: &'a Course<F, W, B>,
    step: Step<'a, F, W>,
    /// The source, if this runner keeps it until its stretch is written.
    kept: Option<MutexGuard<'a, Option<F>>>,
    alone: Cell<bool>,
}

enum Step<'a, F, W> {
    Reading(MutexGuard<'a, Option<F>>),
    Sorting { _turn: MutexGuard<'a, ()> },
    Writing(MutexGuard<'a, W>),
}

/// Calls `run` on this many runners, each time with a buffer, until the last stretch is done or a runner fails. Returns the target.
pub fn relay<F: Send, W: Send, B: Default + Send>(
    runners: usize,
    feed: F,
    written: W,
    run: impl Fn(&mut B, &mut Turn<'_, F, W, B>) -> Result<(), Error> + Sync,
) -> Result<W, Error> {
    let course = Course {
        feed: Mutex::new(Some(feed)),
        sorting: Mutex::new(()),
        written: Mutex::new(written),
        failure: Mutex::new(None),
        spare: Mutex::new(Vec::new()),
    };
    let runner = || {
        while let Some(mut turn) = course.next() {
            let spare = course.spare.lock().expect(PANICKED).pop();
            let Spare { mut buffer, is_large } = spare.unwrap_or_default();
            if let Err(failure) = run(&mut buffer, &mut turn) {
                // The step is still taken, so the runner that takes it next sees the failure.
                course.failure.lock().expect(PANICKED).get_or_insert(failure);
            }
            // Also left while the step is taken, so that a stretch that waits to be alone can free it. Large memory is for large
            // stretches only.
            if turn.is_alone() || !is_large {
                let spare = Spare { buffer, is_large: turn.is_alone() };
                course.spare.lock().expect(PANICKED).push(spare);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 1..runners {
            if let Err(error) = spawn(scope, runner) {
                course.failure.lock().expect(PANICKED).get_or_insert(Error::threads(1)(error));
            }
        }
        runner();
    });
    match course.failure.into_inner().expect(PANICKED) {
        Some(failure) => Err(failure),
        None => Ok(course.written.into_inner().expect(PANICKED)),
    }
}

const PANICKED: &str = "no runner panicked";

impl<F, W, B> Course<F, W, B> {
    /// A turn that begins with reading, if there is more to read.
    fn next(&self) -> Option<Turn<'_, F, W, B>> {
        let feed = self.feed.lock().expect(PANICKED);
        let goes_on = feed.is_some() && !self.failed();
        let step = Step::Reading(feed);
        goes_on.then_some(Turn { course: self, step, kept: None, alone: Cell::new(false) })
    }

    fn failed(&self) -> bool {
        self.failure.lock().expect(PANICKED).is_some()
    }
}

impl<F, W, B> Turn<'_, F, W, B> {
    /// The source, in the first step.
    pub fn feed(&mut self) -> &mut F {
        self.feed_and_wait().0
    }

    /// The source, in the first step, and a function that waits until no other stretch is in memory, and frees what was left of those
    /// before. If it was called, the next stretch is not read before this one is written.
    pub fn feed_and_wait(&mut self) -> (&mut F, impl Fn()) {
        let Turn { course, step: Step::Reading(feed), alone, .. } = self else {
            unreachable!("reading is the first step")
        };
        let wait = || {
            // No runner can begin to read now, and the stretches before this one pass these steps in turn.
            drop(course.sorting.lock().expect(PANICKED));
            drop(course.written.lock().expect(PANICKED));
            course.spare.lock().expect(PANICKED).clear();
            alone.set(true);
        };
        (feed.as_mut().expect("a turn is given while there is more"), wait)
    }

    /// Whether no other stretch is in memory.
    pub fn is_alone(&self) -> bool {
        self.alone.get()
    }

    /// Waits until the stretch before is sorted. Meanwhile the next stretch is read, unless this was the last, or is to be alone
    /// in memory.
    pub fn sort(&mut self, last: bool) {
        if let (Step::Reading(feed), true) = (&mut self.step, last) {
            **feed = None;
        }
        let sorting = Step::Sorting { _turn: self.course.sorting.lock().expect(PANICKED) };
        if let (Step::Reading(feed), true) = (mem::replace(&mut self.step, sorting), self.alone.get()) {
            self.kept = Some(feed);
        }
    }

    /// Waits until the stretch before is written. `None` if a runner has failed, because the output would lack the stretch of
    /// that runner.
    pub fn write(&mut self) -> Option<&mut W> {
        self.step = Step::Writing(self.course.written.lock().expect(PANICKED));
        match &mut self.step {
            Step::Writing(written) if !self.course.failed() => Some(written),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use super::*;

    /// Numbers from a feed, which the runners write down in turn.
    fn noted(runners: usize, fails_at: Option<u32>) -> Result<Vec<u32>, Error> {
        relay(runners, 0..100u32, Vec::new(), |_: &mut (), turn| {
            let number = turn.feed().next();
            turn.sort(number.is_none());
            if number.is_some() && number == fails_at {
                return Err(Error::invalid("failed"));
            }
            thread::yield_now();
            if let (Some(written), Some(number)) = (turn.write(), number) {
                written.push(number);
            }
            Ok(())
        })
    }

    #[test]
    fn stretches_are_written_in_the_order_in_which_they_were_read() {
        for runners in 1..5 {
            assert_eq!(noted(runners, None).unwrap(), (0..100).collect::<Vec<_>>());
        }
    }

    /// Every seventh stretch waits for those before it, and is written before the next one is read.
    #[test]
    fn a_large_stretch_is_alone() {
        for runners in 1..5 {
            let in_memory = AtomicUsize::new(0);
            let written = relay(runners, 0..100u32, Vec::new(), |_: &mut (), turn| {
                let number = {
                    let (feed, wait) = turn.feed_and_wait();
                    let number = feed.next();
                    if number.is_some_and(|number| number % 7 == 0) {
                        wait();
                        assert_eq!(in_memory.load(Ordering::Relaxed), 0, "{number:?}");
                    }
                    number
                };
                in_memory.fetch_add(1, Ordering::Relaxed);
                turn.sort(number.is_none());
                thread::yield_now();
                let is_alone = turn.is_alone();
                let written = turn.write().expect("no runner fails");
                written.extend(number);
                let others = in_memory.fetch_sub(1, Ordering::Relaxed) - 1;
                assert!(!is_alone || others == 0, "{number:?}");
                Ok(())
            });
            assert_eq!(written.unwrap(), (0..100).collect::<Vec<_>>());
        }
    }

    /// A buffer, of which it is counted how many there are.
    struct Counted<'a>(&'a AtomicUsize);

    impl Drop for Counted<'_> {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// Once, the other runners kept their buffers beside a stretch that was alone.
    #[test]
    fn no_memory_is_left_beside_a_large_stretch() {
        for runners in 1..5 {
            let buffers = AtomicUsize::new(0);
            let done = relay(runners, 0..200u32, (), |buffer: &mut Option<Counted<'_>>, turn| {
                let (number, is_large) = {
                    let (feed, wait) = turn.feed_and_wait();
                    let number = feed.next();
                    let is_large = number.is_some_and(|number| number % 7 < 2);
                    if is_large {
                        wait();
                    }
                    (number, is_large)
                };
                let allowed = if is_large { 1 } else { runners + 1 };
                buffer.get_or_insert_with(|| {
                    buffers.fetch_add(1, Ordering::Relaxed);
                    Counted(&buffers)
                });
                assert!(buffers.load(Ordering::Relaxed) <= allowed, "{number:?}");
                turn.sort(number.is_none());
                thread::yield_now();
                turn.write().expect("no runner fails");
                Ok(())
            });
            done.unwrap();
            assert_eq!(buffers.into_inner(), 0);
        }
    }

    #[test]
    fn the_first_failure_ends_it() {
        for runners in 1..5 {
            assert_eq!(noted(runners, Some(50)).unwrap_err().to_string(), "failed");
        }
    }

    #[test]
    fn nobody_goes_on_where_a_step_has_failed() {
        let steps = ["reading", "sorting", "writing"];
        for fails_at in steps.into_iter().cycle().take(3_000) {
            let has_failed = AtomicBool::new(false);
            let ended = relay(4, 0..100u32, (), |_: &mut (), turn| {
                let number = turn.feed().next();
                let take = |step| {
                    if step == fails_at && number == Some(5) {
                        has_failed.store(true, Ordering::Relaxed);
                        return Err(Error::invalid("failed"));
                    }
                    Ok(())
                };
                assert!(fails_at != "reading" || !has_failed.load(Ordering::Relaxed), "{number:?}");
                take("reading")?;
                turn.sort(number.is_none());
                take("sorting")?;
                if turn.write().is_none() {
                    return Ok(());
                }
                assert!(number <= Some(5), "{fails_at}: {number:?}");
                take("writing")
            });
            assert_eq!(ended.unwrap_err().to_string(), "failed");
        }
    }
}
