//! The contenders that sort a batch: a copy, which is the upper bound, Sortie, and its peers.

use std::cell::{OnceCell, RefCell};
use std::path::PathBuf;

use bytemuck::Pod;
use sortie::gpu::Gpu;
use sortie_device::Device;

pub use super::batch::OneArray;
use super::batch::{After, Batch, Before, Run, Shape};
use super::cub::{self, Cub, Peer};
use super::ours::{self, Engines, Published, Work};
use super::torch::Torch;
use crate::Result;
use crate::keys::BenchKey;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Contender {
    /// Reads and writes every key once: the upper bound.
    Copy,
    Sortie,
    /// Sortie with another operation.
    Ours(Work),
    /// Built from CUB's parts, with one warp or block per segment: the fastest of several shapes.
    ByHand,
    SegmentedSort,
    SegmentedRadixSort,
    Torch,
    /// STA: a stable sort of all keys with their segment numbers as payloads, then one by segment number.
    ByTags,
    /// As published, see `sortie_papers`.
    ArraySort,
    /// An operation on one array.
    OneArray(OneArray),
    Published(Published),
    CubRadix,
    CubMerge,
    /// Keys with payloads of 4 bytes.
    CubRadixPairs,
}

/// The maximum number of keys for the shapes in `cub.cu`.
const LONGEST_BY_HAND: u64 = 20_480;

impl Contender {
    pub const ALL: [Contender; 12] = [
        Contender::Copy,
        Contender::Sortie,
        Contender::Ours(Work::Descending),
        Contender::Ours(Work::Pairs(4)),
        Contender::Ours(Work::Pairs(8)),
        Contender::Ours(Work::Pairs(16)),
        Contender::Ours(Work::Argsort),
        Contender::ByHand,
        Contender::SegmentedSort,
        Contender::SegmentedRadixSort,
        Contender::Torch,
        Contender::ByTags,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Contender::Copy => "copy",
            Contender::Sortie | Contender::Ours(Work::Keys) => "sortie",
            Contender::Ours(Work::Descending) => "sortie, descending",
            Contender::Ours(Work::Pairs(4)) => "sortie, payloads of 4",
            Contender::Ours(Work::Pairs(8)) => "sortie, payloads of 8",
            Contender::Ours(Work::Pairs(_)) => "sortie, payloads of 16",
            Contender::Ours(Work::Argsort) => "sortie, argsort",
            Contender::ByHand => "by hand from CUB's parts",
            Contender::SegmentedSort => "CUB segmented sort",
            Contender::SegmentedRadixSort => "CUB segmented radix sort",
            Contender::Torch => "torch.sort",
            Contender::ByTags => "by tags (STA)",
            Contender::ArraySort => "GPU-ArraySort",
            Contender::OneArray(OneArray::Keys) => "sortie",
            Contender::OneArray(OneArray::Pairs) => "sortie, pairs",
            Contender::OneArray(OneArray::UnstablePairs) => "sortie, unstable pairs",
            Contender::OneArray(OneArray::Argsort) => "sortie, argsort",
            Contender::OneArray(OneArray::WideArgsort) => "sortie, argsort, indices of 64 bits",
            Contender::OneArray(OneArray::Compared) => "sortie, by comparison",
            Contender::Published(sort) => sort.name(),
            Contender::CubRadix => "CUB radix sort",
            Contender::CubMerge => "CUB merge sort",
            Contender::CubRadixPairs => "CUB radix sort, pairs",
        }
    }

    /// The name of the operation, for a batch of one array.
    pub fn one_array(self) -> &'static str {
        match self {
            Contender::OneArray(OneArray::Pairs | OneArray::UnstablePairs) | Contender::CubRadixPairs => {
                "pairs"
            }
            Contender::OneArray(work) if work.is_argsort() => "argsort",
            _ => "keys",
        }
    }

    /// Whether the contender can sort such a batch.
    pub fn takes<K: BenchKey>(self, shape: Shape) -> bool {
        let by_cub = matches!(
            self,
            Contender::ByHand | Contender::SegmentedSort | Contender::SegmentedRadixSort | Contender::ByTags
        );
        match (self, shape) {
            // `cub.cu` is compiled for two key types.
            _ if by_cub && K::NAME == "f64" => false,
            (Contender::ByHand, Shape::Even { length, .. }) => length <= LONGEST_BY_HAND,
            (Contender::Torch | Contender::ArraySort, Shape::Even { .. }) => K::NAME == "f32",
            (Contender::ByHand | Contender::Torch | Contender::ArraySort, Shape::Ragged { .. }) => false,
            _ => true,
        }
    }

    /// Work that the time includes besides the sort.
    pub fn includes(self) -> &'static str {
        match self {
            Contender::Torch => "indices, and memory from torch's cache; keys drawn by torch",
            Contender::ByTags => "writing the tags",
            _ => "nothing",
        }
    }
}

