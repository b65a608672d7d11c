//! Cases that random arrays do not reach: sizes, types that `arrow-row` cannot encode, and what a limit saves.

use std::sync::Arc;

use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, FixedSizeBinaryArray, Int32Array, Int64Array, ListArray, NullArray,
    RecordBatch, RecordBatchOptions, RunArray, StringArray, UInt32Array, UnionArray, new_empty_array,
};
use arrow_buffer::{Buffer, OffsetBuffer};
use arrow_ord::sort::LexicographicalComparator;
use arrow_schema::{ArrowError, DataType, Field, Schema, SortOptions, UnionFields};
use sortie_arrow::{ArrowSorter, SortColumn, lexsort, lexsort_to_indices, sort_batch};

use crate::generate::{Cell, array};
use crate::tables::{self, column};
use crate::{check, expected, taken};

const OPTIONS: [SortOptions; 4] = [
    SortOptions { descending: false, nulls_first: false },
    SortOptions { descending: false, nulls_first: true },
    SortOptions { descending: true, nulls_first: false },
    SortOptions { descending: true, nulls_first: true },
];

fn by(values: impl Array + 'static) -> SortColumn {
    SortColumn { values: Arc::new(values), options: None }
}

/// `FixedSizeBinary(0)` without nulls: no buffer says how many values there are.
#[test]
fn values_without_bytes_keep_their_number() {
    let nothing = FixedSizeBinaryArray::try_new_with_len(0, Buffer::default(), None, 3).unwrap();
    let keys = Int32Array::from(vec![2, 0]);
    let dictionary = DictionaryArray::<Int32Type>::try_new(keys, Arc::new(nothing.clone())).unwrap();
    let runs = RunArray::<Int32Type>::try_new(&Int32Array::from(vec![2, 3, 7]), &nothing).unwrap();
    for options in OPTIONS {
        for limit in [None, Some(1), Some(2)] {
            check(&nothing, options, limit);
            check(&dictionary, options, limit);
            check(&runs, options, limit);
        }
    }
    let numbers = || by(Int32Array::from(vec![3, 1, 2]));
    let sorted = lexsort(&[by(nothing.clone()), numbers()], None).unwrap();
    assert_eq!(sorted[0].len(), 3);
    let batch = RecordBatch::try_from_iter([("nothing", Arc::new(nothing) as ArrayRef)]).unwrap();
    assert_eq!(sort_batch(&batch, &[numbers()], Some(2)).unwrap().num_rows(), 2);
}

/// Strings of up to 7 bytes are sorted as numbers, unless there are longer ones.
#[test]
fn short_strings_are_sorted_as_others() {
    let short =
        [Some("b"), None, Some(""), Some("ba\0"), Some("\0"), Some("aaaaaaa"), Some("ba"), Some("aaaaaab")];
    for longer in [None, Some("aaaaaaaa"), Some("zzzzzzzzz")] {
        let strings: StringArray = short.into_iter().chain([longer]).cycle().take(3000).collect();
        for options in OPTIONS {
            check(&strings, options, None);
            check(&strings, options, Some(5));
        }
    }
}

/// The values of all rows have more bytes than the offsets of a string array can count.
#[test]
fn a_dictionary_of_large_values_does_not_overflow() {
    let rows = 2100;
    let values = std::iter::once("x".repeat(1 << 20)).chain((0..rows).map(|i| i.to_string()));
    let values: ArrayRef = Arc::new(StringArray::from_iter_values(values));
    let keys = Int32Array::from_iter((0..rows).map(|i| (i != 7).then_some(i32::from(i == 9))));
    let dictionary = DictionaryArray::<Int32Type>::try_new(keys, values).unwrap();
    let last = SortOptions { descending: false, nulls_first: false };
    let indices = sortie_arrow::sort_to_indices(&dictionary, Some(last), None).unwrap();
    let large = (0..rows as u32).filter(|i| ![7, 9].contains(i));
    assert!(indices.values().iter().copied().eq(std::iter::once(9).chain(large).chain([7])));
    let ranks = sortie_arrow::rank(&dictionary, Some(last)).unwrap();
    assert_eq!((ranks[9], ranks[0], ranks[7]), (1, rows as u32 - 1, rows as u32));
}

