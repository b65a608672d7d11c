//! Reading, sorting and writing at the same time, each of them a stretch after the other.
//!
//! A runner reads a stretch, sorts it and writes it. As many run at a time as there are runners, and no two of them
//! are at the same step: where the next step is taken, a runner waits. So stretches keep their order, and each
//! runner keeps its memory for the next.

use std::sync::{Mutex, MutexGuard};
use std::thread;

use crate::failure::Failure;

/// What is read from, what is written to, and what went wrong first.
struct Course<F, W> {
    feed: Mutex<Option<F>>,
    sorting: Mutex<()>,
    written: Mutex<W>,
    failure: Mutex<Option<Failure>>,
}

/// The step of reading, which no other runner takes meanwhile.
pub struct Reading<'a, F, W> {
    course: &'a Course<F, W>,
    feed: MutexGuard<'a, Option<F>>,
}

/// The step of sorting.
pub struct Sorting<'a, F, W> {
    course: &'a Course<F, W>,
    _turn: MutexGuard<'a, ()>,
}

/// Has so many runners `run`, each with a buffer of its own, until a stretch was the last or a runner failed; returns what
/// was written to.
pub fn relay<F: Send, W: Send, B: Default>(
    runners: usize,
    feed: F,
    written: W,
    run: impl Fn(&mut B, Reading<'_, F, W>) -> Result<(), Failure> + Sync,
) -> Result<W, Failure> {
    let course = Course {
        feed: Mutex::new(Some(feed)),
        sorting: Mutex::new(()),
        written: Mutex::new(written),
        failure: Mutex::new(None),
    };
    let runner = || {
        let mut buffer = B::default();
        while let Some(reading) = course.next() {
            if let Err(failure) = run(&mut buffer, reading) {
                course.failure.lock().expect(PANICKED).get_or_insert(failure);
            }
        }
    };
    thread::scope(|threads| {
        for _ in 1..runners {
            if let Err(error) = thread::Builder::new().spawn_scoped(threads, runner) {
                course.failure.lock().expect(PANICKED).get_or_insert(Failure::threads(1)(error));
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

impl<F, W> Course<F, W> {
    /// The turn to read, where there is more.
    fn next(&self) -> Option<Reading<'_, F, W>> {
        let feed = self.feed.lock().expect(PANICKED);
        let goes_on = feed.is_some() && !self.failed();
        goes_on.then_some(Reading { course: self, feed })
    }

    fn failed(&self) -> bool {
        self.failure.lock().expect(PANICKED).is_some()
    }
}

impl<'a, F, W> Reading<'a, F, W> {
    pub fn feed(&mut self) -> &mut F {
        self.feed.as_mut().expect("a turn is given while there is more")
    }

    /// Waits until the stretch before is sorted, and has the next one read meanwhile unless this was the last.
    pub fn sort(mut self, last: bool) -> Sorting<'a, F, W> {
        if last {
            *self.feed = None;
        }
        Sorting { course: self.course, _turn: self.course.sorting.lock().expect(PANICKED) }
    }
}

impl<'a, F, W> Sorting<'a, F, W> {
    /// Waits until the stretch before is written. Nothing where a runner has failed: what it left out would be missing.
    pub fn write(self) -> Option<MutexGuard<'a, W>> {
        let written = self.course.written.lock().expect(PANICKED);
        (!self.course.failed()).then_some(written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers from a feed, which each runner notes in turn.
    fn noted(runners: usize, fails_at: Option<u32>) -> Result<Vec<u32>, Failure> {
        relay(runners, 0..100u32, Vec::new(), |_: &mut (), mut reading| {
            let number = reading.feed().next();
            let sorting = reading.sort(number.is_none());
            if number.is_some() && number == fails_at {
                return Err(Failure::new("failed"));
            }
            thread::yield_now();
            if let (Some(mut written), Some(number)) = (sorting.write(), number) {
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

    #[test]
    fn the_first_failure_ends_it() {
        for runners in 1..5 {
            assert_eq!(noted(runners, Some(50)).unwrap_err().to_string(), "failed");
        }
    }
}
