//! `sort_file`: files of any size, by the crate `sortie-files`. Arrays are sorted here.

use std::cmp::Ordering;
use std::ffi::CString;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};

use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::{PyTypeError, PyUserWarning, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use pyo3::{Borrowed, intern};
use sortie::{Engine, Report};
use sortie_files::{Error, Items, Ledger, Output, Sink, Task, Temporary, limits, sort_items};

use crate::call::{Threads, run_here, run_with_pool};
use crate::errors::Failure;
use crate::kind::{self, Kind, Leaf};
use crate::numbers::Numbers;
use crate::options::{Count, Given};
use crate::text_file::{Asked, By, Counted, Job, Keys, Unique, check, refuse};
use crate::watch::watched;

/// The most memory that a sort uses, so that it stops within about a second.
const MOST: u64 = 512 << 20;

/// The least memory that a sort takes.
const LEAST: u64 = 4 << 20;

/// The least scratch memory that a sort in memory may use.
const LEAST_SCRATCH: usize = 1 << 20;

/// Bytes that are written between two looks at whether to stop.
const PIECE: usize = 1 << 20;

/// How every `.npy` file begins.
const MAGIC: &[u8] = b"\x93NUMPY";

/// Sorts a file, which may be larger than memory, and writes the result to another.
///
/// path
///     A ``.npy`` file with an array of one dimension, which is recognised by its content, raw numbers of the type ``dtype``, or
///     text or records of the ``format``. Text that is compressed with gzip, BGZF, zstd, xz, bzip2 or lz4 is recognised by its
///     content. Other files are refused. Except for numbers, a list of paths is sorted as one.
/// out
///     The file for the result, of the same kind. It is replaced when the result is complete, and may be one of the inputs. A symbolic
///     link stays, and the file that it leads to is replaced, with the same owner, permissions and other attributes. Temporary
///     files are in its folder, without names where the file system allows that. Text is compressed if the name says so, as in
///     ``out.zst``.
/// format
///     ``"lines"`` for lines of text, which are sorted as GNU sort sorts them in the C locale; ``"fasta"`` or ``"fastq"`` for whole
///     records, which keep every byte; ``"prefixed"`` for binary records, each after its number of bytes as a little-endian integer
///     of 4 bytes; ``"csv"``, ``"tsv"`` or ``"jsonl"`` for tables, whose records keep every byte.
/// keys
///     A key of lines, or a list of them, the most significant first: ``F[.C][OPTS][,F[.C][OPTS]]``, as ``-k`` of ``sort`` has
///     them. ``"2,2n"`` is the second field as a number. By default, whole lines are compared. Implies ``format="lines"``.
/// separator
///     The character between fields of lines. By default, fields are separated by blanks. Implies ``format="lines"``.
/// unique
///     Keep only the first of several lines or records with equal keys. For a table, it may be the names of the columns to compare, if
///     not all those of ``by``.
/// stable
///     Keep the order of lines with equal keys. By default, all their bytes are compared. Records always keep their order.
/// by
///     A key of a table, or a list of them, the most significant first: ``NAME[:TYPE][:desc][:nulls-first]``. NAME is a name in the
///     header, a number from 1, or a path such as ``.a.b[0]`` in JSON lines; TYPE is ``text``, ``number``, ``date`` or ``version``. By
///     default, all columns are compared as text. Without a ``format``, the file is a table, and its name or its first record says
///     which. The key of FASTA and FASTQ is ``"sequence"`` (the default), ``"name"`` or ``"length"``.
/// delimiter
///     The character between fields of a table, if it is neither a comma nor a tab. Implies a table.
/// header
///     The number of records at the start of each table that are not sorted: 1 by default, 0 if columns have no names. Several tables
///     must have the same header, which is written once.
/// comment
///     Lines of a table that begin with this character are comments: those before the first record stay in front, others come last.
/// strict
///     Refuse a table with a value that does not have its column's type, or a record with too few or too many fields. By default such
///     a value is null, and a ``UserWarning`` says how many there are.
/// keep
///     With ``unique``, which of several records of a table with equal keys is kept: ``"first"`` (the default), ``"last"`` or ``"none"``.
/// count
///     With ``unique``, write how many records of a table have the keys of each, in a first column ``count``, or of this name.
/// duplicates
///     With ``unique``, a file for the records of a table that are left out as equal, after the same header.
/// columns
///     The columns of a table to write, in this order: names or numbers as in ``by``. By default, all of them.
/// output_delimiter
///     The character to write between the fields of a table, if another than was read.
/// top
///     The number of lines, or of records of a table, to write, if not all. The others are not sorted.
/// merge
///     Merge lines or tables that are each sorted, instead of sorting them.
/// dtype
///     The type of raw numbers: any type of number, ``datetime64`` and ``timedelta64``, in either byte order.
/// memory_limit
///     The most memory in bytes, at least 4 MiB. By default, half of what is available, and at most 512 MiB. A record of FASTA or FASTQ
///     may need a limit of 7 times its size, or 14 times in FASTA by sequence.
/// progress
///     Called with the bytes that were read and written, and those that there are to read and write: ``None`` if an input is
///     compressed.
///
/// Takes the other arguments of :func:`sort`; ``nans``, ``order`` and ``engine`` are for numbers. With ``descending``, keys with
/// letters of their own keep their direction, as with ``sort -r``. Control-C stops the sort within about a second, or within a few
/// seconds if ``memory_limit`` is large, and leaves ``out`` as it was.
///
/// Raises as :func:`sort`, and ``OSError`` if a file cannot be read or written. Other errors of a file are those of the program,
/// as a ``ValueError`` with the name of the file, the line and the reason.
///
/// >>> import numpy as np, sortie, tempfile, os
/// >>> folder = tempfile.TemporaryDirectory()
/// >>> name = os.path.join(folder.name, "a.npy")
/// >>> np.save(name, np.array([3, 1, 2]))
/// >>> sortie.sort_file(name, name)
/// >>> np.load(name)
/// array([1, 2, 3])
/// >>> name = os.path.join(folder.name, "a.csv")
/// >>> with open(name, "w") as file:
/// ...     _ = file.write("item,price\nplums,10\npears,9\n")
/// >>> sortie.sort_file(name, name, by="price")
/// >>> with open(name) as file:
/// ...     file.read()
/// 'item,price\npears,9\nplums,10\n'
/// >>> sortie.sort_file(name, name, separator=",", keys="2nr")
/// >>> with open(name) as file:
/// ...     file.read()
/// 'plums,10\npears,9\nitem,price\n'
#[pyfunction]
#[pyo3(
    signature = (path, out, *, format=None, keys=None, separator=None, unique=None, stable=false, by=None, delimiter=None,
        header=None, comment=None, strict=false, keep=None, count=None, duplicates=None, columns=None, output_delimiter=None,
        top=None, merge=false, dtype=None, descending=false, nans="last", order="numpy", threads=None, memory_limit=None, engine="auto", progress=None)
)]
#[allow(clippy::too_many_arguments)]
pub fn sort_file(
    py: Python<'_>,
    path: Paths,
    out: FilePath,
    format: Option<&str>,
    keys: Option<Keys>,
    separator: Option<&str>,
    unique: Option<Unique>,
    stable: bool,
    by: Option<By>,
    delimiter: Option<&str>,
    header: Option<Count>,
    comment: Option<&str>,
    strict: bool,
    keep: Option<&str>,
    count: Option<Counted>,
    duplicates: Option<FilePath>,
    columns: Option<By>,
    output_delimiter: Option<&str>,
    top: Option<Count>,
    merge: bool,
    dtype: Option<&Bound<'_, PyAny>>,
    descending: bool,
    nans: &str,
    order: &str,
    threads: Option<Count>,
    memory_limit: Option<Count>,
    engine: &str,
    progress: Option<Bound<'_, PyAny>>,
) -> PyResult<()> {
    if let Some(other) = progress.as_ref().filter(|progress| !progress.is_callable()) {
        let found = other.get_type().name()?;
        return Err(PyTypeError::new_err(format!("progress must be a function, not {found}")));
    }
    let budget = budget(memory_limit)?;
    let is_limited = memory_limit.is_some();
    let given = Given { descending, stable: None, nans, threads, memory_limit: Some(Count(budget)), engine };
    let options = given.ordered(order)?;
    let of_numbers = [
        ("dtype", dtype.is_some()),
        ("nans", nans != "last"),
        ("order", order != "numpy"),
        ("engine", !matches!(options.engine, Engine::Auto | Engine::Cpu)),
    ];
    let asked = Asked {
        format,
        keys,
        separator,
        unique,
        stable,
        by,
        delimiter,
        header,
        comment,
        strict,
        keep,
        count,
        duplicates: duplicates.map(|path| path.0),
        columns,
        output_delimiter,
        top,
        merge,
        descending,
    };
    let progress = progress.map(Bound::unbind);
    let (mut paths, out) = (path.0, out.0);
    let Some(kind) = asked.kind()? else {
        if paths.len() > 1 {
            return Err(PyValueError::new_err(format!(
                "one array is sorted at a time, but {} files were given; sort each separately",
                paths.len()
            )));
        }
        let input = Input::open(py, paths.remove(0), dtype)?;
        check_target(&out)?;
        let n = (input.bytes / input.leaf.width as u64) as usize;
        return run_here(py, &options, n, |threads| {
            let numbers = Numbers::of(input.leaf.kind, &options).expect("only numbers are opened");
            Ok(((), sort_into(input, &numbers, threads, budget, &out, progress.as_ref())?))
        });
    };
    refuse(&of_numbers, "numbers", kind)?;
    let order = asked.order(kind)?;
    paths.iter().try_for_each(|path| check_regular(path, &path.metadata().map_err(on(path))?))?;
    check_target(&out)?;
    order.duplicates().map_or(Ok(()), check_target)?;
    let folder = folder_of(&out);
    let job = Job { paths, out, order, budget, is_limited };
    let notes = run_with_pool(py, &options, |pool| job.run(pool, folder, progress.as_ref()))?;
    warn(py, &notes)
}

