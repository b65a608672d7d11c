//! [`compacted`]: views without the bytes that they do not refer to.
//!
//! A view of a string refers to a buffer. Selected rows share the buffers of all batches that they come from, however few bytes of
//! them they need. Whoever sends or stores a batch copies its buffers whole.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::ByteViewType;
use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, GenericByteViewArray, GenericListArray, MapArray, OffsetSizeTrait,
    StructArray,
};
use arrow_buffer::Buffer;
use arrow_schema::DataType;

/// The same values. Views of strings, at any depth, are copied if their buffers have more than 1.2 times the bytes that the views need.
///
/// ```
/// use std::sync::Arc;
/// use arrow_array::{Array, StringViewArray};
///
/// let all: StringViewArray = (0..100).map(|i| Some(format!("more than twelve bytes: {i}"))).collect();
/// let one = sortie_arrow::compacted(Arc::new(all.slice(7, 1)));
/// assert!(one.get_buffer_memory_size() < all.get_buffer_memory_size() / 10);
/// ```
pub fn compacted(array: ArrayRef) -> ArrayRef {
    match array.data_type() {
        DataType::Utf8View => compact_views(array.as_string_view()).map_or(array, |views| Arc::new(views)),
        DataType::BinaryView => compact_views(array.as_binary_view()).map_or(array, |views| Arc::new(views)),
        nested if !has_views(nested) => array,
        DataType::List(_) => compact_list::<i32>(&array),
        DataType::LargeList(_) => compact_list::<i64>(&array),
        DataType::FixedSizeList(field, size) => {
            let list = array.as_fixed_size_list();
            let items = compacted(Arc::clone(list.values()));
            Arc::new(FixedSizeListArray::new(Arc::clone(field), *size, items, list.nulls().cloned()))
        }
        DataType::Struct(_) => Arc::new(compact_struct(array.as_struct())),
        DataType::Map(_, _) => {
            let (field, offsets, entries, nulls, is_sorted) = array.as_map().clone().into_parts();
            Arc::new(MapArray::new(field, offsets, compact_struct(&entries), nulls, is_sorted))
        }
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            dictionary.with_values(compacted(Arc::clone(dictionary.values())))
        }
        _ => array,
    }
}

fn has_views(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8View | DataType::BinaryView => true,
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => has_views(field.data_type()),
        DataType::Struct(fields) => fields.iter().any(|field| has_views(field.data_type())),
        DataType::Dictionary(_, values) => has_views(values),
        _ => false,
    }
}

/// The views with a buffer of their own, unless theirs has little else.
fn compact_views<T: ByteViewType + ?Sized>(
    views: &GenericByteViewArray<T>,
) -> Option<GenericByteViewArray<T>> {
    let held: usize = views.data_buffers().iter().map(Buffer::len).sum();
    let needed = views.total_buffer_bytes_used();
    (needed + needed / 5 < held).then(|| views.gc())
}

fn compact_list<O: OffsetSizeTrait>(array: &ArrayRef) -> ArrayRef {
    let (field, offsets, items, nulls) = array.as_list::<O>().clone().into_parts();
    Arc::new(GenericListArray::<O>::new(field, offsets, compacted(items), nulls))
}

fn compact_struct(array: &StructArray) -> StructArray {
    let (fields, columns, nulls) = array.clone().into_parts();
    let columns = columns.into_iter().map(compacted).collect();
    StructArray::try_new_with_length(fields, columns, nulls, array.len())
        .expect("compacted columns have the type and length that they had")
}

#[cfg(test)]
mod tests {
    use arrow_array::types::Int32Type;
    use arrow_array::{
        BinaryViewArray, DictionaryArray, Int32Array, LargeListArray, ListArray, StringViewArray,
    };
    use arrow_buffer::OffsetBuffer;
    use arrow_schema::{Field, Fields};

    use super::*;

    const ROWS: usize = 50;

    /// Every hundredth of many strings.
    fn few_of_many() -> StringViewArray {
        let all: StringViewArray = (0..5000).map(|i| Some(format!("a long enough string {i}"))).collect();
        let rows = Int32Array::from_iter_values((0..5000).step_by(100));
        arrow_select::take::take(&all, &rows, None).unwrap().as_string_view().clone()
    }

    fn nested(views: ArrayRef) -> Vec<ArrayRef> {
        let item = Arc::new(Field::new("item", views.data_type().clone(), true));
        let columns = Fields::from(vec![
            Field::new("key", DataType::Utf8View, false),
            Field::new("value", DataType::Utf8View, true),
        ]);
        let pairs = || StructArray::new(columns.clone(), vec![Arc::clone(&views), Arc::clone(&views)], None);
        let entries = Arc::new(Field::new("entries", DataType::Struct(columns.clone()), false));
        let keys = Int32Array::from_iter_values(0..ROWS as i32);
        vec![
            Arc::new(ListArray::new(
                Arc::clone(&item),
                OffsetBuffer::from_lengths([20, 0, 30]),
                Arc::clone(&views),
                None,
            )),
            Arc::new(LargeListArray::new(
                Arc::clone(&item),
                OffsetBuffer::from_lengths([ROWS]),
                Arc::clone(&views),
                None,
            )),
            Arc::new(FixedSizeListArray::new(Arc::clone(&item), 5, Arc::clone(&views), None)),
            Arc::new(pairs()),
            Arc::new(MapArray::new(entries, OffsetBuffer::from_lengths([20, 30]), pairs(), None, false)),
            Arc::new(DictionaryArray::<Int32Type>::new(keys, Arc::clone(&views))),
            views,
        ]
    }

    #[test]
    fn views_at_any_depth_get_buffers_of_their_own() {
        for array in nested(Arc::new(few_of_many())) {
            let compact = compacted(Arc::clone(&array));
            assert_eq!(&compact, &array);
            let (before, after) = (array.get_buffer_memory_size(), compact.get_buffer_memory_size());
            assert!(before > 100_000 && after < 10_000, "{}: {after} of {before} bytes", array.data_type());
        }
    }

    #[test]
    fn views_that_need_most_of_their_buffers_are_left_alone() {
        let views: BinaryViewArray = (0..ROWS).map(|i| Some(format!("a long enough string {i}"))).collect();
        let array: ArrayRef = Arc::new(views.slice(0, 45));
        let compact = compacted(Arc::clone(&array));
        assert!(Arc::ptr_eq(&compact, &array));
        let array: ArrayRef = Arc::new(views.slice(0, 30));
        assert!(compacted(Arc::clone(&array)).get_buffer_memory_size() < array.get_buffer_memory_size());
    }
}
