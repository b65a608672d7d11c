//! `sort_file` and `check_file` for all but numbers: lines of text, records and tables, by the crate `sortie-files`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use pyo3::Borrowed;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use rayon::ThreadPool;
use sortie::Report;
use sortie_files::compression::Compression;
use sortie_files::formats::sequences::{Format, SequenceKey, SequenceOrder, SequenceSort, check_sequences};
use sortie_files::formats::tables::{Column, ColumnKey, Form, Table, marker};
use sortie_files::formats::text::{LineOrder, LineSort, TextOrder, check_text};
use sortie_files::formats::{Choices, Keep, Prefixed, check_layout, merge_layout, sort_layout};
use sortie_files::{Error, Input, Ledger, Sink, Task, Temporary, memory};

use crate::errors::Failure;
use crate::options::Count;
use crate::watch::watched;

/// The most memory that a sort uses unless the caller limits it, so that it stops within a few seconds.
const MOST: u64 = 512 << 20;

/// What a file holds, if not numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Kind {
    Lines,
    Records(Format),
    Prefixed,
    /// A table, of the given form unless its name or its first record is to say that.
    Table(Option<Form>),
}

impl Kind {
    fn items(self) -> &'static str {
        match self {
            Kind::Lines => "lines",
            Kind::Records(_) => "records",
            Kind::Prefixed => "records after their lengths",
            Kind::Table(_) => "a table",
        }
    }
}

/// The kinds of files that an argument is for.
struct Takers {
    items: &'static str,
    takes: fn(Kind) -> bool,
}

const ALL: Takers = Takers { items: "lines, records and tables", takes: |_| true };
const LINES: Takers = Takers { items: "lines", takes: |kind| kind == Kind::Lines };
const TABLES: Takers = Takers { items: "tables", takes: |kind| matches!(kind, Kind::Table(_)) };
const LINES_AND_TABLES: Takers =
    Takers { items: "lines and tables", takes: |kind| matches!(kind, Kind::Lines | Kind::Table(_)) };
const RECORDS_AND_TABLES: Takers =
    Takers { items: "records and tables", takes: |kind| matches!(kind, Kind::Records(_) | Kind::Table(_)) };

/// What a call says of a file that is not of numbers.
#[derive(Default)]
pub struct Asked<'a> {
    pub format: Option<&'a str>,
    pub keys: Option<Keys>,
    pub separator: Option<&'a str>,
    pub unique: Option<Unique>,
    pub stable: bool,
    pub by: Option<By>,
    pub delimiter: Option<&'a str>,
    pub header: Option<Count>,
    pub comment: Option<&'a str>,
    pub strict: bool,
    pub keep: Option<&'a str>,
    pub count: Option<Counted>,
    pub duplicates: Option<PathBuf>,
    pub columns: Option<By>,
    pub output_delimiter: Option<&'a str>,
    pub top: Option<Count>,
    pub merge: bool,
    pub descending: bool,
}

/// The order of a file's content, and how much of it is written.
pub struct Order {
    content: Content,
    top: Option<u64>,
    merge: bool,
}

enum Content {
    Lines(TextOrder),
    Records(SequenceOrder),
    Prefixed { descending: bool, unique: bool },
    Table { table: Box<Table>, form: Option<Form>, unique: bool, keep: Keep, duplicates: Option<PathBuf> },
}

