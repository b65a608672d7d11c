//! [`Decimals`]: decimals in as many bytes as a file has for them. The writer of Parquet would use as few as the precision needs.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, FixedSizeBinaryBuilder, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Decimal256Type, Field, Schema, SchemaRef};
use datafusion::common::Result;
use datafusion::parquet::basic::Type as Physical;
use datafusion::parquet::schema::types::{SchemaDescriptor, Type};

/// Which columns are written as bytes.
pub(crate) struct Decimals {
    /// The columns as the writer gets them.
    pub schema: SchemaRef,
    /// For each of them, how many bytes a value has.
    lengths: Vec<Option<i32>>,
}

impl Decimals {
    /// Those of the columns `held`, which are to be written as `file`.
    pub(crate) fn new(file: &SchemaDescriptor, held: &SchemaRef) -> Decimals {
        let columns = file.root_schema().get_fields().iter().zip(held.fields());
        let lengths: Vec<_> = columns.map(|(column, field)| length(column, field.data_type())).collect();
        let fields = held.fields().iter().zip(&lengths).map(|(field, length)| match length {
            Some(length) => Arc::new(Field::clone(field).with_data_type(DataType::FixedSizeBinary(*length))),
            None => Arc::clone(field),
        });
        let schema = Schema::new_with_metadata(fields.collect::<Vec<_>>(), held.metadata().clone());
        Decimals { schema: Arc::new(schema), lengths }
    }

    pub(crate) fn stored(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let columns = batch.columns().iter().zip(&self.lengths).map(|(column, length)| match length {
            Some(length) => bytes(column, *length),
            None => Ok(Arc::clone(column)),
        });
        Ok(RecordBatch::try_new(Arc::clone(&self.schema), columns.collect::<Result<_>>()?)?)
    }
}

/// How many bytes the column has for a decimal, if they are not as many as the precision needs.
fn length(column: &Type, held: &DataType) -> Option<i32> {
    let (DataType::Decimal32(precision, _)
    | DataType::Decimal64(precision, _)
    | DataType::Decimal128(precision, _)
    | DataType::Decimal256(precision, _)) = held
    else {
        return None;
    };
    match column {
        Type::PrimitiveType { physical_type: Physical::FIXED_LEN_BYTE_ARRAY, type_length, .. } => {
            Some(*type_length).filter(|&length| length != needed(*precision))
        }
        _ => None,
    }
}

/// How many bytes the writer of Parquet uses for a number with this many digits and its sign.
fn needed(precision: u8) -> i32 {
    ((f64::from(precision) * std::f64::consts::LOG2_10 + 1.0) / 8.0).ceil() as i32
}

/// The numbers, each in this many bytes, the most significant first.
fn bytes(decimals: &ArrayRef, length: i32) -> Result<ArrayRef> {
    let (DataType::Decimal32(precision, scale)
    | DataType::Decimal64(precision, scale)
    | DataType::Decimal128(precision, scale)
    | DataType::Decimal256(precision, scale)) = *decimals.data_type()
    else {
        return Ok(Arc::clone(decimals));
    };
    let wide = cast(decimals, &DataType::Decimal256(precision, scale))?;
    let mut numbers = FixedSizeBinaryBuilder::with_capacity(wide.len(), length);
    let mut bytes = Vec::with_capacity(length as usize);
    for number in wide.as_primitive::<Decimal256Type>() {
        let Some(number) = number else {
            numbers.append_null();
            continue;
        };
        let all = number.to_be_bytes();
        let sign = if number.is_negative() { 0xff } else { 0 };
        bytes.clear();
        bytes.resize((length as usize).saturating_sub(all.len()), sign);
        bytes.extend_from_slice(&all[all.len().saturating_sub(length as usize)..]);
        numbers.append_value(&bytes)?;
    }
    Ok(Arc::new(numbers.finish()))
}

#[cfg(test)]
mod tests {
    use datafusion::arrow::array::Decimal128Array;
    use datafusion::parquet::arrow::ArrowSchemaConverter;

    use super::*;

    #[test]
    fn the_writer_uses_as_many_bytes_as_needed() {
        // With fewer digits, it uses other types.
        for precision in 19..=76 {
            let field = Field::new("x", DataType::Decimal256(precision, 0), false);
            let column = ArrowSchemaConverter::new().convert(&Schema::new(vec![field])).unwrap().column(0);
            assert_eq!(column.type_length(), needed(precision));
        }
    }

    #[test]
    fn numbers_have_as_many_bytes_as_are_asked_for() {
        let numbers = Decimal128Array::from(vec![Some(1), None, Some(-2), Some(300)]);
        let numbers: ArrayRef = Arc::new(numbers.with_precision_and_scale(5, 2).unwrap());
        for (length, first, third) in [
            (2, vec![0, 1], vec![255, 254]),
            (33, [vec![0; 32], vec![1]].concat(), [vec![255; 32], vec![254]].concat()),
        ] {
            let stored = bytes(&numbers, length).unwrap();
            let stored = stored.as_fixed_size_binary();
            assert_eq!(stored.value(0), first);
            assert!(stored.is_null(1));
            assert_eq!(stored.value(2), third);
        }
    }
}
