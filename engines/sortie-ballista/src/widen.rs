//! [`Widened`]: the columns of a table whose files have other types for the same column.
//!
//! A column gets the narrowest type that has all values of both files without loss. There is none for integers and floats, for
//! instance, or for strings and bytes.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::arrow::datatypes::{
    DECIMAL128_MAX_PRECISION, DECIMAL256_MAX_PRECISION, DataType, Field, FieldRef, Schema, TimeUnit,
};
use datafusion::common::{Result, exec_err};

/// The columns of the files so far, and a file that each is in.
pub(crate) struct Widened {
    fields: Vec<(Field, String)>,
    is_wider: bool,
}

impl Widened {
    pub(crate) fn new(schema: &Schema, file: &str) -> Widened {
        let fields = schema.fields().iter().map(|field| (described_by_none(field), file.to_owned()));
        Widened { fields: fields.collect(), is_wider: false }
    }

    /// Adds the columns of a file. Columns that not all files have are null in the others.
    pub(crate) fn add(&mut self, schema: &Schema, file: &str) -> Result<()> {
        for field in schema.fields() {
            let Some((known, first)) = self.fields.iter_mut().find(|(known, _)| known.name() == field.name())
            else {
                self.fields.push((described_by_none(field).with_nullable(true), file.to_owned()));
                self.is_wider = true;
                continue;
            };
            if known.data_type() != field.data_type() {
                let Some(wide) = wider(known.data_type(), field.data_type()) else {
                    return exec_err!(
                        "column `{}` is {} in {first}, but {} in {file}, and no type holds both; write one of the files anew",
                        field.name(),
                        known.data_type(),
                        field.data_type()
                    );
                };
                known.set_data_type(wide);
                self.is_wider = true;
            }
            known.set_nullable(known.is_nullable() || field.is_nullable());
        }
        for (known, _) in &mut self.fields {
            if schema.index_of(known.name()).is_err() && !known.is_nullable() {
                known.set_nullable(true);
                self.is_wider = true;
            }
        }
        Ok(())
    }

    /// The columns of the table, if files have other columns than the table.
    pub(crate) fn finish(self) -> Option<Arc<Schema>> {
        let fields: Vec<Field> = self.fields.into_iter().map(|(field, _)| field).collect();
        self.is_wider.then(|| Arc::new(Schema::new(fields)))
    }
}

/// A field without its metadata, which may be true of one file only.
fn described_by_none(field: &Field) -> Field {
    field.clone().with_metadata(HashMap::new())
}

