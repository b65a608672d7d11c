//! Drozd, Pericas and Matsuoka, "Efficient string sorting on multi- and many-core architectures" (2014): their
//! measurements on a CPU.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};
use sortie::Sorter;
use sortie_papers::msd_radix_sort;

use super::{curves, markdown};
use crate::args::Args;
use crate::distributions::{StringSet, Strings};
use crate::measure::{Case, Contender, Facts, Measurable};
use crate::report::figures::{Figure, Point};
use crate::report::{PhaseTime, Row};

const FIGURE_2: &str = "Drozd figure 2";
const FIGURE_2_SETS: [StringSet; 2] = [StringSet::Words, StringSet::Dna];
const FIGURE_2_SIZES: [usize; 4] = [100_000, 300_000, 1_000_000, 3_000_000];

/// The time of each phase, its inflation and idleness, and the scaling of the sorts.
const THREADS: &str = "Drozd figures 3, 4 and 7";
const THREADS_N: usize = 3_000_000;

/// Radix sort compared with merge sort, by the length of strings.
const CONCLUSION: &str = "Drozd conclusion";
const CONCLUSION_SETS: [StringSet; 4] =
    [StringSet::Words, StringSet::ShortDna, StringSet::Dna, StringSet::Urls];
const CONCLUSION_N: usize = 1_000_000;

const OURS: &str = "sortie";

/// Why no [`sortie::Error`] can occur: there are no limits, and the arguments match.
const NO_LIMITS: &str = "nothing is refused without limits";

pub fn cases(args: &Args) -> Vec<Box<dyn Measurable>> {
    let teams = Team::all(&args.threads);
    let case = |figure, set, n, sorts: &[Sort]| self::case(figure, set, args.n.unwrap_or(n), &teams, sorts);
    let sizes = args.n.map_or(FIGURE_2_SIZES.to_vec(), |n| vec![n]);
    let mut cases = Vec::new();
    for set in FIGURE_2_SETS {
        cases.extend(sizes.iter().map(|&n| case(FIGURE_2, set, n, &[sortie])));
    }
    cases.push(case(THREADS, StringSet::Words, THREADS_N, &[sortie, naive]));
    cases.extend(CONCLUSION_SETS.map(|set| case(CONCLUSION, set, CONCLUSION_N, &[sortie, merge_sort])));
    cases
}

/// Everything needed for a number of threads. Made once, outside the measured time.
#[derive(Clone)]
struct Team {
    threads: usize,
    sorter: Sorter,
    pool: Arc<ThreadPool>,
}

impl Team {
    fn all(threads: &[usize]) -> Vec<Team> {
        let team = |&threads: &usize| Team {
            threads,
            sorter: Sorter::builder().threads(threads).build().expect("--threads are above 0"),
            pool: Arc::new(
                ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started"),
            ),
        };
        threads.iter().map(team).collect()
    }
}

fn case(
    figure: &'static str,
    set: StringSet,
    n: usize,
    teams: &[Team],
    sorts: &[Sort],
) -> Box<dyn Measurable> {
    let std = by_reference("std", 1, |v| v.sort_unstable());
    let others = teams.iter().flat_map(|team| sorts.iter().map(move |sort| sort(team.clone())));
    Box::new(Case {
        figure,
        facts: Facts {
            suite: "papers",
            work: "strings",
            key: "bytes",
            payload: "",
            n,
            segments: None,
            length: set.length(),
            distribution: set.name(),
            includes: "scratch; references move, bodies stay",
        },
        draw: Box::new(move |rng| set.draw(n, rng)),
        bytes: |strings| strings.bytes.len(),
        agrees: |strings: &Strings, reference: &Spans, outcome: &Spans| {
            let text = |span: &Range<usize>| &strings.bytes[span.clone()];
            reference.len() == outcome.len()
                && reference.iter().map(text).eq(outcome.iter().map(text))
                && each_once(outcome)
        },
        contenders: std::iter::once(std).chain(others).collect(),
    })
}

/// The position of each string of an outcome in the bytes.
type Spans = Vec<Range<usize>>;

/// Whether no string occurs twice. No string is empty, so each starts at a different position.
fn each_once(spans: &Spans) -> bool {
    let mut starts: Vec<_> = spans.iter().map(|span| span.start).collect();
    starts.par_sort_unstable();
    starts.windows(2).all(|pair| pair[0] != pair[1])
}

