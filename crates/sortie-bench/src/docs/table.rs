//! A table of `docs/benchmarks.md`: the rows of a run, grouped by label.

use serde::Deserialize;

use super::label::Label;
use super::run;
use super::select::Rows;
use crate::Result;
use crate::grid::geometric_mean;
use crate::report::Row;
use crate::report::plot::number;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Its name in the Markdown comment before it.
    pub name: &'static str,
    /// The file in `runs/`, without its extension.
    pub run: &'static str,
    #[serde(default)]
    rows: Rows,
    /// The title of the first column.
    head: &'static str,
    label: Label,
    columns: Vec<Column>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Column {
    title: &'static str,
    contender: &'static str,
    /// Which of the contender's rows belong to the column.
    #[serde(default)]
    rows: Rows,
    /// The column has the rate divided by that of the best of these. If there are several cases, the geometric mean.
    #[serde(default)]
    over: Vec<String>,
    /// The column has the part of a row's `includes` between these texts.
    between: Option<[String; 2]>,
}

impl Column {
    /// The content of a cell: 10^9 keys or strings per second, unless the column asks for something else. `None` if the
    /// contender did not run.
    fn cell(&self, line: &[&Row]) -> Option<String> {
        let rows = || line.iter().filter(|row| row.contender == self.contender && self.rows.take(row));
        let row = rows().next()?;
        match &self.between {
            Some([before, after]) => {
                let (_, told) = row.includes.rsplit_once(before)?;
                Some(told.split_once(after)?.0.to_string())
            }
            None if self.over.is_empty() => Some(number(row.rate / 1e9)),
            None => geometric_mean(rows().filter_map(|row| over(row, &self.over, line))).map(number),
        }
    }
}

/// The rate of a row divided by that of the best of `peers` at the same case.
fn over(row: &Row, peers: &[String], rows: &[&Row]) -> Option<f64> {
    let peers =
        rows.iter().filter(|peer| peers.iter().any(|name| name == peer.contender) && run::is_peer(peer, row));
    peers.map(|peer| row.rate / peer.rate).min_by(f64::total_cmp)
}

impl Table {
    pub fn markdown(&self) -> Result<String> {
        self.markdown_of(&run::read(self.run)?).map_err(|e| format!("table {}: {e}", self.name).into())
    }

    fn markdown_of(&self, rows: &[Row]) -> Result<String> {
        let mut lines: Vec<(String, Vec<&Row>)> = Vec::new();
        for row in rows.iter().filter(|row| self.rows.take(row)) {
            let Some(label) = self.label.of(row) else { continue };
            match lines.iter_mut().find(|line| line.0 == label) {
                Some(line) => line.1.push(row),
                None => lines.push((label, vec![row])),
            }
        }
        let titles: Vec<_> = self.columns.iter().map(|column| column.title).collect();
        let mut text =
            format!("| {} | {} |\n|---{}|\n", self.head, titles.join(" | "), "|---".repeat(titles.len()));
        let mut filled = vec![false; titles.len()];
        for (label, rows) in &lines {
            let cells: Vec<_> = self.columns.iter().map(|column| column.cell(rows)).collect();
            filled.iter_mut().zip(&cells).for_each(|(filled, cell)| *filled |= cell.is_some());
            let cells: Vec<_> = cells.into_iter().map(Option::unwrap_or_default).collect();
            text += &format!("| {label} | {} |\n", cells.join(" | "));
        }
        if let Some(empty) = filled.iter().position(|filled| !filled) {
            return Err(format!("column {} is empty", titles[empty]).into());
        }
        let mut devices: Vec<_> = lines.iter().flat_map(|line| &line.1).map(|row| &row.device[..]).collect();
        devices.sort_unstable();
        devices.dedup();
        let date = &rows[0].date[..10];
        Ok(text
            + &format!("\nRun {}, {}, {date}.\n", run::link(self.run, self.run, "../"), devices.join("; ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{FACTS, Facts, Measured};

    fn table() -> Table {
        serde_json::from_str(
            r#"{
                "name": "test", "run": "2026-01-02-test", "rows": {"key": ["u32", "f32"]},
                "head": "keys", "label": "key-and-distribution",
                "columns": [
                    {"title": "over std", "contender": "sortie", "over": ["std"]},
                    {"title": "over the best", "contender": "sortie", "over": ["std", "peer"]},
                    {"title": "peer", "contender": "peer"},
                    {"title": "memory", "contender": "sortie", "between": ["peak ", " MB"]}
                ]
            }"#,
        )
        .unwrap()
    }

    fn row(key: &'static str, n: usize, contender: &'static str, ms: f64) -> Row {
        let facts = Facts { suite: "hybrid", key, n, ..FACTS };
        let measured =
            Measured { times_ms: vec![ms], peak_bytes: 5_000_000, verified: true, ..Measured::default() };
        Row {
            device: "a CPU".into(),
            date: "2026-01-02T00:00:00Z".into(),
            ..Row::new(&facts, contender, 1, &measured)
        }
    }

    #[test]
    fn cells_have_ratios_rates_and_what_is_told() {
        let rows = [
            row("u32", 10_000_000, "std", 36.0),
            row("u32", 10_000_000, "sortie", 10.0),
            row("u32", 10_000_000, "peer", 20.0),
            row("u8", 10_000_000, "sortie", 1.0),
            row("f32", 10_000_000, "std", 10.0),
            row("f32", 10_000_000, "sortie", 20.0),
        ];
        let expected = "\
            | keys | over std | over the best | peer | memory |\n\
            |---|---|---|---|---|\n\
            | `u32`, uniform | 3.60 | 2.00 | 0.50 | 5 |\n\
            | `f32`, uniform | 0.50 | 0.50 |  | 5 |\n\
            \n\
            Run [2026-01-02-test](../crates/sortie-bench/runs/2026-01-02-test.jsonl), a CPU, 2026-01-02.\n";
        assert_eq!(table().markdown_of(&rows).unwrap(), expected);
    }

    #[test]
    fn a_line_of_several_cases_has_their_geometric_mean() {
        let rows = [
            row("u32", 4, "std", 2.0),
            row("u32", 4, "sortie", 1.0),
            row("u32", 5, "std", 8.0),
            row("u32", 5, "sortie", 1.0),
            row("u32", 5, "peer", 1.0),
        ];
        assert!(table().markdown_of(&rows).unwrap().contains("| `u32`, uniform | 4.00 | 1.41 | 0.00 | 5 |"));
    }

    #[test]
    fn a_column_that_no_row_fills_is_an_error() {
        let rows = [row("u32", 4, "std", 2.0), row("u32", 4, "sortie", 1.0)];
        assert_eq!(table().markdown_of(&rows).unwrap_err().to_string(), "column peer is empty");
    }
}
