//! How one engine sorts, and what it takes: the names by which plans choose a way and engines follow it.

use std::fmt;

use crate::Algorithm;
use crate::request::{KeyForm, Request};
#[cfg(feature = "gpu")]
use crate::{Bound, Error};

/// How the CPU engine sorts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpuWay {
    /// Keys are distributed into buckets that fit in a cache, and each bucket is then sorted. Segments are sorted without a
    /// distribution.
    Distribute,
    /// By quicksort. Not stable.
    Quicksort,
    /// By merge sort. Stable.
    Merge,
    /// One pass sets the keys apart that are within a bound, and only these are looked at again.
    Select,
}

impl CpuWay {
    /// The way for the requested algorithm. For [`Algorithm::Auto`] it depends on the keys.
    pub(crate) fn of(request: &Request) -> CpuWay {
        let compared = matches!(request.keys, KeyForm::Compared | KeyForm::Compound { .. });
        match request.algorithm {
            _ if request.operation.is_selection() => CpuWay::Select,
            Algorithm::Merge => CpuWay::Merge,
            Algorithm::Quicksort => CpuWay::Quicksort,
            Algorithm::Auto if request.keys == KeyForm::Compared && request.is_stable() => CpuWay::Merge,
            Algorithm::Auto if request.keys == KeyForm::Compared => CpuWay::Quicksort,
            // Without a payload or indices, equal keys cannot be told apart, so the sort need not be stable.
            Algorithm::Auto if compared && request.beside.is_nothing() => CpuWay::Quicksort,
            _ => CpuWay::Distribute,
        }
    }
}

/// How a GPU sorts data in host memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum GpuWay {
    /// The array as a whole.
    Whole(DeviceWay),
    /// The GPU sorts this share of the keys, the CPU the others.
    WithCpu(f64),
    /// Chunk by chunk into a copy on the host, then range by range.
    Chunks,
    /// Range by range, which the CPU splits in place.
    Ranges,
    /// Segments, many at a time, in chunks.
    Segments,
    /// Strings: their bytes, or words of their first symbols.
    Strings,
}

/// How one array is sorted in GPU memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceWay {
    /// Distributed by digits.
    Digits,
    /// By stable passes over digits.
    Passes,
    /// By a bitonic network, in place.
    Network,
    /// Distributed by splitters from samples.
    Samples,
    /// By one block, with what moves with the keys.
    Block,
    /// As one segment: by one block, or in tiles that are then merged.
    Segment,
}

/// Bytes beyond the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scratch {
    /// In host memory, pinned memory included.
    pub host: u64,
    /// In the memory of a GPU, or of several together. This includes the data on the device.
    pub device: u64,
}

impl Scratch {
    /// What a memory limit counts.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.host.saturating_add(self.device)
    }

    /// Refuses what exceeds the limit of a call, or what a device has `available`.
    #[cfg(feature = "gpu")]
    pub(crate) fn check(&self, limit: u64, available: u64, hint: &'static str) -> Result<(), Error> {
        if self.bytes() > limit {
            return Err(Error::Memory { bound: Bound::Limit, needed: self.bytes(), available: limit, hint });
        }
        if self.device > available {
            return Err(Error::Memory { bound: Bound::Device, needed: self.device, available, hint });
        }
        Ok(())
    }
}

impl fmt::Display for CpuWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CpuWay::Distribute => "distribution to buckets that fit a cache",
            CpuWay::Quicksort => "quicksort",
            CpuWay::Merge => "merge sort",
            CpuWay::Select => "selection by a bound from a sample",
        })
    }
}

impl fmt::Display for GpuWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            GpuWay::Whole(way) => write!(f, "the whole array at once, {way}"),
            GpuWay::WithCpu(share) => write!(f, "together with the CPU, {:.1}% of the keys", share * 100.0),
            GpuWay::Chunks => f.write_str("in chunks, with a copy of the array on the host"),
            GpuWay::Ranges => f.write_str("in ranges that the CPU splits in place"),
            GpuWay::Segments => f.write_str("segments in chunks of up to 64 MiB"),
            GpuWay::Strings => f.write_str("strings, whose ties the CPU may finish"),
        }
    }
}

impl fmt::Display for DeviceWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DeviceWay::Digits => "distributed by digits",
            DeviceWay::Passes => "by stable passes over digits",
            DeviceWay::Network => "by a bitonic network",
            DeviceWay::Samples => "distributed by samples",
            DeviceWay::Block => "by one block",
            DeviceWay::Segment => "as one segment",
        })
    }
}

impl fmt::Display for Scratch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at most {} bytes of host memory", self.host)?;
        if self.device > 0 { write!(f, ", {} bytes of GPU memory", self.device) } else { Ok(()) }
    }
}
