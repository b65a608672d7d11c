//! The sorts of one array in device memory, as methods of [`Gpu`].

use bytemuck::Pod;
use sortie_device::{Stream, View};

use super::way::Wanted;
use crate::gpu::rows::DevicePayload;
use crate::gpu::segments::code;
use crate::gpu::{Gpu, Pending};
use crate::request::Beside;
use crate::{Error, Order, TotalOrder};

impl Gpu {
    /// Enqueues a sort of all keys, in place, and does not wait.
    ///
    /// Keys are sorted alone, so equal keys cannot be told apart. The method depends on their number:
    ///
    /// - From 2^15 keys for each multiprocessor on (and for keys of up to 32 bits, as many as fill the second level cache
    ///   twice), up to 2^32 - 2^16: they are distributed to buckets that a block sorts. That reads them four times and writes
    ///   them three times. For more than 1.7 billion keys on a device with 227 KB of shared memory per block (80 million with
    ///   48 KB), buckets are counted in two or three slices, with one read each. Keys in order cost one read; keys in reverse
    ///   order cost another read and a write; keys of few distinct codes cost a read and a write. Buckets that are too long
    ///   because keys are close together are distributed once more, by their own range, at two more reads and writes. Buckets
    ///   that are still too long are merged like long segments. If a sample finds many keys in such buckets, integers of 64
    ///   bits are sorted as by [`Gpu::sort_by_comparison`], and other keys go through passes. Scratch: a copy of the keys and
    ///   about 1% more; for keys of up to 32 bits, also half a byte per key.
    /// - From 2^12 keys for each multiprocessor on, and for more than 2^32 - 2^16 keys: by stable passes of 8 bits, as in
    ///   [`Gpu::sort_pairs`]. Scratch: a copy, and half a byte per key.
    /// - From 2^13 keys in all on: through a bitonic network, in place, as by [`Gpu::sort_bitonic`]. No scratch.
    /// - Fewer: as one segment, by a block. Scratch if it does not fit in a block: a copy.
    ///
    /// Keys of 128 bits are sorted as by [`Gpu::sort_by_comparison`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] for keys without codes of 8 to 128 bits, or more than 2^32 - 2^16 of 128 bits; [`Error::Memory`]
    /// if the device has too little free for the scratch; [`Error::Device`] if a kernel is not available: the keys are
    /// as they were then. If the device fails later, they are unspecified.
    ///
    /// # Safety
    /// Nothing else uses the keys until the sort is done. The stream belongs to this engine's device.
    pub unsafe fn sort<K: TotalOrder + Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        let wanted = Wanted { beside: Beside::Nothing, code: code::<K>()?, order };
        // SAFETY: the caller guarantees it.
        unsafe { self.sort_array(stream, keys.cast::<K::Bits>(), 0, wanted) }
    }

    /// [`Gpu::sort`] of keys with payloads. Each payload, of any multiple of 4 bytes, moves with its key. Stable.
    ///
    /// The method depends on the width of the keys, and on their number for each multiprocessor:
    ///
    /// - 32 and 64 bits, from 2^15 keys on, of 32 bits as many as fill the second level cache twice: two stable passes bring keys
    ///   and payload to buckets, which blocks sort: they are read and written three times, and the keys read once more. Keys
    ///   of few distinct codes need the two passes alone. Keys that are spread too unevenly go through the passes below instead,
    ///   and so do those that are more than fit 2^16 buckets, some 2^29.
    /// - Up to 64 bits, from 2^7 keys on: by stable passes of 8 bits, which read and write keys and payload once for each byte in
    ///   which keys differ.
    /// - 128 bits: as by [`Gpu::sort_pairs_by_comparison`].
    /// - Fewer: by one block, keys of 32 and 64 bits up to 2^14 or 2^13 on a device with 227 KB of shared memory a block. No scratch.
    /// - Others: as one segment, by [`Gpu::sort_pairs_segments`]. Scratch if it does not fit a block: a copy of keys
    ///   and payload; else none.
    ///
    /// Scratch of both kinds of passes: a copy of keys and payload, and up to 1.4 bytes a key.
    ///
    /// Payloads of 4, 8 and 16 bytes move with their keys in these ways. For other payloads, indices of 4 bytes do, and the
    /// payloads are gathered by them in the end, with two reads and two writes of the payload. Scratch: that of such pairs, the
    /// indices, and a copy of the payload. A sort by comparison moves indices whatever the payload is.
    ///
    /// Source of the passes: Adinets and Merrill, "Onesweep: a faster least significant digit radix sort for GPUs"
    /// (2022), section 3.
    ///
    /// # Errors
    /// As [`Gpu::sort`]; [`Error::LengthMismatch`]; [`Error::Unsupported`] for payloads of other sizes, or not aligned: to 8
    /// bytes if those divide the size, else to 4; and for floats whose NaNs are to be equal ([`Nans`](crate::Nans)).
    ///
    /// # Safety
    /// As [`Gpu::sort`], and nothing else uses the payload until the sort is done.
    pub unsafe fn sort_pairs<K: TotalOrder + Pod, V: Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        payload: View<'_, V>,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        let payload = DevicePayload::of(keys.len(), payload)?;
        // SAFETY: the caller guarantees it.
        unsafe { self.sort_array_of_pairs(stream, keys, payload, order, true) }
    }

    /// [`Gpu::sort_pairs`], except that payloads of equal keys come out in any order. The order is the same in every run.
    ///
    /// If keys of up to 32 bits are distributed (up to 2^32 - 2^16 of them), payloads of 4 bytes are placed below them, as
    /// items of 64 bits. The scratch is then 16 bytes per key and up to 1 byte more. All others are sorted as by
    /// [`Gpu::sort_pairs`].
    ///
    /// # Errors
    /// As [`Gpu::sort_pairs`], but NaNs that are to be equal are told apart by their bits.
    ///
    /// # Safety
    /// As [`Gpu::sort_pairs`].
    pub unsafe fn sort_pairs_unstable<K: TotalOrder + Pod, V: Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        payload: View<'_, V>,
        order: Order,
    ) -> Result<Pending<'_>, Error> {
        let payload = DevicePayload::of(keys.len(), payload)?;
        // SAFETY: the caller guarantees it.
        unsafe { self.sort_array_of_pairs(stream, keys, payload, order, false) }
    }

    /// Either of these sorts, whatever the type of the payload.
    ///
    /// # Safety
    /// As [`Gpu::sort_pairs`].
    pub(crate) unsafe fn sort_array_of_pairs<K: TotalOrder + Pod>(
        &self,
        stream: &Stream,
        keys: View<'_, K>,
        payload: DevicePayload,
        order: Order,
        stable: bool,
    ) -> Result<Pending<'_>, Error> {
        let beside = Beside::Payload { bytes: payload.each, stable };
        let wanted = Wanted { beside, code: code::<K>()?, order };
        if stable {
            order.carries_on_gpu(wanted.code)?;
        }
        // SAFETY: the caller guarantees it.
        unsafe { self.sort_array(stream, keys.cast::<K::Bits>(), payload.address, wanted) }
    }
}
