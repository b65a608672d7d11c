//! Sorts Arrow arrays and record batches with [Sortie](sortie): the functions of `arrow-ord`, faster.
//!
//! The functions have the signatures of those in `arrow_ord::sort` and `arrow_ord::rank`, so a program only changes its imports.
//! They run on the current rayon pool, as [`sortie::sort`] does. [`ArrowSorter`] offers the same functions as methods. Use it
//! to choose the threads, the engine or a memory limit, or for a report.
//!
//! ```
//! use arrow_array::{Int32Array, UInt32Array};
//! use sortie_arrow::{SortOptions, sort_to_indices};
//!
//! let array = Int32Array::from(vec![Some(5), None, Some(3)]);
//! let last = SortOptions { descending: false, nulls_first: false };
//! assert_eq!(sort_to_indices(&array, Some(last), None)?, UInt32Array::from(vec![2, 0, 1]));
//! # Ok::<(), arrow_schema::ArrowError>(())
//! ```
//!
//! # Order
//!
//! The order is that of `arrow-ord`:
//!
//! - Floats have the totalOrder of IEEE 754: negative NaNs first, -0.0 before 0.0, positive NaNs last.
//! - Strings and binary values are compared by bytes, lists by their elements and then by length, structs field by field.
//! - [`SortOptions::nulls_first`] says where nulls go, in both directions. Without options, they go first. Nulls within lists and
//!   structs go to the same end.
//! - A dictionary key that refers to a null value counts as null.
//!
//! # Differences from `arrow-ord`
//!
//! - Sorts are stable: equal values keep their order, and so do nulls. Results do not depend on threads or engine.
//! - More types are sorted and ranked: structs, maps, lists of nested types, and dictionaries of any values that can be sorted.
//!   Nested values are encoded by `arrow-row`, except for dictionaries of nested values, which become ranks.
//! - [`sort_to_indices`] refuses unions, as `arrow-ord` does. [`lexsort_to_indices`] passes the call to `arrow-ord` if a column
//!   has unions. That sort is not stable and uses one thread.
//! - Indices have 32 bits. An array of more than 2^32 - 1 rows is an error, except for [`sort`] of numbers, booleans and run-end
//!   encoded arrays.
//! - If the system refuses the scratch memory of a sort, that is an error. For results and the copies in the table below, the
//!   process aborts, as everywhere in Rust.
//! - `partial_sort`, `partition_validity` and `LexicographicalComparator` are only in `arrow-ord`.
//!
//! # Time and memory
//!
//! A sort of `n` values takes at most O(n log n) comparisons, and usually fewer: numbers are distributed by their bits, strings
//! by their bytes. Where `K` is the size of a value, a sort holds in bytes:
//!
//! - its result;
//! - the copy in this table;
//! - the scratch memory that the [table](sortie#memory-panics-and-gpus) of Sortie gives for the sort in the last column.
//!
//! | type | copy | sort |
//! |---|---|---|
//! | integers, dates, times, timestamps, durations, decimals up to 128 bits, intervals of months | none | [`argsort`](sortie::argsort) |
//! | floats, other intervals, `Decimal256`, booleans | `nK`, where a boolean has 1 byte | `argsort` |
//! | `FixedSizeBinary` up to 16 bytes | `8n` up to 8 bytes, else `16n` | `argsort` |
//! | strings, views, binary, longer `FixedSizeBinary` | `16n` | `argsort` of strings |
//! | dictionaries | `4n`, and a sort of the dictionary's values | `argsort` |
//! | dictionaries of numbers or strings, with more values than rows | `4n`, and the copy for their type | that of the values |
//! | lists, structs, maps | `16n`, and the rows of `arrow-row` | `argsort` of strings |
//! | run-end encoded | 8 bytes a run, and a sort of the runs' values | that of the values |
//!
//! - With nulls, the other values and their indices are copied: `n(K + 4)`, for strings `n(16 + 4)`. Numbers are then sorted as
//!   [pairs](sortie::sort_pairs).
//! - With a limit of at most an eighth of the values that are not null, a selection in O(n) finds those within the limit. Only
//!   those are sorted, with their indices. The copy in the table still has all values.
//! - [`lexsort_to_indices`] of several columns sorts the runs of a run-end encoded array, and holds 4 bytes for each row.
//!
//! # Features
//!
//! - `gpu`: after a call of `enable_gpu`, large arrays are sorted on an NVIDIA GPU if that is predicted to be faster. Off by
//!   default.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod arrow_order;
mod call;
pub mod chunks;
mod compact;
mod copies;
mod indices;
mod keys;
mod lexsort;
pub mod nested;
mod pack;
mod rank;
mod runs;
mod select;
mod sorter;
mod source;
mod take;
mod ties;
mod types;
mod values;

use arrow_array::{Array, ArrayRef, RecordBatch, UInt32Array};
use arrow_schema::ArrowError;

