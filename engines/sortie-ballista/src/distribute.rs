//! The second job's first step: labels each row with its range.

use std::sync::Arc;

use datafusion::arrow::array::{RecordBatch, UInt32Array};
use datafusion::common::Result;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;
use futures::stream::BoxStream;

use crate::cuts::{Cut, Ranges};
use crate::keys::{Key, KeyBytes};
use crate::range;

/// Adds the label of its range to each row.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Distribute {
    #[prost(message, repeated, tag = "1")]
    pub keys: Vec<Key>,
    #[prost(message, repeated, tag = "2")]
    pub cuts: Vec<Cut>,
    #[prost(uint32, tag = "3")]
    pub ranges: u32,
}

impl Distribute {
    pub(crate) fn run(
        self,
        input: SendableRecordBatchStream,
    ) -> Result<BoxStream<'static, Result<RecordBatch>>> {
        let keys = KeyBytes::new(&self.keys, &input.schema())?;
        let schema = range::with_label(&input.schema());
        let labels = range::labels(self.ranges as usize)?;
        let mut ranges = Ranges::new(self.cuts);
        Ok(input
            .map(move |batch| {
                let batch = batch?;
                let rows = keys.of(&batch)?;
                let label = rows.iter().map(|row| labels[ranges.next(row.data())]);
                let label = Arc::new(UInt32Array::from_iter_values(label));
                let columns = batch.columns().iter().cloned().chain([label as _]).collect();
                Ok(RecordBatch::try_new(Arc::clone(&schema), columns)?)
            })
            .boxed())
    }
}
