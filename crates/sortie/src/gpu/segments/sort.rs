//! Many segments, each sorted by a worker of its own, in place.
//!
//! Segments of one length go to workers that fit it. Segments between offsets are put into classes by length, on the
//! device, and each class goes to workers of its size; nothing of their lengths is read back. Segments too long for a
//! block are sorted as tiles, whose runs are merged between the keys and scratch of their size. A payload goes the way of
//! its keys; an argsort writes the indices instead, and leaves the keys.

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

/// How keys on a device fall into segments.
#[derive(Debug, Clone, Copy)]
pub enum DeviceSegments<'a> {
    /// Segments of one length, which divides the number of keys (any length where there are no keys).
    Length(u64),
    /// Segment `i` is `offsets[i]..offsets[i + 1]`; the offsets, on the device too, never go backwards and stay within the
    /// keys. A segment longer than `longest` is left as it is; that decides what is launched, and whether scratch is needed.
    ///
    /// One array whose length is known to the device alone is one segment: the offsets are 0 and that length, and `longest` is
    /// the most that it can be.
    Offsets { offsets: View<'a, u64>, longest: u64 },
}

impl DeviceSegments<'_> {
    /// As far as the host knows.
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

/// Segments that a block which puts them into classes takes at a time.
const CLASSES_TAKEN: u64 = 256 * 8;
impl Gpu {
    /// Enqueues a sort of every segment by itself, for the bits of keys of this code. Segments too long for a block are merged.
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
            // SAFETY: as the caller states.
            DeviceSegments::Length(length) => unsafe { job.of_one_length(length) },
            // SAFETY: as the caller states.
            DeviceSegments::Offsets { offsets, longest } => unsafe { job.between_offsets(offsets, longest) },
        }
    }

    /// Gets all that a sort of the few segments takes which another sort will have left.
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

    /// Gets all that a sort of those segments takes which fit a block.
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

/// A sort of what is left, ready to be enqueued.
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
        // SAFETY: as the caller states.
        unsafe {
            let long = job.sort_listed(&listing, rest.offsets)?;
            job.merge_listed(&listing, long, rest.longest, rest.copy.address())
        }
    }
}

/// A sort of segments that fit a block, ready to be enqueued. It keeps the list of the longer ones.
pub(crate) struct PreparedShort<'gpu, 'a, B> {
    job: SegmentSort<'gpu, 'a, B>,
    listing: Option<Listing>,
    offsets: View<'a, u64>,
}

impl<B: Bits> PreparedShort<'_, '_, B> {
    /// Says which segments are longer, for what is enqueued while this is kept.
    ///
    /// # Safety
    /// As [`Gpu::sort_segments`].
    pub unsafe fn enqueue(&self) -> Result<LongSegments, Error> {
        let Some(listing) = &self.listing else { return Ok(LongSegments::default()) };
        // SAFETY: as the caller states.
        unsafe { self.job.sort_listed(listing, self.offsets) }
    }
}

/// Segments that another sort has left.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rest<'a> {
    /// As of [`DeviceSegments::Offsets`].
    pub offsets: View<'a, u64>,
    pub longest: u64,
    /// Shorter ones are not worth a launch of their own.
    pub shortest: usize,
    /// Room for a copy of the keys, and behind it, where 16 bytes begin, of the payload.
    pub copy: View<'a, u32>,
}

/// What becomes of segments too long for a block.
enum TooLong<'a> {
    Merged,
    /// In a copy that there is.
    MergedIn(Rest<'a>),
    /// They are listed alone.
    Left,
}

/// Whether indices of 32 bits are enough for the longest segment.
pub(crate) fn check_indices(longest: u64) -> Result<(), Error> {
    if longest <= 1 << 32 {
        return Ok(());
    }
    Err(Error::Unsupported(format!(
        "indices in a segment of {longest} keys do not fit 32 bits; sort its parts"
    )))
}

pub(crate) fn code<K: TotalOrder>() -> Result<Code, Error> {
    match K::FORM {
        Form::Bits(code) => Ok(code),
        _ => {
            Err(Error::Unsupported("only keys of fixed width are sorted on a GPU; use the CPU engine".into()))
        }
    }
}

/// Keys in device memory, and the address of what moves with them or of where their indices go.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Moved<'a, B> {
    pub keys: View<'a, B>,
    pub payload: u64,
    pub kind: Payload,
}

/// What sorts segments too long for a block.
struct Tiles {
    worker: Worker,
    /// Keys of a tile.
    length: usize,
    sort: Kernel,
    merge: Kernel,
}

/// What sorts segments between offsets.
struct Listing {
    by_class: Vec<Kernel>,
    capacities: Capacities,
    workers: Vec<(Worker, Kernel)>,
    /// Where there can be segments too long for a block that are merged.
    tiles: Option<Tiles>,
    scratch: Buffer<u32>,
}

/// The parts of a listing's scratch for so many segments: `listed_lengths` has their words.
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
            // SAFETY: as the caller states; the scratch has room for the copies behind the progress.
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
            // SAFETY: as the caller states; the scratch has room for the copies behind the lists.
            unsafe {
                let long = self.sort_listed(&listing, offsets)?;
                self.merge_listed(&listing, long, longest, copies)?;
            }
        }
        self.gpu.pending(self.stream)
    }

    /// Kernels and scratch for segments between so many offsets, or nothing where there is nothing to do.
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

    /// Sorts segments that fit a block, and lists the others.
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

    /// Sorts the long segments that a listing has listed, with copies at this address.
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

    /// What sorts segments of this length, or between offsets, that are too long for a block.
    fn tiles(&self, length: Option<u64>) -> Result<Tiles, Error> {
        let shared = self.shared_per_block();
        let (worker, tile) = Worker::for_tiles(length, self.content, shared).ok_or_else(|| {
            Error::Unsupported(format!(
                "a block of this device has {shared} bytes of shared memory, too few for any sort; use the CPU engine"
            ))
        })?;
        // Indices, once they are made, are a payload.
        let merged = match self.content.payload {
            Payload::Places => Content { payload: Payload::Moved(4), ..self.content },
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

    /// Sorts segments by tiles, and merges their runs until the longest is one, with copies at this address.
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
        // As many as there can be, about: each segment has at most one tile that is not full.
        let count = 2 * self.moved.keys.len() as u64 / tiles.length as u64 + 1;
        let launch = Launch {
            blocks: self.resident(count, tiles.worker.block()),
            threads: tiles.worker.block(),
            shared: tiles.worker.shared(From::Tiles, 0),
        };
        // SAFETY: these are the kernel's arguments; it stays within the segments, and the same places of the copies.
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
            // The keys stay, so their runs go between two copies.
            Payload::Places => {
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

    /// Blocks that keep the device busy, each of which goes on to the next piece of work; no more than there is work for.
    fn resident(&self, work: u64, threads: u32) -> u32 {
        let properties = self.gpu.device().properties();
        work.min(u64::from(properties.multiprocessors * (RESIDENT_THREADS / threads).max(8))) as u32
    }

    fn shared_per_block(&self) -> usize {
        self.gpu.device().properties().shared_per_block
    }
}

/// Bytes of `merge_runs::Shared`: codes, three numbers, and with a payload where each came from.
fn merge_shared(content: Content) -> usize {
    let sources = if content.payload == Payload::None { 0 } else { CHUNK };
    struct_bytes(&[
        numbers(content.key_bytes, CHUNK),
        numbers(size_of::<u64>(), 3),
        numbers(size_of::<u16>(), sources),
    ])
}

/// Threads that a multiprocessor has at most.
const RESIDENT_THREADS: u32 = 2048;
