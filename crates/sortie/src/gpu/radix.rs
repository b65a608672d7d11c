//! One large array: distributed by digits, then its buckets finished; a copy as scratch, or two where something goes with the
//! keys.
//!
//! Few keys alone go through a bitonic network, few pairs and pairs of wide keys are one segment.
//!
//! What is in order already, in reverse order or has few codes close together is put in order at once. All of it is decided
//! on the device: nothing is read back. The steps are in `distribute`, `redistribute` and `finish`.

use bytemuck::Pod;
use sortie_device::{Buffer, Stream, View};

use super::distribute::{Job, Kernels, Shape, Tables};
use super::finish::{self, Finish};
use super::items::{Arrays, Items, Low};
use super::segments::{Moved, Numbers, Rest, check_payload, code, copies_words, listed_words};
use super::worker::{Content, Payload, Worker};
use super::{Gpu, Pending, Segments, redistribute};
use crate::key::{Bits, Code, Transform};
use crate::{Error, Key, Order};

/// Places are 32 bits wide, also those just past a tile that is the last.
pub(super) const MOST_KEYS: usize = (1 << 32) - (1 << 16);
/// Fewer keys for each multiprocessor are not distributed: the launches alone would take longer than their sort. On an H200 2^20 u32
/// took 0.31 ms distributed, 0.10 by a bitonic network; 2^24 0.35 and 0.90.
const DISTRIBUTE_FROM: usize = 1 << 15;
/// Fewer keys alone are one segment: a block sorts them in one launch. More of them, too few to be distributed, a network.
const NETWORK_FROM: usize = 1 << 13;

