//! A phase of both engines: runs its threads, and records when they and the device work.

use std::sync::atomic::AtomicBool;
use std::time::Instant;

use crate::gpu::threads;
use crate::gpu::{Clock, Origin, Ring, Span, busy};
use crate::{Error, Ran, Report};

pub(super) struct Phase<'e> {
    name: &'static str,
    bytes: usize,
    start: Instant,
    origin: &'e Origin,
    /// When the device works.
    pub spans: Vec<Span>,
    /// The work of each thread in milliseconds.
    work: Vec<f64>,
}

impl<'e> Phase<'e> {
    /// Begins a phase that reads and writes `bytes` bytes. Device times count from `origin`.
    pub fn begin(name: &'static str, bytes: usize, origin: &'e Origin) -> Self {
        Phase { name, bytes, start: Instant::now(), origin, spans: Vec::new(), work: Vec::new() }
    }

    /// Runs `work` on a thread for each ring, and waits for all threads. Each gets its number and its ring. The last
    /// argument of `work` becomes true when a thread has failed, so that the others can stop.
    pub fn on_threads<R: Send>(
        &mut self,
        rings: &mut [Ring],
        work: impl Fn(usize, &mut Ring, &mut Clock<'_>, &AtomicBool) -> Result<R, Error> + Sync,
    ) -> Result<Vec<R>, Error> {
        let origin = self.origin;
        let done = threads::for_each(rings, |number, ring, failed| {
            let (mut clock, start) = (Clock::new(origin), Instant::now());
            let result = work(number, ring, &mut clock, failed);
            // Its copies are done when this returns, even after an error.
            let settled = ring.settle(&mut clock);
            let result = result.and_then(|result| settled.map(|()| result))?;
            Ok((result, clock.spans, 1e3 * (start.elapsed() - clock.waited).as_secs_f64()))
        })?;
        let mut results = Vec::with_capacity(done.len());
        for (result, spans, busy) in done {
            self.spans.extend(spans);
            self.work.push(busy);
            results.push(result);
        }
        Ok(results)
    }

    pub fn end(self, report: &mut Report) {
        report.push_shared(
            Ran::Hybrid,
            self.name,
            self.start.elapsed(),
            self.bytes,
            self.work,
            busy(self.spans),
        );
    }
}
