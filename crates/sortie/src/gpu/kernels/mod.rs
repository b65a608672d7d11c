//! The kernels' source, and how it is instantiated.

use sortie_device::Program;

use crate::Order;
use crate::key::Code;

/// A macro that a kernel's source is compiled with.
pub(crate) type Define = (&'static str, String);

/// A kernel for certain sizes and types.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Instance {
    /// Its name in the source.
    pub kernel: &'static str,
    pub file: File,
    pub defines: Vec<Define>,
}

/// A file of kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum File {
    SortSegments,
    Classes,
    MergeRuns,
    Bitonic,
    Profile,
    CountBuckets,
    Partition,
    FinishBuckets,
    Ranges,
    Settle,
    Redistribute,
    Splitters,
    FinishCompared,
    Strings,
    GatherStrings,
    ArraySort,
    Quicksort,
    SampleSort,
    RadixSort,
    ScanTable,
}

const HEADERS: &[(&str, &str)] = &[
    ("block.cuh", include_str!("../../../kernels/papers/block.cuh")),
    ("block_sort.cuh", include_str!("../../../kernels/array/block_sort.cuh")),
    ("compared.cuh", include_str!("../../../kernels/array/compared.cuh")),
    ("search.cuh", include_str!("../../../kernels/common/search.cuh")),
    ("simt.cuh", include_str!("../../../kernels/common/simt.cuh")),
    ("code.cuh", include_str!("../../../kernels/common/code.cuh")),
    ("item.cuh", include_str!("../../../kernels/array/item.cuh")),
    ("keys_alone.cuh", include_str!("../../../kernels/segments/keys_alone.cuh")),
    ("classify.cuh", include_str!("../../../kernels/array/classify.cuh")),
    ("long_buckets.cuh", include_str!("../../../kernels/array/long_buckets.cuh")),
    ("strings.cuh", include_str!("../../../kernels/strings/strings.cuh")),
    ("scan.cuh", include_str!("../../../kernels/common/scan.cuh")),
    ("long.cuh", include_str!("../../../kernels/segments/long.cuh")),
    ("network.cuh", include_str!("../../../kernels/common/network.cuh")),
    ("payload.cuh", include_str!("../../../kernels/array/payload.cuh")),
    ("placed.cuh", include_str!("../../../kernels/array/placed.cuh")),
    ("places.cuh", include_str!("../../../kernels/segments/places.cuh")),
    ("segment.cuh", include_str!("../../../kernels/segments/segment.cuh")),
    ("worker.cuh", include_str!("../../../kernels/segments/worker.cuh")),
];

/// `code::Kind` of the kernels.
pub(crate) fn kind(code: Code, order: Order) -> &'static str {
    match code {
        Code::Unsigned | Code::Signed => "Integers",
        Code::Float { .. } if order.descending => "FloatsDescending",
        Code::Float { .. } => "Floats",
    }
}

impl File {
    /// Its name and text.
    fn source(self) -> (&'static str, &'static str) {
        match self {
            File::SortSegments => {
                ("sort_segments", include_str!("../../../kernels/segments/sort_segments.cu"))
            }
            File::Classes => ("classes", include_str!("../../../kernels/segments/classes.cu")),
            File::MergeRuns => ("merge_runs", include_str!("../../../kernels/segments/merge_runs.cu")),
            File::Bitonic => ("bitonic", include_str!("../../../kernels/array/bitonic.cu")),
            File::Profile => ("profile", include_str!("../../../kernels/array/profile.cu")),
            File::CountBuckets => ("count_buckets", include_str!("../../../kernels/array/count_buckets.cu")),
            File::Partition => ("partition", include_str!("../../../kernels/array/partition.cu")),
            File::FinishBuckets => {
                ("finish_buckets", include_str!("../../../kernels/array/finish_buckets.cu"))
            }
            File::Ranges => ("ranges", include_str!("../../../kernels/array/ranges.cu")),
            File::Settle => ("settle", include_str!("../../../kernels/array/settle.cu")),
            File::Redistribute => ("redistribute", include_str!("../../../kernels/array/redistribute.cu")),
            File::Splitters => ("splitters", include_str!("../../../kernels/array/splitters.cu")),
            File::FinishCompared => {
                ("finish_compared", include_str!("../../../kernels/array/finish_compared.cu"))
            }
            File::Strings => ("strings", include_str!("../../../kernels/strings/strings.cu")),
            File::GatherStrings => {
                ("gather_strings", include_str!("../../../kernels/strings/gather_strings.cu"))
            }
            File::ArraySort => ("array_sort", include_str!("../../../kernels/papers/array_sort.cu")),
            File::Quicksort => ("quicksort", include_str!("../../../kernels/papers/quicksort.cu")),
            File::SampleSort => ("sample_sort", include_str!("../../../kernels/papers/sample_sort.cu")),
            File::RadixSort => ("radix_sort", include_str!("../../../kernels/papers/radix_sort.cu")),
            File::ScanTable => ("scan_table", include_str!("../../../kernels/papers/scan_table.cu")),
        }
    }
}

impl Instance {
    /// The program that it is in, with the other kernels of the file.
    pub fn program(&self) -> Program {
        let (name, source) = self.file.source();
        // Code is no part of a name.
        let numbers = self.defines.iter().filter(|(name, _)| *name != "SORTIE_KEY_COMPARE");
        let numbers = numbers.map(|(_, value)| value.as_str());
        Program {
            name: std::iter::once(name).chain(numbers).collect::<Vec<_>>().join("-"),
            source,
            headers: HEADERS,
            defines: self.defines.iter().map(|(name, value)| ((*name).into(), value.clone())).collect(),
        }
    }

    /// Whether another is in the same program.
    pub fn is_beside(&self, other: &Instance) -> bool {
        (self.file, &self.defines) == (other.file, &other.defines)
    }
}