impl Gpu {
    /// Enqueues a sort of all keys, in place, and does not wait.
    ///
    /// Keys are sorted alone, so equal ones cannot be told apart. They are read three times and written twice before
    /// their buckets are finished, which is one more read and write. Keys in order cost one read, in reverse order another and a
    /// write; of few codes close together a read and a write. Fewer than 2^15 keys for each multiprocessor go through a
    /// bitonic network, in place. Buckets that close keys make too long for a block are distributed once
    /// more, by their own range, at two reads and writes more; what is too long still is merged as long segments are. Scratch:
    /// a copy of the keys, and a quarter of a byte for each on a device with 227 KB of shared memory a block, half a byte with 48
    /// KB.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for keys without codes of 8 to 64 bits, or more than 2^32 - 2^16 of them; [`Error::Memory`]
    /// where the device has too little free for the scratch; [`Error::Device`] where a kernel could not be had: the keys are as they
    /// were then. Where the device fails later, they are unspecified.
    ///
    /// # Safety
    /// Nothing else uses the keys until the sort is done. The stream is of this engine's device.
    pub unsafe fn sort<K: Key + Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        // SAFETY: as the caller states.
        unsafe { self.sort_whole(stream, keys.cast::<K::Bits>(), 0, With::Nothing, code::<K>()?, order) }
    }

    /// [`Gpu::sort`] where each payload, of 4, 8 or 16 bytes, moves with its key. Stable.
    ///
    /// Keys of up to 32 bits are sorted with their places below them, as 64 bits, and each fetches its payload in the end:
    /// at random, so that this takes as long as the rest. Scratch: 16 bytes a key, and a copy of the payload. Wider keys are
    /// sorted as a segment, in tiles that are merged, with a copy of the keys and the payload as scratch.
    ///
    /// # Errors
    /// As [`Gpu::sort`]; [`Error::LengthMismatch`]; [`Error::Unsupported`] for payloads of another size, or not aligned to 8
    /// bytes or their size.
    ///
    /// # Safety
    /// As [`Gpu::sort`], and nothing else uses the payload until the sort is done.
    pub unsafe fn sort_pairs<K: Key + Pod, V: Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        payload: View<'_, V>,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        check_payload(keys.len(), payload)?;
        let with = With::Payload { bytes: size_of::<V>(), stable: true };
        let (keys, payload) = (keys.cast::<K::Bits>(), payload.address());
        // SAFETY: as the caller states.
        unsafe { self.sort_whole(stream, keys, payload, with, code::<K>()?, order) }
    }

    /// [`Gpu::sort_pairs`] where payloads of equal keys come out in any order; it is the same in every run.
    ///
    /// Payloads of 4 bytes go below keys of up to 32 bits, in place of their places: nothing is fetched, and the scratch is 16
    /// bytes a key. All others are sorted as by [`Gpu::sort_pairs`].
    ///
    /// # Errors
    /// As [`Gpu::sort_pairs`].
    ///
    /// # Safety
    /// As [`Gpu::sort_pairs`].
    pub unsafe fn sort_pairs_unstable<K: Key + Pod, V: Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        payload: View<'_, V>,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        check_payload(keys.len(), payload)?;
        let with = With::Payload { bytes: size_of::<V>(), stable: false };
        let (keys, payload) = (keys.cast::<K::Bits>(), payload.address());
        // SAFETY: as the caller states.
        unsafe { self.sort_whole(stream, keys, payload, with, code::<K>()?, order) }
    }

    /// Enqueues an argsort: writes the places of the keys in order. The keys stay as they are. Stable.
    ///
    /// As [`Gpu::sort_pairs`], but that nothing is fetched. Scratch: 16 bytes a key of up to 32 bits; two copies of wider ones
    /// and one of the places.
    ///
    /// # Errors
    /// As [`Gpu::sort`]; [`Error::LengthMismatch`].
    ///
    /// # Safety
    /// As [`Gpu::sort`], and nothing else uses the places until the sort is done.
    pub unsafe fn argsort<K: Key + Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        places: View<'_, u32>,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        if places.len() != keys.len() {
            return Err(Error::LengthMismatch { what: "places", expected: keys.len(), found: places.len() });
        }
        let (keys, places) = (keys.cast::<K::Bits>(), places.address());
        // SAFETY: as the caller states.
        unsafe { self.sort_whole(stream, keys, places, With::Places, code::<K>()?, order) }
    }

    /// Any of the sorts above, for the bits of keys of this code.
    ///
    /// # Safety
    /// As there.
    pub(super) unsafe fn sort_whole<B: Bits>(
        &self,
        stream: &Stream,
        keys: View<'_, B>,
        payload: u64,
        with: With,
        code: Code,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        let n = keys.len();
        if n > MOST_KEYS && B::WIDTH <= 64 {
            return Err(Error::Unsupported(format!(
                "{n} keys are more than {MOST_KEYS}; sort them in parts"
            )));
        }
        match self.items::<B>(n, with, code, order) {
            // SAFETY: as the caller states.
            Some(items) => unsafe { self.sort_items(stream, keys, payload, items) },
            None if by_network::<B>(n, with) => unsafe { self.sort_bits_bitonic(stream, keys, code, order) },
            None => {
                let moved = Moved { keys, payload, kind: with.in_segments() };
                // SAFETY: as the caller states.
                unsafe { self.sort_moved(stream, moved, Segments::Length(n.max(1) as u64), code, order) }
            }
        }
    }

    /// The items that go through a distribution, unless there are too few or too wide keys.
    fn items<B: Bits>(&self, n: usize, with: With, code: Code, order: Order) -> Option<Items> {
        let low = match with {
            With::Nothing => Low::Nothing,
            With::Payload { bytes: 4, stable: false } => Low::Payload,
            With::Payload { bytes, .. } => Low::Place { payload_bytes: bytes },
            With::Places => Low::Place { payload_bytes: 0 },
        };
        let widest = if low == Low::Nothing { 64 } else { 32 };
        let least = self.device().properties().multiprocessors as usize * DISTRIBUTE_FROM;
        let items = Items { key_bytes: size_of::<B>(), code, order, low };
        (n >= least && B::WIDTH <= widest).then_some(items)
    }

    /// Words of each piece of scratch that such a sort takes.
    pub(super) fn whole_words<B: Bits>(&self, n: usize, with: With, code: Code, order: Order) -> Vec<usize> {
        let properties = self.device().properties();
        let Some(items) = self.items::<B>(n, with, code, order) else {
            if by_network::<B>(n, with) {
                return vec![];
            }
            let content = Content { key_bytes: size_of::<B>(), payload: with.in_segments(), code, order };
            let fits = Worker::for_length(n, content, properties.shared_per_block).is_some();
            return if fits { vec![] } else { vec![copies_words(content, n)] };
        };
        let shape = Shape::new(n, items, properties);
        let again = redistribute::Tables::words(n, shape.block.capacity());
        let rest = listed_words(Finish::most_left(n));
        vec![Parts::new(n, shape, items).words(), again, Finish::words(n), rest]
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
        let n = keys.len();
        let shape = Shape::new(n, items, self.device().properties());
        // Kernels first: what cannot be had is found out before any of them runs.
        let kernels = Kernels::new(self, shape, items)?;
        let parts = Parts::new(n, shape, items);
        let scratch = self.scratch(parts.words())?;
        let [copy, items_apart, fetched] = parts.of(&scratch);
        let arrays = Arrays {
            items: if items.are_alone() { keys.address() } else { items_apart.address() },
            keys: keys.address(),
            payload,
            payload_from: fetched.address(),
        };
        let transform = Numbers(Transform::<B>::new(items.code, items.order).numbers());
        let job = Job {
            stream,
            n,
            arrays,
            copy: copy.address(),
            shape,
            tables: Tables::new(scratch.view(), shape),
            kernels,
            transform,
            item_transform: if items.are_alone() { transform } else { Numbers([0; 4]) },
        };
        let longest = shape.block.capacity();
        let again = redistribute::Tables::new(self, n, longest)?;
        let finish = Finish::new(self, shape.block, n, items)?;
        let rest = Rest { offsets: finish.left(), longest: n as u64, shortest: longest, copy };
        let own = items.as_keys();
        let (alone, apart) = if items.are_alone() {
            (Some(self.prepare_rest(stream, keys, rest, own.code, own.order)?), None)
        } else {
            // SAFETY: that is where the items are distributed to.
            let items = unsafe { View::<u64>::from_raw(arrays.items, n) };
            (None, Some(self.prepare_rest(stream, items, rest, own.code, own.order)?))
        };
        // SAFETY: as the caller states. What is not settled falls into the buckets. The payload has as many words as it has room
        // for in the copy; the items are where they were distributed to.
        let rest = unsafe {
            stream.copy_within(fetched, View::from_raw(payload, fetched.len()))?;
            job.profile()?;
            job.count()?;
            job.distribute()?;
            job.settle()?;
            job.redistribute(&again, longest)?;
            finish.begin(&job)?;
            finish.sort(&job, finish::Buckets::between(job.tables.ends), longest)?;
            finish.sort(&job, again.placed(), n)?;
            let rest = match (alone, apart) {
                (Some(rest), _) => rest.enqueue()?,
                (None, Some(rest)) => rest.enqueue()?,
                (None, None) => unreachable!("one of the two was prepared"),
            };
            finish.take_apart(&job)?;
            rest
        };
        let again = again.into_scratch();
        let finished = finish.into_scratch();
        Ok(self.pending(stream, Some(scratch))?.after(rest).holding(again).holding(finished))
    }
}

