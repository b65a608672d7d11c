//! A progress bar on standard error, where that is a terminal and the work takes over a second: phase, rate and time left.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(100);

/// Shows how far the work is; gone when dropped.
pub struct Progress {
    bar: ProgressBar,
    /// Closed to end the wait of the thread.
    wait: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Nothing is shown yet.
    pub fn start() -> Progress {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let wait = io::stderr().is_terminal().then(|| {
            let (wait, over) = mpsc::channel();
            let bar = bar.clone();
            let show = move || {
                if over.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                    bar.set_draw_target(ProgressDrawTarget::stderr());
                    bar.enable_steady_tick(TICK);
                }
            };
            // Without a thread to spare there is no bar.
            thread::Builder::new().spawn(show).ok().map(|thread| (wait, thread))
        });
        Progress { bar, wait: wait.flatten() }
    }

    /// Begins a stage of so many bytes, 0 where that is not known.
    pub fn stage(&self, name: &'static str, bytes: u64) {
        let template = if bytes > 0 {
            "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec}, {eta} left"
        } else {
            "{spinner} {msg} {bytes} {bytes_per_sec}"
        };
        self.bar.set_style(ProgressStyle::with_template(template).expect("a valid template"));
        self.bar.set_message(name);
        self.bar.set_length(bytes);
        // The rate too begins anew.
        self.bar.reset();
    }

    /// Has `print` write to the terminal while the bar is out of the way.
    pub fn above(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }

    /// Notes that so many more bytes of the stage are done.
    pub fn advance(&self, bytes: u64) {
        self.bar.inc(bytes);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((wait, thread)) = self.wait.take() {
            drop(wait);
            // It does not panic, and a bar is no reason to fail.
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}
