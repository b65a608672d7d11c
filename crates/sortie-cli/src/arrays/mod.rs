//! Sorts arrays of numbers, raw or `.npy`: as a whole, along an axis, or segment by segment.
//!
//! An array is read into one buffer of words as wide as its elements, and `sortie::dynamic` sorts it in that buffer.
//! `external.rs` sorts a whole array that does not fit in memory.

mod element;
mod external;
mod file;
mod lanes;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Instant;

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use rayon::prelude::*;
use sortie::dynamic::{self, Dtype};
use sortie::request::{Beside, Lengths, Operation};
use sortie::{Bound, Engine, Report, Segments, Sorter};
use sortie_files::compression::Compression;
use sortie_files::shortage::{self, at_least, at_most};
use sortie_files::{Ledger, Output, quote};

use crate::cli::{
    ArrayJob, ArrayOptions, Resources, SegmentEnds, SegmentsArgs, StatsFormat, temporary_folder,
};
use crate::failure::Failure;
use crate::memory::bytes;
use crate::{devices, explain, stats, threads};
pub use element::dtype;
pub(crate) use element::of_width;
pub use file::{ArrayFile, holds_npy};
use file::{Format, IN_PARTS};
use lanes::Lanes;

/// The number of elements that a thread passes to `level` at a time.
const LEVELLED: usize = 1 << 16;

/// `sortie sort` of an array.
pub fn sort(asked: &ArrayJob) -> Result<(), Failure> {
    let compression = Compression::of(asked.compress, asked.output.as_deref(), false)?;
    let mut array = ArrayFile::open(&asked.input, asked.array.element)?;
    let cut = match (asked.axis, &array.format) {
        (None, Format::Raw(_)) => Cut::Whole,
        (Some(_), Format::Raw(_)) => {
            return Err(Failure::new("--axis is for .npy files; a raw array has no axes"));
        }
        (axis, Format::Npy(header)) => Cut::Axis(Lanes::along(header, axis.unwrap_or(-1))?),
    };
    let temporary = asked.temporary.folders[0].clone();
    let output = (asked.output.as_deref(), compression);
    let mut job = ArraySort::new(cut, &asked.array, &asked.resources, output, temporary);
    let task = external::Task::of(asked, &job, &array);
    job.in_runs = task.is_some();
    match task {
        Some(task) if !job.explain => task.run(job, array),
        _ => job.run(&mut array),
    }
}

/// `sortie segments`.
pub fn segments(args: &SegmentsArgs) -> Result<(), Failure> {
    let mut array = ArrayFile::open(&args.input, args.array.element)?;
    if let Format::Npy(header) = &array.format
        && header.fortran_order
        && header.shape.len() > 1
    {
        return Err(Failure::new(format!(
            "{}: stored in Fortran order, where segments have no meaning; use sortie sort --axis, or store it in C order",
            quote::name(&args.input)
        )));
    }
    let cut = match &args.ends {
        SegmentEnds::Offsets(path) => Cut::Offsets(file::offsets(path)?),
        SegmentEnds::Length(length) => Cut::Length(length.get()),
    };
    let output = Some(args.output.as_path()).filter(|path| path.as_os_str() != "-");
    let output = (output, Compression::of(args.compress, output, false)?);
    ArraySort::new(cut, &args.array, &args.resources, output, temporary_folder()).run(&mut array)
}

/// The parts of an array that are sorted separately.
enum Cut {
    Whole,
    Axis(Lanes),
    Length(usize),
    /// Each segment runs from one offset to the next. Elements before the first and after the last offset are
    /// not moved.
    Offsets(Vec<usize>),
}

/// What to do with an array, whatever its type.
struct ArraySort<'a> {
    cut: Cut,
    descending: bool,
    argsort: bool,
    /// The limit on scratch memory in bytes.
    scratch: u64,
    engine: Engine,
    threads: Option<NonZeroUsize>,
    /// The output path, and how the output is compressed.
    output: (Option<&'a Path>, Option<Compression>),
    /// The folder for the temporary file of an output that cannot be replaced.
    temporary: PathBuf,
    /// Whether to print the plan instead of sorting.
    explain: bool,
    /// Whether the array does not fit in memory.
    in_runs: bool,
    stats: Option<StatsFormat>,
    ledger: Ledger,
}

