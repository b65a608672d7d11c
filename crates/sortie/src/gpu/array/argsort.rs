//! Argsort of one array: writes its indices in order, as 32 or 64 bits.

use bytemuck::Pod;
use sortie_device::{Stream, View};

use super::way::Wanted;
use crate::error::same_length;
use crate::gpu::alloc::{check_workspace, scratch};
use crate::gpu::segments::code;
use crate::gpu::{Gpu, Pending};
use crate::key::Bits;
use crate::request::Beside;
use crate::{Algorithm, Error, Index, Order, TotalOrder};

impl Gpu {
    /// Enqueues an argsort: writes the indices of the keys in order. The keys stay as they are. Stable.
    ///
    /// Indices of 32 bits are sorted as by [`Gpu::sort_pairs`] with payloads of 4 bytes, with one exception: if keys of
    /// 17 to 32 bits are distributed (up to 2^32 - 2^16 of them), they move to their buckets in any order with their
    /// indices below them, as in [`Gpu::sort_pairs_unstable`]; the indices tell equal keys apart. Scratch at most: two
    /// copies of the keys and one of the indices, and a byte per key more; for keys of up to 32 bits, 16 bytes per key
    /// and up to 1 more; for keys of 128 bits, two copies with their indices, and about 1% more.
    ///
    /// Indices of 64 bits are sorted as by [`Gpu::sort_pairs`], as payloads of 8 bytes of a copy of the keys. Scratch:
    /// that copy, and the scratch of such a sort. A workspace needs the size that [`Gpu::workspace_bytes`] gives for
    /// those pairs, and that of the keys, rounded up to 256 bytes.
    ///
    /// # Errors
    /// As [`Gpu::sort`]; [`Error::LengthMismatch`]; [`Error::Unsupported`] for more than 2^32 - 2^16 indices of 32
    /// bits, and for floats whose NaNs are to be equal ([`Nans`](crate::Nans)).
    ///
    /// # Safety
    /// As [`Gpu::sort`], and nothing else uses the indices until the sort is done.
    pub unsafe fn argsort<K: TotalOrder + Pod, I: Index + Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        indices: View<'_, I>,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        same_length("indices", keys.len(), indices.len())?;
        let is_wide = size_of::<I>() > size_of::<u32>();
        let beside = match is_wide {
            true => Beside::Payload { bytes: size_of::<I>(), stable: true },
            false => Beside::Indices { stable: true },
        };
        let wanted = Wanted { beside, code: code::<K>()?, order };
        order.carries_on_gpu(wanted.code)?;
        let (keys, indices) = (keys.cast::<K::Bits>(), indices.address());
        // SAFETY: the caller guarantees it.
        unsafe {
            match is_wide {
                true => self.argsort_copy(stream, keys, indices, wanted),
                false => self.sort_array(stream, keys, indices, wanted),
            }
        }
    }

    /// Sorts a copy of the keys, with indices of 64 bits as its payload.
    ///
    /// # Safety
    /// As [`Gpu::argsort`].
    unsafe fn argsort_copy<B: Bits>(
        &self,
        stream: &Stream,
        keys: View<'_, B>,
        indices: u64,
        wanted: Wanted,
    ) -> Result<Pending<'_>, Error> {
        let n = keys.len();
        let way = self.way::<B>(n, wanted, Algorithm::Auto)?;
        // Views of scratch begin where keys of any width can be aligned.
        let copy_words = (n * size_of::<B>()).div_ceil(size_of::<u32>());
        check_workspace(stream, || {
            let mut words = self.array_words::<B>(&way, n, wanted);
            words.push(copy_words);
            words
        })?;
        let copy = scratch(stream, copy_words)?;
        // SAFETY: the copy has room for all keys; the caller guarantees the rest.
        unsafe {
            let copied = View::<B>::from_raw(copy.view().address(), n);
            stream.copy_within(copied, keys)?;
            self.number(stream, indices, n, size_of::<u64>())?;
            self.sort_array_by(way, stream, copied, indices, wanted)
        }
    }
}
