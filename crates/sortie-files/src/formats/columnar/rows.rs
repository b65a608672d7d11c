//! [`Rows`]: rows in memory, and their order.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, UInt32Array};
use arrow_ord::partition::partition;
use arrow_schema::{ArrowError, SchemaRef};
use arrow_select::take::take;
use rayon::prelude::*;
use sortie_arrow::chunks::{join, split};
use sortie_arrow::{compacted, lexsort_to_indices};

use super::keys::{Key, comparator};
use crate::{Error, quote};

/// The rows and the bytes that are gathered at once.
const GATHERED: (usize, usize) = (1 << 16, 16 << 20);

/// Rows in memory, and their order.
pub struct Rows {
    schema: SchemaRef,
    /// All values of each column. The type may have wider offsets than that of the schema.
    columns: Vec<ArrayRef>,
    /// The indices of the rows in order.
    order: UInt32Array,
    /// The bytes of an average row.
    pub row_bytes: usize,
}

impl Rows {
    /// Sorts the rows of batches, fewer than 2^32.
    pub fn sorted(schema: &SchemaRef, batches: Vec<RecordBatch>, keys: &[Key]) -> Result<Rows, ArrowError> {
        let (mut bytes, mut count) = (0, 0);
        let mut chunks: Vec<Vec<ArrayRef>> = vec![Vec::new(); schema.fields().len()];
        for batch in batches {
            bytes += size(&batch)?;
            count += batch.num_rows();
            chunks
                .iter_mut()
                .zip(batch.columns())
                .for_each(|(chunks, column)| chunks.push(Arc::clone(column)));
        }
        let join = |(index, chunks): (usize, Vec<ArrayRef>)| {
            let field = schema.field(index);
            join(&chunks, field.data_type()).map_err(|error| match error {
                ArrowError::DictionaryKeyOverflowError => ArrowError::ComputeError(format!(
                    "the dictionaries of column '{}' together have more values than its indices can number; store it with indices of 32 \
                     bits, or as text",
                    quote::harmless(field.name())
                )),
                other => other,
            })
        };
        let columns = chunks.into_par_iter().enumerate().map(join).collect::<Result<Vec<_>, _>>()?;
        let sorted_by =
            keys.iter().map(|key| key.sort_column(&columns[key.column])).collect::<Result<Vec<_>, _>>()?;
        let order = lexsort_to_indices(&sorted_by, None)?;
        Ok(Rows { schema: Arc::clone(schema), columns, order, row_bytes: bytes / count.max(1) })
    }

    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Leaves out all rows but the first.
    pub fn truncate(&mut self, rows: u64) {
        let rows = usize::try_from(rows).unwrap_or(usize::MAX).min(self.len());
        self.order = self.order.slice(0, rows);
    }

    /// How many rows can be gathered at once.
    pub fn step(&self) -> usize {
        GATHERED.0.min(GATHERED.1 / self.row_bytes.max(1)).max(1)
    }

    /// Some values of a column, in order.
    pub fn gather(&self, column: usize, rows: Range<usize>) -> Result<ArrayRef, ArrowError> {
        let values = take(&self.columns[column], &self.order.slice(rows.start, rows.len()), None)?;
        let dtype = self.schema.field(column).data_type();
        match &split(&[values], std::slice::from_ref(dtype))?[..] {
            [one] => Ok(compacted(Arc::clone(&one[0]))),
            _ => Err(ArrowError::ComputeError(format!(
                "{} rows of more than 2 GB cannot be written together",
                rows.len()
            ))),
        }
    }

    /// Some rows, in order.
    pub fn batch(&self, rows: Range<usize>) -> Result<RecordBatch, ArrowError> {
        let column = |column| self.gather(column, rows.clone());
        let columns = (0..self.columns.len()).into_par_iter().map(column).collect::<Result<Vec<_>, _>>()?;
        RecordBatch::try_new(Arc::clone(&self.schema), columns)
    }
}

/// An error of a sort in memory.
pub fn failed(error: ArrowError) -> Error {
    Error::invalid(format!("the rows cannot be sorted: {error}"))
}

/// The bytes of the values of a batch.
pub fn size(batch: &RecordBatch) -> Result<usize, ArrowError> {
    batch.columns().iter().map(|column| column.to_data().get_slice_memory_size()).sum()
}

/// Leaves out rows whose keys are those of the row before.
#[derive(Default)]
pub struct Distinct {
    /// The keys of the last row.
    last: Option<Vec<ArrayRef>>,
}

impl Distinct {
    pub fn filter(&mut self, rows: &mut Rows, keys: &[Key]) -> Result<(), ArrowError> {
        if rows.len() == 0 {
            return Ok(());
        }
        let values = |key: &Key| key.values(&take(&rows.columns[key.column], &rows.order, None)?);
        let values = keys.iter().map(values).collect::<Result<Vec<_>, _>>()?;
        let mut starts: Vec<usize> = partition(&values)?.ranges().iter().map(|range| range.start).collect();
        if let Some(last) = &self.last
            && comparator(keys, last, &values)?(0, 0).is_eq()
        {
            starts.remove(0);
        }
        let end = rows.len() - 1;
        self.last = Some(
            values
                .iter()
                .map(|column| take(column, &UInt32Array::from(vec![end as u32]), None))
                .collect::<Result<_, _>>()?,
        );
        rows.order = starts.iter().map(|&start| rows.order.value(start)).collect::<Vec<u32>>().into();
        Ok(())
    }
}
