//! Compares sorts of every type, with every order and many limits, with `arrow-ord`.
//!
//! The expected result is a stable sort of the indices by `arrow_ord::ord::make_comparator`, which defines the order. The
//! results of `arrow_ord`'s sorts, which are not stable, must hold equal values.

mod edges;
mod generate;
mod tables;

use std::cmp::Ordering;

use arrow_array::{Array, ArrayRef, new_empty_array};
use arrow_ord::ord::make_comparator;
use arrow_schema::{DataType, SortOptions};
use arrow_select::interleave::interleave;
use proptest::prelude::*;

use generate::{Cell, array, data_types};

/// Cells of which many are equal.
fn cells(most: usize) -> impl Strategy<Value = Vec<Cell>> {
    let cell = prop_oneof![1 => Just(None), 4 => (0u16..80).prop_map(Some), 1 => any::<u16>().prop_map(Some)];
    let with_nulls = prop::collection::vec(cell, 0..most);
    (with_nulls, any::<bool>()).prop_map(|(mut cells, nulls)| {
        if !nulls {
            cells.iter_mut().for_each(|cell| *cell = cell.or(Some(11)));
        }
        cells
    })
}

fn options() -> impl Strategy<Value = SortOptions> {
    any::<(bool, bool)>().prop_map(|(descending, nulls_first)| SortOptions { descending, nulls_first })
}

/// Limits that select, and limits that do not.
fn limit() -> impl Strategy<Value = Option<usize>> {
    prop_oneof![Just(None), (0usize..8).prop_map(Some), (0usize..300).prop_map(Some)]
}

/// A part of the array. It may begin inside a byte of the validity bitmap.
fn slice(array: &ArrayRef, [start, end]: [usize; 2]) -> ArrayRef {
    let start = start.min(array.len());
    array.slice(start, (array.len() - start).saturating_sub(end))
}

/// The indices in order, by a stable sort.
fn expected(array: &dyn Array, options: SortOptions, limit: Option<usize>) -> Vec<u32> {
    let compare = make_comparator(array, array, options).expect("all these types have an order");
    let mut indices: Vec<u32> = (0..array.len() as u32).collect();
    indices.sort_by(|&a, &b| compare(a as usize, b as usize));
    indices.truncate(limit.unwrap_or(indices.len()));
    indices
}

/// Whether arrays have the same length and values.
fn same(a: &dyn Array, b: &dyn Array) -> bool {
    let compare = make_comparator(a, b, SortOptions::default()).expect("they have one type");
    a.data_type() == b.data_type()
        && a.len() == b.len()
        && (0..a.len()).all(|i| compare(i, i) == Ordering::Equal)
}

/// The values at these indices. Not by `take`, which loses those of `FixedSizeBinary(0)`.
fn taken(array: &dyn Array, indices: &[u32]) -> ArrayRef {
    let indices: Vec<(usize, usize)> = indices.iter().map(|&i| (0, i as usize)).collect();
    if indices.is_empty() {
        return new_empty_array(array.data_type());
    }
    interleave(&[array], &indices).expect("the indices are within the array")
}

/// All functions for one array.
fn check(array: &dyn Array, options: SortOptions, limit: Option<usize>) {
    let what = format!("{} of {}, {options:?}, limit {limit:?}", array.len(), array.data_type());
    let indices = sortie_arrow::sort_to_indices(array, Some(options), limit).expect(&what);
    assert_eq!(indices.values().to_vec(), expected(array, options, limit), "{what}");
    // A type that `arrow-ord` does not sort is an error; of runs of such a type, a panic.
    let has_nested_runs =
        matches!(array.data_type(), DataType::RunEndEncoded(_, values) if values.data_type().is_nested());
    if !has_nested_runs && let Ok(theirs) = arrow_ord::sort::sort_to_indices(array, Some(options), limit) {
        assert!(same(&taken(array, indices.values()), &taken(array, theirs.values())), "{what}");
    }
    let limited = sortie_arrow::sort_limit(array, Some(options), limit).expect(&what);
    assert!(same(&limited, &taken(array, indices.values())), "{what}");
    let sorted = sortie_arrow::sort(array, Some(options)).expect(&what);
    assert!(same(&sorted, &taken(array, &expected(array, options, None))), "{what}");

    let ranks = sortie_arrow::rank(array, Some(options)).expect(&what);
    assert_eq!(ranks, expected_ranks(array, options), "{what}");
    if let Ok(theirs) = arrow_ord::rank::rank(array, Some(options)) {
        assert_eq!(ranks, theirs, "{what}");
    }
}

fn expected_ranks(array: &dyn Array, options: SortOptions) -> Vec<u32> {
    let compare = make_comparator(array, array, options).expect("all these types have an order");
    let order = expected(array, options, None);
    let mut ranks = vec![0; array.len()];
    let mut rank = 0;
    for equal in order.chunk_by(|&a, &b| compare(a as usize, b as usize).is_eq()) {
        rank += equal.len();
        equal.iter().for_each(|&i| ranks[i as usize] = rank as u32);
    }
    ranks
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn arrays_are_sorted_as_by_arrow(
        data_type in prop::sample::select(data_types()),
        cells in cells(200),
        ends in any::<[u8; 2]>().prop_map(|ends| ends.map(|end| usize::from(end % 20))),
        options in options(),
        limit in limit(),
    ) {
        check(&slice(&array(&data_type, &cells), ends), options, limit);
    }
}

