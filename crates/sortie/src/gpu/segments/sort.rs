//! Many segments, each sorted by a worker of its own, in place.
//!
//! Segments of one length go to workers that fit it. Segments between offsets are put into classes by length, on the
//! device, and each class goes to workers of its size; nothing of their lengths is read back. Segments too long for a
//! block are sorted as tiles, whose runs are merged between the keys and scratch of their size. A payload goes the way of
//! its keys; an argsort writes the places instead, and leaves the keys.

use bytemuck::Pod;
use sortie_device::{Buffer, Kernel, Launch, Stream, View};

use super::scratch::{
    Lie, PROGRESS_WORDS, copies_words, listed_lengths, listed_words, of_one_length_words, segments_words,
    words,
};
use super::worker::{CHUNK, Content, From, Payload, Worker};
use crate::error::same_length;
use crate::gpu::alloc::{check_workspace, scratch};
use crate::gpu::array::Wanted;
use crate::gpu::kernels::segments::{
    CLASSES_BLOCK, Capacities, ClassesShared, LongSegments, MOST_CLASSES, SegmentArrays,
};
use crate::gpu::kernels::{CodeTransform, File, Instance, blocks, numbers, struct_bytes};
use crate::gpu::rows::{DevicePayload, Rows};
use crate::gpu::{Gpu, Pending};
use crate::key::{Bits, Code, Form};
use crate::request::Beside;
use crate::{Algorithm, Error, Key, Order};

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

/// Longer segments of one length, for each multiprocessor, are sorted as arrays. On an H200, f32: 16 of 4M keys took 3.3 ms
/// at once and 2.0 one after the other, 64 of 1M were faster at once.
const ARRAYS_FROM: usize = 1 << 14;
/// Threads of a block that merges.
const MERGE_BLOCK: u32 = 128;

