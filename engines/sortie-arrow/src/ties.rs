//! Sorts rows with equal keys by the columns that are not wholly in the keys.

use std::ops::Range;

use arrow_array::{Array, UInt32Array};
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::ArrowError;

use crate::SortColumn;
use crate::call::Call;
use crate::keys::{Strings, first_in_order};
use crate::source::with_rows;
use crate::take::take;

/// Ties of at least this many rows are sorted as strings, smaller ones by comparison. As strings, a table of 10^6 rows takes 1.00
/// to 1.03 of the time where ties have 8 rows on average, 0.84 to 0.96 where they have 16, and 0.64 to 0.76 where they have 64.
const SORTED_AS_STRINGS: usize = 16;

/// Sorts the indices of rows by the other columns where their keys are equal. The indices are in the order of `keys` already.
/// Stable. Indices from `shown` on need not be in order. Only rows with equal keys are encoded, but all values of a dictionary.
pub(crate) fn settle<K: PartialEq>(
    keys: &[K],
    indices: &mut [u32],
    others: &[SortColumn],
    shown: usize,
    call: &Call,
) -> Result<(), ArrowError> {
    let ties = ties(keys, shown);
    if ties.is_empty() {
        return Ok(());
    }
    let tied = ties.iter().flat_map(|tie| indices[tie.clone()].iter().copied());
    let tied = UInt32Array::from(tied.collect::<Vec<u32>>());
    let encoded = encoded(others, &tied, call)?;
    let (mut start, mut order) = (0, Vec::new());
    for tie in ties {
        let rows = start..start + tie.len();
        argsort(&encoded, rows.clone(), shown - tie.start, &mut order, call)?;
        let before = &tied.values()[rows];
        indices[tie.clone()].iter_mut().zip(&order).for_each(|(index, &i)| *index = before[i as usize]);
        start += tie.len();
    }
    Ok(())
}

/// The ranges of equal keys that begin before `shown`.
fn ties<K: PartialEq>(keys: &[K], shown: usize) -> Vec<Range<usize>> {
    let mut start = 0;
    let ranges = keys.chunk_by(|a, b| a == b).map(|equal| {
        start += equal.len();
        start - equal.len()..start
    });
    ranges.take_while(|range| range.start < shown).filter(|range| range.len() > 1).collect()
}

/// These rows of the columns, as bytes in their order.
fn encoded(columns: &[SortColumn], of: &UInt32Array, call: &Call) -> Result<Rows, ArrowError> {
    let (mut fields, mut taken) = (Vec::new(), Vec::new());
    for column in columns {
        let options = column.options.unwrap_or_default();
        let rows = with_rows(&take(&column.values, of)?, options, call)?;
        fields.push(SortField::new_with_options(rows.data_type().clone(), options));
        taken.push(rows);
    }
    RowConverter::new(fields)?.convert_columns(&taken)
}

/// Writes the order of some rows, at least of the first `shown`, to `order`, as positions from the first of them.
fn argsort(
    rows: &Rows,
    of: Range<usize>,
    shown: usize,
    order: &mut Vec<u32>,
    call: &Call,
) -> Result<(), ArrowError> {
    if of.len() < SORTED_AS_STRINGS {
        let row = |i: u32| rows.row(of.start + i as usize).data();
        order.clear();
        order.extend(0..of.len() as u32);
        order.sort_by(|&a, &b| row(a).cmp(row(b)));
        return Ok(());
    }
    let strings = Strings(of.map(|i| rows.row(i).data()).collect());
    *order = first_in_order(Box::new(strings), None, shown, false, call)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_are_ranges_of_equal_keys() {
        let keys = [1, 1, 2, 3, 3, 3, 4, 4];
        assert_eq!(ties(&keys, 8), [0..2, 3..6, 6..8]);
        assert_eq!(ties(&keys, 4), [0..2, 3..6]);
        assert_eq!(ties(&keys, 2), ties(&keys[..2], 2), "later keys are not compared");
        assert!(ties::<u8>(&[], 3).is_empty());
    }
}
