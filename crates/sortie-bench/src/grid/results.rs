//! The results of contenders at the cells, measured now or read from the `--json` file of an earlier run.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::path::Path;

use serde::Deserialize;

use super::race::{Raced, is_std};
use crate::Result;
use crate::measure::{Facts, Measured};
use crate::report::Row;

/// The fields that distinguish a cell from the others of its suite.
#[derive(Debug, PartialEq, Eq, Hash, Deserialize)]
struct Identity {
    work: String,
    key: String,
    payload: String,
    n: usize,
    segments: Option<usize>,
    length: Option<usize>,
    distribution: String,
    threads: usize,
}

impl Identity {
    fn of(facts: &Facts, threads: usize) -> Identity {
        let Facts { work, key, payload, n, segments, length, distribution, .. } = *facts;
        Identity {
            work: work.into(),
            key: key.into(),
            payload: payload.into(),
            n,
            segments,
            length,
            distribution: distribution.into(),
            threads,
        }
    }
}

/// The fields of a line of JSON that are used here.
#[derive(Debug, Deserialize)]
struct Line {
    suite: String,
    #[serde(flatten)]
    cell: Identity,
    device: String,
    contender: String,
    median_ms: f64,
    verified: bool,
    version: String,
}

/// A contender's result at a cell.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    pub name: String,
    pub ms: f64,
    pub right: bool,
}

/// The results of all contenders at a cell, including Sortie.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// The first is Sortie.
    placed: Vec<Placed>,
}

impl Score {
    /// Makes a score from the name, the milliseconds, and whether the result was correct. `None` without a result of
    /// Sortie.
    pub fn of<'a>(contenders: impl Iterator<Item = (&'a str, f64, bool)>) -> Option<Score> {
        let place = |(name, ms, right): (&str, f64, bool)| Placed { name: name.into(), ms, right };
        let mut placed: Vec<_> = contenders.map(place).collect();
        let sortie = placed.iter().position(|one| one.name == "sortie")?;
        placed.swap(0, sortie);
        Some(Score { placed })
    }

    pub fn of_rows(rows: &[Row]) -> Option<Score> {
        Score::of(rows.iter().map(|row| (row.contender, row.median_ms, row.verified)))
    }

    pub fn sortie(&self) -> &Placed {
        &self.placed[0]
    }

    /// The fastest peer whose result was correct.
    pub fn peer(&self) -> Option<&Placed> {
        let right = self.placed[1..].iter().filter(|one| one.right);
        right.min_by(|a, b| a.ms.total_cmp(&b.ms))
    }

    /// The fastest of the standard library's sorts whose result was correct.
    pub fn standard(&self) -> Option<&Placed> {
        let right = self.placed[1..].iter().filter(|one| one.right && is_std(&one.name));
        right.min_by(|a, b| a.ms.total_cmp(&b.ms))
    }

    /// A contender's time divided by Sortie's. For `std`, that of the fastest of the standard library's sorts.
    pub fn over(&self, contender: &str) -> Option<f64> {
        let other = match contender {
            "std" => self.standard(),
            _ => self.placed.iter().find(|one| one.name == contender && one.right),
        };
        other.map(|other| other.ms / self.sortie().ms)
    }

    /// Whether Sortie's result was correct.
    pub fn right(&self) -> bool {
        self.sortie().right
    }

    pub fn all_right(&self) -> bool {
        self.placed.iter().all(|one| one.right)
    }

    /// The best peer's time divided by Sortie's.
    pub fn ratio(&self) -> Option<f64> {
        self.peer().map(|peer| peer.ms / self.sortie().ms)
    }

    /// How many milliseconds longer than the best peer Sortie takes.
    pub fn behind_ms(&self) -> f64 {
        self.peer().map_or(0.0, |peer| self.sortie().ms - peer.ms)
    }
}

/// What the rows of a cell contain besides the times.
pub struct About<'a> {
    pub facts: &'a Facts,
    pub label: &'a str,
    pub engine: &'static str,
    pub device: &'a str,
    pub threads: usize,
    /// The size of the input.
    pub bytes: usize,
}

