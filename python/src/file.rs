//! `sort_file`: arrays in files, of any size.
//!
//! Chunks that fit in memory are sorted and become runs in a temporary file. To merge them, a part of each run is read. All
//! keys up to the least of the last keys that were read are then complete: nothing that is still in the file goes before them.
//! They are sorted together, by all threads, which is faster than a merge key by key.

use std::fs::{File, Permissions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{FileExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Instant;

use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use sortie::{Bound as Limit, Error, Report};

use crate::buffer::Buffer;
use crate::call::{Threads, run_here};
use crate::errors::Failure;
use crate::kind::{self, Leaf};
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
///     The file for the result, of the same kind. It is replaced when the result is complete, and may be ``path``. Temporary
///     files are in its folder, without names.
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
    path: PathBuf,
    out: PathBuf,
    dtype: Option<&Bound<'_, PyAny>>,
    descending: bool,
    nans: &str,
    order: &str,
    threads: Option<Count>,
    memory_limit: Option<Count>,
    engine: &str,
    progress: Option<Py<PyAny>>,
) -> PyResult<()> {
    let budget = memory_limit.map_or_else(|| (available() / 2).max(LEAST), |limit| limit.0);
    if budget < LEAST {
        return Err(PyValueError::new_err(format!(
            "memory_limit is {budget}; a file needs at least {LEAST} bytes"
        )));
    }
    let given = Given { descending, stable: None, nans, threads, memory_limit: Some(Count(budget)), engine };
    let options = given.ordered(order)?;
    let input = Input::open(py, &path, dtype)?;
    if input.leaf.width == 0 {
        return Err(PyTypeError::new_err("elements of the file have no bytes; give a type of numbers"));
    }
    let n = (input.bytes / input.leaf.width as u64) as usize;
    run_here(py, &options, n, |threads| {
        let task = Task { options: &options, threads, budget, progress: progress.as_ref() };
        Ok(((), task.publish(input, &out)?))
    })
}

/// Numbers in a file.
struct Input {
    file: File,
    /// What is before them.
    header: Vec<u8>,
    bytes: u64,
    leaf: Leaf,
}

impl Input {
    fn open(py: Python<'_>, path: &Path, dtype: Option<&Bound<'_, PyAny>>) -> PyResult<Input> {
        let dtype = dtype.map(|dtype| PyArrayDescr::new(py, dtype)).transpose()?;
        let mut file = File::open(path)?;
        let size = file.metadata()?.len();
        let mut magic = Vec::new();
        Read::by_ref(&mut file).take(MAGIC.len() as u64).read_to_end(&mut magic)?;
        file.seek(SeekFrom::Start(0))?;
        let (header, expected, dtype) = if magic == MAGIC {
            let (found, rows, start) = npy_header(py, path)?;
            if let Some(dtype) = dtype.filter(|dtype| !dtype.is_equiv_to(&found)) {
                return Err(PyValueError::new_err(format!(
                    "{} has numbers of type {found}, not {dtype}; leave out dtype",
                    path.display()
                )));
            }
            let mut header = vec![0; start];
            file.read_exact(&mut header)?;
            (header, Some(rows), found)
        } else {
            let dtype = dtype.ok_or_else(|| {
                PyTypeError::new_err(format!(
                    "{} is no .npy file; give the dtype of its numbers",
                    path.display()
                ))
            })?;
            (Vec::new(), None, dtype)
        };
        let leaf = kind::leaf(&dtype)?;
        let bytes = size - header.len() as u64;
        let width = leaf.width.max(1) as u64;
        if !bytes.is_multiple_of(width) || expected.is_some_and(|rows| rows.saturating_mul(width) != bytes) {
            return Err(PyValueError::new_err(format!(
                "{} has {bytes} bytes of numbers of {width} bytes, which is not what it should have; it may be cut short",
                path.display()
            )));
        }
        Ok(Input { file, header, bytes, leaf })
    }
}

/// Type and number of the elements in a `.npy` file, and where they begin, as NumPy reads it.
fn npy_header<'py>(py: Python<'py>, path: &Path) -> PyResult<(Bound<'py, PyArrayDescr>, u64, usize)> {
    let format = py.import("numpy.lib.format")?;
    let file = py.import("io")?.call_method1("open", (path, "rb"))?;
    let version: (u8, u8) = format.call_method1("read_magic", (&file,))?.extract()?;
    let read = if version == (1, 0) { "read_array_header_1_0" } else { "read_array_header_2_0" };
    let header = format.call_method1(read, (&file,))?;
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
    fn publish(&self, input: Input, out: &Path) -> Result<Report, Failure> {
        let folder = match out.parent() {
            Some(parent) if parent != Path::new("") => parent,
            _ => Path::new("."),
        };
        let mode = out.metadata().map_or(Permissions::from_mode(0o666), |known| known.permissions());
        let mut sink = tempfile::Builder::new().permissions(mode).tempfile_in(folder)?;
        sink.write_all(&input.header)?;
        let report = self.sort(input, folder, sink.as_file_mut())?;
        sink.persist(out).map_err(|error| error.error)?;
        Ok(report)
    }

    fn sort(&self, mut input: Input, folder: &Path, sink: &mut File) -> Result<Report, Failure> {
        let width = input.leaf.width as u64;
        let Some(numbers) = Numbers::of(input.leaf.kind, self.options) else {
            return Err(PyTypeError::new_err(
                "sort_file sorts numbers; load other types with np.load, and use sortie.sort",
            )
            .into());
        };
        let chunk = (self.budget / 2).min(CHUNK) / width * width;
        let alone = input.bytes <= chunk;
        let work = if alone { input.bytes } else { 2 * input.bytes };
        let mut report = Report::default();
        let mut runs = if alone { None } else { Some(tempfile::tempfile_in(folder)?) };
        let mut buffer = Buffer::new(chunk.min(input.bytes) as usize)?;
        let mut done = 0;
        while done < input.bytes {
            let keys = &mut buffer.bytes_mut()[..chunk.min(input.bytes - done) as usize];
            timed(&mut report, "read", keys.len(), 0, || input.file.read_exact(keys))?;
            input.leaf.swap(keys);
            report.absorb(self.threads.install(|| numbers.sort(keys, None, false, chunk as usize))?);
            let to = match &mut runs {
                Some(runs) => runs,
                None => {
                    input.leaf.swap(keys);
                    &mut *sink
                }
            };
            timed(&mut report, "write", 0, keys.len(), || to.write_all(keys))?;
            done += keys.len() as u64;
            self.tell(done, work)?;
        }
        drop(buffer);
        if let Some(runs) = runs {
            let parts = Parts { numbers: &numbers, leaf: &input.leaf, runs: &runs };
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
                run.fill(parts.runs, report)?;
            }
            let Some(len) = parts.complete(&mut runs, merged.bytes_mut())? else { return Ok(()) };
            let keys = &mut merged.bytes_mut()[..len];
            let held = 2 * (part * count) as usize;
            report.absorb(self.threads.install(|| parts.numbers.sort(keys, None, false, held))?);
            parts.leaf.swap(keys);
            timed(report, "write", 0, len, || sink.write_all(keys))?;
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
    fn fill(&mut self, file: &File, report: &mut Report) -> Result<(), Failure> {
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
