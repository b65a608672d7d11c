//! [`ArrowSorter`]: the functions of this crate, with the choices of a [`SorterBuilder`] and a report.

use std::sync::LazyLock;

use arrow_array::{Array, ArrayRef, RecordBatch, RecordBatchOptions, UInt32Array, make_array};
use arrow_schema::{ArrowError, SortOptions};
use sortie::{Order, Report, Sorter, SorterBuilder};

use crate::call::{Call, failed};
use crate::copies::copies;
use crate::take::take;
use crate::{SortColumn, indices, lexsort, rank, values};

/// Sorts Arrow arrays with chosen threads, engine and memory limit. Its methods do what the functions of this crate do, and also
/// return a [`Report`]. Its phases are those of the sorts that a call makes with Sortie, its
/// [`scratch_peak`](Report::scratch_peak) counts everything that a [memory limit](ArrowSorter::new) does.
///
/// ```
/// use arrow_array::{Int32Array, UInt32Array};
/// use sortie_arrow::ArrowSorter;
///
/// let sorter = ArrowSorter::new(sortie::Sorter::builder().threads(2))?;
/// let (indices, report) = sorter.sort_to_indices(&Int32Array::from(vec![3, 1, 2]), None, None)?;
/// assert_eq!(indices, UInt32Array::from(vec![1, 2, 0]));
/// assert_eq!(report.scratch_peak, 12);
/// # Ok::<(), arrow_schema::ArrowError>(())
/// ```
#[derive(Debug, Clone)]
pub struct ArrowSorter {
    ascending: Sorter,
    descending: Sorter,
    /// Bytes that the caller holds.
    held: usize,
}

impl ArrowSorter {
    /// A sorter with these choices.
    ///
    /// - The [`SortOptions`] of each call give the direction and where nulls go. NaNs are always in totalOrder. What the builder
    ///   says of these has no effect.
    /// - With [`unstable`](SorterBuilder::unstable), sorts need not be stable.
    /// - A memory limit holds for a call: for the scratch of Sortie, the indices, and the copies in the table of the
    ///   [crate](crate#time-and-memory), as large as they can be. With a limit, lists, structs, maps and run-end encoded arrays
    ///   are refused, because the size of their copies is not known before they are made.
    /// - If the builder asks for more than one thread, one pool of that many threads is started, for both directions.
    ///
    /// # Errors
    /// Those of [`SorterBuilder::build`], as [`ArrowError::ExternalError`]. The methods also return those of [`Sorter`]:
    /// [`ArrowError::MemoryError`] if the limit is too low, and [`ArrowError::ExternalError`] for others, such as a GPU that
    /// fails; and [`ArrowError::InvalidArgumentError`] for types for which the limit cannot be kept.
    pub fn new(choices: SorterBuilder) -> Result<ArrowSorter, ArrowError> {
        let ascending = choices.build().map_err(failed)?.with_order(Order::default());
        let descending = ascending.with_order(Order { descending: true, ..Order::default() });
        Ok(ArrowSorter { ascending, descending, held: 0 })
    }

    /// This sorter, for a caller that holds so much memory already: it counts for the limit and in reports. Both share their
    /// threads.
    ///
    /// ```
    /// use arrow_array::Int32Array;
    /// use sortie_arrow::ArrowSorter;
    ///
    /// let sorter = ArrowSorter::new(sortie::Sorter::builder().memory_limit(1000))?;
    /// let array = Int32Array::from(vec![3, 1, 2]);
    /// let (_, report) = sorter.holding(900).sort_to_indices(&array, None, None)?;
    /// assert_eq!(report.scratch_peak, 912);
    /// assert!(sorter.holding(990).sort_to_indices(&array, None, None).is_err());
    /// # Ok::<(), arrow_schema::ArrowError>(())
    /// ```
    #[must_use]
    pub fn holding(&self, bytes: usize) -> ArrowSorter {
        ArrowSorter { held: self.held.saturating_add(bytes), ..self.clone() }
    }

