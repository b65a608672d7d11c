//! How one array is sorted: which algorithm is used for how many keys, what it takes, and what it launches.

use sortie_device::{Properties, Stream, View};

use super::compared::by_codes;
use super::digits::digits_words;
use super::items::{Items, Low, MOST_KEYS};
use super::onesweep::{Moving, Passes, Swept};
use super::sample_sort::{Keys, sample_sort_words};
use super::shape::{Block, Shape};
use crate::capability::check_on_gpu;
use crate::gpu::alloc::{check_workspace, workspace};
use crate::gpu::rows::Rows;
use crate::gpu::segments::{Content, Moved, Payload, Worker, of_one_length_words};
use crate::gpu::{DeviceSegments, Gpu, Pending};
use crate::key::{Bits, Code};
use crate::request::Beside;
use crate::ways::DeviceWay;
use crate::{Algorithm, Error, Order};

/// With fewer keys for each multiprocessor, keys are not distributed: the launches alone would take longer than their
/// sort.
const DISTRIBUTE_FROM: usize = 1 << 15;
/// Keys of up to 32 bits are not distributed unless they fill the second level cache this many times: passes over what
/// it holds take less time. On an H200, 2^24 u32 took 0.49 ms when distributed and 0.36 by passes; u64 took 0.50 and
/// 0.90.
const DISTRIBUTE_FROM_CACHES: u64 = 2;
/// With fewer for each multiprocessor, pairs and indices are sorted as one segment.
const PAIRS_IN_PASSES_FROM: usize = 1 << 7;
/// With fewer for each multiprocessor, keys alone go through a network. On an H200, 2^20 u32 took 91 us that way, and
/// 2^22 took 189.
const KEYS_IN_PASSES_FROM: usize = 1 << 12;
/// Fewer keys alone are sorted as one segment, by a block in one launch. From here on, as long as they are too few to
/// be distributed or for passes, they go through a network.
const NETWORK_FROM: usize = 1 << 13;

/// No sort takes more bytes of scratch per key.
const MOST_BYTES_A_KEY: usize = 256;

/// How one array is sorted.
#[derive(Debug, Clone)]
pub(crate) enum ArrayWay {
    /// Distributed by digits to buckets that fit in a block.
    Digits(Items),
    /// By stable passes over digits.
    Passes(Passes),
    /// By a bitonic network, in place.
    Network,
    /// Distributed by samples, by comparison alone.
    Samples(Keys),
    /// By this one block, with what moves with the keys.
    Block(Items, Moving, Block),
    /// As one segment: by a block, or in tiles that are merged.
    Segment,
    /// The indices of payloads move with the keys in this way, and fetch the payloads in the end.
    ByIndices { rows: Rows, indexed: Wanted, way: Box<ArrayWay> },
}

/// What moves with the keys of one array, what type these keys have, and the order that is wanted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    pub beside: Beside,
    pub code: Code,
    pub order: Order,
}

/// With fewer keys of this many bytes, keys are not distributed.
fn distributed_from(key_bytes: usize, device: &Properties) -> usize {
    let launches = device.multiprocessors as usize * DISTRIBUTE_FROM;
    let caches = (DISTRIBUTE_FROM_CACHES * device.l2_bytes) as usize / key_bytes;
    if key_bytes <= 4 { launches.max(caches) } else { launches }
}

/// The ways to sort `n` keys of this many bytes by this algorithm, or by whichever is fastest. The first is the fastest, the last
/// takes the least memory.
///
/// # Errors
/// [`Error::Unsupported`] if a GPU has no such sort, or if there are too many keys for it.
pub(crate) fn device_ways(
    key_bytes: usize,
    beside: Beside,
    n: usize,
    algorithm: Algorithm,
    device: &Properties,
) -> Result<Vec<DeviceWay>, Error> {
    check_on_gpu(key_bytes, beside, algorithm)?;
    if n > isize::MAX as usize / MOST_BYTES_A_KEY {
        return Err(Error::Unsupported(format!("{n} keys do not fit in any memory; sort fewer keys")));
    }
    // The type of the keys makes no difference.
    let wanted = Wanted { beside, code: Code::Unsigned, order: Order::default() };
    let wanted = wanted.by_indices(n).map_or(wanted, |(_, indexed)| indexed);
    let first = match algorithm {
        Algorithm::Quicksort => unreachable!("the table has no quicksort on a GPU"),
        Algorithm::Bitonic => DeviceWay::Network,
        Algorithm::SampleSort => DeviceWay::Samples,
        Algorithm::Merge => DeviceWay::Segment,
        Algorithm::Auto if key_bytes > 8 => DeviceWay::Samples,
        Algorithm::Auto | Algorithm::Radix => wanted.fastest(key_bytes, n, device),
    };
    let mut ways = vec![first];
    if algorithm == Algorithm::Auto && key_bytes <= 8 {
        let least = if wanted.beside.may_change_order() { DeviceWay::Network } else { DeviceWay::Segment };
        ways.extend((least != first).then_some(least));
    }
    let counts = |way: &DeviceWay| match way {
        DeviceWay::Network => true,
        DeviceWay::Passes => n <= MOST_KEYS || !wanted.beside.is_indices(),
        DeviceWay::Digits | DeviceWay::Samples | DeviceWay::Block | DeviceWay::Segment => n <= MOST_KEYS,
    };
    if !counts(&first) {
        return Err(Error::Unsupported(format!(
            "this algorithm sorts at most {MOST_KEYS} keys on a GPU, not {n}; choose Auto or another engine"
        )));
    }
    ways.retain(counts);
    Ok(ways)
}

