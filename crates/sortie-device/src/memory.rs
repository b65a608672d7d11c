//! Device memory, and host memory that a device accesses directly.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut, Range};
use std::ptr::NonNull;

use bytemuck::Pod;

use crate::{Device, Error, Stream};

impl Device {
    /// Allocates device memory for `len` elements with unspecified content.
    pub fn alloc<T: Pod>(&self, len: usize) -> Result<Buffer<T>, Error> {
        Buffer::new(self, len)
    }

    /// Allocates pinned host memory for `len` elements, all zero, which the device accesses directly.
    pub fn alloc_pinned<T: Pod>(&self, len: usize) -> Result<Pinned<T>, Error> {
        Pinned::new(self, len)
    }
}

/// Device memory, which is freed when the buffer is dropped and the work that uses it is done. Dropping a buffer of a
/// device waits for that work; dropping a buffer of a stream does not.
#[derive(Debug)]
pub struct Buffer<T> {
    owner: Owner,
    pub(crate) address: u64,
    len: usize,
    elements: PhantomData<T>,
}

/// What the memory was allocated from.
#[derive(Debug)]
enum Owner {
    Device(Device),
    Stream(Stream),
}

impl<T: Pod> Buffer<T> {
    pub(crate) fn new(device: &Device, len: usize) -> Result<Buffer<T>, Error> {
        Buffer::of(Owner::Device(device.clone()), device, len, |bytes| device.driver().alloc(bytes))
    }

    /// Allocates memory for work that is enqueued on the stream from now on.
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

    /// A view of the whole buffer.
    pub fn view(&self) -> View<'_, T> {
        View { address: self.address, len: self.len, owner: PhantomData }
    }

    /// A view of some elements. Panics if the range exceeds the buffer.
    pub fn range(&self, range: Range<usize>) -> View<'_, T> {
        self.view().range(range)
    }
}

impl<T> Buffer<T> {
    /// The number of elements.
    pub fn len(&self) -> usize {
        self.len
    }

    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The address in device memory. 0 if the buffer is empty.
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
            // SAFETY: from `alloc`; views do not outlive the buffer.
            Owner::Device(device) => unsafe { device.driver().free(self.address) },
            // SAFETY: from `take`; other work that uses it is done before, as the caller who made the buffer
            // guaranteed.
            Owner::Stream(stream) => unsafe { stream.give_back(self.address) },
        }
    }
}

/// Elements in device memory: a buffer, a part of one, or memory of the caller. A copy refers to the same memory.
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
    /// A view of memory that was not allocated here.
    ///
    /// # Safety
    ///
    /// There are `len` elements at `address`, aligned for `T`, in the memory of the device with which the view is used.
    /// They stay valid as long as the view lives, and until all work that was given the view is done.
    pub unsafe fn from_raw(address: u64, len: usize) -> View<'a, T> {
        View { address, len, owner: PhantomData }
    }

    /// The number of elements.
    pub fn len(self) -> usize {
        self.len
    }

    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The size in bytes.
    pub fn bytes(self) -> usize {
        self.len * size_of::<T>()
    }

    /// The address in device memory.
    pub fn address(self) -> u64 {
        self.address
    }

    /// A view of some elements. Panics if the range exceeds the view.
    pub fn range(self, range: Range<usize>) -> View<'a, T> {
        assert!(
            range.start <= range.end && range.end <= self.len,
            "range {range:?} of a view of {} elements",
            self.len
        );
        let address = self.address + (range.start * size_of::<T>()) as u64;
        View { address, len: range.len(), owner: PhantomData }
    }

    /// A view of the same memory as elements of another type. Panics if the size is not a multiple of theirs, or the
    /// address is not aligned for them.
    pub fn cast<U: Pod>(self) -> View<'a, U> {
        let (bytes, size) = (self.bytes(), size_of::<U>());
        assert!(
            size != 0 && bytes.is_multiple_of(size) && self.address.is_multiple_of(align_of::<U>() as u64),
            "{bytes} bytes at {:#x} cannot be elements of {size} bytes",
            self.address
        );
        View { address: self.address, len: bytes / size, owner: PhantomData }
    }
}

/// Pinned host memory. Copies to and from the device run at full speed, and while the host continues.
#[derive(Debug)]
pub struct Pinned<T> {
    device: Device,
    at: NonNull<T>,
    len: usize,
}

// SAFETY: it owns its elements as a `Vec` does, and any thread may use a device.
unsafe impl<T: Send> Send for Pinned<T> {}
// SAFETY: as above; a shared reference only gives shared references to the elements.
unsafe impl<T: Sync> Sync for Pinned<T> {}

impl<T: Pod> Pinned<T> {
    pub(crate) fn new(device: &Device, len: usize) -> Result<Pinned<T>, Error> {
        let device = device.clone();
        let too_large =
            || Error::OutOfPinned { needed: u64::MAX, reason: "more than the address space".into() };
        let bytes = size_of::<T>().checked_mul(len).ok_or_else(too_large)?;
        if bytes == 0 {
            return Ok(Pinned { device, at: NonNull::dangling(), len });
        }
        let at = device.driver().alloc_pinned(bytes)?;
        // SAFETY: `at` points to `bytes` bytes that we own.
        unsafe { at.write_bytes(0, bytes) };
        let at = NonNull::new(at.cast()).expect("a driver gives memory or an error");
        Ok(Pinned { device, at, len })
    }
}

impl<T> Deref for Pinned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `len` elements were zeroed when allocated, and any bits are a valid `T` (`Pod`, by the constructor).
        unsafe { std::slice::from_raw_parts(self.at.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for Pinned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as for `deref`; `self` is borrowed mutably.
        unsafe { std::slice::from_raw_parts_mut(self.at.as_ptr(), self.len) }
    }
}

impl<T> Drop for Pinned<T> {
    fn drop(&mut self) {
        if size_of::<T>() * self.len != 0 {
            // SAFETY: from `alloc_pinned`; callers who enqueued a copy without waiting promised to wait for it first.
            unsafe { self.device.driver().free_pinned(self.at.as_ptr().cast()) }
        }
    }
}