// `partition` compares each row with the next by vectorised kernels and sorts nothing, so there is nothing to replace.
#[doc(inline)]
pub use arrow_ord::partition::{Partitions, partition};
#[doc(inline)]
pub use arrow_ord::sort::SortColumn;
#[doc(inline)]
pub use arrow_schema::SortOptions;
pub use compact::compacted;
pub use sorter::ArrowSorter;
#[cfg(feature = "gpu")]
pub use sortie::{Enabled, enable_gpu};
pub use types::contains;

/// Sorts an array. Nulls go where the options say.
///
/// - Numbers are copied, and the copy is sorted and becomes the result. Booleans are counted. Neither takes indices.
/// - The runs of a run-end encoded array are reordered. Equal runs are not joined.
/// - Other values are gathered by the indices from [`sort_to_indices`].
///
/// For time and memory, see the [crate](crate#time-and-memory).
///
/// ```
/// use arrow_array::Float64Array;
///
/// let array = Float64Array::from(vec![0.0, f64::NAN, -0.0]);
/// let sorted = sortie_arrow::sort(&array, None)?;
/// assert_eq!(sorted.as_ref(), &Float64Array::from(vec![-0.0, 0.0, f64::NAN]));
/// # Ok::<(), arrow_schema::ArrowError>(())
/// ```
///
/// # Errors
/// As [`sort_to_indices`], but numbers, booleans and run-end encoded arrays may have any number of rows, the latter in at most
/// 2^32 - 1 runs; the errors of `take`.
pub fn sort(values: &dyn Array, options: Option<SortOptions>) -> Result<ArrayRef, ArrowError> {
    ArrowSorter::shared().sort(values, options).map(|(sorted, _)| sorted)
}

/// The first `limit` values of an array in sorted order, or all of them if there is no limit.
///
/// ```
/// use arrow_array::StringArray;
///
/// let array = StringArray::from(vec!["c", "a", "d", "b"]);
/// let sorted = sortie_arrow::sort_limit(&array, None, Some(2))?;
/// assert_eq!(sorted.as_ref(), &StringArray::from(vec!["a", "b"]));
/// # Ok::<(), arrow_schema::ArrowError>(())
/// ```
///
/// # Errors
/// As [`sort`] if the limit is not less than the number of rows, or there is none. With a lower limit, numbers and booleans
/// also may have at most 2^32 - 1 rows, because they are gathered by their indices. A limit of 0 never fails.
pub fn sort_limit(
    values: &dyn Array,
    options: Option<SortOptions>,
    limit: Option<usize>,
) -> Result<ArrayRef, ArrowError> {
    ArrowSorter::shared().sort_limit(values, options, limit).map(|(sorted, _)| sorted)
}

/// The indices that sort an array, or the first `limit` of them. Stable.
///
/// For time and memory, see the [crate](crate#time-and-memory).
///
/// ```
/// use arrow_array::{StringArray, UInt32Array};
/// use sortie_arrow::{SortOptions, sort_to_indices};
///
/// let array = StringArray::from(vec![Some("b"), None, Some("c"), Some("a")]);
/// assert_eq!(sort_to_indices(&array, None, None)?, UInt32Array::from(vec![1, 3, 0, 2]));
/// let down = SortOptions { descending: true, nulls_first: false };
/// assert_eq!(sort_to_indices(&array, Some(down), Some(2))?, UInt32Array::from(vec![2, 0]));
/// # Ok::<(), arrow_schema::ArrowError>(())
/// ```
///
/// # Errors
/// [`ArrowError::ComputeError`] for unions and for more than 2^32 - 1 values; [`ArrowError::MemoryError`] if the system refuses
/// scratch memory.
pub fn sort_to_indices(
    array: &dyn Array,
    options: Option<SortOptions>,
    limit: Option<usize>,
) -> Result<UInt32Array, ArrowError> {
    ArrowSorter::shared().sort_to_indices(array, options, limit).map(|(sorted, _)| sorted)
}

/// Sorts the rows of columns by all the columns. The first column is the most significant.
///
/// Takes the time and memory of [`lexsort_to_indices`], and the result.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{Int32Array, StringArray};
/// use sortie_arrow::{SortColumn, lexsort};
///
/// let columns = [
///     SortColumn { values: Arc::new(Int32Array::from(vec![2, 1, 1])), options: None },
///     SortColumn { values: Arc::new(StringArray::from(vec!["a", "c", "b"])), options: None },
/// ];
/// let sorted = lexsort(&columns, None)?;
/// assert_eq!(sorted[1].as_ref(), &StringArray::from(vec!["b", "c", "a"]));
/// # Ok::<(), arrow_schema::ArrowError>(())
/// ```
///
/// # Errors
/// As [`lexsort_to_indices`]; the errors of `take`.
pub fn lexsort(columns: &[SortColumn], limit: Option<usize>) -> Result<Vec<ArrayRef>, ArrowError> {
    ArrowSorter::shared().lexsort(columns, limit).map(|(sorted, _)| sorted)
}

