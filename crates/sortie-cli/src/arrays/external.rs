//! Sorts arrays that do not fit in memory, each as a whole.

use std::cmp::Ordering;

use bytemuck::Pod;
use sortie::dynamic::{self, Dtype};
use sortie::{Engine, Order, Sorter};
use sortie_files::memory::{filled, room};
use sortie_files::threads::of_use;
use sortie_files::{Error, Items, Ledger, Sink, Temporary, sort_items};
use sortie_formats::{Endian, raw};

use super::element::{self, of_width};
use super::file::{ArrayFile, ArrayStretches, Format};
use super::{ArraySort, Cut, Lanes};
use crate::cli::ArrayJob;
use crate::failure::Failure;
use crate::{memory, stats, threads};

/// The number of bytes to convert at a time while reading, and to write between updates of the progress bar.
const PIECE: usize = 1 << 20;
/// The sort in place needs one byte of scratch memory for this many bytes of elements.
const SCRATCH: u64 = 20;

/// The sort of an array with `budget` bytes of memory.
pub struct Task<'a> {
    budget: u64,
    temporary: &'a Temporary,
}

impl<'a> Task<'a> {
    /// The task for an array that is sorted as a whole and does not fit in memory, or whose size is not known. `None` for all
    /// other arrays.
    pub fn of(asked: &'a ArrayJob, job: &ArraySort<'_>, array: &ArrayFile) -> Option<Task<'a>> {
        let is_one = match (&job.cut, &array.format) {
            (Cut::Whole, _) => true,
            (Cut::Axis(Lanes { len, columns: 1 }), Format::Npy(header)) => *len == header.count(),
            _ => false,
        };
        let budget = memory::budget(asked.resources.buffer_size, array.size(), || of_use(job.threads, None));
        // In memory, an argsort needs the indices and its scratch memory in addition to the elements.
        let in_memory = |bytes: u64| match job.argsort {
            true => 2 * bytes + bytes / array.format.kind().width() as u64 * 12,
            false => bytes + bytes / SCRATCH,
        };
        let fits = match array.size() {
            Some(bytes) => in_memory(bytes) <= budget,
            // A GPU argsorts only arrays in memory, so this array is treated as one that fits.
            None => job.argsort && job.engine.has_gpu(),
        };
        if fits || !is_one {
            return None;
        }
        memory::hold_back(asked.resources.buffer_size);
        Some(Task { budget, temporary: &asked.temporary })
    }

    /// Sorts the array, or argsorts it.
    pub fn run(self, job: ArraySort<'_>, array: ArrayFile) -> Result<(), Failure> {
        threads::start(job.threads, array.size())?;
        let run = of_width!(array.format.kind(), Self::run_as);
        run(&self, &job, array)?;
        stats::close(job.ledger, job.stats)
    }

    fn run_as<W: Pod + Send>(&self, job: &ArraySort<'_>, array: ArrayFile) -> Result<(), Error> {
        let task = sortie_files::Task::new(self.temporary, self.budget, &job.ledger);
        let (path, compression) = job.output;
        task.publish(path, compression, |sink| match job.argsort {
            true => argsort::<W>(job, array, &task, sink),
            false => sort::<W>(job, array, &task, sink),
        })
    }
}

fn sort<W: Pod + Send>(
    job: &ArraySort<'_>,
    array: ArrayFile,
    task: &sortie_files::Task<'_>,
    sink: Sink<'_>,
) -> Result<(), Error> {
    let (mut stretches, format) = array.stretches()?;
    let bytes = stretches.bytes();
    let elements = Elements { dtype: element::dtype(format.kind()), order: order(job), engine: job.engine };
    sink(&format.header())?;
    let rotates = job.rotates(&format);
    let mut feed = |items: &mut [u8]| {
        let note = |bytes| job.ledger.progress.advance(bytes);
        let room = items.len() / size_of::<W>() * size_of::<W>();
        let elements: &mut [W] = bytemuck::cast_slice_mut(&mut items[..room]);
        let count = stretches.next::<W>(elements, &note)?;
        if rotates {
            element::rotate(&mut elements[..count], -1);
        }
        Ok(count * size_of::<W>())
    };
    sort_items(&elements, task, &mut feed, bytes, &mut |stored| {
        if format.endian() == Endian::NATIVE && !rotates {
            return sink(stored);
        }
        let mut elements: Vec<W> = room(stored.len() / size_of::<W>())?;
        elements.extend(stored.chunks_exact(size_of::<W>()).map(bytemuck::pod_read_unaligned::<W>));
        if rotates {
            element::rotate(&mut elements, 1);
        }
        raw::reorder(&mut elements, format.endian());
        sink(bytemuck::cast_slice(&elements))
    })
}

