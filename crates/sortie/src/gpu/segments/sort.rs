//! Sorts many segments in place, each by a worker of its own.
//!
//! Segments of one length go to workers that fit it. Segments between offsets are put into classes by length, on the
//! device, and each class goes to workers of its size; their lengths are not read back. Segments too long for a block
//! are sorted as tiles, whose runs are merged between the keys and scratch of the same size. A payload moves with its
//! keys. An argsort writes the indices instead, and leaves the keys as they are.

use sortie_device::{Buffer, Kernel, Launch, Stream, View};

use super::scratch::{
    Lie, PROGRESS_WORDS, copies_words, listed_lengths, listed_words, of_one_length_words, words,
};
use super::worker::{CHUNK, Content, From, Payload, Worker};
use crate::gpu::alloc::scratch;
use crate::gpu::kernels::segments::{
    CLASSES_BLOCK, Capacities, ClassesShared, LongSegments, MOST_CLASSES, SegmentArrays,
};
use crate::gpu::kernels::{CodeTransform, File, Instance, blocks, numbers, struct_bytes};
use crate::gpu::{Gpu, Pending};
use crate::key::{Bits, Code, Form};
use crate::{Error, Order, TotalOrder};

/// How keys on a device are divided into segments.
#[derive(Debug, Clone, Copy)]
pub enum DeviceSegments<'a> {
    /// Segments of one length, which divides the number of keys (if there are no keys, any length will do).
    Length(u64),
    /// Segment `i` is `offsets[i]..offsets[i + 1]`. The offsets, which are on the device too, never decrease and stay
    /// within the keys. A segment longer than `longest` is left as it is: `longest` decides what is launched, and
    /// whether scratch is needed.
    ///
    /// One array whose length only the device knows can be sorted as one segment: the offsets are 0 and that length,
    /// and `longest` is an upper bound of it.
    Offsets { offsets: View<'a, u64>, longest: u64 },
}

impl DeviceSegments<'_> {
    /// The lengths, as far as the host knows them.
    pub(crate) fn lie(self) -> Lie {
        match self {
            DeviceSegments::Length(length) => Lie::Length(length as usize),
            DeviceSegments::Offsets { offsets, longest } => {
                Lie::Offsets { segments: offsets.len().saturating_sub(1), longest: longest as usize }
            }
        }
    }
}

/// Threads of a block that merges.
const MERGE_BLOCK: u32 = 128;

/// Segments that a block of the classes' kernels takes at a time.
const CLASSES_TAKEN: u64 = 256 * 8;
impl Gpu {
    /// Enqueues a sort of each segment on its own, for the bits of keys with this code. Segments too long for a block
    /// are merged.
    ///
    /// # Safety
    /// As [`Gpu::sort_pairs_segments`].
    pub(crate) unsafe fn sort_moved<B: Bits>(
        &self,
        stream: &Stream,
        moved: Moved<'_, B>,
        segments: DeviceSegments<'_>,
        code: Code,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        let content = Content { key_bytes: size_of::<B>(), payload: moved.kind, code, order };
        let job = SegmentSort::new(self, stream, moved, content);
        match segments {
            // SAFETY: the caller guarantees it.
            DeviceSegments::Length(length) => unsafe { job.of_one_length(length) },
            // SAFETY: the caller guarantees it.
            DeviceSegments::Offsets { offsets, longest } => unsafe { job.between_offsets(offsets, longest) },
        }
    }

    /// Allocates what a sort of the few segments that another sort leaves will take.
    pub(crate) fn prepare_rest<'gpu, 'a, B: Bits>(
        &'gpu self,
        stream: &'a Stream,
        moved: Moved<'a, B>,
        rest: Rest<'a>,
        code: Code,
        order: Order,
    ) -> Result<PreparedRest<'gpu, 'a, B>, Error> {
        let content = Content { key_bytes: size_of::<B>(), payload: moved.kind, code, order };
        let job = SegmentSort::new(self, stream, moved, content);
        let listing = job.listing(rest.offsets.len(), rest.longest, TooLong::MergedIn(rest))?;
        Ok(PreparedRest { job, listing, rest })
    }