type Sort = fn(Team) -> Contender<Strings, Spans>;

fn sortie(Team { threads, sorter, .. }: Team) -> Contender<Strings, Spans> {
    Contender::new(OURS, threads, move |strings: &Strings, clock| {
        let mut refs = strings.refs();
        clock.report = clock.time(|| sorter.sort_strings(&mut refs)).expect(NO_LIMITS);
        Ok(spans(strings, refs.into_iter()))
    })
}

fn naive(Team { threads, pool, .. }: Team) -> Contender<Strings, Spans> {
    by_reference("naive", threads, move |v| pool.install(|| msd_radix_sort(v)))
}

/// Rayon's stable sort.
fn merge_sort(Team { threads, pool, .. }: Team) -> Contender<Strings, Spans> {
    by_reference("merge sort", threads, move |v| pool.install(|| v.par_sort()))
}

fn by_reference(
    name: &'static str,
    threads: usize,
    sort: impl Fn(&mut [&[u8]]) + 'static,
) -> Contender<Strings, Spans> {
    Contender::new(name, threads, move |strings: &Strings, clock| {
        let mut refs = strings.refs();
        clock.time(|| sort(&mut refs));
        Ok(spans(strings, refs.into_iter()))
    })
}

fn spans<'a>(strings: &Strings, refs: impl Iterator<Item = &'a [u8]>) -> Spans {
    let base = strings.bytes.as_ptr().addr();
    let span = |text: &[u8]| {
        let start = text.as_ptr().addr() - base;
        start..start + text.len()
    };
    refs.map(span).collect()
}

/// The tables. They only contain ratios, which can be compared between machines.
pub fn tables(rows: &[Row]) -> String {
    let of = |figure| rows.iter().filter(|row| row.figure == figure).collect::<Vec<_>>();
    let threads = of(THREADS);
    rates(FIGURE_2, &of(FIGURE_2))
        + &phases(&threads)
        + &scaling(&threads)
        + &rates(CONCLUSION, &of(CONCLUSION))
}

pub fn figures(rows: &[&Row]) -> Vec<Figure> {
    let of = |figure| rows.iter().copied().filter(|row| row.figure == figure).collect::<Vec<_>>();
    let threads = of(THREADS);
    throughput(&of(FIGURE_2)).chain(phase_figures(&threads)).chain(scaling_figure(&threads)).collect()
}

/// Contenders by rate. The unit is the baseline's rate at the first case of the same strings.
fn rates(figure: &str, rows: &[&Row]) -> String {
    let mut columns = vec!["input".to_string(), "strings".into()];
    let mut lines = Vec::new();
    for rows in rows.chunk_by(|a, b| a.facts.distribution == b.facts.distribution) {
        let unit = rows[0].rate;
        for rows in rows.chunk_by(|a, b| a.facts.n == b.facts.n) {
            columns.splice(2.., rows.iter().map(|row| name(row)));
            let rates = rows.iter().map(|row| format!("{:.2}", row.rate / unit));
            let facts = &rows[0].facts;
            lines.push([facts.distribution.into(), facts.n.to_string()].into_iter().chain(rates).collect());
        }
    }
    let columns: Vec<_> = columns.iter().map(String::as_str).collect();
    markdown(
        &format!("{figure}: strings a second, 1 for std in the first line of an input"),
        &columns,
        &lines,
    )
}

/// The curves of [`rates`] for each set.
fn throughput(rows: &[&Row]) -> impl Iterator<Item = Figure> {
    rows.chunk_by(|a, b| a.facts.distribution == b.facts.distribution).map(|rows| {
        let unit = rows[0].rate;
        let point = |row: &&Row| {
            let rate = |ms| row.facts.n as f64 / (ms / 1e3) / unit;
            let (least, most) = (rate(row.max_ms), rate(row.min_ms));
            Some(Point { n: row.facts.n as f64, value: row.rate / unit, deviation: 0.0, least, most })
        };
        Figure {
            title: format!("{FIGURE_2}, {}", rows[0].facts.distribution),
            x: "strings",
            y: "strings a second, 1 for std with the fewest",
            curves: curves(rows, |row| name(row), point),
        }
    })
}

/// The time of a phase with a number of threads, and the work of all of them.
struct Spent {
    name: &'static str,
    threads: usize,
    ms: f64,
    /// The sum over all threads.
    work_ms: f64,
}