impl Wanted {
    /// The fastest way to sort `n` keys on this device, with what it launches.
    pub(crate) fn way<B: Bits>(self, n: usize, device: &Properties) -> Result<ArrayWay, Error> {
        let ways = device_ways(size_of::<B>(), self.beside, n, Algorithm::Auto, device)?;
        Ok(self.in_way::<B>(ways[0], n, device))
    }

    /// What a sort of `n` keys in this way launches.
    pub(crate) fn in_way<B: Bits>(self, way: DeviceWay, n: usize, device: &Properties) -> ArrayWay {
        if let Some((rows, indexed)) = self.by_indices(n)
            // Sorted by their indices in any case.
            && way != DeviceWay::Samples
        {
            return ArrayWay::ByIndices { rows, indexed, way: Box::new(indexed.in_way::<B>(way, n, device)) };
        }
        match way {
            DeviceWay::Digits => ArrayWay::Digits(self.items(size_of::<B>())),
            DeviceWay::Passes => ArrayWay::Passes(self.passes(size_of::<B>(), n, device)),
            DeviceWay::Network => ArrayWay::Network,
            DeviceWay::Samples => ArrayWay::Samples(self.compared::<B>()),
            DeviceWay::Block => {
                let (items, moving, block) =
                    self.block(size_of::<B>(), n, device).expect("it holds all keys");
                ArrayWay::Block(items, moving, block)
            }
            DeviceWay::Segment => ArrayWay::Segment,
        }
    }

    /// Words of each piece of scratch that the fastest sort of this many keys takes, or of one key less, which may be sorted in
    /// another way.
    pub(crate) fn words_up_to<B: Bits>(self, most: usize, device: &Properties) -> Result<Vec<usize>, Error> {
        let mut scratch = Vec::new();
        for keys in [most, most.saturating_sub(1)] {
            let words = self.scratch_words::<B>(&self.way::<B>(keys, device)?, keys, device);
            scratch.resize(scratch.len().max(words.len()), 0);
            scratch.iter_mut().zip(words).for_each(|(most, words)| *most = words.max(*most));
        }
        Ok(scratch)
    }

    /// Words of each piece of scratch that a sort takes in this way.
    pub(crate) fn scratch_words<B: Bits>(self, way: &ArrayWay, n: usize, device: &Properties) -> Vec<usize> {
        let Wanted { beside, code, order } = self;
        match way {
            ArrayWay::Digits(items) => digits_words::<B>(n, *items, device),
            ArrayWay::Passes(passes) => vec![passes.words()],
            ArrayWay::Network | ArrayWay::Block(..) => vec![],
            ArrayWay::Samples(sorted) => vec![sample_sort_words(n, sorted, device)],
            ArrayWay::ByIndices { rows, indexed, way } => {
                [vec![rows.words()], indexed.scratch_words::<B>(way, n, device)].concat()
            }
            ArrayWay::Segment => {
                let content =
                    Content { key_bytes: size_of::<B>(), payload: Payload::of(beside), code, order };
                let fits = Worker::for_length(n, content, device.shared_per_block).is_some();
                if fits { vec![] } else { vec![of_one_length_words(content, n)] }
            }
        }
    }

    /// The way that takes the least time, for keys of up to 64 bits.
    fn fastest(self, key_bytes: usize, n: usize, device: &Properties) -> DeviceWay {
        let alone = self.beside.is_nothing();
        let from = if alone { KEYS_IN_PASSES_FROM } else { PAIRS_IN_PASSES_FROM };
        if self.is_distributed(key_bytes, n, device) {
            DeviceWay::Digits
        } else if n >= device.multiprocessors as usize * from {
            DeviceWay::Passes
        } else if alone && n >= NETWORK_FROM {
            DeviceWay::Network
        } else if self.block(key_bytes, n, device).is_some() {
            DeviceWay::Block
        } else {
            DeviceWay::Segment
        }
    }

