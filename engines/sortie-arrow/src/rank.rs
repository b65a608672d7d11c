//! The rank of each value: how many are not after it.

use arrow_array::Array;
use arrow_schema::{ArrowError, DataType, SortOptions};

use crate::call::{Call, failed, rows};
use crate::indices::Split;
use crate::runs;
use crate::source::Source;

pub(crate) fn rank(call: &Call, array: &dyn Array, options: SortOptions) -> Result<Vec<u32>, ArrowError> {
    if let DataType::RunEndEncoded(_, _) = array.data_type() {
        return runs::ranks_of_rows(call, array, options);
    }
    let rows = rows(array)?;
    let Split { values, nulls } = Split::of(array);
    let nulls = nulls.len() as u32;
    let (before, rank_of_nulls) = if options.nulls_first { (nulls, nulls) } else { (0, rows) };
    let mut ranks = vec![rank_of_nulls; array.len()];
    if nulls == rows {
        return Ok(ranks);
    }
    let source = Source::of(array, options, call)?;
    let keys = source.keys(values.as_deref());
    let (indices, equal) = keys.groups(values, &call.facing(options.descending)).map_err(failed)?;
    // From the last: each has the rank of the last one that is equal.
    let mut rank = before + indices.len() as u32;
    for (position, (&index, &equals_previous)) in indices.iter().zip(&equal).enumerate().rev() {
        ranks[index as usize] = rank;
        if !equals_previous {
            rank = before + position as u32;
        }
    }
    Ok(ranks)
}
