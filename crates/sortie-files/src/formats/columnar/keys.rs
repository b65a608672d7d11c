//! [`Key`]: a column that rows are sorted by.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use arrow_array::builder::LargeBinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef};
use arrow_ord::ord::{DynComparator, make_comparator};
use arrow_schema::{ArrowError, DataType, Schema, SortOptions};
use arrow_select::take::take;
use sortie_arrow::{SortColumn, contains};

use crate::formats::tables::{Column, ColumnKey, ColumnType, Found, encode_value};
use crate::quote;

/// The characters of a value that a message quotes.
const QUOTED: usize = 40;

/// A column that rows are sorted by, and what its values have shown.
#[derive(Debug)]
pub struct Key {
    pub column: usize,
    pub name: String,
    pub options: SortOptions,
    /// The type as which text is read.
    pub read_as: Option<ColumnType>,
    /// The values that do not have this type.
    pub others: AtomicU64,
    /// Whether there is a NaN with a sign, which programs put at different ends.
    has_negative_nan: AtomicBool,
    /// Whether there is a negative zero, which many programs take for equal to zero.
    has_negative_zero: AtomicBool,
}

impl Key {
    /// Finds the column of a key.
    ///
    /// # Errors
    /// If there is none, or if its values cannot have the type that was asked for.
    pub fn of(asked: &ColumnKey, schema: &Schema) -> Result<Key, String> {
        let found = Key::found(asked, schema);
        found.or_else(|error| asked.of_sql().and_then(|sql| Key::found(&sql, schema).ok()).ok_or(error))
    }

    fn found(asked: &ColumnKey, schema: &Schema) -> Result<Key, String> {
        let column = match &asked.column {
            Column::Number(number) if *number <= schema.fields().len() => number - 1,
            Column::Number(number) => {
                return Err(format!("there is no column {number}; there are {}", schema.fields().len()));
            }
            Column::Name(name) => named(name, schema)?,
        };
        let field = schema.field(column);
        let read_as = read_as(asked.kind, field.data_type()).map_err(|held| {
            let name = quote::harmless(field.name());
            let kind = asked.kind.map_or(String::new(), |kind| format!(" as {}", kind.name()));
            format!("column '{name}' holds {held}, which cannot be sorted{kind}")
        })?;
        let options = SortOptions { descending: asked.descending, nulls_first: asked.nulls_first };
        Ok(Key { read_as, ..Key::plain(column, field.name(), options) })
    }

    /// A column whose values are sorted as they are.
    pub fn plain(column: usize, name: &str, options: SortOptions) -> Key {
        Key {
            column,
            name: format!("'{}'", quote::harmless(name)),
            options,
            read_as: None,
            others: AtomicU64::new(0),
            has_negative_nan: AtomicBool::new(false),
            has_negative_zero: AtomicBool::new(false),
        }
    }

    /// The values by which rows are compared.
    pub fn values(&self, column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
        match self.read_as {
            None => Ok(Arc::clone(column)),
            Some(kind) => encoded(column, kind, &mut |_, _| {}),
        }
    }

    pub fn sort_column(&self, column: &ArrayRef) -> Result<SortColumn, ArrowError> {
        Ok(SortColumn { values: self.values(column)?, options: Some(self.options) })
    }

    /// Looks at the values of a column that is read for the first time. Returns the index and the text of the first value that does
    /// not have its type.
    pub fn inspect(&self, column: &ArrayRef) -> Result<Option<(usize, String)>, ArrowError> {
        let mut wrong = None;
        if let Some(kind) = self.read_as {
            encoded(column, kind, &mut |index, value| {
                self.others.fetch_add(1, Relaxed);
                wrong.get_or_insert_with(|| {
                    let text: String = String::from_utf8_lossy(value).chars().take(QUOTED).collect();
                    (index, quote::harmless(&text))
                });
            })?;
        }
        let note = |is_nan: bool, is_negative: bool, is_zero: bool| {
            if is_negative && is_nan {
                self.has_negative_nan.store(true, Relaxed);
            }
            if is_negative && is_zero {
                self.has_negative_zero.store(true, Relaxed);
            }
        };
        match column.data_type() {
            DataType::Float16 => column
                .as_primitive::<Float16Type>()
                .iter()
                .flatten()
                .for_each(|x| note(x.is_nan(), x.is_sign_negative(), x.to_f32() == 0.0)),
            DataType::Float32 => column
                .as_primitive::<Float32Type>()
                .iter()
                .flatten()
                .for_each(|x| note(x.is_nan(), x.is_sign_negative(), x == 0.0)),
            DataType::Float64 => column
                .as_primitive::<Float64Type>()
                .iter()
                .flatten()
                .for_each(|x| note(x.is_nan(), x.is_sign_negative(), x == 0.0)),
            _ => {}
        }
        Ok(wrong)
    }

