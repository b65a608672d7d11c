//! [`ArrowSorter`]: the functions of this crate, with the choices of a [`SorterBuilder`].

use std::sync::LazyLock;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array, new_empty_array};
use arrow_schema::{ArrowError, DataType, SortOptions};
use sortie::{Error, Sorter, SorterBuilder};

use crate::take::take;
use crate::{SortColumn, indices, lexsort, rank, runs, values};

/// Sorts Arrow arrays with chosen threads, engine and memory limit. Its methods do what the functions of this crate do.
///
/// ```
/// use arrow_array::{Int32Array, UInt32Array};
/// use sortie_arrow::ArrowSorter;
///
/// let sorter = ArrowSorter::new(sortie::Sorter::builder().threads(2))?;
/// let indices = sorter.sort_to_indices(&Int32Array::from(vec![3, 1, 2]), None, None)?;
/// assert_eq!(indices, UInt32Array::from(vec![1, 2, 0]));
/// # Ok::<(), arrow_schema::ArrowError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ArrowSorter {
    ascending: Sorter,
    descending: Sorter,
}

impl ArrowSorter {
    /// A sorter with these choices.
    ///
    /// - The [`SortOptions`] of each call give the direction and where nulls go. NaNs are always in totalOrder. What the builder
    ///   says of these has no effect.
    /// - With [`unstable`](SorterBuilder::unstable), sorts need not be stable.
    /// - A memory limit holds for each sort that a call makes with Sortie. It does not count the copies in the table of the
    ///   [crate](crate#time-and-memory).
    /// - If the builder asks for more than one thread, one pool of that many threads is started, for both directions.
    ///
    /// # Errors
    /// Those of [`SorterBuilder::build`], as [`ArrowError::ExternalError`]. The methods also return those of [`Sorter`]:
    /// [`ArrowError::MemoryError`] if the limit is too low, and [`ArrowError::ExternalError`] for others, such as a GPU that
    /// fails.
    pub fn new(choices: SorterBuilder) -> Result<ArrowSorter, ArrowError> {
        let ascending = choices.descending(false).build().map_err(failed)?;
        Ok(ArrowSorter { descending: ascending.reversed(), ascending })
    }

    /// The sorter behind the free functions.
    pub(crate) fn shared() -> &'static ArrowSorter {
        static SHARED: LazyLock<ArrowSorter> = LazyLock::new(|| {
            ArrowSorter::new(Sorter::builder()).expect("the default choices are valid and start no threads")
        });
        &SHARED
    }

    /// The sorter for a direction.
    pub(crate) fn facing(&self, descending: bool) -> &Sorter {
        if descending { &self.descending } else { &self.ascending }
    }

    /// See [`sort`](crate::sort).
    ///
    /// # Errors
    /// As [`sort`](crate::sort).
    pub fn sort(&self, values: &dyn Array, options: Option<SortOptions>) -> Result<ArrayRef, ArrowError> {
        values::sort(self, values, options.unwrap_or_default())
    }

    /// See [`sort_limit`](crate::sort_limit).
    ///
    /// # Errors
    /// As [`sort_limit`](crate::sort_limit).
    pub fn sort_limit(
        &self,
        values: &dyn Array,
        options: Option<SortOptions>,
        limit: Option<usize>,
    ) -> Result<ArrayRef, ArrowError> {
        match (limit, values.data_type()) {
            (Some(0), _) => Ok(new_empty_array(values.data_type())),
            (Some(limit), _) if limit >= values.len() => self.sort(values, options),
            (None, _) => self.sort(values, options),
            (Some(limit), DataType::RunEndEncoded(_, _)) => {
                runs::sort(self, values, options.unwrap_or_default(), limit)
            }
            _ => take(values, &self.sort_to_indices(values, options, limit)?),
        }
    }

    /// See [`sort_to_indices`](crate::sort_to_indices).
    ///
    /// # Errors
    /// As [`sort_to_indices`](crate::sort_to_indices).
    pub fn sort_to_indices(
        &self,
        array: &dyn Array,
        options: Option<SortOptions>,
        limit: Option<usize>,
    ) -> Result<UInt32Array, ArrowError> {
        indices::sort_to_indices(self, array, options.unwrap_or_default(), limit).map(UInt32Array::from)
    }

    /// See [`lexsort`](crate::lexsort()).
    ///
    /// # Errors
    /// As [`lexsort`](crate::lexsort()).
    pub fn lexsort(&self, columns: &[SortColumn], limit: Option<usize>) -> Result<Vec<ArrayRef>, ArrowError> {
        let indices = self.lexsort_to_indices(columns, limit)?;
        columns.iter().map(|column| take(&column.values, &indices)).collect()
    }

    /// See [`lexsort_to_indices`](crate::lexsort_to_indices).
    ///
    /// # Errors
    /// As [`lexsort_to_indices`](crate::lexsort_to_indices).
    pub fn lexsort_to_indices(
        &self,
        columns: &[SortColumn],
        limit: Option<usize>,
    ) -> Result<UInt32Array, ArrowError> {
        lexsort::lexsort_to_indices(self, columns, limit)
    }

    /// See [`sort_batch`](crate::sort_batch).
    ///
    /// # Errors
    /// As [`sort_batch`](crate::sort_batch).
    pub fn sort_batch(
        &self,
        batch: &RecordBatch,
        columns: &[SortColumn],
        limit: Option<usize>,
    ) -> Result<RecordBatch, ArrowError> {
        let rows = batch.num_rows();
        if let Some(other) = columns.iter().map(|column| column.values.len()).find(|&len| len != rows) {
            return Err(ArrowError::InvalidArgumentError(format!(
                "the batch has {rows} rows, a column to sort by has {other}; give each row a value"
            )));
        }
        let indices = self.lexsort_to_indices(columns, limit)?;
        let columns =
            batch.columns().iter().map(|column| take(column, &indices)).collect::<Result<_, _>>()?;
        // A batch without columns has rows too.
        let rows = RecordBatchOptions::new().with_row_count(Some(indices.len()));
        RecordBatch::try_new_with_options(batch.schema(), columns, &rows)
    }

    /// See [`rank`](crate::rank()).
    ///
    /// # Errors
    /// As [`rank`](crate::rank()).
    pub fn rank(&self, array: &dyn Array, options: Option<SortOptions>) -> Result<Vec<u32>, ArrowError> {
        rank::rank(self, array, options.unwrap_or_default())
    }
}

/// An error of Sortie as one of Arrow.
pub(crate) fn failed(error: Error) -> ArrowError {
    match error {
        Error::Memory { .. } => ArrowError::MemoryError(error.to_string()),
        other => ArrowError::ExternalError(Box::new(other)),
    }
}

/// The number of rows, if 32 bits hold their indices.
pub(crate) fn rows(array: &dyn Array) -> Result<u32, ArrowError> {
    u32::try_from(array.len()).map_err(|_| {
        ArrowError::ComputeError(format!(
            "the indices of {} rows do not fit in 32 bits; sort the rows in parts",
            array.len()
        ))
    })
}
