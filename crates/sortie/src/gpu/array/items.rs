//! The items that a distribution moves: keys alone, keys with a payload or an index that moves separately, or narrow
//! keys with a payload or an index of 32 bits placed below them.

use sortie_device::Properties;

use super::onesweep::{Moving, Passes, Swept};
use crate::Order;
use crate::gpu::kernels::{Define, kind};
use crate::key::Code;

/// Indices have 32 bits, and so have those just past the last tile.
pub(crate) const MOST_KEYS: usize = (1 << 32) - (1 << 16);

/// What goes with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Low {
    Nothing,
    /// Its payload of 4 bytes, placed below a code of at most 32 bits. Equal keys come out by their payloads.
    Payload,
    /// Its index, placed below a code of at most 32 bits. The keys do not move.
    Index,
    /// Its payload or its index, which stable passes move separately.
    Beside(Moving),
}

/// Keys of at most 64 bits, as they are distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Items {
    pub key_bytes: usize,
    pub code: Code,
    pub order: Order,
    pub low: Low,
}

impl Items {
    /// The bytes of each item.
    pub fn bytes(self) -> usize {
        if matches!(self.low, Low::Payload | Low::Index) { size_of::<u64>() } else { self.key_bytes }
    }

    pub fn are_alone(self) -> bool {
        self.low == Low::Nothing
    }

    /// The items, seen as keys of their own.
    pub fn as_keys(self) -> Items {
        match self.low {
            Low::Nothing | Low::Beside(_) => self,
            Low::Payload | Low::Index => Items {
                key_bytes: size_of::<u64>(),
                code: Code::Unsigned,
                order: Order::default(),
                low: Low::Nothing,
            },
        }
    }

    /// The passes that sort `n` keys on this device: in place of a distribution that does not pay, or as the passes of
    /// a stable distribution.
    pub fn passes(self, n: usize, device: &Properties) -> Passes {
        let Items { key_bytes, code, order, low } = self;
        let beside = match low {
            Low::Nothing => Moving::Payload(0),
            Low::Payload => Moving::Payload(size_of::<u32>()),
            Low::Index => Moving::Index,
            Low::Beside(moving) => moving,
        };
        let by_buckets = matches!(low, Low::Beside(_));
        Passes::new(n, Swept { key_bytes, code, order, beside, by_buckets }, device)
    }

    /// The macros that `item.cuh` is instantiated with.
    pub fn defines(self) -> Vec<Define> {
        let low = match self.low {
            Low::Nothing => "ALONE",
            Low::Payload => "PAYLOAD",
            Low::Index => "INDEX",
            Low::Beside(_) => "BESIDE",
        };
        vec![
            ("SORTIE_KEY_BYTES", self.key_bytes.to_string()),
            ("SORTIE_KIND", kind(self.code, self.order).into()),
            ("SORTIE_LOW", low.into()),
        ]
    }
}
