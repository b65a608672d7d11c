//! What a sort did: each phase, its engine, its time and the bytes it moved.

use std::fmt;
use std::time::{Duration, Instant};

/// Which engine ran a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ran {
    /// The CPU engine.
    Cpu,
    /// The GPU engine, on a CUDA device.
    Cuda,
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Ran::Cpu => "cpu",
            Ran::Cuda => "cuda",
        })
    }
}

/// One step of a sort.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Phase {
    /// `profile`, `distribute`, `finish`, or what else the plan did.
    pub name: &'static str,
    /// The engine that ran it.
    pub engine: Ran,
    /// Wall time in milliseconds.
    pub milliseconds: f64,
    /// Bytes of keys, payload and references that the phase read, by count.
    pub bytes_read: u64,
    /// Bytes that it wrote, by count.
    pub bytes_written: u64,
}

/// What a sort did.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The phases in the order in which they ran.
    pub phases: Vec<Phase>,
    /// The most scratch held at one time, in bytes.
    pub scratch_peak: u64,
}

impl Report {
    /// The time of all phases together, in milliseconds.
    #[must_use]
    pub fn milliseconds(&self) -> f64 {
        self.phases.iter().map(|phase| phase.milliseconds).sum()
    }

    /// Adds to the last phase of this name, or begins one: for programs whose own steps surround a sort.
    pub fn add(&mut self, name: &'static str, time: Duration, bytes_read: u64, bytes_written: u64) {
        self.merge(Phase {
            name,
            engine: Ran::Cpu,
            milliseconds: time.as_secs_f64() * 1e3,
            bytes_read,
            bytes_written,
        });
    }

    /// Adds the phases of another sort, phase by phase, and takes the larger scratch.
    pub fn absorb(&mut self, other: Report) {
        self.scratch_peak = self.scratch_peak.max(other.scratch_peak);
        other.phases.into_iter().for_each(|phase| self.merge(phase));
    }

    fn merge(&mut self, phase: Phase) {
        let same = |known: &&mut Phase| known.name == phase.name && known.engine == phase.engine;
        match self.phases.iter_mut().rev().find(same) {
            None => self.phases.push(phase),
            Some(known) => {
                known.milliseconds += phase.milliseconds;
                known.bytes_read += phase.bytes_read;
                known.bytes_written += phase.bytes_written;
            }
        }
    }

    /// Runs `work` as a phase of the CPU engine that reads and writes the stated bytes.
    pub(crate) fn phase<R>(
        &mut self,
        name: &'static str,
        read: usize,
        written: usize,
        work: impl FnOnce() -> R,
    ) -> R {
        let start = Instant::now();
        let result = work();
        self.push(Ran::Cpu, name, start.elapsed(), read, written);
        result
    }

    pub(crate) fn push(
        &mut self,
        engine: Ran,
        name: &'static str,
        time: Duration,
        read: usize,
        written: usize,
    ) {
        self.phases.push(Phase {
            name,
            engine,
            milliseconds: time.as_secs_f64() * 1e3,
            bytes_read: read as u64,
            bytes_written: written as u64,
        });
    }
}

impl fmt::Display for Report {
    /// A table with a row a phase.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<12} {:<6} {:>10} {:>14} {:>14}",
            "phase", "engine", "ms", "bytes read", "bytes written"
        )?;
        for p in &self.phases {
            writeln!(
                f,
                "{:<12} {:<6} {:>10.3} {:>14} {:>14}",
                p.name, p.engine, p.milliseconds, p.bytes_read, p.bytes_written
            )?;
        }
        write!(f, "total {:.3} ms, scratch at the peak {} bytes", self.milliseconds(), self.scratch_peak)
    }
}
