//! Scratch memory: allocated before work starts, on huge pages if the system has them.
//!
//! A distribution writes to a thousand positions at once. With pages of 4 KB, each position is on a page of its own, and most
//! stores wait for the page table. Huge pages avoid that, and most page faults.

use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};

#[cfg(feature = "gpu")]
use bytemuck::Pod;
use memmap2::{MmapMut, MmapOptions};

#[cfg(all(target_os = "linux", feature = "gpu"))]
use crate::parallel;
use crate::{Bound, Error};

/// From this many bytes on, scratch is mapped on huge pages, of which it then takes four or more.
const MAP_SCRATCH_FROM_BYTES: usize = 8 << 20;

/// The alignment of a mapping: the size of the smallest page of any system. Scratch for items that need more is allocated.
const PAGE_BYTES: usize = 4 << 10;

/// Bytes of scratch that one task returns to the system: a little over a hundred huge pages. For a copy of 40 GB, one
/// thread took more than a second.
#[cfg(all(target_os = "linux", feature = "gpu"))]
const FREED_BY_A_TASK_BYTES: usize = 256 << 20;

/// Memory for items that need not be dropped.
pub(crate) struct Scratch<T> {
    memory: Memory<T>,
    len: usize,
}

enum Memory<T> {
    Heap(Vec<MaybeUninit<T>>),
    Map(MmapMut),
}

/// An empty vector with room for `count` items, or an error that says how much memory is missing.
pub(crate) fn reserve<T>(count: usize) -> Result<Vec<T>, Error> {
    let mut held = Vec::new();
    held.try_reserve_exact(count).map_err(|_| refused(count.saturating_mul(size_of::<T>())))?;
    Ok(held)
}

/// The error if the system refuses `bytes` bytes.
pub(crate) fn refused(bytes: usize) -> Error {
    let hint = "sort in parts, or free some memory";
    Error::Memory { bound: Bound::Host, needed: bytes as u64, available: 0, hint }
}

impl<T> Scratch<T> {
    /// Allocates memory for `len` items, or returns an error that says how much was needed.
    pub(crate) fn new(len: usize) -> Result<Self, Error> {
        // A caller's items of size zero may be more than there are addresses.
        let bytes = len.saturating_mul(size_of::<T>());
        if align_of::<T>() <= PAGE_BYTES
            && let Some(map) = map(bytes)?
        {
            return Ok(Scratch { memory: Memory::Map(map), len });
        }
        let mut heap = reserve(len)?;
        // SAFETY: there is room for as many items, which may be uninitialised.
        unsafe { heap.set_len(len) };
        Ok(Scratch { memory: Memory::Heap(heap), len })
    }
}

/// A mapping of this many bytes, if scratch of this size is mapped rather than allocated.
fn map(bytes: usize) -> Result<Option<MmapMut>, Error> {
    if isize::try_from(bytes).is_err() {
        return Err(refused(bytes));
    }
    if bytes < MAP_SCRATCH_FROM_BYTES || cfg!(miri) {
        return Ok(None);
    }
    let map = MmapOptions::new().len(bytes).map_anon().map_err(|_| refused(bytes))?;
    // Only advice: without huge pages the sort is slower, not wrong.
    #[cfg(target_os = "linux")]
    let _ = map.advise(memmap2::Advice::HugePage);
    Ok(Some(map))
}

impl<T> Scratch<T> {
    /// The memory as items.
    ///
    /// # Safety
    /// All of it has been written, with valid items, or any bytes are valid items.
    pub(crate) unsafe fn written(&self) -> &[T] {
        // SAFETY: the caller guarantees it.
        unsafe { std::slice::from_raw_parts(self.as_ptr().cast(), self.len()) }
    }

    /// The memory as mutable items.
    ///
    /// # Safety
    /// As [`Scratch::written`].
    pub(crate) unsafe fn written_mut(&mut self) -> &mut [T] {
        // SAFETY: the caller guarantees it.
        unsafe { std::slice::from_raw_parts_mut(self.as_mut_ptr().cast(), self.len()) }
    }
}

/// The part of scratch that is aligned for items of another type, as memory for those.
pub(crate) fn room_for<T>(scratch: &mut [MaybeUninit<u64>]) -> &mut [MaybeUninit<T>] {
    // SAFETY: all of it may be uninitialised, so any bytes will do.
    unsafe { scratch.align_to_mut() }.1
}

#[cfg(feature = "gpu")]
impl<T: Sync> Scratch<T> {
    /// Frees the memory with all threads of the current rayon pool. One thread frees about 30 GB per second.
    pub(crate) fn free_in_parallel(self) {
        #[cfg(target_os = "linux")]
        if let Memory::Map(map) = &self.memory {
            let parts = (0..map.len()).step_by(FREED_BY_A_TASK_BYTES);
            parallel::for_each(rayon::current_num_threads(), parts, |start| {
                let len = FREED_BY_A_TASK_BYTES.min(map.len() - start);
                // SAFETY: nobody reads the contents, which are dropped with `self`. If it fails, that does no harm.
                let _ = unsafe { map.unchecked_advise_range(memmap2::UncheckedAdvice::DontNeed, start, len) };
            });
        }
        drop(self);
    }
}

#[cfg(feature = "gpu")]
impl<T: Pod> Scratch<T> {
    /// The memory as bytes to be written.
    pub(crate) fn bytes_mut(&mut self) -> &mut [MaybeUninit<u8>] {
        let (at, len) = (self.as_mut_ptr().cast(), size_of_val(&**self));
        // SAFETY: the same memory; any bytes are a valid item.
        unsafe { std::slice::from_raw_parts_mut(at, len) }
    }
}

impl<T> Deref for Scratch<T> {
    type Target = [MaybeUninit<T>];

    fn deref(&self) -> &Self::Target {
        match &self.memory {
            Memory::Heap(heap) => heap,
            // SAFETY: the mapping has room for `len` items, and their alignment is at most a page.
            Memory::Map(map) => unsafe { std::slice::from_raw_parts(map.as_ptr().cast(), self.len) },
        }
    }
}

impl<T> DerefMut for Scratch<T> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        match &mut self.memory {
            Memory::Heap(heap) => heap,
            // SAFETY: as above.
            Memory::Map(map) => unsafe { std::slice::from_raw_parts_mut(map.as_mut_ptr().cast(), self.len) },
        }
    }
}
