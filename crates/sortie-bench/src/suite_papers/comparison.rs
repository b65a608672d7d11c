//! Capannini, Silvestri and Baraglia, "Sorting on GPUs for large scale datasets: A thorough comparison" (2011): the bitonic
//! network, quicksort and radix sort.

use std::marker::PhantomData;
use std::rc::Rc;

use sortie_papers::Histograms;

use super::closed_forms::{self, ClosedForms};
use super::counting::{Counting, SORTS, TABLE_1};
use super::fit::{Fit, Once};
use super::{curves, grouped, markdown, ms};
use crate::args::Args;
use crate::distributions::Distribution;
use crate::measure::Measurable;
use crate::report::figures::{Figure, Point};
use crate::report::{Counted, Counts, Row};
use crate::suite_batch::batch::Shape;
use crate::suite_batch::contenders::{Contender, OneArray};
use crate::suite_batch::ours::Published;
use crate::suite_batch::{Case, Shared};

const SORTIE: Contender = Contender::OneArray(OneArray::Keys);

const FIGURE_5: &str = "Capannini figure 5";
const FIGURE_5_LOGS: [u32; 6] = [16, 18, 20, 22, 24, 26];
const DISTRIBUTIONS: [Distribution; 4] =
    [Distribution::Uniform, Distribution::Normal, Distribution::Zipf, Distribution::Equal];
const ARRAYS: usize = 20;

const MEMORY: &str = "Capannini memory";
/// The memory of the paper's GPU.
const LIMIT: u64 = 511 << 20;
/// The parts are one MiB each.
const PARTS: u64 = 511;

const ONCE_LOG: u32 = 20;

pub fn cases(args: &Args, shared: &Rc<Shared>) -> Vec<Box<dyn Measurable>> {
    let sizes = args.n.map_or(FIGURE_5_LOGS.map(|log| 1 << log).to_vec(), |n| vec![n as u64]);
    let mut cases: Vec<Box<dyn Measurable>> = Vec::new();
    for distribution in DISTRIBUTIONS {
        for &length in &sizes {
            cases.push(Box::new(Case::<u32> {
                suite: "papers",
                title: FIGURE_5,
                shared: shared.clone(),
                shape: Shape::Even { segments: 1, length },
                contenders: [Contender::Copy, SORTIE]
                    .into_iter()
                    .chain(SORTS.map(Contender::Published))
                    .collect(),
                patience: f64::INFINITY,
                reps: ARRAYS,
                distribution,
                key: PhantomData,
            }));
        }
    }
    cases.push(Box::new(Fit::<u32> {
        shared: shared.clone(),
        figure: MEMORY,
        length: None,
        limit: Some(LIMIT),
        parts: PARTS,
        contenders: [SORTIE].into_iter().chain(SORTS.map(Contender::Published)).collect(),
        key: PhantomData,
    }));
    cases.push(Box::new(ClosedForms));
    cases.extend(Counting::all(args.n, shared).map(|counting| Box::new(counting) as _));
    cases
}

/// Every published sort of one array, run once and without a baseline.
pub fn once(args: &Args, shared: &Rc<Shared>) -> Vec<Box<dyn Measurable>> {
    let samples = [Published::SampleSort]
        .into_iter()
        .chain([Histograms::OfAllBlocks, Histograms::Single].map(Published::FineSampleSort));
    let n = args.n.unwrap_or(1 << ONCE_LOG) as u64;
    let once = |sort| Once { shared: shared.clone(), contender: Contender::Published(sort), n };
    SORTS.into_iter().chain(samples).map(|sort| Box::new(once(sort)) as _).collect()
}

pub fn tables(rows: &[Row], counts: &[Counted]) -> String {
    figure_5(rows) + &memory(rows) + &figure_6(counts) + &table_1(counts)
}

