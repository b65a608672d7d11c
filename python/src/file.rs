//! `sort_file`: arrays in files, of any size, by the crate `sortie-files`.

use std::cmp::Ordering;
use std::fs::{File, Metadata};
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::{Borrowed, intern};
use sortie::Report;
use sortie_files::{Error, Items, Ledger, Output, Progress, Sink, Task, Temporary, limits, sort_items};

use crate::call::{Threads, run_here};
use crate::errors::Failure;
use crate::kind::{self, Kind, Leaf};
use crate::numbers::Numbers;
use crate::options::{Count, Given};

/// The most memory that a sort uses, so that it stops within about a second.
const MOST: u64 = 512 << 20;

/// The least memory that a sort takes.
const LEAST: u64 = 4 << 20;

/// The least scratch memory that a sort in memory may use.
const LEAST_SCRATCH: usize = 1 << 20;

/// Bytes that are written between two looks at whether to stop.
const PIECE: usize = 1 << 20;

/// How long the calling thread waits between two looks at signals.
const PATIENCE: Duration = Duration::from_millis(50);

/// How every `.npy` file begins.
const MAGIC: &[u8] = b"\x93NUMPY";

/// Sorts a file of numbers, which may be larger than memory, and writes the result to another.
///
/// path
///     A ``.npy`` file with an array of one dimension, which is recognised by its content, or raw numbers.
/// out
///     The file for the result, of the same kind. It is replaced when the result is complete, and may be ``path``. A symbolic
///     link stays, and the file that it leads to is replaced, with the same owner, permissions and other attributes. Temporary
///     files are in its folder, without names where the file system allows that.
/// dtype
///     The type of raw numbers: any type of number, ``datetime64`` and ``timedelta64``, in either byte order.
/// memory_limit
///     The most memory in bytes, at least 4 MiB. By default, half of what is available.
/// progress
///     Called with the bytes that were read and written, and those that there are to read and write.
///
/// Takes the other arguments of :func:`sort`. Control-C stops it within about a second, and leaves ``out`` as it was.
///
/// Raises as :func:`sort`, and ``OSError`` if a file cannot be read or written.
///
/// >>> import numpy as np, sortie, tempfile, os
/// >>> folder = tempfile.TemporaryDirectory()
/// >>> name = os.path.join(folder.name, "a.npy")
/// >>> np.save(name, np.array([3, 1, 2]))
/// >>> sortie.sort_file(name, name)
/// >>> np.load(name)
/// array([1, 2, 3])
#[pyfunction]
#[pyo3(
    signature = (path, out, *, dtype=None, descending=false, nans="last", order="numpy", threads=None, memory_limit=None,
        engine="auto", progress=None)
)]
#[allow(clippy::too_many_arguments)]
pub fn sort_file(
    py: Python<'_>,
    path: FilePath,
    out: FilePath,
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
    let budget = memory_limit.map_or_else(|| (limits::available() / 2).max(LEAST), |limit| limit.0);
    if budget < LEAST {
        return Err(PyValueError::new_err(format!(
            "memory_limit is {budget}; a file needs at least {LEAST} bytes"
        )));
    }
    let given = Given { descending, stable: None, nans, threads, memory_limit: Some(Count(budget)), engine };
    let options = given.ordered(order)?;
    let input = Input::open(py, path.0, dtype)?;
    let out = out.0;
    check_target(&out)?;
    let n = (input.bytes / input.leaf.width as u64) as usize;
    let progress = progress.map(Bound::unbind);
    run_here(py, &options, n, |threads| {
        let numbers = Numbers::of(input.leaf.kind, &options).expect("only numbers are opened");
        Ok(((), sort_into(input, &numbers, threads, budget, &out, progress.as_ref())?))
    })
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
                    "{} is not a .npy file; give the dtype of its numbers",
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
    let (tell, told) = mpsc::channel();
    let stop = Arc::new(AtomicBool::new(false));
    let ledger = Ledger::new(Arc::new(Told { tell: Mutex::new(tell), stop: stop.clone() }));
    let work = 2 * input.bytes;
    let (sorted, raised) = thread::scope(|scope| {
        let sort = scope.spawn(|| {
            let elements = Elements { leaf: input.leaf, numbers, threads, budget };
            let task = Task::new(&temporary, budget.min(MOST), &ledger).with_threads(threads.count());
            let (bytes, leaf) = (input.bytes, input.leaf);
            let mut feed = |into: &mut [u8]| {
                let filled = input.fill(into)?;
                ledger.progress.advance(filled as u64);
                Ok(filled)
            };
            let sorted = sort_items(&elements, &task, &mut feed, Some(bytes), &mut |stored| {
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
            });
            drop(task);
            sorted.map(|()| ledger.close())
        });
        let mut raised = None;
        let mut done = 0;
        loop {
            let more = match told.recv_timeout(PATIENCE) {
                Ok(bytes) => bytes,
                Err(RecvTimeoutError::Timeout) => 0,
                Err(RecvTimeoutError::Disconnected) => break,
            };
            done += more;
            if raised.is_none()
                && let Err(error) = tell_python(progress.filter(|_| more > 0), done, work)
            {
                raised = Some(error);
                stop.store(true, Relaxed);
            }
        }
        (sort.join(), raised)
    });
    if let Some(error) = raised {
        return Err(error.into());
    }
    let report = sorted.unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
    output.finish()?;
    Ok(report)
}

/// Tells the caller how far the sort is. The calling thread alone learns of signals.
fn tell_python(progress: Option<&Py<PyAny>>, done: u64, work: u64) -> PyResult<()> {
    Python::attach(|py| {
        py.check_signals()?;
        match progress {
            Some(progress) => progress.call1(py, (done, work)).map(drop),
            None => Ok(()),
        }
    })
}

/// Tells the calling thread of the progress, and learns from it whether to stop.
struct Told {
    tell: Mutex<Sender<u64>>,
    stop: Arc<AtomicBool>,
}

impl Progress for Told {
    fn stage(&self, _: &'static str, _: u64) {}

    fn advance(&self, bytes: u64) {
        // The receiver stays until this sender is dropped.
        let _ = self.tell.lock().expect("no thread panics with it").send(bytes);
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Relaxed)
    }
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
