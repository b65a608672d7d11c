//! What can be done with arrays of a type.

use arrow_row::{RowConverter, SortField};
use arrow_schema::DataType;

/// Whether keys can be read from an array of this type without a replacement.
pub(crate) fn is_plain(data_type: &DataType) -> bool {
    !data_type.is_nested() && !matches!(data_type, DataType::Dictionary(_, _) | DataType::RunEndEncoded(_, _))
}

/// Whether `arrow-row` has rows for this type.
pub(crate) fn has_rows(data_type: &DataType) -> bool {
    RowConverter::supports_fields(&[SortField::new(data_type.clone())])
}

/// Whether a type contains unions. `arrow-ord` and `arrow-row` order unions with nulls differently.
pub(crate) fn has_union(data_type: &DataType) -> bool {
    contains(data_type, |part| matches!(part, DataType::Union(_, _)))
}

/// Whether a type contains values of no bytes, whose buffer does not say how many there are.
pub(crate) fn has_values_without_bytes(data_type: &DataType) -> bool {
    contains(data_type, |part| matches!(part, DataType::FixedSizeBinary(0)))
}

/// Whether a type or one within it is of some kind: an element of a list, a field of a struct or union, a value of a dictionary.
///
/// ```
/// use arrow_schema::DataType;
///
/// let list = DataType::new_list(DataType::Float32, true);
/// assert!(sortie_arrow::contains(&list, DataType::is_floating));
/// assert!(!sortie_arrow::contains(&list, DataType::is_integer));
/// ```
pub fn contains(data_type: &DataType, is: fn(&DataType) -> bool) -> bool {
    is(data_type)
        || match data_type {
            DataType::List(field)
            | DataType::LargeList(field)
            | DataType::ListView(field)
            | DataType::LargeListView(field)
            | DataType::FixedSizeList(field, _)
            | DataType::Map(field, _)
            | DataType::RunEndEncoded(_, field) => contains(field.data_type(), is),
            DataType::Struct(fields) => fields.iter().any(|field| contains(field.data_type(), is)),
            DataType::Union(fields, _) => fields.iter().any(|(_, field)| contains(field.data_type(), is)),
            DataType::Dictionary(_, values) => contains(values, is),
            _ => false,
        }
}
