//! [`copies`]: the most bytes that a sort allocates for its keys, beside the scratch of Sortie. The table of the
//! [crate](crate#time-and-memory) in code.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, DataType};

use crate::SortColumn;

/// The most bytes for a sort by these columns.
///
/// # Errors
/// [`ArrowError::InvalidArgumentError`] for types whose keys have no size that is known before they are made.
pub(crate) fn copies(columns: &[SortColumn]) -> Result<usize, ArrowError> {
    let n = columns.first().map_or(0, |column| column.values.len());
    let (mut encoded, mut largest) = (0, 0);
    for (i, column) in columns.iter().enumerate() {
        let values = &column.values;
        largest = largest.max(of_column(values)?);
        if i > 0 {
            // Rows that the first columns do not tell apart are encoded. Short strings take 34 bytes.
            let bytes = values.get_buffer_memory_size();
            encoded += bytes + bytes / 16 + if values.data_type().is_primitive() { 9 * n } else { 42 * n };
        }
    }
    // The indices; with several columns, numbers of up to 128 bits, into which they are packed, and indices again.
    Ok(largest + encoded + if columns.len() > 1 { (4 + 16 + 4) * n } else { 4 * n })
}

/// The most bytes for a sort by an array, beside its indices.
fn of_column(values: &ArrayRef) -> Result<usize, ArrowError> {
    let n = values.len();
    let of_nulls = if values.logical_null_count() > 0 { (16 + 4 + 4) * n } else { 0 };
    let of_values = match values.data_type() {
        DataType::Boolean | DataType::Null => n,
        number if number.is_integer() => 0,
        number if number.is_primitive() => number.primitive_width().unwrap_or(16) * n,
        DataType::Utf8
        | DataType::LargeUtf8
        | DataType::Utf8View
        | DataType::Binary
        | DataType::LargeBinary
        | DataType::BinaryView
        | DataType::FixedSizeBinary(_) => 16 * n,
        DataType::Dictionary(_, _) => {
            let values = values.as_any_dictionary().values();
            // Their ranks, and indices that tell which are equal.
            4 * n + of_column(values)? + (4 + 4 + 1) * values.len()
        }
        other => {
            return Err(ArrowError::InvalidArgumentError(format!(
                "memory_limit cannot be kept for {other}, whose keys have no known size; leave it out"
            )));
        }
    };
    Ok(of_nulls + of_values)
}
