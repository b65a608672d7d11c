//! `sort_file`: arrays in files, of any size.
//!
//! Chunks that fit in memory are sorted and become runs in a temporary file. To merge them, a part of each run is read. All
//! keys up to the least of the last keys that were read are then complete: nothing that is still in the file goes before them.
//! They are sorted together, by all threads, which is faster than a merge key by key.

use std::fs::{File, Metadata, Permissions};
use std::io::{self, Read, Seek, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Instant;

use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::{Borrowed, intern};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, openat};
use sortie::{Bound as Limit, Error, Report};
use tempfile::TempPath;

use crate::buffer::Buffer;
use crate::call::{Threads, run_here};
use crate::errors::Failure;
use crate::kind::{self, Kind, Leaf};
use crate::numbers::Numbers;
use crate::options::{Count, Given, Options};

/// Bytes that are sorted between two looks at signals: a second of work at most.
const CHUNK: u64 = 256 << 20;

/// The least memory that a sort takes.
const LEAST: u64 = 4 << 20;

/// The least part of a run that is read at a time. Smaller ones take longer to find than to read.
const LEAST_PART: u64 = 4 << 10;

/// How every `.npy` file begins.
const MAGIC: &[u8] = b"\x93NUMPY";

/// Sorts a file of numbers, which may be larger than memory, and writes the result to another.
///
/// path
///     A ``.npy`` file with an array of one dimension, which is recognised by its content, or raw numbers.
/// out
///     The file for the result, of the same kind. It is replaced when the result is complete, and may be ``path``. A symbolic
///     link stays, and the file that it leads to is replaced, with the same permissions. Temporary files are in its folder,
///     without names where the file system allows that.
/// dtype
///     The type of raw numbers: any type of number, ``datetime64`` and ``timedelta64``, in either byte order.
/// memory_limit
///     The most memory in bytes, at least 4 MiB. By default, half of what is available.
/// progress
///     Called with the bytes that are done and those that there are to do.
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
    let budget = memory_limit.map_or_else(|| (available() / 2).max(LEAST), |limit| limit.0);
    if budget < LEAST {
        return Err(PyValueError::new_err(format!(
            "memory_limit is {budget}; a file needs at least {LEAST} bytes"
        )));
    }
    let given = Given { descending, stable: None, nans, threads, memory_limit: Some(Count(budget)), engine };
    let options = given.ordered(order)?;
    let input = Input::open(py, path.0, dtype)?;
    let out = Target::of(out.0)?;
    let n = (input.bytes / input.leaf.width as u64) as usize;
    let progress = progress.map(Bound::unbind);
    run_here(py, &options, n, |threads| {
        let task = Task { options: &options, threads, budget, progress: progress.as_ref() };
        Ok(((), task.publish(input, &out)?))
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
            return Err(larger(&path, size).into());
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
        Ok(Input { file, header, bytes, leaf, path })
    }

    /// Returns an error if the file has more bytes than it said.
    fn check_end(&mut self) -> Result<(), Failure> {
        match self.file.read(&mut [0]).map_err(on(&self.path))? {
            0 => Ok(()),
            _ => Err(larger(&self.path, self.header.len() as u64 + self.bytes)),
        }
    }
}

/// The error for a file that is larger than its size, as those in `/proc` are.
fn larger(path: &Path, size: u64) -> Failure {
    Failure::Raised(PyValueError::new_err(format!(
        "{} has more than the {size} bytes that the system said it has; copy it to another file first",
        path.display()
    )))
}

/// Where the result goes.
struct Target {
    /// The file that is replaced: not a symbolic link, but what it leads to.
    file: PathBuf,
    folder: PathBuf,
    /// The permissions of the file that is replaced.
    permissions: Option<Permissions>,
}

impl Target {
    fn of(path: PathBuf) -> Result<Target, Failure> {
        let file = followed(&path)?;
        let permissions = match file.metadata() {
            Ok(metadata) => {
                check_regular(&path, &metadata)?;
                Some(metadata.permissions())
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(on(&path)(error)),
        };
        let folder = match file.parent() {
            Some(parent) if parent != Path::new("") => parent.to_owned(),
            _ => PathBuf::from("."),
        };
        if !folder.metadata().map_err(on(&path))?.is_dir() {
            return Err(on(&path)(io::ErrorKind::NotADirectory.into()));
        }
        Ok(Target { file, folder, permissions })
    }
}

/// The most links that lead from one to the next, as in Linux.
const MOST_LINKS: usize = 40;

/// What symbolic links lead to, even if it does not exist.
fn followed(path: &Path) -> Result<PathBuf, Failure> {
    let mut file = path.to_owned();
    for _ in 0..MOST_LINKS {
        if !file.symlink_metadata().is_ok_and(|metadata| metadata.is_symlink()) {
            return Ok(file);
        }
        let to = file.read_link().map_err(on(path))?;
        file = file.parent().unwrap_or(Path::new("")).join(to);
    }
    Err(on(path)(io::Error::from_raw_os_error(rustix::io::Errno::LOOP.raw_os_error())))
}

/// The folder in which a process finds its open files by descriptor. A link from it gives a name to a file that has none.
const OPEN_FILES: &str = "/proc/self/fd";

/// A result that is being written. It has no name, so nothing is left of it if the process is killed. On file systems without
/// unnamed files, it has a temporary one, which is removed after an error.
struct Draft {
    file: File,
    name: Option<TempPath>,
}

impl Draft {
    fn new(target: &Target) -> io::Result<Draft> {
        let flags = OFlags::RDWR | OFlags::TMPFILE | OFlags::CLOEXEC;
        let unnamed = match Path::new(OPEN_FILES).exists() {
            true => openat(CWD, &target.folder, flags, Mode::from(0o666)).ok(),
            false => None,
        };
        let draft = match unnamed {
            Some(file) => Draft { file: file.into(), name: None },
            None => {
                // If `openat` failed for another reason, this fails for the same reason.
                let named = names().permissions(Permissions::from_mode(0o666)).tempfile_in(&target.folder)?;
                let (file, name) = named.into_parts();
                Draft { file, name: Some(name) }
            }
        };
        if let Some(permissions) = &target.permissions {
            draft.file.set_permissions(permissions.clone())?;
        }
        Ok(draft)
    }

