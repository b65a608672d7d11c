//! Suite `index`: builds an index, and compares with tantivy. Also repeats table 2 and figure 8 of Capannini, Silvestri
//! and Baraglia, "Sorting on GPUs for large scale datasets: A thorough comparison" (2011), section 7.
//!
//! The documents are those of `text/rfcs.jsonl.gz` in `$SORTIE_DATA` or `../shared/data`, repeated as often as a case
//! says. Each copy has names of its own. Each repetition uses a new random order. Documents start in memory and end as
//! an index on disk.

mod collection;
#[cfg(feature = "peers-tantivy")]
mod tantivy;

#[cfg(feature = "peers-tantivy")]
use std::path::Path;
use std::rc::Rc;

use sortie::{Algorithm, Report};
use sortie_index::{Builder, Pipeline, Summary};
use tempfile::TempDir;

use crate::Result;
use crate::args::Args;
use crate::measure::{Case, Clock, Contender, Facts, Measurable};
use crate::report::Row;
use crate::report::figures::{Curve, Figure, Point};
use collection::{Collection, Texts};

/// The copies of the documents for the comparison with tantivy, unless `--n` gives a number: 43 million words.
const COPIES: usize = 32;
/// The copies in the paper's six collections. Each is twice as large as the one before.
const DOUBLED: [usize; 6] = [4, 8, 16, 32, 64, 128];
const TABLE_2: &str = "Capannini table 2 and figure 8A";
const FIGURE_8B: &str = "Capannini figure 8B";
/// The memory of the paper's GPU.
const DEVICE_MEMORY: u64 = 511 << 20;

/// The properties of an index that are compared.
pub struct Built {
    pub documents: u64,
    pub terms: u64,
}

type Indexes = Case<Collection, Built>;
type Builds = Contender<Collection, Built>;

pub fn cases(args: &Args) -> Result<Vec<Box<dyn Measurable>>> {
    let texts = Rc::new(Texts::read()?);
    let threads = *args.threads.last().expect("one at least");
    let mut cases: Vec<Box<dyn Measurable>> = Vec::new();
    let mut against = Vec::new();
    #[cfg(feature = "peers-tantivy")]
    against.push(tantivy::contender(args, threads));
    if against.is_empty() {
        eprintln!("tantivy: skipped; build with --features peers-tantivy");
    }
    against.push(ours("sortie", args, threads, Builder::default().pipeline(Pipeline::Cpu)));
    cases.push(Box::new(case("", "index", &texts, args.n.unwrap_or(COPIES), against)));

    let has_gpu = sortie_device::cuda::device(0).is_ok();
    if !has_gpu {
        eprintln!("Index_gpu and Index_gpu+: skipped, there is no GPU");
    }
    for copies in DOUBLED {
        let program = |name, pipeline| ours(name, args, threads, Builder::default().pipeline(pipeline));
        let mut programs = vec![program("Index_cpu", Pipeline::Cpu)];
        if has_gpu {
            programs.push(program("Index_gpu", Pipeline::Gpu));
            programs.push(program("Index_gpu+", Pipeline::GpuOverlapped));
        }
        cases.push(Box::new(case(TABLE_2, "index", &texts, copies, programs)));
    }
    for copies in DOUBLED.into_iter().filter(|_| has_gpu) {
        let sorted_by = |name, algorithm| {
            let builder = Builder::default().pipeline(Pipeline::GpuOverlapped);
            ours(name, args, threads, builder.algorithm(algorithm).device_memory_limit(DEVICE_MEMORY))
        };
        let programs =
            vec![sorted_by("bitonic", Algorithm::Bitonic), sorted_by("radix sort", Algorithm::Radix)];
        cases.push(Box::new(case(FIGURE_8B, "index", &texts, copies, programs)));
    }
    Ok(cases)
}

fn case(
    figure: &'static str,
    work: &'static str,
    texts: &Rc<Texts>,
    copies: usize,
    contenders: Vec<Builds>,
) -> Indexes {
    let texts = texts.clone();
    Case {
        figure,
        facts: Facts {
            suite: "index",
            work,
            key: "bytes",
            payload: "",
            n: texts.words * copies,
            segments: None,
            length: None,
            distribution: "words of RFCs",
            includes: "cutting to words, runs, the index on disk and synced",
        },
        draw: Box::new(move |rng| Ok(texts.collection(copies, rng))),
        bytes: Collection::bytes,
        agrees: |_, reference, built| {
            (built.documents, built.terms) == (reference.documents, reference.terms)
        },
        contenders,
    }
}