    /// Whether there are neither too few nor too many keys for a distribution, and it pays.
    fn is_distributed(self, key_bytes: usize, n: usize, device: &Properties) -> bool {
        let items = self.items(key_bytes);
        // Passes would sort keys of 16 bits in as few reads and writes.
        let pays = match items.low {
            Low::Nothing | Low::Payload => true,
            Low::Index => key_bytes > 2,
            Low::Beside(_) => key_bytes > 2 && Shape::new(n, items, device).holds(n),
        };
        (distributed_from(key_bytes, device)..=MOST_KEYS).contains(&n) && pays
    }

    /// The rows of a payload that does not move with its keys, and the sort of their indices.
    fn by_indices(self, n: usize) -> Option<(Rows, Wanted)> {
        let Beside::Payload { bytes, stable } = self.beside else { return None };
        let rows = Rows::of(n, bytes)?;
        // Equal keys come out in the order of their indices, which is the original order, unless a network sorts them.
        let stable = stable && n > MOST_KEYS;
        Some((rows, Wanted { beside: Beside::Payload { bytes: rows.index_bytes(), stable }, ..self }))
    }

    /// What moves with keys that are sorted by their digits.
    fn moving(self) -> Moving {
        match self.beside {
            Beside::Nothing => Moving::Payload(0),
            Beside::Payload { bytes, .. } => Moving::Payload(bytes),
            Beside::Indices { .. } => Moving::Index,
        }
    }

    /// The passes over keys of up to 64 bits.
    fn passes(self, key_bytes: usize, n: usize, device: &Properties) -> Passes {
        let Wanted { code, order, .. } = self;
        Passes::new(n, Swept { key_bytes, code, order, beside: self.moving(), by_buckets: false }, device)
    }

    /// The block that sorts keys of 32 or 64 bits with what moves with them, if one is large enough.
    fn block(self, key_bytes: usize, n: usize, device: &Properties) -> Option<(Items, Moving, Block)> {
        let Wanted { beside, code, order } = self;
        if beside.is_nothing() || n == 0 || key_bytes < 4 {
            return None;
        }
        let moving = self.moving();
        let block = Block::of_all(n, key_bytes, moving.word_bytes(), device.shared_per_block)?;
        Some((Items { key_bytes, code, order, low: Low::Beside(moving) }, moving, block))
    }

    /// The items that go through a distribution.
    fn items(self, key_bytes: usize) -> Items {
        let Wanted { beside, code, order } = self;
        let narrow = key_bytes <= 4;
        let low = match beside {
            Beside::Nothing => Low::Nothing,
            Beside::Payload { bytes: 4, stable: false } if narrow => Low::Payload,
            Beside::Indices { .. } if narrow => Low::Index,
            Beside::Payload { .. } | Beside::Indices { .. } => Low::Beside(self.moving()),
        };
        Items { key_bytes, code, order, low }
    }

    /// The keys as they are sorted by comparison.
    pub(super) fn compared<B: Bits>(self) -> Keys {
        let placed = self.beside.placed_bytes();
        Keys { bytes: size_of::<B>(), compare: by_codes::<B>(self.code, self.order), total: true, placed }
    }
}

impl Gpu {
    /// Sorts an array in the fastest way, by the bits of its keys.
    ///
    /// # Safety
    /// As [`Gpu::sort_pairs`].
    pub(crate) unsafe fn sort_array<B: Bits>(
        &self,
        stream: &Stream,
        keys: View<'_, B>,
        payload: u64,
        wanted: Wanted,
    ) -> Result<Pending<'_>, Error> {
        let way = self.way::<B>(keys.len(), wanted)?;
        // SAFETY: the caller guarantees it.
        unsafe { self.sort_array_by(way, stream, keys, payload, wanted) }
    }

    /// The same, in this way.
    ///
    /// # Safety
    /// As [`Gpu::sort_pairs`].
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
                    let moved = Moved { keys, payload, kind: Payload::of(beside) };
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

    /// The fastest way to sort this many keys.
    pub(crate) fn way<B: Bits>(&self, n: usize, wanted: Wanted) -> Result<ArrayWay, Error> {
        wanted.way::<B>(n, self.device().properties())
    }

    /// Words of each piece of scratch that a sort takes in this way.
    pub(crate) fn array_words<B: Bits>(&self, way: &ArrayWay, n: usize, wanted: Wanted) -> Vec<usize> {
        wanted.scratch_words::<B>(way, n, self.device().properties())
    }
}
