//! [`Driver`] for a CUDA device, by the driver API.

use std::ffi::{CString, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::OnceLock;
use std::time::Duration;

use cudarc::driver::sys::{self, CUresult};

use super::compiled;
use super::context::{Context, CudaDriver};
use super::pool::Pool;
use crate::cache::Cache;
use crate::{Driver, Error, Launch, Program, Properties, peer};

impl CudaDriver {
    /// Whether kernels may start before the preceding work has ended, also in a captured graph.
    fn can_overlap(&self) -> Result<bool, Error> {
        Ok(self.properties.compute_capability >= (9, 0) && super::start()?.version >= (12, 3))
    }

    /// Lets a kernel use all shared memory that a block can have. The default is 48 KiB.
    fn allow_shared(&self, function: sys::CUfunction) -> Result<(), Error> {
        let mut fixed = 0;
        let (size, limit) = (
            sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
            sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        );
        // SAFETY: the function is from a loaded module.
        self.call("cuFuncGetAttribute", || unsafe { sys::cuFuncGetAttribute(&mut fixed, size, function) })?;
        let left = self.properties.shared_per_block as i32 - fixed;
        // SAFETY: as above.
        self.call("cuFuncSetAttribute", || unsafe { sys::cuFuncSetAttribute(function, limit, left) })
    }
}

impl Drop for CudaDriver {
    fn drop(&mut self) {
        if self.context.get().is_some() {
            // SAFETY: retained once.
            unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
        }
    }
}

/// The first version of the call, which every driver has. The bindings only have the version of 12.8.
type ElapsedTime = unsafe extern "C" fn(*mut f32, sys::CUevent, sys::CUevent) -> CUresult;

fn elapsed_time() -> ElapsedTime {
    static CALL: OnceLock<ElapsedTime> = OnceLock::new();
    // SAFETY: the library is loaded, and the call has this type.
    let find =
        || unsafe { *sys::culib().get::<ElapsedTime>(b"cuEventElapsedTime\0").expect("every driver has it") };
    *CALL.get_or_init(find)
}

// SAFETY: the driver aligns memory to at least 256 bytes, and only does what it is told with it.
unsafe impl Driver for CudaDriver {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn start(&self) -> Result<Duration, Error> {
        Ok(super::start()?.took + self.context()?.took)
    }

    fn free_memory(&self) -> Result<u64, Error> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: the call writes both numbers.
        self.call("cuMemGetInfo", || unsafe { sys::cuMemGetInfo_v2(&mut free, &mut total) })?;
        Ok(free as u64 + self.context()?.pool.map_or(Ok(0), Pool::unused)?)
    }

    fn alloc(&self, bytes: usize) -> Result<u64, Error> {
        // SAFETY: the call writes the address.
        self.alloc_by("cuMemAlloc", bytes, |address| unsafe { sys::cuMemAlloc_v2(address, bytes) })
    }

    unsafe fn free(&self, address: u64) {
        // Waits for the work of the device. An error is ignored, because it comes from earlier work.
        // SAFETY: the caller guarantees it.
        let _ = self.call("cuMemFree", || unsafe { sys::cuMemFree_v2(address) });
    }

    unsafe fn alloc_on(&self, bytes: usize, stream: u64) -> Result<u64, Error> {
        if self.context()?.pool.is_none() {
            return self.alloc(bytes);
        }
        // SAFETY: the call writes the address; the caller guarantees the stream.
        self.alloc_by("cuMemAllocAsync", bytes, |address| unsafe {
            sys::cuMemAllocAsync(address, bytes, stream as sys::CUstream)
        })
    }

    unsafe fn free_on(&self, address: u64, stream: u64) {
        let Ok(Context { pool: Some(_), .. }) = self.context() else {
            // SAFETY: the caller guarantees it.
            return unsafe { self.free(address) };
        };
        // An error is ignored, because it comes from earlier work.
        // SAFETY: the caller guarantees it.
        let _ =
            self.call("cuMemFreeAsync", || unsafe { sys::cuMemFreeAsync(address, stream as sys::CUstream) });
    }

    fn alloc_pinned(&self, bytes: usize) -> Result<*mut u8, Error> {
        let mut at = ptr::null_mut();
        // SAFETY: the call writes the pointer. Portable means pinned for all devices.
        self.call("cuMemHostAlloc", || unsafe {
            sys::cuMemHostAlloc(&mut at, bytes, sys::CU_MEMHOSTALLOC_PORTABLE)
        })
        .map_err(|error| match error {
            Error::Driver { message, .. } => Error::OutOfPinned { needed: bytes as u64, reason: message },
            other => other,
        })?;
        Ok(at.cast())
    }

    unsafe fn free_pinned(&self, at: *mut u8) {
        // SAFETY: the caller guarantees it.
        let _ = self.call("cuMemFreeHost", || unsafe { sys::cuMemFreeHost(at.cast()) });
    }

    fn stream(&self) -> Result<u64, Error> {
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        let mut stream = ptr::null_mut();
        // SAFETY: the call writes the handle.
        self.call("cuStreamCreate", || unsafe { sys::cuStreamCreate(&mut stream, flags) })?;
        Ok(stream as u64)
    }

    unsafe fn free_stream(&self, stream: u64) {
        // SAFETY: the caller guarantees it.
        let _ = self.call("cuStreamDestroy", || unsafe { sys::cuStreamDestroy_v2(stream as sys::CUstream) });
    }

    unsafe fn wait_stream(&self, stream: u64) -> Result<(), Error> {
        // SAFETY: the caller guarantees it.
        self.call("cuStreamSynchronize", || unsafe { sys::cuStreamSynchronize(stream as sys::CUstream) })
    }

    fn event(&self) -> Result<u64, Error> {
        let flags = sys::CUevent_flags::CU_EVENT_DEFAULT as u32;
        let mut event = ptr::null_mut();
        // SAFETY: the call writes the handle.
        self.call("cuEventCreate", || unsafe { sys::cuEventCreate(&mut event, flags) })?;
        Ok(event as u64)
    }

    unsafe fn free_event(&self, event: u64) {
        // SAFETY: the caller guarantees it.
        let _ = self.call("cuEventDestroy", || unsafe { sys::cuEventDestroy_v2(event as sys::CUevent) });
    }

    unsafe fn record(&self, event: u64, stream: u64) -> Result<(), Error> {
        // SAFETY: the caller guarantees it.
        self.call("cuEventRecord", || unsafe {
            sys::cuEventRecord(event as sys::CUevent, stream as sys::CUstream)
        })
    }

    unsafe fn stream_waits(&self, stream: u64, event: u64) -> Result<(), Error> {
        // SAFETY: the caller guarantees it.
        self.call("cuStreamWaitEvent", || unsafe {
            sys::cuStreamWaitEvent(stream as sys::CUstream, event as sys::CUevent, 0)
        })
    }

    unsafe fn wait_event(&self, event: u64) -> Result<(), Error> {
        // SAFETY: the caller guarantees it.
        self.call("cuEventSynchronize", || unsafe { sys::cuEventSynchronize(event as sys::CUevent) })
    }

    unsafe fn elapsed_ms(&self, from: u64, to: u64) -> Result<f32, Error> {
        let mut milliseconds = 0.0;
        // SAFETY: the caller guarantees it.
        self.call("cuEventElapsedTime", || unsafe {
            elapsed_time()(&mut milliseconds, from as sys::CUevent, to as sys::CUevent)
        })?;
        Ok(milliseconds)
    }

    unsafe fn copy_in(&self, to: u64, from: *const u8, bytes: usize, stream: u64) -> Result<(), Error> {
        // SAFETY: the caller guarantees it.
        self.call("cuMemcpyHtoDAsync", || unsafe {
            sys::cuMemcpyHtoDAsync_v2(to, from.cast(), bytes, stream as sys::CUstream)
        })
    }

    unsafe fn copy_out(&self, to: *mut u8, from: u64, bytes: usize, stream: u64) -> Result<(), Error> {
        // SAFETY: the caller guarantees it.
        self.call("cuMemcpyDtoHAsync", || unsafe {
            sys::cuMemcpyDtoHAsync_v2(to.cast(), from, bytes, stream as sys::CUstream)
        })
    }

    unsafe fn copy_within(&self, to: u64, from: u64, bytes: usize, stream: u64) -> Result<(), Error> {
        // SAFETY: the caller guarantees it.
        self.call("cuMemcpyDtoDAsync", || unsafe {
            sys::cuMemcpyDtoDAsync_v2(to, from, bytes, stream as sys::CUstream)
        })
    }

    fn is_linked_to(&self, other: &dyn Driver) -> Result<bool, Error> {
        let other: &CudaDriver = peer(other)?;
        let mut linked = 0;
        // SAFETY: both are devices of the driver, and the call writes the answer.
        self.check("cuDeviceCanAccessPeer", unsafe {
            sys::cuDeviceCanAccessPeer(&mut linked, self.device, other.device)
        })?;
        Ok(linked != 0)
    }

    unsafe fn copy_from_peer(
        &self,
        to: u64,
        other: &dyn Driver,
        from: u64,
        bytes: usize,
        stream: u64,
    ) -> Result<(), Error> {
        let other: &CudaDriver = peer(other)?;
        self.open_link(other)?;
        let (own, theirs) = (self.context()?.raw as sys::CUcontext, other.context()?.raw as sys::CUcontext);
        // SAFETY: the caller guarantees it; both contexts are retained until their devices are dropped.
        self.call("cuMemcpyPeerAsync", || unsafe {
            sys::cuMemcpyPeerAsync(to, own, from, theirs, bytes, stream as sys::CUstream)
        })
    }

    unsafe fn fill(&self, to: u64, byte: u8, bytes: usize, stream: u64) -> Result<(), Error> {
        // SAFETY: the caller guarantees it.
        self.call("cuMemsetD8Async", || unsafe {
            sys::cuMemsetD8Async(to, byte, bytes, stream as sys::CUstream)
        })
    }

    unsafe fn begin_capture(&self, stream: u64) -> Result<(), Error> {
        // Calls of other threads are not affected by the capture.
        let mode = sys::CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL;
        // SAFETY: the caller guarantees it.
        self.call("cuStreamBeginCapture", || unsafe {
            sys::cuStreamBeginCapture_v2(stream as sys::CUstream, mode)
        })
    }

    unsafe fn end_capture(&self, stream: u64) -> Result<u64, Error> {
        let (mut graph, mut ready) = (ptr::null_mut(), ptr::null_mut());
        // SAFETY: the call writes the handle; the caller guarantees the stream.
        self.call("cuStreamEndCapture", || unsafe {
            sys::cuStreamEndCapture(stream as sys::CUstream, &mut graph)
        })?;
        // SAFETY: the call writes the handle; the graph is the one above.
        let made = self.call("cuGraphInstantiateWithFlags", || unsafe {
            sys::cuGraphInstantiateWithFlags(&mut ready, graph, 0)
        });
        // SAFETY: the executable graph does not depend on the graph from which it was made.
        self.call("cuGraphDestroy", || unsafe { sys::cuGraphDestroy(graph) })?;
        made.map(|()| ready as u64)
    }

    unsafe fn launch_graph(&self, graph: u64, stream: u64) -> Result<(), Error> {
        // SAFETY: the caller guarantees it.
        self.call("cuGraphLaunch", || unsafe {
            sys::cuGraphLaunch(graph as sys::CUgraphExec, stream as sys::CUstream)
        })
    }

    unsafe fn free_graph(&self, graph: u64) {
        // SAFETY: the caller guarantees it.
        let _ =
            self.call("cuGraphExecDestroy", || unsafe { sys::cuGraphExecDestroy(graph as sys::CUgraphExec) });
    }

    fn load(&self, program: &Program) -> Result<u64, Error> {
        let cubin = compiled::cubin(&Cache::of_user(), program, self.properties.compute_capability)?;
        let mut module = ptr::null_mut();
        // SAFETY: the call writes the handle and copies the cubin, which is complete, as the compiler made it.
        self.call("cuModuleLoadData", || unsafe {
            sys::cuModuleLoadData(&mut module, cubin.as_ptr().cast())
        })
        .map_err(older_driver)?;
        Ok(module as u64)
    }

    unsafe fn unload(&self, module: u64) {
        // SAFETY: the context is current.
        let _ = self.call("cuCtxSynchronize", || unsafe { sys::cuCtxSynchronize() });
        // SAFETY: the caller guarantees it.
        let _ = self.call("cuModuleUnload", || unsafe { sys::cuModuleUnload(module as sys::CUmodule) });
    }

    unsafe fn function(&self, module: u64, name: &str) -> Result<u64, Error> {
        let text = CString::new(name).unwrap_or_default();
        let mut function = MaybeUninit::uninit();
        // SAFETY: the caller guarantees the module; the handle is written if the call succeeds.
        let function = unsafe {
            self.call("cuModuleGetFunction", || {
                sys::cuModuleGetFunction(function.as_mut_ptr(), module as sys::CUmodule, text.as_ptr())
            })
            .map_err(|error| named(error, name))?;
            function.assume_init()
        };
        self.allow_shared(function)?;
        Ok(function as u64)
    }

    unsafe fn launch(
        &self,
        function: u64,
        launch: &Launch,
        overlaps: bool,
        arguments: &[*const c_void],
        stream: u64,
    ) -> Result<(), Error> {
        let overlaps = overlaps && self.can_overlap()?;
        let mut serialization = sys::CUlaunchAttribute {
            id: sys::CUlaunchAttributeID::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
            pad: [0; 4],
            value: sys::CUlaunchAttributeValue { programmaticStreamSerializationAllowed: 1 },
        };
        let config = sys::CUlaunchConfig {
            gridDimX: launch.blocks,
            gridDimY: 1,
            gridDimZ: 1,
            blockDimX: launch.threads,
            blockDimY: 1,
            blockDimZ: 1,
            // A size that does not fit in 32 bits is more than any device has, so the driver refuses it.
            sharedMemBytes: u32::try_from(launch.shared).unwrap_or(u32::MAX),
            hStream: stream as sys::CUstream,
            attrs: &mut serialization,
            numAttrs: overlaps.into(),
        };
        let (function, arguments) = (function as sys::CUfunction, arguments.as_ptr().cast_mut().cast());
        // SAFETY: the caller guarantees it; the driver only reads the configuration and the arguments.
        self.call("cuLaunchKernelEx", || unsafe {
            sys::cuLaunchKernelEx(&config, function, arguments, ptr::null_mut())
        })
    }
}

/// If the driver cannot load a module, the compiler is newer than the driver.
fn older_driver(error: Error) -> Error {
    extended(
        error,
        "the driver may be older than NVRTC; update the driver, or put the folder of an older NVRTC first in the \
         library path",
    )
}

fn named(error: Error, kernel: &str) -> Error {
    extended(error, &format!("kernel {kernel}"))
}

fn extended(error: Error, about: &str) -> Error {
    match error {
        Error::Driver { call, code, message } => {
            Error::Driver { call, code, message: format!("{message}: {about}") }
        }
        other => other,
    }
}