/// All keys are null, so the dictionary needs no values.
#[test]
fn a_dictionary_may_be_empty() {
    let keys = Int32Array::new_null(3);
    let empty = DictionaryArray::<Int32Type>::try_new(keys, new_empty_array(&DataType::Utf8)).unwrap();
    for options in OPTIONS {
        check(&empty, options, None);
        check(&empty, options, Some(2));
        let empty = SortColumn { values: Arc::new(empty.clone()), options: Some(options) };
        tables::check(&[empty, by(Int32Array::from(vec![3, 1, 2]))], None);
    }
}

/// Dictionaries of lists, for which `arrow-row` has no rows, and the unions that `arrow-ord` sorts.
#[test]
fn what_has_no_rows_is_sorted_stably() {
    let inner = DataType::List(Arc::new(Field::new("item", DataType::Int32, true)));
    let nested = DataType::Dictionary(Box::new(DataType::Int32), Box::new(inner));
    let cells: Vec<Cell> = (0..60).map(|i| (i % 11 != 3).then_some(i * 7 % 50)).collect();
    let dictionary = array(&nested, &cells);
    let list = ListArray::new(
        Arc::new(Field::new("item", nested, true)),
        OffsetBuffer::from_lengths((0..30).map(|i| i % 5)),
        dictionary.clone(),
        None,
    );
    let numbers = Int32Array::from_iter_values((0..60).map(|i| i % 4));
    let union = unions(&cells);
    for options in OPTIONS {
        let with = |values: ArrayRef| SortColumn { values, options: Some(options) };
        for limit in [None, Some(7)] {
            tables::check(&[with(Arc::new(list.clone()))], limit);
            tables::check(&[with(Arc::new(numbers.slice(0, 30))), with(Arc::new(list.clone()))], limit);
            tables::check(&[with(Arc::new(numbers.clone())), with(dictionary.clone())], limit);
        }
        check(&list, options, None);
        is_in_order(&[with(union.clone())]);
        is_in_order(&[with(Arc::new(numbers.clone())), with(union.clone())]);
    }
}

fn unions(cells: &[Cell]) -> ArrayRef {
    let fields: UnionFields = [(0, Arc::new(Field::new("a", DataType::Int32, true)))].into_iter().collect();
    let children = vec![array(&DataType::Int32, cells)];
    Arc::new(UnionArray::try_new(fields, vec![0i8; cells.len()].into(), None, children).unwrap())
}

/// Sorts by `arrow-ord` are not stable, so values are compared.
fn is_in_order(columns: &[SortColumn]) {
    let rows = columns[0].values.len();
    let comparator = LexicographicalComparator::try_new(columns).unwrap();
    for limit in [None, Some(7)] {
        let indices = lexsort_to_indices(columns, limit).unwrap();
        assert_eq!(indices.len(), limit.unwrap_or(rows));
        let expected = tables::expected(columns, limit);
        let same = |(&a, b): (&u32, u32)| comparator.compare(a as usize, b as usize).is_eq();
        assert!(indices.values().iter().zip(expected).all(same), "{:?}", columns[0].options);
    }
}

/// Two runs of 2^32 rows each.
fn many_rows() -> RunArray<Int64Type> {
    let ends = Int64Array::from(vec![1 << 32, 1 << 33]);
    RunArray::try_new(&ends, &StringArray::from(vec!["b", "a"])).unwrap()
}

#[test]
fn more_rows_than_indices_are_an_error() {
    let nulls = NullArray::new(1 << 32);
    let batch = RecordBatch::try_from_iter([("n", Arc::new(nulls.clone()) as ArrayRef)]).unwrap();
    let columns = [by(nulls.clone()), by(nulls.clone())];
    let errors = [
        sortie_arrow::sort(&nulls, None).err(),
        sortie_arrow::sort_limit(&nulls, None, Some(5)).err(),
        sortie_arrow::sort_to_indices(&nulls, None, Some(5)).err(),
        sortie_arrow::rank(&nulls, None).err(),
        lexsort_to_indices(&columns, Some(5)).err(),
        lexsort(&columns[..1], None).err(),
        sort_batch(&batch, &columns, None).err(),
        sortie_arrow::sort_to_indices(&many_rows(), None, None).err(),
        sortie_arrow::rank(&many_rows(), None).err(),
    ];
    for (i, error) in errors.into_iter().enumerate() {
        let Some(ArrowError::ComputeError(message)) = error else { panic!("call {i}: {error:?}") };
        assert!(message.contains("rows do not fit in 32 bits; sort the rows in parts"), "{message}");
    }
}

