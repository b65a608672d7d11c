//! Tables: delimited text such as CSV and TSV, and JSON lines, sorted by columns. Records keep their bytes.
//!
//! ```
//! use sortie_files::Input;
//! use sortie_files::formats::{Choices, sort_layout};
//! use sortie_files::formats::tables::{ColumnKey, Table};
//!
//! # let folder = tempfile::tempdir()?;
//! # let [sales, sorted] = ["sales.csv", "sorted.csv"].map(|name| folder.path().join(name));
//! std::fs::write(&sales, "name,price\n\"plums, red\",9\npears,10.50\napples,\n")?;
//! // By the price, the highest first. Missing values come last.
//! let table = Table::by(ColumnKey::list("price:number:desc")?);
//! sort_layout(&table, vec![Input::named(&sales)], Some(&sorted), &Choices::default())?;
//! assert_eq!(std::fs::read_to_string(&sorted)?, "name,price\npears,10.50\n\"plums, red\",9\napples,\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod date;
mod decimal;
mod json;
mod key;
mod opened;
mod records;
mod value;
mod written;

#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::Ordering::Relaxed;

use super::Layout;
use super::text::{LineOrder, Locale};
use crate::compression::Way;
use crate::memory::append;
use crate::{Error, Input};
pub use key::{Column, ColumnKey, ColumnType};
pub use opened::BETWEEN_VALUES;
use opened::{Head, Opened, UNCLOSED, Wrong, first, guess};
use records::Dialect;
#[cfg(feature = "parquet")]
pub(crate) use value::{Found, encode_value};
pub use written::DEFAULT_COUNT;

/// The bytes of the first input from which the types of columns are found.
const SAMPLE: usize = 256 << 10;
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// How a table is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Fields with this byte between them.
    Delimited(u8),
    /// A JSON document in each line.
    JsonLines,
}

impl Form {
    /// The form that the name of an input says, whether it is compressed or not: `.tsv`, `.tab`, `.jsonl` or `.ndjson`.
    pub fn of_name(input: &Input) -> Option<Form> {
        let name = input.name();
        let plain = if Way::of_name(name).is_some() { Path::new(name.file_stem()?) } else { name };
        match &*plain.extension()?.to_str()?.to_ascii_lowercase() {
            "tsv" | "tab" => Some(Form::Delimited(b'\t')),
            "jsonl" | "ndjson" => Some(Form::JsonLines),
            // Files that are called `.csv` may have other separators, so the first record decides.
            _ => None,
        }
    }
}

/// A byte that separates fields, or begins comments.
///
/// # Errors
/// If it has another meaning.
pub fn marker(byte: u8) -> Result<u8, &'static str> {
    match byte {
        b'"' | b'\n' | b'\r' => Err("quotes and line ends have another meaning in a table"),
        byte => Ok(byte),
    }
}

/// A table, and what it is sorted by. Each value is for one sort, because the first input decides what is not given.
///
/// O(bytes) to find keys, on all threads. Besides the records, memory is that of their keys.
#[derive(Debug, Default)]
pub struct Table {
    /// By default, the first record says.
    pub form: Option<Form>,
    /// The number of records at the start of each input that are not sorted: the names of the columns. JSON lines have none.
    pub header: usize,
    /// Lines that begin with this byte are comments: those before the first record of an input stay in front, all others come last.
    pub comment: Option<u8>,
    /// The most significant first. If there are none, all columns are compared as text, and JSON lines by their bytes.
    pub keys: Vec<ColumnKey>,
    /// The keys of GNU sort, in place of [`Table::keys`]: column N is field N of a line that has NULs between the values of a record. Only
    /// delimited tables have it.
    pub order: Option<LineOrder>,
    /// The columns that [`Choices::unique`](super::Choices::unique) compares: the first of the keys, in any order. By default all keys.
    pub unique: Vec<Column>,
    /// The columns to write, if not all.
    pub columns: Vec<Column>,
    /// The byte to write between fields, if another than was read.
    pub output_separator: Option<u8>,
    /// The name of a first column with the number of records that are equal to each record in [`Choices::unique`](super::Choices::unique),
    /// itself included. Lines of JSON become objects with this member and `record`.
    pub count: Option<String>,
    /// Whether a value that does not have its column's type, or a record with too few or too many fields, is an error.
    pub strict: bool,
    /// The order of columns of the types `locale` and `natural`.
    pub locale: Locale,
    opened: OnceLock<Opened>,
}

impl Table {
    /// A table with one record of names, sorted by `keys`.
    pub fn by(keys: Vec<ColumnKey>) -> Table {
        Table { header: 1, keys, ..Table::default() }
    }

    /// What the first input has shown, one line each: the form, and each key with its type. Empty before it was opened.
    pub fn assumed(&self) -> Vec<String> {
        let Some(opened) = self.opened.get() else { return Vec::new() };
        let form = match opened.form {
            Form::JsonLines => "JSON lines".into(),
            Form::Delimited(separator) => {
                let separator = char::from(separator).escape_default();
                let names = if opened.header.is_empty() { "without a header" } else { "with a header" };
                format!("{} columns separated by '{separator}', {names}", opened.columns)
            }
        };
        let key = |key: &opened::Key| {
            let why = if key.is_sniffed { ", as the first records show" } else { "" };
            let order = if key.direction.descending { "descending" } else { "ascending" };
            let nulls = if key.direction.nulls_first { "first" } else { "last" };
            format!("column {}: {}{why}; {order}, nulls {nulls}", key.name, key.kind_name())
        };
        let places = self.order.iter().map(|_| "columns by number, as -k and its options say".to_owned());
        std::iter::once(form).chain(places).chain(opened.keys.iter().map(key)).collect()
    }

