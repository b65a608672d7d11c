//! The ways in which one engine sorts, as plans name them and engines take them.

use std::fmt;

use crate::Algorithm;
use crate::request::{KeyForm, Request};

/// How the CPU engine sorts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CpuWay {
    /// By distribution into buckets, each of which is finished in a cache; segments are finished as they are.
    Distribute,
    /// By quicksort. Not stable.
    Quicksort,
    /// By merge sort. Stable.
    Merge,
}

impl CpuWay {
    /// The algorithm that was named, or the one that [`Algorithm::Auto`] is.
    pub(crate) fn of(request: &Request) -> CpuWay {
        let compared = matches!(request.keys, KeyForm::Compared | KeyForm::Compound { .. });
        match request.algorithm {
            Algorithm::Merge => CpuWay::Merge,
            Algorithm::Quicksort => CpuWay::Quicksort,
            Algorithm::Auto if request.keys == KeyForm::Compared && request.is_stable() => CpuWay::Merge,
            Algorithm::Auto if request.keys == KeyForm::Compared => CpuWay::Quicksort,
            // Keys that are equal cannot be told apart.
            Algorithm::Auto if compared && request.beside.is_nothing() => CpuWay::Quicksort,
            _ => CpuWay::Distribute,
        }
    }
}

/// How one array is sorted in a GPU's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceWay {
    /// Distributed by digits.
    Digits,
    /// By stable passes over digits.
    Passes,
    /// By a bitonic network, in place.
    Network,
    /// Distributed by samples.
    Samples,
    /// As one segment: by a block, or in tiles that are merged.
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