    /// Gives the complete result its name.
    fn publish(self, target: &Target) -> io::Result<()> {
        let name = match self.name {
            Some(name) => name,
            None if link(&self.file, &target.file).is_ok() => return Ok(()),
            // A link cannot replace a file; a rename can.
            None => names().make_in(&target.folder, |name| link(&self.file, name))?.into_temp_path(),
        };
        name.persist(&target.file).map_err(|refused| refused.error)
    }
}

fn names() -> tempfile::Builder<'static, 'static> {
    let mut names = tempfile::Builder::new();
    names.prefix(".sortie-");
    names
}

/// Gives a name to an unnamed file.
fn link(file: &File, name: &Path) -> io::Result<()> {
    let open = format!("{OPEN_FILES}/{}", file.as_raw_fd());
    Ok(linkat(CWD, &open, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
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

/// The memory that the system says is available, or a guess.
fn available() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"));
    let kibibytes = line.and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
    kibibytes.map_or(1 << 30, |kibibytes| kibibytes << 10)
}

/// A sort of a file.
struct Task<'a> {
    options: &'a Options,
    threads: &'a Threads,
    budget: u64,
    progress: Option<&'a Py<PyAny>>,
}

impl Task<'_> {
    /// Sorts the numbers, and puts the result in place of `out` when it is complete.
    fn publish(&self, input: Input, out: &Target) -> Result<Report, Failure> {
        let mut draft = Draft::new(out).map_err(on(&out.file))?;
        draft.file.write_all(&input.header).map_err(on(&out.file))?;
        let report = self.sort(input, out, &mut draft.file)?;
        draft.publish(out).map_err(on(&out.file))?;
        Ok(report)
    }

    fn sort(&self, mut input: Input, out: &Target, sink: &mut File) -> Result<Report, Failure> {
        let width = input.leaf.width as u64;
        let numbers = Numbers::of(input.leaf.kind, self.options).expect("only numbers are opened");
        let chunk = (self.budget / 2).min(CHUNK) / width * width;
        let alone = input.bytes <= chunk;
        let work = if alone { input.bytes } else { 2 * input.bytes };
        let mut report = Report::default();
        let runs =
            if alone { None } else { Some(tempfile::tempfile_in(&out.folder).map_err(on(&out.folder))?) };
        let mut buffer = Buffer::new(chunk.min(input.bytes) as usize)?;
        let mut done = 0;
        while done < input.bytes {
            let keys = &mut buffer.bytes_mut()[..chunk.min(input.bytes - done) as usize];
            timed(&mut report, "read", keys.len(), 0, || input.file.read_exact(keys))
                .map_err(on(&input.path))?;
            input.leaf.swap(keys);
            report.absorb(self.threads.install(|| numbers.sort(keys, None, false, chunk as usize))?);
            let (mut to, path) = match &runs {
                Some(runs) => (runs, &out.folder),
                None => {
                    input.leaf.swap(keys);
                    (&*sink, &out.file)
                }
            };
            timed(&mut report, "write", 0, keys.len(), || to.write_all(keys)).map_err(on(path))?;
            done += keys.len() as u64;
            self.tell(done, work)?;
        }
        input.check_end()?;
        drop(buffer);
        if let Some(runs) = runs {
            let parts = Parts { numbers: &numbers, leaf: &input.leaf, runs: &runs, out };
            self.merge(&parts, input.bytes, chunk, sink, &mut report)?;
        }
        Ok(report)
    }

    /// Merges runs of `chunk` bytes, of which there are `bytes` bytes.
    fn merge(
        &self,
        parts: &Parts<'_>,
        bytes: u64,
        chunk: u64,
        sink: &mut File,
        report: &mut Report,
    ) -> Result<(), Failure> {
        let width = parts.leaf.width as u64;
        let count = bytes.div_ceil(chunk);
        // Half of the memory is for scratch. What is read takes up to a quarter, and so does a copy of it.
        let part = self.budget / 4 / count / width * width;
        if part < LEAST_PART {
            return Err(Failure::Sort(Error::Memory {
                bound: Limit::Limit,
                needed: count * (LEAST_PART + width) * 4,
                available: self.budget,
                hint: "the file has many more bytes than memory",
            }));
        }
        let run = |from: u64| Run::new(from, (from + chunk).min(bytes), part as usize);
        let mut runs = (0..count).map(|i| run(i * chunk)).collect::<Result<Vec<_>, _>>()?;
        let mut merged = Buffer::new((part * count) as usize)?;
        let mut done = bytes;
        loop {
            for run in &mut runs {
                run.fill(parts.runs, report).map_err(on(&parts.out.folder))?;
            }
            let Some(len) = parts.complete(&mut runs, merged.bytes_mut())? else { return Ok(()) };
            let keys = &mut merged.bytes_mut()[..len];
            let held = 2 * (part * count) as usize;
            report.absorb(self.threads.install(|| parts.numbers.sort(keys, None, false, held))?);
            parts.leaf.swap(keys);
            timed(report, "write", 0, len, || sink.write_all(keys)).map_err(on(&parts.out.file))?;
            done += len as u64;
            self.tell(done, 2 * bytes)?;
        }
    }

    /// Tells the caller how far the sort is, and stops it if it is to stop.
    fn tell(&self, done: u64, work: u64) -> Result<(), Failure> {
        Python::attach(|py| {
            py.check_signals()?;
            if let Some(progress) = self.progress {
                progress.call1(py, (done, work))?;
            }
            Ok(())
        })
    }
}

/// The file of runs, and what is in it.
struct Parts<'a> {
    numbers: &'a Numbers<'a>,
    leaf: &'a Leaf,
    runs: &'a File,
    out: &'a Target,
}

