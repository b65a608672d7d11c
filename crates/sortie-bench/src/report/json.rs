//! Lines of JSON.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use serde::Serialize;

use crate::Result;

/// Appends a line for each row.
pub fn append(path: &Path, rows: &[impl Serialize]) -> Result<()> {
    let lines = lines(rows)?;
    let written =
        File::options().create(true).append(true).open(path).and_then(|mut file| file.write_all(&lines));
    written.map_err(|e| format!("cannot write {}: {e}", path.display()).into())
}

fn lines(rows: &[impl Serialize]) -> Result<Vec<u8>> {
    let mut lines = Vec::new();
    for row in rows {
        serde_json::to_writer(&mut lines, row)?;
        lines.push(b'\n');
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Facts, Measured};
    use crate::report::Row;

    #[test]
    fn a_line_has_the_promised_fields_and_no_others() {
        let facts = Facts {
            suite: "hybrid",
            work: "segments",
            key: "f32",
            payload: "",
            n: 3000,
            segments: Some(3),
            length: Some(1000),
            distribution: "uniform",
            includes: "nothing",
        };
        let measured = Measured {
            times_ms: vec![2.0, 1.0, 6.0],
            bytes: 12_000,
            peak_bytes: 5_000_000,
            verified: true,
            ..Measured::default()
        };
        let row = Row::new(&facts, "std", 1, &measured);
        let lines = String::from_utf8(lines(&[row.clone(), row]).unwrap()).unwrap();
        assert_eq!(lines.lines().count(), 2);

        let line = lines.lines().next().unwrap();
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        let mut fields: Vec<_> = value.as_object().unwrap().keys().cloned().collect();
        let mut promised: Vec<_> =
            "suite work key payload n segments length distribution figure threads engine device \
            contender median_ms min_ms max_ms mean_ms deviation_ms times_ms rate bytes includes verified version date"
                .split_whitespace()
                .collect();
        fields.sort_unstable();
        promised.sort_unstable();
        assert_eq!(fields, promised);
        assert_eq!(
            (&value["median_ms"], &value["min_ms"], &value["max_ms"]),
            (&2.0.into(), &1.0.into(), &6.0.into())
        );
        assert_eq!((&value["mean_ms"], &value["deviation_ms"]), (&3.0.into(), &7f64.sqrt().into()));
        assert_eq!(value["times_ms"], serde_json::json!([2.0, 1.0, 6.0]));
        assert_eq!(value["rate"], 1.5e6);
        assert_eq!(value["includes"], "nothing; peak 5 MB resident");
    }
}
