//! Sorts many segments in device memory, each on its own: the calls, and the choice of a way for segments too long for a block.
//!
//! A segment that fits in a block is sorted by one block, whatever the other segments are. Long segments of one length may be
//! as long as an array that is worth a sort of its own. Other long segments of keys of up to 64 bits alone are distributed, all
//! at once. The rest is sorted as tiles, whose runs are merged.

use bytemuck::Pod;
use sortie_device::{Properties, Stream, View};

use super::split::SplitShape;
use crate::error::same_length;
use crate::gpu::alloc::{check_workspace, workspace};
use crate::gpu::array::{ArrayWay, Wanted};
use crate::gpu::kernels::segments::LongSegments;
use crate::gpu::rows::{DevicePayload, Rows};
use crate::gpu::segments::{Content, Lie, Moved, Payload, Worker, check_indices, code};
use crate::gpu::segments::{listed_words, segments_words};
use crate::gpu::{DeviceSegments, Gpu, Pending};
use crate::key::{Bits, Code};
use crate::request::Beside;
use crate::{Error, Order, TotalOrder};

/// With fewer keys for each multiprocessor, segments are not distributed: merges take fewer launches.
const SPLIT_FROM: usize = 1 << 13;
/// Shorter segments of keys alone (in keys for each multiprocessor) are not sorted as arrays but distributed. On an H100, 2^26
/// f32 in 64 segments took 1.4 ms when distributed, and 5.9 as arrays.
const KEYS_AS_ARRAYS_FROM: usize = 1 << 15;
/// The same for other segments, which are merged. The value is from keys alone, f32 on an H100: 16 segments of 4M took 3.3 ms
/// merged and 2.0 as arrays; 64 segments of 1M were faster merged.
const OTHERS_AS_ARRAYS_FROM: usize = 1 << 14;

