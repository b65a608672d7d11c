//! [`Interrupts`]: signals that end a command.

use std::io;

use rustix::process::{Signal, getpid, kill_process};
use tokio::signal::unix::{self, SignalKind, signal};

/// Interrupts and requests to end, from when this value is made.
pub struct Interrupts {
    interrupt: unix::Signal,
    end: unix::Signal,
}

impl Interrupts {
    pub fn new() -> io::Result<Interrupts> {
        Ok(Interrupts { interrupt: signal(SignalKind::interrupt())?, end: signal(SignalKind::terminate())? })
    }

    /// Waits for the next one.
    pub async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => (),
            _ = self.end.recv() => (),
        }
    }
}

/// Treats a hangup as a request to end, which Ballista listens to too. Not so if the caller has it ignored, as `nohup` does.
pub fn end_on_hangup() -> io::Result<()> {
    if is_hangup_ignored() {
        return Ok(());
    }
    let mut hangup = signal(SignalKind::hangup())?;
    tokio::spawn(async move {
        while hangup.recv().await.is_some() {
            let _ = kill_process(getpid(), Signal::TERM);
        }
    });
    Ok(())
}

/// The mask of ignored signals has bit 0 for the first signal, which is the hangup. Linux alone tells it.
fn is_hangup_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}