/// A sort of runs needs no indices of rows.
#[test]
fn runs_may_have_any_number_of_rows() {
    let sorted = sortie_arrow::sort(&many_rows(), None).unwrap();
    let sorted = sorted.as_any().downcast_ref::<RunArray<Int64Type>>().unwrap();
    assert_eq!(sorted.len(), 1 << 33);
    assert_eq!(sorted.run_ends().values(), &[1 << 32, 1 << 33]);
    assert_eq!(sorted.values().as_ref(), &StringArray::from(vec!["a", "b"]));
    let first = sortie_arrow::sort_limit(&many_rows(), None, Some((1 << 32) + 5)).unwrap();
    let first = first.as_any().downcast_ref::<RunArray<Int64Type>>().unwrap();
    assert_eq!(first.run_ends().values(), &[1 << 32, (1 << 32) + 5]);
}

/// All values equal the last one within the limit, or most do.
#[test]
fn a_limit_takes_the_first_of_equal_values() {
    let cells: Vec<Cell> = (0..20_000u16).map(|i| (i % 9 != 0).then_some(64 + i / 7 % 3)).collect();
    for data_type in [DataType::Int64, DataType::Utf8, DataType::Decimal256(70, 2)] {
        let array = array(&data_type, &cells);
        for options in OPTIONS {
            let expected = expected(&array, options, None);
            for limit in [1, 900, 2300, 2400] {
                let indices = sortie_arrow::sort_to_indices(&array, Some(options), Some(limit)).unwrap();
                assert!(*indices.values() == expected[..limit], "{data_type}, {options:?}, {limit}");
            }
            // The second column does not fit beside the first, so it is not packed.
            let first = column(&data_type, &cells, options);
            let second = column(&DataType::Decimal256(70, 2), &cells, options);
            tables::check(&[first, second], Some(900));
        }
    }
}

/// No result keeps memory for the indices that a limit drops.
#[test]
fn indices_take_little_more_memory_than_they_need() {
    let cells: Vec<Cell> = (0..8000).map(|i| (i % 9 != 0).then_some(i)).collect();
    let without_nulls: Vec<Cell> = (0..8000).map(Some).collect();
    let ends = |ends| Arc::new(Field::new("run_ends", ends, false));
    let values = |values| Arc::new(Field::new("values", values, true));
    let types = [
        DataType::Int64,
        DataType::Utf8,
        DataType::List(values(DataType::Int64)),
        DataType::RunEndEncoded(ends(DataType::Int32), values(DataType::Int64)),
    ];
    let check = |what: &str, indices: &UInt32Array, limit: usize| {
        assert_eq!(indices.len(), limit);
        let capacity = indices.values().inner().capacity() / size_of::<u32>();
        assert!(capacity <= 2 * limit, "{what}: {capacity} for {limit}");
    };
    for data_type in types {
        for cells in [&cells, &without_nulls] {
            for options in [OPTIONS[0], OPTIONS[1]] {
                for limit in [50, 500, 2000, 5000] {
                    let column = column(&data_type, cells, options);
                    let sorted =
                        sortie_arrow::sort_to_indices(&column.values, Some(options), Some(limit)).unwrap();
                    check(&format!("{data_type}"), &sorted, limit);
                    let last = by(UInt32Array::from_iter_values(0..8000));
                    let sorted = lexsort_to_indices(&[column, last], Some(limit)).unwrap();
                    check(&format!("{data_type} of two columns"), &sorted, limit);
                }
            }
        }
    }
}

