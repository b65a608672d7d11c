//! One large array: distributed by digits, then its buckets finished.
//!
//! Keys alone are moved to their buckets in any order, and so are narrow keys with their indices, or with payloads of 4 bytes
//! that need not be stable. Other keys with something beside them are moved by stable passes (`stable`). Fewer keys go through
//! stable passes over all their digits, and so do keys that are spread too unevenly, except wide keys alone, which are then
//! sorted by samples. Few keys alone go through a bitonic network. Few pairs, and indices, are sorted by one block. Keys of 128
//! bits are sorted by comparison.
//!
//! Keys that are in order, in reverse order, or that have few codes are put in order at once. All of this is decided on the
//! device: nothing is read back.

use bytemuck::Pod;
use sortie_device::{Buffer, Properties, Stream, View};

use super::count::{Counting, CountingKernels, Tables};
use super::distribute::{Distribution, DistributionKernels};
use super::finish::Finish;
use super::items::{Items, Low};
use super::left::Left;
use super::onesweep::{Onesweep, Passes, Sweep};
use super::redistribute::{LongTables, RedistributionKernels};
use super::sample_sort::{Keys, SampleSort, sample_sort_words};
use super::shape::{Blocks, Shape};
use super::stable::stable_words;
use super::way::{ArrayWay, Wanted};
use crate::gpu::alloc::{check_workspace, scratch, workspace};
use crate::gpu::engine::KernelSet;
use crate::gpu::kernels::array::{BucketBounds, ItemArrays};
use crate::gpu::kernels::{CodeTransform, Instance};
use crate::gpu::rows::DevicePayload;
use crate::gpu::segments::{Content, Payload, Worker};
use crate::gpu::segments::{Moved, Rest, code, listed_words, of_one_length_words};
use crate::gpu::{DeviceSegments, Gpu, Pending};
use crate::key::{Bits, Code};
use crate::request::Beside;
use crate::{Algorithm, Error, Order, TotalOrder};

