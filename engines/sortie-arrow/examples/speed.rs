//! Measures sorts of `sortie-arrow`, `arrow-ord` and `arrow-row` with one thread. Prints medians of five repetitions, each on
//! new data.
//!
//! ```sh
//! cargo run --release --example speed            # 10^6 and 10^7 rows
//! cargo run --release --example speed -- 100000  # 10^5 rows
//! ```

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arrow_array::{ArrayRef, Float64Array, Int64Array, StringArray, UInt32Array};
use arrow_ord::sort::LexicographicalComparator;
use arrow_row::{RowConverter, SortField};
use fastrand::Rng;
use sortie_arrow::SortColumn;

const REPETITIONS: usize = 5;

/// Columns to sort, and the speed that is asked.
struct Case {
    name: &'static str,
    /// How much faster than `arrow-ord` it must be.
    must: f64,
    columns: fn(usize, &mut Rng) -> Vec<ArrayRef>,
}

const CASES: [Case; 5] = [
    Case { name: "i64", must: 2.0, columns: |n, rng| vec![integers(n, rng, u64::MAX)] },
    Case { name: "f64", must: 2.0, columns: |n, rng| vec![floats(n, rng)] },
    Case { name: "strings", must: 2.0, columns: |n, rng| vec![words(n, rng, u64::MAX)] },
    Case {
        name: "i64 of 1000 values, f64, strings",
        must: 1.7,
        columns: |n, rng| vec![integers(n, rng, 1000), floats(n, rng), words(n, rng, u64::MAX)],
    },
    Case {
        name: "strings of 1000 values, i64, f64",
        must: 1.7,
        columns: |n, rng| vec![words(n, rng, 1000), integers(n, rng, u64::MAX), floats(n, rng)],
    },
];

fn main() {
    let sizes: Vec<usize> = std::env::args().skip(1).map(|n| n.parse().expect("a number of rows")).collect();
    let sizes = if sizes.is_empty() { vec![1_000_000, 10_000_000] } else { sizes };
    println!(
        "| columns | rows | arrow-ord (ms) | arrow-row (ms) | sortie-arrow (ms) | speed-up | must reach |"
    );
    println!("|---|---|---|---|---|---|---|");
    // Sorts run on the current pool, which has one thread here.
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a thread starts");
    one.install(|| {
        for n in sizes {
            CASES.iter().for_each(|case| case.run(n));
        }
    });
}

impl Case {
    fn run(&self, n: usize) {
        let mut rng = Rng::with_seed(n as u64);
        let mut times: [Vec<Duration>; 3] = Default::default();
        for _ in 0..REPETITIONS {
            let column = |values| SortColumn { values, options: None };
            let columns: Vec<SortColumn> = (self.columns)(n, &mut rng).into_iter().map(column).collect();
            let results = [by_arrow_ord, by_arrow_row, by_sortie].map(|sort| {
                let start = Instant::now();
                let indices = black_box(sort(black_box(&columns)));
                (start.elapsed(), indices)
            });
            assert_same_rows(&columns, &results[0].1, &results[2].1);
            times.iter_mut().zip(results).for_each(|(times, (time, _))| times.push(time));
        }
        let [ord, row, sortie] = times.map(|mut times| {
            times.sort();
            times[REPETITIONS / 2].as_secs_f64() * 1e3
        });
        let Case { name, must, .. } = self;
        println!("| {name} | {n} | {ord:.1} | {row:.1} | {sortie:.1} | {:.2} | {must} |", ord / sortie);
    }
}

fn by_arrow_ord(columns: &[SortColumn]) -> UInt32Array {
    match columns {
        [column] => arrow_ord::sort::sort_to_indices(&column.values, None, None),
        _ => arrow_ord::sort::lexsort_to_indices(columns, None),
    }
    .expect("it sorts these types")
}

/// What the documentation of `arrow-row` proposes for several columns.
fn by_arrow_row(columns: &[SortColumn]) -> UInt32Array {
    let fields = columns.iter().map(|column| SortField::new(column.values.data_type().clone())).collect();
    let values: Vec<ArrayRef> = columns.iter().map(|column| column.values.clone()).collect();
    let rows = RowConverter::new(fields).and_then(|converter| converter.convert_columns(&values));
    let rows = rows.expect("it has rows for these types");
    let mut order: Vec<_> = rows.iter().enumerate().collect();
    order.sort_unstable_by_key(|(_, row)| *row);
    UInt32Array::from_iter_values(order.iter().map(|(i, _)| *i as u32))
}

fn by_sortie(columns: &[SortColumn]) -> UInt32Array {
    match columns {
        [column] => sortie_arrow::sort_to_indices(&column.values, None, None),
        _ => sortie_arrow::lexsort_to_indices(columns, None),
    }
    .expect("it sorts these types")
}

fn assert_same_rows(columns: &[SortColumn], expected: &UInt32Array, found: &UInt32Array) {
    let comparator = LexicographicalComparator::try_new(columns).expect("these types have an order");
    let same = |(&a, &b): (&u32, &u32)| comparator.compare(a as usize, b as usize).is_eq();
    assert!(expected.len() == found.len() && expected.values().iter().zip(found.values()).all(same));
}

fn integers(n: usize, rng: &mut Rng, values: u64) -> ArrayRef {
    Arc::new(Int64Array::from_iter_values((0..n).map(|_| rng.u64(..values) as i64)))
}

fn floats(n: usize, rng: &mut Rng) -> ArrayRef {
    Arc::new(Float64Array::from_iter_values((0..n).map(|_| rng.f64() * 1e6 - 5e5)))
}

/// `n` words of 8 to 20 letters, with at most `values` distinct ones.
fn words(n: usize, rng: &mut Rng, values: u64) -> ArrayRef {
    let word = |_| {
        let mut letters = Rng::with_seed(rng.u64(..values));
        let length = letters.usize(8..=20);
        (0..length).map(|_| letters.lowercase()).collect::<String>()
    };
    Arc::new(StringArray::from_iter_values((0..n).map(word)))
}
