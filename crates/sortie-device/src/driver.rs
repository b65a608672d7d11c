//! What an implementation of a device supplies: the trait [`Driver`], and the plain types that cross it.

use std::any::Any;
use std::ffi::c_void;
use std::fmt::Debug;
use std::time::Duration;

use crate::Error;

/// Threads in a warp, on every device there is.
pub const WARP: u32 = 32;

/// One part in so many of a device's memory is kept at most of what streams free, for what they allocate next: to have 8 GB
/// anew takes 8 ms.
pub const KEPT_PART: u64 = 6;

/// What is known of a device before any work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Properties {
    /// As its maker calls it: `NVIDIA H200`.
    pub name: String,
    /// `cuda`, or `simulated`.
    pub kind: &'static str,
    /// Its number among the devices of its kind, as in `--engine cuda:1`.
    pub ordinal: u32,
    /// Tells this very device from all others, on other machines too; what is measured is kept under it.
    pub id: String,
    /// Major and minor.
    pub compute_capability: (u32, u32),
    pub multiprocessors: u32,
    /// Bytes of shared memory that one block can ask for.
    pub shared_per_block: usize,
    /// Bytes.
    pub memory_total: u64,
    /// Bytes of level 2 cache.
    pub l2_bytes: u64,
}

/// The shape of a launch: one-dimensional.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Launch {
    pub blocks: u32,
    /// Threads in a block.
    pub threads: u32,
    /// Bytes of dynamic shared memory in a block.
    pub shared: usize,
}

/// One translation unit to compile: a kernel instantiation.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Program {
    /// For errors and listings, and what the source is called in the compiler's messages.
    pub name: String,
    pub source: &'static str,
    /// What the source can `#include`: name and text.
    pub headers: &'static [(&'static str, &'static str)],
    /// Macros: name and value.
    pub defines: Vec<(String, String)>,
    /// Whether each of its kernels waits for the work before it by `griddepcontrol.wait`, before it touches memory. Then a device
    /// may start it while that work ends, which hides most of what a launch takes.
    pub overlaps: bool,
}

/// A device with raw handles: addresses in its memory, streams, events, modules and functions are numbers.
///
/// Work is put on streams and runs in order there; nothing is ordered between streams but through events. A call can
/// be made from any thread. An error may come late, from a call after the one whose work failed.
///
/// # Safety
///
/// Memory handed out is as large as was asked for, aligned to 256 bytes, and stays valid until it is freed. The
/// functions that enqueue touch nothing but the memory they are given.
pub unsafe trait Driver: Any + Send + Sync + Debug {
    fn properties(&self) -> &Properties;

    /// How long the process waited for the driver and the device to start. Starts it where nothing has so far.
    fn start(&self) -> Result<Duration, Error>;

    /// Bytes of device memory that could be allocated now, with those that are kept from what streams have freed.
    fn free_memory(&self) -> Result<u64, Error>;

    /// Device memory of more than 0 bytes, its content unspecified. Where there is too little, what is kept is given back
    /// first; so for [`alloc_on`](Driver::alloc_on).
    fn alloc(&self, bytes: usize) -> Result<u64, Error>;

    /// Frees device memory once the work that uses it is done.
    ///
    /// # Safety
    ///
    /// `address` is from [`alloc`](Driver::alloc), and used no more.
    unsafe fn free(&self, address: u64);

    /// Device memory of more than 0 bytes for what is put on the stream from now on, its content unspecified. Waits for
    /// nothing, unless there is too little.
    ///
    /// # Safety
    ///
    /// The stream is of this device.
    unsafe fn alloc_on(&self, bytes: usize, stream: u64) -> Result<u64, Error>;

    /// Frees such memory once what is on the stream now is done, and does not wait. Up to a [`KEPT_PART`]th of the device's
    /// memory is kept for later. A device that cannot do so waits for its work, and keeps nothing.
    ///
    /// # Safety
    ///
    /// `address` is from [`alloc_on`](Driver::alloc_on), for a stream of this device, and used by no other work than what is
    /// done before.
    unsafe fn free_on(&self, address: u64, stream: u64);

    /// Host memory of more than 0 bytes that the device reads and writes directly, its content unspecified; fast to
    /// read for the host too.
    fn alloc_pinned(&self, bytes: usize) -> Result<*mut u8, Error>;

    /// # Safety
    ///
    /// `at` is from [`alloc_pinned`](Driver::alloc_pinned), and neither used any more nor by work under way.
    unsafe fn free_pinned(&self, at: *mut u8);

    /// A stream that runs beside all others.
    fn stream(&self) -> Result<u64, Error>;

    /// Work under way goes on.
    ///
    /// # Safety
    ///
    /// `stream` is from [`stream`](Driver::stream), and used no more.
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
    /// `event` is from [`event`](Driver::event), and used no more.
    unsafe fn free_event(&self, event: u64);

