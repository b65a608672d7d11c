//! What goes through the distribution of one array: codes alone, or codes and 32 bits below them; and payloads beside those.

use super::onesweep::{FEWER_THAN, Moving, Passes};
use crate::Order;
use crate::gpu::kernels::{Define, kind};
use crate::key::Code;

/// Places are 32 bits wide, also those just past a tile that is the last.
pub(crate) const MOST_KEYS: usize = (1 << 32) - (1 << 16);

/// What goes with a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Low {
    Nothing,
    /// Its payload of 4 bytes; equal keys come out by their payloads.
    Payload,
    /// Its place, which an argsort writes, or which keeps equal keys in order: their payloads of so many bytes go beside the
    /// items. Stable.
    Place {
        payload_bytes: usize,
    },
}

/// Items of keys with 32 bits at most, or of any keys alone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Items {
    pub key_bytes: usize,
    pub code: Code,
    pub order: Order,
    pub low: Low,
}

impl Items {
    /// Of each.
    pub fn bytes(self) -> usize {
        if self.are_alone() { self.key_bytes } else { size_of::<u64>() }
    }

    pub fn are_alone(self) -> bool {
        self.low == Low::Nothing
    }

    pub fn are_argsorted(self) -> bool {
        self.low == Low::Place { payload_bytes: 0 }
    }

    /// The items as keys of their own.
    pub fn as_keys(self) -> Items {
        match self.low {
            Low::Nothing => self,
            _ => Items {
                key_bytes: size_of::<u64>(),
                code: Code::Unsigned,
                order: Order::default(),
                low: Low::Nothing,
            },
        }
    }

    /// Of the payload that goes beside each.
    pub fn payload_bytes(self) -> usize {
        match self.low {
            Low::Place { payload_bytes } => payload_bytes,
            _ => 0,
        }
    }

    /// The passes that sort so many keys where a distribution would not, unless they are too many. On a
    /// device with so much shared memory a block.
    pub fn passes(self, n: usize, shared_per_block: usize) -> Option<Passes> {
        let beside = match self.low {
            Low::Nothing => Moving::Payload(0),
            Low::Payload => Moving::Payload(size_of::<u32>()),
            Low::Place { payload_bytes: 0 } => Moving::Place,
            Low::Place { payload_bytes } => Moving::Payload(payload_bytes),
        };
        let Items { key_bytes, code, order, .. } = self;
        (n < FEWER_THAN).then(|| Passes::new(key_bytes, code, order, beside, shared_per_block))
    }

    /// What `item.cuh` is instantiated for.
    pub fn defines(self) -> Vec<Define> {
        let low = match self.low {
            Low::Nothing => "ALONE",
            Low::Payload => "PAYLOAD",
            Low::Place { .. } => "PLACE",
        };
        vec![
            ("SORTIE_KEY_BYTES", self.key_bytes.to_string()),
            ("SORTIE_KIND", kind(self.code, self.order).into()),
            ("SORTIE_LOW", low.into()),
        ]
    }

    /// What `payload.cuh` is instantiated for.
    pub fn payload_define(self) -> Define {
        ("SORTIE_PAYLOAD_BYTES", self.payload_bytes().to_string())
    }
}
