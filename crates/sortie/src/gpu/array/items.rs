//! The items that a distribution moves: keys, alone or with a payload or an index beside each; or narrow keys above a payload
//! or an index of 32 bits.

use sortie_device::Properties;

use super::onesweep::{Moving, Passes, Swept};
use crate::Order;
use crate::gpu::kernels::{Define, kind};
use crate::key::Code;

/// Indices are 32 bits wide, also those just past a tile that is the last.
pub(crate) const MOST_KEYS: usize = (1 << 32) - (1 << 16);

/// What goes with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Low {
    Nothing,
    /// Its payload of 4 bytes, below a code of 32 bits at most; equal keys come out by their payloads.
    Payload,
    /// Its index, below a code of 32 bits at most. The keys stay where they are.
    Index,
    /// Its payload or its index, which stable passes move beside it.
    Beside(Moving),
}

/// Keys of 64 bits at most, as they are distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Items {
    pub key_bytes: usize,
    pub code: Code,
    pub order: Order,
    pub low: Low,
}

impl Items {
    /// Of each.
    pub fn bytes(self) -> usize {
        if matches!(self.low, Low::Payload | Low::Index) { size_of::<u64>() } else { self.key_bytes }
    }

    pub fn are_alone(self) -> bool {
        self.low == Low::Nothing
    }

    /// The items as keys of their own.
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

    /// The passes that sort so many keys where a distribution would not, or that are how they are distributed. On such a
    /// device.
    pub fn passes(self, n: usize, device: &Properties) -> Passes {
        let Items { key_bytes, code, order, low } = self;
        let beside = match low {
            Low::Nothing => Moving::Payload(0),
            Low::Payload => Moving::Payload(size_of::<u32>()),
            Low::Index => Moving::Place,
            Low::Beside(moving) => moving,
        };
        let by_buckets = matches!(low, Low::Beside(_));
        Passes::new(n, Swept { key_bytes, code, order, beside, by_buckets }, device)
    }

    /// What `item.cuh` is instantiated for.
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
