//! Reads the runs that are kept in `runs/`.

use crate::Result;
use crate::report::Row;

/// The rows whose results were correct. If a run measured something more than once, the last measurement counts.
pub fn read(name: &str) -> Result<Vec<Row>> {
    let path = format!("{}/runs/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).map_err(|e| format!("cannot read {path}: {e}"))?;
    // Rows borrow their names, so the text is leaked. The program ends soon afterwards.
    parse(text.leak()).map_err(|e| format!("{path}: {e}").into())
}

fn parse(text: &'static str) -> Result<Vec<Row>> {
    let mut rows: Vec<Row> = Vec::new();
    for line in text.lines() {
        let row: Row = serde_json::from_str(line)?;
        let same = |other: &&mut Row| {
            (other.contender, other.threads, other.figure) == (row.contender, row.threads, row.figure)
                && other.facts == row.facts
        };
        match rows.iter_mut().find(same) {
            Some(earlier) => *earlier = row,
            None => rows.push(row),
        }
    }
    rows.retain(|row| row.verified);
    Ok(rows)
}

/// Whether `peer` measured the same case as Sortie's row `sortie`, with no more threads.
pub fn is_peer(peer: &Row, sortie: &Row) -> bool {
    let (a, b) = (&peer.facts, &sortie.facts);
    // With several GPUs, each has as many keys of its own as one GPU alone.
    let same_size = a.n == b.n || a.suite == "multi-gpu";
    same_size
        && (a.work, a.key, a.payload, a.distribution) == (b.work, b.key, b.payload, b.distribution)
        && (a.segments, a.length, peer.figure) == (b.segments, b.length, sortie.figure)
        && peer.threads <= sortie.threads
}

/// A link to a run from a folder `up` levels below the root of the repository.
pub fn link(name: &str, text: &str, up: &str) -> String {
    format!("[{text}]({up}crates/sortie-bench/runs/{name}.jsonl)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{FACTS, Measured};

    /// A row in the format of the runs.
    fn line(contender: &'static str, ms: f64, verified: bool) -> String {
        let measured = Measured { times_ms: vec![ms], verified, ..Measured::default() };
        serde_json::to_string(&Row::new(&FACTS, contender, 1, &measured)).unwrap()
    }

    #[test]
    fn the_last_measurement_counts_and_a_wrong_one_does_not() {
        let lines = [
            line("std", 1.0, true),
            line("sortie", 2.0, true),
            line("std", 3.0, true),
            line("fast", 0.1, false),
        ];
        let rows = parse(lines.join("\n").leak()).unwrap();
        let times: Vec<_> = rows.iter().map(|row| (row.contender, row.median_ms)).collect();
        assert_eq!(times, [("std", 3.0), ("sortie", 2.0)]);
        assert!(parse("{}").is_err());
    }
}
