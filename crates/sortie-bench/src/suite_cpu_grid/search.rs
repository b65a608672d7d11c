//! The trials of `--search`.

use rand::{Rng as _, SeedableRng};

use super::calls::{self, race_keys};
use super::cells::{Call, Texts};
use super::strings::{self, race_strings};
use super::{Rig, about, bytes, reps};
use crate::Result;
use crate::args::Args;
use crate::distributions::Rng;
use crate::grid::draw::Source;
use crate::grid::race::Raced;
use crate::grid::recipe::Recipe;
use crate::grid::results::{Score, rows};
use crate::grid::search::{Tried, search};
use crate::grid::shape::Shape;
use crate::measure::Facts;

/// The logarithms of sizes, unless `--n` gives a size.
const LOGS: std::ops::Range<f64> = 0.0..21.0;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Drawn {
    Keys(Source),
    Texts(Texts),
}

/// A random call on a random array.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Trial {
    seed: u64,
    call: Call,
    n: usize,
    drawn: Drawn,
}

impl Trial {
    fn draw(seed: u64, n: Option<usize>) -> Trial {
        let mut rng = Rng::seed_from_u64(seed);
        let mut below = |end: usize| (rng.next_u64() % end as u64) as usize;
        let calls = Call::all();
        let call = calls[below(calls.len())];
        let log = LOGS.start + below(1 << 20) as f64 / f64::from(1 << 20) * (LOGS.end - LOGS.start);
        let drawn = match call.key() {
            // One trial in four uses a shape of the grid, possibly with a size that the grid does not have.
            Some(key) if below(4) == 0 => {
                let shapes: Vec<_> = Shape::ALL.iter().filter(|shape| shape.takes(key.is_float())).collect();
                Drawn::Keys(Source::Shape(*shapes[below(shapes.len())]))
            }
            Some(key) => Drawn::Keys(Source::Recipe(Recipe::draw(8 * key.bytes() as u64, &mut rng))),
            None => {
                let texts: Vec<_> = Texts::available().collect();
                Drawn::Texts(texts[below(texts.len())])
            }
        };
        Trial { seed, call, n: n.unwrap_or(log.exp2() as usize), drawn }
    }

    fn label(&self) -> String {
        let drawn = match self.drawn {
            Drawn::Keys(Source::Shape(shape)) => shape.name().to_string(),
            Drawn::Keys(Source::Recipe(recipe)) => recipe.to_string(),
            Drawn::Texts(texts) => texts.name().to_string(),
        };
        format!("{}, {}, {drawn}", self.call.title(), self.n)
    }

    fn race(&self, rig: &Rig, reps: usize) -> Result<Vec<Raced>> {
        let Trial { seed, call, n, drawn } = *self;
        let (threads, native) = (rig.threads, rig.native.as_ref());
        match drawn {
            Drawn::Keys(source) => race_keys(call, &calls::Job { source, n, seed, reps, threads, native }),
            Drawn::Texts(texts) => race_strings(call, &strings::Job { texts, n, seed, reps, threads }),
        }
    }
}

/// Runs trials for the given number of seconds, but at least one. Returns whether every result was correct.
pub fn run(args: &Args, seconds: u64, rig: &Rig) -> Result<bool> {
    search(args, seconds, |seed| {
        let trial = Trial::draw(seed, args.n);
        let (label, n) = (trial.label(), trial.n);
        let raced = trial.race(rig, args.reps.unwrap_or(reps(n)));
        let raced = raced.map_err(|error| format!("seed {seed}, {label}: {error}"))?;
        let facts = Facts { distribution: "random", ..trial.call.facts(n) };
        let score = Score::of_rows(&rows(
            &about(&facts, &label, &rig.device, rig.threads, bytes(trial.call, n)),
            &raced,
        ));
        let score = score.expect("Sortie is among them");
        Ok(Tried { label, raced, right: score.right(), ratio: score.over("std") })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trials_repeat_by_their_seed() {
        let trials: Vec<_> = (0..1000).map(|seed| Trial::draw(seed, None)).collect();
        assert_eq!(trials[7], Trial::draw(7, None));
        assert!(trials.iter().all(|trial| (1..=1 << 21).contains(&trial.n)));
        for call in Call::all() {
            assert!(trials.iter().any(|trial| trial.call == call), "{}", call.title());
        }
        assert_eq!(Trial::draw(7, Some(1000)).n, 1000);
        assert!(Trial::draw(7, Some(1000)).label().contains(", 1000, "));
    }
}
