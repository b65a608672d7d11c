//! The kernels' source, how it is instantiated, and what it shares with the host.

pub(crate) mod array;
pub(crate) mod batch;
pub(crate) mod groups;
pub(crate) mod histogram;
mod layout;
pub(crate) mod search;
pub(crate) mod segments;
pub(crate) mod select;
pub(crate) mod strings;

use sortie_device::Program;

pub(crate) use layout::{Fields, numbers, struct_bytes};

use crate::key::{Bits, Code, Transform};
use crate::{Error, Order};
use layout::{Layout, shared};

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
    Rows,
    Canonical,
    SortSegments,
    Classes,
    MergeRuns,
    SplitSegments,
    Bitonic,
    Profile,
    CountBuckets,
    Partition,
    Onesweep,
    FinishBuckets,
    FinishStable,
    Ranges,
    Settle,
    Redistribute,
    Select,
    SelectRows,
    FinishRows,
    TakeSorted,
    Nth,
    SearchSorted,
    Histogram,
    Groups,
    Splitters,
    FinishCompared,
    Strings,
    GatherStrings,
}

const HEADERS: &[(&str, &str)] = &[
    ("bins.cuh", include_str!("../../../kernels/array/bins.cuh")),
    ("block_sort.cuh", include_str!("../../../kernels/array/block_sort.cuh")),
    ("compared.cuh", include_str!("../../../kernels/array/compared.cuh")),
    ("search.cuh", include_str!("../../../kernels/common/search.cuh")),
    ("simt.cuh", include_str!("../../../kernels/common/simt.cuh")),
    ("code.cuh", include_str!("../../../kernels/common/code.cuh")),
    ("canonical.cuh", include_str!("../../../kernels/common/canonical.cuh")),
    ("digits.cuh", include_str!("../../../kernels/array/digits.cuh")),
    ("item.cuh", include_str!("../../../kernels/array/item.cuh")),
    ("keys_alone.cuh", include_str!("../../../kernels/segments/keys_alone.cuh")),
    ("classify.cuh", include_str!("../../../kernels/array/classify.cuh")),
    ("left.cuh", include_str!("../../../kernels/array/left.cuh")),
    ("long_buckets.cuh", include_str!("../../../kernels/array/long_buckets.cuh")),
    ("strings.cuh", include_str!("../../../kernels/strings/strings.cuh")),
    ("scan.cuh", include_str!("../../../kernels/common/scan.cuh")),
    ("mixed.cuh", include_str!("../../../kernels/common/mixed.cuh")),
    ("long.cuh", include_str!("../../../kernels/segments/long.cuh")),
    ("network.cuh", include_str!("../../../kernels/common/network.cuh")),
    ("payload.cuh", include_str!("../../../kernels/array/payload.cuh")),
    ("bucket_bounds.cuh", include_str!("../../../kernels/array/bucket_bounds.cuh")),
    ("by_index.cuh", include_str!("../../../kernels/segments/by_index.cuh")),
    ("segment.cuh", include_str!("../../../kernels/segments/segment.cuh")),
    ("wide.cuh", include_str!("../../../kernels/segments/wide.cuh")),
    ("read.cuh", include_str!("../../../kernels/select/read.cuh")),
    ("bytes.cuh", include_str!("../../../kernels/select/bytes.cuh")),
    ("row.cuh", include_str!("../../../kernels/select/row.cuh")),
    ("cells.cuh", include_str!("../../../kernels/select/cells.cuh")),
    ("word.cuh", include_str!("../../../kernels/select/word.cuh")),
    ("worker.cuh", include_str!("../../../kernels/segments/worker.cuh")),
];

shared! {
    /// How the kernels make the code of a key.
    #[derive(Default)]
    argument "code::Transform" CodeTransform {
        flip: u64,
        nans: u64,
        top: u64,
        rotate: u64,
    }
}

impl CodeTransform {
    pub fn new<B: Bits>(code: Code, order: Order) -> CodeTransform {
        let [flip, nans, top, rotate] = Transform::<B>::new(code, order).numbers();
        CodeTransform { flip, nans, top, rotate }
    }
}

/// Converts a number of blocks, if a launch can have as many.
pub(crate) fn blocks(count: u64) -> Result<u32, Error> {
    let most = i32::MAX as u64;
    if count > most {
        return Err(Error::Unsupported(format!(
            "the sort needs {count} blocks, but a launch has at most {most}; sort in parts"
        )));
    }
    Ok(count as u32)
}

/// `code::Kind` of the kernels.
pub(crate) fn kind(code: Code, order: Order) -> &'static str {
    match code {
        Code::Unsigned | Code::Signed => "Integers",
        Code::Float { .. } if order.descending => "FloatsDescending",
        Code::Float { .. } => "Floats",
    }
}

