//! Sorts of keys in device memory.

use bytemuck::{Pod, PodCastError};
use half::{bf16, f16};
use sortie_device::{Stream, View};

use super::{Dtype, refused};
use crate::gpu::{DevicePayload, DeviceSegments, Gpu, Pending};
use crate::request::Beside;
use crate::{Error, Order};

/// [`Gpu::sort`] of keys in device memory.
///
/// # Errors
/// As [`Gpu::sort`]; [`Error::Unsupported`] if the bytes are not aligned for the type, or end within a key.
///
/// # Safety
/// As [`Gpu::sort`].
#[inline]
pub unsafe fn sort_on_device<'gpu>(
    gpu: &'gpu Gpu,
    stream: &Stream,
    dtype: Dtype,
    keys: View<'_, u8>,
    order: Order,
) -> Result<Pending<'gpu>, Error> {
    // SAFETY: the caller guarantees it.
    with_key!(dtype, K => unsafe { gpu.sort(stream, typed_view::<K>("keys", keys)?, order) })
}

/// [`Gpu::sort_pairs`] of keys in device memory, each with a payload of `payload_bytes` bytes, a multiple of 4.
///
/// # Errors
/// As [`Gpu::sort_pairs`] and [`sort_on_device`].
///
/// # Safety
/// As [`Gpu::sort_pairs`].
#[inline]
pub unsafe fn sort_pairs_on_device<'gpu>(
    gpu: &'gpu Gpu,
    stream: &Stream,
    dtype: Dtype,
    keys: View<'_, u8>,
    payload_bytes: usize,
    payload: View<'_, u8>,
    order: Order,
) -> Result<Pending<'gpu>, Error> {
    with_key!(dtype, K => {
        let keys = typed_view::<K>("keys", keys)?;
        let payload = DevicePayload::of_bytes(keys.len(), payload, payload_bytes)?;
        // SAFETY: the caller guarantees it.
        unsafe { gpu.sort_array_of_pairs(stream, keys, payload, order, true) }
    })
}

/// [`Gpu::argsort`] of keys in device memory.
///
/// # Errors
/// As [`Gpu::argsort`] and [`sort_on_device`].
///
/// # Safety
/// As [`Gpu::argsort`].
#[inline]
pub unsafe fn argsort_on_device<'gpu>(
    gpu: &'gpu Gpu,
    stream: &Stream,
    dtype: Dtype,
    keys: View<'_, u8>,
    indices: View<'_, u32>,
    order: Order,
) -> Result<Pending<'gpu>, Error> {
    // SAFETY: the caller guarantees it.
    with_key!(dtype, K => unsafe { gpu.argsort(stream, typed_view::<K>("keys", keys)?, indices, order) })
}

/// [`Gpu::sort_segments`] of keys in device memory.
///
/// # Errors
/// As [`Gpu::sort_segments`] and [`sort_on_device`].
///
/// # Safety
/// As [`Gpu::sort_segments`].
#[inline]
pub unsafe fn sort_segments_on_device<'gpu>(
    gpu: &'gpu Gpu,
    stream: &Stream,
    dtype: Dtype,
    keys: View<'_, u8>,
    segments: DeviceSegments<'_>,
    order: Order,
) -> Result<Pending<'gpu>, Error> {
    // SAFETY: the caller guarantees it.
    with_key!(dtype, K => unsafe { gpu.sort_segments(stream, typed_view::<K>("keys", keys)?, segments, order) })
}

/// [`Gpu::workspace_bytes`] of the calls above on one array.
///
/// # Errors
/// As [`Gpu::workspace_bytes`].
pub fn workspace_bytes(gpu: &Gpu, dtype: Dtype, keys: usize, beside: Beside) -> Result<usize, Error> {
    with_key!(dtype, K => gpu.workspace_bytes::<K>(keys, beside))
}

/// [`Gpu::workspace_bytes_of_segments`] of the call above on segments.
///
/// # Errors
/// As [`Gpu::workspace_bytes`].
pub fn workspace_bytes_of_segments(
    gpu: &Gpu,
    dtype: Dtype,
    keys: usize,
    segments: DeviceSegments<'_>,
) -> Result<usize, Error> {
    with_key!(dtype, K => gpu.workspace_bytes_of_segments::<K>(keys, segments, Beside::Nothing))
}

fn typed_view<'a, T: Pod>(what: &str, bytes: View<'a, u8>) -> Result<View<'a, T>, Error> {
    let (address, len) = (bytes.address(), bytes.len());
    let refused = |error| Err(refused::<T>(what, address, len, error));
    if !len.is_multiple_of(size_of::<T>()) {
        return refused(PodCastError::OutputSliceWouldHaveSlop);
    }
    if !address.is_multiple_of(align_of::<T>() as u64) {
        return refused(PodCastError::TargetAlignmentGreaterAndInputNotAligned);
    }
    Ok(bytes.cast())
}
