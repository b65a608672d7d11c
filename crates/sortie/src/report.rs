//! What a sort did: each phase, its engine, its time, the time of its threads, and the bytes that it moved.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// Which engine ran a phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ran {
    /// The CPU engine.
    Cpu,
    /// The GPU engine, on a CUDA device.
    Cuda,
    /// Both of them, together.
    Hybrid,
}

impl fmt::Display for Ran {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Ran::Cpu => "cpu",
            Ran::Cuda => "cuda",
            Ran::Hybrid => "hybrid",
        })
    }
}

/// One step of a sort.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Phase {
    /// `profile`, `distribute`, `finish`, or another step of the plan.
    pub name: &'static str,
    /// The engine that ran it.
    pub engine: Ran,
    /// Wall time in milliseconds.
    pub milliseconds: f64,
    /// Bytes of keys, payload and references that the phase read, by count.
    pub bytes_read: u64,
    /// Bytes that it wrote, by count.
    pub bytes_written: u64,
    /// How long each thread worked, in milliseconds: one entry for each thread that could take part, or one alone if the phase
    /// runs on one thread. The sum over that of the same sort with one thread is the inflation of the work. Threads times
    /// `milliseconds`, minus the sum, is the time that threads were idle.
    ///
    /// Measured for strings, and for pairs and argsorts of keys of fixed width, except their profile and argsorts of more than
    /// 131,072 keys by one or two threads. Empty if the phase, or a part of it, was not measured: other sorts,
    /// [`Algorithm::Merge`](crate::Algorithm::Merge), a GPU alone.
    pub work: Vec<f64>,
    /// Milliseconds in which the device computed or copied, if that was measured along with the work of the threads.
    pub device_work: Option<f64>,
}

impl Phase {
    /// The share of the threads' time in which they worked, if there are several.
    fn busy(&self) -> Option<f64> {
        let threads = self.work.len();
        (threads > 1).then(|| self.work.iter().sum::<f64>() / (threads as f64 * self.milliseconds))
    }

    /// The share of the phase in which the device worked, if both engines ran it.
    fn device_busy(&self) -> Option<f64> {
        self.device_work.map(|work| work / self.milliseconds)
    }
}

/// What a sort did.
#[derive(Debug, Clone, Default, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The phases in the order in which they ran. May be empty for up to 1024 keys: reading the clock would take as long as
    /// the sort.
    pub phases: Vec<Phase>,
    /// The most scratch held at one time, in bytes, of host and device together: what the sort requested and
    /// [`memory_limit`](crate::SorterBuilder::memory_limit) counts.
    pub scratch_peak: u64,
    /// Wall time in milliseconds from the start of the first phase to the end of the last, if a program has recorded it. Phases
    /// that overlap add up to more.
    pub elapsed: Option<f64>,
}

impl Report {
    /// The total time in milliseconds: [`elapsed`](Report::elapsed), or else that of all phases together.
    #[must_use]
    pub fn milliseconds(&self) -> f64 {
        self.elapsed.unwrap_or_else(|| self.all_phases())
    }

    fn all_phases(&self) -> f64 {
        self.phases.iter().map(|phase| phase.milliseconds).sum()
    }

    /// The shares of the time of both engines' phases in which the CPU's threads and the GPU were idle: neither computed nor
    /// copied. `None` if no phase ran on both engines.
    ///
    /// ```
    /// assert_eq!(sortie::Report::default().idle(), None);
    /// ```
    #[must_use]
    pub fn idle(&self) -> Option<[f64; 2]> {
        let both =
            || self.phases.iter().filter(|phase| phase.engine == Ran::Hybrid && !phase.work.is_empty());
        let time = both().map(|phase| phase.milliseconds).sum::<f64>();
        let threads = both().map(|phase| phase.work.len() as f64 * phase.milliseconds).sum::<f64>();
        let cpu = both().flat_map(|phase| &phase.work).sum::<f64>();
        let device = both().filter_map(|phase| phase.device_work).sum::<f64>();
        (time > 0.0).then(|| [1.0 - cpu / threads, 1.0 - device / time].map(|idle| idle.max(0.0)))
    }

