//! Cases that random arrays do not reach: sizes, types that `arrow-row` cannot encode, and what a limit saves.

use std::sync::Arc;

use arrow_array::types::{Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, DictionaryArray, Int32Array, Int64Array, RunArray, StringArray, new_empty_array,
};
use arrow_schema::{DataType, SortOptions};
use sortie_arrow::SortColumn;

use crate::check;
use crate::tables;

const OPTIONS: [SortOptions; 4] = [
    SortOptions { descending: false, nulls_first: false },
    SortOptions { descending: false, nulls_first: true },
    SortOptions { descending: true, nulls_first: false },
    SortOptions { descending: true, nulls_first: true },
];

fn by(values: impl Array + 'static) -> SortColumn {
    SortColumn { values: Arc::new(values), options: None }
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

/// Two runs of 2^32 rows each.
fn many_rows() -> RunArray<Int64Type> {
    let ends = Int64Array::from(vec![1 << 32, 1 << 33]);
    RunArray::try_new(&ends, &StringArray::from(vec!["b", "a"])).unwrap()
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