/// A contender that builds with `builder`, and reports the time of each part and the size of the index.
fn ours(name: &'static str, args: &Args, threads: usize, builder: Builder) -> Builds {
    let (dir, builder) = (args.dir.clone(), builder.threads(threads).memory_limit(args.memory));
    Contender::new(name, threads, move |collection: &Collection, clock: &mut Clock| {
        let folder = TempDir::with_prefix_in("sortie-bench-", &dir)?;
        let target = folder.path().join("index");
        let summary = clock.time(|| builder.build_from(collection.documents(), &target))?;
        sortie_index::Index::open(&target)?.check()?;
        clock.report = phases(&summary);
        clock.note = format!("{} runs, index of {} bytes", summary.runs, summary.index_bytes);
        Ok(Built { documents: summary.counts.documents, terms: summary.counts.terms })
    })
}

fn phases(summary: &Summary) -> Report {
    let times = summary.times;
    let mut report = Report::default();
    let parts =
        [("parse", times.parse), ("sort", times.sort), ("write", times.write), ("merge", times.merge)];
    parts.into_iter().for_each(|(name, time)| report.add(name, time, 0, 0));
    report
}

/// The paper's table 2 with measured times: for each collection and each program, the seconds before the merge, and of
/// the merge. For the overlapped program, also the part of the total time that the sort took.
pub fn table(rows: &[Row]) -> String {
    let rows: Vec<&Row> = rows.iter().filter(|row| row.figure == TABLE_2).collect();
    let mut text = String::new();
    for rows in rows.chunk_by(|a, b| a.facts.n == b.facts.n) {
        for row in rows {
            let merge = phase(row, "merge");
            text += &format!(
                "| {:.1} | {} | {:.3} | {:.3} | {:.3} | {:.1}% |\n",
                row.facts.n as f64 / 1e6,
                row.contender,
                (row.median_ms - merge) / 1e3,
                merge / 1e3,
                row.median_ms / 1e3,
                100.0 * phase(row, "sort") / row.median_ms,
            );
        }
    }
    if text.is_empty() {
        return text;
    }
    let head = "| 10^6 words | program | parse, sort, write, s | merge, s | all, s | sort of all |\n";
    format!("{TABLE_2}\n\n{head}{}|\n{text}\n", "|---".repeat(6))
}

/// The milliseconds of a phase.
fn phase(row: &Row, name: &str) -> f64 {
    row.phases.iter().filter(|phase| phase.name == name).map(|phase| phase.ms).sum()
}

/// Time against the number of words: figures 8A and 8B.
pub fn figures(rows: &[Row]) -> Vec<Figure> {
    let drawn = [TABLE_2, FIGURE_8B].map(|title| {
        let mut curves: Vec<Curve> = Vec::new();
        for row in rows.iter().filter(|row| row.figure == title) {
            let (n, value) = (row.facts.n as f64, row.median_ms / 1e3);
            let spread = (row.min_ms / 1e3, row.max_ms / 1e3);
            let point = Point { n, value, deviation: 0.0, least: spread.0, most: spread.1 };
            match curves.iter_mut().find(|curve| curve.name == row.contender) {
                Some(curve) => curve.points.push(point),
                None => curves.push(Curve { name: row.contender.into(), points: vec![point] }),
            }
        }
        Figure { title: title.into(), x: "words", y: "seconds", curves }
    });
    drawn.into_iter().filter(|figure| !figure.curves.is_empty()).collect()
}

/// The total size of the files in a folder.
#[cfg(feature = "peers-tantivy")]
fn size(folder: &Path) -> Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        bytes += entry?.metadata()?.len();
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{FACTS, Measured};

    fn row(figure: &'static str, n: usize, contender: &'static str, ms: f64) -> Row {
        let facts = Facts { suite: "index", work: "index", key: "bytes", n, ..FACTS };
        let mut report = Report::default();
        report.add("sort", std::time::Duration::from_millis(100), 0, 0);
        report.add("merge", std::time::Duration::from_millis(400), 0, 0);
        let measured =
            Measured { times_ms: vec![ms], verified: true, reports: vec![report], ..Measured::default() };
        Row { figure, ..Row::new(&facts, contender, 2, &measured) }
    }

    #[test]
    fn the_table_has_a_line_a_program_and_the_figures_a_curve() {
        let rows = [
            row("", 1_000_000, "sortie", 1.0),
            row(TABLE_2, 1_000_000, "Index_cpu", 2000.0),
            row(TABLE_2, 2_000_000, "Index_cpu", 4000.0),
            row(FIGURE_8B, 1_000_000, "bitonic", 1000.0),
        ];
        let table = table(&rows);
        assert_eq!(table.lines().filter(|line| line.starts_with("| ")).count(), 3, "{table}");
        assert!(table.contains("| 1.0 | Index_cpu | 1.600 | 0.400 | 2.000 | 5.0% |"), "{table}");
        assert_eq!(super::table(&rows[..1]), "");
        let figures = figures(&rows);
        let points: Vec<_> = figures.iter().map(|figure| figure.curves[0].points.len()).collect();
        assert_eq!(points, [2, 1]);
    }
}