fn argsort<W: Pod + Send>(
    job: &ArraySort<'_>,
    array: ArrayFile,
    task: &sortie_files::Task<'_>,
    sink: Sink<'_>,
) -> Result<(), Error> {
    let (stretches, format) = array.stretches()?;
    if job.engine.has_gpu() {
        return Err(Error::invalid(
            "--argsort cannot use a GPU if the array does not fit in -S; remove --engine, or raise -S",
        ));
    }
    let bytes = stretches.bytes().map(|bytes| bytes / size_of::<W>() as u64 * size_of::<u128>() as u64);
    let adapted = match format {
        Format::Npy(_) => Adapted { level: true, rotate: job.rotates(&format) },
        Format::Raw(_) => Adapted::default(),
    };
    let mut places = Places::<W>::new(stretches, element::dtype(format.kind()), order(job), adapted)?;
    let keys = Elements { dtype: Dtype::U128, order: Order::default(), engine: job.engine };
    sink(&format.of_places().header())?;
    sort_items(&keys, task, &mut |items| places.next(items, &job.ledger), bytes, &mut |placed| {
        let mut places: Vec<u64> = room(placed.len() / size_of::<u128>())?;
        let items = placed.chunks_exact(size_of::<u128>());
        places.extend(items.map(|item| bytemuck::pod_read_unaligned::<u128>(item) as u64));
        sink(bytemuck::cast_slice(&places))
    })
}

fn order(job: &ArraySort<'_>) -> Order {
    Order { descending: job.descending, ..Order::default() }
}

/// Elements that are sorted in place.
struct Elements {
    dtype: Dtype,
    order: Order,
    engine: Engine,
}

impl Items for Elements {
    type Order = ();

    fn width(&self) -> usize {
        self.dtype.width()
    }

    fn beside(&self) -> usize {
        self.dtype.width().div_ceil(SCRATCH as usize)
    }

    fn sort(&self, items: &mut [u8], ledger: &Ledger) -> Result<(), Error> {
        let sorter = Sorter::builder().engine(self.engine).descending(self.order.descending).build()?;
        ledger.absorb(dynamic::sort(&sorter, self.dtype, items)?);
        Ok(())
    }

    fn write(&self, items: &[u8], (): &(), _: &mut Vec<u8>, sink: Sink<'_>) -> Result<(), Error> {
        items.chunks(PIECE).try_for_each(sink)
    }

    fn compare(&self, a: &[u8], b: &[u8]) -> Ordering {
        dynamic::compare(self.dtype, a, b, self.order)
    }
}

/// Elements with their indices as 128-bit numbers: the code of an element in the upper half, its index in the lower half. So
/// the indices of equal elements are in order.
struct Places<W> {
    stretches: ArrayStretches,
    dtype: Dtype,
    order: Order,
    adapted: Adapted,
    /// The index of the next element.
    place: u64,
    /// The elements that were read, and their codes.
    read: Vec<W>,
    codes: Vec<u64>,
}

/// How elements are changed before they are encoded.
#[derive(Default, Clone, Copy)]
struct Adapted {
    /// Elements that NumPy treats as equal get the same code.
    level: bool,
    /// NaT comes last.
    rotate: bool,
}

impl<W: Pod> Places<W> {
    fn new(stretches: ArrayStretches, dtype: Dtype, order: Order, adapted: Adapted) -> Result<Self, Error> {
        let at_once = PIECE / (size_of::<W>() + size_of::<u64>());
        let (read, codes) = (filled(at_once, W::zeroed())?, filled(at_once, 0)?);
        Ok(Places { stretches, dtype, order, adapted, place: 0, read, codes })
    }

    /// Fills `items` with the next ones, and returns the number of bytes filled. It is smaller only at the end.
    fn next(&mut self, items: &mut [u8], ledger: &Ledger) -> Result<usize, Error> {
        let mut filled = 0;
        for items in items.chunks_mut(self.read.len() * size_of::<u128>()) {
            let room = items.len() / size_of::<u128>();
            let note =
                |bytes: u64| ledger.progress.advance(bytes * (size_of::<u128>() / size_of::<W>()) as u64);
            let count = self.stretches.next(&mut self.read[..room], &note)?;
            let (read, codes) = (&mut self.read[..count], &mut self.codes[..count]);
            if self.adapted.level {
                element::level(self.dtype, read);
            }
            if self.adapted.rotate {
                element::rotate(read, -1);
            }
            dynamic::codes(self.dtype, bytemuck::cast_slice(read), self.order, codes)?;
            for (item, code) in items.chunks_exact_mut(size_of::<u128>()).zip(codes) {
                let number = u128::from(*code) << 64 | u128::from(self.place);
                item.copy_from_slice(&number.to_ne_bytes());
                self.place += 1;
            }
            filled += count * size_of::<u128>();
            if count < room {
                break;
            }
        }
        Ok(filled)
    }
}