impl Gpu {
    /// Enqueues a sort of all keys, in place, and does not wait.
    ///
    /// Keys are sorted alone, so equal keys cannot be told apart. The method depends on their number:
    ///
    /// - From 2^15 keys for each multiprocessor on (and for keys of up to 32 bits, as many as fill the second level cache
    ///   twice), up to 2^32 - 2^16: they are distributed to buckets that a block sorts. That reads them four times and writes
    ///   them three times. For more than 1.7 billion keys on a device with 227 KB of shared memory per block (80 million with
    ///   48 KB), buckets are counted in two or three slices, with one read each. Keys in order cost one read; keys in reverse
    ///   order cost another read and a write; keys of few distinct codes cost a read and a write. Buckets that are too long
    ///   because keys are close together are distributed once more, by their own range, at two more reads and writes. Buckets
    ///   that are still too long are merged like long segments. If a sample finds many keys in such buckets, integers of 64
    ///   bits are sorted as by [`Gpu::sort_by_comparison`], and other keys go through passes. Scratch: a copy of the keys and
    ///   about 1% more; for keys of up to 32 bits, also half a byte per key.
    /// - From 2^12 keys for each multiprocessor on, and for more than 2^32 - 2^16 keys: by stable passes of 8 bits, as in
    ///   [`Gpu::sort_pairs`]. Scratch: a copy, and half a byte per key.
    /// - From 2^13 keys in all on: through a bitonic network, in place, as by [`Gpu::sort_bitonic`]. No scratch.
    /// - Fewer: as one segment, by a block. Scratch if it does not fit in a block: a copy.
    ///
    /// Keys of 128 bits are sorted as by [`Gpu::sort_by_comparison`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] for keys without codes of 8 to 128 bits, or more than 2^32 - 2^16 of 128 bits; [`Error::Memory`]
    /// if the device has too little free for the scratch; [`Error::Device`] if a kernel is not available: the keys are
    /// as they were then. If the device fails later, they are unspecified.
    ///
    /// # Safety
    /// Nothing else uses the keys until the sort is done. The stream belongs to this engine's device.
    pub unsafe fn sort<K: TotalOrder + Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        let wanted = Wanted { beside: Beside::Nothing, code: code::<K>()?, order };
        // SAFETY: the caller guarantees it.
        unsafe { self.sort_array(stream, keys.cast::<K::Bits>(), 0, wanted) }
    }

    /// [`Gpu::sort`] of keys with payloads. Each payload, of any multiple of 4 bytes, moves with its key. Stable.
    ///
    /// The method depends on the width of the keys, and on their number for each multiprocessor:
    ///
    /// - 32 and 64 bits, from 2^15 keys on, of 32 bits as many as fill the second level cache twice: two stable passes bring keys
    ///   and payload to buckets, which blocks sort: they are read and written three times, and the keys read once more. Keys
    ///   of few distinct codes need the two passes alone. Keys that are spread too unevenly go through the passes below instead,
    ///   and so do those that are more than fit 2^16 buckets, some 2^29.
    /// - Up to 64 bits, from 2^7 keys on: by stable passes of 8 bits, which read and write keys and payload once for each byte in
    ///   which keys differ.
    /// - 128 bits: as by [`Gpu::sort_pairs_by_comparison`].
    /// - Fewer: by one block, keys of 32 and 64 bits up to 2^14 or 2^13 on a device with 227 KB of shared memory a block. No scratch.
    /// - Others: as one segment, by [`Gpu::sort_pairs_segments`]. Scratch if it does not fit a block: a copy of keys
    ///   and payload; else none.
    ///
    /// Scratch of both kinds of passes: a copy of keys and payload, and up to 1.4 bytes a key.
    ///
    /// Payloads of 4, 8 and 16 bytes move with their keys in these ways. For other payloads, indices of 4 bytes do, and the
    /// payloads are gathered by them in the end, with two reads and two writes of the payload. Scratch: that of such pairs, the
    /// indices, and a copy of the payload. A sort by comparison moves indices whatever the payload is.
    ///
    /// Source of the passes: Adinets and Merrill, "Onesweep: a faster least significant digit radix sort for GPUs"
    /// (2022), section 3.
    ///
    /// # Errors
    /// As [`Gpu::sort`]; [`Error::LengthMismatch`]; [`Error::Unsupported`] for payloads of other sizes, or not aligned: to 8
    /// bytes if those divide the size, else to 4; and for floats whose NaNs are to be equal ([`Nans`](crate::Nans)).
    ///
    /// # Safety
    /// As [`Gpu::sort`], and nothing else uses the payload until the sort is done.
    pub unsafe fn sort_pairs<K: TotalOrder + Pod, V: Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        payload: View<'_, V>,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        let payload = DevicePayload::of(keys.len(), payload)?;
        // SAFETY: the caller guarantees it.
        unsafe { self.sort_array_of_pairs(stream, keys, payload, order, true) }
    }

    /// [`Gpu::sort_pairs`], except that payloads of equal keys come out in any order. The order is the same in every run.
    ///
    /// If keys of up to 32 bits are distributed (up to 2^32 - 2^16 of them), payloads of 4 bytes are placed below them, as
    /// items of 64 bits. The scratch is then 16 bytes per key and up to 1 byte more. All others are sorted as by
    /// [`Gpu::sort_pairs`].
    ///
    /// # Errors
    /// As [`Gpu::sort_pairs`], but NaNs that are to be equal are told apart by their bits.
    ///
    /// # Safety
    /// As [`Gpu::sort_pairs`].
    pub unsafe fn sort_pairs_unstable<K: TotalOrder + Pod, V: Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        payload: View<'_, V>,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        let payload = DevicePayload::of(keys.len(), payload)?;
        // SAFETY: the caller guarantees it.
        unsafe { self.sort_array_of_pairs(stream, keys, payload, order, false) }
    }

    /// Either of these sorts, whatever the type of the payload.
    ///
    /// # Safety
    /// As [`Gpu::sort_pairs`].
    pub(crate) unsafe fn sort_array_of_pairs<K: TotalOrder + Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        payload: DevicePayload,
        order: Order,
        stable: bool,
    ) -> Result<Pending<'_>, Error> {
        let beside = Beside::Payload { bytes: payload.each, stable };
        let wanted = Wanted { beside, code: code::<K>()?, order };
        if stable {
            order.carries_on_gpu(wanted.code)?;
        }
        // SAFETY: the caller guarantees it.
        unsafe { self.sort_array(stream, keys.cast::<K::Bits>(), payload.address, wanted) }
    }

    /// Any of the sorts above, for the bits of keys with this code.
    ///
    /// # Safety
    /// As those sorts.
    pub(crate) unsafe fn sort_array<B: Bits>(
        &self,
        stream: &Stream,
        keys: View<'_, B>,
        payload: u64,
        wanted: Wanted,
    ) -> Result<Pending<'_>, Error> {
        let way = self.way::<B>(keys.len(), wanted, Algorithm::Auto)?;
        // SAFETY: the caller guarantees it.
        unsafe { self.sort_array_by(way, stream, keys, payload, wanted) }
    }

    /// The same, in this way.
    ///
    /// # Safety
    /// As those sorts.
    pub(crate) unsafe fn sort_array_by<B: Bits>(
        &self,
        way: ArrayWay,
        stream: &Stream,
        keys: View<'_, B>,
        payload: u64,
        wanted: Wanted,
    ) -> Result<Pending<'_>, Error> {
        let n = keys.len();
        let Wanted { beside, code, order } = wanted;
        check_workspace(stream, || self.array_words::<B>(&way, n, wanted))?;
        // SAFETY: the caller guarantees it.
        unsafe {
            match way {
                ArrayWay::Digits(items) if stream.workspace_bytes().is_none() => {
                    // One allocation instead of six: each takes microseconds.
                    let room = workspace(stream, &self.array_words::<B>(&way, n, wanted))?;
                    let within = stream.with_workspace(room.view().cast());
                    self.sort_items(&within, keys, payload, items)
                }
                ArrayWay::Digits(items) => self.sort_items(stream, keys, payload, items),
                ArrayWay::Passes(passes) => self.onesweep(stream, keys, payload, passes),
                ArrayWay::Block(items, moving, block) => {
                    self.sort_in_block(stream, keys, payload, (items, moving, block))
                }
                ArrayWay::Network => {
                    let payload = (payload, beside.payload_bytes());
                    self.sort_bits_bitonic(stream, keys, payload, code, order)
                }
                ArrayWay::Samples(sorted) => self.sample_sort(stream, keys.address(), n, payload, &sorted),
                ArrayWay::Segment => {
                    let moved = Moved { keys, payload, kind: in_segments(beside) };
                    self.sort_moved(stream, moved, DeviceSegments::Length(n.max(1) as u64), code, order)
                }
                ArrayWay::ByIndices { rows, indexed, way } => {
                    self.sort_rows(stream, rows, payload, |indices| {
                        self.sort_array_by(*way, stream, keys, indices, indexed)
                    })
                }
            }
        }
    }

    /// The way to sort this many keys, by this algorithm or whichever is fastest.
    pub(crate) fn way<B: Bits>(
        &self,
        n: usize,
        wanted: Wanted,
        algorithm: Algorithm,
    ) -> Result<ArrayWay, Error> {
        wanted.way::<B>(n, algorithm, self.device().properties())
    }

    /// Words of each piece of scratch that a sort takes in this way.
    pub(crate) fn array_words<B: Bits>(&self, way: &ArrayWay, n: usize, wanted: Wanted) -> Vec<usize> {
        wanted.scratch_words::<B>(way, n, self.device().properties())
    }

    /// The same for this many keys or for one key less, which may be sorted in another way.
    pub(crate) fn words_up_to<B: Bits>(&self, most: usize, wanted: Wanted) -> Result<Vec<usize>, Error> {
        let mut scratch = Vec::new();
        for keys in [most, most.saturating_sub(1)] {
            let words = self.array_words::<B>(&self.way::<B>(keys, wanted, Algorithm::Auto)?, keys, wanted);
            scratch.resize(scratch.len().max(words.len()), 0);
            scratch.iter_mut().zip(words).for_each(|(most, words)| *most = words.max(*most));
        }
        Ok(scratch)
    }

    /// Sorts items of these keys, and what is at the address of the payload.
    ///
    /// # Safety
    /// As [`Gpu::sort_pairs`].
    unsafe fn sort_items<B: Bits>(
        &self,
        stream: &Stream,
        keys: View<'_, B>,
        payload: u64,
        items: Items,
    ) -> Result<Pending<'_>, Error> {
        if let Low::Beside(moving) = items.low {
            // SAFETY: the caller guarantees it.
            return unsafe { self.sort_stably(stream, keys, payload, (items, moving)) };
        }
        let shape = Shape::new(keys.len(), items, self.device().properties());
        // SAFETY: the caller guarantees it.
        unsafe { self.sort_shaped(shape, stream, keys, payload, items) }
    }

    /// The same, in this shape.
    ///
    /// # Safety
    /// As [`Gpu::sort_pairs`].
    unsafe fn sort_shaped<B: Bits>(
        &self,
        shape: Shape,
        stream: &Stream,
        keys: View<'_, B>,
        payload: u64,
        items: Items,
    ) -> Result<Pending<'_>, Error> {
        let n = keys.len();
        // Kernels first: if one is not available, that is found before any of them runs.
        let uneven = Uneven::new::<B>(n, items, self.device().properties());
        let kernels =
            self.kernel_set(&DigitKernels { items, blocks: shape.blocks, uneven: uneven.sweep() })?;
        let [counting, sweeping, distributing, redistributing, finishing] = &kernels[..] else {
            unreachable!("as many as steps")
        };
        let parts = Parts::new(n, shape, items);
        let scratch = scratch(stream, parts.words(uneven.words(n, self.device().properties())))?;
        let [copy, items_apart] = parts.of(&scratch);
        let arrays = ItemArrays {
            items: if items.are_alone() { keys.address() } else { items_apart.address() },
            keys: keys.address(),
            payload,
        };
        let transform = CodeTransform::new::<B>(items.code, items.order);
        let counting = Counting {
            stream,
            n,
            key_bytes: items.key_bytes,
            keys: keys.address(),
            shape,
            tables: Tables::new(scratch.view(), shape),
            kernels: CountingKernels::new(counting),
            transform,
        };
        let profile = counting.tables.profile.address();
        let room = scratch.range(parts.0[0]..scratch.len());
        let uneven = match &uneven {
            Uneven::Passes(passes) => {
                let multiprocessors = shape.multiprocessors;
                let arrays = (keys, payload);
                let sweep = Onesweep::new(sweeping, room, arrays, *passes, profile, multiprocessors)?;
                UnevenSort::Passes(Box::new(sweep))
            }
            Uneven::Samples(sorted) => {
                let arrays = (keys.address(), n, payload);
                UnevenSort::Samples(Box::new(SampleSort::new(self, arrays, sorted, room, profile)?))
            }
        };
        let steps = Steps {
            uneven,
            again: (0..redistributions(items))
                .map(|_| LongTables::new(stream, n, shape.blocks.finishing.capacity()))
                .collect::<Result<_, _>>()?,
            redistribution: RedistributionKernels::new(redistributing),
            finish: Finish::new(finishing, shape.blocks.finishing, Left::new(stream, n)?),
            job: Distribution {
                counting,
                arrays,
                copy: copy.address(),
                kernels: DistributionKernels::new(distributing),
                item_transform: if items.are_alone() { transform } else { CodeTransform::default() },
            },
            copy,
        };
        // SAFETY: the caller guarantees it; items that are not the keys are where they are distributed to.
        unsafe {
            if items.are_alone() {
                return self.enqueue_steps(&steps, keys, items);
            }
            let placed = View::<u64>::from_raw(arrays.items, n);
            self.enqueue_steps(&steps, placed, items.as_keys())
        }
    }

    /// Enqueues all steps, for items that are keys of their own at these addresses.
    ///
    /// # Safety
    /// As [`Gpu::sort_pairs`].
    unsafe fn enqueue_steps<I: Bits>(
        &self,
        steps: &Steps<'_>,
        placed: View<'_, I>,
        items: Items,
    ) -> Result<Pending<'_>, Error> {
        let Steps { job, uneven, redistribution, again, finish, copy } = steps;
        let Counting { stream, n, ref shape, ref tables, .. } = job.counting;
        let longest = shape.blocks.finishing.capacity();
        let rest = Rest { offsets: finish.left.offsets(), longest: n as u64, shortest: longest, copy: *copy };
        let moved = Moved { keys: placed, payload: 0, kind: Payload::None };
        let rest = self.prepare_rest(stream, moved, rest, items.code, items.order)?;
        // SAFETY: the caller guarantees it. Keys that are not settled fall into the buckets.
        unsafe {
            uneven.clear(stream)?;
            job.counting.profile()?;
            job.counting.count(0)?;
            uneven.enqueue(stream)?;
            job.distribute()?;
            job.settle()?;
            let mut buckets = vec![BucketBounds::between(tables.ends)];
            for tables in again {
                redistribution.redistribute(job, tables, buckets[buckets.len() - 1], longest)?;
                buckets.push(tables.ready());
            }
            finish.left.clear(stream)?;
            for (i, &those) in buckets.iter().enumerate() {
                // Buckets that are too long and were not distributed again are left.
                finish.sort(job.finishing(), those, if i < again.len() { longest } else { n })?;
            }
            rest.enqueue()?;
            finish.take_apart(job.finishing())?;
        }
        self.pending(stream)
    }
}

