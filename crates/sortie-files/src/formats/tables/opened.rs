//! What the beginning of the first input says of a table: its form, its columns, and their types.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use super::json::{self, Path, Paths};
use super::key::{Column, ColumnKey, ColumnType};
use super::records::{Dialect, guess_separator, value, without_end};
use super::value::{AFTER_ALL, Direction, Found, encode, sniff};
use super::written::{DEFAULT_COUNT, RECORD, Written};
use super::{Form, Table};
use crate::formats::Layout;
use crate::formats::text::{Collator, LineOrder, Locale};
use crate::{Error, quote};

/// The keys of a record that are found without an allocation.
const FEW: usize = 8;
/// What is wrong with a record that does not end.
pub const UNCLOSED: &str = "a field in quotes is not closed";
/// The characters of a text that a message quotes.
const QUOTED: usize = 40;

/// The byte between the values of a record in which keys of `-k` are found.
pub const BETWEEN_VALUES: u8 = 0;
/// Begins the key of a record if its own first byte may be any.
const BEFORE_COMMENTS: u8 = 0;

/// A table whose first input was opened.
#[derive(Debug)]
pub struct Opened {
    pub form: Form,
    pub dialect: Dialect,
    pub ending: &'static [u8],
    /// The names in each record of the header.
    pub header: Vec<Vec<String>>,
    /// The number of columns. 0 for JSON lines.
    pub columns: usize,
    pub keys: Vec<Key>,
    /// See [`Table::order`].
    order: Option<LineOrder>,
    /// The paths of the keys. Only for JSON lines.
    paths: Paths,
    /// How many of the keys say whether records are equal.
    pub grouping: usize,
    /// How records are written, if not as they are read.
    pub written: Option<Written>,
    /// The records with too few or too many fields.
    pub ragged: AtomicU64,
}

/// A key whose column is known.
#[derive(Debug)]
pub struct Key {
    pub name: String,
    place: Place,
    /// `None` for JSON values of any type.
    pub kind: Option<ColumnType>,
    /// The order of its text, if the type has another than that of bytes.
    collator: Collator,
    /// Whether the first records say what the type is.
    pub is_sniffed: bool,
    pub direction: Direction,
    /// The values that do not have this type.
    pub others: AtomicU64,
}

#[derive(Debug)]
enum Place {
    Column(usize),
    Path(Path),
}

/// The records before those that are sorted.
pub struct Head {
    /// Its bytes, comments included.
    pub bytes: usize,
    /// The names in each record.
    pub names: Vec<Vec<String>>,
}

impl Head {
    /// Reads `count` records at the start of `text`, and comments before and between them. `None` if more bytes are needed; `is_all`
    /// says that there are no more.
    ///
    /// # Errors
    /// If a field in quotes is not closed.
    pub fn read(dialect: &Dialect, count: usize, text: &[u8], is_all: bool) -> Result<Option<Head>, String> {
        let mut head = Head { bytes: 0, names: Vec::new() };
        loop {
            let rest = &text[head.bytes..];
            if rest.is_empty() && !is_all {
                return Ok(None);
            }
            let is_comment = dialect.is_comment(rest);
            if rest.is_empty() || !is_comment && head.names.len() == count {
                return Ok(Some(head));
            }
            let length = match dialect.first(rest) {
                Some(length) => length,
                None if !is_all => return Ok(None),
                None if dialect.first(&[rest, b"\n"].concat()).is_some() => rest.len(),
                None => return Err(UNCLOSED.into()),
            };
            if !is_comment {
                let fields = dialect.fields(without_end(&rest[..length]));
                let name = |field| String::from_utf8_lossy(&value(field)).into_owned();
                head.names.push(fields.map(name).collect());
            }
            head.bytes += length;
        }
    }
}

/// The length of the first record, with its line end. `None` if it does not end in `text`.
#[inline]
pub fn first(form: Form, dialect: &Dialect, text: &[u8]) -> Option<usize> {
    match form {
        Form::Delimited(_) => dialect.first(text),
        Form::JsonLines => memchr::memchr(b'\n', text).map(|end| end + 1),
    }
}

