//! What contenders came to at the cells, measured now or read from the `--json` file of an earlier run.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::Path;

use serde::Deserialize;

use super::race::Raced;
use crate::Result;
use crate::measure::{Facts, Measured};
use crate::report::Row;

/// The fields of a line of JSON that count here.
#[derive(Debug, Clone, Deserialize)]
struct Line {
    suite: String,
    work: String,
    key: String,
    payload: String,
    n: usize,
    segments: Option<usize>,
    length: Option<usize>,
    distribution: String,
    device: String,
    contender: String,
    median_ms: f64,
    verified: bool,
    version: String,
}

/// Sortie beside the best peer.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    pub sortie_ms: f64,
    /// Whose result was right; none where there was none.
    pub peer: Option<(String, f64)>,
    /// Whether Sortie's result was.
    pub right: bool,
    /// Whether all results were.
    pub all_right: bool,
}

impl Score {
    fn of<'a>(contenders: impl Iterator<Item = (&'a str, f64, bool)>) -> Option<Score> {
        let contenders: Vec<_> = contenders.collect();
        let &(_, sortie_ms, right) = contenders.iter().find(|(name, ..)| *name == "sortie")?;
        let peers = contenders.iter().filter(|&&(name, _, right)| name != "sortie" && right);
        let best = peers.min_by(|a, b| a.1.total_cmp(&b.1));
        let peer = best.map(|&(name, ms, _)| (name.to_string(), ms));
        let all_right = contenders.iter().all(|&(.., right)| right);
        Some(Score { sortie_ms, peer, right, all_right })
    }

    pub fn of_rows(rows: &[Row]) -> Option<Score> {
        Score::of(rows.iter().map(|row| (row.contender, row.median_ms, row.verified)))
    }

    /// The best peer's time divided by Sortie's.
    pub fn ratio(&self) -> Option<f64> {
        self.peer.as_ref().map(|(_, ms)| ms / self.sortie_ms)
    }

    /// How much longer than the best peer Sortie takes.
    pub fn behind_ms(&self) -> f64 {
        self.peer.as_ref().map_or(0.0, |(_, ms)| self.sortie_ms - ms)
    }
}

/// The rows of a cell. Sortie's is the last, so that a cell of which the last lines were lost is not known.
pub fn rows(facts: &Facts, label: &str, device: &str, raced: &[Raced]) -> Vec<Row> {
    let bytes = facts.n * if facts.key.ends_with("64") { 8 } else { 4 };
    let row = |raced: &Raced| {
        let Raced { name, includes, ref times } = *raced;
        let measured =
            Measured { times_ms: times.ms.clone(), bytes, verified: times.right, ..Measured::default() };
        Row {
            label: label.into(),
            engine: "cuda",
            device: device.into(),
            ..Row::new(&Facts { includes, ..facts.clone() }, name, 1, &measured)
        }
    };
    raced.iter().rev().map(row).collect()
}

/// Scores of an earlier run, by the cell.
#[derive(Debug, Default)]
pub struct Known(HashMap<String, Score>);

impl Known {
    /// Those that this version measured on this device. A file that is not there has none.
    pub fn read(path: &Path, device: &str) -> Result<Known> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(format!("cannot read {}: {error}", path.display()).into()),
        };
        Ok(Known::of(&text, device))
    }

    fn of(text: &str, device: &str) -> Known {
        // Lines of other suites lack fields, and the last one may have been cut off.
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
        let ours = |line: &Line| {
            line.suite == "grid" && line.device == device && line.version == env!("CARGO_PKG_VERSION")
        };
        let mut cells: HashMap<String, Vec<Line>> = HashMap::new();
        for line in lines.filter(ours) {
            let Line { work, key, payload, n, segments, length, distribution, .. } = &line;
            let cell = identity(work, key, payload, *n, *segments, *length, distribution);
            cells.entry(cell).or_default().push(line);
        }
        let score = |lines: &[Line]| {
            Score::of(lines.iter().map(|line| (&line.contender[..], line.median_ms, line.verified)))
        };
        Known(cells.into_iter().filter_map(|(cell, lines)| Some((cell, score(&lines)?))).collect())
    }

    pub fn get(&self, facts: &Facts) -> Option<&Score> {
        let Facts { work, key, payload, n, segments, length, distribution, .. } = *facts;
        self.0.get(&identity(work, key, payload, n, segments, length, distribution))
    }
}

fn identity(
    work: &str,
    key: &str,
    payload: &str,
    n: usize,
    segments: Option<usize>,
    length: Option<usize>,
    distribution: &str,
) -> String {
    format!("{work}/{key}/{payload}/{n}/{segments:?}/{length:?}/{distribution}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::json;
    use crate::suite_grid::race::Times;
    use crate::suite_grid::{cells, layout};

    fn raced(name: &'static str, ms: f64, right: bool) -> Raced {
        Raced { name, includes: "nothing", times: Times { ms: vec![ms], right } }
    }

    #[test]
    fn what_was_written_is_known_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("grid.jsonl");
        assert!(Known::read(&path, "a GPU").unwrap().0.is_empty());

        let cell = cells::all(None)[5].facts();
        let all = [raced("sortie", 2.0, true), raced("CUB", 3.0, true), raced("wrong", 1.0, false)];
        let first = rows(&cell, "cell", "a GPU", &all);
        json::append(&path, &first).unwrap();
        let segments = layout::all(None)[3].facts();
        json::append(&path, &rows(&segments, "row", "another GPU", &all[..1])).unwrap();

        let known = Known::read(&path, "a GPU").unwrap();
        let score = known.get(&cell).unwrap();
        assert_eq!(Some(score), Score::of_rows(&first).as_ref());
        assert_eq!((score.peer.clone(), score.ratio()), (Some(("CUB".into(), 3.0)), Some(1.5)));
        assert!(score.right && !score.all_right);
        assert!(known.get(&segments).is_none(), "another device");
        assert!(known.get(&cells::all(None)[6].facts()).is_none(), "another cell");
        let known = Known::read(&path, "another GPU").unwrap();
        assert_eq!(known.get(&segments).unwrap().ratio(), None, "without a peer");
    }

    #[test]
    fn a_line_that_was_cut_off_is_not_counted() {
        let cell = cells::all(None)[0].facts();
        let rows = rows(&cell, "cell", "a GPU", &[raced("sortie", 2.0, true)]);
        let line = serde_json::to_string(&rows[0]).unwrap();
        assert!(Known::of(&line, "a GPU").get(&cell).is_some());
        assert!(Known::of(&line[..line.len() - 1], "a GPU").get(&cell).is_none());
    }
}
