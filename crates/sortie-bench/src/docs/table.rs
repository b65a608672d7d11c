//! A table of `docs/benchmarks.md`: the rows of a run, grouped by label.

use super::run;
use crate::Result;
use crate::grid::geometric_mean;
use crate::report::Row;
use crate::report::plot::number;

pub struct Table {
    /// Its name in the Markdown comment before it.
    pub name: &'static str,
    /// The file in `runs/`, without its extension.
    pub run: &'static str,
    /// Selects the rows of the run that belong to the table.
    pub of: fn(&Row) -> bool,
    /// The title of the first column, and its content. Rows with the same label share a line.
    pub head: &'static str,
    pub label: fn(&Row) -> String,
    pub columns: &'static [Column],
}

pub struct Column {
    title: &'static str,
    contender: &'static str,
    of: fn(&Row) -> bool,
    value: Value,
}

enum Value {
    /// 10^9 keys or strings per second.
    Rate,
    /// The rate divided by that of the best of these contenders. If there are several cases, the geometric mean.
    Over(&'static [&'static str]),
    /// The part of a row's `includes` between two given texts.
    Told(&'static str, &'static str),
}

impl Column {
    const fn new(title: &'static str, contender: &'static str, value: Value) -> Column {
        Column { title, contender, of: |_| true, value }
    }

    pub const fn rate(title: &'static str, contender: &'static str) -> Column {
        Column::new(title, contender, Value::Rate)
    }

    pub const fn over(
        title: &'static str,
        contender: &'static str,
        peers: &'static [&'static str],
    ) -> Column {
        Column::new(title, contender, Value::Over(peers))
    }

    pub const fn told(
        title: &'static str,
        contender: &'static str,
        before: &'static str,
        after: &'static str,
    ) -> Column {
        Column::new(title, contender, Value::Told(before, after))
    }

    /// The column with only these of the contender's rows.
    pub const fn of(self, of: fn(&Row) -> bool) -> Column {
        Column { of, ..self }
    }

    /// The content of a cell. `None` if the contender did not run.
    fn cell(&self, line: &[&Row]) -> Option<String> {
        let rows = || line.iter().filter(|row| row.contender == self.contender && (self.of)(row));
        let row = rows().next()?;
        match self.value {
            Value::Rate => Some(number(row.rate / 1e9)),
            Value::Over(peers) => geometric_mean(rows().filter_map(|row| over(row, peers, line))).map(number),
            Value::Told(before, after) => {
                let (_, told) = row.includes.rsplit_once(before)?;
                Some(told.split_once(after)?.0.to_string())
            }
        }
    }
}

/// The rate of a row divided by that of the best of `peers` at the same case.
fn over(row: &Row, peers: &[&str], rows: &[&Row]) -> Option<f64> {
    let peers = rows.iter().filter(|peer| peers.contains(&peer.contender) && run::is_peer(peer, row));
    peers.map(|peer| row.rate / peer.rate).min_by(f64::total_cmp)
}

impl Table {
    pub fn markdown(&self) -> Result<String> {
        self.markdown_of(&run::read(self.run)?).map_err(|e| format!("table {}: {e}", self.name).into())
    }

    fn markdown_of(&self, rows: &[Row]) -> Result<String> {
        let mut lines: Vec<(String, Vec<&Row>)> = Vec::new();
        for row in rows.iter().filter(|row| (self.of)(row)) {
            let label = (self.label)(row);
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

    const TABLE: Table = Table {
        name: "test",
        run: "2026-01-02-test",
        of: |row| row.facts.key != "u8",
        head: "keys",
        label: |row| row.facts.key.into(),
        columns: &[
            Column::over("over std", "sortie", &["std"]),
            Column::over("over the best", "sortie", &["std", "peer"]),
            Column::rate("peer", "peer"),
            Column::told("memory", "sortie", "peak ", " MB"),
        ],
    };

    fn row(key: &'static str, n: usize, contender: &'static str, ms: f64) -> Row {
        let facts = Facts { suite: "cpu", key, n, ..FACTS };
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
            | u32 | 3.60 | 2.00 | 0.50 | 5 |\n\
            | f32 | 0.50 | 0.50 |  | 5 |\n\
            \n\
            Run [2026-01-02-test](../crates/sortie-bench/runs/2026-01-02-test.jsonl), a CPU, 2026-01-02.\n";
        assert_eq!(TABLE.markdown_of(&rows).unwrap(), expected);
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
        assert!(TABLE.markdown_of(&rows).unwrap().contains("| u32 | 4.00 | 1.41 | 0.00 | 5 |"));
    }

    #[test]
    fn a_column_that_no_row_fills_is_an_error() {
        let rows = [row("u32", 4, "std", 2.0), row("u32", 4, "sortie", 1.0)];
        assert_eq!(TABLE.markdown_of(&rows).unwrap_err().to_string(), "column peer is empty");
    }
}