    /// Adds to the last phase of the CPU with this name, or begins one: for programs whose own steps surround a sort.
    pub fn add(&mut self, name: &'static str, time: Duration, bytes_read: u64, bytes_written: u64) {
        self.merge(Phase {
            name,
            engine: Ran::Cpu,
            milliseconds: time.as_secs_f64() * 1e3,
            bytes_read,
            bytes_written,
            work: Vec::new(),
            device_work: None,
        });
    }

    /// Adds the phases of another sort, each to the last one of the same name and engine, and takes the larger scratch.
    /// [`elapsed`](Report::elapsed) stays as it is.
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
                known.device_work =
                    known.device_work.zip(phase.device_work).map(|(known, more)| known + more);
                if known.work.is_empty() || phase.work.is_empty() {
                    known.work.clear();
                } else {
                    known.work.resize(known.work.len().max(phase.work.len()), 0.0);
                    known.work.iter_mut().zip(phase.work).for_each(|(known, more)| *known += more);
                }
            }
        }
    }

    /// Runs `work` as a phase of the CPU engine that reads and writes the stated bytes. The work of its threads is not
    /// measured.
    pub(crate) fn phase<R>(
        &mut self,
        name: &'static str,
        read: usize,
        written: usize,
        work: impl FnOnce() -> R,
    ) -> R {
        let start = Instant::now();
        let result = work();
        self.push_since(start, name, read, written);
        result
    }

    /// [`Report::phase`] of one thread.
    pub(crate) fn phase_of_one<R>(
        &mut self,
        name: &'static str,
        read: usize,
        written: usize,
        work: impl FnOnce() -> R,
    ) -> R {
        self.phase_by_thread(name, 1, read, written, |threads| threads.task(work))
    }

    /// [`Report::phase`] of this many threads, whose tasks `work` runs through the [`Work`] that it gets.
    pub(crate) fn phase_by_thread<R>(
        &mut self,
        name: &'static str,
        threads: usize,
        read: usize,
        written: usize,
        work: impl FnOnce(&Work) -> R,
    ) -> R {
        let measured = Work::of(threads);
        let start = Instant::now();
        let result = work(&measured);
        self.push_since(start, name, read, written);
        self.phases.last_mut().expect("one was pushed").work = measured.milliseconds();
        result
    }

    /// Adds a phase of the CPU engine that has just ended. Not generic, like the methods of [`Work`], so that the many phases do not
    /// compile it again.
    #[inline(never)]
    fn push_since(&mut self, start: Instant, name: &'static str, read: usize, written: usize) {
        self.push(Ran::Cpu, name, start.elapsed(), read, written);
    }

    /// A phase of threads together with a device: how long each of them and the device worked, in milliseconds.
    #[cfg(feature = "gpu")]
    pub(crate) fn push_shared(
        &mut self,
        engine: Ran,
        name: &'static str,
        time: Duration,
        bytes: usize,
        work: Vec<f64>,
        device: f64,
    ) {
        self.push(engine, name, time, bytes, bytes);
        let phase = self.phases.last_mut().expect("one was pushed");
        (phase.work, phase.device_work) = (work, Some(device));
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
            work: Vec::new(),
            device_work: None,
        });
    }
}

/// How long each thread has worked so far in a running phase.
pub(crate) struct Work {
    nanoseconds: Vec<AtomicU64>,
}

impl Work {
    #[inline(never)]
    fn of(threads: usize) -> Self {
        Work { nanoseconds: (0..threads).map(|_| AtomicU64::new(0)).collect() }
    }

    #[inline(never)]
    fn milliseconds(self) -> Vec<f64> {
        self.nanoseconds.into_iter().map(|time| time.into_inner() as f64 * 1e-6).collect()
    }

    /// The threads that may take part, of the current rayon pool; with 1, rayon is not called.
    pub(crate) fn threads(&self) -> usize {
        self.nanoseconds.len()
    }

