//! The trials of `--search`.

use rand::{Rng as _, SeedableRng};
use sortie_device::cuda;

use super::cells::{KeyType, Work, power};
use super::rig::Rig;
use super::{LARGE, about};
use crate::Result;
use crate::args::Args;
use crate::distributions::Rng;
use crate::grid::draw::Source;
use crate::grid::race::{Raced, race};
use crate::grid::recipe::Recipe;
use crate::grid::results::{Score, rows};
use crate::grid::search::{Tried, search};
use crate::measure::{Facts, REPS};

/// The logarithms of sizes, unless `--n` gives a size.
const LOGS: std::ops::Range<f64> = 10.0..28.5;

/// A random array, and an operation on it.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Trial {
    seed: u64,
    key: KeyType,
    work: Work,
    n: usize,
    recipe: Recipe,
}

impl Trial {
    fn draw(seed: u64, n: Option<usize>) -> Trial {
        let mut rng = Rng::seed_from_u64(seed);
        let key = KeyType::ALL[(rng.next_u64() % KeyType::ALL.len() as u64) as usize];
        let work = Work::ALL[(rng.next_u64() % Work::ALL.len() as u64) as usize];
        let log = LOGS.start + rng.next_u64() as f64 / 2f64.powi(64) * (LOGS.end - LOGS.start);
        // Half of the sizes are powers of two.
        let log = if rng.next_u64().is_multiple_of(2) { log.floor() } else { log };
        let recipe = Recipe::draw(8 * key.bytes() as u64, &mut rng);
        Trial { seed, key, work, n: n.unwrap_or(log.exp2() as usize), recipe }
    }

    fn facts(&self) -> Facts {
        Facts {
            suite: "grid, search",
            work: self.work.name(),
            key: self.key.name(),
            payload: self.work.payload(),
            n: self.n,
            segments: None,
            length: None,
            distribution: "random",
            includes: "nothing",
        }
    }

    fn label(&self) -> String {
        let payload = self.work.payload();
        let beside = if payload.is_empty() { String::new() } else { format!(" + {payload}") };
        format!("{} {}{beside}, {}, {}", self.work.name(), self.key.name(), power(self.n), self.recipe)
    }

    fn race(&self, rig: &Rig, reps: usize) -> Result<Vec<Raced>> {
        let array = rig.arena.draw(Source::Recipe(self.recipe), self.key, self.n, self.seed)?;
        race(rig.array_entrants(&array, self.work), reps)
    }
}

/// Runs trials for the given number of seconds, but at least one. Returns whether every result was correct.
pub fn run(args: &Args, seconds: u64) -> Result<bool> {
    let device = cuda::device(0)?;
    let most = args.n.unwrap_or(LOGS.end.exp2() as usize);
    let rig = Rig::new(&device, args.peers.as_deref(), most, 8 * most)?;
    search(args, seconds, |seed| {
        let trial = Trial::draw(seed, args.n);
        let reps = args.reps.unwrap_or(if trial.n < LARGE { 3 * REPS } else { REPS });
        let label = trial.label();
        let raced = trial.race(&rig, reps).map_err(|error| format!("seed {seed}, {label}: {error}"))?;
        let score = Score::of_rows(&rows(&about(&trial.facts(), &label, &device.properties().name), &raced));
        let score = score.expect("Sortie is among them");
        Ok(Tried { label, raced, right: score.all_right(), ratio: score.ratio() })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_repeat_by_their_seed() {
        let trials: Vec<_> = (0..500).map(|seed| Trial::draw(seed, None)).collect();
        assert_eq!(trials[7], Trial::draw(7, None));
        assert!(trials.iter().all(|trial| (1 << 10..=LOGS.end.exp2() as usize).contains(&trial.n)));
        for work in Work::ALL {
            assert!(trials.iter().any(|trial| trial.work == work));
        }
        assert_eq!(Trial::draw(7, Some(1000)).n, 1000);
        assert!(Trial::draw(7, Some(1000)).label().contains(", 1000, "));
    }
}