/// The order of text of a type.
fn collator(kind: Option<ColumnType>, locale: &Locale) -> Result<Collator, Error> {
    Ok(match kind {
        Some(ColumnType::Natural) => Collator::of(locale).natural(),
        Some(ColumnType::Locale) => Collator::of(locale),
        Some(ColumnType::Unicode) => Collator::named("unicode")?,
        _ => Collator::default(),
    })
}

/// The form of the table that `text` is, if it has a record.
pub fn guess(text: &[u8], comment: Option<u8>) -> Option<Form> {
    let dialect = Dialect { separator: b',', comment };
    let mut rest = text;
    while dialect.is_comment(rest) {
        rest = &rest[dialect.first(rest)?..];
    }
    match rest.trim_ascii_start().first()? {
        b'{' | b'[' => Some(Form::JsonLines),
        _ => Some(Form::Delimited(guess_separator(rest, comment).unwrap_or(b','))),
    }
}

impl Opened {
    /// `text` is the beginning of the first input, after a byte order mark, and `is_all` says whether it is all of it.
    pub fn new(table: &Table, form: Form, head: Head, text: &[u8], is_all: bool) -> Result<Opened, String> {
        let dialect = table.dialect(form);
        match form {
            Form::Delimited(separator) => dialect.refuse_separator(separator)?,
            Form::JsonLines if table.order.is_some() => {
                return Err("JSON lines have no columns with positions; give their paths with --by instead of -k and its options".into());
            }
            Form::JsonLines => {}
        }
        let rest = &text[head.bytes..];
        let records = || Sample { dialect, rest, is_all };
        let ends_in_two = first(form, &dialect, text).is_some_and(|end| text[..end].ends_with(b"\r\n"));
        let columns = match (form, head.names.last()) {
            (Form::JsonLines, _) => 0,
            (_, Some(names)) => names.len(),
            (_, None) => records().next().map_or(0, |record| dialect.fields(record).count()),
        };
        let mut opened = Opened {
            form,
            dialect,
            ending: if ends_in_two { b"\r\n" } else { b"\n" },
            header: head.names,
            columns,
            keys: Vec::new(),
            order: table.order.clone(),
            paths: Paths::default(),
            grouping: 0,
            written: None,
            ragged: AtomicU64::new(0),
        };
        let keys: Vec<_> = match &table.keys[..] {
            [] => table.unique.iter().cloned().map(ColumnKey::of).collect(),
            keys => keys.to_vec(),
        };
        for key in &keys {
            let is_missing = |error| match key.of_sql() {
                Some(sql) if form != Form::JsonLines => opened.key(&sql, records()).map_err(|_| error),
                _ => Err(error),
            };
            let mut key = opened.key(key, records()).or_else(is_missing)?;
            key.collator = collator(key.kind, &table.locale).map_err(|error| error.to_string())?;
            opened.keys.push(key);
        }
        opened.paths = Paths::of(opened.keys.iter().filter_map(Key::path));
        opened.grouping = opened.grouping(&table.unique)?;
        if table.rewrites() {
            opened.written = Some(opened.written(table)?);
        }
        Ok(opened)
    }

    /// How records are written, if not as they are read.
    fn written(&self, table: &Table) -> Result<Written, String> {
        let columns = match &table.columns[..] {
            [] => None,
            _ if self.form == Form::JsonLines => {
                return Err("JSON lines have no columns to choose; only the columns of delimited tables can be written".into());
            }
            columns => Some(columns.iter().map(|column| self.index(column)).collect::<Result<_, _>>()?),
        };
        let separator = match (self.form, table.output_separator) {
            (Form::JsonLines, Some(_)) => return Err("JSON lines have no separator".into()),
            (Form::JsonLines, None) => b',',
            (Form::Delimited(separator), other) => other.unwrap_or(separator),
        };
        if table.count.as_ref().is_some_and(|name| name != DEFAULT_COUNT)
            && self.form != Form::JsonLines
            && self.header.is_empty()
        {
            return Err("a column of counts has no name without a header; give --count without NAME".into());
        }
        if let Some(name) = &table.count
            && (self.header.iter().flatten().any(|other| other == name)
                || self.form == Form::JsonLines && name == RECORD)
        {
            return Err(format!(
                "there is a column '{}' already; give another name for the count",
                quote::harmless(name)
            ));
        }
        if self.form != Form::JsonLines {
            self.dialect.refuse_separator(separator)?;
        }
        let is_digit = |byte: Option<u8>| byte.is_some_and(|byte| byte.is_ascii_digit());
        if table.count.is_some() && (is_digit(self.dialect.comment) || is_digit(Some(separator))) {
            return Err("a count has digits, so none can separate fields or begin comments".into());
        }
        Ok(Written { form: self.form, dialect: self.dialect, columns, separator, count: table.count.clone() })
    }