/// Finds the first line or record of a file that is out of order.
///
/// path
///     A file of lines, records or a table, as for :func:`sort_file`.
///
/// Takes the arguments of :func:`sort_file` that say what the file is, and its order. One of ``format``, ``keys``, ``separator``, ``by``
/// and ``delimiter`` must be given. With ``unique``, a line or record with the key of the one before is out of order too.
///
/// Returns the number of that line, from 1, or of that record if ``format`` is ``"prefixed"``, and ``None`` if all are in order. Reads
/// the file once, and stops at what is out of order.
///
/// Raises as :func:`sort_file`.
///
/// >>> import sortie, tempfile, os
/// >>> folder = tempfile.TemporaryDirectory()
/// >>> name = os.path.join(folder.name, "a.csv")
/// >>> with open(name, "w") as file:
/// ...     _ = file.write("item,price\npears,9\nplums,10\nfigs,8\n")
/// >>> sortie.check_file(name, by="price")
/// 4
/// >>> sortie.check_file(name, format="lines", unique=True)
/// 4
#[pyfunction]
#[pyo3(
    signature = (path, *, format=None, keys=None, separator=None, unique=None, stable=false, by=None, delimiter=None, header=None,
        comment=None, strict=false, descending=false, threads=None, memory_limit=None)
)]
#[allow(clippy::too_many_arguments)]
pub fn check_file(
    py: Python<'_>,
    path: FilePath,
    format: Option<&str>,
    keys: Option<Keys>,
    separator: Option<&str>,
    unique: Option<Unique>,
    stable: bool,
    by: Option<By>,
    delimiter: Option<&str>,
    header: Option<Count>,
    comment: Option<&str>,
    strict: bool,
    descending: bool,
    threads: Option<Count>,
    memory_limit: Option<Count>,
) -> PyResult<Option<u64>> {
    let budget = budget(memory_limit)?;
    let memory = Some(Count(budget));
    let given =
        Given { descending, stable: None, nans: "last", threads, memory_limit: memory, engine: "cpu" };
    let options = given.ordered("numpy")?;
    let asked = Asked {
        format,
        keys,
        separator,
        unique,
        stable,
        by,
        delimiter,
        header,
        comment,
        strict,
        descending,
        ..Asked::default()
    };
    let path = path.0;
    let Some(kind) = asked.kind()? else {
        return Err(PyValueError::new_err(
            "check_file is for lines, records and tables; give their format, keys or by. For numbers, use is_sorted",
        ));
    };
    let order = asked.order(kind)?;
    check_regular(&path, &path.metadata().map_err(on(&path))?)?;
    let found = run_with_pool(py, &options, |pool| check(&path, order, budget, pool))?;
    warn(py, &found.notes)?;
    Ok(found.number)
}

