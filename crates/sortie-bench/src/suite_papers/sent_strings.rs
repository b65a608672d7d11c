//! Drozd, Pericas and Matsuoka, "Efficient string sorting on multi- and many-core architectures" (2014): their
//! measurements with a GPU, to which strings are copied whole or cut to their first symbols.

use rayon::ThreadPoolBuilder;
use sortie::Engine;
use sortie::gpu::Gpu;
use sortie_papers::{Sent, argsort_sent_strings};

use super::{curves, markdown, ms};
use crate::args::Args;
use crate::distributions::{StringSet, Strings};
use crate::measure::{Case, Clock, Contender, Facts, Measurable};
use crate::report::figures::{Figure, Point};
use crate::report::{PhaseTime, Row};
use crate::suite_host_strings::{argsort, ours};

/// The rate against the length of strings.
const FIGURE_5: &str = "Drozd figure 5";
const FIGURE_5_LENGTHS: [usize; 7] = [8, 16, 32, 64, 128, 256, 512];
const FIGURE_5_N: usize = 3_000_000;

/// The parts of the time for short strings.
const FIGURE_6: &str = "Drozd figure 6";
const FIGURE_6_N: usize = 10_000_000;

/// The rate against the number of strings.
const FIGURE_8: &str = "Drozd figure 8";
const FIGURE_8_SIZES: [usize; 6] = [100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 30_000_000];

const CPU: &str = "sortie, CPU";
const WHOLE: &str = "whole strings";
const CUT: &str = "cut strings";

pub fn cases(args: &Args) -> Vec<Box<dyn Measurable>> {
    let threads = *args.threads.last().expect("one at least");
    let case = |figure, set, n, contenders| -> Box<dyn Measurable> {
        let case = argsort(set, args.n.unwrap_or(n), contenders);
        let facts = Facts { suite: "papers", work: "strings", ..case.facts };
        Box::new(Case { figure, facts, ..case })
    };
    let cpu = || ours(CPU, threads, Engine::Cpu);
    let whole = || sent(WHOLE, threads, Sent::Whole);
    let cut = || sent(CUT, threads, Sent::Cut);
    let mut cases = Vec::new();
    for length in FIGURE_5_LENGTHS {
        cases.push(case(FIGURE_5, StringSet::Letters(length), FIGURE_5_N, vec![cpu(), whole(), cut()]));
    }
    cases.push(case(FIGURE_6, StringSet::Words, FIGURE_6_N, vec![cpu(), whole(), cut()]));
    let sizes = if args.n.is_some() { &FIGURE_8_SIZES[..1] } else { &FIGURE_8_SIZES };
    cases.extend(sizes.iter().map(|&n| case(FIGURE_8, StringSet::Words, n, vec![cpu(), cut()])));
    cases
}

fn sent(name: &'static str, threads: usize, sent: Sent) -> Contender<Strings, Vec<u32>> {
    Contender::new(name, threads, move |strings: &Strings, clock: &mut Clock| {
        let gpu = Gpu::cuda(0)?;
        let pool = ThreadPoolBuilder::new().num_threads(threads).build()?;
        let refs = strings.refs();
        let mut places = vec![0; refs.len()];
        let sort = || argsort_sent_strings(&gpu, &refs, sent, &mut places);
        clock.report = pool.install(|| clock.time(sort))?;
        Ok(places)
    })
}

pub fn tables(rows: &[Row]) -> String {
    let of = |figure| rows.iter().filter(|row| row.figure == figure).collect::<Vec<_>>();
    by_length(&of(FIGURE_5)) + &phases(&of(FIGURE_6)) + &by_number(&of(FIGURE_8))
}

pub fn figures(rows: &[&Row]) -> Vec<Figure> {
    let of = |figure| rows.iter().copied().filter(|row| row.figure == figure).collect::<Vec<_>>();
    let lengths: Vec<_> = of(FIGURE_5).into_iter().flat_map(rates).collect();
    let figure_5 = curves(
        &lengths,
        |(_, name, _)| (*name).into(),
        |&(row, _, rate)| Some(Point::exact(row.facts.length? as f64, rate)),
    );
    let point = |row: &&Row| {
        let rate = |ms| row.facts.n as f64 / ms / 1e3;
        let (n, value) = (row.facts.n as f64, rate(row.median_ms));
        Some(Point { n, value, deviation: 0.0, least: rate(row.max_ms), most: rate(row.min_ms) })
    };
    let figure_8 = curves(&of(FIGURE_8), |row| row.contender.into(), point);
    let y = "million strings a second";
    [(FIGURE_5, "bytes of a string", figure_5), (FIGURE_8, "strings", figure_8)]
        .into_iter()
        .filter(|(.., curves)| !curves.is_empty())
        .map(|(title, x, curves)| Figure { title: title.into(), x, y, curves })
        .collect()
}

