//! Sortie's side.

use bytemuck::Pod;
use sortie::Order;
use sortie::gpu::{Gpu, Pending, Segments};

use super::batch::{After, Batch, Before};
use super::contenders::{OneArray, Run};
use crate::Result;
use crate::keys::BenchKey;

/// What Sortie is asked to do with the batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Work {
    Keys,
    Descending,
    /// Keys with payloads of so many bytes, stable as always.
    Pairs(usize),
    Argsort,
}

impl Work {
    /// Words of a payload.
    fn words(self) -> usize {
        match self {
            Work::Keys | Work::Descending => 0,
            Work::Pairs(bytes) => bytes / 4,
            Work::Argsort => 1,
        }
    }
}

/// This work on the batch's keys, in place: milliseconds, and whether the result is right.
pub fn work<'a, K: BenchKey + Pod>(gpu: &'a Gpu, batch: &'a Batch<K>, work: Work) -> Result<Run<'a>> {
    let order = Order { descending: work == Work::Descending, ..Order::default() };
    let mut pending: Option<Pending<'a>> = None;
    // Found here: it is a look at every offset on the host.
    let longest = batch.longest();
    Ok(Box::new(move |seed| {
        let segments = match (&batch.offsets, batch.length) {
            (Some(offsets), _) => Segments::Offsets { offsets: offsets.view(), longest },
            (None, length) => Segments::Length(length.unwrap_or(0)),
        };
        // For this run alone: with those of all contenders there would be no room.
        let payload = gpu.device().alloc::<u32>(work.words() * batch.keys.len())?;
        if let Work::Pairs(_) = work {
            batch.number(payload.view(), work.words())?;
        }
        let (stream, keys, payload) = (&batch.stream, batch.keys.view(), payload.view());
        // The scratch of the last one, which is done by now.
        drop(pending.take());
        let ms = batch.time(Before::Copy, || {
            // SAFETY: all that uses the keys and the payload is on the batch's stream.
            pending = Some(unsafe {
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

/// This work on the batch's keys as one array.
pub fn one_array<'a, K: BenchKey + Pod>(gpu: &'a Gpu, batch: &'a Batch<K>, work: OneArray) -> Run<'a> {
    let mut pending: Option<Pending<'a>> = None;
    Box::new(move |seed| {
        let moved = if work == OneArray::Keys { 0 } else { batch.keys.len() };
        // For this run alone: with those of all contenders there would be no room.
        let payload = gpu.device().alloc::<u32>(moved)?;
        if moved > 0 {
            batch.number(payload.view(), 1)?;
        }
        let (stream, keys, payload, order) =
            (&batch.stream, batch.keys.view(), payload.view(), Order::default());
        drop(pending.take());
        let ms = batch.time(Before::Copy, || {
            // SAFETY: all that uses the keys and the payload is on the batch's stream.
            pending = Some(unsafe {
                match work {
                    OneArray::Keys => gpu.sort(stream, keys, order)?,
                    OneArray::Pairs => gpu.sort_pairs(stream, keys, payload, order)?,
                    OneArray::UnstablePairs => gpu.sort_pairs_unstable(stream, keys, payload, order)?,
                    OneArray::Argsort => gpu.argsort(stream, keys, payload, order)?,
                }
            });
            Ok(())
        })?;
        let after = if work == OneArray::Argsort { After::Same } else { After::Sorted };
        let right = batch.verify(after, seed)? && batch.verify_one_array(payload, work)?;
        Ok((ms, right))
    })
}

/// What enqueues the bitonic network on the batch's keys as one array.
pub fn bitonic<'a, K: BenchKey + Pod>(gpu: &'a Gpu, batch: &'a Batch<K>) -> impl FnMut() -> Result<()> + 'a {
    let mut pending: Option<Pending<'a>> = None;
    move || {
        drop(pending.take());
        // SAFETY: all that uses the keys is on the batch's stream.
        pending = Some(unsafe { gpu.sort_bitonic(&batch.stream, batch.keys.view(), Order::default())? });
        Ok(())
    }
}

/// What enqueues GPU-ArraySort of the batch's keys, which are f32 in segments of one length.
pub fn array_sort<'a, K: BenchKey + Pod>(
    gpu: &'a Gpu,
    batch: &'a Batch<K>,
) -> impl FnMut() -> Result<()> + 'a {
    let mut pending: Option<Pending<'a>> = None;
    move || {
        let length = batch.length.unwrap_or(0) as usize;
        drop(pending.take());
        // SAFETY: all that uses the keys is on the batch's stream.
        pending = Some(unsafe {
            sortie::papers::array_sort(gpu, &batch.stream, batch.keys.view().cast(), length)?
        });
        Ok(())
    }
}
