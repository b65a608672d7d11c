//! Summarises all cells and compares them with the targets.

use std::fmt::Write as _;

use super::cells::{Cell, KeyType};
use crate::bars::{CPU_GRID_BARS, CPU_GRID_MEAN, CPU_GRID_SLACK_MS, CPU_GRID_SMALL, CPU_GRID_WORST};
use crate::grid::results::Score;
use crate::grid::{geometric_mean, time};

/// The number of cells that are listed by name.
const WORST: usize = 15;

/// A cell with its ratio to the standard library's equivalent.
struct Rated<'a> {
    cell: &'a Cell,
    score: &'a Score,
    ratio: f64,
}

impl Rated<'_> {
    fn line(&self) -> String {
        let standard = self.score.standard().expect("there is a ratio");
        let times = (time(self.score.sortie().ms), time(standard.ms));
        format!("{:.2}  {}: sortie {}, {} {}", self.ratio, self.cell.label(), times.0, standard.name, times.1)
    }

    fn is_small(&self) -> bool {
        self.cell.n < CPU_GRID_SMALL
    }

    fn behind_ms(&self) -> f64 {
        self.score.sortie().ms - self.score.standard().expect("there is a ratio").ms
    }

    /// Whether this cell meets the target for every cell.
    fn is_met(&self) -> bool {
        self.ratio >= CPU_GRID_WORST || (self.is_small() && self.behind_ms() <= CPU_GRID_SLACK_MS)
    }
}

pub fn summary(scored: &[(Cell, Score)]) -> String {
    let rate =
        |(cell, score): &'_ (Cell, Score)| score.over("std").map(|ratio| (*cell, score.clone(), ratio));
    let all: Vec<_> = scored.iter().filter_map(rate).collect();
    let mut rated: Vec<_> =
        all.iter().map(|(cell, score, ratio)| Rated { cell, score, ratio: *ratio }).collect();
    // Cells that miss the target come first: a small cell within the slack is not the worst one, whatever its ratio.
    rated.sort_by(|a, b| a.is_met().cmp(&b.is_met()).then(a.ratio.total_cmp(&b.ratio)));

    let mut text = String::new();
    let mut say = |line: String| writeln!(text, "{line}").expect("a string takes all");
    let missed = rated.iter().filter(|rated| !rated.is_met()).count();
    say(format!("{} cells, {missed} of them slower than std by more than allowed", scored.len()));
    if let Some(worst) = rated.iter().find(|rated| !rated.is_small()) {
        say(format!("worst over std, n >= {CPU_GRID_SMALL} (asked {CPU_GRID_WORST}): {}", verdict(worst)));
    }
    if let Some(worst) = rated.iter().find(|rated| rated.is_small()) {
        say(format!(
            "worst over std, n < {CPU_GRID_SMALL} (asked {CPU_GRID_WORST}, or within {} ns): {}, {:+.1} ns",
            1e6 * CPU_GRID_SLACK_MS,
            verdict(worst),
            1e6 * worst.behind_ms()
        ));
    }
    means(scored, &mut say);
    for bar in CPU_GRID_BARS {
        for (cell, score) in scored {
            let is = (&cell.call.title()[..], cell.n, cell.input.name()) == (bar.call, bar.n, bar.input);
            let asked = bar.asked_on(cell.threads);
            if let Some((asked, ratio)) = asked.zip(score.over(bar.against)).filter(|_| is) {
                let met = met(ratio >= asked);
                say(format!("{} over {} (asked {asked}): {ratio:.2} {met}", cell.label(), bar.against));
            }
        }
    }
    say("the worst cells over std:".into());
    rated.iter().take(WORST).for_each(|rated| say(format!("  {}", rated.line())));
    text
}

/// Geometric means of the ratios to the best peer of each cell: of all cells, by operation, and by type.
fn means(scored: &[(Cell, Score)], say: &mut impl FnMut(String)) {
    let mut mean = |name: &str, asked: Option<f64>, of: &dyn Fn(&Cell) -> bool| {
        let ratios = scored.iter().filter(|(cell, _)| of(cell)).filter_map(|(_, score)| score.ratio());
        if let Some(ratio) = geometric_mean(ratios) {
            let asked =
                asked.map_or(String::new(), |asked| format!(" (asked {asked}, {})", met(ratio >= asked)));
            say(format!("geometric mean over the best peer, {name}: {ratio:.2}{asked}"));
        }
    };
    mean("one thread", Some(CPU_GRID_MEAN), &|cell| cell.threads == 1);
    mean("more threads", None, &|cell| cell.threads > 1);
    for work in ["keys", "pairs", "argsort", "by key", "segments", "strings", "argsort strings"] {
        mean(work, None, &|cell| cell.call.work() == work);
    }
    for &key in KeyType::ALL {
        mean(key.name(), None, &|cell| cell.call.key() == Some(key));
    }
}

fn verdict(worst: &Rated<'_>) -> String {
    format!("{} {}", worst.line(), met(worst.is_met()))
}

fn met(is: bool) -> &'static str {
    if is { "met" } else { "MISSED" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::shape::Shape;
    use crate::suite_cpu_grid::cells::{Call, Input};

    fn scored(call: Call, n: usize, shape: Shape, sortie: f64, std: f64, peer: f64) -> (Cell, Score) {
        let times = [("sortie", sortie, true), ("std", std, true), ("vqsort", peer, true)];
        (Cell { call, n, input: Input::Shape(shape), threads: 1 }, Score::of(times.into_iter()).unwrap())
    }

    #[test]
    fn worst_cells_means_and_bars_are_told_beside_what_is_asked() {
        let keys = Call::Keys(KeyType::U64);
        let text = summary(&[
            scored(keys, 10_000_000, Shape::Uniform, 1.0, 2.0, 0.5),
            scored(Call::Pairs(KeyType::U64, 8), 1000, Shape::OrganPipe, 3.0, 1.5, 6.0),
            // One is slower by a large factor, but only by 8 ns. The other is slower by a smaller factor, but by 20 ns.
            scored(keys, 3, Shape::Uniform, 16e-6, 8e-6, 16e-6),
            scored(keys, 10, Shape::Zero, 100e-6, 80e-6, 80e-6),
        ]);
        for expected in [
            "4 cells, 2 of them slower than std",
            "n >= 16 (asked 0.95): 0.50  pairs u64 + 8 bytes, 1000, organ pipe: sortie 3.00 ms, std 1.50 ms MISSED",
            "within 10 ns): 0.80  keys u64, 10, zero: sortie 100.0 ns, std 80.0 ns MISSED, +20.0 ns",
            "best peer, one thread: 0.56 (asked 0.9, MISSED)",
            "best peer, pairs: 0.50",
            "best peer, u64: 0.56",
            "keys u64, 10^7, uniform over vqsort (asked 1.1): 0.50 MISSED",
            "  0.50  keys u64, 3, uniform",
        ] {
            assert!(text.contains(expected), "no {expected} in\n{text}");
        }
        assert!(!text.contains("more threads") && !text.contains("u32"));
    }
}