/// Million strings per second of a contender. For whole strings, also the rate if only the copies took time.
fn rates(row: &Row) -> Vec<(&Row, &'static str, f64)> {
    let rate = |ms: f64| row.facts.n as f64 / ms / 1e3;
    let mut rates = Vec::new();
    if row.contender == WHOLE {
        let ms =
            |name| row.phases.iter().filter(|phase| phase.name == name).map(|phase| phase.ms).sum::<f64>();
        let (there, back) = (ms("copy in"), ms("copy out"));
        rates.push((row, "copy there", rate(there)));
        rates.push((row, "copy there and back", rate(there + back)));
    }
    rates.push((row, row.contender, rate(row.median_ms)));
    rates
}

fn by_length(rows: &[&Row]) -> String {
    let mut columns = vec!["bytes"];
    let mut lines = Vec::new();
    for rows in rows.chunk_by(|a, b| a.facts.length == b.facts.length) {
        let rates: Vec<_> = rows.iter().flat_map(|row| self::rates(row)).collect();
        columns.splice(1.., rates.iter().map(|&(_, name, _)| name));
        let length = rows[0].facts.length.map_or(String::new(), |length| length.to_string());
        lines
            .push(std::iter::once(length).chain(rates.iter().map(|rate| format!("{:.0}", rate.2))).collect());
    }
    markdown(&format!("{FIGURE_5}: million strings a second"), &columns, &lines)
}

fn phases(rows: &[&Row]) -> String {
    let line = |row: &Row, phase: &PhaseTime| {
        let whole: f64 = row.phases.iter().map(|phase| phase.ms).sum();
        vec![
            row.contender.into(),
            phase.name.into(),
            ms(phase.ms),
            format!("{:.0}%", 100.0 * phase.ms / whole),
        ]
    };
    let gpu = rows.iter().filter(|row| row.contender != CPU);
    let lines: Vec<_> = gpu.flat_map(|row| row.phases.iter().map(|phase| line(row, phase))).collect();
    markdown(FIGURE_6, &["sent", "phase", "ms", "share"], &lines)
}

fn by_number(rows: &[&Row]) -> String {
    let mut lines = Vec::new();
    for rows in rows.chunk_by(|a, b| a.facts.n == b.facts.n) {
        let rate = |row: &&&Row| format!("{:.0}", row.rate / 1e6);
        let of = |name| rows.iter().find(|row| row.contender == name);
        let (Some(cpu), Some(cut)) = (of(CPU), of(CUT)) else { continue };
        let ratio = format!("{:.2}", cut.rate / cpu.rate);
        lines.push(vec![rows[0].facts.n.to_string(), rate(&cpu), rate(&cut), ratio]);
    }
    markdown(&format!("{FIGURE_8}: million strings a second"), &["strings", CPU, CUT, "ratio"], &lines)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{FACTS, Measured};

    fn row(figure: &'static str, contender: &'static str, n: usize, length: usize, ms: f64) -> Row {
        let facts =
            Facts { suite: "papers", work: "strings", key: "bytes", n, length: Some(length), ..FACTS };
        let measured = Measured { times_ms: vec![ms], verified: true, ..Measured::default() };
        Row { figure, ..Row::new(&facts, contender, 16, &measured) }
    }

    #[test]
    fn tables_and_figures_of_a_gpu_are_rates_and_phases() {
        let phase = |name, ms| PhaseTime { name, ms, work_ms: Vec::new() };
        let sent = vec![phase("copy in", 2.0), phase("sort", 1.0), phase("copy out", 2.0)];
        let rows = [
            row(FIGURE_5, CPU, 1_000_000, 8, 10.0),
            Row { phases: sent.clone(), ..row(FIGURE_5, WHOLE, 1_000_000, 8, 5.0) },
            row(FIGURE_5, CUT, 1_000_000, 8, 4.0),
            Row { phases: sent, ..row(FIGURE_6, WHOLE, 1_000_000, 8, 5.0) },
            row(FIGURE_8, CPU, 1_000_000, 8, 10.0),
            row(FIGURE_8, CUT, 1_000_000, 8, 4.0),
        ];
        let table = tables(&rows);
        for line in [
            "| bytes | sortie, CPU | copy there | copy there and back | whole strings | cut strings |",
            "| 8 | 100 | 500 | 250 | 200 | 250 |",
            "| whole strings | sort | 1.000 | 20% |",
            "| 1000000 | 100 | 250 | 2.50 |",
        ] {
            assert!(table.contains(line), "no {line} in {table}");
        }
        let figures = figures(&rows.iter().collect::<Vec<_>>());
        let titles: Vec<_> = figures.iter().map(|figure| (&figure.title[..], figure.curves.len())).collect();
        assert_eq!(titles, [(FIGURE_5, 5), (FIGURE_8, 2)]);
        assert_eq!((figures[0].curves[1].points[0].n, figures[0].curves[1].points[0].value), (8.0, 500.0));
    }
}