/// The rows of a cell. Sortie's is last: if the last lines of a file are lost, the cell counts as not measured.
pub fn rows(about: &About<'_>, raced: &[Raced]) -> Vec<Row> {
    let &About { facts, label, engine, device, threads, bytes } = about;
    let row = |raced: &Raced| {
        let Raced { name, includes, ref times } = *raced;
        let measured =
            Measured { times_ms: times.ms.clone(), bytes, verified: times.right, ..Measured::default() };
        Row {
            label: label.into(),
            engine,
            device: device.into(),
            ..Row::new(&Facts { includes, ..facts.clone() }, name, threads, &measured)
        }
    };
    raced.iter().rev().map(row).collect()
}

/// The scores of an earlier run, by cell.
#[derive(Debug, Default)]
pub struct Known(HashMap<Identity, Score>);

impl Known {
    /// Reads the scores of a suite that this version measured on this device. Empty if the file does not exist.
    pub fn read(path: &Path, suite: &str, device: &str) -> Result<Known> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(format!("cannot read {}: {error}", path.display()).into()),
        };
        Ok(Known::of(&text, suite, device))
    }

    fn of(text: &str, suite: &str, device: &str) -> Known {
        // Lines of other suites lack fields, and the last one may have been cut off.
        let lines = text.lines().filter_map(|line| serde_json::from_str::<Line>(line).ok());
        let ours = |line: &Line| {
            line.suite == suite && line.device == device && line.version == env!("CARGO_PKG_VERSION")
        };
        let mut cells: HashMap<Identity, Vec<(String, f64, bool)>> = HashMap::new();
        for Line { cell, contender, median_ms, verified, .. } in lines.filter(ours) {
            cells.entry(cell).or_default().push((contender, median_ms, verified));
        }
        let score = |lines: &[(String, f64, bool)]| {
            Score::of(lines.iter().map(|(name, ms, right)| (&name[..], *ms, *right)))
        };
        Known(cells.into_iter().filter_map(|(cell, lines)| Some((cell, score(&lines)?))).collect())
    }

    pub fn get(&self, facts: &Facts, threads: usize) -> Option<&Score> {
        self.0.get(&Identity::of(facts, threads))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::race::Times;
    use crate::measure::FACTS;
    use crate::report::json;

    fn raced(name: &'static str, ms: f64, right: bool) -> Raced {
        Raced { name, includes: "nothing", times: Times { ms: vec![ms], right } }
    }

    fn rows_on(device: &str, facts: &Facts, raced: &[Raced]) -> Vec<Row> {
        rows(&About { facts, label: "cell", engine: "cuda", device, threads: 1, bytes: 4 }, raced)
    }

    #[test]
    fn what_was_written_is_known_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("grid.jsonl");
        assert!(Known::read(&path, "test", "a GPU").unwrap().0.is_empty());

        let cell = FACTS;
        let all = [raced("sortie", 2.0, true), raced("CUB", 3.0, true), raced("wrong", 1.0, false)];
        let first = rows_on("a GPU", &cell, &all);
        json::append(&path, &first).unwrap();
        let segments = Facts { segments: Some(3), ..FACTS };
        json::append(&path, &rows_on("another GPU", &segments, &all[..1])).unwrap();

        let known = Known::read(&path, "test", "a GPU").unwrap();
        let score = known.get(&cell, 1).unwrap();
        assert_eq!(Some(score), Score::of_rows(&first).as_ref());
        assert_eq!((score.peer().unwrap().name.as_str(), score.ratio()), ("CUB", Some(1.5)));
        assert!(score.right() && !score.all_right());
        assert!(known.get(&segments, 1).is_none(), "another device");
        assert!(known.get(&Facts { n: 5, ..FACTS }, 1).is_none(), "another cell");
        assert!(known.get(&cell, 2).is_none(), "other threads");
        assert!(Known::read(&path, "grid", "a GPU").unwrap().0.is_empty(), "another suite");
        let known = Known::read(&path, "test", "another GPU").unwrap();
        assert_eq!(known.get(&segments, 1).unwrap().ratio(), None, "without a peer");
    }

    #[test]
    fn a_line_that_was_cut_off_is_not_counted() {
        let rows = rows_on("a GPU", &FACTS, &[raced("sortie", 2.0, true)]);
        let line = serde_json::to_string(&rows[0]).unwrap();
        assert!(Known::of(&line, "test", "a GPU").get(&FACTS, 1).is_some());
        assert!(Known::of(&line[..line.len() - 1], "test", "a GPU").get(&FACTS, 1).is_none());
    }
}