impl<'a> ArraySort<'a> {
    fn new(
        cut: Cut,
        array: &ArrayOptions,
        resources: &Resources,
        output: (Option<&'a Path>, Option<Compression>),
        temporary: PathBuf,
    ) -> Self {
        devices::may_be_chosen(resources.engine, resources.buffer_size);
        ArraySort {
            cut,
            descending: array.descending,
            argsort: array.argsort,
            scratch: resources.buffer_size.map_or(u64::MAX, bytes),
            engine: resources.engine,
            threads: resources.parallel,
            output,
            temporary,
            explain: resources.explain,
            in_runs: false,
            stats: resources.stats,
            ledger: stats::open(),
        }
    }

    fn run(self, array: &mut ArrayFile) -> Result<(), Failure> {
        let run = if self.explain { Self::print_plan } else { of_width!(array.format.kind(), Self::run_as) };
        threads::pool(self.threads, array.size())?.install(|| run(&self, array))?;
        stats::close(self.ledger, self.stats)
    }

    fn run_as<W: Pod + Send + Sync>(&self, array: &mut ArrayFile) -> Result<(), Failure> {
        let dtype = element::dtype(array.format.kind());
        let mut output = self.open_output()?;
        let mut report = Report::default();
        let mut elements: Vec<W> = self.read(array, &mut report)?;
        self.check(elements.len())?;
        self.ledger.progress.stage("sorting", 0);
        let rotates = self.rotates(&array.format);
        if rotates {
            elements.par_chunks_mut(LEVELLED).for_each(|part| element::rotate(part, -1));
        }
        if self.argsort {
            if let Format::Npy(_) = array.format {
                elements.par_chunks_mut(LEVELLED).for_each(|part| element::level(dtype, part));
            }
            let mut places = self.argsort(dtype, elements, &mut report)?;
            self.write(&array.format.of_places(), &mut places, &mut output, &mut report)?;
        } else {
            self.sort(dtype, &mut elements, &mut report)?;
            if rotates {
                elements.par_chunks_mut(LEVELLED).for_each(|part| element::rotate(part, 1));
            }
            self.write(&array.format, &mut elements, &mut output, &mut report)?;
        }
        output.finish()?;
        self.ledger.absorb(report);
        Ok(())
    }

    /// Whether elements must be rotated for the sort, so that NaT comes last. In descending order it does without.
    fn rotates(&self, format: &Format) -> bool {
        format.kind().is_time() && !self.descending
    }

    fn open_output(&self) -> Result<Output, Failure> {
        let (path, compression) = self.output;
        Ok(Output::open(path, &self.temporary, compression)?)
    }

    /// Prints how the array would be sorted.
    fn print_plan(&self, array: &mut ArrayFile) -> Result<(), Failure> {
        let kind = array.format.kind();
        let bytes = array.size().ok_or_else(explain::unknown_size)?;
        if bytes % kind.width() as u64 != 0 {
            return Err(Failure::new(format!(
                "{bytes} bytes are not a multiple of {}, the size of {kind}",
                kind.width()
            )));
        }
        let n = bytes as usize / kind.width();
        self.check(n)?;
        let segments = self.segments(n);
        let is_one = matches!(segments, Segments::Length(len) if len >= n);
        let operation = match is_one {
            true => Operation::Array,
            false => Operation::Segments(Some(Box::new(Lengths::of(n, segments)))),
        };
        let beside = if self.argsort { Beside::Indices { stable: true } } else { Beside::Nothing };
        let sorter = self.sorter(0)?;
        let of_one = match (self.in_runs, is_one) {
            (true, _) => explain::IN_RUNS,
            (false, true) => "",
            (false, false) => ", in segments",
        };
        let form = element::dtype(kind).form();
        let plan = said(sorter.explain(&sorter.request(operation, form, beside, n)))?;
        let elements = explain::counted(n, "element", "elements");
        explain::print(&format!("{elements} of {kind}{of_one}"), &plan)
    }

    fn read<W: Pod>(&self, array: &mut ArrayFile, report: &mut Report) -> Result<Vec<W>, Failure> {
        self.ledger.progress.stage("reading", array.size().unwrap_or(0));
        let start = Instant::now();
        let elements: Vec<W> = array.read(&|bytes| self.ledger.progress.advance(bytes))?;
        report.add("read", start.elapsed(), size_of_val(elements.as_slice()) as u64, 0);
        Ok(elements)
    }

    fn write<T: Pod>(
        &self,
        format: &Format,
        elements: &mut [T],
        output: &mut Output,
        report: &mut Report,
    ) -> Result<(), Failure> {
        let bytes = size_of_val(elements) as u64;
        self.ledger.progress.stage("writing", bytes);
        let start = Instant::now();
        format.write(elements, output, &|bytes| self.ledger.progress.advance(bytes))?;
        report.add("write", start.elapsed(), 0, bytes);
        Ok(())
    }

    /// Checks that the segments fit an array of `count` elements.
    fn check(&self, count: usize) -> Result<(), Failure> {
        match &self.cut {
            Cut::Length(len) if !count.is_multiple_of(*len) => Err(Failure::new(format!(
                "the number of elements, {count}, is not a multiple of --len {len}; give a length that divides it, or \
                 --offsets"
            ))),
            Cut::Offsets(offsets) => match offsets.iter().position(|&offset| offset > count) {
                Some(i) => Err(Failure::new(format!(
                    "offset {i} is {}, past the end of the array, which has {}",
                    offsets[i],
                    explain::counted(count, "element", "elements")
                ))),
                None => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn sort<W: Pod + Send + Sync>(
        &self,
        dtype: Dtype,
        elements: &mut [W],
        report: &mut Report,
    ) -> Result<(), Failure> {
        let bytes = size_of_val(elements);
        match (self.segments(elements.len()), self.crossing()) {
            (Segments::Length(len), _) if len >= elements.len() => {
                report.absorb(said(dynamic::sort(&self.sorter(0)?, dtype, cast_slice_mut(elements)))?);
            }
            (segments, None) => {
                let keys = cast_slice_mut(elements);
                report.absorb(said(dynamic::sort_segments(&self.sorter(0)?, dtype, keys, segments))?);
            }
            (segments, Some(lanes)) => {
                let sorter = self.sorter(bytes)?;
                let mut turned: Vec<W> = zeroed(elements.len())?;
                timed(report, "gather", bytes, || lanes.gather(elements, &mut turned));
                let keys = cast_slice_mut(&mut turned);
                report.absorb(holding(said(dynamic::sort_segments(&sorter, dtype, keys, segments))?, bytes));
                timed(report, "scatter", bytes, || lanes.scatter(&turned, elements));
            }
        }
        Ok(())
    }

    fn argsort<W: Pod + Send + Sync>(
        &self,
        dtype: Dtype,
        elements: Vec<W>,
        report: &mut Report,
    ) -> Result<Vec<u64>, Failure> {
        let segments = self.segments(elements.len());
        let mut places = zeroed(elements.len())?;
        let argsort = |left, keys: &[W], places: &mut [u64]| {
            let (sorter, keys) = (self.sorter_within(left)?, cast_slice(keys));
            said(match segments {
                Segments::Length(len) if len >= places.len() => {
                    dynamic::argsort(&sorter, dtype, keys, places)
                }
                Segments::Length(_) => dynamic::argsort_segments(&sorter, dtype, keys, places, segments),
                Segments::Offsets(offsets) => {
                    number_outside(places, offsets);
                    dynamic::argsort_segments(&sorter, dtype, keys, places, segments)
                }
            })
        };
        let Some(lanes) = self.crossing() else {
            report.absorb(argsort(self.left(0)?, &elements, &mut places)?);
            return Ok(places);
        };
        let (bytes, bytes_of_places) = (size_of_val(elements.as_slice()), size_of_val(places.as_slice()));
        let held = bytes.max(bytes_of_places);
        let left = self.left(held)?;
        let mut turned = zeroed(elements.len())?;
        timed(report, "gather", bytes, || lanes.gather(&elements, &mut turned));
        drop(elements);
        report.absorb(holding(argsort(left, &turned, &mut places)?, held));
        drop(turned);
        let mut scattered = zeroed(places.len())?;
        timed(report, "scatter", bytes_of_places, || lanes.scatter(&places, &mut scattered));
        Ok(scattered)
    }

    fn segments(&self, count: usize) -> Segments<'_> {
        match &self.cut {
            Cut::Whole => Segments::Length(count),
            Cut::Axis(lanes) => Segments::Length(lanes.len),
            Cut::Length(len) => Segments::Length(*len),
            Cut::Offsets(offsets) => Segments::Offsets(offsets),
        }
    }

    /// The lanes, if their elements are not contiguous in memory.
    fn crossing(&self) -> Option<Lanes> {
        match self.cut {
            Cut::Axis(lanes) if lanes.columns > 1 => Some(lanes),
            _ => None,
        }
    }

    /// A sorter whose memory limit is what remains of the scratch limit after `held` bytes.
    fn sorter(&self, held: usize) -> Result<Sorter, Failure> {
        self.sorter_within(self.left(held)?).map_err(Failure::from)
    }

    /// The scratch memory that remains after `held` bytes.
    fn left(&self, held: usize) -> Result<u64, Failure> {
        let held = held as u64;
        self.scratch.checked_sub(held).ok_or_else(|| too_little(held, self.scratch))
    }

    fn sorter_within(&self, scratch: u64) -> Result<Sorter, sortie::Error> {
        Sorter::builder().engine(self.engine).descending(self.descending).memory_limit(scratch).build()
    }
}

/// Gives elements outside all segments indices that leave them where they are. Like those of a segment, the
/// indices start from 0 on each side.
fn number_outside(places: &mut [u64], offsets: &[usize]) {
    let count = places.len();
    let (first, last) = (offsets.first().copied().unwrap_or(count), offsets.last().copied().unwrap_or(count));
    for outside in [0..first, last..count] {
        places[outside].iter_mut().zip(0..).for_each(|(place, i)| *place = i);
    }
}

/// Runs `work` as a phase that reads and writes the given number of bytes.
fn timed(report: &mut Report, phase: &'static str, bytes: usize, work: impl FnOnce()) {
    let start = Instant::now();
    work();
    report.add(phase, start.elapsed(), bytes as u64, bytes as u64);
}

/// Adds `held` bytes of scratch memory that the library's report does not include.
fn holding(mut report: Report, held: usize) -> Report {
    report.scratch_peak += held as u64;
    report
}

/// Replaces some errors of the library with the program's own messages.
fn said<R>(result: Result<R, sortie::Error>) -> Result<R, Failure> {
    result.map_err(|error| match error {
        sortie::Error::Memory { bound: Bound::Host, needed, .. } => no_room(needed),
        sortie::Error::Memory { bound: Bound::Limit, needed, available, .. } => too_little(needed, available),
        other => other.into(),
    })
}

fn too_little(needed: u64, available: u64) -> Failure {
    Failure::new(format!(
        "sorting needs {} of memory in addition to the array, but --buffer-size leaves {}; raise it, or remove it",
        at_least(needed),
        at_most(available)
    ))
}

fn no_room(bytes: u64) -> Failure {
    Failure::new(format!("{}; {IN_PARTS}", shortage::refused("sorting", bytes)))
}

fn zeroed<T: Pod>(count: usize) -> Result<Vec<T>, Failure> {
    bytemuck::try_zeroed_vec(count).map_err(|()| no_room(count as u64 * size_of::<T>() as u64))
}
