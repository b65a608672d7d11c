//! Sorted arrays. Numbers are sorted directly, booleans are counted, and other values are gathered by their indices.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, ArrowPrimitiveType, BooleanArray, PrimitiveArray, downcast_primitive_array,
    new_empty_array,
};
use arrow_buffer::{BooleanBuffer, BooleanBufferBuilder, NullBuffer};
use arrow_schema::{ArrowError, DataType, SortOptions};
use sortie::Error;

use crate::arrow_order::Native;
use crate::call::{Call, Sorts, failed};
use crate::take::take;
use crate::{indices, runs};

/// All values in order, or the first of them.
pub(crate) fn sort_limit(
    call: &Call,
    values: &dyn Array,
    options: SortOptions,
    limit: Option<usize>,
) -> Result<ArrayRef, ArrowError> {
    match (limit, values.data_type()) {
        (Some(0), _) => Ok(new_empty_array(values.data_type())),
        (Some(limit), DataType::RunEndEncoded(_, _)) if limit < values.len() => {
            runs::sort(call, values, options, limit)
        }
        (Some(limit), _) if limit < values.len() => {
            take(values, &indices::sort_to_indices(call, values, options, Some(limit))?.into())
        }
        _ => sort(call, values, options),
    }
}

fn sort(call: &Call, values: &dyn Array, options: SortOptions) -> Result<ArrayRef, ArrowError> {
    if values.is_empty() {
        return Ok(new_empty_array(values.data_type()));
    }
    downcast_primitive_array!(
        values => sort_primitive(call, values, options),
        DataType::Boolean => Ok(Arc::new(sort_booleans(values.as_boolean(), options)) as ArrayRef),
        DataType::RunEndEncoded(_, _) => runs::sort(call, values, options, values.len()),
        _ => take(values, &indices::sort_to_indices(call, values, options, None)?.into()),
    )
}

fn sort_primitive<T: ArrowPrimitiveType>(
    call: &Call,
    array: &PrimitiveArray<T>,
    options: SortOptions,
) -> Result<ArrayRef, ArrowError>
where
    T::Native: Native,
{
    let nulls = array.nulls().filter(|nulls| nulls.null_count() > 0);
    let sorts = call.facing(options.descending);
    let sorted = sort_numbers(array.values(), nulls, options.nulls_first, &sorts).map_err(failed)?;
    let nulls = nulls.map(|nulls| validity(nulls.null_count(), nulls.len(), options.nulls_first));
    let sorted = PrimitiveArray::<T>::try_new(sorted.into(), nulls)?;
    Ok(Arc::new(sorted.with_data_type(array.data_type().clone())))
}

/// The numbers in order. Nulls become zeros.
fn sort_numbers<N: Native>(
    numbers: &[N],
    nulls: Option<&NullBuffer>,
    nulls_first: bool,
    sorts: &Sorts<'_>,
) -> Result<Vec<N>, Error> {
    let Some(nulls) = nulls else {
        let mut codes = N::codes(numbers).into_owned();
        sorts.sort(&mut codes)?;
        return Ok(N::from_codes(codes));
    };
    let mut codes = Vec::with_capacity(numbers.len());
    let null = N::default().code();
    if nulls_first {
        codes.resize(nulls.null_count(), null);
    }
    let start = codes.len();
    codes.extend(nulls.valid_indices().map(|i| numbers[i].code()));
    sorts.sort(&mut codes[start..])?;
    codes.resize(numbers.len(), null);
    Ok(N::from_codes(codes))
}

/// Booleans are counted.
fn sort_booleans(array: &BooleanArray, options: SortOptions) -> BooleanArray {
    let (n, nulls, trues) = (array.len(), array.null_count(), array.true_count());
    let falses = n - nulls - trues;
    let mut values = BooleanBufferBuilder::new(n);
    if options.nulls_first {
        values.append_n(nulls, false);
    }
    if options.descending {
        values.append_n(trues, true);
        values.append_n(falses, false);
    } else {
        values.append_n(falses, false);
        values.append_n(trues, true);
    }
    if !options.nulls_first {
        values.append_n(nulls, false);
    }
    BooleanArray::new(values.finish(), (nulls > 0).then(|| validity(nulls, n, options.nulls_first)))
}

/// The validity of `n` values of which the first or the last `nulls` are null.
fn validity(nulls: usize, n: usize, nulls_first: bool) -> NullBuffer {
    let is_value = |i| if nulls_first { i >= nulls } else { i < n - nulls };
    NullBuffer::new(BooleanBuffer::collect_bool(n, is_value))
}
