//! [`sort_columnar`]: stretches that fit in memory are sorted, and if there are several, merged from disk.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use arrow_array::{Array, RecordBatch};
use arrow_data::ArrayData;
use arrow_schema::{DataType, Field, FieldRef, SchemaRef};
use parquet::file::metadata::ParquetMetaData;
use sortie::Report;
use sortie_arrow::contains;

use super::Kind;
use super::keys::Key;
use super::merge::{Emit, Merge};
use super::read::Source;
use super::rows::{Distinct, Rows, failed, size};
use super::write::{Sink, shared_schema};
use crate::compression::Way;
use crate::formats::Choices;
use crate::formats::tables::ColumnKey;
use crate::run::{Run, RunFolder};
use crate::{Error, Input, Ledger, Output, memory, quote};

/// The share of memory that a stretch takes, whose columns are joined and whose keys are sorted, and that of a batch that is read.
const STRETCH_SHARE: u64 = 4;
const BATCH_SHARE: usize = 64;
const BATCH_ROWS: usize = 1 << 16;
/// Far fewer than offsets of 32 bits count.
const BATCH_BYTES: usize = 256 << 20;

const MILLISECONDS_A_DAY: i64 = 24 * 60 * 60 * 1000;

/// Columns in files, and what they are sorted by. Each value is for one sort.
#[derive(Debug, Default)]
pub struct Columnar {
    /// The most significant first.
    pub keys: Vec<ColumnKey>,
    /// Whether a value that does not have its key's type is an error.
    pub strict: bool,
    found: std::sync::OnceLock<Vec<Key>>,
}

impl Columnar {
    pub fn by(keys: Vec<ColumnKey>) -> Columnar {
        Columnar { keys, ..Columnar::default() }
    }

    /// The keys in files with these columns.
    pub(super) fn keys(&self, source: &Source) -> Result<&[Key], Error> {
        if self.keys.is_empty() {
            return Err(Error::invalid("columns to sort by are missing: --by NAME[:TYPE][:desc],..."));
        }
        let keys: Result<Vec<_>, _> = self.keys.iter().map(|key| Key::of(key, &source.schema)).collect();
        let keys = keys.map_err(|why| source.wrong(&why))?;
        Ok(self.found.get_or_init(|| keys))
    }

    /// What was unexpected in the rows, one line each.
    pub fn surprises(&self) -> Vec<String> {
        let keys = self.found.get().map_or(&[][..], |keys| keys);
        let others = keys.iter().map(|key| (key, key.others.load(Relaxed))).filter(|(_, others)| *others > 0);
        let said = |(key, others): (&Key, u64)| {
            let values = if others == 1 { "value" } else { "values" };
            let kind = key.read_as.map_or("", |kind| kind.name());
            format!("{others} {values} of column {} not of type {kind}, sorted as null", key.name)
        };
        others.map(said).collect()
    }

    /// Looks at a batch that is read for the first time, whose first row has this number.
    pub(super) fn inspect(
        &self,
        source: &Source,
        keys: &[Key],
        batch: &RecordBatch,
        first: u64,
    ) -> Result<(), Error> {
        for key in keys {
            let wrong = key.inspect(batch.column(key.column)).map_err(|error| source.wrong(&error))?;
            if let (Some((index, text)), true) = (wrong, self.strict) {
                let kind = key.read_as.map_or("", |kind| kind.name());
                return Err(source.wrong(&format!(
                    "row {}: '{text}' in column {} is not a {kind}",
                    first + index as u64,
                    key.name
                )));
            }
        }
        Ok(())
    }
}

