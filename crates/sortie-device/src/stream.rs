//! Streams, on which work runs in order, and events, which order the work of several streams and measure time.

use std::sync::Arc;

use crate::workspace::Workspace;
use crate::{Device, Error};

impl Device {
    /// A stream that runs concurrently with all others, including CUDA's default stream.
    pub fn stream(&self) -> Result<Stream, Error> {
        Stream::new(self)
    }

    pub fn event(&self) -> Result<Event, Error> {
        Event::new(self)
    }
}

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

    /// The same queue of work, whose memory is from this workspace.
    pub(crate) fn in_workspace(&self, workspace: Workspace) -> Stream {
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
