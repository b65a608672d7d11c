//! Memory for copies of elements, and what is done with bytes in it.

use arrow_buffer::Buffer as ArrowBuffer;
use bytemuck::{Pod, Zeroable};
use rayon::prelude::*;

use crate::errors::Failure;

/// Bytes from which several threads share a pass over memory.
const SHARED_FROM: usize = 1 << 20;

/// Bytes aligned for every number.
#[derive(Default)]
pub struct Buffer {
    words: Vec<u128>,
    bytes: usize,
}

impl Buffer {
    /// A buffer of zeros.
    pub fn new(bytes: usize) -> Result<Buffer, Failure> {
        Ok(Buffer { words: zeroed(bytes.div_ceil(size_of::<u128>()))?, bytes })
    }

    /// Gives the buffer `bytes` bytes, whose values are arbitrary. It allocates only if they are more than ever before.
    pub fn reuse(&mut self, bytes: usize) -> Result<(), Failure> {
        let words = bytes.div_ceil(size_of::<u128>());
        if words > self.words.len() {
            self.words = zeroed(words)?;
        }
        self.bytes = bytes;
        Ok(())
    }

    /// The bytes as memory of Arrow, without a copy.
    pub fn into_arrow(self) -> ArrowBuffer {
        ArrowBuffer::from_vec(bytemuck::cast_vec::<u128, i128>(self.words)).slice_with_length(0, self.bytes)
    }

    pub fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.bytes]
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.bytes]
    }
}

/// A vector of `n` zeros, or an error where the system refuses the memory.
pub fn zeroed<T: Zeroable>(n: usize) -> Result<Vec<T>, Failure> {
    let zeros = bytemuck::allocation::try_zeroed_slice_box(n);
    zeros.map(Vec::from).map_err(|()| Failure::Memory(n.saturating_mul(size_of::<T>())))
}

/// Whether this thread is one of a pool, whose others may help.
pub fn in_pool() -> bool {
    rayon::current_thread_index().is_some() && rayon::current_num_threads() > 1
}

/// Calls `work` on parts of `bytes`, each of a multiple of `unit` bytes, by all threads of the pool.
pub fn by_parts(bytes: &mut [u8], unit: usize, work: impl Fn(&mut [u8]) + Send + Sync) {
    if in_pool() && bytes.len() >= SHARED_FROM {
        bytes.par_chunks_mut((SHARED_FROM / 4).next_multiple_of(unit)).for_each(work);
    } else {
        work(bytes);
    }
}

/// Reverses every `unit` bytes.
pub fn swap(bytes: &mut [u8], unit: usize) {
    fn each<T: Pod>(bytes: &mut [u8], swapped: impl Fn(T) -> T) {
        for chunk in bytes.chunks_exact_mut(size_of::<T>()) {
            let value: T = bytemuck::pod_read_unaligned(chunk);
            chunk.copy_from_slice(bytemuck::bytes_of(&swapped(value)));
        }
    }
    by_parts(bytes, unit, |bytes| match unit {
        1 => {}
        2 => each(bytes, u16::swap_bytes),
        4 => each(bytes, u32::swap_bytes),
        8 => each(bytes, u64::swap_bytes),
        _ => bytes.chunks_exact_mut(unit).for_each(<[u8]>::reverse),
    });
}

/// Writes the items of `width` bytes that the indices name, one after the other.
pub fn take<I: Copy + Into<u64> + Sync>(items: &[u8], width: usize, indices: &[I], into: &mut [u8]) {
    fn each<const W: usize>(items: &[u8], indices: &[impl Copy + Into<u64>], into: &mut [u8]) {
        let (items, into) = (items.as_chunks::<W>().0, into.as_chunks_mut::<W>().0);
        into.iter_mut().zip(indices).for_each(|(to, &i)| *to = items[i.into() as usize]);
    }
    let part = |(indices, into): (&[I], &mut [u8])| match width {
        0 => {}
        1 => each::<1>(items, indices, into),
        2 => each::<2>(items, indices, into),
        4 => each::<4>(items, indices, into),
        8 => each::<8>(items, indices, into),
        12 => each::<12>(items, indices, into),
        16 => each::<16>(items, indices, into),
        _ => into.chunks_exact_mut(width).zip(indices).for_each(|(to, &i)| {
            let at = i.into() as usize * width;
            to.copy_from_slice(&items[at..at + width]);
        }),
    };
    if in_pool() && into.len() >= SHARED_FROM {
        let each = 1 << 14;
        indices.par_chunks(each).zip(into.par_chunks_mut(each * width)).for_each(part);
    } else {
        part((indices, into));
    }
}
