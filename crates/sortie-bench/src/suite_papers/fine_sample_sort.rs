//! Munavalli, "Efficient Algorithms for Sorting on GPUs" (2012): Fine Sample Sort against sample sort.

use std::marker::PhantomData;
use std::rc::Rc;

use sortie_papers::Histograms;

use super::{markdown, ms};
use crate::args::Args;
use crate::distributions::Distribution;
use crate::measure::Measurable;
use crate::report::Row;
use crate::suite_batch::batch::Shape;
use crate::suite_batch::contenders::{Contender, OneArray};
use crate::suite_batch::ours::Published;
use crate::suite_batch::{Case, Shared};

const SAMPLE_SORT: Contender = Contender::Published(Published::SampleSort);
const FINE: Contender = Contender::Published(Published::FineSampleSort(Histograms::OfAllBlocks));
const SINGLE: Contender = Contender::Published(Published::FineSampleSort(Histograms::Single));
const SORTIE: Contender = Contender::OneArray(OneArray::Keys);

const MILLION: u64 = 1_000_000;
const SIZES: [u64; 10] = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100];
const RUNS: usize = 10;
/// Tables 17 to 20 give the percentage difference from this size on, in millions of keys.
const COMPARED_FROM: u64 = 40;

/// The tables for one kind of input, with the average run times at their end, in milliseconds on a GTX 480.
struct Input {
    figure: &'static str,
    distribution: Distribution,
    sample_sort: [f64; 10],
    fine: [f64; 10],
}

const INPUTS: [Input; 4] = [
    Input {
        figure: "Munavalli figure 7 (tables 1 to 4 and 17)",
        distribution: Distribution::Reversed,
        sample_sort: [
            42.57, 93.33, 1270.10, 5584.34, 9893.66, 10266.16, 10454.49, 10690.66, 10746.84, 10780.17,
        ],
        fine: [67.81, 484.07, 1182.48, 1986.69, 3024.01, 3670.23, 4179.30, 4820.64, 5083.54, 5581.87],
    },
    Input {
        figure: "Munavalli figure 8 (tables 5 to 8 and 18)",
        distribution: Distribution::Normal,
        sample_sort: [
            44.08, 91.66, 1577.11, 5821.72, 9151.11, 10120.05, 10625.68, 10670.36, 10736.88, 10809.11,
        ],
        fine: [70.82, 427.78, 1394.71, 2196.87, 2603.67, 4534.18, 4807.00, 4850.64, 5211.65, 5466.61],
    },
    Input {
        figure: "Munavalli figure 9 (tables 9 to 12 and 19)",
        distribution: Distribution::Poisson,
        sample_sort: [27.34, 47.48, 203.70, 790.55, 976.91, 1077.49, 1139.03, 1146.80, 1179.47, 1234.53],
        fine: [50.39, 174.64, 296.59, 492.80, 539.32, 588.43, 661.18, 696.29, 840.33, 909.55],
    },
    Input {
        figure: "Munavalli figure 10 (tables 13 to 16 and 20)",
        distribution: Distribution::Uniform,
        sample_sort: [
            47.11, 52.58, 1170.92, 5682.79, 8937.32, 10454.99, 10644.04, 10680.21, 10755.41, 10857.91,
        ],
        fine: [73.99, 474.86, 1380.47, 2196.71, 3104.25, 4385.89, 4632.17, 5007.89, 5626.17, 5613.60],
    },
];

pub fn cases(args: &Args, shared: &Rc<Shared>) -> Vec<Box<dyn Measurable>> {
    let sizes = args.n.map_or(SIZES.map(|millions| millions * MILLION).to_vec(), |n| vec![n as u64]);
    let case = |input: &Input, length| -> Box<dyn Measurable> {
        Box::new(Case::<u32> {
            suite: "papers",
            title: input.figure,
            shared: shared.clone(),
            shape: Shape::Even { segments: 1, length },
            contenders: vec![Contender::Copy, SORTIE, SAMPLE_SORT, FINE, SINGLE],
            patience: f64::INFINITY,
            reps: RUNS,
            distribution: input.distribution,
            key: PhantomData,
        })
    };
    INPUTS.iter().flat_map(|input| sizes.iter().map(move |&n| case(input, n))).collect()
}

/// How much faster the second is, in percent of the first.
fn difference(sample_sort: f64, fine: f64) -> f64 {
    (sample_sort - fine) / sample_sort * 100.0
}

pub fn tables(rows: &[Row]) -> String {
    INPUTS.iter().map(|input| compared(input, rows) + &runs(input, rows)).collect()
}

fn row_of<'a>(input: &Input, rows: &'a [Row], millions: u64, contender: Contender) -> Option<&'a Row> {
    rows.iter().find(|row| {
        row.figure == input.figure
            && row.facts.n as u64 == millions * MILLION
            && row.contender == contender.name()
    })
}