impl Gpu {
    /// Enqueues a sort of each segment on its own, in place, and does not wait.
    ///
    /// Keys are sorted alone, so equal keys cannot be told apart. The method depends on the lengths of segments, which only the
    /// device knows if the segments are between offsets. How keys are spread makes little difference.
    ///
    /// - Segments that fit in a block are read and written once, in place. On a device with 227 KB of shared memory per block,
    ///   these are segments of up to 40,960 keys of 32 bits or less if all have one length, or 32,768 between offsets; 16,384
    ///   keys of 64 bits; or 8192 keys of 128 bits. Scratch: none for one length, up to 8 bytes per segment between offsets.
    /// - Longer segments of keys of up to 64 bits are distributed, all at once. That reads them three times and writes them
    ///   twice; segments with more than 256 buckets of about 5,000 keys are read twice and written once more. Scratch: a copy
    ///   of all keys, and 4% more.
    /// - Segments of one length and of at least 2^15 keys for each multiprocessor, of up to 64 bits, are sorted one after the
    ///   other, each as by [`Gpu::sort`], with its scratch.
    /// - Segments that do not fit in a block are sorted as tiles of about 8192 to 32,768 keys if there are fewer than 2^13 keys
    ///   in all for each multiprocessor, if a segment may have 2^32 keys or more, or if keys have 128 bits. They are read and
    ///   written once more for each doubling beyond the tile. Scratch: a copy of all keys.
    ///
    /// # Errors
    /// [`Error::Segments`] if the length does not divide the keys; [`Error::Unsupported`] for keys without codes of
    /// 8 to 128 bits, or 2^32 - 1 segments and more between offsets; [`Error::Memory`] if the device has too little
    /// free for the scratch; [`Error::Device`] if a kernel is not available. Nothing has been enqueued that changes
    /// the keys then.
    ///
    /// # Safety
    /// Nothing else uses the keys or the offsets until the sort is done, and offsets are as [`DeviceSegments::Offsets`]
    /// states. The stream belongs to this engine's device.
    pub unsafe fn sort_segments<K: TotalOrder + Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        segments: DeviceSegments<'_>,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        let moved = Moved { keys: keys.cast::<K::Bits>(), payload: 0, kind: Payload::None };
        // SAFETY: the caller guarantees it.
        unsafe { self.sort_batch(stream, moved, segments, code::<K>()?, order) }
    }

    /// [`Gpu::sort_segments`] of keys with payloads. Each payload, of any multiple of 4 bytes, moves with its key. Stable.
    ///
    /// The sort handles 32 bits for each key: some of its leading bits, and its index in the segment, whatever the width of
    /// keys and payload. If the keys of a segment agree in those bits, it takes as many sorts as the codes have digits of about
    /// 20 bits. Segments of up to 16,384 keys fit in a block; 24,576 if keys and payload have at most 4 bytes each; 8192 keys
    /// of 128 bits. Longer segments are sorted as tiles, which are merged, and also need a copy of the payload as scratch.
    /// Segments of one length, with at least 2^14 keys of up to 64 bits for each multiprocessor, are sorted one after the
    /// other, as by [`Gpu::sort_pairs`].
    ///
    /// Payloads of 4, 8 and 16 bytes move with their keys. For other payloads, indices of 4 bytes do (8 bytes from 2^32 keys
    /// on), and the payloads are then gathered by them. That takes two more reads and two more writes of the payload, and as
    /// scratch a copy of it and the indices, whether segments fit in a block or not.
    ///
    /// # Errors
    /// As [`Gpu::sort_segments`]; [`Error::LengthMismatch`]; [`Error::Unsupported`] for payloads of other sizes, or not
    /// aligned: to 8 bytes if those divide the size, else to 4; and for floats whose NaNs are to be equal
    /// ([`Nans`](crate::Nans)).
    ///
    /// # Safety
    /// As [`Gpu::sort_segments`], and nothing else uses the payload until the sort is done.
    pub unsafe fn sort_pairs_segments<K: TotalOrder + Pod, V: Pod>(
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
            // SAFETY: the caller guarantees it.
            return unsafe { self.sort_batch(stream, moving(address, each), segments, code, order) };
        };
        let beside = Beside::Payload { bytes: each, stable: true };
        check_workspace(stream, || self.words_of_segments::<K::Bits>(n, segments, beside, code))?;
        // SAFETY: the caller guarantees it; the sort permutes what moves with the keys.
        unsafe {
            self.sort_rows(stream, rows, address, |indices| {
                let moved = moving(indices, rows.index_bytes());
                self.sort_batch(stream, moved, segments, code, order)
            })
        }
    }

    /// Enqueues an argsort of each segment: writes the indices of its keys in order, counted from the start of the segment. The
    /// keys stay as they are. Stable.
    ///
    /// Cost and lengths are those of [`Gpu::sort_pairs_segments`] with payloads of 4 bytes. Segments that are as long as arrays
    /// are sorted as by [`Gpu::argsort`]. Scratch for segments that are merged: two copies of the keys and one of the indices.
    /// Indices that belong to no segment are not written.
    ///
    /// # Errors
    /// As [`Gpu::sort_segments`]; [`Error::LengthMismatch`]; [`Error::Unsupported`] if a segment can have more than
    /// 2^32 keys, and for floats whose NaNs are to be equal ([`Nans`](crate::Nans)).
    ///
    /// # Safety
    /// As [`Gpu::sort_segments`], and nothing else uses the indices until the sort is done.
    pub unsafe fn argsort_segments<K: TotalOrder + Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        indices: View<'_, u32>,
        segments: DeviceSegments<'_>,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        same_length("indices", keys.len(), indices.len())?;
        order.carries_on_gpu(code::<K>()?)?;
        let longest = match segments {
            DeviceSegments::Length(length) => length,
            DeviceSegments::Offsets { longest, .. } => longest.min(keys.len() as u64),
        };
        check_indices(longest)?;
        let moved =
            Moved { keys: keys.cast::<K::Bits>(), payload: indices.address(), kind: Payload::Indices };
        // SAFETY: the caller guarantees it.
        unsafe { self.sort_batch(stream, moved, segments, code::<K>()?, order) }
    }

    /// Words of each piece of scratch that one of these sorts takes.
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
            Beside::Indices { .. } => Payload::Indices,
        };
        let content = Content { key_bytes: size_of::<B>(), payload, code, order: Order::default() };
        let (lie, device) = (segments.lie(), self.device().properties());
        let way = BatchWay::new::<B>(content, keys, lie, device);
        rows.map(Rows::words).into_iter().chain(way.words::<B>(content, keys, lie, device)).collect()
    }

    /// Any of the sorts above, for the bits of keys with this code.
    ///
    /// # Safety
    /// As those sorts.
    unsafe fn sort_batch<B: Bits>(
        &self,
        stream: &Stream,
        moved: Moved<'_, B>,
        segments: DeviceSegments<'_>,
        code: Code,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        let content = Content { key_bytes: size_of::<B>(), payload: moved.kind, code, order };
        let n = moved.keys.len();
        let device = self.device().properties();
        let way = BatchWay::new::<B>(content, n, segments.lie(), device);
        if let BatchWay::Blocks = way {
            // SAFETY: the caller guarantees it.
            return unsafe { self.sort_moved(stream, moved, segments, code, order) };
        }
        if let DeviceSegments::Length(length) = segments {
            crate::Segments::Length(length as usize).check(n)?;
        }
        let words = || way.words::<B>(content, n, segments.lie(), device);
        check_workspace(stream, words)?;
        // One allocation instead of several: each takes microseconds.
        let room = stream.workspace_bytes().is_none().then(|| workspace(stream, &words())).transpose()?;
        // SAFETY: nothing else uses this memory, which is freed on the stream after the sort.
        let within = room.as_ref().map(|room| unsafe { stream.with_workspace(room.view().cast()) });
        let within = within.as_ref().unwrap_or(stream);
        // SAFETY: the caller guarantees it.
        unsafe {
            match &way {
                BatchWay::Blocks => unreachable!("they were sorted above"),
                BatchWay::Arrays { way, length } => {
                    self.sort_as_arrays(within, moved, way, *length, content)?
                }
                BatchWay::Split(shape) => self.sort_split(within, moved, segments, *shape, content)?,
            }
        }
        self.pending(stream)
    }

    /// Sorts segments of one length one after the other, each as an array.
    ///
    /// # Safety
    /// As [`Gpu::sort_pairs_segments`].
    unsafe fn sort_as_arrays<B: Bits>(
        &self,
        stream: &Stream,
        moved: Moved<'_, B>,
        way: &ArrayWay,
        length: usize,
        content: Content,
    ) -> Result<(), Error> {
        let wanted = wanted(content);
        for start in (0..moved.keys.len()).step_by(length) {
            let keys = moved.keys.range(start..start + length);
            let payload = moved.payload + (start * content.payload.bytes()) as u64;
            // SAFETY: the caller guarantees it.
            drop(unsafe { self.sort_array_by(way.clone(), stream, keys, payload, wanted)? });
        }
        Ok(())
    }

    /// Sorts segments of keys alone, the long ones distributed.
    ///
    /// # Safety
    /// As [`Gpu::sort_segments`].
    unsafe fn sort_split<B: Bits>(
        &self,
        stream: &Stream,
        moved: Moved<'_, B>,
        segments: DeviceSegments<'_>,
        shape: SplitShape,
        content: Content,
    ) -> Result<(), Error> {
        let Content { code, order, .. } = content;
        let kernels = self.kernel_set(&shape.kernels)?;
        // SAFETY: the caller guarantees it; the list of the long ones is kept until all is enqueued.
        unsafe {
            match segments {
                DeviceSegments::Length(length) => {
                    let segments = moved.keys.len() as u64 / length;
                    let long = || Ok(LongSegments { length, segments, ..LongSegments::default() });
                    self.split_segments(stream, moved.keys, shape, &kernels, long)
                }
                DeviceSegments::Offsets { offsets, longest } => {
                    let short = self.prepare_short(stream, moved, (offsets, longest), code, order)?;
                    self.split_segments(stream, moved.keys, shape, &kernels, || short.enqueue())
                }
            }
        }
    }
}