impl Parts<'_> {
    /// Moves the keys that are complete to `into`, in any order, and returns how many bytes they have. `None` at the end.
    fn complete(&self, runs: &mut [Run], into: &mut [u8]) -> Result<Option<usize>, Failure> {
        let width = self.leaf.width;
        let mut bound: Option<u64> = None;
        for run in runs.iter().filter(|run| run.from < run.to) {
            let last = self.code(&run.keys()[run.keys().len() - width..])?;
            bound = Some(bound.map_or(last, |bound| bound.min(last)));
        }
        let mut len = 0;
        for run in runs {
            let keys = run.keys();
            let count = match bound {
                None => keys.len() / width,
                Some(bound) => self.up_to(keys, bound)?,
            };
            let bytes = count * width;
            into[len..len + bytes].copy_from_slice(&keys[..bytes]);
            len += bytes;
            run.at += bytes;
        }
        Ok((len > 0).then_some(len))
    }

    /// How many sorted keys have codes up to this one.
    fn up_to(&self, keys: &[u8], bound: u64) -> Result<usize, Failure> {
        let (mut low, mut high) = (0, keys.len() / self.leaf.width);
        while low < high {
            let middle = low.midpoint(high);
            let at = middle * self.leaf.width;
            if self.code(&keys[at..at + self.leaf.width])? <= bound {
                low = middle + 1
            } else {
                high = middle
            }
        }
        Ok(low)
    }

    fn code(&self, key: &[u8]) -> Result<u64, Failure> {
        let mut copy = Buffer::new(key.len())?;
        copy.bytes_mut().copy_from_slice(key);
        Ok(self.numbers.codes(copy.bytes_mut())?[0])
    }
}

/// A run, and the part of it that is in memory.
struct Run {
    /// What is still to be read.
    from: u64,
    to: u64,
    part: Buffer,
    /// The keys of the part that are not used yet.
    at: usize,
    end: usize,
}

impl Run {
    fn new(from: u64, to: u64, part: usize) -> Result<Run, Failure> {
        Ok(Run { from, to, part: Buffer::new(part)?, at: 0, end: 0 })
    }

    fn keys(&self) -> &[u8] {
        &self.part.bytes()[self.at..self.end]
    }

    /// Reads the next part, if the last one is used up.
    fn fill(&mut self, file: &File, report: &mut Report) -> io::Result<()> {
        if self.at < self.end || self.from == self.to {
            return Ok(());
        }
        let part = self.part.bytes_mut();
        let len = part.len().min((self.to - self.from) as usize);
        timed(report, "read", len, 0, || file.read_exact_at(&mut part[..len], self.from))?;
        (self.at, self.end, self.from) = (0, len, self.from + len as u64);
        Ok(())
    }
}

/// Runs a step, and adds it to the report.
fn timed<R>(
    report: &mut Report,
    name: &'static str,
    read: usize,
    written: usize,
    step: impl FnOnce() -> R,
) -> R {
    let start = Instant::now();
    let result = step();
    report.add(name, start.elapsed(), read as u64, written as u64);
    result
}
