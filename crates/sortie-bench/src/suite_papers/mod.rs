//! Suite `papers`: repeats the measurements of published papers, with their algorithms and Sortie, on a GPU; for
//! strings also on a CPU. `docs/papers.md` describes their figures and tables, and what differs here.

mod array_sort;
mod closed_forms;
mod comparison;
mod counting;
mod fine_sample_sort;
mod fit;
mod hybrid;
mod sent_strings;
mod string_sort;

use crate::args::Args;
use crate::measure::Measurable;
use crate::report::figures::{Curve, Figure, Point};
use crate::report::{Counted, Row};
use crate::suite_batch::Shared;

pub fn cases(args: &Args) -> Vec<Box<dyn Measurable>> {
    let shared = Shared::new(args);
    if args.once {
        return comparison::once(args, &shared);
    }
    let mut cases = array_sort::cases(&shared);
    cases.extend(fine_sample_sort::cases(args, &shared));
    cases.extend(comparison::cases(args, &shared));
    cases.extend(string_sort::cases(args));
    cases.extend(sent_strings::cases(args));
    cases.extend(hybrid::cases(args));
    cases
}

/// The tables of docs/papers.md that were measured.
pub fn tables(rows: &[Row], counts: &[Counted]) -> String {
    let of_keys = fine_sample_sort::tables(rows) + &comparison::tables(rows, counts);
    of_keys + &string_sort::tables(rows) + &sent_strings::tables(rows) + &hybrid::tables(rows)
}

/// Time against the number of keys for each figure and distribution, then counts, then figures of strings.
pub fn figures(rows: &[Row], counts: &[Counted]) -> Vec<Figure> {
    let (strings, keys): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.facts.work == "strings");
    let timed: Vec<_> = keys.into_iter().filter(|row| !row.facts.work.starts_with("as many")).collect();
    let of_one = |a: &&Row, b: &&Row| (a.figure, a.facts.distribution) == (b.figure, b.facts.distribution);
    let timed = timed.chunk_by(of_one).map(|rows| {
        let title = format!("{}, {} {}", rows[0].figure, rows[0].facts.key, rows[0].facts.distribution);
        let curves = curves(rows, |row| row.contender.into(), |row| Some(point(row)));
        Figure { title, x: "keys", y: "milliseconds", curves }
    });
    let of_strings = string_sort::figures(&strings).into_iter().chain(sent_strings::figures(&strings));
    timed.chain(comparison::count_figures(counts)).chain(of_strings).collect()
}

fn point(row: &Row) -> Point {
    Point {
        n: row.facts.n as f64,
        value: row.mean_ms,
        deviation: row.deviation_ms,
        least: row.min_ms,
        most: row.max_ms,
    }
}

/// The curve for each name, in the order in which the names first occur.
fn curves<T>(items: &[T], name: impl Fn(&T) -> String, point: impl Fn(&T) -> Option<Point>) -> Vec<Curve> {
    let mut curves: Vec<Curve> = Vec::new();
    for item in items {
        let Some(point) = point(item) else { continue };
        let name = name(item);
        match curves.iter_mut().find(|curve| curve.name == name) {
            Some(curve) => curve.points.push(point),
            None => curves.push(Curve { name, points: vec![point] }),
        }
    }
    curves
}

/// A table in the format of docs/papers.md. Empty if it has no lines.
fn markdown(title: &str, columns: &[&str], lines: &[Vec<String>]) -> String {
    if lines.is_empty() {
        return String::new();
    }
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let header = line(&columns.iter().map(|&column| column.into()).collect::<Vec<_>>());
    let lines: String = lines.iter().map(|cells| line(cells)).collect();
    format!("{title}\n\n{header}{}|\n{lines}\n", "|---".repeat(columns.len()))
}

/// Formats milliseconds with about three digits.
fn ms(ms: f64) -> String {
    let decimals = if ms < 10.0 { 3 } else { 1 + usize::from(ms < 100.0) };
    format!("{ms:.decimals$}")
}

