//! Argsort of one array: writes its indices in order, as 32 or 64 bits.

use bytemuck::Pod;
use sortie_device::{Stream, View};

use super::items::MOST_KEYS;
use super::way::{ArrayWay, Wanted};
use crate::error::same_length;
use crate::gpu::alloc::{check_workspace, scratch, workspace_bytes};
use crate::gpu::segments::code;
use crate::gpu::{Gpu, Pending};
use crate::key::{Bits, Code};
use crate::request::Beside;
use crate::{Error, Index, Order, TotalOrder};

impl Gpu {
    /// Enqueues an argsort: writes the indices of the keys in order. The keys stay as they are. Stable.
    ///
    /// Indices of 32 bits are sorted as by [`Gpu::sort_pairs`] with payloads of 4 bytes, with one exception: if keys of
    /// 17 to 32 bits are distributed (up to 2^32 - 2^16 of them), they move to their buckets in any order with their
    /// indices below them, as in [`Gpu::sort_pairs_unstable`]; the indices tell equal keys apart. Scratch at most: two
    /// copies of the keys and one of the indices, and a byte per key more; for keys of up to 32 bits, 16 bytes per key
    /// and up to 1 more; for keys of 128 bits, two copies with their indices, and about 1% more.
    ///
    /// Indices of 64 bits are sorted as indices of 32 bits, and then widened. Scratch: those indices, beside the scratch of their
    /// sort. More than 2^32 - 2^16 of them are sorted as by [`Gpu::sort_pairs`], as payloads of 8 bytes of a copy of the keys.
    /// Scratch: that copy, and the scratch of such a sort. [`Gpu::workspace_bytes_of_argsort`] is the size of a workspace.
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
        let code = code::<K>()?;
        order.carries_on_gpu(code)?;
        let (keys, indices) = (keys.cast::<K::Bits>(), indices.address());
        // SAFETY: the caller guarantees it.
        unsafe {
            match size_of::<I>() > size_of::<u32>() {
                true => {
                    self.argsort_wide(stream, keys, indices, Wide::of::<K::Bits>(keys.len(), code, order))
                }
                false => self.sort_array(stream, keys, indices, Wanted { beside: INDICES, code, order }),
            }
        }
    }

    /// Bytes of a workspace for [`Gpu::argsort`] of this many keys, with indices of this type.
    ///
    /// # Errors
    /// [`Error::Unsupported`] if the call itself returns it for this many keys of this type.
    pub fn workspace_bytes_of_argsort<K: TotalOrder, I: Index>(&self, keys: usize) -> Result<usize, Error> {
        if size_of::<I>() <= size_of::<u32>() {
            return self.workspace_bytes::<K>(keys, INDICES);
        }
        let wide = Wide::of::<K::Bits>(keys, code::<K>()?, Order::default());
        let way = self.way::<K::Bits>(keys, wide.wanted)?;
        Ok(workspace_bytes(&self.words_of_wide_argsort::<K::Bits>(&way, keys, &wide)))
    }

    /// Writes indices of 64 bits.
    ///
    /// # Safety
    /// As [`Gpu::argsort`].
    unsafe fn argsort_wide<B: Bits>(
        &self,
        stream: &Stream,
        keys: View<'_, B>,
        indices: u64,
        wide: Wide,
    ) -> Result<Pending<'_>, Error> {
        let n = keys.len();
        let way = self.way::<B>(n, wide.wanted)?;
        check_workspace(stream, || self.words_of_wide_argsort::<B>(&way, n, &wide))?;
        let held = scratch(stream, wide.held_words)?;
        // SAFETY: what is held has room for all indices of 32 bits, or for all keys; the caller guarantees the rest.
        unsafe {
            if wide.wanted.beside == INDICES {
                // What follows on the stream waits for the sort.
                drop(self.sort_array_by(way, stream, keys, held.view().address(), wide.wanted)?);
                self.widen(stream, held.view(), indices)?;
                return self.pending(stream);
            }
            let copied = View::<B>::from_raw(held.view().address(), n);
            stream.copy_within(copied, keys)?;
            self.number(stream, indices, n, size_of::<u64>())?;
            self.sort_array_by(way, stream, copied, indices, wide.wanted)
        }
    }

    fn words_of_wide_argsort<B: Bits>(&self, way: &ArrayWay, n: usize, wide: &Wide) -> Vec<usize> {
        let mut words = self.array_words::<B>(way, n, wide.wanted);
        words.push(wide.held_words);
        words
    }
}

const INDICES: Beside = Beside::Indices { stable: true };

/// How indices of 64 bits are sorted.
struct Wide {
    wanted: Wanted,
    /// Words of scratch beside that of the sort: indices of 32 bits, or a copy of the keys.
    held_words: usize,
}

impl Wide {
    fn of<B: Bits>(n: usize, code: Code, order: Order) -> Wide {
        match n <= MOST_KEYS {
            true => Wide { wanted: Wanted { beside: INDICES, code, order }, held_words: n },
            false => Wide::with_a_copy::<B>(n, code, order),
        }
    }

    fn with_a_copy<B: Bits>(n: usize, code: Code, order: Order) -> Wide {
        let beside = Beside::Payload { bytes: size_of::<u64>(), stable: true };
        // Views of scratch begin where keys of any width can be aligned.
        let held_words = (n * size_of::<B>()).div_ceil(size_of::<u32>());
        Wide { wanted: Wanted { beside, code, order }, held_words }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gpu::on_bench::{code, on_bench};

    #[test]
    fn indices_of_more_keys_than_32_bits_count_move_with_a_copy() {
        on_bench(|gpu| {
            let keys: Vec<u32> = (0..20_000u32).map(|i| i.wrapping_mul(0x9E37_79B9) >> 20).collect();
            let mut expected: Vec<u64> = (0..keys.len() as u64).collect();
            expected.sort_by_key(|&i| keys[i as usize]);
            let stream = gpu.device().stream().unwrap();
            let there = gpu.device().alloc::<u32>(keys.len()).unwrap();
            let indices = gpu.device().alloc::<u64>(keys.len()).unwrap();
            stream.copy_in(there.view(), &keys).unwrap();
            let wide = Wide::with_a_copy::<u32>(keys.len(), code::<u32>(), Order::default());
            // SAFETY: nothing else uses the keys and the indices.
            unsafe { gpu.argsort_wide(&stream, there.view(), indices.view().address(), wide) }
                .unwrap()
                .wait()
                .unwrap();
            let (mut found, mut untouched) = (vec![0; keys.len()], vec![0; keys.len()]);
            stream.copy_out(&mut found, indices.view()).unwrap();
            stream.copy_out(&mut untouched, there.view()).unwrap();
            assert!(found == expected && untouched == keys);
        });
    }
}