    /// The event happens when the work that is on the stream now is done.
    ///
    /// # Safety
    ///
    /// Both are of this device.
    unsafe fn record(&self, event: u64, stream: u64) -> Result<(), Error>;

    /// What is enqueued on the stream from now on waits for the event.
    ///
    /// # Safety
    ///
    /// The stream is of this device, the event of this one or another of the same kind.
    unsafe fn stream_waits(&self, stream: u64, event: u64) -> Result<(), Error>;

    /// Blocks the host until the event has happened.
    ///
    /// # Safety
    ///
    /// `event` is of this device.
    unsafe fn wait_event(&self, event: u64) -> Result<(), Error>;

    /// Milliseconds between two events that have happened.
    ///
    /// # Safety
    ///
    /// Both are of this device.
    unsafe fn elapsed_ms(&self, from: u64, to: u64) -> Result<f32, Error>;

    /// Host to device, on a stream.
    ///
    /// # Safety
    ///
    /// Both ranges are valid, and the host's is left as it is, until the copy is done.
    unsafe fn copy_in(&self, to: u64, from: *const u8, bytes: usize, stream: u64) -> Result<(), Error>;

    /// Device to host, on a stream.
    ///
    /// # Safety
    ///
    /// Both ranges are valid, and nobody touches the host's, until the copy is done.
    unsafe fn copy_out(&self, to: *mut u8, from: u64, bytes: usize, stream: u64) -> Result<(), Error>;

    /// Device to device, on a stream.
    ///
    /// # Safety
    ///
    /// Both ranges are valid and do not overlap.
    unsafe fn copy_within(&self, to: u64, from: u64, bytes: usize, stream: u64) -> Result<(), Error>;

    /// Whether copies from another device come straight, over a link of the two; else they go through the host.
    fn is_linked_to(&self, other: &dyn Driver) -> Result<bool, Error>;

    /// From another device of the same kind to this one, on a stream of this one.
    ///
    /// # Safety
    ///
    /// Both ranges are valid, until the copy is done: `from` is the other's.
    unsafe fn copy_from_peer(
        &self,
        to: u64,
        other: &dyn Driver,
        from: u64,
        bytes: usize,
        stream: u64,
    ) -> Result<(), Error>;

    /// Sets every byte, on a stream.
    ///
    /// # Safety
    ///
    /// The range is valid.
    unsafe fn fill(&self, to: u64, byte: u8, bytes: usize, stream: u64) -> Result<(), Error>;

    /// What is put on the stream from now on is captured into a graph and does not run. The work that waits, or is read
    /// back, cannot be; what a thread does meanwhile on other streams is not captured.
    ///
    /// # Safety
    ///
    /// The stream is of this device.
    unsafe fn begin_capture(&self, stream: u64) -> Result<(), Error>;

    /// The graph of what was captured. The stream runs its work again, whether or not there is one.
    ///
    /// # Safety
    ///
    /// As for [`begin_capture`](Driver::begin_capture), by the same thread.
    unsafe fn end_capture(&self, stream: u64) -> Result<u64, Error>;

    /// Puts all work of a graph on a stream. It begins when the graph's last launch is done.
    ///
    /// # Safety
    ///
    /// `graph` is from [`end_capture`](Driver::end_capture); what the captured calls were promised holds again.
    unsafe fn launch_graph(&self, graph: u64, stream: u64) -> Result<(), Error>;

    /// Work under way goes on.
    ///
    /// # Safety
    ///
    /// `graph` is from [`end_capture`](Driver::end_capture), and used no more.
    unsafe fn free_graph(&self, graph: u64);

    /// A module: the program, compiled for this device or found where it was kept when it was compiled before.
    fn load(&self, program: &Program) -> Result<u64, Error>;

    /// Waits for its functions that are running.
    ///
    /// # Safety
    ///
    /// `module` is from [`load`](Driver::load); its functions are used no more.
    unsafe fn unload(&self, module: u64);

    /// The kernel of that name. It belongs to its module.
    ///
    /// # Safety
    ///
    /// `module` is from [`load`](Driver::load).
    unsafe fn function(&self, module: u64, name: &str) -> Result<u64, Error>;

    /// Enqueues a kernel. `arguments` point to the values, laid out as C lays them out; they are read before the call
    /// returns. `overlaps` is what the [`Program`] says.
    ///
    /// # Safety
    ///
    /// `function` is from [`function`](Driver::function); the arguments are what the kernel takes, and lead it to
    /// no memory but what is valid until it is done.
    unsafe fn launch(
        &self,
        function: u64,
        launch: &Launch,
        overlaps: bool,
        arguments: &[*const c_void],
        stream: u64,
    ) -> Result<(), Error>;
}

/// The other device as one of this kind.
pub fn peer<D: Driver>(other: &dyn Driver) -> Result<&D, Error> {
    let any: &dyn Any = other;
    any.downcast_ref().ok_or_else(|| {
        let name = &other.properties().name;
        Error::NoDevice { reason: format!("{name} is of another kind: nothing is copied from there") }
    })
}