/// What the kernels of a distribution, and of the passes over uneven keys, depend on.
#[derive(Clone, PartialEq, Eq, Hash)]
struct DigitKernels {
    items: Items,
    blocks: Blocks,
    uneven: Option<Sweep>,
}

impl KernelSet for DigitKernels {
    fn instances(&self) -> Vec<Vec<Instance>> {
        let DigitKernels { items, blocks, uneven } = *self;
        vec![
            CountingKernels::instances(blocks, items),
            uneven.map_or(vec![], Sweep::instances),
            DistributionKernels::instances(blocks, items),
            RedistributionKernels::instances(blocks, items),
            Finish::instances(blocks.finishing, items, false),
        ]
    }
}

/// How often buckets that are too long are distributed again. Items with something beside the key are never equal: 2^24 of one
/// code need two rounds to fit in blocks. Equal keys alone need none, and each round costs nine launches even if there is
/// nothing to do.
fn redistributions(items: Items) -> usize {
    if items.are_alone() { 1 } else { 2 }
}

/// What sorts all keys if the profile finds too many of them close together.
enum Uneven {
    Passes(Passes),
    /// For integers of 64 bits, which would take many passes.
    Samples(Keys),
}

impl Uneven {
    fn new<B: Bits>(n: usize, items: Items, device: &Properties) -> Uneven {
        // For floats, each comparison would compute two codes.
        let is_float = matches!(items.code, Code::Float { .. });
        if items.are_alone() && B::WIDTH > 32 && !is_float {
            let wanted = Wanted { beside: Beside::Nothing, code: items.code, order: items.order };
            return Uneven::Samples(wanted.compared::<B>());
        }
        Uneven::Passes(items.passes(n, device))
    }