    /// The index of a column of a delimited table.
    fn index(&self, column: &Column) -> Result<usize, String> {
        match self.place(column)?.1 {
            Place::Column(index) => Ok(index),
            Place::Path(_) => unreachable!("only JSON lines have paths"),
        }
    }

    fn key(&self, key: &ColumnKey, records: Sample<'_>) -> Result<Key, String> {
        let (name, place) = self.place(&key.column)?;
        let (kind, is_sniffed) = match (key.kind, &place) {
            (None, Place::Column(column)) => {
                let values: Vec<_> = records
                    .map(|record| self.dialect.fields(record).nth(*column).map(value).unwrap_or_default())
                    .collect();
                (Some(sniff(values.iter().map(|value| &**value))), true)
            }
            (kind, _) => (kind, false),
        };
        let direction = Direction { descending: key.descending, nulls_first: key.nulls_first };
        let collator = Collator::default();
        Ok(Key { name, place, kind, collator, is_sniffed, direction, others: AtomicU64::new(0) })
    }

    /// The column, and its name in messages.
    fn place(&self, column: &Column) -> Result<(String, Place), String> {
        match (self.form, column) {
            (Form::JsonLines, Column::Name(path)) => {
                Ok((format!("'{}'", quote::harmless(path)), Place::Path(Path::read(path)?)))
            }
            (Form::JsonLines, Column::Number(number)) => Err(format!(
                "{number} is not a path of JSON lines, such as .name; put it in quotes if it is a name"
            )),
            (_, Column::Number(number)) if *number > self.columns && self.columns > 0 => {
                Err(format!("there is no column {number}; there are {}", self.columns))
            }
            (_, Column::Number(number)) => {
                let name = self.header.last().and_then(|names| names.get(number - 1));
                let name =
                    name.map_or_else(|| number.to_string(), |name| format!("'{}'", quote::harmless(name)));
                Ok((name, Place::Column(number - 1)))
            }
            (_, Column::Name(name)) => {
                Ok((format!("'{}'", quote::harmless(name)), Place::Column(self.named(name)?)))
            }
        }
    }

    /// The index of the column with a name. Each record of the header may have it.
    fn named(&self, name: &str) -> Result<usize, String> {
        let shown = quote::harmless(name);
        if self.header.is_empty() {
            return Err(format!(
                "there is no header that names a column '{shown}'; give the number of the column"
            ));
        }
        for names in &self.header {
            let mut found =
                names.iter().enumerate().filter(|(_, other)| *other == name).map(|(index, _)| index);
            match (found.next(), found.next()) {
                (Some(index), None) => return Ok(index),
                (Some(_), Some(_)) => {
                    return Err(format!("several columns have the name '{shown}'; give the number of one"));
                }
                (None, _) => {}
            }
        }
        Err(format!("there is no column '{shown}'; the header has {}", listed(&self.header)))
    }

    /// How many of the first keys are these columns.
    fn grouping(&self, columns: &[Column]) -> Result<usize, String> {
        if columns.is_empty() {
            return Ok(self.keys.len());
        }
        let places: Vec<_> = columns.iter().map(|column| self.place(column)).collect::<Result<_, _>>()?;
        let is_wanted = |key: &&Key| places.iter().any(|(_, place)| key.place.is(place));
        let count = self.keys.iter().take_while(is_wanted).count();
        let is_first = |place: &Place| self.keys[..count].iter().any(|key| key.place.is(place));
        match places.iter().find(|(_, place)| !is_first(place)) {
            None => Ok(count),
            Some((name, _)) => {
                Err(format!("records cannot be unique by column {name}: sort by the same columns first"))
            }
        }
    }

