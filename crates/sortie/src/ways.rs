//! How one engine sorts: the names by which plans choose it and engines follow it.

use std::fmt;

use crate::Algorithm;
use crate::request::{KeyForm, Request};

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
}

impl CpuWay {
    /// The way for the requested algorithm. For [`Algorithm::Auto`] it depends on the keys.
    pub(crate) fn of(request: &Request) -> CpuWay {
        let compared = matches!(request.keys, KeyForm::Compared | KeyForm::Compound { .. });
        match request.algorithm {
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
    /// As one segment: by one block, or in tiles that are then merged.
    Segment,
}

impl fmt::Display for CpuWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CpuWay::Distribute => "distribution to buckets that fit a cache",
            CpuWay::Quicksort => "quicksort",
            CpuWay::Merge => "merge sort",
        })
    }
}

impl fmt::Display for DeviceWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DeviceWay::Digits => "distributed by digits",
            DeviceWay::Passes => "by stable passes over digits",
            DeviceWay::Network => "by a bitonic network",
            DeviceWay::Samples => "distributed by samples",
            DeviceWay::Segment => "as one segment",
        })
    }
}