/// Segments that a block which puts them into classes takes at a time.
const CLASSES_TAKEN: u64 = 256 * 8;
impl Gpu {
    /// Enqueues a sort of every segment by itself, in place, and does not wait.
    ///
    /// Keys are sorted alone, so equal ones cannot be told apart. Segments that fit a block are read and written once,
    /// in place: on a device with 227 KB of shared memory a block up to 40,960 keys of 32 bits or less where segments
    /// have one length, 32,768 between offsets; 16,384 of 64 bits, or 8192 of 128. Longer ones are sorted as tiles of some
    /// 8192 to 32,768 keys, and read and written once more for each doubling over that. Scratch: none for one length, up to 8
    /// bytes a segment for offsets; and a copy of all keys where segments can be longer than fits a block. Segments of one length
    /// that have 2^14 keys and more for each multiprocessor are sorted one after the other, as by [`Gpu::sort`], in its scratch.
    ///
    /// # Errors
    /// [`Error::Segments`] where the length does not divide the keys; [`Error::Unsupported`] for keys without codes of
    /// 8 to 128 bits, or 2^32 - 1 segments and more between offsets; [`Error::Memory`] where the device has too little
    /// free for the scratch; [`Error::Device`] where a kernel could not be had. Nothing has been enqueued that changes
    /// the keys then.
    ///
    /// # Safety
    /// Nothing else uses the keys or the offsets until the sort is done, and offsets are as [`DeviceSegments::Offsets`]
    /// states. The stream is of this engine's device.
    pub unsafe fn sort_segments<K: Key + Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        segments: DeviceSegments<'_>,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        let moved = Moved { keys: keys.cast::<K::Bits>(), payload: 0, kind: Payload::None };
        // SAFETY: as the caller states.
        unsafe { self.sort_arrays_or_segments(stream, moved, segments, code::<K>()?, order) }
    }

    /// [`Gpu::sort_segments`] where each payload, of any multiple of 4 bytes, moves with its key. Stable.
    ///
    /// What is sorted is 32 bits for each key, some of its leading bits and its place in the segment, whatever the width of
    /// keys and payload; segments whose keys agree in those bits take as many sorts as their codes have digits of about 20
    /// bits. Segments fit a block up to 16,384 keys, 24,576 where keys and payload have at most 4 bytes each, or 8192 keys of
    /// 128 bits. Longer ones need a copy of the payload as scratch too.
    ///
    /// Payloads of 4, 8 and 16 bytes move with their keys. For others, indices of 4 bytes do, of 8 where there are 2^32 keys
    /// and more; then they bring the payloads. That takes two reads and two writes of the payload more, and as scratch a copy
    /// of it and the indices, whether segments fit a block or not.
    ///
    /// # Errors
    /// As [`Gpu::sort_segments`]; [`Error::LengthMismatch`]; [`Error::Unsupported`] for payloads of other sizes, or not
    /// aligned: to 8 bytes where those divide the size, else to 4; and for floats whose NaNs are to be equal
    /// ([`Nans`](crate::Nans)).
    ///
    /// # Safety
    /// As [`Gpu::sort_segments`], and nothing else uses the payload until the sort is done.
    pub unsafe fn sort_pairs_segments<K: Key + Pod, V: Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        payload: View<'_, V>,
        segments: DeviceSegments<'_>,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        let DevicePayload { address, each } = DevicePayload::of(keys.len(), payload)?;
        let code = code::<K>()?;
        order.carries_on_gpu(code)?;
        let (n, keys) = (keys.len(), keys.cast::<K::Bits>());
        let moving = |payload, bytes| Moved { keys, payload, kind: Payload::Moved(bytes) };
        let Some(rows) = Rows::of(n, each) else {
            // SAFETY: as the caller states.
            return unsafe {
                self.sort_arrays_or_segments(stream, moving(address, each), segments, code, order)
            };
        };
        let words = || {
            self.words_of_segments::<K::Bits>(
                n,
                segments,
                Beside::Payload { bytes: each, stable: true },
                code,
            )
        };
        check_workspace(stream, words)?;
        // SAFETY: as the caller states; the sort permutes what moves with the keys.
        unsafe {
            self.sort_rows(stream, rows, address, |indices| {
                let moved = moving(indices, rows.index_bytes());
                self.sort_arrays_or_segments(stream, moved, segments, code, order)
            })
        }
    }

    /// Words of each piece of scratch that a sort of so many keys in segments takes.
    pub(crate) fn words_of_segments<B: Bits>(
        &self,
        keys: usize,
        segments: DeviceSegments<'_>,
        beside: Beside,
        code: Code,
    ) -> Vec<usize> {
        let rows = Rows::of(keys, beside.payload_bytes());
        let payload = match beside {
            Beside::Nothing => Payload::None,
            Beside::Payload { bytes, .. } => Payload::Moved(rows.map_or(bytes, Rows::index_bytes)),
            Beside::Indices { .. } => Payload::Places,
        };
        let content = Content { key_bytes: size_of::<B>(), payload, code, order: Order::default() };
        let lie = match segments {
            DeviceSegments::Length(length) => Lie::Length(length as usize),
            DeviceSegments::Offsets { offsets, longest } => {
                Lie::Offsets { segments: offsets.len().saturating_sub(1), longest: longest as usize }
            }
        };
        let rows = rows.map(Rows::words).into_iter();
        if let Some(length) = self.length_of_arrays::<B>(segments) {
            let wanted = Wanted { beside: payload.beside(), code, order: Order::default() };
            let of_each = self.way::<B>(length, wanted, Algorithm::Auto);
            return rows
                .chain(of_each.map_or(vec![], |way| self.array_words::<B>(&way, length, wanted)))
                .collect();
        }
        let shared = self.device().properties().shared_per_block;
        rows.chain([segments_words(content, keys, lie, shared)]).collect()
    }

    /// The length of segments that are better sorted as arrays, one after the other.
    fn length_of_arrays<B: Bits>(&self, segments: DeviceSegments<'_>) -> Option<usize> {
        let DeviceSegments::Length(length) = segments else { return None };
        let length = length as usize;
        let from = self.device().properties().multiprocessors as usize * ARRAYS_FROM;
        (length >= from && B::WIDTH <= 64).then_some(length)
    }

    /// [`Gpu::sort_moved`], or segments as arrays.
    ///
    /// # Safety
    /// As there.
    unsafe fn sort_arrays_or_segments<B: Bits>(
        &self,
        stream: &Stream,
        moved: Moved<'_, B>,
        segments: DeviceSegments<'_>,
        code: Code,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        let Some(length) = self.length_of_arrays::<B>(segments) else {
            // SAFETY: as the caller states.
            return unsafe { self.sort_moved(stream, moved, segments, code, order) };
        };
        let n = moved.keys.len();
        crate::Segments::Length(length).check(n)?;
        let beside = moved.kind.beside();
        for start in (0..n).step_by(length) {
            let keys = moved.keys.range(start..start + length);
            let payload = moved.payload + (start * moved.kind.bytes()) as u64;
            // SAFETY: as the caller states; each has its own payload.
            drop(unsafe { self.sort_array(stream, keys, payload, Wanted { beside, code, order }) }?);
        }
        self.pending(stream)
    }

    /// Enqueues an argsort of every segment: writes the places of its keys in order, counted from the segment's start. The
    /// keys stay as they are. Stable.
    ///
    /// Cost and lengths as of [`Gpu::sort_pairs_segments`] with payloads of 4 bytes. Scratch for segments longer than fits a
    /// block: two copies of the keys and one of the places. Places that belong to no segment are not written.
    ///
    /// # Errors
    /// As [`Gpu::sort_segments`]; [`Error::LengthMismatch`]; [`Error::Unsupported`] where a segment can have more than
    /// 2^32 keys, and for floats whose NaNs are to be equal ([`Nans`](crate::Nans)).
    ///
    /// # Safety
    /// As [`Gpu::sort_segments`], and nothing else uses the places until the sort is done.
    pub unsafe fn argsort_segments<K: Key + Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        places: View<'_, u32>,
        segments: DeviceSegments<'_>,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        same_length("places", keys.len(), places.len())?;
        order.carries_on_gpu(code::<K>()?)?;
        let longest = match segments {
            DeviceSegments::Length(length) => length,
            DeviceSegments::Offsets { longest, .. } => longest.min(keys.len() as u64),
        };
        check_indices(longest)?;
        let moved = Moved { keys: keys.cast::<K::Bits>(), payload: places.address(), kind: Payload::Places };
        // SAFETY: as the caller states.
        unsafe { self.sort_arrays_or_segments(stream, moved, segments, code::<K>()?, order) }
    }

    /// Any of the sorts above, for the bits of keys of this code.
    ///
    /// # Safety
    /// As there.
    pub(crate) unsafe fn sort_moved<B: Bits>(
        &self,
        stream: &Stream,
        moved: Moved<'_, B>,
        segments: DeviceSegments<'_>,
        code: Code,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        let content = Content { key_bytes: size_of::<B>(), payload: moved.kind, code, order };
        let job = SegmentSort {
            gpu: self,
            stream,
            moved,
            content,
            transform: CodeTransform::new::<B>(code, order),
        };
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
        let job = SegmentSort {
            gpu: self,
            stream,
            moved,
            content,
            transform: CodeTransform::new::<B>(code, order),
        };
        let listing = job.listing(rest.offsets.len(), rest.longest, Some(rest))?;
        Ok(PreparedRest { job, listing, rest })
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
        // SAFETY: as the caller states.
        unsafe { self.job.sort_listed(self.listing, self.rest.offsets, self.rest.longest, Some(self.rest)) }
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

/// Whether indices of 32 bits are enough for the longest segment.
pub(crate) fn check_indices(longest: u64) -> Result<(), Error> {
    if longest <= 1 << 32 {
        return Ok(());
    }
    Err(Error::Unsupported(format!(
        "indices in a segment of {longest} keys do not fit 32 bits; sort its parts"
    )))
}

pub(crate) fn code<K: Key>() -> Result<Code, Error> {
    match K::FORM {
        Form::Bits(code) => Ok(code),
        _ => {
            Err(Error::Unsupported("only keys of fixed width are sorted on a GPU; use the CPU engine".into()))
        }
    }
}

/// Keys in device memory, and the address of what moves with them or of where their places go.
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
    /// Where there can be segments too long for a block.
    tiles: Option<Tiles>,
    scratch: Buffer<u32>,
}

