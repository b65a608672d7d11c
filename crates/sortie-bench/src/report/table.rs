//! The table on standard output: a case a block, a contender a line.

use super::Row;
use crate::bars::{Bar, bars};

/// Prints the rows of one case, the baseline first.
pub fn print(rows: &[Row]) {
    print!("{}", block(rows));
}

fn block(rows: &[Row]) -> String {
    let baseline = &rows[0];
    let peak = rows.iter().any(|row| row.peak_bytes > 0);
    let mut lines = format!("{}\n", baseline.facts.label());
    lines += &format!(
        "  {:<24} {:>7} {:>12} {:>12} {:>9}{}  asked\n",
        "contender",
        "threads",
        "median ms",
        "M/s",
        format!("x {}", baseline.contender),
        if peak { "   peak MB" } else { "" },
    );
    for row in rows {
        let verdicts: Vec<_> = bars(row).into_iter().filter_map(|bar| verdict(bar, row, rows)).collect();
        lines += &format!(
            "  {:<24} {:>7} {:>12.2} {:>12.1} {:>9.2}{}  {}{}\n",
            row.contender,
            row.threads,
            row.median_ms,
            row.rate / 1e6,
            baseline.median_ms / row.median_ms,
            if peak { format!("{:>10}", row.peak_bytes / 1_000_000) } else { String::new() },
            verdicts.join(", "),
            if row.verified { "" } else { " WRONG" },
        );
    }
    lines + "\n"
}

/// What was asked for and whether it was reached, where the other side ran too.
fn verdict(bar: Bar, row: &Row, rows: &[Row]) -> Option<String> {
    let other = rows.iter().find(|other| other.contender == bar.against)?;
    let ratio = other.median_ms / row.median_ms;
    let met = if ratio >= bar.met_from { "met" } else { "MISSED" };
    if std::ptr::eq(other, &rows[0]) {
        return Some(format!("{:.2} {met}", bar.asked));
    }
    Some(format!("{:.2} of {} {met} ({ratio:.2})", bar.asked, bar.against))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Facts, Measured};

    fn row(suite: &'static str, work: &'static str, contender: &'static str, ms: f64, verified: bool) -> Row {
        let facts = Facts {
            suite,
            work,
            key: if suite == "cpu" { "u32" } else { "bytes" },
            payload: "",
            n: 10_000_000,
            segments: None,
            length: None,
            distribution: "uniform",
            includes: "",
        };
        let peak_bytes = if suite == "files" { 5_000_000 } else { 0 };
        Row::new(&facts, contender, 1, &Measured { times_ms: vec![ms], bytes: 0, peak_bytes, verified })
    }

    /// The words of the line about `contender`.
    fn line<'a>(block: &'a str, contender: &str) -> Vec<&'a str> {
        let line = block.lines().find(|line| line.trim_start().starts_with(contender)).unwrap();
        line.split_whitespace().collect()
    }

    #[test]
    fn ratios_verdicts_and_wrong_results_are_told() {
        let met = [row("cpu", "sort", "std", 430.0, true), row("cpu", "sort", "sortie", 104.0, true)];
        let block = block(&met);
        assert!(block.starts_with("sort u32, 10^7, uniform\n"));
        assert_eq!(line(&block, "std"), ["std", "1", "430.00", "23.3", "1.00"]);
        assert_eq!(line(&block, "sortie"), ["sortie", "1", "104.00", "96.2", "4.13", "4.30", "met"]);

        let missed = [row("cpu", "sort", "std", 430.0, true), row("cpu", "sort", "sortie", 106.0, false)];
        let block = super::block(&missed);
        assert_eq!(line(&block, "sortie")[5..], ["4.30", "MISSED", "WRONG"]);
    }

    #[test]
    fn a_program_is_compared_with_each_that_ran() {
        let rows =
            ["GNU sort", "sortie", "polars"].map(|name| row("files", "lines", name, name.len() as f64, true));
        let block = block(&rows);
        assert_eq!(line(&block, "sortie")[5..].join(" "), "5 2.00 MISSED, 1.00 of polars met (1.00)");
    }
}
