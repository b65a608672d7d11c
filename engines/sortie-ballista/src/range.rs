//! How rows get to the partition of their range.
//!
//! Ballista distributes rows by a hash alone. So each row has a label besides its columns: a number whose hash, modulo the number
//! of ranges, is its range. Rows then take the path that Ballista has for joins and aggregates, which spills, retries and limits
//! its memory.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, UInt32Array};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::Result;
use datafusion::common::hash_utils::create_hashes;
use datafusion::physical_plan::repartition::REPARTITION_RANDOM_STATE;

/// The name of the column. Columns are referred to by their place, so a table may have one of this name.
pub(crate) const LABEL: &str = "__sortie_range";

/// The columns of a table, and the label after them.
pub(crate) fn with_label(schema: &Schema) -> SchemaRef {
    let label = Arc::new(Field::new(LABEL, DataType::UInt32, false));
    let fields = schema.fields().iter().cloned().chain([label]);
    Arc::new(Schema::new_with_metadata(fields.collect::<Vec<_>>(), schema.metadata().clone()))
}

/// The ranges of some labels.
pub(crate) fn ranges_of(labels: Vec<u32>, ranges: usize) -> Result<Vec<usize>> {
    let mut hashes = vec![0; labels.len()];
    let labels: ArrayRef = Arc::new(UInt32Array::from(labels));
    create_hashes([&labels], REPARTITION_RANDOM_STATE.random_state(), &mut hashes)?;
    Ok(hashes.into_iter().map(|hash| (hash % ranges as u64) as usize).collect())
}

/// A label for each range: the smallest. Takes about `n ln n` hashes for `n` ranges.
pub(crate) fn labels(ranges: usize) -> Result<Vec<u32>> {
    let mut labels = vec![None; ranges];
    let mut missing = ranges;
    let block = ranges.next_power_of_two() as u32;
    for start in (0..).step_by(block as usize) {
        let candidates: Vec<u32> = (start..start + block).collect();
        for (label, range) in candidates.iter().zip(ranges_of(candidates.clone(), ranges)?) {
            if labels[range].is_none() {
                labels[range] = Some(*label);
                missing -= 1;
            }
        }
        if missing == 0 {
            break;
        }
    }
    Ok(labels.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_label_has_the_hash_of_its_range() {
        for ranges in [1, 2, 3, 16, 1000, 5000] {
            let labels = labels(ranges).unwrap();
            assert_eq!(ranges_of(labels, ranges).unwrap(), (0..ranges).collect::<Vec<_>>());
        }
    }
}