/// What goes with the keys of one array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum With {
    Nothing,
    Payload {
        bytes: usize,
        stable: bool,
    },
    /// The keys stay where they are, and their places in order are written.
    Places,
}

impl With {
    fn in_segments(self) -> Payload {
        match self {
            With::Nothing => Payload::None,
            With::Payload { bytes, .. } => Payload::Moved(bytes),
            With::Places => Payload::Places,
        }
    }
}

/// Whether keys that are not distributed are sorted by a network.
fn by_network<B: Bits>(n: usize, with: With) -> bool {
    with == With::Nothing && n >= NETWORK_FROM && B::WIDTH <= 64
}

/// Words of each part of the scratch: the tables, a copy of the items, another where they are not the keys, and a copy of the
/// payload that is fetched.
struct Parts([usize; 4]);

impl Parts {
    fn new(n: usize, shape: Shape, items: Items) -> Parts {
        // What comes after it begins where 16 bytes do.
        let copy = (n * items.bytes()).div_ceil(4).next_multiple_of(4);
        let fetched = match items.low {
            Low::Place { payload_bytes } => n * payload_bytes / 4,
            _ => 0,
        };
        Parts([Tables::words(shape), copy, if items.are_alone() { 0 } else { copy }, fetched])
    }

    fn words(&self) -> usize {
        self.0.iter().sum()
    }

    /// All but the tables.
    fn of<'a>(&self, scratch: &'a Buffer<u32>) -> [View<'a, u32>; 3] {
        let mut start = self.0[0];
        [1, 2, 3].map(|part| {
            start += self.0[part];
            scratch.range(start - self.0[part]..start)
        })
    }
}
