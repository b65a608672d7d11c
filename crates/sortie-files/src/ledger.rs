//! What a sort tells while it runs: its progress, and a report of its phases.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sortie::Report;

use crate::Error;

/// Receives the progress of a sort, from any of its threads.
pub trait Progress: Send + Sync {
    /// A phase of this many bytes begins, 0 if the number is not known.
    fn stage(&self, name: &'static str, bytes: u64);

    /// This many more bytes are done.
    fn advance(&self, bytes: u64);

    /// Whether the sort is to stop. It then ends with [`Error::Stopped`], and leaves its output as it was.
    fn is_stopped(&self) -> bool {
        false
    }

    /// Whether a complete result may replace the output. Called before that.
    fn may_publish(&self) -> bool {
        !self.is_stopped()
    }
}

/// No progress is shown.
struct Silent;

impl Progress for Silent {
    fn stage(&self, _: &'static str, _: u64) {}
    fn advance(&self, _: u64) {}
}

/// The progress and the report of a sort, shared by all of its threads.
pub struct Ledger {
    pub progress: Arc<dyn Progress>,
    opened: Instant,
    report: Mutex<Report>,
}

impl Default for Ledger {
    fn default() -> Ledger {
        Ledger::new(Arc::new(Silent))
    }
}

impl Ledger {
    pub fn new(progress: Arc<dyn Progress>) -> Ledger {
        Ledger { progress, opened: Instant::now(), report: Mutex::default() }
    }

    /// A function that tells the progress of a number of bytes, for a reader that outlives the ledger.
    pub fn counter(&self) -> impl Fn(u64) + Send + Sync + 'static {
        let progress = Arc::clone(&self.progress);
        move |bytes| progress.advance(bytes)
    }

    /// Fails if the sort is to stop.
    pub fn check(&self) -> Result<(), Error> {
        if self.progress.is_stopped() { Err(Error::Stopped) } else { Ok(()) }
    }

    /// Fails if the complete result is not to replace the output.
    pub fn may_publish(&self) -> Result<(), Error> {
        if self.progress.may_publish() { Ok(()) } else { Err(Error::Stopped) }
    }

    /// Runs `work` as a phase that reads and writes the given numbers of bytes.
    pub fn timed<R>(&self, phase: &'static str, read: usize, written: usize, work: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = work();
        self.note(phase, start.elapsed(), read, written);
        result
    }

    /// Adds a phase to the report.
    pub fn note(&self, phase: &'static str, time: Duration, read: usize, written: usize) {
        self.report.lock().expect("no thread panicked").add(phase, time, read as u64, written as u64);
    }

    /// Adds the report of a sort in memory.
    pub fn absorb(&self, report: Report) {
        self.report.lock().expect("no thread panicked").absorb(report);
    }

    /// Ends the progress, and returns the report.
    pub fn close(self) -> Report {
        drop(self.progress);
        let mut report = self.report.into_inner().expect("no thread panicked");
        // One batch is read while another is sorted, so the times of the phases may add up to more than this.
        report.elapsed = Some(self.opened.elapsed().as_secs_f64() * 1e3);
        report
    }
}
