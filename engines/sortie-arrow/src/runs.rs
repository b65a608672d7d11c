//! Run-end encoded arrays. Their runs are sorted, not their rows.

use std::sync::Arc;

use arrow_array::types::RunEndIndexType;
use arrow_array::{Array, ArrayRef, PrimitiveArray, RunArray, UInt32Array, downcast_run_array, make_array};
use arrow_buffer::ArrowNativeType;
use arrow_schema::{ArrowError, SortOptions};

use crate::call::{Call, rows};
use crate::take::take;
use crate::{indices, rank};

/// The runs of an array.
struct Runs {
    /// One value for each.
    values: ArrayRef,
    /// The row after the last one of each.
    ends: Vec<usize>,
}

impl Runs {
    fn of(array: &dyn Array) -> Runs {
        fn of_typed<R: RunEndIndexType>(array: &RunArray<R>) -> Runs {
            let ends = array.run_ends().sliced_values().map(|end| end.as_usize());
            Runs { values: array.values_slice(), ends: ends.collect() }
        }
        downcast_run_array!(
            array => of_typed(array),
            other => unreachable!("{other} has no runs"),
        )
    }

    /// The first row of a run.
    fn start(&self, run: usize) -> usize {
        if run == 0 { 0 } else { self.ends[run - 1] }
    }

    /// How many rows a run has: at least one.
    fn len(&self, run: usize) -> usize {
        self.ends[run] - self.start(run)
    }

    /// A number for each row: that of its run.
    fn expanded(&self, of_runs: impl Iterator<Item = u32>) -> Vec<u32> {
        let mut of_rows = Vec::with_capacity(self.ends.last().copied().unwrap_or(0));
        self.ends.iter().zip(of_runs).for_each(|(&end, number)| of_rows.resize(end, number));
        of_rows
    }

    /// The runs that hold the first `shown` rows in order, and how many of those rows each has.
    fn first(
        &self,
        call: &Call,
        options: SortOptions,
        shown: usize,
    ) -> Result<(Vec<u32>, Vec<usize>), ArrowError> {
        // No more runs are needed, and fewer if runs are long.
        let mut order = indices::sort_to_indices(call, self.values.as_ref(), options, Some(shown))?;
        let mut left = shown;
        let mut lengths: Vec<usize> = Vec::with_capacity(order.len());
        for &run in &order {
            let length = left.min(self.len(run as usize));
            if length == 0 {
                break;
            }
            left -= length;
            lengths.push(length);
        }
        order.truncate(lengths.len());
        Ok((order, lengths))
    }
}

/// The indices of the first `shown` rows in order.
pub(crate) fn sort_to_indices(
    call: &Call,
    array: &dyn Array,
    options: SortOptions,
    shown: usize,
) -> Result<Vec<u32>, ArrowError> {
    let runs = Runs::of(array);
    let (order, lengths) = runs.first(call, options, shown)?;
    let mut indices = Vec::with_capacity(shown);
    for (run, length) in order.into_iter().zip(lengths) {
        let start = runs.start(run as usize) as u32;
        indices.extend(start..start + length as u32);
    }
    Ok(indices)
}

/// An array of the same type with the first `shown` rows in order, at least one. Equal runs are not joined.
pub(crate) fn sort(
    call: &Call,
    array: &dyn Array,
    options: SortOptions,
    shown: usize,
) -> Result<ArrayRef, ArrowError> {
    let runs = Runs::of(array);
    let (order, lengths) = runs.first(call, options, shown)?;
    let values = take(&runs.values, &UInt32Array::from(order))?;
    let ends = downcast_run_array!(
        array => ends_of_type(array, &lengths),
        other => unreachable!("{other} has no runs"),
    );
    let children = vec![ends.to_data(), values.to_data()];
    let sorted = array.to_data().into_builder().offset(0).len(shown).child_data(children).build()?;
    Ok(make_array(sorted))
}

/// The ends of runs of these lengths, in the type that the array has for them.
fn ends_of_type<R: RunEndIndexType>(_: &RunArray<R>, lengths: &[usize]) -> ArrayRef {
    let mut end = 0;
    let ends = lengths.iter().map(|length| {
        end += length;
        R::Native::from_usize(end).expect("the array has at least as many rows")
    });
    Arc::new(PrimitiveArray::<R>::from_iter_values(ends))
}

/// The rank of each row. Only the runs are sorted.
pub(crate) fn ranks_of_rows(
    call: &Call,
    array: &dyn Array,
    options: SortOptions,
) -> Result<Vec<u32>, ArrowError> {
    rows(array)?;
    let runs = Runs::of(array);
    let ranks = rank::rank(call, &runs.values, options)?;
    // How many rows have each rank among the runs, and then that rank or a lower one.
    let mut rows = vec![0; ranks.len() + 1];
    ranks.iter().enumerate().for_each(|(run, &rank)| rows[rank as usize] += runs.len(run) as u32);
    let mut sum = 0;
    rows.iter_mut().for_each(|rows| {
        sum += *rows;
        *rows = sum;
    });
    Ok(runs.expanded(ranks.iter().map(|&rank| rows[rank as usize])))
}

/// For each row, the rank of its run's value among the runs.
pub(crate) fn ranks_of_values(
    call: &Call,
    array: &dyn Array,
    options: SortOptions,
) -> Result<Vec<u32>, ArrowError> {
    let runs = Runs::of(array);
    let ranks = rank::rank(call, &runs.values, options)?;
    Ok(runs.expanded(ranks.into_iter()))
}