    /// Runs a task of the phase on this thread. It contains no other task, and is long enough to be worth two reads of the
    /// clock.
    pub(crate) fn task<R>(&self, task: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = task();
        self.add_since(start);
        result
    }

    #[inline(never)]
    fn add_since(&self, start: Instant) {
        let thread = if self.threads() > 1 { rayon::current_thread_index().unwrap_or(0) } else { 0 };
        self.nanoseconds[thread].fetch_add(start.elapsed().as_nanos() as u64, Relaxed);
    }
}

impl fmt::Display for Report {
    /// A table with a row for each phase. It shows how busy the threads were, if there were several, and how busy the GPU was.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let several = self.phases.iter().any(|phase| phase.busy().is_some());
        let both = self.phases.iter().any(|phase| phase.device_work.is_some());
        let shown = |column: bool, text: &str| if column { format!(" {text:>6}") } else { String::new() };
        let columns = |busy: &str, device: &str| shown(several, busy) + &shown(both, device);
        let percent =
            |share: Option<f64>| share.map_or(String::new(), |share| format!("{:.0}%", 100.0 * share));
        writeln!(
            f,
            "{:<12} {:<6} {:>10}{} {:>14} {:>14}",
            "phase",
            "engine",
            "ms",
            columns("busy", "GPU"),
            "bytes read",
            "bytes written"
        )?;
        for p in &self.phases {
            writeln!(
                f,
                "{:<12} {:<6} {:>10.3}{} {:>14} {:>14}",
                p.name,
                p.engine,
                p.milliseconds,
                columns(&percent(p.busy()), &percent(p.device_busy())),
                p.bytes_read,
                p.bytes_written
            )?;
        }
        let total = self.milliseconds();
        let overlap = if self.all_phases() > total { " (phases overlap)" } else { "" };
        write!(f, "total {total:.3} ms{overlap}, scratch at the peak {} bytes", self.scratch_peak)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phase(milliseconds: f64, work: &[f64]) -> Report {
        let (name, engine, work) = ("finish", Ran::Cpu, work.to_vec());
        let phase =
            Phase { name, engine, milliseconds, bytes_read: 0, bytes_written: 0, work, device_work: None };
        Report { phases: vec![phase], ..Report::default() }
    }

    #[test]
    fn idle_is_of_what_both_ran() {
        let mut report = phase(100.0, &[1.0]);
        assert_eq!(report.idle(), None);
        report.push_shared(Ran::Hybrid, "distribute", Duration::from_millis(10), 0, vec![10.0, 5.0], 9.0);
        report.push_shared(Ran::Hybrid, "finish", Duration::from_millis(30), 0, vec![30.0, 15.0], 21.0);
        let [cpu, gpu] = report.idle().unwrap();
        assert!((cpu - 0.25).abs() < 1e-9 && (gpu - 0.25).abs() < 1e-9, "{cpu} {gpu}");
        assert!(report.to_string().contains("90%"), "{report}");
    }

    #[test]
    fn phases_that_overlap_do_not_add_up_to_the_total() {
        let mut report = phase(4.0, &[]);
        assert_eq!(report.milliseconds(), 4.0);
        assert!(report.to_string().contains("total 4.000 ms, "), "{report}");
        report.elapsed = Some(3.0);
        assert_eq!(report.milliseconds(), 3.0);
        assert!(report.to_string().contains("total 3.000 ms (phases overlap), "), "{report}");
    }

    #[test]
    fn work_adds_up_thread_by_thread() {
        let mut report = phase(4.0, &[1.0]);
        report.absorb(phase(6.0, &[2.0, 6.0]));
        report.absorb(phase(2.0, &[3.0]));
        assert_eq!(report, phase(12.0, &[6.0, 6.0]));
        assert!(report.to_string().contains("  50%"), "{report}");
        for (a, b) in [(&[1.0][..], &[][..]), (&[], &[1.0])] {
            let mut report = phase(1.0, a);
            report.absorb(phase(1.0, b));
            assert_eq!(report, phase(2.0, &[]));
            assert!(!report.to_string().contains("busy"), "{report}");
        }
    }
}