/// Formats 1234567 as 1,234,567.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    groups.map(|group| std::str::from_utf8(group).expect("digits")).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;
    use crate::measure::{FACTS, Facts, Measured};

    fn described(arguments: &[&str]) -> Vec<String> {
        let start = ["sortie-bench", "--suite", "papers"];
        let args = Args::parse_from(start.iter().chain(arguments));
        let mut cases = cases(&args);
        cases.retain_mut(|case| case.keep(&args.filter, &args.threads));
        cases.iter().map(|case| case.describe()).collect()
    }

    #[test]
    fn cases_are_the_figures_and_the_tables() {
        let all = described(&[]);
        assert_eq!(
            all.len(),
            (8 + 4 * 4 + 4) + 4 * 10 + 4 * 6 + 1 + 1 + 3 + 4 + 2 * 4 + 1 + 4 + 7 + 1 + 6 + 26
        );
        assert_eq!(all[1], "Awan figure 2 f32, 50K x 1000: copy, sortie, GPU-ArraySort, by tags (STA)");
        assert_eq!(all[23], "Awan figure 7 f32, 200K x 4000: copy, sortie, GPU-ArraySort, by tags (STA)");
        assert_eq!(all[24], "Awan table 1 f32, as many x 1000 as fit: sortie, GPU-ArraySort, by tags (STA)");
        let samples = "copy, sortie, sample sort, fine sample sort, fine sample sort, single histogram";
        assert_eq!(
            all[28],
            format!("Munavalli figure 7 (tables 1 to 4 and 17) u32, 10000000, reversed: {samples}")
        );
        let three = "sortie, bitonic, quicksort, radix sort";
        assert_eq!(all[68], format!("Capannini figure 5 u32, 2^16, uniform: copy, sortie, {three}"));
        assert_eq!(all[92], format!("Capannini memory u32, as many as fit 511 MiB: sortie, {three}"));
        assert_eq!(all[93], "Capannini figure 6, 2^16 to 2^30, by closed form: bitonic, quicksort");
        assert_eq!(all[94], format!("Capannini table 1 u32, 65536, by test bench: {three}"));
        assert_eq!(all[100], format!("Capannini table 1 u32, 67108864, by ncu: {three}"));
        assert_eq!(all[101], "Drozd figure 2 strings, 10^5, words: std x1, sortie x1, sortie x2");
        let scaling = "std x1, sortie x1, naive x1, sortie x2, naive x2";
        assert_eq!(all[109], format!("Drozd figures 3, 4 and 7 strings, 3000000, words: {scaling}"));
        let merges = "std x1, sortie x1, merge sort x1, sortie x2, merge sort x2";
        assert_eq!(all[110], format!("Drozd conclusion strings, 10^6, words: {merges}"));
        let sent = "sortie, CPU x2, whole strings x2, cut strings x2";
        assert_eq!(all[114], format!("Drozd figure 5 strings, 3000000, 8 letters: {sent}"));
        assert_eq!(all[121], format!("Drozd figure 6 strings, 10^7, words: {sent}"));
    }

    #[test]
    fn a_filter_picks_a_figure_and_keeps_what_others_are_compared_with() {
        assert_eq!(described(&["--filter", "awan figure 5"]).len(), 4);
        assert_eq!(described(&["--filter", "capannini table 1", "--n", "32768"]).len(), 2);
        assert_eq!(described(&["--filter", "table 1 u32", "--n", "32768"]).len(), 2);
        let by_tags = described(&["--filter", "sta)"]);
        assert_eq!(by_tags[0], "Awan figure 2 f32, 50K x 500: copy, by tags (STA)");
        assert_eq!(by_tags[27], "Awan table 1 f32, as many x 4000 as fit: sortie, by tags (STA)");
    }

    #[test]
    fn once_is_one_sort_alone() {
        assert_eq!(described(&["--once"]).len(), 6);
        let one = described(&["--once", "--filter", "sortie, bitonic", "--n", "70"]);
        assert_eq!(one, ["once u32, 70: sortie, bitonic"]);
    }

    #[test]
    fn a_figure_has_a_curve_a_contender_over_all_sizes() {
        let row = |figure, distribution, n, contender| {
            let facts = Facts {
                suite: "papers",
                work: "keys",
                key: "u32",
                n,
                segments: Some(1),
                length: Some(n),
                distribution,
                ..FACTS
            };
            let measured =
                Measured { times_ms: vec![1.0, 3.0], bytes: 0, verified: true, ..Measured::default() };
            Row { figure, ..Row::new(&facts, contender, 1, &measured) }
        };
        let rows = [
            row("figure 1", "uniform", 10, "copy"),
            row("figure 1", "uniform", 10, "sortie"),
            row("figure 1", "uniform", 20, "copy"),
            row("figure 1", "zipf", 10, "copy"),
        ];
        let figures = figures(&rows, &[]);
        let titles: Vec<_> = figures.iter().map(|figure| &figure.title[..]).collect();
        assert_eq!(titles, ["figure 1, u32 uniform", "figure 1, u32 zipf"]);
        let points: Vec<_> =
            figures[0].curves.iter().map(|curve| (&curve.name[..], curve.points.len())).collect();
        assert_eq!(points, [("copy", 2), ("sortie", 1)]);
        let first = &figures[0].curves[0].points[0];
        assert_eq!((first.n, first.value, first.least, first.most), (10.0, 2.0, 1.0, 3.0));
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!([0.0123, 1.5, 12.345, 1234.56].map(ms), ["0.012", "1.500", "12.35", "1234.6"]);
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
