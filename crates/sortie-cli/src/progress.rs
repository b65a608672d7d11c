//! A progress bar with phase, rate and time left. It appears on standard error if that is a terminal and the work
//! takes over a second.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use sortie_files::threads::ensure_room;

/// Work shorter than this shows no bar.
const PATIENCE: Duration = Duration::from_secs(1);
const TICK: Duration = Duration::from_millis(100);

/// A progress bar, which is removed when this is dropped.
pub struct Progress {
    /// `None` if standard error is not a terminal.
    bar: Option<ProgressBar>,
    /// Closing the channel stops the thread that waits to show the bar.
    wait: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Starts the timer. The bar appears after [`PATIENCE`].
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
        // If the thread cannot be started, no bar is shown.
        let started = ensure_room(1).and_then(|()| thread::Builder::new().spawn(show));
        let wait = started.ok().map(|thread| (wait, thread));
        Progress { bar: Some(bar), wait }
    }

    /// Runs `print` while the bar is hidden, so that both can write to the terminal.
    pub fn above(&self, print: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// A function that advances the bar by a number of bytes, from any thread.
    pub fn counter(&self) -> impl Fn(u64) + Send + Sync + 'static {
        let bar = self.bar.clone();
        move |bytes| {
            if let Some(bar) = &bar {
                bar.inc(bytes);
            }
        }
    }
}

impl sortie_files::Progress for Progress {
    fn stage(&self, name: &'static str, bytes: u64) {
        let Some(bar) = &self.bar else { return };
        let template = if bytes > 0 {
            "{msg} {wide_bar} {bytes}/{total_bytes} {bytes_per_sec}, {eta} left"
        } else {
            "{spinner} {msg} {bytes} {bytes_per_sec}"
        };
        bar.set_style(ProgressStyle::with_template(template).expect("a valid template"));
        bar.set_message(name);
        bar.set_length(bytes);
        // Resets the rate too.
        bar.reset();
    }

    fn advance(&self, bytes: u64) {
        if let Some(bar) = &self.bar {
            bar.inc(bytes);
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((wait, thread)) = self.wait.take() {
            drop(wait);
            // The thread does not panic, and a failed bar must not fail the sort.
            let _ = thread.join();
        }
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