impl File {
    /// The file's name and text.
    fn source(self) -> (&'static str, &'static str) {
        match self {
            File::Rows => ("rows", include_str!("../../../kernels/common/rows.cu")),
            File::Canonical => ("canonical", include_str!("../../../kernels/common/canonical.cu")),
            File::SortSegments => {
                ("sort_segments", include_str!("../../../kernels/segments/sort_segments.cu"))
            }
            File::Classes => ("classes", include_str!("../../../kernels/segments/classes.cu")),
            File::MergeRuns => ("merge_runs", include_str!("../../../kernels/segments/merge_runs.cu")),
            File::SplitSegments => {
                ("split_segments", include_str!("../../../kernels/batch/split_segments.cu"))
            }
            File::Bitonic => ("bitonic", include_str!("../../../kernels/array/bitonic.cu")),
            File::Profile => ("profile", include_str!("../../../kernels/array/profile.cu")),
            File::CountBuckets => ("count_buckets", include_str!("../../../kernels/array/count_buckets.cu")),
            File::Partition => ("partition", include_str!("../../../kernels/array/partition.cu")),
            File::Onesweep => ("onesweep", include_str!("../../../kernels/array/onesweep.cu")),
            File::FinishBuckets => {
                ("finish_buckets", include_str!("../../../kernels/array/finish_buckets.cu"))
            }
            File::FinishStable => ("finish_stable", include_str!("../../../kernels/array/finish_stable.cu")),
            File::Ranges => ("ranges", include_str!("../../../kernels/array/ranges.cu")),
            File::Settle => ("settle", include_str!("../../../kernels/array/settle.cu")),
            File::Redistribute => ("redistribute", include_str!("../../../kernels/array/redistribute.cu")),
            File::Select => ("select", include_str!("../../../kernels/select/select.cu")),
            File::SelectRows => ("select_rows", include_str!("../../../kernels/select/select_rows.cu")),
            File::FinishRows => ("finish_rows", include_str!("../../../kernels/select/finish_rows.cu")),
            File::TakeSorted => ("take_sorted", include_str!("../../../kernels/select/take_sorted.cu")),
            File::Nth => ("nth", include_str!("../../../kernels/select/nth.cu")),
            File::SearchSorted => ("search_sorted", include_str!("../../../kernels/select/search_sorted.cu")),
            File::Histogram => ("histogram", include_str!("../../../kernels/select/histogram.cu")),
            File::Groups => ("groups", include_str!("../../../kernels/select/groups.cu")),
            File::Splitters => ("splitters", include_str!("../../../kernels/array/splitters.cu")),
            File::FinishCompared => {
                ("finish_compared", include_str!("../../../kernels/array/finish_compared.cu"))
            }
            File::Strings => ("strings", include_str!("../../../kernels/strings/strings.cu")),
            File::GatherStrings => {
                ("gather_strings", include_str!("../../../kernels/strings/gather_strings.cu"))
            }
        }
    }

