//! [`Request`]: what a caller wants from a sort, as a plain value.
//!
//! A [`Sorter`](crate::Sorter) method states its request, has it [planned](crate::plan::plan), and runs the plan.

mod algorithm;
mod devices;
mod engine;
mod side;

pub use algorithm::Algorithm;
pub use devices::Devices;
pub use engine::Engine;
pub use side::Side;

use crate::key::{Form, TotalOrder};
use crate::{Bound, Error, Order, Report, Segments};

/// What is sorted, how, and within which limits. Holds no data.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// One array, or many.
    pub operation: Operation,
    /// What the keys are.
    pub keys: KeyForm,
    /// What moves with them.
    pub beside: Beside,
    /// The number of keys, of all segments together.
    pub n: usize,
    /// Direction, and where NaNs and nulls go.
    pub order: Order,
    /// The requested algorithm.
    pub algorithm: Algorithm,
    /// The requested engine.
    pub engine: Engine,
    /// The GPU's share of the keys under [`Engine::Hybrid`], if it was given.
    pub gpu_share: Option<f64>,
    /// What the sort may use.
    pub budget: Budget,
}

/// What to do with the keys.
#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    /// All keys are put in one order.
    Array,
    /// Each segment is sorted on its own.
    ///
    /// The lengths are needed to predict times. The CPU engine does not need them.
    Segments(Option<Box<Lengths>>),
    /// Strings are sorted, and the number of bytes that each shares with the one before is written.
    Lcps,
    /// The first `k` keys are selected.
    TopK {
        /// How many.
        k: usize,
        /// Whether they are to be in order.
        sorted: bool,
    },
    /// The keys at some indices of their order are found.
    Nth {
        /// How many. Two at neighbouring indices count as one.
        count: usize,
    },
    /// Keys are moved so that those at some indices are where a sort would put them, with lesser ones before them.
    Partition,
    /// Queries are searched in sorted keys, or keys are counted between edges. The number of keys of the request is that of the queries, or of
    /// the keys that are counted.
    Search,
}

/// How an engine obtains the order of keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyForm {
    /// Integers, floats and `bool`.
    Number {
        /// Bytes of a key.
        bytes: usize,
        /// Whether keys may be NaNs.
        float: bool,
    },
    /// Tuples, options and byte arrays, and strings with a payload: keys that are compared beyond their first 64 bits.
    Compound {
        /// Bytes of a key.
        bytes: usize,
    },
    /// Strings.
    Strings,
    /// Items under a comparison of the caller.
    Compared,
}

/// What moves with the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    /// Keys are sorted alone.
    Nothing,
    /// Each key has a payload.
    Payload {
        /// Bytes of each.
        bytes: usize,
        /// Whether payloads of equal keys keep their order.
        stable: bool,
    },
    /// The indices of the keys in order are written, and keys stay where they are.
    Indices {
        /// Whether indices of equal keys ascend.
        stable: bool,
    },
}

/// What a sort may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Threads of the current rayon pool that may work; with 1, rayon is not called.
    pub threads: usize,
    /// The most scratch in bytes, including pinned memory and device memory.
    pub memory: u64,
    /// Bytes of that which are already held.
    pub held: u64,
}

/// The lengths of segments.
#[derive(Debug, Clone, PartialEq)]
pub struct Lengths {
    /// At index i, the number of keys in segments of at least 2^i and less than 2^(i + 1) keys.
    pub keys_by_log: [u64; 64],
    /// Keys of the longest segment.
    pub longest: u64,
    /// The number of offsets that delimit them; `None` for segments of one length.
    pub offsets: Option<u64>,
}

impl Request {
    /// Whether equal keys must keep their order.
    #[must_use]
    pub fn is_stable(&self) -> bool {
        self.beside.is_stable()
    }

    /// Whether keys may be NaNs that count as equal, whose order must then be kept.
    pub(crate) fn ties_nans(&self) -> bool {
        let is_float = matches!(self.keys, KeyForm::Number { float: true, .. });
        is_float && self.is_stable() && self.order.tells_nans_apart().is_err()
    }

    /// Bytes of what moves with a key. Indices count as 8.
    pub(crate) fn bytes_beside(&self) -> usize {
        match self.beside {
            Beside::Nothing => 0,
            Beside::Payload { bytes, .. } => bytes,
            Beside::Indices { .. } => size_of::<usize>(),
        }
    }
}

#[cfg(feature = "gpu")]
impl Request {
    /// Bytes of the keys; for strings, bytes of the words that tell them apart.
    pub(crate) fn bytes(&self) -> usize {
        let each = match self.keys {
            KeyForm::Number { bytes, .. } | KeyForm::Compound { bytes } => bytes,
            KeyForm::Strings | KeyForm::Compared => size_of::<u64>(),
        };
        self.n.saturating_mul(each)
    }

    /// What moves with the keys on a device. Payloads that do not move are replaced by their indices.
    pub(crate) fn beside_on_device(&self) -> Beside {
        match self.beside {
            Beside::Payload { bytes, stable } if !moves_with_keys(bytes) => {
                Beside::Payload { bytes: size_of::<usize>(), stable }
            }
            other => other,
        }
    }

