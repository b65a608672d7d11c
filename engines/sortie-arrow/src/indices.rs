//! The indices that sort an array. Nulls are split off before the sort, and put before or after the sorted values.

use arrow_array::Array;
use arrow_schema::{ArrowError, DataType, SortOptions};

use crate::call::{Call, rows};
use crate::keys::first_in_order;
use crate::runs;
use crate::source::Source;

pub(crate) fn sort_to_indices(
    call: &Call,
    array: &dyn Array,
    options: SortOptions,
    limit: Option<usize>,
) -> Result<Vec<u32>, ArrowError> {
    rows(array)?;
    let shown = limit.map_or(array.len(), |limit| limit.min(array.len()));
    if shown == 0 {
        return Ok(Vec::new());
    }
    if let DataType::RunEndEncoded(_, _) = array.data_type() {
        return runs::sort_to_indices(call, array, options, shown);
    }
    let Split { values, nulls } = Split::of(array);
    let first_nulls = if options.nulls_first { shown.min(nulls.len()) } else { 0 };
    let shown_values = (shown - first_nulls).min(array.len() - nulls.len());
    let nulls = &nulls[..shown - shown_values];
    if shown_values == 0 {
        return Ok(nulls.to_vec());
    }
    let source = Source::of(array, options, call)?;
    let keys = source.keys(values.as_deref());
    let indices = first_in_order(keys, values, shown_values, options.descending, call)?;
    Ok(match (nulls, options.nulls_first) {
        ([], _) => indices,
        (_, true) => [nulls, &indices].concat(),
        (_, false) => [&indices[..], nulls].concat(),
    })
}

/// The indices of an array's values and of its nulls, both ascending. A dictionary key of a null value is a null.
pub(crate) struct Split {
    /// `None` if there are no nulls: the values are then all rows.
    pub values: Option<Vec<u32>>,
    pub nulls: Vec<u32>,
}

impl Split {
    pub(crate) fn of(array: &dyn Array) -> Split {
        match array.logical_nulls().filter(|nulls| nulls.null_count() > 0) {
            None => Split { values: None, nulls: Vec::new() },
            Some(nulls) => Split {
                values: Some(nulls.inner().set_indices_u32().collect()),
                nulls: (!nulls.inner()).set_indices_u32().collect(),
            },
        }
    }
}