    /// What was unexpected in the records that were read, one line each.
    pub fn surprises(&self) -> Vec<String> {
        let Some(opened) = self.opened.get() else { return Vec::new() };
        let mut said = Vec::new();
        let some = |count: u64, one: &str, several: &str| {
            format!("{count} {}", if count == 1 { one } else { several })
        };
        for key in &opened.keys {
            let others = key.others.load(Relaxed);
            if others > 0 {
                let values = some(others, "value", "values");
                said.push(format!(
                    "{values} of column {} not of type {}, sorted as null",
                    key.name,
                    key.kind_name()
                ));
            }
        }
        let ragged = opened.ragged.load(Relaxed);
        if ragged > 0 {
            let records = some(ragged, "record", "records");
            said.push(format!("{records} with fewer or more than {} fields", opened.columns));
        }
        said
    }

    fn dialect(&self, form: Form) -> Dialect {
        match form {
            Form::Delimited(separator) => Dialect { separator, comment: self.comment },
            Form::JsonLines => Dialect { separator: 0, comment: self.comment },
        }
    }

    /// Appends the first keys of a record, as many as `count` says. `tell` gets what is wrong with it, and may refuse it.
    #[inline]
    fn encode(
        &self,
        record: &[u8],
        count: impl Fn(&Opened) -> usize,
        out: &mut Vec<u8>,
        tell: impl Fn(Wrong<'_>, &Opened) -> Result<(), String>,
    ) -> Result<(), String> {
        match self.opened.get() {
            Some(opened) => opened.encode(record, count(opened), out, |wrong| tell(wrong, opened)),
            // Comments and empty lines of inputs that have nothing else.
            None => {
                opened::push_comment(record, out);
                Ok(())
            }
        }
    }
}

impl Layout for Table {
    fn first(&self, bytes: &[u8]) -> Result<Option<usize>, String> {
        Ok(match self.opened.get().map(|opened| (opened.form, opened.dialect)) {
            Some((form, dialect)) => first(form, &dialect, bytes),
            // Comments and empty lines of an input that has nothing else.
            None => memchr::memchr(b'\n', bytes).map(|end| end + 1),
        })
    }

    fn key(&self, record: &[u8], key: &mut Vec<u8>) -> Result<(), String> {
        self.encode(
            record,
            |opened| opened.keys.len(),
            key,
            |wrong, opened| {
                wrong.count(opened);
                if self.strict { Err(wrong.message(opened)) } else { Ok(()) }
            },
        )
    }

    fn key_again(&self, record: &[u8], key: &mut Vec<u8>) {
        let known = self.encode(record, |opened| opened.keys.len(), key, |_, _| Ok(()));
        debug_assert!(known.is_ok(), "its key was found before");
    }

    fn group(&self, record: &[u8], key: &mut Vec<u8>) {
        let known = self.encode(record, |opened| opened.grouping, key, |_, _| Ok(()));
        debug_assert!(known.is_ok(), "its key was found before");
    }

    fn has_groups(&self) -> bool {
        !self.unique.is_empty() && !self.keys.is_empty() || self.comment.is_some()
    }

    fn is_comment(&self, record: &[u8]) -> bool {
        self.opened.get().is_some_and(|opened| opened.dialect.is_comment(record))
    }

    fn rewrites(&self) -> bool {
        !self.columns.is_empty() || self.output_separator.is_some() || self.count.is_some()
    }

    fn write(&self, record: &[u8], count: u64, out: &mut Vec<u8>) -> Result<(), Error> {
        match self.opened.get().and_then(|opened| opened.written.as_ref()) {
            Some(written) => written.record(record, count, out),
            None => append(out, record),
        }
    }

    fn write_header(&self, header: &[u8], out: &mut Vec<u8>) -> Result<(), Error> {
        match self.opened.get().and_then(|opened| opened.written.as_ref()) {
            Some(written) => written.header(header, out),
            None => append(out, header),
        }
    }

    fn ending(&self) -> Option<&'static [u8]> {
        Some(self.opened.get().map_or(b"\n", |opened| opened.ending))
    }

    fn header(&self, bytes: &[u8], is_all: bool) -> Result<Option<usize>, String> {
        if !is_all
            && (self.opened.get().is_none() && bytes.len() < SAMPLE || bytes.len() < BYTE_ORDER_MARK.len())
        {
            return Ok(None);
        }
        let mark = if bytes.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        let text = &bytes[mark..];
        let known = self.opened.get().map(|opened| opened.form).or(self.form);
        let Some(form) = known.or_else(|| guess(text, self.comment)) else {
            return Ok(is_all.then_some(mark));
        };
        let count = if form == Form::JsonLines { 0 } else { self.header };
        let Some(head) = Head::read(&self.dialect(form), count, text, is_all)? else { return Ok(None) };
        let length = mark + head.bytes;
        match self.opened.get() {
            Some(first) => first.compare(&head)?,
            // An input without records says nothing of the table.
            None if length == bytes.len() && head.names.is_empty() => return Ok(Some(mark)),
            None => {
                let opened = Opened::new(self, form, head, text, is_all)?;
                let _ = self.opened.set(opened);
            }
        }
        Ok(Some(length))
    }

    /// The comments.
    fn kept_of_header(&self, header: &[u8]) -> Vec<u8> {
        let dialect = self.opened.get().expect("a header was read").dialect;
        let (mut kept, mut rest) = (Vec::new(), header);
        while !rest.is_empty() {
            let (record, after) = rest.split_at(dialect.first(rest).unwrap_or(rest.len()));
            if dialect.is_comment(record) {
                kept.extend_from_slice(record);
            }
            rest = after;
        }
        kept
    }

    fn unfinished(&self) -> &'static str {
        UNCLOSED
    }
}