    /// The kernels of passes; a sample sort gets its own.
    fn sweep(&self) -> Option<Sweep> {
        match self {
            Uneven::Passes(passes) => Some(passes.sweep),
            Uneven::Samples(_) => None,
        }
    }

    /// Words of scratch.
    fn words(&self, n: usize, device: &Properties) -> usize {
        match self {
            Uneven::Passes(passes) => passes.words(),
            Uneven::Samples(sorted) => sample_sort_words(n, sorted, device),
        }
    }
}

/// The same, ready to be enqueued.
enum UnevenSort<'a> {
    Passes(Box<Onesweep<'a>>),
    Samples(Box<SampleSort<'a>>),
}

impl UnevenSort<'_> {
    /// Before the profile.
    fn clear(&self, stream: &Stream) -> Result<(), Error> {
        match self {
            UnevenSort::Passes(passes) => passes.clear(stream),
            UnevenSort::Samples(_) => Ok(()),
        }
    }

    /// # Safety
    /// As [`Gpu::sort_pairs`].
    unsafe fn enqueue(&self, stream: &Stream) -> Result<(), Error> {
        // SAFETY: the caller guarantees it.
        unsafe {
            match self {
                UnevenSort::Passes(passes) => passes.enqueue(stream),
                UnevenSort::Samples(samples) => samples.enqueue(stream),
            }
        }
    }
}

