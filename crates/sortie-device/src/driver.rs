//! What an implementation of a device must provide: the trait [`Driver`], and the plain types in its interface.

use std::any::Any;
use std::ffi::c_void;
use std::fmt::Debug;
use std::time::Duration;

use crate::Error;

/// The number of threads in a warp, on all devices.
pub const WARP: u32 = 32;

/// A device keeps at most one part in this many of its memory when streams free it, for their next allocations.
/// Allocating 8 GB again would take 8 ms.
pub const KEPT_PART: u64 = 6;

/// The properties of a device that are known before any work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Properties {
    /// The product name, such as `NVIDIA H200`.
    pub name: String,
    /// `cuda`, or `simulated`.
    pub kind: &'static str,
    /// The number of the device among those of its kind, as in `--engine cuda:1`.
    pub ordinal: u32,
    /// Identifies this device among all devices, also those of other machines. Measured rates are cached under it.
    pub id: String,
    /// The major and minor version.
    pub compute_capability: (u32, u32),
    pub multiprocessors: u32,
    /// The maximum shared memory of a block in bytes.
    pub shared_per_block: usize,
    /// The device memory in bytes.
    pub memory_total: u64,
    /// The size of the level 2 cache in bytes.
    pub l2_bytes: u64,
}

/// The shape of a launch, which is one-dimensional.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launch {
    pub blocks: u32,
    /// The threads in a block.
    pub threads: u32,
    /// The dynamic shared memory of a block in bytes.
    pub shared: usize,
}

/// One translation unit to compile: a kernel instantiation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Program {
    /// The name of the source in error messages, listings, and the compiler's messages.
    pub name: String,
    pub source: &'static str,
    /// The headers that the source can `#include`: name and text.
    pub headers: &'static [(&'static str, &'static str)],
    /// The macros: name and value.
    pub defines: Vec<(String, String)>,
    /// Whether each kernel calls `griddepcontrol.wait` before it accesses memory, which waits for the preceding work.
    /// Then a device may start the kernel while that work ends, which hides most of the launch time.
    pub overlaps: bool,
}

/// A device with raw handles: addresses in its memory, streams, events, modules and functions are numbers.
///
/// Work on a stream runs in order. Between streams, only events order the work. Any thread may make any call. An error
/// may be reported late, by a call after the one whose work failed.
///
/// # Safety
///
/// Allocated memory has the requested size, is aligned to 256 bytes, and stays valid until it is freed. The functions
/// that enqueue work access only the memory that they are given.
pub unsafe trait Driver: Any + Send + Sync + Debug {
    fn properties(&self) -> &Properties;

    /// How long the process waited for the driver and the device to start. Starts the device if nothing has done so.
    fn start(&self) -> Result<Duration, Error>;

    /// The bytes of device memory that can be allocated now, including memory that streams have freed and the device
    /// keeps.
    fn free_memory(&self) -> Result<u64, Error>;

    /// Allocates device memory of more than 0 bytes with unspecified content. If there is too little, memory that the
    /// device keeps is released first. The same holds for [`alloc_on`](Driver::alloc_on).
    fn alloc(&self, bytes: usize) -> Result<u64, Error>;

    /// Frees device memory once the work that uses it is done.
    ///
    /// # Safety
    ///
    /// `address` is from [`alloc`](Driver::alloc), and is not used any more.
    unsafe fn free(&self, address: u64);

    /// Allocates device memory of more than 0 bytes, with unspecified content, for work that is enqueued on the stream
    /// from now on. Does not wait, unless there is too little memory.
    ///
    /// # Safety
    ///
    /// The stream belongs to this device.
    unsafe fn alloc_on(&self, bytes: usize, stream: u64) -> Result<u64, Error>;

    /// Frees such memory once all work that is on the stream now is done. Does not wait. Up to 1/[`KEPT_PART`] of the
    /// device's memory is kept for later allocations. A device that cannot do this waits for its work, and keeps
    /// nothing.
    ///
    /// # Safety
    ///
    /// `address` is from [`alloc_on`](Driver::alloc_on) for a stream of this device. Only work that is done before uses
    /// it.
    unsafe fn free_on(&self, address: u64, stream: u64);

    /// Allocates pinned host memory of more than 0 bytes, with unspecified content, which the device accesses directly.
    /// The host also reads it fast.
    fn alloc_pinned(&self, bytes: usize) -> Result<*mut u8, Error>;

    /// # Safety
    ///
    /// `at` is from [`alloc_pinned`](Driver::alloc_pinned). Neither the host nor unfinished work uses it any more.
    unsafe fn free_pinned(&self, at: *mut u8);

    /// A stream that runs concurrently with all others.
    fn stream(&self) -> Result<u64, Error>;

    /// Unfinished work continues.
    ///
    /// # Safety
    ///
    /// `stream` is from [`stream`](Driver::stream), and is not used any more.
    unsafe fn free_stream(&self, stream: u64);

    /// Blocks the host until all work on the stream is done.
    ///
    /// # Safety
    ///
    /// `stream` is a stream of this device.
    unsafe fn wait_stream(&self, stream: u64) -> Result<(), Error>;

    fn event(&self) -> Result<u64, Error>;

    /// # Safety
    ///
    /// `event` is from [`event`](Driver::event), and is not used any more.
    unsafe fn free_event(&self, event: u64);

