//! Chunks as one array, and one array as chunks, where offsets of 32 bits may not suffice.
//!
//! Text, lists and maps of Arrow have offsets of 32 bits, so an array has at most 2^31 - 1 bytes or elements, while several chunks
//! have more. [`join`] then widens the type: its offsets have 64 bits. [`split`] turns an array of a widened type back into chunks.

use std::iter::successors;
use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{BinaryType, ByteArrayType, LargeBinaryType, LargeUtf8Type, Utf8Type};
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, GenericByteArray, GenericListArray, MapArray, OffsetSizeTrait,
    StructArray, new_empty_array,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::{ArrowError, DataType, Field, FieldRef};
use arrow_select::concat::concat;

/// The most bytes or elements that offsets of 32 bits count.
const MOST: usize = i32::MAX as usize;

/// Joins chunks of a type or its [widened] type. If they are too long for offsets of 32 bits, the result has the widened type.
///
/// Takes O(n) time. Memory: the result, and 8 bytes for each string and list of a widened type.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{ArrayRef, StringArray};
/// use arrow_schema::DataType;
///
/// let chunks = ["a", "b"].map(|text| Arc::new(StringArray::from(vec![text])) as ArrayRef);
/// let joined = sortie_arrow::chunks::join(&chunks, &DataType::Utf8)?;
/// assert_eq!(joined.as_ref(), &StringArray::from(vec!["a", "b"]));
/// # Ok::<(), arrow_schema::ArrowError>(())
/// ```
///
/// # Errors
/// Those of `concat`. Dictionaries, run-end encoded arrays and list views are not widened.
pub fn join(chunks: &[ArrayRef], dtype: &DataType) -> Result<ArrayRef, ArrowError> {
    join_within(chunks, dtype, MOST)
}

/// Splits an array of a [widened] type into chunks of the type, as few as can be. An array of the type itself is one chunk.
///
/// Takes O(n) time, and 4 bytes of memory for each string and list. Bytes and elements are shared with the array.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{ArrayRef, LargeStringArray, StringArray};
/// use arrow_schema::DataType;
///
/// let array: ArrayRef = Arc::new(LargeStringArray::from(vec!["a", "b"]));
/// let chunks = sortie_arrow::chunks::split(&[array], &[DataType::Utf8])?;
/// assert_eq!(chunks[0][0].as_ref(), &StringArray::from(vec!["a", "b"]));
/// # Ok::<(), arrow_schema::ArrowError>(())
/// ```
///
/// Several arrays are the columns of a table: they have the same number of rows, and are split at the same rows. Each chunk of the
/// result has all columns.
///
/// # Errors
/// [`ArrowError::InvalidArgumentError`] if an array has neither its type nor the widened one.
pub fn split(columns: &[ArrayRef], dtypes: &[DataType]) -> Result<Vec<Vec<ArrayRef>>, ArrowError> {
    split_within(columns, dtypes, MOST)
}

/// A type with offsets of 64 bits wherever this one has offsets of 32 bits: `LargeUtf8` for `Utf8`, `LargeBinary` for `Binary`,
/// `LargeList` for `List` and `Map`, and such types within nested ones.
pub fn widened(dtype: &DataType) -> DataType {
    let within = |field: &FieldRef| -> FieldRef {
        Arc::new(Field::clone(field).with_data_type(widened(field.data_type())))
    };
    match dtype {
        DataType::Utf8 => DataType::LargeUtf8,
        DataType::Binary => DataType::LargeBinary,
        DataType::List(field) | DataType::LargeList(field) | DataType::Map(field, _) => {
            DataType::LargeList(within(field))
        }
        DataType::FixedSizeList(field, size) => DataType::FixedSizeList(within(field), *size),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(within).collect()),
        other => other.clone(),
    }
}

fn join_within(chunks: &[ArrayRef], dtype: &DataType, most: usize) -> Result<ArrayRef, ArrowError> {
    match chunks {
        [] => Ok(new_empty_array(dtype)),
        [one] => Ok(one.clone()),
        many if fit(many, dtype, most) => joined(many),
        many => {
            let wide = widened(dtype);
            joined(&many.iter().map(|chunk| retyped(chunk, &wide)).collect::<Result<Vec<_>, _>>()?)
        }
    }
}

fn joined(chunks: &[ArrayRef]) -> Result<ArrayRef, ArrowError> {
    concat(&chunks.iter().map(AsRef::as_ref).collect::<Vec<&dyn Array>>())
}