impl Asked<'_> {
    /// What the file holds. `None` for numbers.
    pub fn kind(&self) -> PyResult<Option<Kind>> {
        let form = self.delimiter.map(|text| special("delimiter", text)).transpose()?.map(Form::Delimited);
        let kind = match self.format {
            None if form.is_some() || self.by.is_some() => Kind::Table(form),
            None if self.keys.is_some() || self.separator.is_some() => Kind::Lines,
            None => {
                self.check(None)?;
                return Ok(None);
            }
            Some("lines") => Kind::Lines,
            Some("fasta") => Kind::Records(Format::Fasta),
            Some("fastq") => Kind::Records(Format::Fastq),
            Some("prefixed") => Kind::Prefixed,
            Some(name @ ("csv" | "tsv" | "jsonl")) => {
                if form.is_some() {
                    return Err(PyValueError::new_err("a table has one form: give format or delimiter"));
                }
                Kind::Table(Some(match name {
                    "csv" => Form::Delimited(b','),
                    "tsv" => Form::Delimited(b'\t'),
                    _ => Form::JsonLines,
                }))
            }
            Some(other) => {
                return Err(PyValueError::new_err(format!(
                    "unknown format {other:?}; choose \"lines\", \"fasta\", \"fastq\", \"prefixed\", \"csv\", \"tsv\" or \"jsonl\""
                )));
            }
        };
        Ok(Some(kind))
    }

    /// Refuses an argument that is given and is not for this kind of file, or not for numbers.
    fn check(&self, kind: Option<Kind>) -> PyResult<()> {
        let arguments = [
            ("keys", self.keys.is_some(), LINES),
            ("separator", self.separator.is_some(), LINES),
            ("unique", self.unique.as_ref().is_some_and(Unique::is_given), ALL),
            ("stable", self.stable, ALL),
            ("top", self.top.is_some(), LINES_AND_TABLES),
            ("merge", self.merge, LINES_AND_TABLES),
            ("by", self.by.is_some(), RECORDS_AND_TABLES),
            ("delimiter", self.delimiter.is_some(), TABLES),
            ("header", self.header.is_some(), TABLES),
            ("comment", self.comment.is_some(), TABLES),
            ("strict", self.strict, TABLES),
            ("keep", self.keep.is_some(), TABLES),
            ("count", self.count.as_ref().is_some_and(|count| count.0.is_some()), TABLES),
            ("duplicates", self.duplicates.is_some(), TABLES),
            ("columns", self.columns.is_some(), TABLES),
            ("output_delimiter", self.output_delimiter.is_some(), TABLES),
        ];
        let is_wrong = |takers: &Takers| !kind.is_some_and(takers.takes);
        let wrong = arguments.iter().find(|(_, is_given, takers)| *is_given && is_wrong(takers));
        match (wrong, kind) {
            (None, _) => Ok(()),
            (Some((name, _, takers)), Some(kind)) => refuse(&[(name, true)], takers.items, kind),
            (Some((name, _, takers)), None) => Err(PyValueError::new_err(format!(
                "{name} is for {}; give their format, such as \"lines\" or \"csv\", or by",
                takers.items
            ))),
        }
    }

    /// The order of a file of this kind.
    pub fn order(self, kind: Kind) -> PyResult<Order> {
        self.check(Some(kind))?;
        let (top, merge) = (self.top.map(|count| count.0), self.merge);
        if top.is_some() && merge {
            return Err(PyValueError::new_err("top is for sorts; leave out merge"));
        }
        let content = match kind {
            Kind::Lines => Content::Lines(self.lines()?),
            Kind::Records(format) => {
                let by = self.by.map_or(Ok(SequenceKey::default()), |by| key(&by.0))?;
                let (descending, unique) = (self.descending, of_all(self.unique)?);
                Content::Records(SequenceOrder { descending, unique, ..SequenceOrder::new(format, by) })
            }
            Kind::Prefixed => Content::Prefixed { descending: self.descending, unique: of_all(self.unique)? },
            Kind::Table(form) => self.table(form)?,
        };
        Ok(Order { content, top, merge })
    }

    fn lines(self) -> PyResult<TextOrder> {
        let key = |text: String| {
            text.parse().map_err(|why| PyValueError::new_err(format!("the key {text:?} is not valid: {why}")))
        };
        let keys = self.keys.map_or_else(Vec::new, |Keys(keys)| keys);
        let mut order = TextOrder {
            keys: keys.into_iter().map(key).collect::<PyResult<_>>()?,
            separator: self.separator.map(|text| byte("separator", text)).transpose()?,
            stable: self.stable,
            unique: of_all(self.unique)?,
            ..TextOrder::default()
        };
        order.options.reverse = self.descending;
        Ok(order)
    }

    fn table(self, form: Option<Form>) -> PyResult<Content> {
        if self.descending {
            return Err(PyValueError::new_err(
                "descending is for other files than tables; write \":desc\" after the name of a column, as in by=\"price:desc\"",
            ));
        }
        let (unique, names) = match self.unique {
            None => (false, Vec::new()),
            Some(Unique::Switch(unique)) => (unique, Vec::new()),
            Some(Unique::Columns(names)) => (true, columns(&names)?),
        };
        let count = self.count.and_then(|count| count.0);
        let of_unique = [
            (self.keep.is_some(), "keep says which of equal records is kept"),
            (count.is_some(), "count counts equal records"),
            (self.duplicates.is_some(), "duplicates is for what is left out of equal records"),
        ];
        if let Some((_, what)) = of_unique.iter().find(|(is_given, _)| *is_given && !unique) {
            return Err(PyValueError::new_err(format!("{what}; give unique=True or unique=NAMES too")));
        }
        let keep = match self.keep {
            None | Some("first") => Keep::First,
            Some("last") => Keep::Last,
            Some("none") => Keep::None,
            Some(other) => {
                return Err(PyValueError::new_err(format!(
                    "keep is {other:?}; choose \"first\", \"last\" or \"none\""
                )));
            }
        };
        let list = |text: &String| {
            ColumnKey::list(text)
                .map_err(|why| PyValueError::new_err(format!("the key {text:?} is not valid: {why}")))
        };
        let keys = self.by.map_or_else(Vec::new, |By(keys)| keys);
        let comment = self.comment.map(|text| special("comment", text)).transpose()?;
        let mut table = Table::by(keys.iter().map(list).collect::<PyResult<Vec<_>>>()?.concat());
        table.header = self.header.map_or(1, |count| usize::try_from(count.0).unwrap_or(usize::MAX));
        table.comment = comment;
        table.strict = self.strict;
        table.unique = names;
        table.count = count;
        table.columns = self.columns.map_or(Ok(Vec::new()), |By(names)| columns(&names))?;
        table.output_separator =
            self.output_delimiter.map(|text| special("output_delimiter", text)).transpose()?;
        Ok(Content::Table { table: Box::new(table), form, unique, keep, duplicates: self.duplicates })
    }
}

