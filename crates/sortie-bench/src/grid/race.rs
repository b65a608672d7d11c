//! How contenders are measured at one cell. Sortie runs first, then each peer, each after a warm-up. If the best peer
//! is faster, it and Sortie are measured again in turn. The same applies to the best sort of the standard library.

use crate::Result;
use crate::measure::median;
use crate::suite_batch::contenders::left_out;

/// The number of pairs of runs if the best peer is faster.
pub const PAIRS: usize = 21;

/// A peer that is slower than Sortie by this factor is measured only once.
const HOPELESS: f64 = 5.0;

/// Times in milliseconds, and whether the results were correct.
pub struct Times {
    pub ms: Vec<f64>,
    pub right: bool,
}

/// A contender that is ready to run. Its function sorts the given number of times.
pub struct Entrant<'a> {
    pub name: &'static str,
    pub includes: &'static str,
    pub run: Box<dyn FnMut(usize) -> Result<Times> + 'a>,
}

impl<'a> Entrant<'a> {
    /// A contender that is timed and checked in each run.
    pub fn new(
        name: &'static str,
        includes: &'static str,
        mut once: impl FnMut() -> Result<(f64, bool)> + 'a,
    ) -> Entrant<'a> {
        let run = move |reps| {
            let mut times = Times { ms: Vec::new(), right: true };
            for _ in 0..reps {
                let (ms, right) = once()?;
                times.ms.push(ms);
                times.right &= right;
            }
            Ok(times)
        };
        Entrant { name, includes, run: Box::new(run) }
    }
}

/// Whether a contender is the standard library's equivalent of the call, or one of several.
pub fn is_std(name: &str) -> bool {
    matches!(name, "std" | "std (stable)")
}

/// The result of a contender.
pub struct Raced {
    pub name: &'static str,
    pub includes: &'static str,
    pub times: Times,
}

/// Measures all contenders. The first is Sortie; if it fails, that is an error. Peers that fail are left out.
pub fn race(mut entrants: Vec<Entrant<'_>>, reps: usize) -> Result<Vec<Raced>> {
    let mut all: Vec<(usize, Times)> = Vec::new();
    for (at, entrant) in entrants.iter_mut().enumerate() {
        let to_beat = all.first().map_or(f64::INFINITY, |(_, ours)| HOPELESS * median(&ours.ms));
        match measured(entrant, reps, to_beat) {
            Ok(times) => all.push((at, times)),
            Err(error) if at == 0 => return Err(error),
            Err(error) => left_out(entrant.name, &*error),
        }
    }
    let best = |counts: fn(&str) -> bool| {
        let right = (1..all.len()).filter(|&at| all[at].1.right && counts(entrants[all[at].0].name));
        let best = right.min_by(|&a, &b| median(&all[a].1.ms).total_cmp(&median(&all[b].1.ms)));
        best.filter(|&best| median(&all[best].1.ms) < median(&all[0].1.ms))
    };
    if let Some(peer) = best(|_| true) {
        let standard = best(is_std).filter(|&standard| standard != peer);
        let again: Vec<_> = [0, peer].into_iter().chain(standard).collect();
        for &at in &again {
            all[at].1.ms.clear();
        }
        for _ in 0..PAIRS {
            for &at in &again {
                let (entrant, times) = &mut all[at];
                let again = (entrants[*entrant].run)(1)?;
                times.ms.extend(again.ms);
                times.right &= again.right;
            }
        }
    }
    let raced = |(at, times): (usize, Times)| {
        let Entrant { name, includes, .. } = entrants[at];
        Raced { name, includes, times }
    };
    Ok(all.into_iter().map(raced).collect())
}

/// Measures a contender after a warm-up. The result of the warm-up is checked, but its time does not count, because it may load
/// kernels.
fn measured(entrant: &mut Entrant<'_>, reps: usize, to_beat: f64) -> Result<Times> {
    let warm = (entrant.run)(1)?;
    let mut times = (entrant.run)(1)?;
    times.right &= warm.right;
    if median(&times.ms) <= to_beat && reps > 1 {
        let others = (entrant.run)(reps - 1)?;
        times.ms.extend(others.ms);
        times.right &= others.right;
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entrant(name: &'static str, ms: f64, right: bool) -> Entrant<'static> {
        Entrant::new(name, "nothing", move || Ok((ms, right)))
    }

    fn counts(raced: &[Raced]) -> Vec<(&'static str, usize)> {
        raced.iter().map(|raced| (raced.name, raced.times.ms.len())).collect()
    }

    #[test]
    fn who_is_behind_runs_again_in_turn_with_the_best_right_peer() {
        let ahead = [entrant("sortie", 1.0, true), entrant("a", 2.0, true), entrant("slow", 9.0, true)];
        assert_eq!(counts(&race(ahead.into(), 5).unwrap()), [("sortie", 5), ("a", 5), ("slow", 1)]);
        let behind = [
            entrant("sortie", 3.0, true),
            entrant("a", 2.5, true),
            entrant("b", 2.0, true),
            entrant("wrong", 1.0, false),
        ];
        let raced = race(behind.into(), 5).unwrap();
        assert_eq!(counts(&raced), [("sortie", 21), ("a", 5), ("b", 21), ("wrong", 5)]);
        assert!(!raced[3].times.right && raced[0].times.right);
    }

    #[test]
    fn the_best_of_std_runs_again_where_it_is_ahead_and_another_peer_further() {
        let race_of = |std, stable, peer| {
            let entrants = [
                entrant("sortie", 3.0, true),
                entrant("std", std, true),
                entrant("std (stable)", stable, true),
                entrant("a", peer, true),
            ];
            race(entrants.into(), 5)
                .unwrap()
                .into_iter()
                .map(|raced| raced.times.ms.len())
                .collect::<Vec<_>>()
        };
        assert_eq!(race_of(2.5, 2.0, 1.0), [21, 5, 21, 21]);
        assert_eq!(race_of(4.0, 5.0, 1.0), [21, 5, 5, 21]);
        assert_eq!(race_of(2.5, 2.0, 9.0), [21, 5, 21, 5]);
    }

    #[test]
    fn a_peer_that_fails_is_left_out_and_sortie_is_not() {
        let fails = || Entrant::new("fails", "nothing", || Err("it does".into()));
        let raced = race(vec![entrant("sortie", 1.0, true), fails()], 5).unwrap();
        assert_eq!(counts(&raced), [("sortie", 5)]);
        assert!(race(vec![fails(), entrant("a", 1.0, true)], 5).is_err());
    }
}