fn split_within(
    columns: &[ArrayRef],
    dtypes: &[DataType],
    most: usize,
) -> Result<Vec<Vec<ArrayRef>>, ArrowError> {
    let rows = columns.first().map_or(0, |column| column.len());
    let suffice = |start: usize, rows: usize| {
        let mut columns = columns.iter().zip(dtypes);
        columns.all(|(column, dtype)| {
            column.data_type() == dtype || fit(&[column.slice(start, rows)], dtype, most)
        })
    };
    // The row after the most rows that fit. A row came from a chunk, so it fits alone.
    let end = |start: usize| {
        let (mut fits, mut beyond) = (1, rows - start + 1);
        while beyond - fits > 1 {
            let middle = fits + (beyond - fits) / 2;
            if suffice(start, middle) { fits = middle } else { beyond = middle }
        }
        start + fits
    };
    let starts = successors(Some(0), |&start| Some(end(start)).filter(|&end| end < rows));
    let starts: Vec<usize> = if rows == 0 { vec![0] } else { starts.collect() };
    let ends = starts[1..].iter().copied().chain([rows]);
    let chunk = |(&start, end): (&usize, usize)| -> Result<Vec<ArrayRef>, ArrowError> {
        let columns = columns.iter().zip(dtypes);
        columns.map(|(column, dtype)| retyped(&column.slice(start, end - start), dtype)).collect()
    };
    starts.iter().zip(ends).map(chunk).collect()
}