fn figure_5(rows: &[Row]) -> String {
    let rows: Vec<_> = rows.iter().filter(|row| row.figure == FIGURE_5).collect();
    let names: Vec<_> =
        [SORTIE].into_iter().chain(SORTS.map(Contender::Published)).map(Contender::name).collect();
    let of_one = |a: &&Row, b: &&Row| (a.facts.n, a.facts.distribution) == (b.facts.n, b.facts.distribution);
    let lines = rows.chunk_by(of_one).map(|case| {
        let times = |name: &&str| {
            let row = case.iter().find(|row| row.contender == *name);
            row.map_or(String::new(), |row| {
                let [mean, deviation, least, most] =
                    [row.mean_ms, row.deviation_ms, row.min_ms, row.max_ms].map(ms);
                format!("{mean} ± {deviation} ({least} to {most})")
            })
        };
        let facts = &case[0].facts;
        [facts.distribution.into(), power(facts.n as u64)]
            .into_iter()
            .chain(names.iter().map(times))
            .collect()
    });
    let columns: Vec<_> = ["input", "keys"].into_iter().chain(names.iter().copied()).collect();
    let title = format!("{FIGURE_5}: milliseconds, mean ± deviation (minimum to maximum)");
    markdown(&title, &columns, &lines.collect::<Vec<_>>())
}

fn memory(rows: &[Row]) -> String {
    let lines = rows.iter().filter(|row| row.figure == MEMORY).map(|row| {
        let bytes = LIMIT as f64 / row.facts.n as f64;
        vec![row.contender.into(), grouped(row.facts.n as u64), format!("{bytes:.2}"), ms(row.mean_ms)]
    });
    let title = format!("{MEMORY}: the most keys that {} MiB suffice to sort", LIMIT >> 20);
    markdown(&title, &["sort", "keys", "bytes a key", "ms"], &lines.collect::<Vec<_>>())
}

fn figure_6(counts: &[Counted]) -> String {
    let counts: Vec<_> = counts.iter().filter(|counted| counted.figure == closed_forms::FIGURE).collect();
    let lines = counts.chunk_by(|a, b| a.n == b.n).map(|forms| {
        let transactions = forms.iter().map(|counted| grouped(counted.counts.transactions));
        [power(forms[0].n)].into_iter().chain(transactions).collect()
    });
    let title = format!("{}: transactions", closed_forms::FIGURE);
    markdown(&title, &["keys", "bitonic", "quicksort"], &lines.collect::<Vec<_>>())
}

/// Table 1 as published: transactions, memory contention and divergent paths of these sorts, in order. `None` where the
/// GPU had too little memory.
const PUBLISHED: [(u32, [Option<[u64; 3]>; 3]); 4] = [
    (20, [Some([796_800, 34_350, 0]), Some([4_446_802, 123_437, 272_904]), Some([965_791, 132_652, 29_399])]),
    (
        22,
        [
            Some([4_119_680, 151_592, 0]),
            Some([18_438_423, 379_967, 1_126_038]),
            Some([3_862_644, 520_656, 122_667]),
        ],
    ),
    (
        24,
        [
            Some([20_223_360, 666_044, 0]),
            Some([85_843_422, 1_379_155, 1_126_038]),
            Some([15_447_561, 2_081_467, 492_016]),
        ],
    ),
    (26, [Some([101_866_786, 2_912_926, 0]), None, None]),
];

/// Each measure as published, as counted by the test bench, and as counted by the GPU.
fn table_1(counts: &[Counted]) -> String {
    let counts: Vec<_> = counts.iter().filter(|counted| counted.figure == TABLE_1).collect();
    let mut sizes: Vec<_> = counts.iter().map(|counted| counted.n).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let mut lines = Vec::new();
    for n in sizes {
        for (at, sort) in SORTS.into_iter().enumerate() {
            let published = PUBLISHED.iter().find(|(log, _)| n == 1 << log).map(|(_, all)| match all[at] {
                Some(numbers) => numbers.map(grouped),
                None => ["n.a."; 3].map(String::from),
            });
            let counted = |by| {
                let found = counts.iter().find(|counted| {
                    counted.n == n && counted.contender == sort.name() && counted.counted_by == by
                });
                found.map(|counted| {
                    let Counts { transactions, conflicts, divergent_branches } = counted.counts;
                    [Some(transactions), conflicts, divergent_branches]
                        .map(|count| count.map_or(String::new(), grouped))
                })
            };
            let columns = [published, counted(super::counting::BENCH), counted(super::counting::NCU)]
                .map(Option::unwrap_or_default);
            let measures =
                (0..3).flat_map(|measure| columns.iter().map(move |column| column[measure].clone()));
            lines.push([power(n), sort.name().into()].into_iter().chain(measures).collect());
        }
    }
    let columns = [
        "keys",
        "sort",
        "transactions, published",
        "test bench",
        "GPU",
        "contention, published",
        "test bench",
        "GPU",
        "divergent paths, published",
        "test bench",
        "GPU",
    ];
    markdown(TABLE_1, &columns, &lines)
}