/// From 65,536 rows on, a sample decides whether another column is packed. The first column tells nearly all rows apart; in one
/// table, a sample finds rows that it does not.
#[test]
fn columns_after_a_sample_decide_the_last_ties() {
    let rows = 70_000;
    let mut rng = fastrand::Rng::with_seed(4);
    let mut numbers: Vec<i64> = (0..rows).map(|_| rng.i64(..)).collect();
    for _ in 0..20 {
        let (from, to) = (rng.usize(..rows), rng.usize(..rows));
        numbers[to] = numbers[from];
    }
    let mut with_many = numbers.clone();
    with_many[1000..5000].fill(numbers[5]);
    let bytes = by(Int32Array::from_iter_values((0..rows as i32).map(|i| i % 2)));
    let texts: Vec<Cell> = (0..rows).map(|_| (rng.u8(..) > 9).then(|| rng.u16(..))).collect();
    for options in OPTIONS {
        let last = column(&DataType::Utf8, &texts, options);
        for numbers in [&numbers, &with_many] {
            let columns = [by(Int64Array::from(numbers.clone())), bytes.clone(), last.clone()];
            for limit in [None, Some(3000)] {
                tables::check(&columns, limit);
            }
        }
    }
}

#[test]
fn a_batch_without_columns_to_sort_by_is_an_error() {
    let batch =
        RecordBatch::try_from_iter([("n", Arc::new(Int32Array::from(vec![2, 1])) as ArrayRef)]).unwrap();
    for result in [sort_batch(&batch, &[], None).err(), sort_batch(&batch, &[], Some(0)).err()] {
        let Some(ArrowError::InvalidArgumentError(message)) = result else { panic!("{result:?}") };
        assert!(message.contains("at least one column"), "{message}");
    }
}

/// A batch may have rows and no columns.
#[test]
fn a_batch_without_columns_keeps_its_rows() {
    let rows = RecordBatchOptions::new().with_row_count(Some(3));
    let batch = RecordBatch::try_new_with_options(Arc::new(Schema::empty()), vec![], &rows).unwrap();
    let by = [by(Int32Array::from(vec![2, 3, 1]))];
    assert_eq!(sort_batch(&batch, &by, Some(2)).unwrap().num_rows(), 2);
}

/// The methods are the functions, with any choice of threads.
#[test]
fn a_sorter_has_the_functions_as_methods() {
    let cells: Vec<Cell> =
        (0..5000).map(|i: u16| (i % 13 != 4).then_some(i.wrapping_mul(40_503) % 900)).collect();
    for threads in [1, 2] {
        let sorter = ArrowSorter::new(sortie::Sorter::builder().threads(threads)).unwrap();
        for data_type in [DataType::Float64, DataType::Utf8] {
            for options in OPTIONS {
                let first = column(&data_type, &cells, options);
                let (array, options) = (&first.values, first.options);
                let indices = expected(array, options.unwrap(), None);
                assert_eq!(&sorter.sort(array, options).unwrap().0, &taken(array, &indices));
                let limited = sorter.sort_limit(array, options, Some(9)).unwrap().0;
                assert_eq!(&limited, &taken(array, &indices[..9]));
                let found = sorter.sort_to_indices(array, options, Some(900)).unwrap().0;
                assert_eq!(found.values().to_vec(), indices[..900]);
                let ranks = sorter.rank(array, options).unwrap().0;
                assert_eq!(ranks, sortie_arrow::rank(array, options).unwrap());

                let columns = [first.clone(), by(UInt32Array::from_iter_values((0..5000).rev()))];
                let indices = tables::expected(&columns, Some(70));
                let found = sorter.lexsort_to_indices(&columns, Some(70)).unwrap().0;
                assert_eq!(found.values().to_vec(), indices);
                let sorted = sorter.lexsort(&columns, Some(70)).unwrap().0;
                assert_eq!(&sorted[1], &taken(&columns[1].values, &indices));
                let batch = RecordBatch::try_from_iter([("first", array.clone())]).unwrap();
                let sorted = sorter.sort_batch(&batch, &columns, Some(70)).unwrap().0;
                assert_eq!(sorted.column(0), &taken(array, &indices));
            }
        }
    }
    let error = ArrowSorter::new(sortie::Sorter::builder().threads(0)).unwrap_err();
    assert!(matches!(error, ArrowError::ExternalError(_)), "{error}");
}
