//! Gathers values by their indices.

use arrow_array::{Array, ArrayRef, UInt32Array};
use arrow_schema::ArrowError;
use arrow_select::interleave::interleave;

use crate::types::has_values_without_bytes;

/// The values at these indices, none of which is null. `arrow-select` loses `FixedSizeBinary` values of no bytes, except in
/// `interleave`, which is slower.
pub(crate) fn take(values: &dyn Array, indices: &UInt32Array) -> Result<ArrayRef, ArrowError> {
    if !has_values_without_bytes(values.data_type()) {
        return arrow_select::take::take(values, indices, None);
    }
    let indices: Vec<(usize, usize)> = indices.values().iter().map(|&i| (0, i as usize)).collect();
    interleave(&[values], &indices)
}
