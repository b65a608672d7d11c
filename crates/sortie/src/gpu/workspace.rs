//! How much scratch a call on device memory takes, for callers that provide it.

use sortie_device::{Stream, View};

use super::alloc::workspace_bytes;
use super::array::{Compared, Keys, Wanted, sample_sort_words};
use super::{DeviceSegments, Gpu, Pending, check_payload_bytes, code};
use crate::key::Bits;
use crate::request::Beside;
use crate::{Error, Order, TotalOrder};

/// A workspace is the scratch of calls on one stream, in GPU memory that the caller provides. With it, a call allocates
/// nothing.
///
/// [`Stream::with_workspace`](sortie_device::Stream::with_workspace) returns the stream for such calls. The workspace begins at
/// a multiple of 256 bytes and should be as large as the largest call needs. A call that needs more returns [`Error::Memory`]
/// with [`Bound::Workspace`](crate::Bound::Workspace) and both sizes, and has enqueued nothing. The sizes below depend on the
/// device, the number of keys and their type, and not on the values of the keys.
///
/// ```no_run
/// use sortie::request::Beside;
/// use sortie::{Order, gpu};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let device = sortie_device::cuda::device(0)?;
/// # let gpu = gpu::Gpu::new(device.clone());
/// let stream = device.stream()?;
/// let keys = device.alloc::<u64>(1 << 24)?;
/// let workspace = device.alloc::<u8>(gpu.workspace_bytes::<u64>(keys.len(), Beside::Nothing)?)?;
/// // SAFETY: nothing else uses the workspace, and it is dropped after the sorts are done.
/// let sorting = unsafe { stream.with_workspace(workspace.view()) };
/// // SAFETY: nothing else uses the keys until the sort is done.
/// unsafe { gpu.sort(&sorting, keys.view(), Order::default())? }.wait()?;
/// # Ok(())
/// # }
/// ```
///
/// Calls on strings take scratch from the workspace too. How much they need depends on the strings. If the workspace is too
/// small, they return that error when they notice it.
impl Gpu {
    /// Bytes of a workspace for [`Gpu::sort`] ([`Beside::Nothing`]), [`Gpu::sort_pairs`] and
    /// [`Gpu::sort_pairs_unstable`] ([`Beside::Payload`]) or [`Gpu::argsort`] ([`Beside::Indices`]) of this many keys.
    /// [`Gpu::sort_bitonic`] needs none.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the call itself returns it for this many keys of this type.
    pub fn workspace_bytes<K: TotalOrder>(&self, keys: usize, beside: Beside) -> Result<usize, Error> {
        check_beside(beside)?;
        let wanted = Wanted { beside, code: code::<K>()?, order: Order::default() };
        self.array_workspace_bytes::<K::Bits>(keys, wanted)
    }

    fn array_workspace_bytes<B: Bits>(&self, keys: usize, wanted: Wanted) -> Result<usize, Error> {
        let way = self.way::<B>(keys, wanted)?;
        Ok(workspace_bytes(&self.array_words::<B>(&way, keys, wanted)))
    }

    /// [`Gpu::sort_array`] in a workspace for a larger number of keys. If fewer keys are sorted in a way that needs more
    /// scratch, that is allocated.
    ///
    /// # Safety
    /// As there; nothing else uses the workspace until the sort is done.
    pub(crate) unsafe fn sort_array_within<B: Bits>(
        &self,
        stream: &Stream,
        workspace: View<'_, u8>,
        keys: View<'_, B>,
        payload: u64,
        wanted: Wanted,
    ) -> Result<Pending<'_>, Error> {
        let is_enough = self.array_workspace_bytes::<B>(keys.len(), wanted)? <= workspace.len();
        // SAFETY: the caller guarantees it.
        unsafe {
            let within = is_enough.then(|| stream.with_workspace(workspace));
            self.sort_array(within.as_ref().unwrap_or(stream), keys, payload, wanted)
        }
    }

    /// The same for [`Gpu::sort_segments`], [`Gpu::sort_pairs_segments`] or [`Gpu::argsort_segments`]. If there are offsets,
    /// only their number matters.
    ///
    /// # Errors
    /// As [`Gpu::workspace_bytes`]; [`Error::Segments`] if a length does not divide the keys.
    pub fn workspace_bytes_of_segments<K: TotalOrder>(
        &self,
        keys: usize,
        segments: DeviceSegments<'_>,
        beside: Beside,
    ) -> Result<usize, Error> {
        check_beside(beside)?;
        if let DeviceSegments::Length(length) = segments {
            crate::Segments::Length(length as usize).check(keys)?;
        }
        Ok(workspace_bytes(&self.words_of_segments::<K::Bits>(keys, segments, beside, code::<K>()?)))
    }

    /// The same for [`Gpu::sort_by_comparison`], [`Gpu::sort_pairs_by_comparison`] or [`Gpu::argsort_by_comparison`].
    ///
    /// # Errors
    /// As [`Gpu::workspace_bytes`].
    pub fn workspace_bytes_by_comparison<K: Compared>(
        &self,
        keys: usize,
        beside: Beside,
    ) -> Result<usize, Error> {
        check_beside(beside)?;
        let sorted = Keys::of::<K>(Order::default(), beside.placed_bytes());
        sorted.check(keys, 0)?;
        let words = if keys == 0 { 0 } else { sample_sort_words(keys, &sorted, self.device().properties()) };
        Ok(workspace_bytes(&[words]))
    }
}

fn check_beside(beside: Beside) -> Result<(), Error> {
    if let Beside::Payload { bytes, .. } = beside { check_payload_bytes(bytes) } else { Ok(()) }
}