struct SegmentSort<'gpu, 'a, B> {
    gpu: &'gpu Gpu,
    stream: &'a Stream,
    moved: Moved<'a, B>,
    content: Content,
    transform: CodeTransform,
}

impl<'gpu, B: Bits> SegmentSort<'gpu, '_, B> {
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
        let listing = self.listing(offsets.len(), longest, None)?;
        // SAFETY: as the caller states.
        unsafe { self.sort_listed(listing, offsets, longest, None)? };
        self.gpu.pending(self.stream)
    }

    /// Kernels and scratch for segments between so many offsets, or nothing where there is nothing to do.
    fn listing(
        &self,
        offsets: usize,
        longest: u64,
        rest: Option<Rest<'_>>,
    ) -> Result<Option<Listing>, Error> {
        let segments = offsets.saturating_sub(1);
        let longest = longest.min(self.moved.keys.len() as u64);
        if segments == 0 || longest < self.content.least() {
            return Ok(None);
        }
        if segments as u64 >= u64::from(u32::MAX) {
            return Err(Error::Unsupported(format!("{segments} segments are too many; sort them in parts")));
        }
        let shortest = rest.map_or(0, |rest| rest.shortest);
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
        let tiles = if any_long { Some(self.tiles(None)?) } else { None };
        let copies = if any_long && rest.is_none() { self.copies_words() } else { 0 };
        let scratch = scratch(self.stream, listed_words(segments) + copies)?;
        let workers = workers.iter().copied().zip(kernels).collect();
        Ok(Some(Listing { by_class, capacities, workers, tiles, scratch }))
    }

    /// # Safety
    /// As [`Gpu::sort_segments`]; the listing is for these offsets.
    unsafe fn sort_listed(
        &self,
        listing: Option<Listing>,
        offsets: View<'_, u64>,
        longest: u64,
        rest: Option<Rest<'_>>,
    ) -> Result<(), Error> {
        let Some(Listing { by_class, capacities, workers, tiles, scratch }) = listing else {
            return Ok(());
        };
        let segments = offsets.len() - 1;
        let longest = longest.min(self.moved.keys.len() as u64);
        // Aligned, as the copies after it in the scratch are.
        let listed = listed_words(segments);
        let copies = rest.map_or(scratch.address() + 4 * listed as u64, |rest| rest.copy.address());
        let mut taken = 0;
        let [progress, counts, cursors, list, tiles_before] = listed_lengths(segments).map(|words| {
            taken += words;
            scratch.range(taken - words..taken)
        });
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
        if let Some(tiles) = tiles {
            let size = capacities.count;
            let launch = Launch { blocks: 1, ..launch };
            let arguments = (offsets, list, counts, size, tiles.length as u32, tiles_before);
            // SAFETY: as above.
            unsafe { by_class[2].launch(self.stream, launch, arguments)? };
            let long = LongSegments {
                offsets: offsets.address(),
                list: list.address(),
                counts: counts.address(),
                tiles_before: tiles_before.address(),
                size,
                ..LongSegments::default()
            };
            // SAFETY: as the caller states; the scratch has room for the copies behind the lists.
            unsafe { self.sort_long(&tiles, long, longest, progress, copies)? };
        }
        Ok(())
    }

    /// What sorts segments of this length, or between offsets, that are too long for a block.
    fn tiles(&self, length: Option<u64>) -> Result<Tiles, Error> {
        let shared = self.shared_per_block();
        let (worker, tile) = Worker::for_tiles(length, self.content, shared).ok_or_else(|| {
            Error::Unsupported(format!(
                "a block of this device has {shared} bytes of shared memory, too few for any sort; use the CPU engine"
            ))
        })?;
        // Places, once they are made, are a payload.
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