/// Sorts the rows of files with the same columns to `output`, or to standard output. Stable.
///
/// The name of the output says whether it is Parquet or Arrow IPC; another name, the first input. The result has the columns, nested
/// ones included, the codecs, the size of row groups, and the metadata that all inputs share.
///
/// - *Order.* That of `sortie-arrow`: floats by the total order of IEEE 754, text by bytes, lists by elements. Nulls come last, also in
///   descending order, unless a key says otherwise.
/// - *Declaration.* Row groups of a Parquet file state the keys as `sorting_columns`, up to the first one whose values programs order
///   differently: text that is sorted as another type, nested values, categories, floats with negative NaNs. No key follows one of floats
///   with negative zeros, because programs find these equal to zero or not.
/// - *Types.* Times in seconds are written to Parquet in milliseconds. Narrow indices of dictionaries become as wide as 32 bits.
/// - *Memory.* Within [`Choices::memory`], except for what a batch of an Arrow file takes, and a batch of Parquet whose texts are much longer
///   than at the beginning of the file. More rows go to temporary files.
/// - *Time.* O(n log n) comparisons; rows are read and written once if they fit in memory, else twice or more.
///
/// [`Choices::unique`] keeps the first of rows with equal keys, and [`Choices::top`] the first rows.
///
/// # Errors
/// If a file has other columns than the first or cannot be read, if a key is none of the columns, if the output has the name of a table of
/// text or of a compressed file, or if it cannot be written.
pub fn sort_columnar(
    table: &Columnar,
    inputs: &[Input],
    output: Option<&Path>,
    choices: &Choices,
) -> Result<Report, Error> {
    let sources = inputs.iter().map(Source::open).collect::<Result<Vec<_>, _>>()?;
    let Some(first) = sources.first() else { return Err(Error::invalid("there is no input")) };
    sources.iter().try_for_each(|source| ensure_same_columns(first, source))?;
    let keys = table.keys(first)?;
    let kind = output.and_then(Kind::of_name).unwrap_or(first.kind());
    if let Some(name) = output.filter(|name| is_of_others(name)) {
        return Err(Error::invalid(format!(
            "{} would be a {} file; give it a name that ends in .parquet or .arrow",
            quote::name(name),
            kind.name()
        )));
    }
    let bytes = sources.iter().map(|source| source.bytes).sum();
    let budget = memory::budget(choices.memory, None, rayon::current_num_threads);
    let folder = RunFolder::new(&choices.temporary, budget);
    let ledger = choices.ledger();
    let opened = Output::open(output, folder.first(), None)?;

    let schema = shared_schema(&sources);
    let work = Work { table, keys, schema: &schema, kind, choices, budget, folder: &folder, ledger: &ledger };
    ledger.progress.stage("sorting", bytes);
    let (runs, rest) = ledger.timed("read and sort", bytes as usize, 0, || work.stretches(&sources))?;
    let is_shared =
        |field: &FieldRef| contains(field.data_type(), |part| matches!(part, DataType::Dictionary(..)));
    if kind == Kind::Arrow
        && !runs.is_empty()
        && let Some(field) = first.schema.fields().iter().find(|field| is_shared(field))
    {
        return Err(first.wrong(&format!(
            "column '{}' is a dictionary, which an Arrow file has once for all rows, and they do not fit in memory; allow more with -S, \
             or write a .parquet file",
            quote::harmless(field.name())
        )));
    }
    let mut sink = Sink::new(opened, kind, &sources, &schema, keys, budget)?;
    ledger.progress.stage("writing", bytes);
    let total = sources.iter().map(|source| source.rows).sum::<u64>().max(1);
    let mut emit = |rows: &Rows| {
        ledger.check()?;
        sink.write(rows)?;
        ledger.progress.advance((u128::from(bytes) * rows.len() as u128 / u128::from(total)) as u64);
        Ok(())
    };
    ledger.timed("write", 0, bytes as usize, || match runs.is_empty() {
        true => emit(&rest),
        false => {
            let mut runs = runs;
            runs.push(work.spill(rest)?);
            work.merge().all(runs, &mut emit)
        }
    })?;
    let written = sink.finish()?;
    ledger.may_publish()?;
    written.finish()?;
    Ok(ledger.close())
}

/// What the steps of a sort share.
struct Work<'a> {
    table: &'a Columnar,
    keys: &'a [Key],
    schema: &'a SchemaRef,
    /// The format of the result.
    kind: Kind,
    choices: &'a Choices,
    budget: u64,
    folder: &'a RunFolder,
    ledger: &'a Ledger,
}