/// Returns an error for the first of these arguments that is given.
pub fn refuse(arguments: &[(&str, bool)], of: &str, kind: Kind) -> PyResult<()> {
    match arguments.iter().find(|(_, is_given)| *is_given) {
        Some((name, _)) => {
            Err(PyValueError::new_err(format!("{name} is for {of}, and this is a sort of {}", kind.items())))
        }
        None => Ok(()),
    }
}

/// A character of one byte.
fn byte(argument: &str, text: &str) -> PyResult<u8> {
    match text.as_bytes() {
        &[byte] => Ok(byte),
        _ => Err(PyValueError::new_err(format!("{argument} is {text:?}; give one ASCII character"))),
    }
}

/// A character that separates fields of a table, or begins comments.
fn special(argument: &str, text: &str) -> PyResult<u8> {
    marker(byte(argument, text)?)
        .map_err(|why| PyValueError::new_err(format!("{argument} is {text:?}: {why}")))
}

/// The key of FASTA or FASTQ records.
fn key(names: &[String]) -> PyResult<SequenceKey> {
    match names.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["sequence"] => Ok(SequenceKey::Sequence),
        ["name"] => Ok(SequenceKey::Name),
        ["length"] => Ok(SequenceKey::Length),
        _ => Err(PyValueError::new_err(format!(
            "unknown key {:?} of records; choose \"sequence\", \"name\" or \"length\"",
            names.join(",")
        ))),
    }
}

/// One key of lines, or several.
pub struct Keys(Vec<String>);

impl<'a, 'py> FromPyObject<'a, 'py> for Keys {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Keys> {
        texts(object, "keys must be a text such as \"2,2n\", or a list of such texts").map(Keys)
    }
}

/// One key of a table or of records, or several.
pub struct By(Vec<String>);

impl<'a, 'py> FromPyObject<'a, 'py> for By {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<By> {
        texts(object, "by must be a text such as \"price:number:desc\", or a list of such texts").map(By)
    }
}

