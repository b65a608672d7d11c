//! Arrow's types: which a file may say that the reader does not know, and how Parquet stores times.

use std::sync::Arc;

use arrow_array::ArrayRef;
use arrow_cast::{CastOptions, cast_with_options};
use arrow_ipc::{
    DateUnit, Endianness, Field as StoredField, IntervalUnit, Precision, Schema as StoredSchema,
    TimeUnit as StoredUnit, Type, UnionMode, root_as_message,
};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema, TimeUnit};

use crate::quote;

/// Refuses the types that a Parquet file says by this text, in the encoding of `ARROW:schema`, if the reader does not know them.
/// A text that is no schema is the reader's to refuse.
pub fn ensure_known_in_text(text: &str) -> Result<(), String> {
    let Ok(bytes) = base64_simd::STANDARD.decode_to_vec(text) else { return Ok(()) };
    let message = if bytes.len() > 8 && bytes[..4] == [0xff; 4] { &bytes[8..] } else { &bytes[..] };
    let schema = root_as_message(message).ok().and_then(|message| message.header_as_schema());
    schema.map_or(Ok(()), ensure_known)
}

/// Refuses the types of an Arrow file that the reader does not know.
pub fn ensure_known(schema: StoredSchema<'_>) -> Result<(), String> {
    let wrong = |field: StoredField<'_>| {
        (!is_known(field)).then(|| quote::harmless(field.name().unwrap_or_default()))
    };
    if schema.endianness() != Endianness::Little {
        return Err("its numbers have their most significant byte first, which cannot be read".into());
    }
    match schema.fields().ok_or("it has no columns")?.iter().find_map(wrong) {
        None => Ok(()),
        Some(name) => Err(format!(
            "column '{name}' has a type that Arrow did not have when this program was made; store it as another"
        )),
    }
}

fn is_known(field: StoredField<'_>) -> bool {
    let is_width = |bits: i32| matches!(bits, 8 | 16 | 32 | 64);
    let children = || field.children().map_or(0, |children| children.len());
    let is_plain = match field.type_type() {
        Type::Int => field.type_as_int().is_some_and(|int| is_width(int.bitWidth())),
        Type::FloatingPoint => field.type_as_floating_point().is_some_and(|float| {
            [Precision::HALF, Precision::SINGLE, Precision::DOUBLE].contains(&float.precision())
        }),
        Type::Date => field
            .type_as_date()
            .is_some_and(|date| [DateUnit::DAY, DateUnit::MILLISECOND].contains(&date.unit())),
        Type::Time => field.type_as_time().is_some_and(|time| {
            let fine = [StoredUnit::MICROSECOND, StoredUnit::NANOSECOND].contains(&time.unit());
            is_unit(time.unit()) && time.bitWidth() == if fine { 64 } else { 32 }
        }),
        Type::Timestamp => field.type_as_timestamp().is_some_and(|timestamp| is_unit(timestamp.unit())),
        Type::Duration => field.type_as_duration().is_some_and(|duration| is_unit(duration.unit())),
        Type::Interval => field.type_as_interval().is_some_and(|interval| {
            [IntervalUnit::YEAR_MONTH, IntervalUnit::DAY_TIME, IntervalUnit::MONTH_DAY_NANO]
                .contains(&interval.unit())
        }),
        Type::Decimal => field.type_as_decimal().is_some_and(|decimal| {
            matches!(decimal.bitWidth(), 32 | 64 | 128 | 256)
                && u8::try_from(decimal.precision()).is_ok()
                && i8::try_from(decimal.scale()).is_ok()
        }),
        Type::List | Type::LargeList | Type::ListView | Type::LargeListView | Type::Map => children() == 1,
        Type::FixedSizeList => children() == 1 && field.type_as_fixed_size_list().is_some(),
        Type::RunEndEncoded => children() == 2,
        Type::Union => field
            .type_as_union()
            .is_some_and(|union| [UnionMode::Dense, UnionMode::Sparse].contains(&union.mode())),
        Type::FixedSizeBinary => field.type_as_fixed_size_binary().is_some(),
        other => other != Type::NONE && other.variant_name().is_some(),
    };
    let is_index = |index: arrow_ipc::Int<'_>| is_width(index.bitWidth());
    let has_index = field.dictionary().is_none_or(|dictionary| dictionary.indexType().is_some_and(is_index));
    is_plain && has_index && field.children().is_none_or(|children| children.iter().all(is_known))
}

fn is_unit(unit: StoredUnit) -> bool {
    [StoredUnit::SECOND, StoredUnit::MILLISECOND, StoredUnit::MICROSECOND, StoredUnit::NANOSECOND]
        .contains(&unit)
}

/// The schema with times of day and timestamps in milliseconds instead of seconds: Parquet has no unit for seconds.
pub fn in_milliseconds(schema: &Schema) -> Schema {
    let fields: Vec<FieldRef> = schema.fields().iter().map(field_in_milliseconds).collect();
    Schema::new_with_metadata(fields, schema.metadata().clone())
}

fn field_in_milliseconds(field: &FieldRef) -> FieldRef {
    Arc::new(Field::clone(field).with_data_type(type_in_milliseconds(field.data_type())))
}

fn type_in_milliseconds(dtype: &DataType) -> DataType {
    let within = field_in_milliseconds;
    match dtype {
        DataType::Timestamp(TimeUnit::Second, zone) => {
            DataType::Timestamp(TimeUnit::Millisecond, zone.clone())
        }
        DataType::Time32(TimeUnit::Second) => DataType::Time32(TimeUnit::Millisecond),
        DataType::List(field) => DataType::List(within(field)),
        DataType::LargeList(field) => DataType::LargeList(within(field)),
        DataType::FixedSizeList(field, size) => DataType::FixedSizeList(within(field), *size),
        DataType::Map(field, is_sorted) => DataType::Map(within(field), *is_sorted),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(within).collect()),
        DataType::Dictionary(index, values) => {
            DataType::Dictionary(index.clone(), Box::new(type_in_milliseconds(values)))
        }
        other => other.clone(),
    }
}

/// The values as this type, which differs from their own in the unit of times at most.
///
/// # Errors
/// If a number of milliseconds does not fit.
pub fn as_type(values: ArrayRef, dtype: &DataType) -> Result<ArrayRef, ArrowError> {
    match values.data_type() == dtype {
        true => Ok(values),
        false => cast_with_options(&values, dtype, &CastOptions { safe: false, ..CastOptions::default() }),
    }
}