    /// Bytes of a key, and of what moves with it, on a device.
    pub(crate) fn bytes_on_device(&self) -> usize {
        let key = if let KeyForm::Number { bytes, .. } = self.keys { bytes } else { size_of::<u64>() };
        let indices = if self.beside.is_indices() { size_of::<u32>() } else { 0 };
        key.saturating_add(indices).saturating_add(self.beside_on_device().payload_bytes())
    }

    /// Bytes that are held on the host while a device sorts: for indices that are converted or that move payloads.
    pub(crate) fn held_for_device(&self) -> u64 {
        let each = match self.beside {
            Beside::Indices { .. } => size_of::<u32>(),
            Beside::Payload { bytes, .. } if !moves_with_keys(bytes) => size_of::<usize>(),
            _ => 0,
        };
        each.saturating_mul(self.n) as u64
    }
}

impl Operation {
    /// Whether some of the keys are found, without a sort of all.
    pub(crate) fn is_selection(&self) -> bool {
        matches!(
            self,
            Operation::TopK { .. } | Operation::Nth { .. } | Operation::Partition | Operation::Search
        )
    }
}

impl KeyForm {
    /// The form of keys of this type.
    #[must_use]
    pub fn of<K: TotalOrder>() -> KeyForm {
        let bytes = size_of::<K>();
        match K::FORM {
            Form::Bits(code) => KeyForm::Number { bytes, float: code.is_float() },
            Form::Bytes => KeyForm::Strings,
            Form::Wide => KeyForm::Compound { bytes },
        }
    }

    /// The form of keys of this type for a sort that only compares strings.
    pub(crate) fn without_strings<K: TotalOrder>() -> KeyForm {
        match KeyForm::of::<K>() {
            KeyForm::Strings => KeyForm::Compound { bytes: size_of::<K>() },
            other => other,
        }
    }
}

/// Whether payloads of this many bytes move with their keys on a GPU. Others are gathered by their indices.
#[cfg(feature = "gpu")]
pub(crate) fn moves_with_keys(payload_bytes: usize) -> bool {
    matches!(payload_bytes, 4 | 8 | 16)
}

impl Beside {
    pub(crate) fn is_nothing(self) -> bool {
        self == Beside::Nothing
    }

    pub(crate) fn is_payload(self) -> bool {
        matches!(self, Beside::Payload { .. })
    }

    /// Whether equal keys may come out in any order, and no indices are asked for.
    #[cfg(feature = "gpu")]
    pub(crate) fn may_change_order(self) -> bool {
        matches!(self, Beside::Nothing | Beside::Payload { stable: false, .. })
    }

    #[cfg(feature = "gpu")]
    pub(crate) fn payload_bytes(self) -> usize {
        if let Beside::Payload { bytes, .. } = self { bytes } else { 0 }
    }

    /// Bytes of the payload that is gathered by the index of its key, if keys move with their indices.
    #[cfg(feature = "gpu")]
    pub(crate) fn placed_bytes(self) -> Option<usize> {
        (!self.is_nothing()).then_some(self.payload_bytes())
    }

    pub(crate) fn is_indices(self) -> bool {
        matches!(self, Beside::Indices { .. })
    }

    /// Whether equal keys keep their order.
    #[must_use]
    pub fn is_stable(self) -> bool {
        matches!(self, Beside::Payload { stable: true, .. } | Beside::Indices { stable: true })
    }
}

impl Budget {
    /// A budget without a limit other than the number of threads.
    #[must_use]
    pub const fn of_threads(threads: usize) -> Budget {
        Budget { threads, memory: u64::MAX, held: 0 }
    }

    /// The budget of a part of the sort, with `bytes` more bytes held.
    pub(crate) fn holding(self, bytes: usize) -> Budget {
        Budget { held: self.held.saturating_add(bytes as u64), ..self }
    }

    /// Bytes that may still be taken.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.memory.saturating_sub(self.held)
    }

    /// Requests scratch memory before work starts, and records it in the report.
    pub(crate) fn scratch(&self, bytes: usize, hint: &'static str, report: &mut Report) -> Result<(), Error> {
        let needed = self.held.saturating_add(bytes as u64);
        if needed > self.memory {
            return Err(Error::Memory { bound: Bound::Limit, needed, available: self.memory, hint });
        }
        report.scratch_peak = report.scratch_peak.max(needed);
        Ok(())
    }
}

impl Lengths {
    /// Reads every offset once.
    #[must_use]
    pub fn of(keys: usize, segments: Segments<'_>) -> Lengths {
        let mut lengths = Lengths { keys_by_log: [0; 64], longest: 0, offsets: None };
        match segments {
            Segments::Length(length) => lengths.add(length as u64, segments.count(keys) as u64),
            Segments::Offsets(offsets) => {
                offsets.windows(2).for_each(|ends| lengths.add((ends[1] - ends[0]) as u64, 1));
                lengths.offsets = Some(offsets.len() as u64);
            }
        }
        lengths
    }

    fn add(&mut self, length: u64, count: u64) {
        if let Some(log) = length.checked_ilog2() {
            self.keys_by_log[log as usize] += length * count;
            self.longest = self.longest.max(length);
        }
    }

    /// Keys of all segments.
    #[must_use]
    pub fn keys(&self) -> u64 {
        self.keys_by_log.iter().sum()
    }
}
