//! Sorts rows by several columns: packs the leading columns into a number, sorts the numbers, and sorts rows with equal numbers
//! by the other columns.

use std::borrow::Cow;

use arrow_array::{Array, UInt32Array};
use arrow_schema::ArrowError;

use crate::arrow_order::Code;
use crate::call::{Call, failed, rows};
use crate::keys::{Numbers, first_in_order, shortened};
use crate::pack::{Pack, Words};
use crate::source::Source;
use crate::types::has_union;
use crate::{SortColumn, indices, select, ties};

pub(crate) fn lexsort_to_indices(
    call: &Call,
    columns: &[SortColumn],
    limit: Option<usize>,
) -> Result<UInt32Array, ArrowError> {
    let Some(first) = columns.first() else {
        return Err(ArrowError::InvalidArgumentError("a sort needs at least one column to sort by".into()));
    };
    let rows = rows(&first.values)? as usize;
    if columns.iter().any(|column| column.values.len() != rows) {
        return Err(ArrowError::ComputeError("lexical sort columns have different row counts".into()));
    }
    if columns.iter().any(|column| has_union(column.values.data_type())) {
        return arrow_ord::sort::lexsort_to_indices(columns, limit);
    }
    if let [column] = columns {
        let options = column.options.unwrap_or_default();
        return indices::sort_to_indices(call, &column.values, options, limit).map(UInt32Array::from);
    }
    let shown = limit.map_or(rows, |limit| limit.min(rows));
    if shown == 0 {
        return Ok(UInt32Array::from(Vec::<u32>::new()));
    }
    let (words, others) = packed(call, columns, rows)?;
    let indices = match words {
        Words::Narrow(keys) => ordered(keys, others, shown, call),
        Words::Wide(keys) => ordered(keys, others, shown, call),
    };
    indices.map(UInt32Array::from)
}

/// The leading columns as one number for each row, and the columns that are not wholly packed. Packing stops early if the columns
/// so far tell nearly all rows apart: to encode the few ties costs less than to pack another column.
fn packed<'c>(
    call: &Call,
    columns: &'c [SortColumn],
    rows: usize,
) -> Result<(Words, &'c [SortColumn]), ArrowError> {
    let mut pack = Pack::of(rows);
    for (i, column) in columns.iter().enumerate() {
        if pack.is_full() || pack.tells_rows_apart() {
            return Ok((pack.into_words(), &columns[i..]));
        }
        let options = column.options.unwrap_or_default();
        let source = Source::of(&column.values, options, call)?;
        let nulls = column.values.logical_nulls().filter(|nulls| nulls.null_count() > 0);
        if !source.keys(None).pack(nulls.as_ref(), options, &mut pack) {
            return Ok((pack.into_words(), &columns[i..]));
        }
    }
    Ok((pack.into_words(), &[]))
}

/// The first `shown` rows in the order of their keys, and of the other columns where those are equal.
fn ordered<K: Code>(
    mut keys: Vec<K>,
    others: &[SortColumn],
    shown: usize,
    call: &Call,
) -> Result<Vec<u32>, ArrowError> {
    if others.is_empty() {
        return first_in_order(Box::new(Numbers(Cow::Owned(keys))), None, shown, false, call);
    }
    let mut indices: Vec<u32> = if select::pays(shown, keys.len()) {
        // The other columns decide which of the rows whose keys equal the last one are shown.
        let positions = select::up_to(&keys, shown);
        keys = positions.iter().map(|&i| keys[i as usize]).collect();
        positions
    } else {
        (0..keys.len() as u32).collect()
    };
    call.facing(false).sort_pairs(&mut keys, &mut indices).map_err(failed)?;
    ties::settle(&keys, &mut indices, others, shown, call)?;
    Ok(shortened(indices, shown))
}
