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
    /// `None` if there is no terminal to show it on.
    bar: Option<ProgressBar>,
    /// Closed to end the wait of the thread.
    wait: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Nothing is shown yet.
    pub fn start() -> Progress {
        if !io::stderr().is_terminal() {
            return Progress { bar: None, wait: None };
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::hidden());
        let (wait, over) = mpsc::channel();
        let shown = bar.clone();
        let show = move || {
            if over.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
                shown.set_draw_target(ProgressDrawTarget::stderr());
                shown.enable_steady_tick(TICK);
            }
        };
        // Without a thread to spare there is no bar.
        let wait = thread::Builder::new().spawn(show).ok().map(|thread| (wait, thread));
        Progress { bar: Some(bar), wait }
    }

    /// Begins a stage of so many bytes, 0 where that is not known.
    pub fn stage(&self, name: &'static str, bytes: u64) {
        let Some(bar) = &self.bar else { return };
        let template = if bytes > 0 {
            "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec}, {eta} left"
        } else {
            "{spinner} {msg} {bytes} {bytes_per_sec}"
        };
        bar.set_style(ProgressStyle::with_template(template).expect("a valid template"));
        bar.set_message(name);
        bar.set_length(bytes);
        // The rate too begins anew.
        bar.reset();
    }

    /// Has `print` write to the terminal while the bar is out of the way.
    pub fn above(&self, print: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// A function that advances the stage by a number of bytes, from any thread.
    pub fn counter(&self) -> impl Fn(u64) + Send + Sync + 'static {
        let bar = self.bar.clone();
        move |bytes| {
            if let Some(bar) = &bar {
                bar.inc(bytes);
            }
        }
    }

    /// Notes that so many more bytes of the stage are done.
    pub fn advance(&self, bytes: u64) {
        if let Some(bar) = &self.bar {
            bar.inc(bytes);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((wait, thread)) = self.wait.take() {
            drop(wait);
            // It does not panic, and a bar is no reason to fail.
            let _ = thread.join();
        }
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