/// The memory that a call may use.
fn budget(memory_limit: Option<Count>) -> PyResult<u64> {
    let budget = memory_limit.map_or_else(|| (limits::available() / 2).max(LEAST), |limit| limit.0);
    if budget < LEAST {
        return Err(PyValueError::new_err(format!(
            "memory_limit is {budget}; a file needs at least {LEAST} bytes"
        )));
    }
    Ok(budget)
}

/// Warns of what was unexpected in a table.
fn warn(py: Python<'_>, notes: &[String]) -> PyResult<()> {
    let class = py.get_type::<PyUserWarning>();
    notes.iter().try_for_each(|note| PyErr::warn(py, &class, &CString::new(note.as_str())?, 1))
}

/// A path: a string, bytes or an object of `os.PathLike`.
pub struct FilePath(PathBuf);

impl<'a, 'py> FromPyObject<'a, 'py> for FilePath {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<FilePath> {
        let py = object.py();
        let text = py.import(intern!(py, "os"))?.call_method1(intern!(py, "fsdecode"), (object,))?;
        Ok(FilePath(text.extract()?))
    }
}

/// A path, or a list or tuple of them.
pub struct Paths(Vec<PathBuf>);

impl<'a, 'py> FromPyObject<'a, 'py> for Paths {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Paths> {
        if !object.is_instance_of::<PyList>() && !object.is_instance_of::<PyTuple>() {
            return Ok(Paths(vec![object.extract::<FilePath>()?.0]));
        }
        let paths: Vec<FilePath> = object.extract()?;
        if paths.is_empty() {
            return Err(PyValueError::new_err("path is an empty list; name at least one file"));
        }
        Ok(Paths(paths.into_iter().map(|path| path.0).collect()))
    }
}