/// Whether only one of several items with equal keys is kept, or the columns of a table that are compared for that.
pub enum Unique {
    Switch(bool),
    Columns(Vec<String>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Unique {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Unique> {
        if let Ok(switch) = object.extract::<bool>() {
            return Ok(Unique::Switch(switch));
        }
        texts(object, "unique must be True, False, the name of a column or a list of names")
            .map(Unique::Columns)
    }
}

/// The name of the column with counts, if there is one.
pub struct Counted(Option<String>);

impl<'a, 'py> FromPyObject<'a, 'py> for Counted {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Counted> {
        if let Ok(switch) = object.extract::<bool>() {
            return Ok(Counted(switch.then(|| "count".to_owned())));
        }
        let name = object
            .extract()
            .map_err(|_| PyTypeError::new_err("count must be True, False or the name of a column"))?;
        Ok(Counted(Some(name)))
    }
}

impl Unique {
    fn is_given(&self) -> bool {
        !matches!(self, Unique::Switch(false))
    }
}

/// Whether one of several items with equal keys is kept, where they have no columns.
fn of_all(unique: Option<Unique>) -> PyResult<bool> {
    match unique {
        None => Ok(false),
        Some(Unique::Switch(unique)) => Ok(unique),
        Some(Unique::Columns(_)) => {
            Err(PyValueError::new_err("unique names columns, but only tables have columns; give True"))
        }
    }
}

/// The columns that these lists name.
fn columns(names: &[String]) -> PyResult<Vec<Column>> {
    let lists = names.iter().map(|names| ColumnKey::columns(names)).collect::<Result<Vec<_>, _>>();
    Ok(lists.map_err(PyValueError::new_err)?.concat())
}

/// One text, or several.
fn texts(object: Borrowed<'_, '_, PyAny>, expected: &'static str) -> PyResult<Vec<String>> {
    match object.extract::<String>() {
        Ok(text) => Ok(vec![text]),
        Err(_) => object.extract().map_err(|_| PyTypeError::new_err(expected)),
    }
}

/// A sort of files that are not of numbers.
pub struct Job {
    pub paths: Vec<PathBuf>,
    pub out: PathBuf,
    pub order: Order,
    /// The most memory in bytes.
    pub budget: u64,
    /// Whether the caller chose it.
    pub is_limited: bool,
}

impl Job {
    /// Sorts the files by the threads of `pool`. Also returns what was unexpected in them.
    pub fn run(
        mut self,
        pool: &ThreadPool,
        folder: PathBuf,
        progress: Option<&Py<PyAny>>,
    ) -> Result<(Vec<String>, Report), Failure> {
        let inputs: Vec<Input> = self.paths.iter().map(|path| Input::named(&named(path))).collect();
        if !self.is_limited {
            self.budget = self.budget.min(MOST);
        }
        let size = match self.order.content {
            Content::Prefixed { .. } => inputs.iter().map(Input::raw_size).sum::<Option<u64>>(),
            _ => inputs.iter().map(Input::size).sum(),
        };
        // A merge only tells what it writes.
        let work = size.map(|size| if self.order.merge { size } else { 2 * size });
        if let Content::Table { table, form, .. } = &mut self.order.content {
            table.form = form.or_else(|| inputs.first().and_then(Form::of_name));
        }
        let temporary = Temporary { folders: vec![folder], ..Temporary::default() };
        let report = watched(progress, work, |ledger| {
            pool.install(|| match &self.order.content {
                Content::Lines(order) => self.sort_lines(order, inputs, size, &temporary, ledger),
                Content::Records(order) => self.sort_records(order, inputs, &temporary, ledger),
                Content::Prefixed { descending, unique } => {
                    let (descending, unique) = (*descending, *unique);
                    let choices = Choices { descending, unique, ..self.choices(temporary, ledger) };
                    Ok(sort_layout(&Prefixed, inputs, Some(&self.out), &choices)?)
                }
                Content::Table { table, unique, keep, duplicates, .. } => {
                    let (unique, keep, top, duplicates) =
                        (*unique, *keep, self.order.top, duplicates.clone());
                    let choices =
                        Choices { unique, keep, top, duplicates, ..self.choices(temporary, ledger) };
                    let sort = if self.order.merge { merge_layout::<Table> } else { sort_layout };
                    Ok(sort(table, inputs, Some(&self.out), &choices)?)
                }
            })
        })?;
        Ok((self.order.notes(), report))
    }

    /// The choices of a sort that tells its progress to a ledger.
    fn choices(&self, temporary: Temporary, ledger: Ledger) -> Choices {
        let progress = Some(Arc::clone(&ledger.progress));
        Choices { memory: Some(memory::leaving(self.budget)), temporary, progress, ..Choices::default() }
    }

    fn sort_lines(
        &self,
        order: &TextOrder,
        inputs: Vec<Input>,
        size: Option<u64>,
        temporary: &Temporary,
        ledger: Ledger,
    ) -> Result<Report, Failure> {
        inputs.iter().try_for_each(Input::examine)?;
        let start = |_| Ok(rayon::current_num_threads());
        let sort = LineSort::new(LineOrder::new(order)?, &start, &ledger);
        let sort = sort.within(self.budget, self.is_limited, size);
        self.publish(false, temporary, &ledger, |task, sink| match self.order.top {
            Some(count) => sort.top_inputs(count, inputs, size, task, sink),
            None if self.order.merge => sort.merge_inputs(inputs, size, task, sink),
            None => sort.sort_inputs(inputs, size, task, sink),
        })?;
        drop(sort);
        Ok(ledger.close())
    }

    fn sort_records(
        &self,
        order: &SequenceOrder,
        inputs: Vec<Input>,
        temporary: &Temporary,
        ledger: Ledger,
    ) -> Result<Report, Failure> {
        let sort = SequenceSort::new(*order, self.budget, true, &ledger);
        // Programs that read records expect gzip in blocks.
        self.publish(true, temporary, &ledger, |task, sink| sort.sort_inputs(inputs, task, sink))?;
        Ok(ledger.close())
    }

    /// Has `sort` write to the output. `bgzf` says whether gzip is in blocks.
    fn publish(
        &self,
        bgzf: bool,
        temporary: &Temporary,
        ledger: &Ledger,
        sort: impl FnOnce(&Task<'_>, Sink<'_>) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let compression = Compression::of(None, Some(&self.out), bgzf)?;
        let task = Task::new(temporary, self.budget, ledger);
        task.publish(Some(&self.out), compression, |sink| sort(&task, sink))
    }
}

impl Order {
    /// The file of the records that are left out as equal.
    pub fn duplicates(&self) -> Option<&Path> {
        match &self.content {
            Content::Table { duplicates, .. } => duplicates.as_deref(),
            _ => None,
        }
    }

    /// What was unexpected in the content that was read.
    fn notes(&self) -> Vec<String> {
        match &self.content {
            Content::Table { table, .. } => table.surprises(),
            _ => Vec::new(),
        }
    }
}

/// What a check has found.
pub struct Checked {
    /// The number of the first line or record that is out of order.
    pub number: Option<u64>,
    /// What was unexpected in the file.
    pub notes: Vec<String>,
}

/// Checks the order of a file by the threads of `pool`.
pub fn check(
    path: &Path,
    mut order: Order,
    budget: u64,
    pool: &ThreadPool,
) -> Result<(Checked, Report), Failure> {
    let input = Input::named(&named(path));
    let choices = Choices { memory: Some(memory::leaving(budget)), ..Choices::default() };
    let (number, report) = pool.install(|| match &mut order.content {
        Content::Lines(order) => {
            let found = check_text(order, &input)?;
            Ok::<_, Error>((found.map(|found| found.number), Report::default()))
        }
        Content::Records(order) => {
            let found = check_sequences(order, input, choices.memory)?;
            Ok((found.map(|found| found.line), Report::default()))
        }
        Content::Prefixed { descending, unique } => {
            let choices = Choices { descending: *descending, unique: *unique, ..choices };
            let (found, report) = check_layout(&Prefixed, input, &choices)?;
            Ok((found.map(|found| found.number), report))
        }
        Content::Table { table, form, unique, .. } => {
            table.form = form.or_else(|| Form::of_name(&input));
            let (found, report) =
                check_layout::<Table>(table, input, &Choices { unique: *unique, ..choices })?;
            Ok((found.map(|found| found.line), report))
        }
    })?;
    Ok((Checked { number, notes: order.notes() }, report))
}

/// The same path, but not the name of standard input.
fn named(path: &Path) -> PathBuf {
    if path.as_os_str() == "-" { Path::new(".").join(path) } else { path.to_owned() }
}
