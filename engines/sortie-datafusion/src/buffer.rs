//! [`Buffer`]: rows that wait to be sorted, and the memory that is reserved for them.

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::utils::memory::RecordBatchMemoryCounter;
use datafusion::common::{Result, resources_datafusion_err};
use datafusion::execution::memory_pool::MemoryReservation;
use datafusion::physical_expr::LexOrdering;

use crate::part::Part;
use crate::sorted::Sorted;

/// Rows of an input, in memory. The memory that it takes to sort them is reserved as they come, so that a sort cannot fail for
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

    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Adds a batch, unless there is no memory for it or too many rows.
    pub(crate) fn push(&mut self, batch: &RecordBatch, ordering: &LexOrdering) -> Result<()> {
        let rows = self.rows + batch.num_rows();
        if u32::try_from(rows).is_err() {
            return Err(resources_datafusion_err!("a sort in memory takes fewer than 2^32 rows"));
        }
        let part = Part::of(batch.clone(), ordering)?;
        let scratch = part.scratch_bytes()?;
        let bytes = self.counter.count_batch(batch) + part.computed_bytes(ordering);
        self.reservation.try_grow(bytes + scratch)?;
        self.scratch += scratch;
        self.rows = rows;
        self.parts.push(part);
        Ok(())
    }

    /// Leaves an empty buffer with the same consumer of memory.
    pub(crate) fn take(&mut self) -> Buffer {
        let empty = Buffer::new(self.reservation.new_empty());
        std::mem::replace(self, empty)
    }
}

/// Sorts the rows of several buffers, at least one row. The memory for the sort is given back after it.
pub(crate) fn sort(buffers: Vec<Buffer>, schema: &SchemaRef) -> Result<Sorted> {
    let (mut parts, mut data, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
    for buffer in buffers {
        // The order of the rows, 4 bytes for each, is kept with the data.
        scratch.push(buffer.reservation.split(buffer.scratch - 4 * buffer.rows));
        data.push(buffer.reservation);
        parts.extend(buffer.parts);
    }
    Sorted::of(parts, schema, data)
}
