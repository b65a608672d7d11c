//! What an array is sorted by, in a form from which [`Keys`] can be borrowed.

use std::borrow::Cow;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, UInt32Array, downcast_integer_array, downcast_primitive_array, make_array,
};
use arrow_buffer::ArrowNativeType;
use arrow_row::{RowConverter, Rows, SortField};
use arrow_schema::{ArrowError, DataType, SortOptions};

use crate::arrow_order::{Code, Native};
use crate::call::{Call, rows};
use crate::keys::{Keys, Numbers, Strings};
use crate::types::{has_rows, has_union, is_plain};
use crate::{nested, rank, runs};

/// An array, or what replaces it in a sort. Where the array has nulls, keys are arbitrary.
pub(crate) enum Source<'a> {
    Array(&'a dyn Array),
    /// The values of a dictionary, and the index of each row's value.
    Values(&'a dyn Array, Vec<u32>),
    /// The rank of each row's value among the values of a dictionary or of runs.
    Ranks(Vec<u32>),
    /// A row of bytes for each value, for nested types.
    Rows(Rows),
}

/// The options for values within values, such as elements of lists. They are always compared in ascending order, and a descending
/// sort reverses the result. It would move their nulls to the wrong end, so `nulls_first` is inverted for it.
pub(crate) fn inner(options: SortOptions) -> SortOptions {
    SortOptions { descending: false, nulls_first: options.nulls_first != options.descending }
}

impl<'a> Source<'a> {
    /// What an array is sorted by with these options. Its keys have ascending order, whatever the direction.
    pub(crate) fn of(
        array: &'a dyn Array,
        options: SortOptions,
        call: &Call,
    ) -> Result<Source<'a>, ArrowError> {
        match array.data_type() {
            DataType::Dictionary(_, _) => of_dictionary(array, options, call),
            DataType::RunEndEncoded(_, _) => {
                Ok(Source::Ranks(runs::ranks_of_values(call, array, inner(options))?))
            }
            data_type if is_plain(data_type) => Ok(Source::Array(array)),
            data_type if has_union(data_type) => {
                Err(ArrowError::ComputeError(format!("Sort not supported for data type {data_type}")))
            }
            _ => {
                let array = with_rows(&make_array(array.to_data()), options, call)?;
                let field = SortField::new_with_options(array.data_type().clone(), inner(options));
                Ok(Source::Rows(RowConverter::new(vec![field])?.convert_columns(&[array])?))
            }
        }
    }

    /// The keys of the values with these indices, or of all.
    pub(crate) fn keys(&self, of: Option<&[u32]>) -> Box<dyn Keys<'_> + '_> {
        match self {
            Source::Array(array) => keys_of_plain(*array, of),
            Source::Values(values, indices) => match of {
                None => keys_of_plain(*values, Some(indices)),
                Some(of) => keys_of_plain(*values, Some(&gathered(indices, of))),
            },
            Source::Ranks(ranks) => numbers(ranks, of),
            Source::Rows(rows) => strings(rows.num_rows(), of, |i| rows.row(i).data()),
        }
    }
}

/// The array, or one with its order that `arrow-row` encodes: dictionaries and runs of nested values become ranks.
pub(crate) fn with_rows(array: &ArrayRef, options: SortOptions, call: &Call) -> Result<ArrayRef, ArrowError> {
    let inner = inner(options);
    let mut ranks = |part: &ArrayRef| match part.data_type() {
        DataType::Dictionary(_, _) | DataType::RunEndEncoded(_, _) if !has_rows(part.data_type()) => {
            let Source::Ranks(ranks) = Source::of(part.as_ref(), inner, call)? else {
                unreachable!("values that are nested are ranked")
            };
            Ok(Some(Arc::new(UInt32Array::new(ranks.into(), part.logical_nulls())) as ArrayRef))
        }
        _ => Ok::<_, ArrowError>(None),
    };
    Ok(nested::replace(array, &mut ranks)?.unwrap_or_else(|| array.clone()))
}

