//! Random tables.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, AsArray, BinaryArray, BooleanArray, Date32Array, Decimal128Array, DictionaryArray,
    FixedSizeBinaryArray, Float32Array, Float64Array, Int8Array, Int32Array, Int64Array, LargeStringArray,
    ListArray, RecordBatch, StringArray, StringViewArray, StructArray, TimestampMicrosecondArray,
    UInt16Array, UInt64Array,
};
use datafusion::arrow::compute::take_record_batch;
use datafusion::arrow::datatypes::{Field, Fields, Int8Type, Int32Type, Schema, SchemaRef};
use fastrand::Rng;

/// How many kinds of columns there are.
const KINDS: usize = 17;

/// A table with an `id` for each row, and some other columns. Batches of random lengths are dealt to the partitions.
pub struct Table {
    pub all: RecordBatch,
    pub partitions: Vec<Vec<RecordBatch>>,
}

impl Table {
    pub fn random(rng: &mut Rng, rows: usize, partitions: usize) -> Table {
        let kinds: Vec<usize> = (0..rng.usize(2..6)).map(|_| rng.usize(..KINDS)).collect();
        Table::of_kinds(rng, rows, partitions, &kinds)
    }

    pub fn of_kinds(rng: &mut Rng, rows: usize, partitions: usize, kinds: &[usize]) -> Table {
        let mut columns: Vec<ArrayRef> = vec![Arc::new(Int64Array::from_iter_values(0..rows as i64))];
        columns.extend(kinds.iter().map(|&kind| column(rng, kind, rows)));
        let field = |(i, column): (usize, &ArrayRef)| match i {
            0 => Field::new("id", column.data_type().clone(), false),
            i => Field::new(format!("c{i}"), column.data_type().clone(), true),
        };
        let fields: Vec<Field> = columns.iter().enumerate().map(field).collect();
        let all = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap();
        let mut parts = vec![Vec::new(); partitions];
        let mut start = 0;
        while start < rows {
            let length = rng.usize(0..=500).min(rows - start);
            parts[rng.usize(..partitions)].push(copied(&all.slice(start, length)));
            start += length;
        }
        Table { all, partitions: parts }
    }

    pub fn schema(&self) -> SchemaRef {
        self.all.schema()
    }
}

/// The batch without what it shares with others, as batches of files are.
fn copied(batch: &RecordBatch) -> RecordBatch {
    let rows = UInt64Array::from_iter_values(0..batch.num_rows() as u64);
    let taken = take_record_batch(batch, &rows).unwrap();
    let columns = taken.columns().iter().map(|column| match column.as_string_view_opt() {
        Some(views) => Arc::new(views.gc()) as ArrayRef,
        None => Arc::clone(column),
    });
    RecordBatch::try_new(batch.schema(), columns.collect()).unwrap()
}

fn column(rng: &mut Rng, kind: usize, rows: usize) -> ArrayRef {
    let nulls = [0.0, 0.1, 0.9][rng.usize(..3)];
    let distinct = [3, 100, 1_000_000][rng.usize(..3)];
    let long = rng.bool();
    let mut cells =
        || (0..rows).map(|_| (rng.f64() >= nulls).then(|| rng.i64(..distinct))).collect::<Vec<_>>();
    let numbers = cells();
    let texts = || numbers.iter().map(|number| number.map(|number| text(number, long)));
    match kind {
        0 => Arc::new(numbers.iter().map(|cell| cell.map(|n| n as i8)).collect::<Int8Array>()),
        1 => Arc::new(numbers.iter().map(|cell| cell.map(|n| n as u16)).collect::<UInt16Array>()),
        2 => Arc::new(numbers.iter().map(|cell| cell.map(|n| n as i32 - 50)).collect::<Int32Array>()),
        3 => Arc::new(
            numbers
                .iter()
                .map(|cell| cell.map(|n| n.wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64)))
                .collect::<Int64Array>(),
        ),
        4 => Arc::new(numbers.iter().map(|cell| cell.map(|n| float(n) as f32)).collect::<Float32Array>()),
        5 => Arc::new(numbers.iter().map(|cell| cell.map(float)).collect::<Float64Array>()),
        6 => Arc::new(
            numbers.iter().map(|cell| cell.map(|n| i128::from(n) << 40)).collect::<Decimal128Array>(),
        ),
        7 => Arc::new(numbers.iter().map(|cell| cell.map(|n| n as i32)).collect::<Date32Array>()),
        8 => Arc::new(TimestampMicrosecondArray::from(numbers.clone())),
        9 => Arc::new(numbers.iter().map(|cell| cell.map(|n| n % 2 == 0)).collect::<BooleanArray>()),
        10 => Arc::new(texts().collect::<StringArray>()),
        11 => Arc::new(texts().collect::<LargeStringArray>()),
        12 => Arc::new(texts().collect::<StringViewArray>()),
        13 => Arc::new(texts().map(|text| text.map(String::into_bytes)).collect::<BinaryArray>()),
        14 => {
            let bytes = numbers.iter().map(|cell| cell.map(|n| (n as u32).to_be_bytes()));
            Arc::new(FixedSizeBinaryArray::try_from_sparse_iter_with_size(bytes, 4).unwrap())
        }
        15 => {
            let few = numbers.iter().map(|cell| cell.map(|n| text(n % 20, long)));
            Arc::new(
                few.collect::<Vec<_>>().iter().map(Option::as_deref).collect::<DictionaryArray<Int8Type>>(),
            )
        }
        16 => {
            let lists =
                numbers.iter().map(|cell| cell.map(|n| (0..n % 4).map(move |i| Some((n >> i) as i32))));
            let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists));
            let words: ArrayRef = Arc::new(texts().collect::<StringArray>());
            let field = |name, of: &ArrayRef| Field::new(name, of.data_type().clone(), true);
            let fields = Fields::from(vec![field("list", &lists), field("word", &words)]);
            Arc::new(StructArray::new(fields, vec![lists, words], None))
        }
        _ => unreachable!("there are {KINDS} kinds"),
    }
}

/// Numbers, among them those that are hard to order.
fn float(number: i64) -> f64 {
    match number % 10 {
        0 => f64::NAN,
        1 => -f64::NAN,
        2 => -0.0,
        3 => 0.0,
        4 => f64::INFINITY,
        _ => number as f64 - 50.0,
    }
}

fn text(number: i64, long: bool) -> String {
    match long {
        true => format!("a common beginning {number} {}", "x".repeat(number as usize % 50)),
        false => format!("{:x}", number),
    }
}
