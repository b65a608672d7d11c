//! The table on standard output: a block for each case, with a line for each contender.

use super::{Counted, Row};
use crate::bars::{Bar, bars, least_rate};

/// Prints the rows of one case, the baseline first.
pub fn print(rows: &[Row]) {
    print!("{}", block(rows));
}

/// Prints the counts of one case.
pub fn print_counts(counts: &[Counted]) {
    print!("{}", count_block(counts));
}

fn count_block(all: &[Counted]) -> String {
    let mut lines = String::new();
    for Counted { figure, n, contender, counted_by, device, counts, verified, .. } in all {
        let conflicts = counts.conflicts.map(|count| format!(", {count} bank conflicts"));
        let divergent = counts.divergent_branches.map(|count| format!(", {count} divergent branches"));
        lines += &format!(
            "{figure}: {contender}, {n} keys, by {counted_by} ({device}): {} transactions{}{}{}\n",
            counts.transactions,
            conflicts.unwrap_or_default(),
            divergent.unwrap_or_default(),
            if *verified { "" } else { " WRONG" },
        );
    }
    lines
}

/// Prints the rows of one case in one line.
pub fn print_line(rows: &[Row]) {
    println!("{}", line(rows));
}

fn line(rows: &[Row]) -> String {
    let (unit, scale) = unit(&rows[0]);
    let rates = rows.iter().map(|row| {
        format!("{} {:.1}{}", row.contender, row.rate / scale, if row.verified { "" } else { " WRONG" })
    });
    format!("{}: {} {unit}", rows[0].label, rates.collect::<Vec<_>>().join(", "))
}

/// The unit of rates: its name, and its size in keys per second.
fn unit(row: &Row) -> (&'static str, f64) {
    match row.facts.suite {
        "batch" | "large" | "multi-gpu" | "device-strings" => ("G/s", 1e9),
        "papers" if row.engine == "cuda" => ("G/s", 1e9),
        _ => ("M/s", 1e6),
    }
}

fn block(rows: &[Row]) -> String {
    let baseline = &rows[0];
    let (unit, scale) = unit(baseline);
    let peak = rows.iter().any(|row| row.peak_bytes > 0);
    let mut lines = format!("{}\n", baseline.label);
    lines += &format!(
        "  {:<24} {:>7} {:>12} {:>12} {:>9}{}  asked\n",
        "contender",
        "threads",
        "median ms",
        unit,
        format!("x {}", baseline.contender),
        if peak { "   peak MB" } else { "" },
    );
    for row in rows {
        let rate = least_rate(row).map(|asked| {
            format!("{} {unit} {}", asked / scale, if row.rate >= 0.95 * asked { "met" } else { "MISSED" })
        });
        let ratios = bars(row).into_iter().filter_map(|bar| verdict(bar, row, rows));
        let notes = (!row.note.is_empty()).then(|| row.note.clone());
        let told: Vec<_> = rate.into_iter().chain(ratios).chain(notes).collect();
        lines += &format!(
            "  {:<24} {:>7} {:>12.2} {:>12.1} {:>9.2}{}  {}{}\n",
            row.contender,
            row.threads,
            row.median_ms,
            row.rate / scale,
            row.rate / baseline.rate,
            if peak { format!("{:>10}", row.peak_bytes / 1_000_000) } else { String::new() },
            told.join(", "),
            if row.verified { "" } else { " WRONG" },
        );
    }
    lines + "\n"
}

/// The target, and whether it was met. `None` if the other contender did not run.
fn verdict(bar: Bar, row: &Row, rows: &[Row]) -> Option<String> {
    let other = rows.iter().find(|other| other.contender == bar.against)?;
    let ratio = row.rate / other.rate;
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
            key: "bytes",
            payload: "",
            n: 10_000_000,
            segments: None,
            length: None,
            distribution: "uniform",
            includes: "",
        };
        let peak_bytes = if suite == "files" { 5_000_000 } else { 0 };
        Row::new(
            &facts,
            contender,
            1,
            &Measured { times_ms: vec![ms], bytes: 0, peak_bytes, verified, ..Measured::default() },
        )
    }

    /// The words of the line for `contender`.
    fn line<'a>(block: &'a str, contender: &str) -> Vec<&'a str> {
        let line = block.lines().find(|line| line.trim_start().starts_with(contender)).unwrap();
        line.split_whitespace().collect()
    }

    #[test]
    fn ratios_verdicts_and_wrong_results_are_told() {
        let met =
            [row("index", "index", "tantivy", 430.0, true), row("index", "index", "sortie", 104.0, true)];
        let block = block(&met);
        assert!(block.starts_with("index, 10^7, uniform\n"));
        assert_eq!(line(&block, "tantivy"), ["tantivy", "1", "430.00", "23.3", "1.00"]);
        assert_eq!(line(&block, "sortie"), ["sortie", "1", "104.00", "96.2", "4.13", "1.50", "met"]);

        let missed =
            [row("index", "index", "tantivy", 430.0, true), row("index", "index", "sortie", 310.0, false)];
        let block = super::block(&missed);
        assert_eq!(line(&block, "sortie")[5..], ["1.50", "MISSED", "WRONG"]);
    }

    #[test]
    fn rates_asked_for_and_choices_are_told() {
        let facts = Facts {
            suite: "batch",
            work: "segments",
            key: "f32",
            payload: "",
            n: 200_000_000,
            segments: Some(200_000),
            length: Some(1000),
            distribution: "uniform",
            includes: "",
        };
        let row = |contender, ms| {
            let measured = Measured { times_ms: vec![ms], bytes: 0, verified: true, ..Measured::default() };
            Row::new(&facts, contender, 1, &measured)
        };
        let mut by_hand = row("by hand", 2.0);
        by_hand.note = "32 threads".into();
        let rows = [row("copy", 0.5), row("sortie", 1.25), by_hand];
        let block = block(&rows);
        assert_eq!(line(&block, "copy"), ["copy", "1", "0.50", "400.0", "1.00"]);
        assert_eq!(line(&block, "sortie")[4..], ["0.40", "170", "G/s", "MISSED"]);
        assert_eq!(line(&block, "by hand")[6..], ["32", "threads"]);
        assert!(super::line(&rows).ends_with(": copy 400.0, sortie 160.0, by hand 100.0 G/s"));
    }

    #[test]
    fn a_program_is_compared_with_each_that_ran() {
        let rows =
            ["GNU sort", "sortie", "polars"].map(|name| row("files", "lines", name, name.len() as f64, true));
        let block = block(&rows);
        assert_eq!(line(&block, "sortie")[5..].join(" "), "5 2.00 MISSED, 1.00 of polars met (1.00)");
    }
}