/// Whether offsets of 32 bits suffice for all chunks in one array of the type.
fn fit(chunks: &[ArrayRef], dtype: &DataType, most: usize) -> bool {
    let mut sums: Vec<usize> = Vec::new();
    for chunk in chunks {
        let mut counts = Vec::new();
        count(chunk.as_ref(), dtype, &mut counts);
        sums.resize(counts.len(), 0);
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    sums.iter().all(|&sum| sum <= most)
}

/// Appends how many bytes or elements each part of the type has that has offsets of 32 bits.
fn count(array: &dyn Array, dtype: &DataType, counts: &mut Vec<usize>) {
    match dtype {
        DataType::Utf8 | DataType::Binary => counts.push(match array.data_type() {
            DataType::Utf8 => bytes_of(array.as_bytes::<Utf8Type>()),
            DataType::LargeUtf8 => bytes_of(array.as_bytes::<LargeUtf8Type>()),
            DataType::Binary => bytes_of(array.as_bytes::<BinaryType>()),
            _ => bytes_of(array.as_bytes::<LargeBinaryType>()),
        }),
        DataType::List(field) | DataType::LargeList(field) | DataType::Map(field, _) => {
            let lists = Lists::of(array);
            if !matches!(dtype, DataType::LargeList(_)) {
                counts.push(lists.values.len());
            }
            count(lists.values.as_ref(), field.data_type(), counts);
        }
        DataType::FixedSizeList(field, _) => {
            count(array.as_fixed_size_list().values(), field.data_type(), counts);
        }
        DataType::Struct(fields) => {
            let columns = array.as_struct().columns().iter().zip(fields);
            columns.for_each(|(column, field)| count(column, field.data_type(), counts));
        }
        _ => {}
    }
}

fn bytes_of<T: ByteArrayType>(array: &GenericByteArray<T>) -> usize {
    span(array.value_offsets()).len()
}

/// What lies between the first of some offsets and the last.
fn span<O: OffsetSizeTrait>(offsets: &[O]) -> Range<usize> {
    offsets[0].as_usize()..offsets[offsets.len() - 1].as_usize()
}

/// Lists of any type, or maps.
struct Lists {
    /// The elements, without those before the first list and after the last.
    values: ArrayRef,
    nulls: Option<NullBuffer>,
    /// Where the first list begins in the array's own elements.
    start: usize,
}

impl Lists {
    fn of(array: &dyn Array) -> Lists {
        let of = |span: Range<usize>, values: &dyn Array| Lists {
            values: values.slice(span.start, span.len()),
            nulls: array.nulls().cloned(),
            start: span.start,
        };
        match array.data_type() {
            DataType::List(_) => {
                let lists = array.as_list::<i32>();
                of(span(lists.value_offsets()), lists.values())
            }
            DataType::Map(_, _) => {
                let maps = array.as_map();
                of(span(maps.value_offsets()), maps.entries())
            }
            _ => {
                let lists = array.as_list::<i64>();
                of(span(lists.value_offsets()), lists.values())
            }
        }
    }

    /// The offsets of the array that these are of, from 0.
    fn offsets<O: OffsetSizeTrait>(&self, array: &dyn Array) -> OffsetBuffer<O> {
        match array.data_type() {
            DataType::List(_) => moved(array.as_list::<i32>().value_offsets(), self.start),
            DataType::Map(_, _) => moved(array.as_map().value_offsets(), self.start),
            _ => moved(array.as_list::<i64>().value_offsets(), self.start),
        }
    }
}

/// Offsets, counted from `start`, in another width that suffices.
fn moved<From: OffsetSizeTrait, To: OffsetSizeTrait>(offsets: &[From], start: usize) -> OffsetBuffer<To> {
    OffsetBuffer::new(offsets.iter().map(|offset| To::usize_as(offset.as_usize() - start)).collect())
}

/// An array in a type that differs in the width of its offsets, which suffices.
fn retyped(array: &ArrayRef, to: &DataType) -> Result<ArrayRef, ArrowError> {
    let from = array.data_type();
    if from == to {
        return Ok(array.clone());
    }
    Ok(match (from, to) {
        (DataType::Utf8, DataType::LargeUtf8) => bytes::<Utf8Type, LargeUtf8Type>(array)?,
        (DataType::LargeUtf8, DataType::Utf8) => bytes::<LargeUtf8Type, Utf8Type>(array)?,
        (DataType::Binary, DataType::LargeBinary) => bytes::<BinaryType, LargeBinaryType>(array)?,
        (DataType::LargeBinary, DataType::Binary) => bytes::<LargeBinaryType, BinaryType>(array)?,
        (DataType::List(_) | DataType::LargeList(_) | DataType::Map(_, _), DataType::List(field)) => {
            lists::<i32>(array, field)?
        }
        (DataType::List(_) | DataType::LargeList(_) | DataType::Map(_, _), DataType::LargeList(field)) => {
            lists::<i64>(array, field)?
        }
        (DataType::LargeList(_), DataType::Map(field, sorted)) => {
            let lists = Lists::of(array);
            let entries = retyped(&lists.values, field.data_type())?.as_struct().clone();
            let offsets = lists.offsets(array);
            Arc::new(MapArray::try_new(field.clone(), offsets, entries, lists.nulls, *sorted)?)
        }
        (DataType::FixedSizeList(_, _), DataType::FixedSizeList(field, size)) => {
            let lists = array.as_fixed_size_list();
            let values = retyped(lists.values(), field.data_type())?;
            Arc::new(FixedSizeListArray::try_new(field.clone(), *size, values, lists.nulls().cloned())?)
        }
        (DataType::Struct(_), DataType::Struct(fields)) => {
            let parts = array.as_struct();
            let columns = parts.columns().iter().zip(fields);
            let columns = columns.map(|(column, field)| retyped(column, field.data_type()));
            let columns = columns.collect::<Result<Vec<_>, _>>()?;
            let nulls = parts.nulls().cloned();
            Arc::new(StructArray::try_new_with_length(fields.clone(), columns, nulls, parts.len())?)
        }
        _ => {
            return Err(ArrowError::InvalidArgumentError(format!(
                "an array of {from} has no chunks of {to}; give its own type, or the one that was widened"
            )));
        }
    })
}

fn bytes<From: ByteArrayType, To: ByteArrayType>(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let array = array.as_bytes::<From>();
    let span = span(array.value_offsets());
    let values: Buffer = array.values().slice_with_length(span.start, span.len());
    let offsets = moved(array.value_offsets(), span.start);
    Ok(Arc::new(GenericByteArray::<To>::try_new(offsets, values, array.nulls().cloned())?))
}

fn lists<O: OffsetSizeTrait>(array: &ArrayRef, field: &FieldRef) -> Result<ArrayRef, ArrowError> {
    let lists = Lists::of(array);
    let values = retyped(&lists.values, field.data_type())?;
    let offsets = lists.offsets(array);
    Ok(Arc::new(GenericListArray::<O>::try_new(field.clone(), offsets, values, lists.nulls)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::builder::{ListBuilder, MapBuilder, StringBuilder};
    use arrow_array::{Int32Array, StringArray};

    fn texts(words: &[&str]) -> ArrayRef {
        Arc::new(StringArray::from(words.to_vec()))
    }

    /// Joins chunks and splits them again, where offsets count to `most`. Returns the rows of each chunk.
    fn there_and_back(chunks: &[ArrayRef], most: usize) -> Vec<usize> {
        let dtype = chunks[0].data_type();
        let wide = join_within(chunks, dtype, most).unwrap();
        let whole = joined(chunks).unwrap();
        let fits = fit(chunks, dtype, most);
        assert_eq!(wide.data_type(), &if fits { dtype.clone() } else { widened(dtype) });
        let split = split_within(&[wide], std::slice::from_ref(dtype), most).unwrap();
        let split: Vec<ArrayRef> = split.into_iter().map(|chunk| chunk[0].clone()).collect();
        assert!(split.iter().all(|chunk| fit(std::slice::from_ref(chunk), dtype, most)));
        assert_eq!(&joined(&split).unwrap(), &whole);
        split.iter().map(|chunk| chunk.len()).collect()
    }

    #[test]
    fn text_above_the_limit_becomes_several_chunks() {
        let chunks = [texts(&["abc", "d"]), texts(&["ef", "", "ghij"]).slice(1, 2)];
        assert_eq!(there_and_back(&chunks, 8), [4]);
        assert_eq!(there_and_back(&chunks, 7), [3, 1]);
        assert_eq!(there_and_back(&chunks, 4), [3, 1]);
        assert_eq!(there_and_back(&chunks[..1], 4), [2]);
    }

    #[test]
    fn lists_above_the_limit_become_several_chunks() {
        let lists = |lists: &[Option<&[&str]>]| -> ArrayRef {
            let mut builder = ListBuilder::new(StringBuilder::new());
            for list in lists {
                let list =
                    list.map(|list| list.iter().map(|word| Some(word.to_string())).collect::<Vec<_>>());
                builder.append_option(list);
            }
            Arc::new(builder.finish())
        };
        let (first, second): (&[&str], &[&str]) = (&["a", "b"], &["c"]);
        let chunks =
            [lists(&[Some(first), None]), lists(&[Some(second), Some(first), Some(second)]).slice(1, 2)];
        assert_eq!(there_and_back(&chunks, 5), [4]);
        assert_eq!(there_and_back(&chunks, 4), [3, 1]);
        assert_eq!(there_and_back(&chunks, 2), [2, 1, 1]);
        // Few lists of long words: it is the bytes that do not fit.
        let long: &[&str] = &["abcdefgh"];
        let chunks = [lists(&[Some(long)]), lists(&[Some(long)])];
        assert_eq!(there_and_back(&chunks, 8), [1, 1]);
        let fixed = |words: &[&str]| -> ArrayRef {
            let field = Arc::new(Field::new_list_field(DataType::Utf8, true));
            Arc::new(FixedSizeListArray::try_new(field, 2, texts(words), None).unwrap())
        };
        assert_eq!(there_and_back(&[fixed(&["ab", "c"]), fixed(&["d", "e"])], 3), [1, 1]);
    }

    #[test]
    fn maps_and_structs_above_the_limit_become_several_chunks() {
        let maps = |keys: &[&str]| -> ArrayRef {
            let mut builder = MapBuilder::new(None, StringBuilder::new(), StringBuilder::new());
            for key in keys {
                builder.keys().append_value(key);
                builder.values().append_value("v");
                builder.append(true).unwrap();
            }
            Arc::new(builder.finish())
        };
        assert_eq!(there_and_back(&[maps(&["a", "b"]), maps(&["c"])], 2), [2, 1]);
        let structs = |words: &[&str]| -> ArrayRef {
            let field = Arc::new(Field::new("a", DataType::Utf8, true));
            Arc::new(StructArray::from(vec![(field, texts(words))]))
        };
        assert_eq!(there_and_back(&[structs(&["ab", "c"]), structs(&["d"])], 2), [1, 2]);
    }

    #[test]
    fn columns_are_split_at_the_same_rows() {
        let words = texts(&["aa", "b", "cc"]);
        let wide = retyped(&words, &DataType::LargeUtf8).unwrap();
        let numbers: ArrayRef = Arc::new(Int32Array::from(vec![1, 2, 3]));
        let chunks = split_within(&[wide, numbers], &[DataType::Utf8, DataType::Int32], 3).unwrap();
        let rows: Vec<Vec<usize>> =
            chunks.iter().map(|chunk| chunk.iter().map(|column| column.len()).collect()).collect();
        assert_eq!(rows, [[2, 2], [1, 1]]);
        assert_eq!(&chunks[1][0], &words.slice(2, 1));
    }
}
