//! Sorts Arrow arrays and record batches with [Sortie](sortie): the functions of `arrow-ord`, faster.
//!
//! The functions have the signatures of `arrow_ord::sort` and `arrow_ord::rank`, so a program changes its imports and nothing
//! else. They run on the current rayon pool, as [`sortie::sort`] does. [`ArrowSorter`] has the same functions as methods, for
//! those who choose the threads, the engine or a memory limit.
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
//! That of `arrow-ord`: floats in the totalOrder of IEEE 754 (negative NaNs first, -0.0 before 0.0, positive NaNs last), strings
//! and binary values by bytes, lists by their elements and then by length, structs field by field. [`SortOptions::nulls_first`]
//! says where nulls go, whatever the direction; without options, they go first. A dictionary's value that is null counts as a null.
//!
//! # Differences from `arrow-ord`
//!
//! - Sorts are stable: equal values, and nulls, keep their order. Results do not depend on threads or engine.
//! - More types are sorted and ranked. Structs, maps, lists of any type and dictionaries of any values are encoded by `arrow-row`.
//!   [`sort_to_indices`] refuses unions, as `arrow-ord` does. [`lexsort_to_indices`] leaves tables to `arrow-ord` that have unions or
//!   dictionaries of nested values; those sorts are not stable.
//! - An array of more than 2^32 - 1 rows is an error, and so is a lack of memory.
//!
//! # Time and memory
//!
//! A sort of `n` values takes O(n log n) comparisons at most, and usually less than that: numbers are distributed by their bits,
//! strings by their bytes. Results aside, it holds, in bytes, besides what the [table](sortie#memory-panics-and-gpus) of Sortie
//! says of the sort that it names, where `K` is the size of a value:
//!
//! | type | a copy for the sort | sort |
//! |---|---|---|
//! | integers, dates, times, timestamps, durations, decimals up to 128 bits | none | [`argsort`](sortie::argsort) |
//! | floats, intervals, `Decimal256`, booleans, `FixedSizeBinary` up to 16 bytes | `nK`, with `K` rounded up to a power of two | `argsort` |
//! | strings, views, binary | `16n` | `argsort` of strings |
//! | dictionaries | `4n`, and the sort of the values, or the values if they are fewer | `argsort` |
//! | lists, structs, maps | `16n`, and the rows of `arrow-row` | `argsort` of strings |
//!
//! - With nulls, the values that are not null are copied with their indices, and those are sorted as
//!   [pairs](sortie::sort_pairs): `n(K + 4)`, for strings `n(16 + 4)`.
//! - With a limit of at most an eighth of the rows, only the rows are sorted that may be among the first: O(n), and the sort of those.
//!
//! # Features
//!
//! - `gpu`: after `enable_gpu`, sorts of large arrays run on an NVIDIA GPU if that is predicted to be faster. Off by default.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod arrow_order;
mod indices;
mod keys;
mod lexsort;
mod pack;
mod rank;
mod runs;
mod select;
mod sorter;
mod source;
mod ties;
mod values;

use arrow_array::{Array, ArrayRef, RecordBatch, UInt32Array};
use arrow_schema::ArrowError;

// It compares each row with the next by vectorised kernels, and sorts nothing.
#[doc(inline)]
pub use arrow_ord::partition::{Partitions, partition};
#[doc(inline)]
pub use arrow_ord::sort::SortColumn;
#[doc(inline)]
pub use arrow_schema::SortOptions;
pub use sorter::ArrowSorter;
#[cfg(feature = "gpu")]
pub use sortie::{Enabled, enable_gpu};

/// Sorts an array. Nulls go where the options say.
///
/// Numbers are sorted as such, others by [`sort_to_indices`], which then gather the values. A run-end encoded array keeps its
/// runs: they are reordered, and equal ones are not joined. For time and memory, see the [crate](crate#time-and-memory);
/// numbers take no indices, only a copy, which becomes the result.
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
/// As [`sort_to_indices`]; the errors of `take`.
pub fn sort(values: &dyn Array, options: Option<SortOptions>) -> Result<ArrayRef, ArrowError> {
    ArrowSorter::shared().sort(values, options)
}

/// The first `limit` values of an array in order.
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
/// As [`sort`].
pub fn sort_limit(
    values: &dyn Array,
    options: Option<SortOptions>,
    limit: Option<usize>,
) -> Result<ArrayRef, ArrowError> {
    ArrowSorter::shared().sort_limit(values, options, limit)
}

/// The indices of the values of an array in order, or of the first `limit` of them. Stable.
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
/// [`ArrowError::ComputeError`] for unions and for more than 2^32 - 1 values; [`ArrowError::NotYetImplemented`] for nested types that
/// have no rows in `arrow-row`, such as lists of dictionaries of lists; [`ArrowError::MemoryError`] if the system refuses memory.
pub fn sort_to_indices(
    array: &dyn Array,
    options: Option<SortOptions>,
    limit: Option<usize>,
) -> Result<UInt32Array, ArrowError> {
    ArrowSorter::shared().sort_to_indices(array, options, limit)
}

/// The columns, with their rows sorted by all of them, the first one being the most significant. Takes what
/// [`lexsort_to_indices`] takes, and a copy of the columns, which is the result.
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
    ArrowSorter::shared().lexsort(columns, limit)
}

/// The indices of the rows in order, or of the first `limit` of them. Rows are compared by the first column; those that are
/// equal in it by the second, and so on. Stable.
///
/// The leading columns are packed into one number of 64 or 128 bits a row, until that is full or tells the rows of a sample apart.
/// The range of a column's values decides how many bits it takes, so most tables of numbers, dates, dictionaries and short strings
/// fit. Rows with equal numbers are then sorted by the columns that are not in there, encoded by `arrow-row`. This takes O(n log n)
/// comparisons at most.
///
/// Memory, in bytes: `8n` or `16n` for the numbers; if some columns are not in there, `4n` more, and the rows with equal numbers,
/// encoded and with 28 each; for one column at a time its copy, see the [crate](crate#time-and-memory); the scratch of
/// [`sortie::sort_pairs`].
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
/// 2^32 - 1 rows; [`ArrowError::MemoryError`] if the system refuses memory.
pub fn lexsort_to_indices(columns: &[SortColumn], limit: Option<usize>) -> Result<UInt32Array, ArrowError> {
    ArrowSorter::shared().lexsort_to_indices(columns, limit)
}

/// A batch with its rows sorted by `columns`, or the first `limit` of those. Stable.
///
/// The columns have a value for each row of the batch. They are often columns of the batch itself, but can be computed.
/// Takes what [`lexsort_to_indices`] takes, and a copy of the batch, which is the result.
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
/// As [`lexsort_to_indices`]; [`ArrowError::InvalidArgumentError`] if the columns and the batch differ in length; the errors of
/// `take`.
pub fn sort_batch(
    batch: &RecordBatch,
    columns: &[SortColumn],
    limit: Option<usize>,
) -> Result<RecordBatch, ArrowError> {
    ArrowSorter::shared().sort_batch(batch, columns, limit)
}

/// The rank of each value: how many values are not after it. Equal values have the same rank, the highest of theirs, and so do
/// nulls.
///
/// Takes a sort of the values with their indices, see the [crate](crate#time-and-memory), and 4 bytes a value for the result.
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
    ArrowSorter::shared().rank(array, options)
}