    /// Allocates what a sort of those segments that fit in a block takes.
    pub(crate) fn prepare_short<'gpu, 'a, B: Bits>(
        &'gpu self,
        stream: &'a Stream,
        moved: Moved<'a, B>,
        (offsets, longest): (View<'a, u64>, u64),
        code: Code,
        order: Order,
    ) -> Result<PreparedShort<'gpu, 'a, B>, Error> {
        let content = Content { key_bytes: size_of::<B>(), payload: moved.kind, code, order };
        let job = SegmentSort::new(self, stream, moved, content);
        let listing = job.listing(offsets.len(), longest, TooLong::Left)?;
        Ok(PreparedShort { job, listing, offsets })
    }
}

/// A sort of what another sort leaves, ready to be enqueued.
pub(crate) struct PreparedRest<'gpu, 'a, B> {
    job: SegmentSort<'gpu, 'a, B>,
    listing: Option<Listing>,
    rest: Rest<'a>,
}

impl<'gpu, B: Bits> PreparedRest<'gpu, '_, B> {
    /// # Safety
    /// As [`Gpu::sort_segments`]; nothing else uses the copy until the sort is done.
    pub unsafe fn enqueue(self) -> Result<(), Error> {
        let PreparedRest { job, listing, rest } = self;
        let Some(listing) = listing else { return Ok(()) };
        // SAFETY: the caller guarantees it.
        unsafe {
            let long = job.sort_listed(&listing, rest.offsets)?;
            job.merge_listed(&listing, long, rest.longest, rest.copy.address())
        }
    }
}

/// A sort of segments that fit in a block, ready to be enqueued. It keeps the list of the longer ones.
pub(crate) struct PreparedShort<'gpu, 'a, B> {
    job: SegmentSort<'gpu, 'a, B>,
    listing: Option<Listing>,
    offsets: View<'a, u64>,
}

impl<B: Bits> PreparedShort<'_, '_, B> {
    /// Returns which segments are longer, for work that is enqueued while this is kept.
    ///
    /// # Safety
    /// As [`Gpu::sort_segments`].
    pub unsafe fn enqueue(&self) -> Result<LongSegments, Error> {
        let Some(listing) = &self.listing else { return Ok(LongSegments::default()) };
        // SAFETY: the caller guarantees it.
        unsafe { self.job.sort_listed(listing, self.offsets) }
    }
}

/// Segments that another sort has left.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rest<'a> {
    /// Offsets as in [`DeviceSegments::Offsets`].
    pub offsets: View<'a, u64>,
    pub longest: u64,
    /// Shorter segments are not worth a launch of their own.
    pub shortest: usize,
    /// Memory for a copy of the keys and, from the next multiple of 16 bytes on, of the payload.
    pub copy: View<'a, u32>,
}

/// What is done with segments that are too long for a block.
enum TooLong<'a> {
    Merged,
    /// Merged, with a copy in this memory.
    MergedIn(Rest<'a>),
    /// Only listed.
    Left,
}

/// Checks that indices of 32 bits are enough for the longest segment.
pub(crate) fn check_indices(longest: u64) -> Result<(), Error> {
    if longest <= 1 << 32 {
        return Ok(());
    }
    Err(Error::Unsupported(format!(
        "indices in a segment of {longest} keys do not fit in 32 bits; sort it in parts"
    )))
}

pub(crate) fn code<K: TotalOrder>() -> Result<Code, Error> {
    match K::FORM {
        Form::Bits(code) => Ok(code),
        _ => Err(Error::Unsupported(
            "only keys of fixed width can be sorted on a GPU; use the CPU engine".into(),
        )),
    }
}

/// Keys in device memory, and the address of what moves with them, or where their indices are written.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moved<'a, B> {
    pub keys: View<'a, B>,
    pub payload: u64,
    pub kind: Payload,
}

/// The kernels that sort segments too long for a block.
struct Tiles {
    worker: Worker,
    /// Keys of a tile.
    length: usize,
    sort: Kernel,
    merge: Kernel,
}

/// The kernels and scratch that sort segments between offsets.
struct Listing {
    by_class: Vec<Kernel>,
    capacities: Capacities,
    workers: Vec<(Worker, Kernel)>,
    /// Present if there can be segments too long for a block that are to be merged.
    tiles: Option<Tiles>,
    scratch: Buffer<u32>,
}

/// The parts of a listing's scratch for this many segments; `listed_lengths` gives their words.
fn parts(scratch: &Buffer<u32>, segments: usize) -> [View<'_, u32>; 5] {
    let mut taken = 0;
    listed_lengths(segments).map(|words| {
        taken += words;
        scratch.range(taken - words..taken)
    })
}