/// What makes the error of an operation on a file.
fn on(path: &Path) -> impl Fn(io::Error) -> Failure {
    |error| Failure::File(error, path.to_owned())
}

/// Returns an error for what is not a regular file: its size is not known, and it cannot be replaced.
fn check_regular(path: &Path, metadata: &Metadata) -> Result<(), Failure> {
    if metadata.is_dir() {
        return Err(on(path)(io::ErrorKind::IsADirectory.into()));
    }
    if !metadata.is_file() {
        return Err(Failure::Raised(PyValueError::new_err(format!(
            "{} is not a regular file, but a device, pipe or socket; sort_file needs files on a disk",
            path.display()
        ))));
    }
    Ok(())
}

/// Numbers in a file.
struct Input {
    file: File,
    /// What is before them.
    header: Vec<u8>,
    bytes: u64,
    /// The bytes of numbers that were not read yet.
    left: u64,
    leaf: Leaf,
    path: PathBuf,
}

impl Input {
    fn open(py: Python<'_>, path: PathBuf, dtype: Option<&Bound<'_, PyAny>>) -> PyResult<Input> {
        let dtype = dtype.map(|dtype| PyArrayDescr::new(py, dtype)).transpose()?;
        // Before it is opened: to open a pipe may wait for ever.
        check_regular(&path, &path.metadata().map_err(on(&path))?)?;
        let mut file = File::open(&path).map_err(on(&path))?;
        let size = file.metadata().map_err(on(&path))?.len();
        let mut magic = Vec::new();
        Read::by_ref(&mut file).take(MAGIC.len() as u64).read_to_end(&mut magic).map_err(on(&path))?;
        file.rewind().map_err(on(&path))?;
        if magic.len() as u64 > size {
            return Err(PyValueError::new_err(larger(&path, size)));
        }
        let (header, expected, dtype) = if magic == MAGIC {
            let (found, rows, start) = npy_header(py, &path)?;
            if let Some(dtype) = dtype.filter(|dtype| !dtype.is_equiv_to(&found)) {
                return Err(PyValueError::new_err(format!(
                    "{} has numbers of type {found}, not {dtype}; leave out dtype",
                    path.display()
                )));
            }
            let mut header = vec![0; start];
            file.read_exact(&mut header).map_err(on(&path))?;
            (header, Some(rows), found)
        } else {
            let dtype = dtype.ok_or_else(|| {
                PyTypeError::new_err(format!(
                    "{} is not a .npy file; give the dtype of its numbers, the keys of its lines, the columns to sort a table by, or \
                     its format, such as \"lines\"",
                    path.display()
                ))
            })?;
            (Vec::new(), None, dtype)
        };
        let leaf = kind::leaf(&dtype).map_err(|error| {
            PyTypeError::new_err(format!(
                "{} has other data than numbers: {}",
                path.display(),
                error.value(py)
            ))
        })?;
        if !matches!(leaf.kind, Kind::Number(_) | Kind::Time) {
            return Err(PyTypeError::new_err(format!(
                "{} has elements of {dtype}; sort_file sorts numbers. Load the file with np.load, and use sortie.sort",
                path.display()
            )));
        }
        let bytes = size - header.len() as u64;
        let width = leaf.width as u64;
        if !bytes.is_multiple_of(width) || expected.is_some_and(|rows| rows.saturating_mul(width) != bytes) {
            return Err(PyValueError::new_err(format!(
                "{} has {bytes} bytes of numbers, which does not fit its header or numbers of {width} bytes; it may be cut short",
                path.display()
            )));
        }
        Ok(Input { file, header, bytes, left: bytes, leaf, path })
    }

