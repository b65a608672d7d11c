//! A sort of files that tells its progress, and that signals stop.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use sortie::Report;
use sortie_files::{Ledger, Progress};

use crate::errors::Failure;

/// How long the calling thread waits between two looks at signals.
const PATIENCE: Duration = Duration::from_millis(50);

/// Runs `sort` on a thread of its own. Meanwhile this one looks at signals, and calls `progress` with the bytes that were read and
/// written, and with `work`, those that there are to read and write. If either raises an exception, the sort stops.
pub fn watched(
    progress: Option<&Py<PyAny>>,
    work: Option<u64>,
    sort: impl FnOnce(Ledger) -> Result<Report, Failure> + Send,
) -> Result<Report, Failure> {
    let (tell, told) = mpsc::channel();
    let stop = Arc::new(AtomicBool::new(false));
    let ledger = Ledger::new(Arc::new(Told { tell: Mutex::new(tell), stop: stop.clone() }));
    let (sorted, raised) = thread::scope(|scope| {
        let sort = scope.spawn(move || sort(ledger));
        let mut raised = None;
        let mut done = 0;
        loop {
            let more = match told.recv_timeout(PATIENCE) {
                Ok(News::Done(bytes)) => bytes,
                Ok(News::Complete(answer)) => {
                    // The sort may have ended meanwhile.
                    let _ = answer.send(raised.is_none());
                    0
                }
                Err(RecvTimeoutError::Timeout) => 0,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            done += more;
            if raised.is_none()
                && let Err(error) = tell_python(progress.filter(|_| more > 0), done, work)
            {
                raised = Some(error);
                stop.store(true, Relaxed);
            }
        }
        (sort.join(), raised)
    });
    if let Some(error) = raised {
        return Err(error.into());
    }
    sorted.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Tells the caller how far the sort is. The calling thread alone learns of signals.
fn tell_python(progress: Option<&Py<PyAny>>, done: u64, work: Option<u64>) -> PyResult<()> {
    Python::attach(|py| {
        py.check_signals()?;
        match progress {
            Some(progress) => progress.call1(py, (done, work)).map(drop),
            None => Ok(()),
        }
    })
}

/// What the calling thread is told.
enum News {
    /// This many more bytes are done.
    Done(u64),
    /// The result is complete, and may be published if the answer is true.
    Complete(Sender<bool>),
}

/// Tells the calling thread of the progress, and learns from it whether to stop.
struct Told {
    tell: Mutex<Sender<News>>,
    stop: Arc<AtomicBool>,
}

impl Progress for Told {
    fn stage(&self, _: &'static str, _: u64) {}

    fn advance(&self, bytes: u64) {
        self.send(News::Done(bytes));
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }

    /// Waits until the calling thread has told Python of all that is done.
    fn may_publish(&self) -> bool {
        let (answer, answered) = mpsc::channel();
        self.send(News::Complete(answer));
        answered.recv().unwrap_or(false)
    }
}

impl Told {
    fn send(&self, news: News) {
        // The receiver stays until this sender is dropped.
        let _ = self.tell.lock().expect("no thread panics with it").send(news);
    }
}