/// The steps of a sort, one after the other.
struct Steps<'a> {
    job: Distribution<'a>,
    uneven: UnevenSort<'a>,
    redistribution: RedistributionKernels,
    /// One for each redistribution.
    again: Vec<LongTables>,
    finish: Finish,
    /// Room for a copy of the items.
    copy: View<'a, u32>,
}

impl Wanted {
    /// Words of each piece of scratch that a sort takes in this way.
    pub(crate) fn scratch_words<B: Bits>(self, way: &ArrayWay, n: usize, device: &Properties) -> Vec<usize> {
        let Wanted { beside, code, order } = self;
        let items = match way {
            ArrayWay::Digits(items) => *items,
            ArrayWay::Passes(passes) => return vec![passes.words()],
            ArrayWay::Network | ArrayWay::Block(..) => return vec![],
            ArrayWay::Samples(sorted) => return vec![sample_sort_words(n, sorted, device)],
            ArrayWay::ByIndices { rows, indexed, way } => {
                return [vec![rows.words()], indexed.scratch_words::<B>(way, n, device)].concat();
            }
            ArrayWay::Segment => {
                let content =
                    Content { key_bytes: size_of::<B>(), payload: in_segments(beside), code, order };
                let fits = Worker::for_length(n, content, device.shared_per_block).is_some();
                return if fits { vec![] } else { vec![of_one_length_words(content, n)] };
            }
        };
        let shape = Shape::new(n, items, device);
        if let Low::Beside(_) = items.low {
            return stable_words(n, shape, items, device);
        }
        let again = LongTables::words(n, shape.blocks.finishing.capacity());
        let rest = listed_words(Left::most(n));
        let uneven = Uneven::new::<B>(n, items, device).words(n, device);
        let mut words = vec![Parts::new(n, shape, items).words(uneven), Left::words(n), rest];
        words.extend(vec![again; redistributions(items)]);
        words
    }
}