    /// The structs that the file shares with the host.
    fn layouts(self) -> &'static [Layout] {
        use {array as a, batch as b, groups, histogram, search, segments as g, select as s, strings as t};
        match self {
            File::Rows | File::Canonical => &[],
            File::SortSegments => &[CodeTransform::LAYOUT, g::SegmentArrays::LAYOUT, g::LongSegments::LAYOUT],
            File::MergeRuns => &[
                CodeTransform::LAYOUT,
                g::SegmentArrays::LAYOUT,
                g::LongSegments::LAYOUT,
                g::MergeProgress::LAYOUT,
            ],
            File::SplitSegments => &[
                CodeTransform::LAYOUT,
                g::LongSegments::LAYOUT,
                b::Split::LAYOUT,
                b::SplitCut::LAYOUT,
                b::SplitState::LAYOUT,
                b::SplitLevel::LAYOUT,
            ],
            File::Classes => &[g::Capacities::LAYOUT, g::ClassesShared::LAYOUT],
            File::Bitonic => &[CodeTransform::LAYOUT, a::BitonicArrays::LAYOUT, a::Superstep::LAYOUT],
            File::Profile => &[
                CodeTransform::LAYOUT,
                a::BucketCodes::LAYOUT,
                a::CodeRange::LAYOUT,
                a::Profile::LAYOUT,
                a::CellCounts::LAYOUT,
                a::Crowded::LAYOUT,
                a::Cells::LAYOUT,
            ],
            File::CountBuckets => &[
                CodeTransform::LAYOUT,
                a::BucketCodes::LAYOUT,
                a::Profile::LAYOUT,
                a::Cells::LAYOUT,
                a::Before::LAYOUT,
                a::OnesweepDigits::LAYOUT,
            ],
            File::Partition => {
                &[CodeTransform::LAYOUT, a::Profile::LAYOUT, a::LongBuckets::LAYOUT, a::Pass::LAYOUT]
            }
            File::Onesweep => &[
                CodeTransform::LAYOUT,
                a::OnesweepDigits::LAYOUT,
                a::OnesweepSide::LAYOUT,
                a::OnesweepJob::LAYOUT,
                a::CodeRange::LAYOUT,
                a::Profile::LAYOUT,
            ],
            File::FinishBuckets => {
                &[CodeTransform::LAYOUT, a::BucketBounds::LAYOUT, a::ItemArrays::LAYOUT, a::LeftList::LAYOUT]
            }
            File::FinishStable => &[
                CodeTransform::LAYOUT,
                a::BucketCodes::LAYOUT,
                a::Profile::LAYOUT,
                a::BucketBounds::LAYOUT,
                a::StableArrays::LAYOUT,
                a::LeftList::LAYOUT,
            ],
            File::Ranges => &[CodeTransform::LAYOUT, a::RangesPass::LAYOUT],
            File::Settle => {
                &[CodeTransform::LAYOUT, a::BucketCodes::LAYOUT, a::Profile::LAYOUT, a::SettleShared::LAYOUT]
            }
            File::Redistribute => &[
                CodeTransform::LAYOUT,
                a::BucketBounds::LAYOUT,
                a::LongBucket::LAYOUT,
                a::LongBuckets::LAYOUT,
                a::RedistributeShared::LAYOUT,
            ],
            File::Select => {
                &[CodeTransform::LAYOUT, s::SelectCodes::LAYOUT, s::TopResults::LAYOUT, s::SelectJob::LAYOUT]
            }
            File::SelectRows | File::TakeSorted => {
                &[CodeTransform::LAYOUT, s::SelectCodes::LAYOUT, s::TopResults::LAYOUT, s::SelectRows::LAYOUT]
            }
            File::FinishRows => &[
                CodeTransform::LAYOUT,
                s::SelectCodes::LAYOUT,
                s::TopResults::LAYOUT,
                s::SelectRows::LAYOUT,
                s::SelectCandidates::LAYOUT,
            ],
            File::Nth => {
                &[CodeTransform::LAYOUT, s::SelectCodes::LAYOUT, s::NthNumbers::LAYOUT, s::NthJob::LAYOUT]
            }
            File::SearchSorted => &[CodeTransform::LAYOUT, s::SelectCodes::LAYOUT, search::SearchJob::LAYOUT],
            File::Histogram => {
                &[CodeTransform::LAYOUT, s::SelectCodes::LAYOUT, histogram::HistogramJob::LAYOUT]
            }
            File::Groups => &[groups::SortedKeys::LAYOUT, groups::GroupResults::LAYOUT],
            File::Splitters => &[a::GroupCut::LAYOUT, a::SplitterLevel::LAYOUT],
            File::FinishCompared => &[a::SampleBuckets::LAYOUT, a::SampleArrays::LAYOUT],
            File::Strings => &[
                t::StringArrays::LAYOUT,
                t::StringBuffer::LAYOUT,
                t::TieState::LAYOUT,
                t::TieLevel::LAYOUT,
                t::Alphabet::LAYOUT,
                t::LeftTies::LAYOUT,
                t::Symbols::LAYOUT,
                t::TieSums::LAYOUT,
            ],
            File::GatherStrings => &[t::StringArrays::LAYOUT, t::LengthSums::LAYOUT],
        }
    }
}

impl Instance {
    /// The program that contains it, together with the other kernels of the file.
    pub fn program(&self) -> Program {
        let (name, source) = self.file.source();
        // The text of a comparison is no part of a name. Neither are bytes of shared memory, which follow from the
        // rest.
        let named = |name: &str| name != "SORTIE_KEY_COMPARE" && !name.ends_with("_MEMORY");
        let numbers = self.defines.iter().filter(|(name, _)| named(name)).map(|(_, value)| value.as_str());
        let layouts = ("SORTIE_LAYOUTS".into(), layout::asserts(self.file.layouts()));
        let defines = self.defines.iter().map(|(name, value)| ((*name).into(), value.clone()));
        Program {
            name: std::iter::once(name).chain(numbers).collect::<Vec<_>>().join("-"),
            source,
            headers: HEADERS,
            defines: defines.chain([layouts]).collect(),
            overlaps: true,
        }
    }

    /// Whether another instance is in the same program.
    pub fn is_beside(&self, other: &Instance) -> bool {
        (self.file, &self.defines) == (other.file, &other.defines)
    }
}
