//! Random arrays of every type, made of cells that a test draws and shrinks.

use std::sync::Arc;

use arrow_array::builder::FixedSizeBinaryBuilder;
use arrow_array::types::*;
use arrow_array::*;
use arrow_buffer::{
    ArrowNativeType, IntervalDayTime, IntervalMonthDayNano, NullBuffer, OffsetBuffer, ScalarBuffer, i256,
};
use arrow_schema::{DataType, Field, Fields, IntervalUnit, TimeUnit};
use half::f16;

/// The seed of a value, or `None` for a null. Low seeds give special values, or values that are close to each other.
pub type Cell = Option<u16>;

/// The types of arrays that are tested.
pub fn data_types() -> Vec<DataType> {
    use DataType::*;
    let mut types = vec![
        Null,
        Boolean,
        Int8,
        Int16,
        Int32,
        Int64,
        UInt8,
        UInt16,
        UInt32,
        UInt64,
        Float16,
        Float32,
        Float64,
        Decimal32(9, 2),
        Decimal64(18, 2),
        Decimal128(38, 3),
        Decimal256(76, -3),
        Date32,
        Date64,
        Time32(TimeUnit::Second),
        Time64(TimeUnit::Nanosecond),
        Timestamp(TimeUnit::Microsecond, None),
        Timestamp(TimeUnit::Second, Some("+02:00".into())),
        Duration(TimeUnit::Millisecond),
        Interval(IntervalUnit::YearMonth),
        Interval(IntervalUnit::DayTime),
        Interval(IntervalUnit::MonthDayNano),
        Utf8,
        LargeUtf8,
        Utf8View,
        Binary,
        LargeBinary,
        BinaryView,
    ];
    types.extend([0, 1, 3, 8, 9, 16, 20].map(FixedSizeBinary));
    let of = |inner: &DataType| Arc::new(Field::new("item", inner.clone(), true));
    let nothing = Fields::from(vec![Field::new("nothing", FixedSizeBinary(0), true)]);
    for inner in [Int32, Float64, Utf8, Utf8View, Boolean, FixedSizeBinary(0), Struct(fields())] {
        types.extend([
            List(of(&inner)),
            LargeList(of(&inner)),
            ListView(of(&inner)),
            LargeListView(of(&inner)),
        ]);
        types.push(FixedSizeList(of(&inner), 2));
        types.push(Dictionary(Box::new(Int32), Box::new(inner)));
    }
    types.push(Dictionary(Box::new(Int8), Box::new(Utf8View)));
    types.push(Dictionary(Box::new(UInt64), Box::new(Decimal256(76, 0))));
    let runs = [
        (Int16, Int64),
        (Int32, Utf8),
        (Int64, Boolean),
        (Int32, Float16),
        (Int64, FixedSizeBinary(0)),
        (Int32, Dictionary(Box::new(Int32), Box::new(Utf8))),
        (Int32, Struct(fields())),
    ];
    for (ends, inner) in runs {
        types.push(RunEndEncoded(
            Arc::new(Field::new("run_ends", ends, false)),
            Arc::new(Field::new("values", inner, true)),
        ));
    }
    types.extend([Struct(fields()), Struct(nothing)]);
    types.push(List(of(&List(of(&Int16)))));
    let entries = Fields::from(vec![Field::new("key", Utf8, false), Field::new("value", Int32, true)]);
    types.push(Map(Arc::new(Field::new("entries", Struct(entries), false)), false));
    types
}

fn fields() -> Fields {
    Fields::from(vec![Field::new("a", DataType::Int32, true), Field::new("b", DataType::Utf8, true)])
}

