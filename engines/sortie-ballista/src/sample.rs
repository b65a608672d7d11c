//! The first job's step: draws rows and keeps their keys.

use std::sync::Arc;

use datafusion::arrow::array::{AsArray, BinaryArray, RecordBatch, UInt64Array};
use datafusion::arrow::compute::kernels::length::length;
use datafusion::arrow::compute::{cast, take_record_batch};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef, UInt64Type};
use datafusion::common::Result;
use datafusion::execution::SendableRecordBatchStream;
use futures::StreamExt;
use futures::stream::BoxStream;

use crate::cuts::Sampled;
use crate::keys::{Key, KeyBytes};

/// Draws one row from each group of `every` rows that follow one another.
#[derive(Clone, PartialEq, prost::Message)]
pub(crate) struct Sample {
    #[prost(message, repeated, tag = "1")]
    pub keys: Vec<Key>,
    /// How many rows are in a group.
    #[prost(uint64, tag = "2")]
    pub every: u64,
    /// The bytes of a row that are not in its keys, about.
    #[prost(uint64, tag = "3")]
    pub other_bytes: u64,
    /// How many bytes of a key are kept. Ranges are cut correctly wherever it ends; they are even if keys differ within it.
    #[prost(uint64, tag = "4")]
    pub key_bytes: u64,
}

/// What a value is taken for if its size is not known.
pub(crate) const VARIABLE_WIDTH: u64 = 32;

impl Sample {
    pub(crate) fn schema() -> SchemaRef {
        let key = Field::new("key", DataType::Binary, false);
        Arc::new(Schema::new(vec![key, Field::new("weight", DataType::UInt64, false)]))
    }

    pub(crate) fn run(
        self,
        input: SendableRecordBatchStream,
    ) -> Result<BoxStream<'static, Result<RecordBatch>>> {
        let keys = KeyBytes::new(&self.keys, &input.schema())?;
        let mut draws = Draws::new(self.every);
        let most = self.key_bytes as usize;
        let start = move |key: &[u8]| key[..key.len().min(most)].to_vec();
        Ok(input
            .map(move |batch| {
                let batch = batch?;
                let drawn = take_record_batch(&batch, &draws.of(batch.num_rows()))?;
                let rows = keys.of(&drawn)?;
                let key = BinaryArray::from_iter_values(rows.iter().map(|row| start(row.data())));
                let weight = self.weights(&drawn)?;
                Ok(RecordBatch::try_new(Sample::schema(), vec![Arc::new(key), Arc::new(weight)])?)
            })
            .boxed())
    }
    /// How many bytes each row takes, about.
    fn weights(&self, rows: &RecordBatch) -> Result<UInt64Array> {
        let mut weights = vec![self.other_bytes; rows.num_rows()];
        for key in &self.keys {
            let column = rows.column(key.column as usize);
            let lengths = length(column).and_then(|lengths| cast(&lengths, &DataType::UInt64));
            match (column.data_type().primitive_width(), lengths) {
                (Some(width), _) => weights.iter_mut().for_each(|weight| *weight += width as u64),
                (None, Ok(lengths)) => {
                    let lengths = lengths.as_primitive::<UInt64Type>().iter();
                    weights
                        .iter_mut()
                        .zip(lengths)
                        .for_each(|(weight, length)| *weight += length.unwrap_or(0));
                }
                (None, Err(_)) => weights.iter_mut().for_each(|weight| *weight += VARIABLE_WIDTH),
            }
        }
        Ok(weights.into())
    }
}

/// The rows of a result of this step.
pub(crate) fn sampled(batch: &RecordBatch) -> impl Iterator<Item = Sampled> {
    let weights = batch.column(1).as_primitive::<UInt64Type>().values();
    let keys = batch.column(0).as_binary::<i32>().iter().flatten();
    keys.zip(weights).map(|(key, &weight)| Sampled { key: key.to_vec(), weight })
}

/// Which rows are drawn. A row is drawn at random in its group, so that no pattern in the rows can agree with the groups.
struct Draws {
    every: u64,
    random: fastrand::Rng,
    /// Of the next row to be drawn and the next group: how many rows come before.
    next: u64,
    group: u64,
}

impl Draws {
    fn new(every: u64) -> Draws {
        let every = every.max(1);
        // The same rows on every run, so that a run can be repeated.
        let mut random = fastrand::Rng::with_seed(0);
        Draws { every, next: random.u64(..every), group: every, random }
    }

    /// The rows to draw of the next `rows`.
    fn of(&mut self, rows: usize) -> UInt64Array {
        let rows = rows as u64;
        let mut drawn = Vec::new();
        while self.next < rows {
            drawn.push(self.next);
            self.next = self.group + self.random.u64(..self.every);
            self.group += self.every;
        }
        self.next -= rows;
        self.group = self.group.saturating_sub(rows);
        drawn.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_row_of_each_group_is_drawn() {
        for every in [1, 2, 7, 1000] {
            let mut draws = Draws::new(every);
            let mut drawn = Vec::new();
            let mut before = 0;
            for rows in [0, 1, 5, 300, 0, 7000, 3].into_iter().cycle().take(50) {
                drawn.extend(draws.of(rows).values().iter().map(|row| row + before));
                before += rows as u64;
            }
            let complete = before / every;
            assert!(drawn.len() as u64 - complete <= 1);
            assert!(drawn.iter().enumerate().all(|(group, row)| row / every == group as u64));
        }
    }
}