impl Work<'_> {
    /// Sorts all rows. Returns the runs that were written, and the rows that follow them.
    fn stretches(&self, sources: &[Source]) -> Result<(Vec<Run>, Rows), Error> {
        let limit = self.budget / STRETCH_SHARE;
        let (mut runs, mut batches, mut bytes, mut rows) = (Vec::new(), Vec::new(), 0, 0);
        for source in sources {
            let all: Vec<usize> = (0..self.schema.fields().len()).collect();
            let mut number = 1;
            for batch in source.batches(&all, batch_rows(source, self.budget)?)? {
                let batch = batch?;
                self.ledger.check()?;
                self.table.inspect(source, self.keys, &batch, number)?;
                if self.kind == Kind::Parquet {
                    ensure_whole_days(source, &batch)?;
                }
                number += batch.num_rows() as u64;
                self.ledger.progress.advance(source.bytes * batch.num_rows() as u64 / source.rows.max(1));
                bytes += size(&batch).map_err(|error| source.wrong(&error))? as u64;
                rows += batch.num_rows() as u64;
                let batch = RecordBatch::try_new(Arc::clone(self.schema), batch.columns().to_vec());
                batches.push(batch.map_err(|error| source.wrong(&error))?);
                if bytes > limit || rows > u64::from(u32::MAX / 2) {
                    runs.push(self.spill(self.sorted(std::mem::take(&mut batches))?)?);
                    (bytes, rows) = (0, 0);
                }
            }
        }
        Ok((runs, self.sorted(batches)?))
    }

    fn sorted(&self, batches: Vec<RecordBatch>) -> Result<Rows, Error> {
        let mut rows = Rows::sorted(self.schema, batches, self.keys).map_err(failed)?;
        if self.choices.unique {
            Distinct::default().filter(&mut rows, self.keys).map_err(failed)?;
        }
        if let Some(top) = self.choices.top {
            rows.truncate(top);
        }
        Ok(rows)
    }

    fn spill(&self, rows: Rows) -> Result<Run, Error> {
        self.merge().write(&mut |emit: &mut Emit<'_>| emit(&rows))
    }

    fn merge(&self) -> Merge<'_> {
        Merge {
            keys: self.keys,
            schema: self.schema,
            unique: self.choices.unique,
            top: self.choices.top,
            budget: self.budget,
            at_once: self.choices.temporary.batch_size,
            folder: self.folder,
        }
    }
}

/// Refuses dates of 64 bits that are not whole days: Parquet has days alone, so they would lose the time of day.
fn ensure_whole_days(source: &Source, batch: &RecordBatch) -> Result<(), Error> {
    fn are_whole(values: &ArrayData) -> bool {
        let is_whole =
            |i: usize, milliseconds: i64| milliseconds % MILLISECONDS_A_DAY == 0 || values.is_null(i);
        match values.data_type() {
            DataType::Date64 => {
                let numbers = &values.buffer::<i64>(0)[..values.len()];
                numbers.iter().enumerate().all(|(i, &number)| is_whole(i, number))
            }
            _ => values.child_data().iter().all(are_whole),
        }
    }
    let of_column = |index: &usize| !are_whole(&batch.column(*index).to_data());
    match (0..batch.num_columns()).find(of_column) {
        None => Ok(()),
        Some(index) => Err(source.wrong(&format!(
            "column '{}' has dates with a time of day, which Parquet's dates do not have; store them as timestamps, or write an .arrow file",
            quote::harmless(batch.schema().field(index).name())
        ))),
    }
}

/// The rows of a batch that takes a small share of memory.
pub(super) fn batch_rows(source: &Source, budget: u64) -> Result<usize, Error> {
    let bytes = (budget as usize / BATCH_SHARE).min(BATCH_BYTES);
    Ok((bytes / source.row_bytes()?).clamp(1, BATCH_ROWS))
}

/// Whether a name is that of a table of text, or of a compressed file.
fn is_of_others(name: &Path) -> bool {
    let ending = name.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let is_text =
        ["csv", "tsv", "tab", "jsonl", "ndjson"].iter().any(|text| text.eq_ignore_ascii_case(ending));
    is_text || Way::of_name(name).is_some()
}

fn ensure_same_columns(first: &Source, other: &Source) -> Result<(), Error> {
    let differs = |what: String| {
        other.wrong(&format!("its columns are not those of {}: {what}", quote::name(&first.name)))
    };
    if first.kind() != other.kind() {
        return Err(differs(format!(
            "{} and {} files have other types",
            first.kind().name(),
            other.kind().name()
        )));
    }
    let (a, b) = (first.schema.fields(), other.schema.fields());
    if a.len() != b.len() {
        return Err(differs(format!("{} instead of {}", b.len(), a.len())));
    }
    let said = |field: &Field| {
        let nulls = if field.is_nullable() { "with" } else { "without" };
        format!("'{}' of {}, {nulls} nulls", quote::harmless(field.name()), field.data_type())
    };
    let is_like = |(a, b): &(&FieldRef, &FieldRef)| {
        a.name() == b.name() && a.data_type() == b.data_type() && a.is_nullable() == b.is_nullable()
    };
    if let Some((a, b)) = a.iter().zip(b).find(|pair| !is_like(pair)) {
        return Err(differs(format!("{} instead of {}", said(b), said(a))));
    }
    if let (Some(a), Some(b)) = (first.parquet(), other.parquet()) {
        let of = |file: &ParquetMetaData| file.file_metadata().schema_descr().root_schema_ptr();
        let (a, b) = (of(a), of(b));
        if let Some((a, _)) = a.get_fields().iter().zip(b.get_fields()).find(|(a, b)| a != b) {
            return Err(differs(format!("'{}' is stored in another way", quote::harmless(a.name()))));
        }
    }
    Ok(())
}
