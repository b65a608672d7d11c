//! Whether rows are in order: in that of keys, or in that which a file declares.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float16Type, Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef};
use arrow_schema::{ArrowError, DataType, SortOptions};
use parquet::file::metadata::SortingColumn;

use super::keys::{Key, comparator};
use super::read::{Batches, Source, Stored};
use super::rows::failed;
use super::sort::{Columnar, batch_rows};
use crate::formats::Choices;
use crate::{Error, Input, memory, quote};

/// Finds the first row, counted from 1, that does not belong after the row before. With [`Choices::unique`], rows with equal keys do not.
///
/// Reads the columns of the keys, in O(rows) time and the memory of a batch.
///
/// # Errors
/// If the file cannot be read, or if a key is none of its columns.
pub fn check_columnar(table: &Columnar, input: &Input, choices: &Choices) -> Result<Option<u64>, Error> {
    let source = Source::open(input)?;
    let keys = table.keys(&source)?;
    let budget = memory::budget(choices.memory, None, rayon::current_num_threads);
    let mut columns: Vec<usize> = keys.iter().map(|key| key.column).collect();
    columns.sort_unstable();
    columns.dedup();
    let batches = source.batches(&columns, batch_rows(&source, budget)?)?;
    let values = |columns_of_batch: &[ArrayRef], first| -> Result<Vec<ArrayRef>, Error> {
        let value = |key: &Key| {
            let column = &columns_of_batch[columns.partition_point(|&column| column < key.column)];
            if let (Some((index, text)), true) = (key.inspect(column).map_err(failed)?, table.strict) {
                let kind = key.read_as.map_or("", |kind| kind.name());
                let row = first + index as u64;
                return Err(
                    source.wrong(&format!("row {row}: '{text}' in column {} is not a {kind}", key.name))
                );
            }
            key.values(column).map_err(failed)
        };
        keys.iter().map(value).collect()
    };
    let is_wrong = if choices.unique { Ordering::is_ge } else { Ordering::is_gt };
    first_disorder(keys, batches, values, is_wrong)
}

/// The number of the first row whose keys compare with those before as they must not.
fn first_disorder(
    keys: &[Key],
    batches: Batches,
    values: impl Fn(&[ArrayRef], u64) -> Result<Vec<ArrayRef>, Error>,
    is_wrong: fn(Ordering) -> bool,
) -> Result<Option<u64>, Error> {
    let (mut before, mut row) = (None::<Vec<ArrayRef>>, 1);
    for batch in batches {
        let batch = batch?;
        if batch.num_rows() == 0 {
            continue;
        }
        let own = values(batch.columns(), row)?;
        if let Some(before) = &before
            && is_wrong(comparator(keys, before, &own).map_err(failed)?(before[0].len() - 1, 0))
        {
            return Ok(Some(row));
        }
        let compare = comparator(keys, &own, &own).map_err(failed)?;
        if let Some(index) = (1..batch.num_rows()).find(|&index| is_wrong(compare(index - 1, index))) {
            return Ok(Some(row + index as u64));
        }
        row += batch.num_rows() as u64;
        before = Some(own);
    }
    Ok(None)
}

/// What [`verify`] finds of the order that a Parquet file declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// No row group declares an order.
    Undeclared,
    /// The rows of each row group are in the order that it declares. That of the first is described, as in `a, b desc nulls first`.
    True { order: String, groups: usize },
    /// A row group, counted from 1, whose row of this number does not belong after the row before.
    False { order: String, group: usize, row: u64 },
}

/// Tells whether the order that the row groups of a Parquet file declare (`sorting_columns`) is true of their rows.
///
/// Zeros of both signs are equal, and NaNs are equal and greater than all other values, as most programs find them.
/// Reads the declared columns, in O(rows) time and the memory of a batch.
///
/// # Errors
/// If the input is no Parquet file or cannot be read, or if a declared column is nested.
pub fn verify(input: &Input) -> Result<Verdict, Error> {
    let source = Source::open(input)?;
    let Stored::Parquet(file) = &source.stored else {
        return Err(source.wrong(&"only Parquet files declare an order"));
    };
    let file = file.metadata();
    let budget = memory::budget(None, None, rayon::current_num_threads);
    let mut verdict = Verdict::Undeclared;
    for (index, group) in file.row_groups().iter().enumerate() {
        let declared = group.sorting_columns().map_or(&[][..], Vec::as_slice);
        if declared.is_empty() {
            continue;
        }
        let keys =
            declared.iter().map(|column| declared_key(&source, column)).collect::<Result<Vec<_>, _>>()?;
        let order = keys.iter().map(described).collect::<Vec<_>>().join(", ");
        let columns: Vec<usize> = keys.iter().map(|key| key.column).collect();
        let batches = source.row_group(index, &columns, batch_rows(&source, budget)?)?;
        let values =
            |columns: &[ArrayRef], _| columns.iter().map(|column| plain(column).map_err(failed)).collect();
        if let Some(row) = first_disorder(&keys, batches, values, Ordering::is_gt)? {
            return Ok(Verdict::False { order, group: index + 1, row });
        }
        match &mut verdict {
            Verdict::True { groups, .. } => *groups += 1,
            _ => verdict = Verdict::True { order, groups: 1 },
        }
    }
    Ok(verdict)
}

/// A column that a row group declares to be sorted by.
fn declared_key(source: &Source, declared: &SortingColumn) -> Result<Key, Error> {
    let Stored::Parquet(file) = &source.stored else { unreachable!("only Parquet files declare an order") };
    let schema = file.parquet_schema();
    let leaf = usize::try_from(declared.column_idx).ok().filter(|&leaf| leaf < schema.num_columns());
    let Some(leaf) = leaf else {
        return Err(source.wrong(&format!(
            "it declares an order by column {}, which it does not have",
            declared.column_idx
        )));
    };
    let root = schema.get_column_root_idx(leaf);
    if !schema.root_schema().get_fields()[root].is_primitive() {
        let name = quote::harmless(&schema.column(leaf).path().string());
        return Err(source
            .wrong(&format!("it declares an order by the nested column '{name}', which cannot be checked")));
    }
    let options = SortOptions { descending: declared.descending, nulls_first: declared.nulls_first };
    Ok(Key::plain(root, source.schema.field(root).name(), options))
}

fn described(key: &Key) -> String {
    let direction = if key.options.descending { " desc" } else { "" };
    let nulls = if key.options.nulls_first { " nulls first" } else { "" };
    format!("{}{direction}{nulls}", key.name)
}

/// Values of which zeros and NaNs are each of one kind.
fn plain(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    Ok(match column.data_type() {
        DataType::Float16 => Arc::new(
            column
                .as_primitive::<Float16Type>()
                .unary::<_, Float32Type>(|x| one(f64::from(x.to_f32())) as f32),
        ),
        DataType::Float32 => Arc::new(
            column.as_primitive::<Float32Type>().unary::<_, Float32Type>(|x| one(f64::from(x)) as f32),
        ),
        DataType::Float64 => Arc::new(column.as_primitive::<Float64Type>().unary::<_, Float64Type>(one)),
        _ => Arc::clone(column),
    })
}

fn one(x: f64) -> f64 {
    match x {
        0.0 => 0.0,
        x if x.is_nan() => f64::NAN,
        x => x,
    }
}
