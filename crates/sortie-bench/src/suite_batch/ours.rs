//! Sortie and the published sorts as contenders.

use bytemuck::Pod;
use sortie::gpu::{DeviceSegments, Gpu, Pending};
use sortie::{Error, Order};
use sortie_device::{Device, Stream, View};
use sortie_papers::{self as papers, Histograms, Papers};

use super::batch::{After, Batch, Before, OneArray, Run};
use crate::Result;
use crate::keys::BenchKey;

/// An operation that Sortie performs on the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    Keys,
    Descending,
    /// Keys with payloads of this many bytes. Always stable.
    Pairs(usize),
    Argsort,
}

impl Work {
    /// The number of words of a payload.
    fn words(self) -> usize {
        match self {
            Work::Keys | Work::Descending => 0,
            Work::Pairs(bytes) => bytes / 4,
            Work::Argsort => 1,
        }
    }
}

/// Performs an operation on the batch's keys, in place. Returns milliseconds, and whether the result is correct.
pub fn work<'a, K: BenchKey + Pod>(gpu: &'a Gpu, batch: &'a Batch<K>, work: Work) -> Result<Run<'a>> {
    let order = Order { descending: work == Work::Descending, ..Order::default() };
    // Computed once here, because it reads every offset on the host.
    let longest = batch.longest();
    Ok(Box::new(move |seed| {
        let segments = match (&batch.offsets, batch.length) {
            (Some(offsets), _) => DeviceSegments::Offsets { offsets: offsets.view(), longest },
            (None, length) => DeviceSegments::Length(length.unwrap_or(0)),
        };
        // Allocated only for this run: the payloads of all contenders together would not fit in memory.
        let payload = gpu.device().alloc::<u32>(work.words() * batch.keys.len())?;
        if let Work::Pairs(_) = work {
            batch.number(payload.view(), work.words())?;
        }
        let (stream, keys, payload) = (&batch.stream, batch.keys.view(), payload.view());
        let ms = batch.time(Before::Copy, || {
            // SAFETY: everything that uses the keys and the payload is on the batch's stream.
            drop(unsafe {
                match work {
                    Work::Keys | Work::Descending => gpu.sort_segments(stream, keys, segments, order)?,
                    Work::Pairs(4) => gpu.sort_pairs_segments(stream, keys, payload, segments, order)?,
                    Work::Pairs(8) => {
                        gpu.sort_pairs_segments(stream, keys, payload.cast::<u64>(), segments, order)?
                    }
                    Work::Pairs(_) => {
                        gpu.sort_pairs_segments(stream, keys, payload.cast::<u128>(), segments, order)?
                    }
                    Work::Argsort => gpu.argsort_segments(stream, keys, payload, segments, order)?,
                }
            });
            Ok(())
        })?;
        let after = match work {
            Work::Descending => After::Descending,
            Work::Argsort => After::Same,
            _ => After::Sorted,
        };
        let places = work.words() > 0;
        let right = batch.verify(after, seed)?
            && (!places || batch.verify_places(payload, work.words(), work == Work::Argsort, seed)?);
        Ok((ms, right))
    }))
}

/// Performs an operation on the batch's keys as one array.
pub fn one_array<'a, K: BenchKey + Pod>(gpu: &'a Gpu, batch: &'a Batch<K>, work: OneArray) -> Run<'a> {
    Box::new(move |seed| {
        let alone = matches!(work, OneArray::Keys | OneArray::Compared);
        let moved = match work {
            _ if alone => 0,
            OneArray::WideArgsort => 2 * batch.keys.len(),
            _ => batch.keys.len(),
        };
        // Allocated only for this run: the payloads of all contenders together would not fit in memory.
        let payload = gpu.device().alloc::<u32>(moved)?;
        if !alone && !work.is_argsort() {
            batch.number(payload.view(), 1)?;
        }
        let (stream, keys, payload, order) =
            (&batch.stream, batch.keys.view(), payload.view(), Order::default());
        let ms = batch.time(Before::Copy, || {
            // SAFETY: everything that uses the keys and the payload is on the batch's stream.
            drop(unsafe {
                match work {
                    OneArray::Keys => gpu.sort(stream, keys, order)?,
                    OneArray::Pairs => gpu.sort_pairs(stream, keys, payload, order)?,
                    OneArray::UnstablePairs => gpu.sort_pairs_unstable(stream, keys, payload, order)?,
                    OneArray::Argsort => gpu.argsort(stream, keys, payload, order)?,
                    OneArray::WideArgsort => gpu.argsort(stream, keys, payload.cast::<u64>(), order)?,
                    OneArray::Compared => gpu.sort_by_comparison(stream, keys, order)?,
                }
            });
            Ok(())
        })?;
        let after = if work.is_argsort() { After::Same } else { After::Sorted };
        let right = batch.verify(after, seed)? && batch.verify_one_array(payload, work)?;
        Ok((ms, right))
    })
}