/// How segments are sorted.
enum BatchWay {
    /// By blocks; segments too long for one are sorted as tiles, which are merged.
    Blocks,
    /// Each as an array of this length.
    Arrays { way: ArrayWay, length: usize },
    /// Segments too long for a block are distributed.
    Split(SplitShape),
}

impl BatchWay {
    /// The way to sort `n` keys on this device.
    fn new<B: Bits>(content: Content, n: usize, lie: Lie, device: &Properties) -> BatchWay {
        if B::WIDTH > 64 || n == 0 {
            return BatchWay::Blocks;
        }
        let shared = device.shared_per_block;
        let alone = content.payload == Payload::None;
        let multiprocessors = device.multiprocessors as usize;
        let largest = Worker::classes(content, shared).last().map_or(0, |largest| largest.capacity());
        // The shortest length that is too long for a block, and the longest.
        let (shortest, longest) = match lie {
            Lie::Length(length) if Worker::for_length(length, content, shared).is_some() => (1, 0),
            Lie::Length(length) => (length, length),
            Lie::Offsets { segments: 0, .. } => (1, 0),
            Lie::Offsets { longest, .. } => (largest + 1, longest.min(n)),
        };
        if longest < shortest {
            return BatchWay::Blocks;
        }
        let from = multiprocessors * if alone { KEYS_AS_ARRAYS_FROM } else { OTHERS_AS_ARRAYS_FROM };
        if let Lie::Length(length) = lie
            && (from..=n).contains(&length)
            && let Ok(way @ (ArrayWay::Digits(_) | ArrayWay::Passes(_))) =
                wanted(content).way::<B>(length, device)
        {
            return BatchWay::Arrays { way, length };
        }
        if alone && n >= SPLIT_FROM * multiprocessors && longest < 1 << 32 {
            return BatchWay::Split(SplitShape::new(content, shortest, longest, device));
        }
        BatchWay::Blocks
    }

    /// Words of each piece of scratch that this way takes.
    fn words<B: Bits>(&self, content: Content, n: usize, lie: Lie, device: &Properties) -> Vec<usize> {
        match self {
            BatchWay::Blocks => vec![segments_words(content, n, lie, device.shared_per_block)],
            BatchWay::Arrays { way, length } => wanted(content).scratch_words::<B>(way, *length, device),
            BatchWay::Split(shape) => {
                let mut words = shape.words(n);
                if let Lie::Offsets { segments, .. } = lie {
                    words.push(listed_words(segments));
                }
                words
            }
        }
    }
}

/// The sort of a segment, as that of an array.
fn wanted(content: Content) -> Wanted {
    Wanted { beside: content.payload.beside(), code: content.code, order: content.order }
}
