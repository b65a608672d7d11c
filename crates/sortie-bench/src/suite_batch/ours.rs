//! Sortie's side.

use bytemuck::Pod;
use sortie::Order;
use sortie::gpu::{Gpu, Pending, Segments};

use super::batch::Batch;
use crate::Result;
use crate::keys::BenchKey;

/// What enqueues a sort of the batch's keys on its stream, in place.
pub fn sort<'a, K: BenchKey + Pod>(
    gpu: &'a Gpu,
    batch: &'a Batch<K>,
) -> Result<impl FnMut() -> Result<()> + 'a> {
    let mut pending: Option<Pending<'a>> = None;
    // Found here: it is a look at every offset on the host.
    let longest = batch.longest();
    Ok(move || {
        let segments = match (&batch.offsets, batch.length) {
            (Some(offsets), _) => Segments::Offsets { offsets: offsets.view(), longest },
            (None, length) => Segments::Length(length.unwrap_or(0)),
        };
        // The scratch of the last one, which is done by now.
        drop(pending.take());
        // SAFETY: all that uses the keys is on the batch's stream.
        pending =
            Some(unsafe { gpu.sort_segments(&batch.stream, batch.keys.view(), segments, Order::default())? });
        Ok(())
    })
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
