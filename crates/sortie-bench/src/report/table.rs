//! The table on standard output: a case a block, a contender a line.

use super::Row;
use crate::bars::bars;

/// Prints the rows of one case, the baseline first.
pub fn print(rows: &[Row]) {
    print!("{}", block(rows));
}

fn block(rows: &[Row]) -> String {
    let baseline = &rows[0];
    let peak = rows.iter().any(|row| row.peak_bytes > 0);
    let mut lines = format!("{}\n", baseline.label);
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
        let verdicts: Vec<_> = bars(row)
            .into_iter()
            .filter_map(|bar| {
                let other = rows.iter().find(|other| other.contender == bar.against)?;
                let ratio = other.median_ms / row.median_ms;
                let verdict = if bar.met(ratio) { "met" } else { "MISSED" };
                let of = if other.contender == baseline.contender {
                    String::new()
                } else {
                    format!(" of {} ({ratio:.2})", other.contender)
                };
                Some(format!("{:.2}{of} {verdict}", bar.ratio))
            })
            .collect();
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