/// A contender that is prepared for one batch.
pub struct Ready<'a> {
    pub contender: Contender,
    /// What it chose for this batch, or an empty string.
    pub note: String,
    pub run: Run<'a>,
}

/// What the contenders need. Loaded when first used.
pub struct Rig {
    pub device: Device,
    engines: Engines,
    peers: Option<PathBuf>,
    cub: OnceCell<Option<Cub>>,
    torch: OnceCell<Option<RefCell<Torch>>>,
}

impl Rig {
    pub fn new(device: Device, peers: Option<PathBuf>) -> Rig {
        Rig {
            engines: Engines::new(device.clone()),
            device,
            peers,
            cub: OnceCell::new(),
            torch: OnceCell::new(),
        }
    }

    pub fn gpu(&self) -> &Gpu {
        &self.engines.gpu
    }

    pub fn cub(&self) -> Option<&Cub> {
        let load = || match &self.peers {
            Some(path) => Cub::load(path),
            None => Err(cub::BUILD.into()),
        };
        self.cub.get_or_init(|| load().map_err(|why| left_out("CUB", &*why)).ok()).as_ref()
    }

    fn torch(&self) -> Option<&RefCell<Torch>> {
        let start = || Torch::start(include_str!("../../peers/torch_segments.py")).map(RefCell::new);
        self.torch.get_or_init(|| start().map_err(|why| left_out("torch.sort", &*why)).ok()).as_ref()
    }

    /// Prepares a contender. `None` if something that it needs is missing; the user has been told.
    pub fn ready<'a, K: BenchKey + Pod>(
        &'a self,
        contender: Contender,
        batch: &'a Batch<K>,
    ) -> Result<Option<Ready<'a>>> {
        let from_cub = |peer, before| match self.cub() {
            Some(cub) => {
                let job = cub.open(peer, batch)?;
                let note = job.note();
                let run = on_device(batch, before, After::Sorted, move || job.run());
                Ok(Some(Ready { contender, note, run }))
            }
            None => Ok(None),
        };
        let run = match contender {
            Contender::Copy => on_device(batch, Before::Poison, After::Same, || {
                Ok(batch.stream.copy_within(batch.keys.view(), batch.input.view())?)
            }),
            Contender::Sortie => ours::work(&self.engines.gpu, batch, Work::Keys)?,
            Contender::Ours(work) => ours::work(&self.engines.gpu, batch, work)?,
            Contender::ByHand => return from_cub(Peer::ByHand, Before::Copy),
            Contender::SegmentedSort => return from_cub(Peer::SegmentedSort, Before::Poison),
            Contender::SegmentedRadixSort => return from_cub(Peer::SegmentedRadixSort, Before::Poison),
            Contender::ByTags => return from_cub(Peer::ByTags, Before::Copy),
            Contender::CubRadix => return from_cub(Peer::Radix, Before::Poison),
            Contender::CubMerge => return from_cub(Peer::Merge, Before::Copy),
            Contender::CubRadixPairs => return from_cub(Peer::RadixPairs, Before::Poison),
            Contender::OneArray(work) => ours::one_array(&self.engines.gpu, batch, work),
            Contender::Published(sort) => {
                on_device(batch, Before::Copy, After::Sorted, ours::published(&self.engines, batch, sort))
            }
            Contender::ArraySort => {
                on_device(batch, Before::Copy, After::Sorted, ours::array_sort(&self.engines.papers, batch))
            }
            Contender::Torch => match (self.torch(), batch.length) {
                (Some(torch), Some(length)) => {
                    Box::new(move |seed| torch.borrow_mut().sort(batch.segments, length, seed))
                }
                _ => return Ok(None),
            },
        };
        Ok(Some(Ready { contender, note: String::new(), run }))
    }
}

fn on_device<'a, K: BenchKey + Pod>(
    batch: &'a Batch<K>,
    before: Before,
    after: After,
    mut enqueue: impl FnMut() -> Result<()> + 'a,
) -> Run<'a> {
    Box::new(move |seed| Ok((batch.time(before, &mut enqueue)?, batch.verify(after, seed)?)))
}

/// Reports why a contender is not measured.
pub fn left_out(name: &str, why: &dyn std::error::Error) {
    eprintln!("sortie-bench: {name} is left out: {why}");
}