struct SegmentSort<'gpu, 'a, B> {
    gpu: &'gpu Gpu,
    stream: &'a Stream,
    moved: Moved<'a, B>,
    content: Content,
    transform: CodeTransform,
}

impl<'gpu, 'a, B: Bits> SegmentSort<'gpu, 'a, B> {
    fn new(gpu: &'gpu Gpu, stream: &'a Stream, moved: Moved<'a, B>, content: Content) -> Self {
        let transform = CodeTransform::new::<B>(content.code, content.order);
        SegmentSort { gpu, stream, moved, content, transform }
    }

    /// # Safety
    /// As [`Gpu::sort_segments`].
    unsafe fn of_one_length(self, length: u64) -> Result<Pending<'gpu>, Error> {
        let keys = self.moved.keys.len();
        crate::Segments::Length(length as usize).check(keys)?;
        if keys == 0 || length < self.content.least() {
            return self.gpu.pending(self.stream);
        }
        let segments = keys as u64 / length;
        let Some(worker) = Worker::for_length(length as usize, self.content, self.shared_per_block()) else {
            let tiles = self.tiles(Some(length))?;
            let scratch = scratch(self.stream, of_one_length_words(self.content, keys))?;
            let progress = scratch.range(0..PROGRESS_WORDS);
            self.stream.fill(progress, 0)?;
            let long = LongSegments { length, segments, ..LongSegments::default() };
            let copies = scratch.address() + 4 * PROGRESS_WORDS as u64;
            // SAFETY: the caller guarantees it; the scratch has room for the copies after the progress.
            unsafe { self.sort_long(&tiles, long, length, progress, copies)? };
            return self.gpu.pending(self.stream);
        };
        let kernel = self.gpu.kernel(&worker.instance(From::OneLength))?;
        let launch = Launch {
            blocks: blocks(segments.div_ceil(worker.workers as u64))?,
            threads: worker.block(),
            shared: worker.shared(From::OneLength, length as usize),
        };
        // SAFETY: these are the kernel's arguments; it stays within the segments, which are the keys. The engine keeps
        // the kernel.
        unsafe { kernel.launch(self.stream, launch, (self.in_place(), length, segments, self.transform))? };
        self.gpu.pending(self.stream)
    }

    /// # Safety
    /// As [`Gpu::sort_segments`].
    unsafe fn between_offsets(self, offsets: View<'_, u64>, longest: u64) -> Result<Pending<'gpu>, Error> {
        if let Some(listing) = self.listing(offsets.len(), longest, TooLong::Merged)? {
            // Aligned, as the copies after it in the scratch are.
            let copies = listing.scratch.address() + 4 * listed_words(offsets.len() - 1) as u64;
            // SAFETY: the caller guarantees it; the scratch has room for the copies after the lists.
            unsafe {
                let long = self.sort_listed(&listing, offsets)?;
                self.merge_listed(&listing, long, longest, copies)?;
            }
        }
        self.gpu.pending(self.stream)
    }

    /// Kernels and scratch for segments between this many offsets, or `None` if there is nothing to do.
    fn listing(&self, offsets: usize, longest: u64, too_long: TooLong<'_>) -> Result<Option<Listing>, Error> {
        let segments = offsets.saturating_sub(1);
        let longest = longest.min(self.moved.keys.len() as u64);
        if segments == 0 || longest < self.content.least() {
            return Ok(None);
        }
        if segments as u64 >= u64::from(u32::MAX) {
            return Err(Error::Unsupported(format!("{segments} segments are too many; sort them in parts")));
        }
        let shortest = match too_long {
            TooLong::MergedIn(rest) => rest.shortest,
            _ => 0,
        };
        let workers = Worker::classes_from(shortest, self.content, self.shared_per_block());
        let mut capacities = Capacities {
            longest,
            count: workers.len() as u32,
            least: self.content.least() as u32,
            of: [0; MOST_CLASSES - 1],
        };
        for (capacity, worker) in capacities.of.iter_mut().zip(&workers) {
            *capacity = worker.capacity() as u32;
        }
        let any_long = workers.last().is_none_or(|largest| longest > largest.capacity() as u64);
        let by_class = ["count_classes", "list_classes", "count_tiles"].map(|kernel| Instance {
            kernel,
            file: File::Classes,
            defines: vec![],
        });
        let by_class = self.gpu.kernels(&by_class)?;
        let needed = 1 + workers.partition_point(|worker| (worker.capacity() as u64) < longest);
        let workers = &workers[..needed.min(workers.len())];
        let instances: Vec<Instance> = workers.iter().map(|worker| worker.instance(From::List)).collect();
        let kernels = self.gpu.kernels(&instances)?;
        let (tiles, copies) = match too_long {
            TooLong::Merged if any_long => (Some(self.tiles(None)?), self.copies_words()),
            TooLong::MergedIn(_) if any_long => (Some(self.tiles(None)?), 0),
            _ => (None, 0),
        };
        let scratch = scratch(self.stream, listed_words(segments) + copies)?;
        let workers = workers.iter().copied().zip(kernels).collect();
        Ok(Some(Listing { by_class, capacities, workers, tiles, scratch }))
    }

    /// Sorts segments that fit in a block, and lists the others.
    ///
    /// # Safety
    /// As [`Gpu::sort_segments`]; the listing is for these offsets.
    unsafe fn sort_listed(&self, listing: &Listing, offsets: View<'_, u64>) -> Result<LongSegments, Error> {
        let Listing { by_class, capacities, workers, scratch, .. } = listing;
        let capacities = *capacities;
        let segments = offsets.len() - 1;
        let [_, counts, cursors, list, tiles_before] = parts(scratch, segments);
        self.stream.fill(scratch.range(0..PROGRESS_WORDS + 2 * MOST_CLASSES), 0)?;
        let launch = Launch {
            blocks: self.resident((segments as u64).div_ceil(CLASSES_TAKEN), CLASSES_BLOCK),
            threads: CLASSES_BLOCK,
            shared: size_of::<ClassesShared>(),
        };
        // SAFETY: these are the kernels' arguments; they read the offsets and write the scratch, which is large enough.
        unsafe {
            by_class[0].launch(self.stream, launch, (offsets, segments, capacities, counts))?;
            by_class[1].launch(
                self.stream,
                launch,
                (offsets, segments, capacities, counts, cursors, list),
            )?;
        }
        for (size, (worker, kernel)) in workers.iter().enumerate() {
            let launch = Launch {
                blocks: self.resident((segments as u64).div_ceil(worker.workers as u64), worker.block()),
                threads: worker.block(),
                shared: worker.shared(From::List, 0),
            };
            let arguments = (self.in_place(), offsets, list, counts, size as u32, self.transform);
            // SAFETY: these are the kernel's arguments; it stays within the segments that are listed.
            unsafe { kernel.launch(self.stream, launch, arguments)? };
        }
        Ok(LongSegments {
            offsets: offsets.address(),
            segments: segments as u64,
            list: list.address(),
            counts: counts.address(),
            tiles_before: tiles_before.address(),
            size: capacities.count,
            ..LongSegments::default()
        })
    }

    /// Sorts the long segments of a list, with copies at this address.
    ///
    /// # Safety
    /// As [`Gpu::sort_segments`]; there is room for the copies.
    unsafe fn merge_listed(
        &self,
        listing: &Listing,
        long: LongSegments,
        longest: u64,
        copies: u64,
    ) -> Result<(), Error> {
        let Some(tiles) = &listing.tiles else { return Ok(()) };
        let [progress, ..] = parts(&listing.scratch, long.segments as usize);
        let launch = Launch { blocks: 1, threads: CLASSES_BLOCK, shared: size_of::<ClassesShared>() };
        let LongSegments { offsets, list, counts, size, tiles_before, .. } = long;
        let arguments = (offsets, list, counts, size, tiles.length as u32, tiles_before);
        let longest = longest.min(self.moved.keys.len() as u64);
        // SAFETY: these are the kernel's arguments; it reads the offsets and writes the scratch, which is large enough.
        unsafe {
            listing.by_class[2].launch(self.stream, launch, arguments)?;
            self.sort_long(tiles, long, longest, progress, copies)
        }
    }

    /// The kernels that sort segments of this length, or between offsets, that are too long for a block.
    fn tiles(&self, length: Option<u64>) -> Result<Tiles, Error> {
        let shared = self.shared_per_block();
        let (worker, tile) = Worker::for_tiles(length, self.content, shared).ok_or_else(|| {
            Error::Unsupported(format!(
                "a block of this device has {shared} bytes of shared memory, too little for any sort; use the CPU engine"
            ))
        })?;
        // Indices, once they are made, are moved like a payload.
        let merged = match self.content.payload {
            Payload::Indices => Content { payload: Payload::Moved(4), ..self.content },
            _ => self.content,
        };
        let mut defines = merged.defines();
        defines.push(("SORTIE_BLOCK_MEMORY", merge_shared(merged).to_string()));
        let merge_runs = Instance { kernel: "merge_runs", file: File::MergeRuns, defines };
        Ok(Tiles {
            worker,
            length: tile,
            sort: self.gpu.kernel(&worker.instance(From::Tiles))?,
            merge: self.gpu.kernel(&merge_runs)?,
        })
    }

    /// Sorts segments as tiles, and merges their runs until even the longest segment is one run, with copies at this
    /// address.
    ///
    /// # Safety
    /// As [`Gpu::sort_segments`]; there is room for the copies, and the progress is zero.
    unsafe fn sort_long(
        &self,
        tiles: &Tiles,
        long: LongSegments,
        longest: u64,
        progress: View<'_, u32>,
        copies: u64,
    ) -> Result<(), Error> {
        let long = LongSegments { tile: tiles.length as u32, ..long };
        let arrays = self.with_copies(copies);
        // About as many as there can be: each segment has at most one tile that is not full.
        let count = 2 * self.moved.keys.len() as u64 / tiles.length as u64 + 1;
        let launch = Launch {
            blocks: self.resident(count, tiles.worker.block()),
            threads: tiles.worker.block(),
            shared: tiles.worker.shared(From::Tiles, 0),
        };
        // SAFETY: these are the kernel's arguments; it stays within the segments, and within the same ranges of the
        // copies.
        unsafe { tiles.sort.launch(self.stream, launch, (arrays, long, self.transform))? };
        let launch = Launch {
            blocks: self.resident(count * (tiles.length / CHUNK) as u64, MERGE_BLOCK),
            threads: MERGE_BLOCK,
            shared: merge_shared(self.content),
        };
        let passes = longest.div_ceil(tiles.length as u64).next_power_of_two().ilog2();
        // SAFETY: as above.
        unsafe { tiles.merge.launch(self.stream, launch, (arrays, long, passes, progress, self.transform))? };
        Ok(())
    }

    fn in_place(&self) -> SegmentArrays {
        let (keys, payload) = (self.moved.keys.address(), self.moved.payload);
        SegmentArrays { keys_in: keys, payload_in: payload, keys: [keys; 2], payload: [payload; 2] }
    }

    /// The arrays and their copies, which begin at this address.
    fn with_copies(&self, address: u64) -> SegmentArrays {
        let key_copy = 4 * words(self.moved.keys.bytes().div_ceil(4)) as u64;
        let mut arrays = self.in_place();
        match self.content.payload {
            // The keys stay where they are, so their runs are merged between two copies.
            Payload::Indices => {
                arrays.keys = [address, address + key_copy];
                arrays.payload[1] = address + 2 * key_copy;
            }
            _ => {
                arrays.keys[1] = address;
                arrays.payload[1] = address + key_copy;
            }
        }
        arrays
    }

    /// Words of scratch for the copies.
    fn copies_words(&self) -> usize {
        copies_words(self.content, self.moved.keys.len())
    }

    /// The number of blocks that keep the device busy, each of which takes one piece of work after another; at most as
    /// many as there is work for.
    fn resident(&self, work: u64, threads: u32) -> u32 {
        let properties = self.gpu.device().properties();
        work.min(u64::from(properties.multiprocessors * (RESIDENT_THREADS / threads).max(8))) as u32
    }

    fn shared_per_block(&self) -> usize {
        self.gpu.device().properties().shared_per_block
    }
}

/// Bytes of `merge_runs::Shared`: codes, three numbers, and with a payload the origin of each key.
fn merge_shared(content: Content) -> usize {
    let sources = if content.payload == Payload::None { 0 } else { CHUNK };
    struct_bytes(&[
        numbers(content.key_bytes, CHUNK),
        numbers(size_of::<u64>(), 3),
        numbers(size_of::<u16>(), sources),
    ])
}

/// The most threads of a multiprocessor.
const RESIDENT_THREADS: u32 = 2048;
