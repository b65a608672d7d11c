//! `sort_file` for lines of text and for records of FASTA and FASTQ, by the crate `sortie-files`.

use std::path::{Path, PathBuf};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rayon::ThreadPool;
use sortie::Report;
use sortie_files::compression::Compression;
use sortie_files::formats::sequences::{SequenceKey, SequenceOrder, SequenceSort};
use sortie_files::formats::text::{LineOrder, LineSort, TextOrder};
use sortie_files::{Input, Output, Sink, Task, Temporary};

use crate::errors::Failure;
use crate::watch::watched;

/// The most memory that a sort uses unless the caller limits it, so that it stops within a few seconds.
const MOST: u64 = 512 << 20;

/// A sort of a file that is not of numbers.
pub struct Job {
    pub path: PathBuf,
    pub out: PathBuf,
    pub content: Content,
    /// The most memory in bytes.
    pub budget: u64,
    /// Whether the caller chose it.
    pub is_limited: bool,
}

/// The order of a file's lines or records.
pub enum Content {
    Lines(TextOrder),
    Records(SequenceOrder),
}

/// The key of records of this name.
pub fn key(name: &str) -> PyResult<SequenceKey> {
    match name {
        "sequence" => Ok(SequenceKey::Sequence),
        "name" => Ok(SequenceKey::Name),
        "length" => Ok(SequenceKey::Length),
        other => Err(PyValueError::new_err(format!(
            "unknown key {other:?} of records; choose \"sequence\", \"name\" or \"length\""
        ))),
    }
}

/// The order of lines that the arguments define.
pub fn order(
    keys: Vec<String>,
    separator: Option<&str>,
    descending: bool,
    stable: bool,
    unique: bool,
) -> PyResult<TextOrder> {
    let separator = match separator.map(str::as_bytes) {
        None => None,
        Some(&[byte]) => Some(byte),
        Some(_) => {
            return Err(PyValueError::new_err(format!(
                "separator is {:?}; give one ASCII character",
                separator.unwrap_or_default()
            )));
        }
    };
    let key = |text: String| {
        text.parse().map_err(|why| PyValueError::new_err(format!("the key {text:?} is not valid: {why}")))
    };
    let mut order = TextOrder {
        keys: keys.into_iter().map(key).collect::<PyResult<_>>()?,
        separator,
        stable,
        unique,
        ..TextOrder::default()
    };
    order.options.reverse = descending;
    Ok(order)
}

impl Job {
    /// Sorts the file by the threads of `pool`.
    pub fn run(
        self,
        pool: &ThreadPool,
        folder: PathBuf,
        progress: Option<&Py<PyAny>>,
    ) -> Result<Report, Failure> {
        let input = Input::named(&named(&self.path));
        if matches!(self.content, Content::Lines(_)) {
            input.examine()?;
        }
        // Programs that read records expect gzip in blocks.
        let bgzf = matches!(self.content, Content::Records(_));
        let compression = Compression::of(None, Some(&self.out), bgzf)?;
        let budget = if self.is_limited { self.budget } else { self.budget.min(MOST) };
        let temporary = Temporary { folders: vec![folder], ..Temporary::default() };
        let mut output = Output::open(Some(&self.out), &temporary.folders[0], compression)?;
        let size = input.size();
        let report = watched(progress, size.map(|size| 2 * size), |ledger| {
            pool.install(|| {
                let task = Task::new(&temporary, budget, &ledger);
                let sink: Sink<'_> = &mut |bytes| {
                    ledger.check()?;
                    ledger.progress.advance(bytes.len() as u64);
                    output.write(bytes)
                };
                match &self.content {
                    Content::Lines(order) => {
                        let start = |_| Ok(pool.current_num_threads());
                        let sort = LineSort::new(LineOrder::new(order)?, &start, &ledger);
                        let sort = sort.within(task.budget, self.is_limited, size);
                        sort.sort_inputs(vec![input], size, &task, sink)
                    }
                    Content::Records(order) => SequenceSort::new(*order, task.budget, true, &ledger)
                        .sort_inputs(vec![input], &task, sink),
                }
            })?;
            Ok(ledger.close())
        })?;
        pool.install(|| output.finish())?;
        Ok(report)
    }
}

/// The same path, but not the name of standard input.
fn named(path: &Path) -> PathBuf {
    if path.as_os_str() == "-" { Path::new(".").join(path) } else { path.to_owned() }
}
