//! How one array is sorted: which algorithm is used for how many keys.

use sortie_device::Properties;

use super::compared::by_codes;
use super::items::{Items, Low, MOST_KEYS};
use super::onesweep::{Moving, Passes, Swept};
use super::sample_sort::Keys;
use super::shape::{Block, Shape};
use crate::capability::check_on_gpu;
use crate::gpu::rows::Rows;
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

impl ArrayWay {
    /// The way's name in a plan.
    pub(crate) fn name(&self) -> DeviceWay {
        match self {
            ArrayWay::ByIndices { way, .. } => way.name(),
            ArrayWay::Digits(_) => DeviceWay::Digits,
            ArrayWay::Passes(_) => DeviceWay::Passes,
            ArrayWay::Network => DeviceWay::Network,
            ArrayWay::Samples(_) => DeviceWay::Samples,
            ArrayWay::Block(..) | ArrayWay::Segment => DeviceWay::Segment,
        }
    }
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

impl Wanted {
    /// The way to sort `n` keys on this device, by this algorithm or whichever is fastest.
    pub(crate) fn way<B: Bits>(
        self,
        n: usize,
        algorithm: Algorithm,
        device: &Properties,
    ) -> Result<ArrayWay, Error> {
        check_on_gpu(size_of::<B>(), self.beside, algorithm)?;
        if n > isize::MAX as usize / MOST_BYTES_A_KEY {
            return Err(Error::Unsupported(format!("{n} keys do not fit in any memory; sort fewer keys")));
        }
        if let Some((rows, indexed)) = self.by_indices(n) {
            return Ok(match indexed.way::<B>(n, algorithm, device)? {
                // Sorted by their indices in any case.
                ArrayWay::Samples(_) => ArrayWay::Samples(self.compared::<B>()),
                way => ArrayWay::ByIndices { rows, indexed, way: Box::new(way) },
            });
        }
        let wide = B::WIDTH > 64;
        let way = match algorithm {
            Algorithm::Quicksort => unreachable!("the table has no quicksort on a GPU"),
            Algorithm::Bitonic => ArrayWay::Network,
            Algorithm::SampleSort => ArrayWay::Samples(self.compared::<B>()),
            Algorithm::Merge => ArrayWay::Segment,
            Algorithm::Auto if wide => ArrayWay::Samples(self.compared::<B>()),
            Algorithm::Auto | Algorithm::Radix => match self.items::<B>(n, device) {
                Some(items) => ArrayWay::Digits(items),
                None => match self.passes::<B>(n, device) {
                    Some(passes) => ArrayWay::Passes(passes),
                    None if self.beside.is_nothing() && n >= NETWORK_FROM => ArrayWay::Network,
                    None => self.block::<B>(n, device).unwrap_or(ArrayWay::Segment),
                },
            },
        };
        let counted = matches!(way, ArrayWay::Passes(_)) && !self.beside.is_indices();
        if n > MOST_KEYS && !counted && !matches!(way, ArrayWay::Network) {
            return Err(Error::Unsupported(format!(
                "this algorithm sorts at most {MOST_KEYS} keys on a GPU, not {n}; choose Auto or another engine"
            )));
        }
        Ok(way)
    }

    /// The rows of a payload that does not move with its keys, and the sort of their indices.
    fn by_indices(self, n: usize) -> Option<(Rows, Wanted)> {
        let Beside::Payload { bytes, stable } = self.beside else { return None };
        let rows = Rows::of(n, bytes)?;
        // Equal keys come out in the order of their indices, which is the original order, unless a network sorts them.
        let stable = stable && n > MOST_KEYS;
        Some((rows, Wanted { beside: Beside::Payload { bytes: rows.index_bytes(), stable }, ..self }))
    }

    /// The passes over keys of up to 64 bits, unless they are few.
    fn passes<B: Bits>(self, n: usize, device: &Properties) -> Option<Passes> {
        let Wanted { beside, code, order } = self;
        let (from, beside) = match beside {
            Beside::Nothing => (KEYS_IN_PASSES_FROM, Moving::Payload(0)),
            Beside::Payload { bytes, .. } => (PAIRS_IN_PASSES_FROM, Moving::Payload(bytes)),
            Beside::Indices { .. } => (PAIRS_IN_PASSES_FROM, Moving::Place),
        };
        let enough = n >= device.multiprocessors as usize * from;
        let swept = Swept { key_bytes: size_of::<B>(), code, order, beside, by_buckets: false };
        enough.then(|| Passes::new(n, swept, device))
    }

    /// The block that sorts keys of 32 or 64 bits with what moves with them, if it is large enough.
    fn block<B: Bits>(self, n: usize, device: &Properties) -> Option<ArrayWay> {
        let Wanted { beside, code, order } = self;
        let moving = match beside {
            Beside::Nothing => return None,
            Beside::Payload { bytes, .. } => Moving::Payload(bytes),
            Beside::Indices { .. } => Moving::Place,
        };
        let key_bytes = size_of::<B>();
        let block = Block::of_all(n, key_bytes, moving.word_bytes(), device.shared_per_block)?;
        let items = Items { key_bytes, code, order, low: Low::Beside(moving) };
        (n > 0 && key_bytes >= 4).then_some(ArrayWay::Block(items, moving, block))
    }

    /// The items that go through a distribution, unless there are too few or too many keys, or they are too wide.
    fn items<B: Bits>(self, n: usize, device: &Properties) -> Option<Items> {
        let Wanted { beside, code, order } = self;
        let narrow = B::WIDTH <= 32;
        let low = match beside {
            Beside::Nothing => Low::Nothing,
            Beside::Payload { bytes: 4, stable: false } if narrow => Low::Payload,
            Beside::Payload { bytes, .. } => Low::Beside(Moving::Payload(bytes)),
            Beside::Indices { .. } if narrow => Low::Index,
            Beside::Indices { .. } => Low::Beside(Moving::Place),
        };
        let items = Items { key_bytes: size_of::<B>(), code, order, low };
        let distributed = (distributed_from(size_of::<B>(), device)..=MOST_KEYS).contains(&n);
        // Passes would sort keys of 16 bits in as few reads and writes.
        let pays = match low {
            Low::Nothing | Low::Payload => true,
            Low::Index => B::WIDTH > 16,
            Low::Beside(_) => B::WIDTH > 16 && Shape::new(n, items, device).holds(n),
        };
        (distributed && pays).then_some(items)
    }

    /// The keys as they are sorted by comparison.
    pub(super) fn compared<B: Bits>(self) -> Keys {
        let placed = self.beside.placed_bytes();
        Keys { bytes: size_of::<B>(), compare: by_codes::<B>(self.code, self.order), total: true, placed }
    }
}
