//! Work that is captured once and launched as a whole, any number of times.

use crate::{Device, Error, Stream};

/// The work of several calls, captured by [`Stream::capture`].
#[derive(Debug)]
pub struct Graph {
    device: Device,
    raw: u64,
}

impl Stream {
    /// Captures what `work` enqueues on this stream. It does not run yet.
    ///
    /// `work` must not wait for a stream or an event, and must not copy to or from the host, except by functions that enqueue
    /// the copy. Its programs must be loaded: if a call loads them when it first needs them, make such a call before this one.
    /// Memory that `work` [allocates](Stream::alloc) belongs to the graph.
    ///
    /// # Errors
    /// The error of `work`; [`Error::Driver`] if it did something that cannot be captured, which may show only at the end.
    pub fn capture<E: From<Error>>(&self, work: impl FnOnce() -> Result<(), E>) -> Result<Graph, E> {
        let (device, stream) = (self.device(), self.raw());
        // SAFETY: the stream belongs to the device.
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
    /// Enqueues the work on a stream, which need not be the captured one. It begins when the last launch of this graph is done.
    ///
    /// # Safety
    ///
    /// - The stream belongs to the device on which the work was captured.
    /// - Everything that was promised to the calls when they were captured holds for this launch, until it is done: the memory
    ///   that they were given exists, and nothing else uses it.
    /// - Their kernels are loaded: the engine that made the calls is not dropped before.
    pub unsafe fn launch(&self, stream: &Stream) -> Result<(), Error> {
        // SAFETY: the caller guarantees it.
        unsafe { self.device.driver().launch_graph(self.raw, stream.raw()) }
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        // SAFETY: from `end_capture`, and not used any more.
        unsafe { self.device.driver().free_graph(self.raw) }
    }
}
