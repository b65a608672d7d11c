//! Many segments, each sorted by a worker of its own, in place.
//!
//! Segments of one length go to workers that fit it. Segments between offsets are put into classes by length, on the
//! device, and each class goes to workers of its size; nothing of their lengths is read back. Segments too long for a
//! block are sorted as tiles, whose runs are merged between the keys and scratch of their size.

use bytemuck::Pod;
use sortie_device::{Kernel, Launch, Stream, View};

use super::kernels::{File, Instance};
use super::worker::{From, Worker, kind};
use super::{Gpu, Pending};
use crate::key::{Bits, Code, Form, Transform};
use crate::{Error, Key, Order};

/// How keys on a device fall into segments.
#[derive(Debug, Clone, Copy)]
pub enum Segments<'a> {
    /// Segments of one length, which divides the number of keys.
    Length(u64),
    /// Segment `i` is `offsets[i]..offsets[i + 1]`; the offsets, on the device too, never go backwards and stay within
    /// the keys. A segment longer than `longest` is left as it is; that decides what is launched, and whether scratch is needed.
    Offsets { offsets: View<'a, u64>, longest: u64 },
}

/// `code::Transform` of the kernels.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct Numbers(pub [u64; 4]);

// SAFETY: laid out as its C equivalent.
unsafe impl sortie_device::Argument for Numbers {}

const MOST_CLASSES: usize = 64;

/// `classes::Capacities` of the kernels.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
struct Capacities {
    longest: u64,
    count: u32,
    of: [u32; MOST_CLASSES - 1],
}

// SAFETY: laid out as its C equivalent.
unsafe impl sortie_device::Argument for Capacities {}

/// `long_segments::Segments` of the kernels.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
struct LongSegments {
    length: u64,
    segments: u64,
    offsets: u64,
    list: u64,
    counts: u64,
    tiles_before: u64,
    size: u32,
}

// SAFETY: laid out as its C equivalent.
unsafe impl sortie_device::Argument for LongSegments {}

/// Threads of a block that merges, and the keys of its chunk.
const MERGE_BLOCK: u32 = 256;
const MERGE_CHUNK: usize = 256 * 16;

/// Threads of a block that puts segments into classes, and the segments that it takes at a time.
const CLASSES_BLOCK: u32 = 256;
const CLASSES_TAKEN: u64 = 256 * 8;
/// Bytes of shared memory that it uses: three words a class.
const CLASSES_SHARED: usize = 3 * 4 * MOST_CLASSES;

impl Gpu {
    /// Enqueues a sort of every segment by itself, in place, and does not wait.
    ///
    /// Keys are sorted alone, so equal ones cannot be told apart. Segments that fit a block (of up to 32,768 keys of 32
    /// bits on a device with 227 KB of shared memory a block, 8192 with 48 KB) are read and written once, in place; longer
    /// ones are read and written once more for each doubling over 8192 keys. Scratch: none for one length, up to 8 bytes a segment for
    /// offsets; and a copy of the keys where segments can be longer than fits a block.
    ///
    /// # Errors
    /// [`Error::Segments`] where the length does not divide the keys; [`Error::Unsupported`] for keys without codes of 8
    /// to 64 bits; [`Error::Device`] where scratch or a kernel could not be had. Nothing has been enqueued that changes the
    /// keys then.
    ///
    /// # Safety
    /// Nothing else uses the keys or the offsets until the sort is done, and offsets are as [`Segments::Offsets`]
    /// states. The stream is of this engine's device.
    pub unsafe fn sort_segments<K: Key + Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        segments: Segments<'_>,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        let Form::Bits(code) = K::FORM else {
            return Err(Error::Unsupported(
                "only keys of fixed width are sorted on a GPU; use the CPU engine".into(),
            ));
        };
        // SAFETY: as the caller states.
        unsafe { self.sort_bits(stream, keys.cast::<K::Bits>(), segments, code, order) }
    }

    /// [`Gpu::sort_segments`] for the bits of keys of this code.
    ///
    /// # Safety
    /// As there.
    pub(super) unsafe fn sort_bits<B: Bits>(
        &self,
        stream: &Stream,
        keys: View<'_, B>,
        segments: Segments<'_>,
        code: Code,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        if B::WIDTH > 64 {
            return Err(Error::Unsupported(format!(
                "keys of {} bits are not sorted on a GPU; use the CPU engine",
                B::WIDTH
            )));
        }
        let job = Job { gpu: self, stream, keys, code, order };
        match segments {
            // SAFETY: as the caller states.
            Segments::Length(length) => unsafe { job.of_one_length(length) },
            // SAFETY: as the caller states.
            Segments::Offsets { offsets, longest } => unsafe { job.between_offsets(offsets, longest) },
        }
    }
}