/// What moves with the keys if they are sorted as a segment.
fn in_segments(beside: Beside) -> Payload {
    match beside {
        Beside::Nothing => Payload::None,
        Beside::Payload { bytes, .. } => Payload::Moved(bytes),
        Beside::Indices { .. } => Payload::Places,
    }
}

/// The words of each part of the scratch: the tables, a copy of the items, and a second copy if the items are not the
/// keys. Each begins at a multiple of 16 bytes.
struct Parts([usize; 3]);

impl Parts {
    fn new(n: usize, shape: Shape, items: Items) -> Parts {
        let copy = (n * items.bytes()).div_ceil(4).next_multiple_of(4);
        Parts([Tables::words(shape), copy, if items.are_alone() { 0 } else { copy }])
    }

    /// The words of all parts. The sort of uneven keys uses all but the tables, and gets more if that is too little.
    fn words(&self, uneven: usize) -> usize {
        let [tables, copies @ ..] = self.0;
        tables + uneven.max(copies.iter().sum())
    }

    /// All parts but the tables.
    fn of<'a>(&self, scratch: &'a Buffer<u32>) -> [View<'a, u32>; 2] {
        let mut start = self.0[0];
        [1, 2].map(|part| {
            start += self.0[part];
            scratch.range(start - self.0[part]..start)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::on_bench::on_bench;

    /// As with more keys than there are counters for buckets, on an H200 from about 2^30.7 keys on.
    #[test]
    fn buckets_that_are_counted_in_slices() {
        let mut random = fastrand::Rng::with_seed(1);
        let even: Vec<u32> = (0..70_000).map(|_| random.u32(..)).collect();
        let skewed: Vec<u32> = even.iter().map(|key| key >> (key % 30)).collect();
        let few: Vec<u32> = even.iter().map(|key| key % 300).collect();
        let ascending: Vec<u32> = (0..70_000).collect();
        on_bench(|gpu| {
            for keys in [even, skewed, few, ascending] {
                let buffer = gpu.device().alloc::<u32>(keys.len()).unwrap();
                let stream = gpu.device().stream().unwrap();
                stream.copy_in(buffer.view(), &keys).unwrap();
                let order = Order::default();
                let items = Items { key_bytes: 4, code: Code::Unsigned, order, low: Low::Nothing };
                let shape = Shape::new(keys.len(), items, gpu.device().properties()).sliced(700);
                // SAFETY: nothing else uses the keys meanwhile.
                unsafe { gpu.sort_shaped(shape, &stream, buffer.view(), 0, items) }.unwrap().wait().unwrap();
                let (mut expected, mut found) = (keys, vec![0; 70_000]);
                stream.copy_out(&mut found, buffer.view()).unwrap();
                expected.sort_unstable();
                assert!(found == expected);
            }
        });
    }
}