/// Arrays that are large enough for selection, for distribution, and for strings with common prefixes.
#[test]
fn large_arrays_are_sorted_as_by_arrow() {
    let mut rng = fastrand::Rng::with_seed(1);
    for data_type in data_types() {
        for limit in [None, Some(3), Some(600)] {
            let n = rng.usize(4000..6000);
            let nulls = rng.bool();
            let draw = |_| if nulls && rng.u8(..) < 30 { None } else { Some(rng.u16(..)) };
            let cells: Vec<Cell> = (0..n).map(draw).collect();
            let options = SortOptions { descending: rng.bool(), nulls_first: rng.bool() };
            check(&slice(&array(&data_type, &cells), [13, 7]), options, limit);
        }
    }
}

/// Arrays that are large enough to be sorted by several threads.
#[test]
fn threads_change_nothing() {
    let mut rng = fastrand::Rng::with_seed(2);
    let cells: Vec<Cell> = (0..300_000).map(|_| (rng.u8(..) > 20).then(|| rng.u16(..))).collect();
    let sorter = sortie_arrow::ArrowSorter::new(sortie::Sorter::builder().threads(3)).unwrap();
    for data_type in [DataType::Float64, DataType::Int16, DataType::Utf8, DataType::Utf8View] {
        let array = array(&data_type, &cells);
        let options = SortOptions { descending: true, nulls_first: false };
        let (indices, _) = sorter.sort_to_indices(&array, Some(options), None).unwrap();
        assert!(indices.values().to_vec() == expected(&array, options, None), "{data_type}");
    }
}

/// Unions, as in `arrow-ord`, and sorts that exceed a memory limit.
#[test]
fn what_cannot_be_sorted_is_an_error() {
    use arrow_array::UnionArray;
    use arrow_schema::{Field, UnionFields};

    let fields: UnionFields =
        [(0, std::sync::Arc::new(Field::new("a", DataType::Int32, true)))].into_iter().collect();
    let children = vec![array(&DataType::Int32, &[Some(5), Some(3)])];
    let union = UnionArray::try_new(fields, vec![0i8, 0].into(), None, children).unwrap();
    for result in
        [sortie_arrow::sort(&union, None).err(), sortie_arrow::sort_to_indices(&union, None, None).err()]
    {
        assert!(result.unwrap().to_string().contains("not supported for data type Union"));
    }
    let limited = sortie::Sorter::builder().memory_limit(1000);
    let sorter = sortie_arrow::ArrowSorter::new(limited).unwrap();
    let cells: Vec<Cell> = (0..10_000u16).map(|i| Some(i.wrapping_mul(40_503))).collect();
    let refused = sorter.sort_to_indices(&array(&DataType::Int64, &cells), None, None);
    assert!(matches!(refused, Err(arrow_schema::ArrowError::MemoryError(_))), "{refused:?}");
}

/// The limit counts what the caller holds, copies of keys, indices and the scratch of the sort. The report counts the same.
#[test]
fn a_limit_is_kept_and_reported() {
    let cells: Vec<Cell> = (0..10_000u16).map(|i| Some(i.wrapping_mul(40_503))).collect();
    let held = 1000;
    let sorter = |limit: u64| {
        sortie_arrow::ArrowSorter::new(sortie::Sorter::builder().threads(1).memory_limit(limit)).unwrap()
    };
    for (data_type, copy) in [(DataType::Int64, 0), (DataType::Float64, 8), (DataType::Utf8, 16)] {
        let array = array(&data_type, &cells);
        let sort = |limit| sorter(limit).holding(held).sort_to_indices(&array, None, None);
        let (indices, report) = sort(1 << 40).unwrap();
        assert_eq!(indices, sortie_arrow::sort_to_indices(&array, None, None).unwrap());
        assert!(report.scratch_peak >= (held + cells.len() * (copy + 4)) as u64, "{data_type}: {report}");
        assert!(report.phases.iter().any(|phase| phase.milliseconds > 0.0), "{data_type}: {report}");
        let (_, within) = sort(report.scratch_peak).unwrap();
        assert!(within.scratch_peak <= report.scratch_peak, "{data_type}");
        let refused = sort((held + cells.len() * (copy + 4)) as u64 - 1);
        assert!(matches!(refused, Err(arrow_schema::ArrowError::MemoryError(_))), "{data_type}: {refused:?}");
    }
    // How long the rows of lists are is known only when they are made.
    let item = std::sync::Arc::new(arrow_schema::Field::new_list_field(DataType::Int32, true));
    let lists = array(&DataType::List(item), &cells);
    let refused = sorter(1 << 40).sort(&lists, None).unwrap_err();
    assert!(refused.to_string().contains("memory_limit cannot be kept"), "{refused}");
}

#[test]
fn an_empty_array_stays_empty() {
    for data_type in data_types() {
        let empty = array(&data_type, &[]);
        assert_eq!(sortie_arrow::sort(&empty, None).unwrap().len(), 0);
        assert_eq!(sortie_arrow::sort_to_indices(&empty, None, Some(3)).unwrap().len(), 0);
        assert!(sortie_arrow::rank(&empty, None).unwrap().is_empty());
    }
}
