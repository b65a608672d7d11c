//! How Parquet files store columns, and what they say of their order.
//!
//! Arrow knows fewer types than Parquet, so a result gets the columns of the input's file, not those that follow from the rows in
//! memory. Programs trust what a file says about its order, so it only has keys for which all of them have the same order.

use std::sync::Arc;

use arrow_schema::{DataType, Field, FieldRef, IntervalUnit, Schema, SortOptions};
use parquet::arrow::{ArrowSchemaConverter, parquet_to_arrow_schema};
use parquet::basic::{ConvertedType, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::metadata::SortingColumn;
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor, Type, TypePtr};

use super::keys::Key;

/// The columns of a file that has columns in memory with these types: those of another file, where they can be written so.
pub fn columns(file: Option<&SchemaDescriptor>, held: &Schema) -> Result<SchemaDescriptor, ParquetError> {
    let of_file = |index: usize| file.map(|file| &file.root_schema().get_fields()[index]);
    let columns = held.fields().iter().enumerate().map(|(index, field)| column(of_file(index), field));
    let columns = columns.collect::<Result<_, _>>()?;
    let name = file.map_or("schema", |file| file.root_schema().name());
    Ok(SchemaDescriptor::new(Arc::new(Type::group_type_builder(name).with_fields(columns).build()?)))
}

/// The column of a file for values that have this type in memory: that of another file, or if they cannot be written so, as follows
/// from the type.
///
/// # Errors
/// If Parquet has no such type.
pub fn column(file: Option<&TypePtr>, field: &FieldRef) -> Result<TypePtr, ParquetError> {
    let one = Schema::new(vec![Arc::clone(field)]);
    let named = |why: &dyn std::fmt::Display| {
        let name = crate::quote::harmless(field.name());
        ParquetError::General(format!("column '{name}' cannot be stored in Parquet: {why}"))
    };
    if leaves(field.data_type()).contains(&&DataType::Interval(IntervalUnit::MonthDayNano)) {
        return Err(named(&"it has intervals of nanoseconds"));
    }
    let of_memory = ArrowSchemaConverter::new().with_coerce_types(true).convert(&one);
    let of_memory = of_memory.map_err(|error| named(&error))?;
    match file {
        Some(column) if holds(&single(column)?, &of_memory, field)? => Ok(Arc::clone(column)),
        _ => Ok(Arc::clone(&of_memory.root_schema().get_fields()[0])),
    }
}

fn single(column: &TypePtr) -> Result<SchemaDescriptor, ParquetError> {
    let root = Type::group_type_builder("schema").with_fields(vec![Arc::clone(column)]).build()?;
    Ok(SchemaDescriptor::new(Arc::new(root)))
}

/// Whether the values of a column in memory, which `of_memory` is made for, can be written as the column of a file.
fn holds(
    of_file: &SchemaDescriptor,
    of_memory: &SchemaDescriptor,
    field: &Field,
) -> Result<bool, ParquetError> {
    let (a, b) = (of_file.columns(), of_memory.columns());
    let natural = parquet_to_arrow_schema(of_file, None)?;
    let (read, held) = (leaves(natural.field(0).data_type()), leaves(field.data_type()));
    let is_flat = a.len() == 1 && a[0].max_rep_level() == 0 && a[0].path().parts().len() == 1;
    let levels = |column: &ColumnDescPtr| (column.max_def_level(), column.max_rep_level());
    let storage = |column: &ColumnDescPtr| (column.physical_type(), column.type_length());
    Ok(a.len() == b.len()
        && a.len() == held.len()
        && a.len() == read.len()
        && (0..a.len()).all(|leaf| {
            levels(&a[leaf]) == levels(&b[leaf])
                && is_of_one_unit(read[leaf], held[leaf])
                && match a[leaf].physical_type() {
                    Physical::INT32 | Physical::INT64 if held[leaf].is_decimal() => true,
                    Physical::FIXED_LEN_BYTE_ARRAY if held[leaf].is_decimal() && is_flat => true,
                    _ => storage(&a[leaf]) == storage(&b[leaf]),
                }
        }))
}

/// The types of a column's leaves, in the order of Parquet.
fn leaves(data_type: &DataType) -> Vec<&DataType> {
    match data_type {
        DataType::List(field)
        | DataType::LargeList(field)
        | DataType::ListView(field)
        | DataType::LargeListView(field)
        | DataType::FixedSizeList(field, _)
        | DataType::Map(field, _) => leaves(field.data_type()),
        DataType::Struct(fields) => fields.iter().flat_map(|field| leaves(field.data_type())).collect(),
        DataType::Dictionary(_, values) => leaves(values),
        DataType::RunEndEncoded(_, values) => leaves(values.data_type()),
        leaf => vec![leaf],
    }
}

/// Whether numbers of one type mean the same in the other.
fn is_of_one_unit(a: &DataType, b: &DataType) -> bool {
    let unit = |of: &DataType| match of {
        DataType::Timestamp(unit, _) | DataType::Time32(unit) | DataType::Time64(unit) => Some(*unit),
        _ => None,
    };
    let scale = |of: &DataType| match of {
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => Some((*precision, *scale)),
        _ => None,
    };
    // A number without a unit is one of Arrow's types that Parquet does not have. It is stored as it is in memory.
    (unit(a).is_none() || unit(a) == unit(b)) && scale(a) == scale(b)
}

/// The keys as a file can state them, up to the first that it cannot.
pub fn sorting_columns(schema: &SchemaDescriptor, fields: &Schema, keys: &[Key]) -> Vec<SortingColumn> {
    let mut stated = Vec::new();
    for key in keys.iter().take_while(|key| key.is_in_common_order()) {
        let Some(column) = sorting_column(schema, fields, key.column, key.options) else { break };
        stated.push(column);
        // Further keys are in order within zeros of one sign only.
        if !key.has_common_ties() {
            break;
        }
    }
    stated
}

/// A column by which a file is sorted, as the file can state it. `None` if programs order its values differently, whatever they are: if
/// it is nested, has intervals, or has categories.
pub fn sorting_column(
    schema: &SchemaDescriptor,
    fields: &Schema,
    column: usize,
    SortOptions { descending, nulls_first }: SortOptions,
) -> Option<SortingColumn> {
    let leaf = (0..schema.num_columns()).find(|&leaf| schema.get_column_root_idx(leaf) == column)?;
    let is_plain = schema.root_schema().get_fields()[column].is_primitive()
        && schema.column(leaf).max_rep_level() == 0
        && schema.column(leaf).converted_type() != ConvertedType::INTERVAL;
    let is_stated = is_plain && !has_own_order(fields.field(column));
    is_stated.then_some(SortingColumn { column_idx: leaf as i32, descending, nulls_first })
}

/// Whether a program that knows the field's metadata orders its values otherwise: categories by their list, not as strings.
fn has_own_order(field: &Field) -> bool {
    let is_polars = field.metadata().keys().any(|key| key.starts_with("_PL_"));
    is_polars || field.dict_is_ordered().unwrap_or(false)
}