/// The indices that sort rows by several columns, or the first `limit` of them. Rows are compared by the first column; rows that
/// are equal in it are compared by the second, and so on. Stable.
///
/// A sort has three steps:
///
/// 1. Pack the leading columns into one number of 64 or 128 bits for each row. The range of a column's values decides how many
///    bits it takes, so most tables of numbers, dates, dictionaries and short strings fit. Packing stops when the number is full,
///    or when it tells the rows of a sample apart (from 65,536 rows on). It also stops after the first 16 bytes of a column with
///    longer strings than 15 bytes, and after the high half of a `Decimal256`.
/// 2. Sort the numbers with their indices.
/// 3. Sort rows with equal numbers by the columns that are not wholly packed, encoded by `arrow-row`.
///
/// This takes at most O(n log n) comparisons. Memory in bytes, besides the result:
///
/// - While a column is packed: `8n` or `16n` for the numbers, `24n` where they grow from 64 to 128 bits; the column's copy, see
///   the [crate](crate#time-and-memory); and `16n` more for strings and nested values.
/// - While the numbers are sorted: the numbers, and the scratch memory of [`sortie::argsort`], or of [`sortie::sort_pairs`] if
///   columns are left.
/// - While rows with equal numbers are sorted: the numbers; for each such row its values in those columns, as an array and
///   encoded, and up to 32 bytes; all values of a dictionary, encoded; and the scratch memory of [`sortie::argsort`] of strings.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{Int32Array, StringArray, UInt32Array};
/// use sortie_arrow::{SortColumn, SortOptions, lexsort_to_indices};
///
/// let down = SortOptions { descending: true, nulls_first: false };
/// let columns = [
///     SortColumn { values: Arc::new(StringArray::from(vec!["Bonn", "Bern", "Bern"])), options: None },
///     SortColumn { values: Arc::new(Int32Array::from(vec![Some(3), None, Some(5)])), options: Some(down) },
/// ];
/// assert_eq!(lexsort_to_indices(&columns, None)?, UInt32Array::from(vec![2, 1, 0]));
/// # Ok::<(), arrow_schema::ArrowError>(())
/// ```
///
/// # Errors
/// [`ArrowError::InvalidArgumentError`] without columns; [`ArrowError::ComputeError`] if they differ in length or have more than
/// 2^32 - 1 rows; [`ArrowError::MemoryError`] if the system refuses scratch memory; those of `arrow-ord` where it gets the call.
pub fn lexsort_to_indices(columns: &[SortColumn], limit: Option<usize>) -> Result<UInt32Array, ArrowError> {
    ArrowSorter::shared().lexsort_to_indices(columns, limit).map(|(sorted, _)| sorted)
}

/// Sorts the rows of a batch by `columns`, and returns all of them or the first `limit`. Stable.
///
/// Each column has a value for each row of the batch. It can be a column of the batch, or computed. Takes the time and memory of
/// [`lexsort_to_indices`], and the result.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
/// use sortie_arrow::{SortColumn, sort_batch};
///
/// let batch = RecordBatch::try_from_iter([
///     ("name", Arc::new(StringArray::from(vec!["b", "a", "c"])) as ArrayRef),
///     ("age", Arc::new(Int32Array::from(vec![30, 40, 20])) as ArrayRef),
/// ])?;
/// let by_age = SortColumn { values: batch.column(1).clone(), options: None };
/// let sorted = sort_batch(&batch, &[by_age], Some(2))?;
/// assert_eq!(sorted.column(0).as_ref(), &StringArray::from(vec!["c", "b"]));
/// # Ok::<(), arrow_schema::ArrowError>(())
/// ```
///
/// # Errors
/// [`ArrowError::InvalidArgumentError`] without columns to sort by, or if they and the batch differ in length; for others, see
/// [`lexsort_to_indices`]; the errors of `take`.
pub fn sort_batch(
    batch: &RecordBatch,
    columns: &[SortColumn],
    limit: Option<usize>,
) -> Result<RecordBatch, ArrowError> {
    ArrowSorter::shared().sort_batch(batch, columns, limit).map(|(sorted, _)| sorted)
}

/// The rank of each value: how many values are not after it. Equal values share the highest of their ranks, and so do nulls.
///
/// Besides the result, this takes 5 bytes a value and a sort. Numbers are copied and sorted as [pairs](sortie::sort_pairs) with
/// their indices. For other values, see the [crate](crate#time-and-memory). Of a run-end encoded array, only the runs are sorted.
///
/// ```
/// use arrow_array::StringArray;
///
/// let array = StringArray::from(vec![Some("foo"), None, Some("foo"), None, Some("bar")]);
/// assert_eq!(sortie_arrow::rank(&array, None)?, [5, 2, 5, 2, 3]);
/// # Ok::<(), arrow_schema::ArrowError>(())
/// ```
///
/// # Errors
/// As [`sort_to_indices`].
pub fn rank(array: &dyn Array, options: Option<SortOptions>) -> Result<Vec<u32>, ArrowError> {
    ArrowSorter::shared().rank(array, options).map(|(sorted, _)| sorted)
}
