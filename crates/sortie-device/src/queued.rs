//! What a stream does with memory: allocations, copies and fills.

use bytemuck::Pod;

use crate::workspace::Workspace;
use crate::{Buffer, Device, Error, Stream, View};

impl Stream {
    /// The same queue of work, whose [allocations](Stream::alloc) use this memory and nothing else from the device.
    ///
    /// The part from the first multiple of [`WORKSPACE_ALIGNMENT`](crate::WORKSPACE_ALIGNMENT) on is used. Every allocation
    /// takes a multiple of it too, and returns it when it is dropped.
    ///
    /// # Safety
    ///
    /// The workspace is memory of the device. It exists, and nothing else uses it, until all work is done that was enqueued
    /// with the returned stream or a clone of it.
    #[must_use]
    pub unsafe fn with_workspace(&self, workspace: View<'_, u8>) -> Stream {
        self.in_workspace(Workspace::new(workspace.address(), workspace.len()))
    }

    /// Device memory for `len` elements with unspecified content, for work that is enqueued on this stream from now on.
    /// Neither allocating nor dropping it waits for the device. When it is dropped, its memory is free for work that comes
    /// after what is on the stream at that time.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`] if the device, or the [workspace](Stream::with_workspace), has too little.
    ///
    /// # Safety
    ///
    /// Work of other streams uses the memory only after the work that is on this stream now. It is done before the buffer is
    /// dropped, or work that is on this stream by then waits for it.
    pub unsafe fn alloc<T: Pod>(&self, len: usize) -> Result<Buffer<T>, Error> {
        Buffer::on(self, len)
    }

    /// Copies host to device, after the work that was enqueued before, and waits for the copy. Panics if the lengths differ.
    pub fn copy_in<T: Pod>(&self, to: View<'_, T>, from: &[T]) -> Result<(), Error> {
        // SAFETY: both are borrowed until `wait` returns.
        unsafe { self.enqueue_copy_in(to, from)? };
        self.wait()
    }

    /// Copies device to host, after the work that was enqueued before, and waits for the copy. Panics if the lengths differ.
    pub fn copy_out<T: Pod>(&self, to: &mut [T], from: View<'_, T>) -> Result<(), Error> {
        // SAFETY: both are borrowed until `wait` returns.
        unsafe { self.enqueue_copy_out(to, from)? };
        self.wait()
    }

    /// Copies host to device without waiting. From pinned memory, the host continues during the copy. Panics if the lengths
    /// differ.
    ///
    /// # Safety
    ///
    /// `from` is neither freed nor written until the copy is done.
    pub unsafe fn enqueue_copy_in<T: Pod>(&self, to: View<'_, T>, from: &[T]) -> Result<(), Error> {
        assert_eq!(to.len(), from.len(), "a copy between lengths that differ");
        if to.bytes() == 0 {
            return Ok(());
        }
        // SAFETY: the device's range is that of a view; the caller guarantees the host's.
        unsafe { self.device().driver().copy_in(to.address(), from.as_ptr().cast(), to.bytes(), self.raw()) }
    }

    /// Copies device to host without waiting. To pinned memory, the host continues during the copy. Panics if the lengths
    /// differ.
    ///
    /// # Safety
    ///
    /// `to` is neither freed, read nor written until the copy is done.
    pub unsafe fn enqueue_copy_out<T: Pod>(&self, to: &mut [T], from: View<'_, T>) -> Result<(), Error> {
        assert_eq!(to.len(), from.len(), "a copy between lengths that differ");
        if from.bytes() == 0 {
            return Ok(());
        }
        // SAFETY: the device's range is that of a view; the caller guarantees the host's.
        unsafe {
            self.device().driver().copy_out(to.as_mut_ptr().cast(), from.address(), from.bytes(), self.raw())
        }
    }

    /// Enqueues a copy on the device. Panics if the lengths differ or the two overlap.
    pub fn copy_within<T: Pod>(&self, to: View<'_, T>, from: View<'_, T>) -> Result<(), Error> {
        assert_eq!(to.len(), from.len(), "a copy between lengths that differ");
        let bytes = to.bytes();
        if bytes == 0 {
            return Ok(());
        }
        assert!(
            to.address().abs_diff(from.address()) >= bytes as u64,
            "a copy within the device that overlaps"
        );
        // SAFETY: both are views of this length, and do not overlap.
        unsafe { self.device().driver().copy_within(to.address(), from.address(), bytes, self.raw()) }
    }

    /// Enqueues a copy from another device of the same kind. Work that is enqueued on that device does not wait for it. Panics
    /// if the lengths differ.
    ///
    /// # Safety
    ///
    /// `from` is memory of `other`, and is neither freed nor written until the copy is done.
    pub unsafe fn copy_from_peer<T: Pod>(
        &self,
        to: View<'_, T>,
        other: &Device,
        from: View<'_, T>,
    ) -> Result<(), Error> {
        assert_eq!(to.len(), from.len(), "a copy between lengths that differ");
        if to.bytes() == 0 {
            return Ok(());
        }
        let (to, from, bytes) = (to.address(), from.address(), to.bytes());
        // SAFETY: both are views of this length; the caller guarantees the source.
        unsafe { self.device().driver().copy_from_peer(to, other.driver(), from, bytes, self.raw()) }
    }

    /// Enqueues setting every byte.
    pub fn fill<T: Pod>(&self, to: View<'_, T>, byte: u8) -> Result<(), Error> {
        if to.bytes() == 0 {
            return Ok(());
        }
        // SAFETY: the range is that of a view.
        unsafe { self.device().driver().fill(to.address(), byte, to.bytes(), self.raw()) }
    }
}