    /// Whether all programs find the values in the order in which they are sorted here.
    pub fn is_in_common_order(&self) -> bool {
        self.read_as.is_none() && !self.has_negative_nan.load(Relaxed)
    }

    /// Whether all programs find the same values equal.
    pub fn has_common_ties(&self) -> bool {
        !self.has_negative_zero.load(Relaxed)
    }
}

/// The index of the column with a name.
fn named(name: &str, schema: &Schema) -> Result<usize, String> {
    let shown = quote::harmless(name);
    let mut found =
        schema.fields().iter().enumerate().filter(|(_, field)| field.name() == name).map(|(index, _)| index);
    match (found.next(), found.next()) {
        (Some(index), None) => Ok(index),
        (Some(_), Some(_)) => Err(format!("several columns have the name '{shown}'; give the number of one")),
        (None, _) => {
            let names: Vec<_> =
                schema.fields().iter().map(|field| format!("'{}'", quote::harmless(field.name()))).collect();
            let more =
                if names.len() > 20 { format!(" and {} more", names.len() - 20) } else { String::new() };
            Err(format!(
                "there is no column '{shown}'; there are {}{more}",
                names[..names.len().min(20)].join(", ")
            ))
        }
    }
}

/// The type as which text is read, or the name of a type whose values cannot be sorted as was asked.
fn read_as(asked: Option<ColumnType>, held: &DataType) -> Result<Option<ColumnType>, String> {
    let values = match held {
        DataType::Dictionary(_, values) => values,
        other => other,
    };
    let is_text = matches!(values, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View);
    match asked {
        // Their sort does not keep the order of equal rows.
        _ if contains(held, |part| matches!(part, DataType::Union(..))) => Err(held.to_string()),
        None => Ok(None),
        Some(ColumnType::Text) if is_text => Ok(None),
        Some(ColumnType::Number) if values.is_numeric() => Ok(None),
        Some(ColumnType::Date) if values.is_temporal() => Ok(None),
        Some(ColumnType::Natural | ColumnType::Locale | ColumnType::Unicode) => {
            Err(format!("{held} of a Parquet or Arrow file"))
        }
        Some(kind) if is_text => Ok(Some(kind)),
        Some(_) => Err(held.to_string()),
    }
}

/// Text as bytes that compare as values of this type. `tell` gets the index and the text of what has another type, and becomes null.
fn encoded(
    array: &dyn Array,
    kind: ColumnType,
    tell: &mut dyn FnMut(usize, &[u8]),
) -> Result<ArrayRef, ArrowError> {
    fn all<'a>(
        values: impl Iterator<Item = Option<&'a str>>,
        kind: ColumnType,
        tell: &mut dyn FnMut(usize, &[u8]),
    ) -> ArrayRef {
        let mut keys = LargeBinaryBuilder::new();
        let mut key = Vec::new();
        for (index, value) in values.enumerate() {
            key.clear();
            match value.map(|value| encode_value(value.as_bytes(), kind, &mut key)) {
                Some(Found::Value) => keys.append_value(&key),
                Some(Found::Other) => {
                    tell(index, value.unwrap_or_default().as_bytes());
                    keys.append_null();
                }
                Some(Found::Null) | None => keys.append_null(),
            }
        }
        Arc::new(keys.finish())
    }
    Ok(match array.data_type() {
        DataType::Utf8 => all(array.as_string::<i32>().iter(), kind, tell),
        DataType::LargeUtf8 => all(array.as_string::<i64>().iter(), kind, tell),
        DataType::Utf8View => all(array.as_string_view().iter(), kind, tell),
        DataType::Dictionary(_, _) => {
            let dictionary = array.as_any_dictionary();
            encoded(&take(dictionary.values(), dictionary.keys(), None)?, kind, tell)?
        }
        other => return Err(ArrowError::ComputeError(format!("{other} is not text"))),
    })
}

/// Compares rows of `a` with rows of `b`, by the values of keys.
pub fn comparator(
    keys: &[Key],
    a: &[ArrayRef],
    b: &[ArrayRef],
) -> Result<impl Fn(usize, usize) -> std::cmp::Ordering + use<>, ArrowError> {
    let columns = keys.iter().zip(a.iter().zip(b));
    let columns: Vec<DynComparator> =
        columns.map(|(key, (a, b))| make_comparator(a, b, key.options)).collect::<Result<_, _>>()?;
    Ok(move |i, j| {
        columns
            .iter()
            .map(|compare| compare(i, j))
            .find(|order| order.is_ne())
            .unwrap_or(std::cmp::Ordering::Equal)
    })
}