/// The array of this type with these cells. One that is run-end encoded has up to three rows for each.
pub fn array(data_type: &DataType, cells: &[Cell]) -> ArrayRef {
    macro_rules! primitive {
        ($t:ty) => {{
            let values = cells.iter().map(|cell| cell.map(<<$t as ArrowPrimitiveType>::Native as Value>::of));
            Arc::new(PrimitiveArray::<$t>::from_iter(values).with_data_type(data_type.clone())) as ArrayRef
        }};
    }
    let texts = || cells.iter().map(|cell| cell.map(text));
    let bytes = || cells.iter().map(|cell| cell.map(|x| bytes(x, usize::from(x % 24))));
    downcast_primitive! {
        data_type => (primitive),
        DataType::Null => Arc::new(NullArray::new(cells.len())),
        DataType::Boolean => Arc::new(cells.iter().map(|cell| cell.map(|x| x % 2 == 1)).collect::<BooleanArray>()),
        DataType::Utf8 => Arc::new(texts().collect::<StringArray>()),
        DataType::LargeUtf8 => Arc::new(texts().collect::<LargeStringArray>()),
        DataType::Utf8View => Arc::new(texts().collect::<StringViewArray>()),
        DataType::Binary => Arc::new(bytes().collect::<BinaryArray>()),
        DataType::LargeBinary => Arc::new(bytes().collect::<LargeBinaryArray>()),
        DataType::BinaryView => Arc::new(bytes().collect::<BinaryViewArray>()),
        DataType::FixedSizeBinary(width) => fixed_size_binary(*width, cells),
        DataType::List(field) => list::<i32>(field, cells),
        DataType::LargeList(field) => list::<i64>(field, cells),
        DataType::ListView(field) => list_view::<i32>(field, cells),
        DataType::LargeListView(field) => list_view::<i64>(field, cells),
        DataType::FixedSizeList(field, size) => {
            let lengths = vec![*size as usize; cells.len()];
            let values = array(field.data_type(), &inner_cells(cells, &lengths));
            Arc::new(FixedSizeListArray::new(field.clone(), *size, values, nulls(cells)))
        },
        DataType::Struct(fields) => Arc::new(structs(fields, cells, nulls(cells))),
        DataType::Map(field, ordered) => {
            let lengths = lengths(cells);
            let inner: Vec<Cell> = inner_cells(cells, &lengths).into_iter().map(|cell| cell.or(Some(7))).collect();
            let DataType::Struct(fields) = field.data_type() else { unreachable!("entries are structs") };
            let offsets = OffsetBuffer::from_lengths(lengths);
            Arc::new(MapArray::new(field.clone(), offsets, structs(fields, &inner, None), nulls(cells), *ordered))
        },
        DataType::Dictionary(keys, values) => match **keys {
            DataType::Int8 => dictionary::<Int8Type>(values, cells),
            DataType::Int32 => dictionary::<Int32Type>(values, cells),
            DataType::UInt64 => dictionary::<UInt64Type>(values, cells),
            _ => unreachable!("no dictionary with keys of {keys} is tested"),
        },
        DataType::RunEndEncoded(ends, values) => match ends.data_type() {
            DataType::Int16 => runs::<Int16Type>(values.data_type(), cells),
            DataType::Int32 => runs::<Int32Type>(values.data_type(), cells),
            _ => runs::<Int64Type>(values.data_type(), cells),
        },
        other => unreachable!("no array of {other} is tested"),
    }
}

/// A value of a primitive array.
trait Value {
    fn of(x: u16) -> Self;
}

/// Small positive and negative numbers, and some that are anywhere.
fn number(x: u16) -> i64 {
    match x {
        0 => i64::MIN,
        1 => i64::MAX,
        2..64 => i64::from(x) - 32,
        _ => i64::from(x).wrapping_mul(0x9E37_79B9_7F4A_7C15_u64 as i64),
    }
}

macro_rules! integers {
    ($($t:ty),*) => {$(
        impl Value for $t {
            fn of(x: u16) -> $t {
                match x {
                    0 => <$t>::MIN,
                    1 => <$t>::MAX,
                    _ => number(x) as $t,
                }
            }
        }
    )*};
}
integers!(i8, i16, i32, i64, i128, u8, u16, u32, u64);

macro_rules! floats {
    ($($t:ty, $bits:ty, $of:expr;)*) => {$(
        impl Value for $t {
            fn of(x: u16) -> $t {
                let special = [f64::NAN, -f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 0.0, -0.0, 1.0, -1.0, 1e-7, -1e-7];
                match special.get(usize::from(x)) {
                    Some(&special) => $of(special),
                    // The high bits, so that there are numbers of all sizes, and NaNs of several kinds.
                    None => <$t>::from_bits((number(x) as u64 >> (64 - <$bits>::BITS)) as $bits),
                }
            }
        }
    )*};
}
floats! {
    f16, u16, f16::from_f64;
    f32, u32, |x| x as f32;
    f64, u64, std::convert::identity;
}

impl Value for i256 {
    fn of(x: u16) -> i256 {
        if x.is_multiple_of(3) {
            i256::from_i128(i128::of(x))
        } else {
            i256::from_parts(u128::from(x), i128::of(x % 16))
        }
    }
}

impl Value for IntervalDayTime {
    fn of(x: u16) -> Self {
        IntervalDayTime::new(i32::of(x % 8), i32::of(x / 8))
    }
}

impl Value for IntervalMonthDayNano {
    fn of(x: u16) -> Self {
        IntervalMonthDayNano::new(i32::of(x % 4), i32::of(x / 4 % 4), i64::of(x / 16))
    }
}