    /// That another input has the same columns.
    pub fn compare(&self, head: &Head) -> Result<(), String> {
        if self.header == head.names || head.names.is_empty() {
            return Ok(());
        }
        let sorted = |header: &[Vec<String>]| {
            let mut names: Vec<_> = header.iter().flatten().cloned().collect();
            names.sort();
            names
        };
        let (own, first) = (listed(&head.names), listed(&self.header));
        if sorted(&self.header) == sorted(&head.names) {
            return Err(format!(
                "its columns are in another order than those of the first input: {own}, not {first}"
            ));
        }
        Err(format!("its columns are not those of the first input: {own}, not {first}"))
    }

    /// Appends the first `count` keys of a record. `tell` gets what is wrong with it, and may refuse it.
    #[inline]
    pub fn encode(
        &self,
        record: &[u8],
        count: usize,
        out: &mut Vec<u8>,
        tell: impl Fn(Wrong<'_>) -> Result<(), String>,
    ) -> Result<(), String> {
        if self.dialect.is_comment(record) {
            push_comment(record, out);
            return Ok(());
        }
        let record = without_end(record);
        match self.form {
            Form::JsonLines => self.encode_document(record, count, out, tell),
            Form::Delimited(_) if self.order.is_some() => self.encode_values(record, out, tell),
            Form::Delimited(_) if self.keys.is_empty() => self.encode_all(record, out, tell),
            Form::Delimited(_) => self.encode_fields(record, count, out, tell),
        }
    }

    fn encode_fields(
        &self,
        record: &[u8],
        count: usize,
        out: &mut Vec<u8>,
        tell: impl Fn(Wrong<'_>) -> Result<(), String>,
    ) -> Result<(), String> {
        let keys = &self.keys[..count];
        let (mut few, mut many) = ([&[][..]; FEW], Vec::new());
        let found = if count <= FEW {
            &mut few[..count]
        } else {
            many.resize(count, &[][..]);
            &mut many[..]
        };
        let mut fields = 0;
        for field in self.dialect.fields(record) {
            for (key, found) in keys.iter().zip(&mut *found) {
                if matches!(key.place, Place::Column(column) if column == fields) {
                    *found = field;
                }
            }
            fields += 1;
        }
        // An empty line has no fields.
        if fields != self.columns && !record.is_empty() {
            tell(Wrong::Fields(fields))?;
        }
        for (key, field) in keys.iter().zip(found) {
            let (kind, value) = (key.kind.unwrap_or(ColumnType::Text), value(field));
            if encode(&value, kind, &key.collator, key.direction, out) == Found::Other {
                tell(Wrong::Value(key, &value))?;
            }
        }
        Ok(())
    }

    /// All columns as text. A record that has fewer comes first.
    fn encode_all(
        &self,
        record: &[u8],
        out: &mut Vec<u8>,
        tell: impl Fn(Wrong<'_>) -> Result<(), String>,
    ) -> Result<(), String> {
        let direction = Direction { descending: false, nulls_first: false };
        let mut fields = 0;
        let collator = Collator::default();
        for field in self.dialect.fields(record) {
            encode(&value(field), ColumnType::Text, &collator, direction, out);
            fields += 1;
        }
        out.push(0);
        if fields != self.columns && !record.is_empty() { tell(Wrong::Fields(fields)) } else { Ok(()) }
    }

    /// The keys of `-k`, in the values of all columns.
    fn encode_values(
        &self,
        record: &[u8],
        out: &mut Vec<u8>,
        tell: impl Fn(Wrong<'_>) -> Result<(), String>,
    ) -> Result<(), String> {
        let (mut line, mut fields) = (Vec::with_capacity(record.len()), 0);
        for field in self.dialect.fields(record) {
            if fields > 0 {
                line.push(BETWEEN_VALUES);
            }
            line.extend_from_slice(&value(field));
            fields += 1;
        }
        if let Some(order) = &self.order {
            out.push(BEFORE_COMMENTS);
            order.encode(&line, 0, out);
        }
        if fields != self.columns && !record.is_empty() { tell(Wrong::Fields(fields)) } else { Ok(()) }
    }

    fn encode_document(
        &self,
        record: &[u8],
        count: usize,
        out: &mut Vec<u8>,
        tell: impl Fn(Wrong<'_>) -> Result<(), String>,
    ) -> Result<(), String> {
        let (mut few, mut many) = ([None; FEW], Vec::new());
        let values = if self.keys.len() <= FEW {
            &mut few[..self.keys.len()]
        } else {
            many.resize(self.keys.len(), None);
            &mut many[..]
        };
        if !json::is_blank(record) {
            json::find(record, &self.paths, values)?;
        }
        for (key, &mut value) in self.keys[..count].iter().zip(values) {
            let Some(kind) = key.kind else {
                let mut encoded = Ok(());
                key.direction.encode(out, |out| {
                    encoded = value.map_or(Ok(()), |value| json::encode(value, out));
                });
                encoded?;
                continue;
            };
            let string = value.map_or(Ok(None), json::string)?;
            let text = match (&string, value) {
                (Some(string), _) => string.as_bytes(),
                (None, None | Some("null")) => b"",
                (None, Some(text)) => text.as_bytes(),
            };
            if encode(text, kind, &key.collator, key.direction, out) == Found::Other {
                tell(Wrong::Value(key, text))?;
            }
        }
        if self.keys.is_empty() {
            out.extend_from_slice(record);
        }
        Ok(())
    }
}

/// Appends the key of what comes after all records.
pub fn push_comment(line: &[u8], out: &mut Vec<u8>) {
    out.push(AFTER_ALL);
    out.extend_from_slice(line);
}

impl Place {
    fn is(&self, other: &Place) -> bool {
        match (self, other) {
            (Place::Column(a), Place::Column(b)) => a == b,
            (Place::Path(a), Place::Path(b)) => a == b,
            _ => false,
        }
    }
}

/// What may be wrong with a record.
pub enum Wrong<'a> {
    /// It has this many fields.
    Fields(usize),
    /// A value does not have the type of its key.
    Value(&'a Key, &'a [u8]),
}

impl Wrong<'_> {
    pub fn count(&self, opened: &Opened) {
        match self {
            Wrong::Fields(_) => &opened.ragged,
            Wrong::Value(key, _) => &key.others,
        }
        .fetch_add(1, Relaxed);
    }

    pub fn message(&self, opened: &Opened) -> String {
        match self {
            Wrong::Fields(fields) => {
                format!("the record does not have {} fields, but {fields}", opened.columns)
            }
            Wrong::Value(key, value) => {
                let text: String = String::from_utf8_lossy(value).chars().take(QUOTED).collect();
                format!("'{}' in column {} is not a {}", quote::harmless(&text), key.name, key.kind_name())
            }
        }
    }
}

impl Key {
    fn path(&self) -> Option<&Path> {
        match &self.place {
            Place::Path(path) => Some(path),
            Place::Column(_) => None,
        }
    }

    pub fn kind_name(&self) -> &'static str {
        self.kind.map_or("JSON value", ColumnType::name)
    }
}

/// The records at the start of a text, without their line ends and without comments.
#[derive(Clone, Copy)]
struct Sample<'t> {
    dialect: Dialect,
    rest: &'t [u8],
    is_all: bool,
}

impl<'t> Iterator for Sample<'t> {
    type Item = &'t [u8];

    fn next(&mut self) -> Option<&'t [u8]> {
        loop {
            let length = match self.dialect.first(self.rest) {
                Some(length) => length,
                None if self.is_all && !self.rest.is_empty() => self.rest.len(),
                None => return None,
            };
            let (record, rest) = self.rest.split_at(length);
            self.rest = rest;
            if !self.dialect.is_comment(record) {
                return Some(without_end(record));
            }
        }
    }
}

/// The names of a header in a message.
fn listed(header: &[Vec<String>]) -> String {
    let names: Vec<_> = header.iter().flatten().map(|name| format!("'{}'", quote::harmless(name))).collect();
    match &names[..] {
        [] => "no names".into(),
        names if names.len() <= 20 => names.join(", "),
        names => format!("{} and {} more", names[..20].join(", "), names.len() - 20),
    }
}