/// The narrowest type that holds the values of both, without loss.
fn wider(a: &DataType, b: &DataType) -> Option<DataType> {
    use DataType::*;
    if a == b {
        return Some(a.clone());
    }
    Some(match (a, b) {
        (Null, other) | (other, Null) => other.clone(),
        (Dictionary(_, a), Dictionary(_, b)) => wider(a, b)?,
        (Dictionary(_, a), b) => wider(a, b)?,
        (a, Dictionary(_, b)) => wider(a, b)?,
        _ if a.is_integer() && b.is_integer() => wider_integer(a, b)?,
        _ if a.is_floating() && b.is_floating() => match a == &Float64 || b == &Float64 {
            true => Float64,
            false => Float32,
        },
        _ if a.is_decimal() && b.is_decimal() => wider_decimal(decimal(a)?, decimal(b)?)?,
        _ if a.is_string() && b.is_string() => match a == &LargeUtf8 || b == &LargeUtf8 {
            true => LargeUtf8,
            false => Utf8View,
        },
        _ if is_binary(a) && is_binary(b) => match a == &LargeBinary || b == &LargeBinary {
            true => LargeBinary,
            false => BinaryView,
        },
        (Timestamp(a, a_zone), Timestamp(b, b_zone)) if a_zone.is_some() == b_zone.is_some() => {
            // The instants are the same in each zone.
            let zone = match a_zone == b_zone {
                true => a_zone.clone(),
                false => Some("UTC".into()),
            };
            Timestamp(*finer(a, b), zone)
        }
        (Time32(a) | Time64(a), Time32(b) | Time64(b)) => match *finer(a, b) {
            unit @ (TimeUnit::Second | TimeUnit::Millisecond) => Time32(unit),
            unit => Time64(unit),
        },
        (Duration(a), Duration(b)) => Duration(*finer(a, b)),
        (Date32, Date64) | (Date64, Date32) => Date64,
        (List(a), List(b)) => List(wider_field(a, b)?),
        (List(a) | LargeList(a), List(b) | LargeList(b)) => LargeList(wider_field(a, b)?),
        (Struct(a), Struct(b)) if a.len() == b.len() => {
            let fields = a.iter().map(|a| wider_field(a, b.iter().find(|b| b.name() == a.name())?));
            Struct(fields.collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

fn wider_field(a: &FieldRef, b: &FieldRef) -> Option<FieldRef> {
    let wide = wider(a.data_type(), b.data_type())?;
    Some(Arc::new(a.as_ref().clone().with_data_type(wide).with_nullable(a.is_nullable() || b.is_nullable())))
}

fn is_binary(data_type: &DataType) -> bool {
    data_type.is_binary() || matches!(data_type, DataType::FixedSizeBinary(_))
}

fn wider_integer(a: &DataType, b: &DataType) -> Option<DataType> {
    let bits = |data_type: &DataType| data_type.primitive_width().map(|bytes| 8 * bytes);
    let (a_bits, b_bits) = (bits(a)?, bits(b)?);
    let is_signed = a.is_signed_integer() || b.is_signed_integer();
    // The sign of an integer takes a bit that an unsigned one uses.
    let signed_bits = |data_type: &DataType, bits| bits + usize::from(data_type.is_unsigned_integer());
    Some(match (is_signed, signed_bits(a, a_bits).max(signed_bits(b, b_bits))) {
        (false, _) if a_bits > b_bits => a.clone(),
        (false, _) => b.clone(),
        (true, ..=8) => DataType::Int8,
        (true, ..=16) => DataType::Int16,
        (true, ..=32) => DataType::Int32,
        (true, ..=64) => DataType::Int64,
        (true, _) => return None,
    })
}

/// The precision and the scale.
fn decimal(data_type: &DataType) -> Option<(u8, i8)> {
    match *data_type {
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => Some((precision, scale)),
        _ => None,
    }
}

fn wider_decimal(a: (u8, i8), b: (u8, i8)) -> Option<DataType> {
    let whole = |(precision, scale): (u8, i8)| i16::from(precision) - i16::from(scale);
    let scale = a.1.max(b.1);
    let precision = u8::try_from(whole(a).max(whole(b)) + i16::from(scale)).ok()?;
    match precision <= DECIMAL128_MAX_PRECISION {
        true => Some(DataType::Decimal128(precision, scale)),
        false => (precision <= DECIMAL256_MAX_PRECISION).then_some(DataType::Decimal256(precision, scale)),
    }
}

fn finer<'a>(a: &'a TimeUnit, b: &'a TimeUnit) -> &'a TimeUnit {
    a.max(b)
}

#[cfg(test)]
mod tests {
    use DataType::*;

    use super::*;

    #[test]
    fn types_are_widened_without_loss() {
        let text = |key| Dictionary(Box::new(key), Box::new(Utf8));
        let zoned = |unit, zone: &str| Timestamp(unit, Some(zone.into()));
        let cases = [
            (Int32, Int64, Some(Int64)),
            (UInt8, UInt32, Some(UInt32)),
            (UInt32, Int32, Some(Int64)),
            (UInt8, Int8, Some(Int16)),
            (UInt64, Int64, None),
            (Int32, Float64, None),
            (Float16, Float32, Some(Float32)),
            (Utf8, LargeUtf8, Some(LargeUtf8)),
            (Utf8View, Utf8, Some(Utf8View)),
            (text(Int8), Utf8, Some(Utf8)),
            (text(Int8), text(Int32), Some(Utf8)),
            (Binary, FixedSizeBinary(16), Some(BinaryView)),
            (Utf8, Binary, None),
            (Decimal128(9, 2), Decimal128(12, 4), Some(Decimal128(12, 4))),
            (Decimal128(38, 0), Decimal128(10, 9), Some(Decimal256(47, 9))),
            (Decimal256(76, 0), Decimal128(10, 9), None),
            (
                zoned(TimeUnit::Second, "UTC"),
                zoned(TimeUnit::Microsecond, "Asia/Tokyo"),
                Some(zoned(TimeUnit::Microsecond, "UTC")),
            ),
            (zoned(TimeUnit::Second, "UTC"), Timestamp(TimeUnit::Second, None), None),
            (Time32(TimeUnit::Second), Time64(TimeUnit::Nanosecond), Some(Time64(TimeUnit::Nanosecond))),
            (Null, Int8, Some(Int8)),
            (
                List(Arc::new(Field::new("item", Int32, false))),
                List(Arc::new(Field::new("item", Int64, true))),
                Some(List(Arc::new(Field::new("item", Int64, true)))),
            ),
        ];
        for (a, b, wide) in cases {
            assert_eq!(wider(&a, &b), wide, "{a} and {b}");
            assert_eq!(wider(&b, &a).is_some(), wide.is_some(), "{b} and {a}");
        }
    }

    #[test]
    fn types_that_no_type_holds_are_named_with_two_files() {
        let schema = |data_type| Schema::new(vec![Field::new("x", data_type, false)]);
        let mut table = Widened::new(&schema(Int32), "a.parquet");
        table.add(&schema(Int64), "b.parquet").unwrap();
        let error = table.add(&schema(Utf8), "c.parquet").unwrap_err().to_string();
        assert!(error.contains("`x` is Int64 in a.parquet, but Utf8 in c.parquet"), "{error}");
    }

    #[test]
    fn columns_that_a_file_lacks_are_null_there() {
        let schema = |name: &str| Schema::new(vec![Field::new(name, Int32, false)]);
        let mut table = Widened::new(&schema("a"), "a.parquet");
        table.add(&schema("b"), "b.parquet").unwrap();
        let table = table.finish().unwrap();
        assert!(table.fields().iter().all(|field| field.is_nullable()) && table.fields().len() == 2);
    }
}
