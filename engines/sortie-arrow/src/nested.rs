//! [`replace`]: an array with parts of it replaced, at any depth.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, GenericListArray, GenericListViewArray, MapArray, OffsetSizeTrait,
    StructArray, make_array,
};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{ArrowError, DataType, Field, FieldRef};

/// Replaces the parts of an array for which `by` returns another array, or returns `None` if there are none.
///
/// `by` is called with the array itself. If it returns `None`, the parts are the values of a dictionary or of runs, the elements
/// of lists, the entries of maps and the fields of structs; unions have none. A replacement has as many values as its part, of
/// any type, and is null where the part is. It takes the memory of the replacements, and of the offsets of lists.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{Array, ArrayRef, Int32Array, ListArray, types::Int32Type};
/// use arrow_schema::{ArrowError, DataType};
///
/// let lists: ArrayRef = Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1), Some(2)])]));
/// let mut zeros = |part: &ArrayRef| match part.data_type() {
///     DataType::Int32 => Ok::<_, ArrowError>(Some(Arc::new(Int32Array::from(vec![0; part.len()])) as ArrayRef)),
///     _ => Ok(None),
/// };
/// let replaced = sortie_arrow::nested::replace(&lists, &mut zeros)?.expect("there are integers");
/// assert_eq!(
///     replaced.as_ref(),
///     &ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(0), Some(0)])])
/// );
/// # Ok::<(), ArrowError>(())
/// ```
///
/// # Errors
/// Those of `by`.
pub fn replace<E: From<ArrowError>>(
    array: &ArrayRef,
    by: &mut dyn FnMut(&ArrayRef) -> Result<Option<ArrayRef>, E>,
) -> Result<Option<ArrayRef>, E> {
    if let Some(replaced) = by(array)? {
        return Ok(Some(replaced));
    }
    match array.data_type() {
        DataType::List(field) => replace_in_list(array.as_list::<i32>(), field, by),
        DataType::LargeList(field) => replace_in_list(array.as_list::<i64>(), field, by),
        DataType::ListView(field) => replace_in_view(array.as_list_view::<i32>(), field, by),
        DataType::LargeListView(field) => replace_in_view(array.as_list_view::<i64>(), field, by),
        DataType::FixedSizeList(field, size) if *size > 0 => {
            let lists = array.as_fixed_size_list();
            let Some(values) = replace(lists.values(), by)? else { return Ok(None) };
            let nulls = lists.nulls().cloned();
            let lists = FixedSizeListArray::try_new(of_type(field, &values), *size, values, nulls)?;
            Ok(Some(Arc::new(lists)))
        }
        DataType::Map(field, sorted) => {
            let maps = array.as_map();
            let (start, offsets) = from_zero(maps.offsets());
            let entries: ArrayRef = Arc::new(maps.entries().slice(start, last(&offsets)));
            let Some(entries) = replace(&entries, by)? else { return Ok(None) };
            let field = Arc::new(Field::clone(field).with_data_type(entries.data_type().clone()));
            let entries = entries.as_struct().clone();
            let maps = MapArray::try_new(field, offsets, entries, maps.nulls().cloned(), *sorted)?;
            Ok(Some(Arc::new(maps)))
        }
        DataType::Struct(fields) => {
            let parts = array.as_struct();
            let replaced =
                parts.columns().iter().map(|part| replace(part, by)).collect::<Result<Vec<_>, E>>()?;
            if replaced.iter().all(Option::is_none) {
                return Ok(None);
            }
            let (fields, columns): (Vec<FieldRef>, Vec<ArrayRef>) = fields
                .iter()
                .zip(parts.columns().iter().zip(replaced))
                .map(|(field, (part, replaced))| match replaced {
                    Some(replaced) => (of_type(field, &replaced), replaced),
                    None => (field.clone(), part.clone()),
                })
                .unzip();
            let nulls = parts.nulls().cloned();
            let parts = StructArray::try_new_with_length(fields.into(), columns, nulls, parts.len())?;
            Ok(Some(Arc::new(parts)))
        }
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            Ok(replace(dictionary.values(), by)?.map(|values| dictionary.with_values(values)))
        }
        DataType::RunEndEncoded(ends, field) => {
            let data = array.to_data();
            let Some(values) = replace(&make_array(data.child_data()[1].clone()), by)? else {
                return Ok(None);
            };
            let dtype = DataType::RunEndEncoded(ends.clone(), of_type(field, &values));
            let children = vec![data.child_data()[0].clone(), values.to_data()];
            Ok(Some(make_array(data.into_builder().data_type(dtype).child_data(children).build()?)))
        }
        _ => Ok(None),
    }
}

fn replace_in_list<O: OffsetSizeTrait, E: From<ArrowError>>(
    lists: &GenericListArray<O>,
    field: &FieldRef,
    by: &mut dyn FnMut(&ArrayRef) -> Result<Option<ArrayRef>, E>,
) -> Result<Option<ArrayRef>, E> {
    // Of a slice, only the elements that are in it are replaced.
    let (start, offsets) = from_zero(lists.offsets());
    let values = lists.values().slice(start, last(&offsets));
    let Some(values) = replace(&values, by)? else { return Ok(None) };
    let nulls = lists.nulls().cloned();
    let lists = GenericListArray::try_new(of_type(field, &values), offsets, values, nulls)?;
    Ok(Some(Arc::new(lists)))
}

fn replace_in_view<O: OffsetSizeTrait, E: From<ArrowError>>(
    lists: &GenericListViewArray<O>,
    field: &FieldRef,
    by: &mut dyn FnMut(&ArrayRef) -> Result<Option<ArrayRef>, E>,
) -> Result<Option<ArrayRef>, E> {
    let Some(values) = replace(lists.values(), by)? else { return Ok(None) };
    let (offsets, sizes, nulls) = (lists.offsets().clone(), lists.sizes().clone(), lists.nulls().cloned());
    let lists = GenericListViewArray::try_new(of_type(field, &values), offsets, sizes, values, nulls)?;
    Ok(Some(Arc::new(lists)))
}

/// A field for other values. A dictionary whose values are null may be in a field without nulls, its replacement may not.
fn of_type(field: &FieldRef, values: &ArrayRef) -> FieldRef {
    let nullable = field.is_nullable() || values.null_count() > 0;
    Arc::new(Field::clone(field).with_data_type(values.data_type().clone()).with_nullable(nullable))
}

/// The first of some offsets, and all counted from it.
fn from_zero<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>) -> (usize, OffsetBuffer<O>) {
    let first = offsets[0];
    if first.as_usize() == 0 {
        return (0, offsets.clone());
    }
    let moved: ScalarBuffer<O> = offsets.iter().map(|&offset| offset - first).collect();
    (first.as_usize(), OffsetBuffer::new(moved))
}

fn last<O: OffsetSizeTrait>(offsets: &OffsetBuffer<O>) -> usize {
    offsets[offsets.len() - 1].as_usize()
}
