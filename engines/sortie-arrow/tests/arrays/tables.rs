//! Sorts by several columns.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, Int32Array, RecordBatch, UInt32Array};
use arrow_ord::sort::LexicographicalComparator;
use arrow_schema::{DataType, SortOptions};
use proptest::prelude::*;
use sortie_arrow::{SortColumn, lexsort, lexsort_to_indices, sort_batch};

use crate::generate::{Cell, array, data_types};
use crate::{limit, options, taken};

/// A column with a row for each cell. Run-end encoded ones have more, which are cut off.
pub fn column(data_type: &DataType, cells: &[Cell], options: SortOptions) -> SortColumn {
    SortColumn { values: array(data_type, cells).slice(0, cells.len()), options: Some(options) }
}

/// The rows in order, by a stable sort.
pub fn expected(columns: &[SortColumn], limit: Option<usize>) -> Vec<u32> {
    let comparator = LexicographicalComparator::try_new(columns).expect("all these types have an order");
    let mut indices: Vec<u32> = (0..columns[0].values.len() as u32).collect();
    indices.sort_by(|&a, &b| comparator.compare(a as usize, b as usize));
    indices.truncate(limit.unwrap_or(indices.len()));
    indices
}

pub fn check(columns: &[SortColumn], limit: Option<usize>) {
    let types: Vec<&DataType> = columns.iter().map(|column| column.values.data_type()).collect();
    let indices = lexsort_to_indices(columns, limit).expect("these types can be sorted");
    assert_eq!(indices.values().to_vec(), expected(columns, limit), "{types:?}, limit {limit:?}");
}

/// A table: types, orders, and the cells of its rows. Cells have few values, so that later columns decide.
fn table() -> impl Strategy<Value = Vec<SortColumn>> {
    let columns = prop::collection::vec((prop::sample::select(data_types()), options(), 1u16..300), 1..5);
    let cell = prop_oneof![1 => Just(None), 6 => any::<u16>().prop_map(Some)];
    let rows = prop::collection::vec(prop::array::uniform4(cell), 0..300);
    (columns, rows).prop_map(|(columns, rows)| {
        let column = |(i, (data_type, options, values)): (usize, &(DataType, SortOptions, u16))| {
            let cells: Vec<Cell> = rows.iter().map(|row| row[i].map(|x| x % values)).collect();
            column(data_type, &cells, *options)
        };
        columns.iter().enumerate().map(column).collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn tables_are_sorted_as_by_arrow(columns in table(), limit in limit()) {
        check(&columns, limit);
    }
}

/// Columns that fill 64 bits and 128, lose bits, or have long strings in common.
#[test]
fn large_tables_are_sorted_as_by_arrow() {
    let mut rng = fastrand::Rng::with_seed(3);
    let tables: [&[DataType]; 6] = [
        &[DataType::Int8, DataType::Boolean, DataType::Date32],
        &[DataType::Int64, DataType::Float64],
        &[DataType::Int64, DataType::Float64, DataType::Utf8],
        &[DataType::Utf8, DataType::Int64, DataType::Int64],
        &[DataType::Decimal256(76, 0), DataType::Utf8View],
        &[DataType::FixedSizeBinary(20), DataType::UInt8, DataType::LargeBinary],
    ];
    for types in tables {
        for (limit, values) in [(None, 20), (Some(5), 20), (Some(700), 65_535), (None, 65_535)] {
            let mut draw = |data_type: &DataType| {
                let cells: Vec<Cell> =
                    (0..6000).map(|_| (rng.u8(..) > 9).then(|| rng.u16(..values))).collect();
                let options = SortOptions { descending: rng.bool(), nulls_first: rng.bool() };
                column(data_type, &cells, options)
            };
            let columns: Vec<SortColumn> = types.iter().map(&mut draw).collect();
            check(&columns, limit);
        }
    }
}

/// Run-end encoded columns have as many rows as their ends say.
#[test]
fn columns_may_have_runs() {
    let ends = Arc::new(arrow_schema::Field::new("run_ends", DataType::Int32, false));
    for values in [DataType::Int64, DataType::Utf8] {
        let values = Arc::new(arrow_schema::Field::new("values", values, true));
        let cells: Vec<Cell> = (0..200).map(|x| (x % 11 != 0).then_some(x * 7 % 60)).collect();
        let runs = array(&DataType::RunEndEncoded(ends.clone(), values), &cells).slice(3, 250);
        let others: Vec<Cell> = (0..250).map(|x| Some(x * 31 % 50)).collect();
        for descending in [false, true] {
            let options = SortOptions { descending, nulls_first: true };
            let runs = SortColumn { values: runs.clone(), options: Some(options) };
            let other = column(&DataType::Utf8, &others, options);
            check(&[runs.clone(), other.clone()], None);
            check(&[other, runs], Some(40));
        }
    }
}

#[test]
fn a_batch_is_sorted_with_all_its_columns() {
    let numbers: ArrayRef = Arc::new(Int32Array::from(vec![Some(3), None, Some(1), Some(3)]));
    let names = array(&DataType::Utf8, &[Some(60), Some(8), Some(9), Some(40)]);
    let batch = RecordBatch::try_from_iter([("number", numbers.clone()), ("name", names.clone())]).unwrap();
    let by = [SortColumn { values: numbers, options: None }, SortColumn { values: names, options: None }];
    let indices = expected(&by, None);
    let sorted = sort_batch(&batch, &by, None).unwrap();
    assert_eq!(sorted.schema(), batch.schema());
    for (sorted, column) in sorted.columns().iter().zip(batch.columns()) {
        assert_eq!(sorted, &taken(column, &indices));
    }
    assert_eq!(lexsort(&by, Some(2)).unwrap()[0].as_ref(), &Int32Array::from(vec![None, Some(1)]));
    assert_eq!(sort_batch(&batch, &by, Some(1)).unwrap().num_rows(), 1);
}

#[test]
fn columns_that_do_not_fit_are_an_error() {
    let message = |result: Result<UInt32Array, arrow_schema::ArrowError>| result.unwrap_err().to_string();
    assert!(message(lexsort_to_indices(&[], None)).contains("at least one column"));
    let of = |n: i32| SortColumn {
        values: Arc::new(Int32Array::from_iter_values(0..n)) as ArrayRef,
        options: None,
    };
    assert!(message(lexsort_to_indices(&[of(3), of(2)], None)).contains("different row counts"));
    let batch = RecordBatch::try_from_iter([("n", of(3).values)]).unwrap();
    let error = sort_batch(&batch, &[of(2)], None).unwrap_err().to_string();
    assert!(error.contains("the batch has 3 rows, a column to sort by has 2"), "{error}");
}
