//! [`Sorted`]: the order of the rows of several parts, and the rows in that order.

use std::ops::Range;
use std::sync::Arc;

use datafusion::arrow::array::{Array, RecordBatch, RecordBatchOptions, UInt32Array};
use datafusion::arrow::compute::interleave;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::Result;
use datafusion::execution::memory_pool::MemoryReservation;
use sortie_arrow::compacted;

use crate::part::{Part, joined};

/// The rows of several batches in order. The batches are left as they are until rows are asked for.
pub(crate) struct Sorted {
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    /// The indices of the rows in order. The rows of all batches are counted through.
    order: UInt32Array,
    /// The index of the first row of each batch.
    starts: Vec<usize>,
    /// The batch of each row whose index is a multiple of `1 << step`. The batch of another row is found from there. A step is at
    /// most as long as an average batch, so a search passes less than two batches on average.
    batch_of: Vec<u32>,
    step: u32,
    /// For the batches and the order. It is given back with them.
    memory: Option<MemoryReservation>,
}

impl Sorted {
    /// Sorts fewer than 2^32 rows, at least one. Only the keys are read.
    pub(crate) fn of(
        parts: Vec<Part>,
        schema: &SchemaRef,
        memory: Option<MemoryReservation>,
    ) -> Result<Sorted> {
        let keys = (0..parts[0].keys.len()).map(|key| joined(&parts, key)).collect::<Result<Vec<_>>>()?;
        let order = sortie_arrow::lexsort_to_indices(&keys, None)?;
        let step = (order.len() / parts.len()).max(1).ilog2();
        let (mut starts, mut batch_of, mut rows) = (Vec::new(), Vec::new(), 0);
        for (batch, part) in (0..).zip(&parts) {
            starts.push(rows);
            rows += part.rows();
            batch_of.resize(rows.div_ceil(1 << step), batch);
        }
        let batches = parts.into_iter().map(|part| part.batch).collect();
        Ok(Sorted { schema: Arc::clone(schema), batches, order, starts, batch_of, step, memory })
    }

    pub(crate) fn rows(&self) -> usize {
        self.order.len()
    }

    /// The bytes of an average row in memory.
    pub(crate) fn row_bytes(&self) -> usize {
        self.memory.as_ref().map_or(0, MemoryReservation::size) / self.rows()
    }

    /// Copies all rows to batches of up to `batch_rows` rows, and of about as many each.
    pub(crate) fn gather_all(&self, batch_rows: usize) -> Result<Vec<RecordBatch>> {
        let rows = self.rows();
        let batches = rows.div_ceil(batch_rows);
        (0..batches).map(|i| self.gather(rows * i / batches..rows * (i + 1) / batches)).collect()
    }

    /// Copies some of the rows to a batch of their own. It holds on to no other rows.
    pub(crate) fn gather(&self, rows: Range<usize>) -> Result<RecordBatch> {
        let indices: Vec<(usize, usize)> =
            self.order.values()[rows].iter().map(|&i| self.find(i as usize)).collect();
        let column = |column: usize| {
            let values: Vec<&dyn Array> =
                self.batches.iter().map(|batch| batch.column(column).as_ref()).collect();
            interleave(&values, &indices).map(compacted)
        };
        let columns = (0..self.schema.fields().len()).map(column).collect::<Result<_, _>>()?;
        // A batch without columns has rows too.
        let rows = RecordBatchOptions::new().with_row_count(Some(indices.len()));
        Ok(RecordBatch::try_new_with_options(Arc::clone(&self.schema), columns, &rows)?)
    }

    /// The batch of a row, and the row's index in it.
    fn find(&self, row: usize) -> (usize, usize) {
        let mut batch = self.batch_of[row >> self.step] as usize;
        while self.starts.get(batch + 1).is_some_and(|&next| next <= row) {
            batch += 1;
        }
        (batch, row - self.starts[batch])
    }
}