/// A published sort of one array. All except the bitonic network are in `sortie_papers`, and only sort u32.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Published {
    Bitonic,
    Quicksort,
    RadixSort,
    SampleSort,
    FineSampleSort(Histograms),
}

impl Published {
    pub fn name(self) -> &'static str {
        match self {
            Published::Bitonic => "sortie, bitonic",
            Published::Quicksort => "quicksort",
            Published::RadixSort => "radix sort",
            Published::SampleSort => "sample sort",
            Published::FineSampleSort(Histograms::OfAllBlocks) => "fine sample sort",
            Published::FineSampleSort(Histograms::Single) => "fine sample sort, single histogram",
        }
    }

    /// # Safety
    /// As for the sort that it names.
    pub unsafe fn enqueue<'a, K: BenchKey + Pod>(
        self,
        engines: &'a Engines,
        stream: &Stream,
        keys: View<'_, K>,
    ) -> std::result::Result<Enqueued<'a>, Error> {
        let papers = &engines.papers;
        // SAFETY: the caller guarantees it.
        let published = unsafe {
            match self {
                Published::Bitonic => {
                    return Ok(Enqueued::Ours(engines.gpu.sort_bitonic(stream, keys, Order::default())?));
                }
                Published::Quicksort => papers::quicksort(papers, stream, keys.cast())?,
                Published::RadixSort => papers::radix_sort(papers, stream, keys.cast())?,
                Published::SampleSort => papers::sample_sort(papers, stream, keys.cast())?,
                Published::FineSampleSort(histograms) => {
                    papers::fine_sample_sort(papers, stream, keys.cast(), histograms)?
                }
            }
        };
        Ok(Enqueued::Published(published))
    }
}

/// The engines of a device: Sortie's, and that of the published algorithms.
pub struct Engines {
    pub gpu: Gpu,
    pub papers: Papers,
}

impl Engines {
    pub fn new(device: Device) -> Engines {
        Engines { gpu: Gpu::new(device.clone()), papers: Papers::new(device) }
    }
}

/// An enqueued sort of one of the two.
pub enum Enqueued<'a> {
    Ours(Pending<'a>),
    Published(papers::Pending<'a>),
}

impl Enqueued<'_> {
    pub fn wait(self) -> std::result::Result<(), Error> {
        match self {
            Enqueued::Ours(pending) => pending.wait(),
            Enqueued::Published(pending) => pending.wait(),
        }
    }
}

/// A run that enqueues the published sort of the batch's keys as one array.
pub fn published<'a, K: BenchKey + Pod>(
    engines: &'a Engines,
    batch: &'a Batch<K>,
    sort: Published,
) -> impl FnMut() -> Result<()> + 'a {
    move || {
        // SAFETY: everything that uses the keys is on the batch's stream.
        drop(unsafe { sort.enqueue(engines, &batch.stream, batch.keys.view())? });
        Ok(())
    }
}

/// A run that enqueues GPU-ArraySort of the batch's keys, which are f32 in segments of one length.
pub fn array_sort<'a, K: BenchKey + Pod>(
    papers: &'a Papers,
    batch: &'a Batch<K>,
) -> impl FnMut() -> Result<()> + 'a {
    let length = batch.length.unwrap_or(0) as usize;
    move || {
        // SAFETY: everything that uses the keys is on the batch's stream.
        drop(unsafe { papers::array_sort(papers, &batch.stream, batch.keys.view().cast(), length)? });
        Ok(())
    }
}