/// Figure 6, and each measure of table 1.
pub fn count_figures(counts: &[Counted]) -> impl Iterator<Item = Figure> {
    type Measure = fn(&Counts) -> Option<u64>;
    let measures: [(&str, &'static str, Measure); 4] = [
        (closed_forms::FIGURE, "transactions", |counts| Some(counts.transactions)),
        (TABLE_1, "transactions", |counts| Some(counts.transactions)),
        (TABLE_1, "bank conflicts", |counts| counts.conflicts),
        (TABLE_1, "divergent branches", |counts| counts.divergent_branches),
    ];
    measures.into_iter().filter_map(|(figure, y, measure)| {
        let counts: Vec<_> = counts.iter().filter(|counted| counted.figure == figure).collect();
        let name = |counted: &&Counted| format!("{}, {}", counted.contender, counted.counted_by);
        let point =
            |counted: &&Counted| Some(Point::exact(counted.n as f64, measure(&counted.counts)? as f64));
        let curves = curves(&counts, name, point);
        (!curves.is_empty()).then(|| Figure { title: format!("{figure}, {y}"), x: "keys", y, curves })
    })
}

/// Formats 1048576 as 2^20.
fn power(n: u64) -> String {
    if n.is_power_of_two() { format!("2^{}", n.ilog2()) } else { grouped(n) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::now;
    use crate::suite_papers::counting::{BENCH, NCU};

    fn counted(n: u64, sort: Published, counted_by: &'static str, counts: [u64; 3]) -> Counted {
        Counted {
            suite: "papers",
            figure: TABLE_1,
            key: "u32",
            n,
            distribution: "uniform",
            contender: sort.name(),
            counted_by,
            device: String::new(),
            counts: Counts {
                transactions: counts[0],
                conflicts: Some(counts[1]),
                divergent_branches: Some(counts[2]),
            },
            verified: true,
            version: "",
            date: now(),
        }
    }

    #[test]
    fn counts_stand_beside_each_other_and_beside_what_was_published() {
        let counts = [
            counted(1 << 16, Published::RadixSort, BENCH, [1000, 20, 3]),
            counted(1 << 20, Published::Bitonic, BENCH, [4000, 50, 6]),
            counted(1 << 20, Published::Bitonic, NCU, [7000, 80, 9]),
            counted(1 << 26, Published::Quicksort, NCU, [1, 2, 3]),
        ];
        let table = tables(&[], &counts);
        for line in [
            "| 2^16 | radix sort |  | 1,000 |  |  | 20 |  |  | 3 |  |",
            "| 2^20 | sortie, bitonic | 796,800 | 4,000 | 7,000 | 34,350 | 50 | 80 | 0 | 6 | 9 |",
            "| 2^20 | quicksort | 4,446,802 |  |  | 123,437 |  |  | 272,904 |  |  |",
            "| 2^26 | quicksort | n.a. |  | 1 | n.a. |  | 2 | n.a. |  | 3 |",
        ] {
            assert!(table.contains(line), "no {line} in {table}");
        }
        let figures: Vec<_> = count_figures(&counts).collect();
        assert_eq!(figures.len(), 3);
        assert_eq!(figures[1].curves[1].name, "sortie, bitonic, test bench");
        assert_eq!(
            (figures[1].curves[1].points[0].n, figures[1].curves[1].points[0].value),
            (1048576.0, 50.0)
        );
    }
}