/// Short texts, texts that begin with others, and long ones with a prefix in common.
fn text(x: u16) -> String {
    match x {
        0 => String::new(),
        1..8 => "\0".repeat(x.into()),
        8..64 => "abc".chars().cycle().skip(usize::from(x % 3)).take(usize::from(x / 3)).collect(),
        _ => format!("{}{x:x}", "of the same beginning ".repeat(usize::from(x % 3))),
    }
}

fn bytes(x: u16, len: usize) -> Vec<u8> {
    let number = if x < 64 { u64::from(x) } else { number(x) as u64 };
    number.to_be_bytes().iter().rev().cycle().take(len).copied().collect()
}

fn fixed_size_binary(width: i32, cells: &[Cell]) -> ArrayRef {
    let mut builder = FixedSizeBinaryBuilder::new(width);
    for cell in cells {
        match cell {
            Some(x) => builder.append_value(bytes(*x, width as usize)).expect("it has that width"),
            None => builder.append_null(),
        }
    }
    Arc::new(builder.finish())
}

fn nulls(cells: &[Cell]) -> Option<NullBuffer> {
    Some(NullBuffer::from_iter(cells.iter().map(Option::is_some)))
}

/// How many elements each list has.
fn lengths(cells: &[Cell]) -> Vec<usize> {
    cells.iter().map(|cell| cell.map_or(1, |x| usize::from(x % 4))).collect()
}

/// The cells of lists of these lengths.
fn inner_cells(cells: &[Cell], lengths: &[usize]) -> Vec<Cell> {
    let of = |x: u16, i: usize| {
        let cell = x / 4 + i as u16 % 3;
        (cell % 7 != 5).then_some(cell)
    };
    cells
        .iter()
        .zip(lengths)
        .flat_map(|(cell, &length)| (0..length).map(move |i| of(cell.unwrap_or(40), i)))
        .collect()
}

fn list<O: OffsetSizeTrait>(field: &Arc<Field>, cells: &[Cell]) -> ArrayRef {
    let lengths = lengths(cells);
    let values = array(field.data_type(), &inner_cells(cells, &lengths));
    Arc::new(GenericListArray::<O>::new(
        field.clone(),
        OffsetBuffer::from_lengths(lengths),
        values,
        nulls(cells),
    ))
}

/// Lists that overlap: they are stretches of one.
fn list_view<O: OffsetSizeTrait>(field: &Arc<Field>, cells: &[Cell]) -> ArrayRef {
    let pool: Vec<Cell> = (0..40).map(|x| (x % 7 != 5).then_some(x % 9 * 5)).collect();
    let sized = |of: fn(u16) -> u16| -> ScalarBuffer<O> {
        cells.iter().map(|cell| O::usize_as(cell.map_or(0, of).into())).collect()
    };
    let (offsets, sizes) = (sized(|x| x % 36), sized(|x| x % 5));
    Arc::new(GenericListViewArray::<O>::new(
        field.clone(),
        offsets,
        sizes,
        array(field.data_type(), &pool),
        nulls(cells),
    ))
}

fn structs(fields: &Fields, cells: &[Cell], nulls: Option<NullBuffer>) -> StructArray {
    let column = |(i, field): (usize, &Arc<Field>)| {
        let part = |x: u16| if i == 0 { x % 8 } else { x / 8 };
        let cells: Vec<Cell> = cells
            .iter()
            .map(|cell| cell.map(part).filter(|x| !field.is_nullable() || x % 7 != 5))
            .map(|cell| if field.is_nullable() { cell } else { cell.or(Some(3)) })
            .collect();
        array(field.data_type(), &cells)
    };
    let columns = fields.iter().enumerate().map(column).collect();
    StructArray::new(fields.clone(), columns, nulls)
}

/// A dictionary with equal values and a null. It has more values than a small array.
fn dictionary<K: ArrowDictionaryKeyType>(values: &DataType, cells: &[Cell]) -> ArrayRef {
    let pool: Vec<Cell> = (0..50).map(|x| (x != 9).then_some(x % 40 * 37)).collect();
    let keys = cells.iter().map(|cell| cell.map(|x| K::Native::usize_as((x % 50).into())));
    let keys = PrimitiveArray::<K>::from_iter(keys);
    Arc::new(DictionaryArray::<K>::try_new(keys, array(values, &pool)).expect("keys are less than 50"))
}

fn runs<R: RunEndIndexType>(values: &DataType, cells: &[Cell]) -> ArrayRef {
    let mut end = 0;
    let ends = cells.iter().map(|cell| {
        end += usize::from(cell.unwrap_or(0) % 3) + 1;
        R::Native::usize_as(end)
    });
    let ends = PrimitiveArray::<R>::from_iter_values(ends);
    Arc::new(RunArray::<R>::try_new(&ends, &array(values, cells)).expect("ends ascend"))
}
