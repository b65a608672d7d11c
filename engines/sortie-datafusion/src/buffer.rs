//! [`Buffer`]: rows that wait to be sorted, and the memory that is reserved for them.

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::utils::memory::RecordBatchMemoryCounter;
use datafusion::common::{Result, resources_datafusion_err};
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::physical_expr::LexOrdering;

use crate::part::Part;
use crate::sorted::Sorted;

/// Rows of one or several inputs, in memory. The memory that it takes to sort them is reserved as they come, so that a sort cannot fail for
/// want of it.
pub(crate) struct Buffer {
    parts: Vec<Part>,
    rows: usize,
    /// Counts memory that batches share once.
    counter: RecordBatchMemoryCounter,
    /// For the batches, and for a sort of them.
    reservation: MemoryReservation,
    /// How much of the reservation is for the sort alone.
    scratch: usize,
}

impl Buffer {
    pub(crate) fn new(reservation: MemoryReservation) -> Buffer {
        Buffer {
            parts: Vec::new(),
            rows: 0,
            counter: RecordBatchMemoryCounter::new(),
            reservation,
            scratch: 0,
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Adds rows, unless there is no memory for them or they are too many.
    pub(crate) fn push(&mut self, part: &Part, ordering: &LexOrdering) -> Result<()> {
        let rows = self.rows + part.rows();
        if u32::try_from(rows).is_err() {
            return Err(resources_datafusion_err!("a sort in memory takes fewer than 2^32 rows"));
        }
        let scratch = part.scratch_bytes()?;
        let bytes = self.counter.count_batch(&part.batch) + part.computed_bytes(ordering);
        self.reservation.try_grow(bytes + scratch)?;
        self.scratch += scratch;
        self.rows = rows;
        self.parts.push(part.clone());
        Ok(())
    }

    /// Leaves an empty buffer with the same consumer of memory.
    pub(crate) fn take(&mut self) -> Buffer {
        let empty = Buffer::new(self.reservation.new_empty());
        std::mem::replace(self, empty)
    }

    /// Divides the batches among up to `count` buffers.
    pub(crate) fn split(self, count: usize) -> Vec<Buffer> {
        let batches = self.parts.len().div_ceil(count);
        let bytes = self.reservation.size();
        let mut parts = self.parts.into_iter();
        let buffers = std::iter::from_fn(|| {
            let parts: Vec<Part> = parts.by_ref().take(batches).collect();
            let rows: usize = parts.iter().map(Part::rows).sum();
            // The sizes of the batches are not known any more, so memory is divided by rows.
            let share = |bytes: usize| (bytes as u128 * rows as u128 / self.rows as u128) as usize;
            let scratch = share(self.scratch);
            let reservation = self.reservation.split(scratch + share(bytes - self.scratch));
            let counter = RecordBatchMemoryCounter::new();
            (rows > 0).then_some(Buffer { parts, rows, counter, reservation, scratch })
        });
        buffers.collect()
    }

    /// Sorts the rows, at least one. The memory for the sort is given back after it.
    pub(crate) fn sort(self, schema: &SchemaRef) -> Result<Sorted> {
        // The order of the rows, 4 bytes for each, is kept with the data.
        let scratch = self.reservation.split(self.scratch - 4 * self.rows);
        let sorted = Sorted::of(self.parts, schema, Some(self.reservation))?;
        drop(scratch);
        Ok(sorted)
    }
}