impl Spent {
    fn all(row: &Row) -> Vec<Spent> {
        let spent = |phase: &PhaseTime| Spent {
            name: phase.name,
            threads: row.threads,
            ms: phase.ms,
            work_ms: phase.work_ms.iter().sum(),
        };
        let mut all: Vec<_> = row.phases.iter().map(spent).collect();
        let (ms, work_ms) = all.iter().fold((0.0, 0.0), |sum, one| (sum.0 + one.ms, sum.1 + one.work_ms));
        all.push(Spent { name: "all phases", threads: row.threads, ms, work_ms });
        all
    }

    /// The work relative to that of one thread.
    fn inflation(&self, alone: &Spent) -> f64 {
        self.work_ms / alone.work_ms
    }

    /// The time relative to that if all threads worked all the time.
    fn stretch(&self) -> f64 {
        self.threads as f64 * self.ms / self.work_ms
    }

    /// The share of the threads' time in which they were idle.
    fn idleness(&self) -> f64 {
        1.0 - 1.0 / self.stretch()
    }
}

/// Each phase of Sortie and the same phase on one thread. Empty if one thread was not measured.
fn beside_one_thread(rows: &[&Row]) -> Vec<(Spent, Spent)> {
    let ours: Vec<_> = rows.iter().filter(|row| row.contender == OURS).collect();
    let Some(alone) = ours.iter().find(|row| row.threads == 1) else { return Vec::new() };
    let of_phase =
        |at: usize| ours.iter().map(move |row| (Spent::all(row).remove(at), Spent::all(alone).remove(at)));
    (0..=alone.phases.len()).flat_map(of_phase).collect()
}

/// Figures 3 and 4.
fn phases(rows: &[&Row]) -> String {
    let spent = beside_one_thread(rows);
    let Some((_, whole)) = spent.last() else { return String::new() };
    let line = |(spent, alone): &(Spent, Spent)| {
        vec![
            spent.name.into(),
            spent.threads.to_string(),
            percent(spent.ms / whole.ms),
            format!("{:.2}", spent.inflation(alone)),
            percent(spent.idleness()),
            format!("{:.2}", spent.stretch()),
        ]
    };
    let columns = ["phase", "threads", "time", "inflation", "idle", "stretch"];
    let title = format!("{THREADS}: phases of {OURS}, time in percent of all phases by one thread");
    markdown(&title, &columns, &spent.iter().map(line).collect::<Vec<_>>())
}

/// Figure 3, and both parts of figure 4.
fn phase_figures(rows: &[&Row]) -> impl Iterator<Item = Figure> {
    type Value = fn(&(Spent, Spent), f64) -> f64;
    let spent = beside_one_thread(rows);
    let whole = spent.last().map_or(0.0, |(_, whole)| whole.ms);
    let figures: [(_, _, Value); 3] = [
        ("Drozd figure 3", "time, 1 for all phases by one thread", |(spent, _), whole| spent.ms / whole),
        ("Drozd figure 4 (a)", "inflation of work", |(spent, alone), _| spent.inflation(alone)),
        ("Drozd figure 4 (b)", "stretch by idleness", |(spent, _), _| spent.stretch()),
    ];
    figures.into_iter().filter_map(move |(title, y, value)| {
        let point = |both: &(Spent, Spent)| Some(Point::exact(both.0.threads as f64, value(both, whole)));
        let curves = curves(&spent, |(spent, _)| spent.name.into(), point);
        (!curves.is_empty()).then(|| Figure { title: title.into(), x: "threads", y, curves })
    })
}

/// Each row except the baseline, and the same sort on one thread.
fn beside_itself<'a>(rows: &[&'a Row]) -> Vec<(&'a Row, &'a Row)> {
    let sorts = rows.iter().skip(1);
    let alone =
        |row: &Row| rows.iter().skip(1).find(|one| one.contender == row.contender && one.threads == 1);
    sorts.filter_map(|row| Some((*row, *alone(row)?))).collect()
}

/// Figure 7.
fn scaling(rows: &[&Row]) -> String {
    let line = |(row, alone): (&Row, &Row)| {
        vec![
            row.contender.into(),
            row.threads.to_string(),
            format!("{:.2}", row.rate / alone.rate),
            format!("{:.2}", row.rate / rows[0].rate),
        ]
    };
    let title = format!("{THREADS}: scaling");
    let lines: Vec<_> = beside_itself(rows).into_iter().map(line).collect();
    markdown(&title, &["sort", "threads", "speed-up", "rate, 1 for std"], &lines)
}