    /// The sorter behind the free functions.
    pub(crate) fn shared() -> &'static ArrowSorter {
        static SHARED: LazyLock<ArrowSorter> = LazyLock::new(|| {
            ArrowSorter::new(Sorter::builder()).expect("the default choices are valid and start no threads")
        });
        &SHARED
    }

    /// Runs a sort by these columns, with what the limit leaves after their copies.
    fn run<T>(
        &self,
        columns: &[SortColumn],
        sort: impl FnOnce(&Call) -> Result<T, ArrowError>,
    ) -> Result<(T, Report), ArrowError> {
        let copies = match copies(columns) {
            // Without a limit, reports leave out what is not known.
            Err(_) if self.ascending.memory_limit().is_none() => 0,
            copies => copies?,
        };
        let held = self.held.saturating_add(copies) as u64;
        let call = Call::new(
            self.ascending.holding(held).map_err(failed)?,
            self.descending.holding(held).map_err(failed)?,
        );
        let sorted = sort(&call)?;
        let mut report = call.into_report();
        report.scratch_peak += held;
        Ok((sorted, report))
    }

    /// The same for an array.
    fn run_on<T>(
        &self,
        array: &dyn Array,
        options: Option<SortOptions>,
        sort: impl FnOnce(&Call) -> Result<T, ArrowError>,
    ) -> Result<(T, Report), ArrowError> {
        self.run(&[SortColumn { values: make_array(array.to_data()), options }], sort)
    }

    /// See [`sort`](crate::sort).
    ///
    /// # Errors
    /// As [`sort`](crate::sort).
    pub fn sort(
        &self,
        values: &dyn Array,
        options: Option<SortOptions>,
    ) -> Result<(ArrayRef, Report), ArrowError> {
        self.sort_limit(values, options, None)
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
    ) -> Result<(ArrayRef, Report), ArrowError> {
        self.run_on(values, options, |call| {
            values::sort_limit(call, values, options.unwrap_or_default(), limit)
        })
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
    ) -> Result<(UInt32Array, Report), ArrowError> {
        self.run_on(array, options, |call| {
            indices::sort_to_indices(call, array, options.unwrap_or_default(), limit).map(UInt32Array::from)
        })
    }

    /// See [`lexsort`](crate::lexsort()).
    ///
    /// # Errors
    /// As [`lexsort`](crate::lexsort()).
    pub fn lexsort(
        &self,
        columns: &[SortColumn],
        limit: Option<usize>,
    ) -> Result<(Vec<ArrayRef>, Report), ArrowError> {
        let (indices, report) = self.lexsort_to_indices(columns, limit)?;
        let sorted = columns.iter().map(|column| take(&column.values, &indices)).collect::<Result<_, _>>()?;
        Ok((sorted, report))
    }

    /// See [`lexsort_to_indices`](crate::lexsort_to_indices).
    ///
    /// # Errors
    /// As [`lexsort_to_indices`](crate::lexsort_to_indices).
    pub fn lexsort_to_indices(
        &self,
        columns: &[SortColumn],
        limit: Option<usize>,
    ) -> Result<(UInt32Array, Report), ArrowError> {
        self.run(columns, |call| lexsort::lexsort_to_indices(call, columns, limit))
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
    ) -> Result<(RecordBatch, Report), ArrowError> {
        let rows = batch.num_rows();
        if let Some(other) = columns.iter().map(|column| column.values.len()).find(|&len| len != rows) {
            return Err(ArrowError::InvalidArgumentError(format!(
                "the batch has {rows} rows, a column to sort by has {other}; give each row a value"
            )));
        }
        let (indices, report) = self.lexsort_to_indices(columns, limit)?;
        let columns =
            batch.columns().iter().map(|column| take(column, &indices)).collect::<Result<_, _>>()?;
        // A batch without columns has rows too.
        let rows = RecordBatchOptions::new().with_row_count(Some(indices.len()));
        Ok((RecordBatch::try_new_with_options(batch.schema(), columns, &rows)?, report))
    }

    /// See [`rank`](crate::rank()).
    ///
    /// # Errors
    /// As [`rank`](crate::rank()).
    pub fn rank(
        &self,
        array: &dyn Array,
        options: Option<SortOptions>,
    ) -> Result<(Vec<u32>, Report), ArrowError> {
        self.run_on(array, options, |call| rank::rank(call, array, options.unwrap_or_default()))
    }
}
