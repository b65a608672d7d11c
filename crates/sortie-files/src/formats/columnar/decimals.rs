//! [`Decimals`]: decimals in as many bytes as a file has for them. The writer of Parquet would use as few as the precision needs.

use std::sync::Arc;

use arrow_array::builder::FixedSizeBinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use parquet::basic::Type as Physical;
use parquet::schema::types::{SchemaDescriptor, Type};

/// The columns of decimals that are written as bytes.
pub struct Decimals {
    /// The columns as the writer gets them.
    pub schema: SchemaRef,
    /// For each of them, how many bytes a value has.
    lengths: Vec<Option<i32>>,
}

impl Decimals {
    /// Those of the columns `held`, which are to be written as `file`: both have the same columns.
    pub fn new(file: &SchemaDescriptor, held: &SchemaRef) -> Decimals {
        let columns = file.root_schema().get_fields().iter().zip(held.fields());
        let lengths: Vec<_> = columns.map(|(column, field)| length(column, field.data_type())).collect();
        let fields = held.fields().iter().zip(&lengths).map(|(field, length)| match length {
            Some(length) => Arc::new(Field::clone(field).with_data_type(DataType::FixedSizeBinary(*length))),
            None => Arc::clone(field),
        });
        let schema = Schema::new_with_metadata(fields.collect::<Vec<_>>(), held.metadata().clone());
        Decimals { schema: Arc::new(schema), lengths }
    }

    /// The values of a column as the writer gets them.
    ///
    /// # Errors
    /// None for values of the type that the column is held in.
    pub fn stored(&self, column: usize, values: ArrayRef) -> Result<ArrayRef, ArrowError> {
        let Some(length) = self.lengths[column] else { return Ok(values) };
        match values.data_type() {
            DataType::Decimal32(..) => bytes::<Decimal32Type, 4>(&values, length, i32::to_be_bytes),
            DataType::Decimal64(..) => bytes::<Decimal64Type, 8>(&values, length, i64::to_be_bytes),
            DataType::Decimal128(..) => bytes::<Decimal128Type, 16>(&values, length, i128::to_be_bytes),
            _ => bytes::<Decimal256Type, 32>(&values, length, |number| number.to_be_bytes()),
        }
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
fn bytes<T: DecimalType, const N: usize>(
    decimals: &ArrayRef,
    length: i32,
    to_bytes: impl Fn(T::Native) -> [u8; N],
) -> Result<ArrayRef, ArrowError> {
    let mut numbers = FixedSizeBinaryBuilder::with_capacity(decimals.len(), length);
    let mut number = Vec::with_capacity(length as usize);
    for value in decimals.as_primitive::<T>() {
        let Some(value) = value else {
            numbers.append_null();
            continue;
        };
        let all = to_bytes(value);
        let sign = if all[0] >= 0x80 { 0xff } else { 0 };
        number.clear();
        number.resize((length as usize).saturating_sub(N), sign);
        number.extend_from_slice(&all[N.saturating_sub(length as usize)..]);
        numbers.append_value(&number)?;
    }
    Ok(Arc::new(numbers.finish()))
}

#[cfg(test)]
mod tests {
    use arrow_array::Decimal128Array;
    use parquet::arrow::ArrowSchemaConverter;

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
            let stored = bytes::<Decimal128Type, 16>(&numbers, length, i128::to_be_bytes).unwrap();
            let stored = stored.as_fixed_size_binary();
            assert_eq!(stored.value(0), first);
            assert!(stored.is_null(1));
            assert_eq!(stored.value(2), third);
        }
    }
}
