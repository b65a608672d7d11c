//! Work that is captured once and launched as a whole, time and again.

use crate::{Device, Error, Stream};

/// The work of several calls, captured by [`Stream::capture`].
#[derive(Debug)]
pub struct Graph {
    device: Device,
    raw: u64,
}

impl Stream {
    /// Captures what `work` enqueues on this stream, which does not run then.
    ///
    /// `work` waits for nothing, neither for a stream nor for an event, and copies nothing to the host or from it but by what
    /// enqueues the copy. Programs are loaded before: where a call loads them when it first needs them, make such a call
    /// before this one. Memory that it [allocates](Stream::alloc) belongs to the graph.
    ///
    /// # Errors
    /// That of `work`; [`Error::Driver`] if it did what cannot be captured, which may show only at the end.
    pub fn capture<E: From<Error>>(&self, work: impl FnOnce() -> Result<(), E>) -> Result<Graph, E> {
        let (device, stream) = (self.device(), self.raw());
        // SAFETY: the stream is the device's.
        unsafe { device.driver().begin_capture(stream)? };
        let worked = work();
        // SAFETY: as above; this thread began it.
        let captured = unsafe { device.driver().end_capture(stream) };
        // The first error is the cause of the second.
        let graph = captured.map(|raw| Graph { device: device.clone(), raw });
        worked?;
        Ok(graph?)
    }
}

impl Graph {
    /// Enqueues the work on a stream, this or another. It begins when the last launch of this graph is done.
    ///
    /// # Safety
    ///
    /// - The stream is of the device on which the work was captured.
    /// - All that the calls were promised when they were captured holds for this launch, until it is done: the memory that
    ///   they were given is there, and nothing else uses it.
    /// - Their kernels are loaded: the engine that made the calls is not dropped before.
    pub unsafe fn launch(&self, stream: &Stream) -> Result<(), Error> {
        // SAFETY: as the caller states.
        unsafe { self.device.driver().launch_graph(self.raw, stream.raw()) }
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: from `end_capture`, and nobody has it any more.
        unsafe { self.device.driver().free_graph(self.raw) }
    }
}
