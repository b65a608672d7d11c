//! Streams, on which work runs in order, and events, which order the work of several streams and measure time.

use std::sync::Arc;

use bytemuck::Pod;

use crate::workspace::Workspace;
use crate::{Buffer, Device, Error, View};

/// A queue of work. What is enqueued runs in order. Meanwhile the host continues, until it waits. A clone is the same queue.
#[derive(Debug, Clone)]
pub struct Stream {
    queue: Arc<Queue>,
    /// The workspace from which memory is allocated, if it is not the device.
    workspace: Option<Arc<Workspace>>,
}

#[derive(Debug)]
struct Queue {
    device: Device,
    raw: u64,
    owned: bool,
}

impl Stream {
    pub(crate) fn new(device: &Device) -> Result<Stream, Error> {
        Ok(Stream::of(Queue { device: device.clone(), raw: device.driver().stream()?, owned: true }))
    }

    /// A caller's own stream, which is not freed when this is dropped. 0 is the default stream.
    ///
    /// # Safety
    ///
    /// `raw` is a stream of the device, and outlives this `Stream`, its clones, and what was [allocated](Stream::alloc) from
    /// them.
    pub unsafe fn borrowed(device: &Device, raw: u64) -> Stream {
        Stream::of(Queue { device: device.clone(), raw, owned: false })
    }

    fn of(queue: Queue) -> Stream {
        Stream { queue: Arc::new(queue), workspace: None }
    }

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
        let workspace = Workspace::new(workspace.address(), workspace.len());
        Stream { queue: self.queue.clone(), workspace: Some(Arc::new(workspace)) }
    }

    /// Bytes of the workspace that are used, if memory comes from one.
    pub fn workspace_bytes(&self) -> Option<usize> {
        self.workspace.as_ref().map(|workspace| workspace.bytes())
    }

    pub fn device(&self) -> &Device {
        &self.queue.device
    }

    pub fn raw(&self) -> u64 {
        self.queue.raw
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

    /// The memory of a buffer, of more than 0 bytes.
    pub(crate) fn take(&self, bytes: usize) -> Result<u64, Error> {
        match &self.workspace {
            Some(workspace) => workspace.take(bytes),
            // SAFETY: the stream belongs to the device.
            None => unsafe { self.device().driver().alloc_on(bytes, self.raw()) },
        }
    }

    /// # Safety
    /// `address` is from [`Stream::take`], and only work that is done earlier uses it.
    pub(crate) unsafe fn give_back(&self, address: u64) {
        match &self.workspace {
            Some(workspace) => workspace.give_back(address),
            // SAFETY: the caller guarantees it.
            None => unsafe { self.device().driver().free_on(address, self.raw()) },
        }
    }

    /// Blocks until all that was enqueued is done.
    pub fn wait(&self) -> Result<(), Error> {
        // SAFETY: the stream belongs to the device.
        unsafe { self.device().driver().wait_stream(self.raw()) }
    }

    /// The event happens once all work that was enqueued before is done.
    ///
    /// # Errors
    /// [`Error::ForeignEvent`] for an event of another device.
    pub fn record(&self, event: &Event) -> Result<(), Error> {
        event.must_be(self.device().is(&event.device), self.device())?;
        // SAFETY: the stream and the event belong to the device.
        unsafe { self.device().driver().record(event.raw, self.raw()) }
    }

    /// Work that is enqueued from now on waits for the event, which may belong to another device of the same kind.
    ///
    /// # Errors
    /// [`Error::ForeignEvent`] for an event of a device of another kind.
    pub fn wait_for(&self, event: &Event) -> Result<(), Error> {
        event.must_be(self.device().is_like(&event.device), self.device())?;
        // SAFETY: the stream belongs to the device, and the event to one of the same kind.
        unsafe { self.device().driver().stream_waits(self.raw(), event.raw) }
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

impl Drop for Queue {
    fn drop(&mut self) {
        if self.owned {
            // SAFETY: from `stream`, and not used any more.
            unsafe { self.device.driver().free_stream(self.raw) }
        }
    }
}

/// A point in the work of a stream. The event has happened when all work before it is done.
#[derive(Debug)]
pub struct Event {
    device: Device,
    raw: u64,
}

impl Event {
    pub(crate) fn new(device: &Device) -> Result<Event, Error> {
        Ok(Event { device: device.clone(), raw: device.driver().event()? })
    }

    /// Blocks until the event has happened.
    pub fn wait(&self) -> Result<(), Error> {
        // SAFETY: the event belongs to the device.
        unsafe { self.device.driver().wait_event(self.raw) }
    }

    /// Milliseconds since `earlier`. Both were recorded and have happened.
    ///
    /// # Errors
    /// [`Error::ForeignEvent`] if they belong to two devices.
    pub fn milliseconds_since(&self, earlier: &Event) -> Result<f32, Error> {
        earlier.must_be(self.device.is(&earlier.device), &self.device)?;
        // SAFETY: both events belong to the device.
        unsafe { self.device.driver().elapsed_ms(earlier.raw, self.raw) }
    }

    /// Returns an error if the device cannot use this event.
    fn must_be(&self, usable: bool, device: &Device) -> Result<(), Error> {
        let name = |device: &Device| {
            let properties = device.properties();
            format!("{}:{} ({})", properties.kind, properties.ordinal, properties.name)
        };
        if usable {
            return Ok(());
        }
        Err(Error::ForeignEvent { event_of: name(&self.device), device: name(device) })
    }
}

impl Drop for Event {
    fn drop(&mut self) {
        // SAFETY: from `event`, and not used any more.
        unsafe { self.device.driver().free_event(self.raw) }
    }
}