    /// Records the event, which happens when all work that is on the stream now is done.
    ///
    /// # Safety
    ///
    /// Both belong to this device.
    unsafe fn record(&self, event: u64, stream: u64) -> Result<(), Error>;

    /// Work that is enqueued on the stream from now on waits for the event.
    ///
    /// # Safety
    ///
    /// The stream belongs to this device, and the event to this one or another of the same kind.
    unsafe fn stream_waits(&self, stream: u64, event: u64) -> Result<(), Error>;

    /// Blocks the host until the event has happened.
    ///
    /// # Safety
    ///
    /// `event` belongs to this device.
    unsafe fn wait_event(&self, event: u64) -> Result<(), Error>;

    /// Milliseconds between two events that have happened.
    ///
    /// # Safety
    ///
    /// Both belong to this device.
    unsafe fn elapsed_ms(&self, from: u64, to: u64) -> Result<f32, Error>;

    /// Enqueues a copy from host to device.
    ///
    /// # Safety
    ///
    /// Both ranges stay valid until the copy is done, and the host's range is not changed.
    unsafe fn copy_in(&self, to: u64, from: *const u8, bytes: usize, stream: u64) -> Result<(), Error>;

    /// Enqueues a copy from device to host.
    ///
    /// # Safety
    ///
    /// Both ranges stay valid until the copy is done, and nothing else accesses the host's range.
    unsafe fn copy_out(&self, to: *mut u8, from: u64, bytes: usize, stream: u64) -> Result<(), Error>;

    /// Enqueues a copy within the device.
    ///
    /// # Safety
    ///
    /// Both ranges are valid and do not overlap.
    unsafe fn copy_within(&self, to: u64, from: u64, bytes: usize, stream: u64) -> Result<(), Error>;

    /// Whether copies from another device go directly over a link between the two. Otherwise they go through the host.
    fn is_linked_to(&self, other: &dyn Driver) -> Result<bool, Error>;

    /// Enqueues a copy from another device of the same kind to this one, on a stream of this one.
    ///
    /// # Safety
    ///
    /// `from` is memory of the other device. Both ranges stay valid until the copy is done.
    unsafe fn copy_from_peer(
        &self,
        to: u64,
        other: &dyn Driver,
        from: u64,
        bytes: usize,
        stream: u64,
    ) -> Result<(), Error>;

    /// Enqueues setting every byte of a range.
    ///
    /// # Safety
    ///
    /// The range is valid.
    unsafe fn fill(&self, to: u64, byte: u8, bytes: usize, stream: u64) -> Result<(), Error>;

    /// Captures what is enqueued on the stream from now on into a graph, instead of running it. Work that waits or is
    /// read back cannot be captured. What a thread does meanwhile on other streams is not captured.
    ///
    /// # Safety
    ///
    /// The stream belongs to this device.
    unsafe fn begin_capture(&self, stream: u64) -> Result<(), Error>;

    /// Ends the capture and returns the graph. Even if this fails, the stream runs its work again.
    ///
    /// # Safety
    ///
    /// As for [`begin_capture`](Driver::begin_capture), and called by the same thread.
    unsafe fn end_capture(&self, stream: u64) -> Result<u64, Error>;

    /// Enqueues all work of a graph on a stream. It begins when the last launch of the graph is done.
    ///
    /// # Safety
    ///
    /// `graph` is from [`end_capture`](Driver::end_capture). The guarantees that the captured calls needed hold again.
    unsafe fn launch_graph(&self, graph: u64, stream: u64) -> Result<(), Error>;

    /// Unfinished work continues.
    ///
    /// # Safety
    ///
    /// `graph` is from [`end_capture`](Driver::end_capture), and is not used any more.
    unsafe fn free_graph(&self, graph: u64);

    /// Compiles a program for this device, or loads it from the cache, and returns the module.
    fn load(&self, program: &Program) -> Result<u64, Error>;

    /// Waits for running kernels of the module.
    ///
    /// # Safety
    ///
    /// `module` is from [`load`](Driver::load), and its functions are not used any more.
    unsafe fn unload(&self, module: u64);

    /// The kernel with this name. It belongs to its module.
    ///
    /// # Safety
    ///
    /// `module` is from [`load`](Driver::load).
    unsafe fn function(&self, module: u64, name: &str) -> Result<u64, Error>;

    /// Enqueues a kernel. `arguments` point to the values in C layout, which are read before the call returns.
    /// `overlaps` is that of the [`Program`].
    ///
    /// # Safety
    ///
    /// `function` is from [`function`](Driver::function). The arguments are those that the kernel takes. All memory to
    /// which they lead is valid until the kernel is done.
    unsafe fn launch(
        &self,
        function: u64,
        launch: &Launch,
        overlaps: bool,
        arguments: &[*const c_void],
        stream: u64,
    ) -> Result<(), Error>;
}

/// The other device, as one of this kind.
pub fn peer<D: Driver>(other: &dyn Driver) -> Result<&D, Error> {
    let any: &dyn Any = other;
    any.downcast_ref().ok_or_else(|| {
        let name = &other.properties().name;
        Error::NoDevice {
            reason: format!("{name} is a device of another kind; copies from it are not supported"),
        }
    })
}