    /// Fills `numbers` with the next ones in the machine's byte order, and returns the number of bytes filled.
    fn fill(&mut self, numbers: &mut [u8]) -> Result<usize, Error> {
        let width = self.leaf.width;
        let room = (numbers.len() / width * width) as u64;
        let numbers = &mut numbers[..room.min(self.left) as usize];
        self.file.read_exact(numbers).map_err(Error::file("read", &self.path))?;
        self.left -= numbers.len() as u64;
        if self.left == 0 && self.file.read(&mut [0]).map_err(Error::file("read", &self.path))? > 0 {
            return Err(Error::invalid(larger(&self.path, self.header.len() as u64 + self.bytes)));
        }
        self.leaf.swap(numbers);
        Ok(numbers.len())
    }
}

/// The error for a file that is larger than its size, as those in `/proc` are.
fn larger(path: &Path, size: u64) -> String {
    format!(
        "{} has more than the {size} bytes that the system said it has; copy it to another file first",
        path.display()
    )
}

/// Returns an error if the result cannot go to `path` because of what is there.
fn check_target(path: &Path) -> Result<(), Failure> {
    match path.metadata() {
        Ok(metadata) => check_regular(path, &metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(on(path)(error)),
    }
}

/// The folder of the result, in which temporary files are too.
fn folder_of(path: &Path) -> PathBuf {
    let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    match target.parent() {
        Some(folder) if folder != Path::new("") => folder.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Type and number of the elements in a `.npy` file, and where they begin, as NumPy reads it.
fn npy_header<'py>(py: Python<'py>, path: &Path) -> PyResult<(Bound<'py, PyArrayDescr>, u64, usize)> {
    let format = py.import("numpy.lib.format")?;
    let file = py.import("io")?.call_method1("open", (path, "rb"))?;
    let wrong = |error: PyErr| {
        PyValueError::new_err(format!("{} is not a valid .npy file: {}", path.display(), error.value(py)))
    };
    let version: (u8, u8) = format.call_method1("read_magic", (&file,)).map_err(wrong)?.extract()?;
    let read = if version == (1, 0) { "read_array_header_1_0" } else { "read_array_header_2_0" };
    let header = format.call_method1(read, (&file,)).map_err(wrong)?;
    let (shape, _, dtype): (Vec<u64>, bool, Bound<'py, PyArrayDescr>) = header.extract()?;
    let start = file.call_method0("tell")?.extract()?;
    file.call_method0("close")?;
    match shape[..] {
        [rows] => Ok((dtype, rows, start)),
        _ => Err(PyValueError::new_err(format!(
            "{} has an array of {} dimensions; sort_file sorts one",
            path.display(),
            shape.len()
        ))),
    }
}

/// Sorts numbers from a file into the file `out`, which is replaced once the result is complete.
fn sort_into(
    mut input: Input,
    numbers: &Numbers<'_>,
    threads: &Threads,
    budget: u64,
    out: &Path,
    progress: Option<&Py<PyAny>>,
) -> Result<Report, Failure> {
    let temporary = Temporary { folders: vec![folder_of(out)], ..Temporary::default() };
    let mut output = Output::open(Some(out), &temporary.folders[0], None)?;
    output.write(&input.header)?;
    let report = watched(progress, Some(2 * input.bytes), |ledger| {
        let elements = Elements { leaf: input.leaf, numbers, threads, budget };
        let task = Task::new(&temporary, budget.min(MOST), &ledger).with_threads(threads.count());
        let (bytes, leaf) = (input.bytes, input.leaf);
        let mut feed = |into: &mut [u8]| {
            let filled = input.fill(into)?;
            ledger.progress.advance(filled as u64);
            Ok(filled)
        };
        sort_items(&elements, &task, &mut feed, Some(bytes), &mut |stored| {
            ledger.check()?;
            if leaf.swapped {
                let mut swapped = sortie_files::memory::room(stored.len())?;
                swapped.extend_from_slice(stored);
                leaf.swap(&mut swapped);
                output.write(&swapped)?;
            } else {
                output.write(stored)?;
            }
            ledger.progress.advance(stored.len() as u64);
            Ok(())
        })?;
        drop(task);
        Ok(ledger.close())
    })?;
    output.finish()?;
    Ok(report)
}

/// Numbers as items of one width.
struct Elements<'a> {
    leaf: Leaf,
    numbers: &'a Numbers<'a>,
    threads: &'a Threads,
    budget: u64,
}

impl Items for Elements<'_> {
    type Order = ();

    fn width(&self) -> usize {
        self.leaf.width
    }

    fn beside(&self) -> usize {
        self.leaf.width
    }

    fn sort(&self, items: &mut [u8], ledger: &Ledger) -> Result<(), Error> {
        let held = (self.budget as usize).saturating_sub(items.len().max(LEAST_SCRATCH));
        let report = self.threads.install(|| self.numbers.sort(items, None, false, held))?;
        ledger.absorb(report);
        Ok(())
    }

    fn write(&self, items: &[u8], (): &(), _: &mut Vec<u8>, sink: Sink<'_>) -> Result<(), Error> {
        items.chunks(PIECE).try_for_each(sink)
    }

    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        let mut words = [0u64; 2];
        let pair = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut words)[..2 * self.leaf.width];
        pair[..self.leaf.width].copy_from_slice(a);
        pair[self.leaf.width..].copy_from_slice(b);
        match self.numbers.codes(pair) {
            Ok(codes) => codes[0].cmp(&codes[1]),
            Err(_) => panic!("there is no memory for two numbers"),
        }
    }
}
