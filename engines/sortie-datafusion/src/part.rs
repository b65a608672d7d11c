//! [`Part`]: some rows, and what they are sorted by.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, RecordBatch};
use datafusion::arrow::compute::{SortColumn, cast, concat};
use datafusion::arrow::datatypes::{DataType, Field};
use datafusion::common::Result;
use datafusion::physical_expr::LexOrdering;
use datafusion::physical_expr::expressions::Column;

/// Rows of one batch, with the values of the sort expressions for them.
#[derive(Clone)]
pub(crate) struct Part {
    pub batch: RecordBatch,
    pub keys: Vec<SortColumn>,
}

impl Part {
    pub(crate) fn of(batch: RecordBatch, ordering: &LexOrdering) -> Result<Part> {
        let keys = ordering.iter().map(|key| key.evaluate_to_sort_column(&batch)).collect::<Result<_>>()?;
        Ok(Part { batch, keys })
    }

    pub(crate) fn rows(&self) -> usize {
        self.batch.num_rows()
    }

    /// The rows `start..start + rows`. Nothing is copied.
    pub(crate) fn slice(&self, start: usize, rows: usize) -> Part {
        let slice =
            |key: &SortColumn| SortColumn { values: key.values.slice(start, rows), options: key.options };
        Part { batch: self.batch.slice(start, rows), keys: self.keys.iter().map(slice).collect() }
    }

    /// The bytes of the keys that are not columns of the batch.
    pub(crate) fn computed_bytes(&self, ordering: &LexOrdering) -> usize {
        let keys = self.keys.iter().zip(ordering.iter());
        let computed = keys.filter(|(_, expression)| !expression.expr.is::<Column>());
        computed.map(|(key, _)| key.values.get_array_memory_size()).sum()
    }

    /// An estimate of the bytes that [`Sorted::of`](crate::sorted::Sorted::of) allocates for these rows: the keys as one array,
    /// and the scratch memory of `sortie-arrow`.
    pub(crate) fn scratch_bytes(&self) -> Result<usize> {
        let mut joined = 0;
        for key in &self.keys {
            joined += match joined_type(key.values.data_type()) {
                Some(DataType::Utf8View | DataType::BinaryView) => 16 * self.rows(),
                _ => key.values.to_data().get_slice_memory_size()?,
            };
        }
        let is_one_number = matches!(&self.keys[..], [key] if key.values.data_type().is_primitive());
        Ok(joined + self.rows() * if is_one_number { SCRATCH_OF_A_NUMBER } else { SCRATCH })
    }
}

/// What `sortie-arrow` allocates for a row that is sorted by one number: indices, and a copy of both.
const SCRATCH_OF_A_NUMBER: usize = 20;
/// What it allocates for a row that is sorted by strings or by several columns: references or packed columns, 16 bytes, and 28 for
/// indices and the scratch memory of the sort.
const SCRATCH: usize = 44;

/// One of the keys of all parts as one column.
pub(crate) fn joined(parts: &[Part], key: usize) -> Result<SortColumn> {
    let options = parts[0].keys[key].options;
    let values = parts.iter().map(|part| match joined_type(part.keys[key].values.data_type()) {
        Some(to) => cast(&part.keys[key].values, &to),
        None => Ok(part.keys[key].values.clone()),
    });
    let values = values.collect::<Result<Vec<ArrayRef>, _>>()?;
    let values: Vec<&dyn Array> = values.iter().map(|values| values.as_ref()).collect();
    Ok(SortColumn { values: concat(&values)?, options })
}

/// The type that arrays become before they are joined, so that the joined one has room for all rows, or `None` if theirs has.
/// Strings become views, which are joined without a copy of their bytes.
fn joined_type(of: &DataType) -> Option<DataType> {
    match of {
        DataType::Utf8 | DataType::LargeUtf8 => Some(DataType::Utf8View),
        DataType::Binary | DataType::LargeBinary => Some(DataType::BinaryView),
        DataType::Dictionary(keys, values) if keys.primitive_width() < Some(4) => {
            Some(DataType::Dictionary(Box::new(DataType::Int32), values.clone()))
        }
        DataType::RunEndEncoded(_, values) => {
            joined_type(values.data_type()).or_else(|| Some(values.data_type().clone()))
        }
        DataType::List(field) => Some(DataType::LargeList(Arc::<Field>::clone(field))),
        _ => None,
    }
}
