//! How a case is measured. Each repetition draws new data, the same for all contenders. They run one after the other,
//! and each result is checked against that of the baseline.

use std::time::{Duration, Instant};

use rand::SeedableRng;
use sortie::Report;

use crate::Result;
use crate::distributions::Rng;
#[cfg(test)]
pub use crate::measured::FACTS;
pub use crate::measured::{Facts, Measured, amount, median};
use crate::report::{Outcome, Row};

/// Collects the measured time and, if known, the peak memory and the phases.
#[derive(Debug, Default)]
pub struct Clock {
    pub spent: Duration,
    pub peak_bytes: u64,
    pub report: Report,
    /// What the contender reports about this run, or an empty string.
    pub note: String,
}

impl Clock {
    pub fn time<R>(&mut self, work: impl FnOnce() -> R) -> R {
        let start = Instant::now();
        let result = work();
        self.spent += start.elapsed();
        result
    }
}

type Draw<I> = Box<dyn Fn(&mut Rng) -> Result<I>>;
type Run<I, O> = Box<dyn Fn(&I, &mut Clock) -> Result<O>>;

/// One way to do the work of a case.
pub struct Contender<I, O> {
    name: &'static str,
    threads: usize,
    pub run: Run<I, O>,
}

impl<I, O> Contender<I, O> {
    /// `run` prepares the work from the input, times the part that counts, and returns the outcome.
    pub fn new(
        name: &'static str,
        threads: usize,
        run: impl Fn(&I, &mut Clock) -> Result<O> + 'static,
    ) -> Self {
        Contender { name, threads, run: Box::new(run) }
    }
}

/// One workload on one distribution. The first contender is the baseline.
pub struct Case<I, O> {
    /// The figure of a paper, or an empty string.
    pub figure: &'static str,
    pub facts: Facts,
    pub draw: Draw<I>,
    /// The size of an input.
    pub bytes: fn(&I) -> usize,
    /// Whether an outcome (the last argument) is correct, given that of the baseline.
    pub agrees: fn(&I, &O, &O) -> bool,
    pub contenders: Vec<Contender<I, O>>,
}

impl<I, O> Case<I, O> {
    fn label(&self) -> String {
        format!("{} {}", self.figure, self.facts.label()).trim_start().into()
    }
}

/// The default number of repetitions.
pub const REPS: usize = 5;

/// A [`Case`] of any kind.
pub trait Measurable {
    /// Drops the contenders that were not requested. Returns whether any are left besides the baseline.
    fn keep(&mut self, filter: &str, threads: &[usize]) -> bool;
    fn describe(&self) -> String;
    /// The number of repetitions, unless the command line gives one.
    fn reps(&self) -> usize {
        REPS
    }
    fn measure(&self, reps: usize, seed: u64) -> Result<Outcome>;
}

impl<I, O> Measurable for Case<I, O> {
    fn keep(&mut self, filter: &str, threads: &[usize]) -> bool {
        let filter = filter.to_lowercase();
        let whole = self.label().to_lowercase().contains(&filter);
        let mut baseline = true;
        self.contenders.retain(|c| {
            let wanted = whole || c.name.to_lowercase().contains(&filter);
            std::mem::take(&mut baseline) || (wanted && threads.contains(&c.threads))
        });
        whole || self.contenders.len() > 1
    }

    fn describe(&self) -> String {
        let contenders: Vec<_> =
            self.contenders.iter().map(|c| format!("{} x{}", c.name, c.threads)).collect();
        format!("{}: {}", self.label(), contenders.join(", "))
    }

    fn measure(&self, reps: usize, seed: u64) -> Result<Outcome> {
        let mut measured = vec![Measured { verified: true, ..Measured::default() }; self.contenders.len()];
        for rep in 0..reps {
            let mut rng = Rng::seed_from_u64(seed.wrapping_mul(1000).wrapping_add(rep as u64));
            let input = (self.draw)(&mut rng)?;
            let run = |contender: &Contender<I, O>, measured: &mut Measured| -> Result<O> {
                let mut clock = Clock::default();
                let outcome = (contender.run)(&input, &mut clock)?;
                measured.times_ms.push(clock.spent.as_secs_f64() * 1e3);
                measured.bytes = (self.bytes)(&input);
                measured.peak_bytes = clock.peak_bytes.max(measured.peak_bytes);
                measured.reports.push(clock.report);
                measured.note = clock.note;
                Ok(outcome)
            };
            let reference = run(&self.contenders[0], &mut measured[0])?;
            for at in rotation(self.contenders.len(), rep) {
                let outcome = run(&self.contenders[at], &mut measured[at])?;
                measured[at].verified &= (self.agrees)(&input, &reference, &outcome);
            }
        }
        let rows = self.contenders.iter().zip(&measured);
        let row = |(contender, measured): (&Contender<I, O>, _)| Row {
            figure: self.figure,
            label: self.label(),
            ..Row::new(&self.facts, contender.name, contender.threads, measured)
        };
        Ok(Outcome::Timed(rows.map(row).collect()))
    }
}

/// The contenders after the baseline. Each repetition starts with another one, so that none always runs first.
pub fn rotation(contenders: usize, rep: usize) -> impl Iterator<Item = usize> {
    let others = contenders - 1;
    (0..others).map(move |i| 1 + (i + rep) % others)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn contender(name: &'static str, threads: usize, sort: fn(&mut Vec<u8>)) -> Contender<Vec<u8>, Vec<u8>> {
        Contender::new(name, threads, move |input: &Vec<u8>, clock| {
            let mut data = input.clone();
            clock.time(|| sort(&mut data));
            Ok(data)
        })
    }

    fn case() -> Case<Vec<u8>, Vec<u8>> {
        Case {
            figure: "",
            facts: FACTS,
            draw: Box::new(|_| Ok(vec![3, 1, 2, 0])),
            bytes: |v| v.len(),
            agrees: |_, reference, outcome| reference == outcome,
            contenders: vec![
                contender("std", 1, |v| v.sort_unstable()),
                contender("right", 1, |v| v.sort()),
                contender("wrong", 2, |v| v.reverse()),
            ],
        }
    }

    #[test]
    fn every_other_contender_once_a_repetition() {
        for rep in 0..5 {
            let mut seen: Vec<_> = rotation(4, rep).collect();
            assert_eq!(seen[0], 1 + rep % 3);
            seen.sort_unstable();
            assert_eq!(seen, [1, 2, 3]);
        }
        assert_eq!(rotation(1, 3).count(), 0);
    }

    #[test]
    fn a_wrong_result_is_told() {
        let Outcome::Timed(rows) = case().measure(3, 1).unwrap() else { panic!("it is timed") };
        let verified: Vec<_> = rows.iter().map(|row| (row.contender, row.verified)).collect();
        assert_eq!(verified, [("std", true), ("right", true), ("wrong", false)]);
    }

    #[test]
    fn filters_by_case_contender_and_threads() {
        let mut by_threads = case();
        assert!(by_threads.keep("", &[1]));
        assert_eq!(by_threads.describe(), "sort u8, 4, uniform: std x1, right x1");
        let mut by_contender = case();
        assert!(by_contender.keep("WRO", &[1, 2]));
        assert_eq!(by_contender.describe(), "sort u8, 4, uniform: std x1, wrong x2");
        assert!(case().keep("uniform", &[1]));
        assert!(!case().keep("zipf", &[1, 2]));
    }
}