/// The ranks of a dictionary's values. If it has more values than the array has rows, the values themselves, because ranks would
/// need a sort of the whole dictionary.
fn of_dictionary<'a>(
    array: &'a dyn Array,
    options: SortOptions,
    call: &Call,
) -> Result<Source<'a>, ArrowError> {
    let dictionary = array.as_any_dictionary();
    let values = dictionary.values();
    rows(values)?;
    let mut indices = indices_of_values(dictionary.keys());
    if values.len() > array.len() && is_plain(values.data_type()) {
        return Ok(Source::Values(values, indices));
    }
    let ranks = rank::rank(call, values, inner(options))?;
    // An empty dictionary, to which only nulls refer, has no ranks.
    indices.iter_mut().for_each(|i| *i = ranks.get(*i as usize).copied().unwrap_or(0));
    Ok(Source::Ranks(indices))
}

/// The keys of a dictionary as indices. Those of nulls, which may be anything, become 0.
fn indices_of_values(keys: &dyn Array) -> Vec<u32> {
    downcast_integer_array!(
        keys => keys.iter().map(|key| key.map_or(0, |key| key.as_usize() as u32)).collect(),
        other => unreachable!("{other} is no type of keys"),
    )
}

/// The numbers at these indices.
fn gathered(numbers: &[u32], of: &[u32]) -> Vec<u32> {
    of.iter().map(|&i| numbers[i as usize]).collect()
}

/// The keys of an array that is neither nested nor encoded.
fn keys_of_plain<'a>(array: &'a dyn Array, of: Option<&[u32]>) -> Box<dyn Keys<'a> + 'a> {
    let n = array.len();
    downcast_primitive_array!(
        array => numbers(array.values(), of),
        DataType::Boolean => {
            let bits = array.as_boolean().values();
            drawn(n, of, |i| u8::from(bits.value(i)))
        },
        DataType::Utf8 => {
            let array = array.as_string::<i32>();
            strings(n, of, |i| array.value(i).as_bytes())
        },
        DataType::LargeUtf8 => {
            let array = array.as_string::<i64>();
            strings(n, of, |i| array.value(i).as_bytes())
        },
        DataType::Utf8View => {
            let array = array.as_string_view();
            strings(n, of, |i| array.value(i).as_bytes())
        },
        DataType::Binary => {
            let array = array.as_binary::<i32>();
            strings(n, of, |i| array.value(i))
        },
        DataType::LargeBinary => {
            let array = array.as_binary::<i64>();
            strings(n, of, |i| array.value(i))
        },
        DataType::BinaryView => {
            let array = array.as_binary_view();
            strings(n, of, |i| array.value(i))
        },
        DataType::FixedSizeBinary(bytes) => {
            let array = array.as_fixed_size_binary();
            match *bytes {
                ..=8 => drawn(n, of, |i| big_endian(array.value(i)) as u64),
                9..=16 => drawn(n, of, |i| big_endian(array.value(i))),
                17.. => strings(n, of, |i| array.value(i)),
            }
        },
        // All values are null, so the keys are never compared.
        DataType::Null => drawn(n, of, |_| 0u8),
        other => unreachable!("{other} is nested or encoded"),
    )
}

/// The keys of numbers. If all numbers are wanted and are integers, they are borrowed.
fn numbers<'a, N: Native>(numbers: &'a [N], of: Option<&[u32]>) -> Box<dyn Keys<'a> + 'a> {
    let codes = match of {
        None => N::codes(numbers),
        Some(of) => of.iter().map(|&i| numbers[i as usize].code()).collect(),
    };
    Box::new(Numbers(codes))
}

/// Keys that are computed.
fn drawn<'a, C: Code>(n: usize, of: Option<&[u32]>, code: impl Fn(usize) -> C) -> Box<dyn Keys<'a> + 'a> {
    Box::new(Numbers(Cow::Owned(match of {
        None => (0..n).map(code).collect::<Vec<C>>(),
        Some(of) => of.iter().map(|&i| code(i as usize)).collect(),
    })))
}

/// Keys that refer to bytes.
fn strings<'a>(n: usize, of: Option<&[u32]>, bytes: impl Fn(usize) -> &'a [u8]) -> Box<dyn Keys<'a> + 'a> {
    Box::new(Strings(match of {
        None => (0..n).map(bytes).collect(),
        Some(of) => of.iter().map(|&i| bytes(i as usize)).collect(),
    }))
}

/// Up to 16 bytes as a number.
fn big_endian(bytes: &[u8]) -> u128 {
    bytes.iter().fold(0, |number, &byte| number << 8 | u128::from(byte))
}