/// The averages and the percentage difference, as published and as measured.
fn compared(input: &Input, rows: &[Row]) -> String {
    let mean = |millions, contender| row_of(input, rows, millions, contender).map(|row| row.mean_ms);
    let mut lines = Vec::new();
    let (mut published, mut measured) = (Vec::new(), Vec::new());
    for (at, millions) in SIZES.into_iter().enumerate() {
        let (Some(plain), Some(fine)) = (mean(millions, SAMPLE_SORT), mean(millions, FINE)) else { continue };
        let theirs = difference(input.sample_sort[at], input.fine[at]);
        let ours = difference(plain, fine);
        if millions >= COMPARED_FROM {
            published.push(theirs);
            measured.push(ours);
        }
        let other = |contender| mean(millions, contender).map_or(String::new(), ms);
        lines.push(vec![
            format!("{millions}M"),
            ms(input.sample_sort[at]),
            ms(plain),
            ms(input.fine[at]),
            ms(fine),
            format!("{theirs:.0}"),
            format!("{ours:.0}"),
            other(SINGLE),
            other(SORTIE),
        ]);
    }
    if !measured.is_empty() {
        let average = |values: &[f64]| format!("{:.0}", values.iter().sum::<f64>() / values.len() as f64);
        let mut line = vec![String::new(); 9];
        line[0] = format!("average from {COMPARED_FROM}M");
        (line[5], line[6]) = (average(&published), average(&measured));
        lines.push(line);
    }
    let title = format!("{}, {}: averages in milliseconds", input.figure, input.distribution.name());
    let columns = [
        "keys",
        "sample sort, published",
        "measured",
        "fine, published",
        "measured",
        "% difference, published",
        "measured",
        "single histogram",
        "sortie",
    ];
    markdown(&title, &columns, &lines)
}

/// Every run, as in the tables before the comparison.
fn runs(input: &Input, rows: &[Row]) -> String {
    let of_one = |contender: Contender| {
        let measured: Vec<_> =
            SIZES.iter().filter_map(|&millions| row_of(input, rows, millions, contender)).collect();
        let sizes: Vec<_> = measured.iter().map(|row| format!("{}M", row.facts.n as u64 / MILLION)).collect();
        let columns: Vec<_> = ["run"].into_iter().chain(sizes.iter().map(|size| &size[..])).collect();
        let runs = measured.iter().map(|row| row.times_ms.len()).max().unwrap_or(0);
        let line = |run: usize| {
            let time = |row: &&Row| row.times_ms.get(run).map_or(String::new(), |&time| ms(time));
            [(run + 1).to_string()].into_iter().chain(measured.iter().map(time)).collect()
        };
        let title =
            format!("{}, {}: {}, milliseconds", input.figure, input.distribution.name(), contender.name());
        markdown(&title, &columns, &(0..runs).map(line).collect::<Vec<_>>())
    };
    of_one(SAMPLE_SORT) + &of_one(FINE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::{Facts, Measured};

    /// Tables 17 to 20, from 40M on.
    #[test]
    fn the_published_differences_follow_from_the_averages() {
        for (input, published) in INPUTS.iter().zip([
            [64, 69, 64, 60, 55, 53, 48],
            [62, 72, 55, 55, 55, 51, 49],
            [38, 45, 45, 42, 39, 29, 26],
            [61, 65, 58, 56, 53, 48, 48],
        ]) {
            let differences: Vec<_> =
                (3..10).map(|at| difference(input.sample_sort[at], input.fine[at]).round() as i32).collect();
            assert_eq!(differences, published, "{}", input.figure);
        }
    }

    #[test]
    fn the_table_has_what_was_measured_beside_what_was_published() {
        let row = |contender: Contender, millions: usize, ms: f64| {
            let facts = Facts {
                suite: "papers",
                work: "keys",
                key: "u32",
                payload: "",
                n: millions * MILLION as usize,
                segments: Some(1),
                length: None,
                distribution: "uniform",
                includes: "",
            };
            let measured = Measured {
                times_ms: vec![ms - 1.0, ms + 1.0],
                bytes: 0,
                verified: true,
                ..Measured::default()
            };
            Row { figure: INPUTS[3].figure, ..Row::new(&facts, contender.name(), 1, &measured) }
        };
        let rows = [
            row(SAMPLE_SORT, 10, 8.0),
            row(FINE, 10, 10.0),
            row(SAMPLE_SORT, 40, 40.0),
            row(FINE, 40, 30.0),
            row(SINGLE, 40, 20.0),
        ];
        let tables = tables(&rows);
        assert!(tables.starts_with("Munavalli figure 10 (tables 13 to 16 and 20), uniform"), "{tables}");
        for line in [
            "| 10M | 47.11 | 8.000 | 73.99 | 10.00 | -57 | -25 |  |  |",
            "| 40M | 5682.8 | 40.00 | 2196.7 | 30.00 | 61 | 25 | 20.00 |  |",
            "| average from 40M |  |  |  |  | 61 | 25 |  |  |",
            "| run | 10M | 40M |",
            "| 2 | 9.000 | 41.00 |",
            "| 2 | 11.00 | 31.00 |",
        ] {
            assert!(tables.contains(line), "no {line} in {tables}");
        }
    }
}