fn scaling_figure(rows: &[&Row]) -> Option<Figure> {
    let point = |(row, alone): &(&Row, &Row)| Some(Point::exact(row.threads as f64, row.rate / alone.rate));
    let curves = curves(&beside_itself(rows), |(row, _)| row.contender.into(), point);
    let title = "Drozd figure 7".into();
    (!curves.is_empty()).then_some(Figure { title, x: "threads", y: "speed-up over one thread", curves })
}

fn name(row: &Row) -> String {
    format!("{} x{}", row.contender, row.threads)
}

fn percent(share: f64) -> String {
    format!("{:.0}%", 100.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{FACTS, Measured};

    fn row(figure: &'static str, contender: &'static str, threads: usize, n: usize, ms: f64) -> Row {
        let facts =
            Facts { suite: "papers", work: "strings", key: "bytes", n, distribution: "words", ..FACTS };
        let measured = Measured { times_ms: vec![ms], verified: true, ..Measured::default() };
        Row { figure, ..Row::new(&facts, contender, threads, &measured) }
    }

    #[test]
    fn rates_count_from_those_of_std_with_the_fewest_strings() {
        let rows = [
            row(FIGURE_2, "std", 1, 100, 2.0),
            row(FIGURE_2, OURS, 2, 100, 1.0),
            row(FIGURE_2, "std", 1, 1000, 40.0),
            row(FIGURE_2, OURS, 2, 1000, 8.0),
        ];
        let table = tables(&rows);
        for line in [
            "| input | strings | std x1 | sortie x2 |",
            "| words | 100 | 1.00 | 2.00 |",
            "| words | 1000 | 0.50 | 2.50 |",
        ] {
            assert!(table.contains(line), "no {line} in {table}");
        }
        let figures = figures(&rows.iter().collect::<Vec<_>>());
        assert_eq!(figures.len(), 1);
        let point = &figures[0].curves[1].points[1];
        assert_eq!((&figures[0].curves[1].name[..], point.n, point.value), ("sortie x2", 1000.0, 2.5));
    }

    #[test]
    fn phases_are_compared_with_those_of_one_thread() {
        let phase = |name, ms, work_ms: &[f64]| PhaseTime { name, ms, work_ms: work_ms.to_vec() };
        let one = vec![phase("profile", 1.0, &[1.0]), phase("finish", 9.0, &[9.0])];
        let two = vec![phase("profile", 1.0, &[1.0]), phase("finish", 6.0, &[5.0, 5.8])];
        let rows = [
            row(THREADS, "std", 1, 100, 20.0),
            Row { phases: one, ..row(THREADS, OURS, 1, 100, 10.0) },
            row(THREADS, "naive", 1, 100, 16.0),
            Row { phases: two, ..row(THREADS, OURS, 2, 100, 8.0) },
            row(THREADS, "naive", 2, 100, 10.0),
        ];
        let table = tables(&rows);
        for line in [
            "| profile | 2 | 10% | 1.00 | 50% | 2.00 |",
            "| finish | 1 | 90% | 1.00 | 0% | 1.00 |",
            "| finish | 2 | 60% | 1.20 | 10% | 1.11 |",
            "| all phases | 2 | 70% | 1.18 | 16% | 1.19 |",
            "| sortie | 2 | 1.25 | 2.50 |",
            "| naive | 2 | 1.60 | 2.00 |",
        ] {
            assert!(table.contains(line), "no {line} in {table}");
        }
        let figures = figures(&rows.iter().collect::<Vec<_>>());
        let titles: Vec<_> = figures.iter().map(|figure| &figure.title[..]).collect();
        assert_eq!(titles, ["Drozd figure 3", "Drozd figure 4 (a)", "Drozd figure 4 (b)", "Drozd figure 7"]);
        let names: Vec<_> = figures[0].curves.iter().map(|curve| &curve.name[..]).collect();
        assert_eq!(names, ["profile", "finish", "all phases"]);
        assert_eq!(figures[3].curves[1].points[1].value, 1.6);

        let alone_left_out: Vec<_> = rows.iter().filter(|row| row.threads == 2).collect();
        assert!(super::figures(&alone_left_out).is_empty());
    }
}