struct Job<'gpu, 'a, B> {
    gpu: &'gpu Gpu,
    stream: &'a Stream,
    keys: View<'a, B>,
    code: Code,
    order: Order,
}

impl<'gpu, B: Bits> Job<'gpu, '_, B> {
    /// # Safety
    /// As [`Gpu::sort_segments`].
    unsafe fn of_one_length(self, length: u64) -> Result<Pending<'gpu>, Error> {
        let keys = self.keys.len();
        if keys == 0 || length == 1 {
            return self.gpu.pending(self.stream, None);
        }
        crate::Segments::Length(length as usize).check(keys)?;
        let segments = keys as u64 / length;
        let Some(worker) = Worker::for_length(length as usize, self.item_bytes(), self.shared_per_block())
        else {
            let scratch = self.gpu.scratch(self.key_words())?;
            let long = LongSegments { length, segments, ..LongSegments::default() };
            // SAFETY: as the caller states; the scratch has room for the keys.
            unsafe { self.sort_long(long, length, scratch.range(0..self.key_words()).cast())? };
            return self.gpu.pending(self.stream, Some(scratch));
        };
        let kernel =
            self.gpu.kernel(&worker.instance(From::OneLength, size_of::<B>(), self.code, self.order))?;
        let launch = Launch {
            blocks: blocks(segments.div_ceil(worker.workers as u64))?,
            threads: worker.block(),
            shared: match worker.is_tiled() {
                true => worker.workers * length as usize * size_of::<B>(),
                false => worker.shared(self.item_bytes()),
            },
        };
        // SAFETY: these are the kernel's arguments; it stays within the segments, which are the keys. The engine keeps
        // the kernel.
        unsafe { kernel.launch(self.stream, launch, (self.keys, length, segments, self.numbers()))? };
        self.gpu.pending(self.stream, None)
    }

    /// # Safety
    /// As [`Gpu::sort_segments`].
    unsafe fn between_offsets(self, offsets: View<'_, u64>, longest: u64) -> Result<Pending<'gpu>, Error> {
        let segments = offsets.len().saturating_sub(1);
        let longest = longest.min(self.keys.len() as u64);
        if segments == 0 || longest < 2 {
            return self.gpu.pending(self.stream, None);
        }
        if segments as u64 >= u64::from(u32::MAX) {
            return Err(Error::Unsupported(format!("{segments} segments are too many; sort them in parts")));
        }
        let workers = Worker::classes(self.item_bytes(), self.shared_per_block());
        let mut capacities = Capacities { longest, count: workers.len() as u32, of: [0; MOST_CLASSES - 1] };
        for (capacity, worker) in capacities.of.iter_mut().zip(&workers) {
            *capacity = worker.capacity() as u32;
        }
        let any_long = longest > workers[workers.len() - 1].capacity() as u64;
        // Kernels first: what cannot be had is found out before any of them runs.
        let [count, list_them, count_tiles] = ["count_classes", "list_classes", "count_tiles"]
            .map(|kernel| self.gpu.kernel(&Instance { kernel, file: File::Classes, defines: vec![] }));
        let needed = 1 + workers.partition_point(|worker| (worker.capacity() as u64) < longest);
        let workers = &workers[..needed.min(workers.len())];
        let kernels: Vec<Kernel> = workers
            .iter()
            .map(|worker| {
                self.gpu.kernel(&worker.instance(From::List, size_of::<B>(), self.code, self.order))
            })
            .collect::<Result<_, _>>()?;

        // Aligned, as the keys of the scratch are.
        let listed = (2 * MOST_CLASSES + 2 * segments + 1).next_multiple_of(4);
        let scratch = self.gpu.scratch(listed + if any_long { self.key_words() } else { 0 })?;
        let [counts, cursors] = [0, 1].map(|i| scratch.range(i * MOST_CLASSES..(i + 1) * MOST_CLASSES));
        let list = scratch.range(2 * MOST_CLASSES..2 * MOST_CLASSES + segments);
        let tiles_before = scratch.range(2 * MOST_CLASSES + segments..2 * MOST_CLASSES + 2 * segments + 1);
        self.stream.fill(scratch.range(0..2 * MOST_CLASSES), 0)?;
        let launch = Launch {
            blocks: blocks((segments as u64).div_ceil(CLASSES_TAKEN))?.min(self.resident()),
            threads: CLASSES_BLOCK,
            shared: CLASSES_SHARED,
        };
        // SAFETY: these are the kernels' arguments; they read the offsets and write the scratch, which is large enough.
        unsafe {
            count?.launch(self.stream, launch, (offsets, segments, capacities, counts))?;
            list_them?.launch(self.stream, launch, (offsets, segments, capacities, counts, cursors, list))?;
        }
        for ((size, worker), kernel) in workers.iter().enumerate().zip(kernels) {
            let launch = Launch {
                blocks: blocks((segments as u64).div_ceil(worker.workers as u64))?.min(self.resident()),
                threads: worker.block(),
                shared: worker.shared(self.item_bytes()),
            };
            let arguments = (self.keys, offsets, list, counts, size as u32, self.numbers());
            // SAFETY: these are the kernel's arguments; it stays within the segments that are listed.
            unsafe { kernel.launch(self.stream, launch, arguments)? };
        }
        if any_long {
            let size = capacities.count;
            let tile = Worker::for_tiles(self.item_bytes()).capacity() as u32;
            let launch = Launch { blocks: 1, ..launch };
            // SAFETY: as above.
            unsafe {
                count_tiles?.launch(
                    self.stream,
                    launch,
                    (offsets, list, counts, size, tile, tiles_before),
                )?;
            }
            let long = LongSegments {
                offsets: offsets.address(),
                list: list.address(),
                counts: counts.address(),
                tiles_before: tiles_before.address(),
                size,
                ..LongSegments::default()
            };
            // SAFETY: as the caller states; the scratch has room for the keys.
            unsafe {
                self.sort_long(long, longest, scratch.range(listed..listed + self.key_words()).cast())?;
            }
        }
        self.gpu.pending(self.stream, Some(scratch))
    }

    /// Sorts segments by tiles, and merges their runs until the longest is one.
    ///
    /// # Safety
    /// As [`Gpu::sort_segments`]; the scratch has room for the keys.
    unsafe fn sort_long(&self, long: LongSegments, longest: u64, scratch: View<'_, u8>) -> Result<(), Error> {
        let worker = Worker::for_tiles(self.item_bytes());
        let tile = worker.capacity();
        let merge_runs = self.gpu.kernel(&Instance {
            kernel: "merge_runs",
            file: File::MergeRuns,
            defines: vec![
                ("SORTIE_KEY_BYTES", size_of::<B>().to_string()),
                ("SORTIE_KIND", kind(self.code, self.order).into()),
                ("SORTIE_TILE", tile.to_string()),
            ],
        })?;
        let sort_tiles =
            self.gpu.kernel(&worker.instance(From::Tiles, size_of::<B>(), self.code, self.order))?;
        // No more than there can be: each segment may have one tile that is not full.
        let tiles = self.keys.len() as u64 / tile as u64 + self.keys.len() as u64 / longest + 1;
        let launch = Launch {
            blocks: blocks(tiles)?.min(self.resident()),
            threads: worker.block(),
            shared: worker.shared(self.item_bytes()),
        };
        // SAFETY: these are the kernel's arguments; it stays within the segments, and the same places of the scratch.
        unsafe { sort_tiles.launch(self.stream, launch, (self.keys, scratch, long, self.numbers()))? };
        let launch = Launch {
            blocks: blocks(tiles * (tile / MERGE_CHUNK) as u64)?.min(self.resident()),
            threads: MERGE_BLOCK,
            shared: MERGE_CHUNK * size_of::<B>() + 2 * size_of::<u64>(),
        };
        let passes = longest.div_ceil(tile as u64).next_power_of_two().ilog2();
        for pass in 0..passes {
            let arguments = (self.keys, scratch, long, pass, self.numbers());
            // SAFETY: as above.
            unsafe { merge_runs.launch(self.stream, launch, arguments)? };
        }
        Ok(())
    }

    /// Blocks that keep the device busy where each goes on to the next piece of work.
    fn resident(&self) -> u32 {
        self.gpu.device().properties().multiprocessors * 8
    }

    /// Words of scratch that hold a copy of the keys.
    fn key_words(&self) -> usize {
        self.keys.bytes().div_ceil(4)
    }

    /// Bytes of a key as the kernels sort it.
    fn item_bytes(&self) -> usize {
        size_of::<B>().max(4)
    }

    fn shared_per_block(&self) -> usize {
        self.gpu.device().properties().shared_per_block
    }

    fn numbers(&self) -> Numbers {
        Numbers(Transform::<B>::new(self.code, self.order).numbers())
    }
}

/// A number of blocks that a launch can have.
pub(crate) fn blocks(count: u64) -> Result<u32, Error> {
    let most = i32::MAX as u64;
    if count > most {
        return Err(Error::Unsupported(format!(
            "{count} blocks are more than the {most} of a launch; sort in parts"
        )));
    }
    Ok(count as u32)
}
