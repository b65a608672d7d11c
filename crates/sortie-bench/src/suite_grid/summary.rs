//! Summarises all cells and compares them with the targets.

use std::fmt::Write as _;

use super::{Task, cells::Cell, layout::Layout};
use crate::bars::{
    GRID_GRAPH_SORT_MS, GRID_MEANS, GRID_MEANS_FROM, GRID_SLACK_MS, GRID_SMALL, GRID_WORST, GridMean,
};
use crate::grid::results::Score;
use crate::grid::{geometric_mean, time};

/// The number of cells that are listed by name.
const WORST: usize = 15;

/// A cell with its ratio.
struct Rated<'a> {
    task: &'a Task,
    score: &'a Score,
    ratio: f64,
}

impl Rated<'_> {
    fn line(&self) -> String {
        let peer = self.score.peer().expect("there is a ratio");
        format!(
            "{:.2}  {}: sortie {}, {} {}",
            self.ratio,
            self.task.label(),
            time(self.score.sortie().ms),
            peer.name,
            time(peer.ms)
        )
    }

    fn cell(&self) -> Option<&Cell> {
        match self.task {
            Task::Array(cell) => Some(cell),
            Task::Segments(_) => None,
        }
    }

    fn is_small(&self) -> bool {
        self.cell().is_some_and(|cell| cell.n < GRID_SMALL)
    }

    /// Whether this cell meets the target for every cell.
    fn is_met(&self) -> bool {
        match self.task {
            Task::Array(_) => {
                self.ratio >= GRID_WORST || (self.is_small() && self.score.behind_ms() <= GRID_SLACK_MS)
            }
            Task::Segments(row) => {
                let most = match row.layout {
                    Layout::Graph { count, .. } => GRID_GRAPH_SORT_MS * count as f64,
                    _ => f64::INFINITY,
                };
                self.ratio >= 1.0 && self.score.sortie().ms <= most
            }
        }
    }
}

pub fn summary(scored: &[(Task, Score)]) -> String {
    let mut rated: Vec<_> = scored
        .iter()
        .filter_map(|(task, score)| Some(Rated { task, score, ratio: score.ratio()? }))
        .collect();
    // Cells that miss the target come first: a small cell within the slack is not the worst one, whatever its ratio.
    rated.sort_by(|a, b| a.is_met().cmp(&b.is_met()).then(a.ratio.total_cmp(&b.ratio)));

    let mut text = String::new();
    let mut say = |line: String| writeln!(text, "{line}").expect("a string takes all");
    let missed = rated.iter().filter(|rated| !rated.is_met()).count();
    say(format!("{} cells, {missed} of them missed", scored.len()));
    if rated.len() < scored.len() {
        say(format!("{} cells have no peer and are not in the figures below", scored.len() - rated.len()));
    }
    let worst = |of: &dyn Fn(&Rated<'_>) -> bool| rated.iter().find(|&rated| of(rated));
    if let Some(worst) = worst(&|rated| rated.cell().is_some() && !rated.is_small()) {
        say(format!("worst cell, n >= 2^20 (asked {GRID_WORST}): {}", verdict(worst)));
    }
    if let Some(worst) = worst(&|rated| rated.is_small()) {
        let behind = 1e3 * worst.score.behind_ms();
        say(format!(
            "worst cell, n < 2^20 (asked {GRID_WORST}, or within {} us): {}, {behind:+.1} us",
            1e3 * GRID_SLACK_MS,
            verdict(worst)
        ));
    }
    for mean in &GRID_MEANS {
        let ratios = rated.iter().filter(|rated| rated.cell().is_some_and(|cell| counts(cell, mean)));
        if let Some(ratio) = geometric_mean(ratios.map(|rated| rated.ratio)) {
            let met = if ratio >= mean.asked { "met" } else { "MISSED" };
            let GridMean { name, asked, .. } = mean;
            say(format!("geometric mean, n >= 2^24, {name} (asked {asked}): {ratio:.2} {met}"));
        }
    }
    if let Some(worst) = worst(&|rated| rated.cell().is_none()) {
        say(format!("worst row of segments (asked 1): {}", verdict(worst)));
    }
    say("the worst cells:".into());
    rated.iter().take(WORST).for_each(|rated| say(format!("  {}", rated.line())));
    text
}

fn verdict(worst: &Rated<'_>) -> String {
    format!("{} {}", worst.line(), if worst.is_met() { "met" } else { "MISSED" })
}

/// Whether a cell is part of a mean.
fn counts(cell: &Cell, mean: &GridMean) -> bool {
    let asked = mean.works.contains(&cell.work.name()) && mean.key == cell.key.name();
    asked && cell.n >= GRID_MEANS_FROM && !cell.shape.is_easy()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::shape::Shape;
    use crate::suite_grid::cells::{KeyType, Work};
    use crate::suite_grid::layout;

    fn array(n: usize, shape: Shape, sortie_ms: f64, peer_ms: f64) -> (Task, Score) {
        let cell = Cell { key: KeyType::U32, n, shape, work: Work::Keys };
        let score = Score::of([("sortie", sortie_ms, true), ("CUB", peer_ms, true)].into_iter());
        (Task::Array(cell), score.unwrap())
    }

    #[test]
    fn worst_cells_and_means_are_told_beside_what_is_asked() {
        let no_peer = Score::of([("sortie", 1.0, true)].into_iter()).unwrap();
        let scored = [
            array(1 << 28, Shape::Uniform, 1.0, 1.6),
            array(1 << 24, Shape::And1, 1.0, 0.9),
            array(1 << 24, Shape::Zero, 1.0, 100.0),
            // One is slower by a large factor, but only by 1 us. The other is slower by a smaller factor, but by 3 us.
            array(1 << 12, Shape::Uniform, 0.003, 0.002),
            array(1 << 16, Shape::Uniform, 0.023, 0.020),
            (Task::Segments(layout::all(None)[0]), array(1, Shape::Zero, 2.0, 1.9).1),
            (
                Task::Array(Cell { key: KeyType::U64, n: 1 << 28, shape: Shape::Expo, work: Work::Argsort }),
                no_peer,
            ),
        ];
        let text = summary(&scored);
        for expected in [
            "7 cells, 3 of them missed",
            "1 cells have no peer",
            "n >= 2^20 (asked 0.95): 0.90  keys u32, 2^24, AND-1: sortie 1.00 ms, CUB 900.0 us MISSED",
            "or within 2 us): 0.87  keys u32, 2^16, uniform: sortie 23.0 us, CUB 20.0 us MISSED, +3.0 us",
            "u32 keys (asked 1.2): 1.20 met",
            "segments (asked 1): 0.95  segments f32, 2^26, 2^0 x 2^26",
        ] {
            assert!(text.contains(expected), "no {expected} in\n{text}");
        }
        assert!(!text.contains("u64 keys"), "none was measured");
        let met = summary(&scored[3..4]);
        assert!(
            met.contains("0.67  keys u32, 2^12, uniform: sortie 3.0 us, CUB 2.0 us met, +1.0 us"),
            "{met}"
        );
    }
}
