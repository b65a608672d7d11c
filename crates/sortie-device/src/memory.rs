//! Memory of a device, and the host's memory that a device reads and writes directly.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;

use bytemuck::Pod;

use crate::{Device, Error, Stream};

/// Device memory, freed when dropped, once the work that uses it is done: of a device, which waits for that, or of a stream,
/// which does not.
#[derive(Debug)]
pub struct Buffer<T> {
    owner: Owner,
    pub(crate) address: u64,
    len: usize,
    elements: PhantomData<T>,
}

/// Whose memory it is.
#[derive(Debug)]
enum Owner {
    Device(Device),
    Stream(Stream),
}

impl<T: Pod> Buffer<T> {
    pub(crate) fn new(device: &Device, len: usize) -> Result<Buffer<T>, Error> {
        Buffer::of(Owner::Device(device.clone()), device, len, |bytes| device.driver().alloc(bytes))
    }

    /// For what is enqueued on the stream from now on.
    pub(crate) fn on(stream: &Stream, len: usize) -> Result<Buffer<T>, Error> {
        Buffer::of(Owner::Stream(stream.clone()), stream.device(), len, |bytes| stream.take(bytes))
    }

    fn of(
        owner: Owner,
        device: &Device,
        len: usize,
        alloc: impl FnOnce(usize) -> Result<u64, Error>,
    ) -> Result<Buffer<T>, Error> {
        let bytes = match size_of::<T>().checked_mul(len) {
            Some(bytes) => bytes,
            None => return Err(Error::OutOfMemory { needed: u64::MAX, available: device.free_memory()? }),
        };
        let address = if bytes == 0 { 0 } else { alloc(bytes)? };
        Ok(Buffer { owner, address, len, elements: PhantomData })
    }

    /// The whole of it.
    pub fn view(&self) -> View<'_, T> {
        View { address: self.address, len: self.len, owner: PhantomData }
    }

    /// Some of the elements. Panics where the range leaves the buffer.
    pub fn range(&self, range: Range<usize>) -> View<'_, T> {
        self.view().range(range)
    }
}

impl<T> Buffer<T> {
    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// In the device's memory; 0 where it is empty.
    pub fn address(&self) -> u64 {
        self.address
    }
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        if self.address == 0 {
            return;
        }
        match &self.owner {
            // SAFETY: from `alloc`; views end before the buffer does.
            Owner::Device(device) => unsafe { device.driver().free(self.address) },
            // SAFETY: from `take`; what else uses it is done before, as who made the buffer promised.
            Owner::Stream(stream) => unsafe { stream.give_back(self.address) },
        }
    }
}

/// Elements in device memory: a buffer, a part of one, or what a caller has there. A copy is the same memory.
#[derive(Debug)]
pub struct View<'a, T> {
    pub(crate) address: u64,
    len: usize,
    owner: PhantomData<&'a Buffer<T>>,
}

impl<T> Clone for View<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for View<'_, T> {}

impl<'a, T: Pod> View<'a, T> {
    /// Memory that was not allocated here.
    ///
    /// # Safety
    ///
    /// `len` elements at `address`, aligned for `T`, are memory of the device that the view is used with, as long as
    /// the view lives and until work that was given the view is done.
    pub unsafe fn from_raw(address: u64, len: usize) -> View<'a, T> {
        View { address, len, owner: PhantomData }
    }

    /// Elements.
    pub fn len(self) -> usize {
        self.len
    }

    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// Bytes.
    pub fn bytes(self) -> usize {
        self.len * size_of::<T>()
    }

    /// In the device's memory.
    pub fn address(self) -> u64 {
        self.address
    }

    /// Some of the elements. Panics where the range leaves the view.
    pub fn range(self, range: Range<usize>) -> View<'a, T> {
        assert!(
            range.start <= range.end && range.end <= self.len,
            "range {range:?} of a view of {} elements",
            self.len
        );
        let address = self.address + (range.start * size_of::<T>()) as u64;
        View { address, len: range.len(), owner: PhantomData }
    }

    /// The same memory as elements of another type. Panics where they do not fill it or it is not aligned for them.
    pub fn cast<U: Pod>(self) -> View<'a, U> {
        let (bytes, size) = (self.bytes(), size_of::<U>());
        assert!(
            size != 0 && bytes.is_multiple_of(size) && self.address.is_multiple_of(align_of::<U>() as u64),
            "{bytes} bytes at {:#x} are no elements of {size} bytes",
            self.address
        );
        View { address: self.address, len: bytes / size, owner: PhantomData }
    }
}

/// Pinned host memory: a slice of the host that copies to and from the device at full speed, and meanwhile.
#[derive(Debug)]
pub struct Pinned<T> {
    device: Device,
    at: NonNull<T>,
    len: usize,
}

// SAFETY: it owns its elements as a `Vec` does, and a device takes calls from any thread.
unsafe impl<T: Send> Send for Pinned<T> {}
// SAFETY: as above; a shared reference gives shared references to the elements only.
unsafe impl<T: Sync> Sync for Pinned<T> {}

impl<T: Pod> Pinned<T> {
    pub(crate) fn new(device: &Device, len: usize) -> Result<Pinned<T>, Error> {
        let device = device.clone();
        let too_large =
            || Error::OutOfPinned { needed: u64::MAX, reason: "more than there are addresses".into() };
        let bytes = size_of::<T>().checked_mul(len).ok_or_else(too_large)?;
        if bytes == 0 {
            return Ok(Pinned { device, at: NonNull::dangling(), len });
        }
        let at = device.driver().alloc_pinned(bytes)?;
        // SAFETY: `at` is `bytes` long and ours.
        unsafe { at.write_bytes(0, bytes) };
        let at = NonNull::new(at.cast()).expect("a driver gives memory or an error");
        Ok(Pinned { device, at, len })
    }
}

impl<T> Deref for Pinned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `len` elements, zeroed when allocated, and any bits are a `T` (`Pod`, by the constructor).
        unsafe { std::slice::from_raw_parts(self.at.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for Pinned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `deref`, and `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.at.as_ptr(), self.len) }
    }
}

impl<T> Drop for Pinned<T> {
    fn drop(&mut self) {
        if size_of::<T>() * self.len != 0 {
            // SAFETY: from `alloc_pinned`; who enqueued a copy without waiting promised to wait for it first.
            unsafe { self.device.driver().free_pinned(self.at.as_ptr().cast()) }
        }
    }
}
