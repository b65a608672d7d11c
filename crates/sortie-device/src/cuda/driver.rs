//! One CUDA device, through the driver's interface, in its primary context.

use std::collections::HashSet;
use std::ffi::{CString, c_void};
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use cudarc::driver::sys::{self, CUdevice_attribute as Attribute, CUresult};

use super::{compiled, message};
use crate::cache::Cache;
use crate::{Driver, Error, Launch, Program, Properties, peer};

/// Results after which the context is of no more use: nothing done in it succeeds any more.
const LOST: [CUresult; 14] = [
    CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE,
    CUresult::CUDA_ERROR_ECC_UNCORRECTABLE,
    CUresult::CUDA_ERROR_NVLINK_UNCORRECTABLE,
    CUresult::CUDA_ERROR_CONTAINED,
    CUresult::CUDA_ERROR_ILLEGAL_ADDRESS,
    CUresult::CUDA_ERROR_LAUNCH_TIMEOUT,
    CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED,
    CUresult::CUDA_ERROR_ASSERT,
    CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR,
    CUresult::CUDA_ERROR_ILLEGAL_INSTRUCTION,
    CUresult::CUDA_ERROR_MISALIGNED_ADDRESS,
    CUresult::CUDA_ERROR_INVALID_ADDRESS_SPACE,
    CUresult::CUDA_ERROR_INVALID_PC,
    CUresult::CUDA_ERROR_LAUNCH_FAILED,
];

#[derive(Debug)]
pub struct CudaDriver {
    properties: Properties,
    device: sys::CUdevice,
    /// From the first work on.
    context: OnceLock<Context>,
    /// Numbers of the devices that were looked at for a link; where there is one it is open.
    peers: Mutex<HashSet<u32>>,
}

#[derive(Debug)]
struct Context {
    /// The primary context, a pointer.
    raw: usize,
    /// What it took to start it.
    took: Duration,
}

impl CudaDriver {
    /// The driver has started and has that many devices.
    pub fn new(ordinal: u32) -> Result<CudaDriver, Error> {
        let mut device = 0;
        // SAFETY: the driver has started; so for every call below, whose results are read when it succeeded.
        check("cuDeviceGet", unsafe { sys::cuDeviceGet(&mut device, ordinal as i32) })?;
        let mut name = [0u8; 256];
        let length = name.len() as i32;
        // SAFETY: `name` has that length.
        check("cuDeviceGetName", unsafe { sys::cuDeviceGetName(name.as_mut_ptr().cast(), length, device) })?;
        let end = name.iter().position(|&byte| byte == 0).unwrap_or(name.len());
        let mut memory_total = 0;
        // SAFETY: as above.
        check("cuDeviceTotalMem", unsafe { sys::cuDeviceTotalMem_v2(&mut memory_total, device) })?;
        let mut uuid = sys::CUuuid { bytes: [0; 16] };
        // SAFETY: as above.
        check("cuDeviceGetUuid", unsafe { sys::cuDeviceGetUuid_v2(&mut uuid, device) })?;
        let attribute = |attribute| {
            let mut value = 0;
            // SAFETY: as above.
            check("cuDeviceGetAttribute", unsafe {
                sys::cuDeviceGetAttribute(&mut value, attribute, device)
            })?;
            Ok::<_, Error>(value as u32)
        };
        let properties = Properties {
            name: String::from_utf8_lossy(&name[..end]).into_owned(),
            kind: "cuda",
            ordinal,
            id: uuid.bytes.iter().map(|&byte| format!("{:02x}", byte as u8)).collect(),
            compute_capability: (
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
                attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
            ),
            multiprocessors: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
            shared_per_block: attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?
                as usize,
            memory_total: memory_total as u64,
            l2_bytes: u64::from(attribute(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)?),
        };
        Ok(CudaDriver { properties, device, context: OnceLock::new(), peers: Mutex::default() })
    }

    /// The context, which the first call starts.
    fn context(&self) -> Result<&Context, Error> {
        if let Some(context) = self.context.get() {
            return Ok(context);
        }
        let begun = Instant::now();
        let mut raw = ptr::null_mut();
        // SAFETY: the device is the driver's.
        self.check("cuDevicePrimaryCtxRetain", unsafe {
            sys::cuDevicePrimaryCtxRetain(&mut raw, self.device)
        })?;
        let context = Context { raw: raw as usize, took: begun.elapsed() };
        if self.context.set(context).is_err() {
            // Another thread was faster, with the same context: the driver counts who holds it.
            // SAFETY: retained above.
            unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
        }
        Ok(self.context.get().expect("set, here or there"))
    }

    /// Opens the link to another device, once and where there is one: without, the driver copies through the host.
    fn open_link(&self, other: &CudaDriver) -> Result<(), Error> {
        let mut peers = self.peers.lock().expect("no holder panics");
        if peers.contains(&other.properties.ordinal) {
            return Ok(());
        }
        if self.is_linked_to(other)? {
            let context = other.context()?.raw as sys::CUcontext;
            // SAFETY: the context is held until `other` is dropped.
            let open = || match unsafe { sys::cuCtxEnablePeerAccess(context, 0) } {
                // By whoever else has the context. More links than the device can have open are not opened.
                CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED | CUresult::CUDA_ERROR_TOO_MANY_PEERS => {
                    CUresult::CUDA_SUCCESS
                }
                result => result,
            };
            self.call("cuCtxEnablePeerAccess", open)?;
        }
        peers.insert(other.properties.ordinal);
        Ok(())
    }

    /// Makes the context the thread's, until the guard is dropped; the caller's own is then as before.
    fn enter(&self) -> Result<Entered, Error> {
        let context = self.context()?.raw as sys::CUcontext;
        // SAFETY: the context is held until `self` is dropped.
        self.check("cuCtxPushCurrent", unsafe { sys::cuCtxPushCurrent_v2(context) })?;
        Ok(Entered)
    }

    /// Makes a call in the context.
    fn call(&self, name: &'static str, call: impl FnOnce() -> CUresult) -> Result<(), Error> {
        let _entered = self.enter()?;
        self.check(name, call())
    }

    fn check(&self, call: &'static str, result: CUresult) -> Result<(), Error> {
        match check(call, result) {
            Err(Error::Driver { call, code, message }) if LOST.contains(&result) => {
                let device = format!("cuda:{} ({})", self.properties.ordinal, self.properties.name);
                Err(Error::DeviceLost { device, call, code, message })
            }
            other => other,
        }
    }

    /// Lets a kernel ask for all the shared memory that a block can have; without, it is 48 KiB.
    fn allow_shared(&self, function: sys::CUfunction) -> Result<(), Error> {
        let mut fixed = 0;
        let (size, limit) = (
            sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
            sys::CUfunction_attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
        );
        // SAFETY: the function is of a loaded module.
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

/// The context is the thread's current one.
struct Entered;

impl Drop for Entered {
    fn drop(&mut self) {
        let mut left = ptr::null_mut();
        // SAFETY: pushed by `enter`.
        unsafe { sys::cuCtxPopCurrent_v2(&mut left) };
    }
}

fn check(call: &'static str, result: CUresult) -> Result<(), Error> {
    if result == CUresult::CUDA_SUCCESS {
        return Ok(());
    }
    Err(Error::Driver { call, code: result as i32, message: message(result) })
}

/// The first version of the call, which every driver has; the bindings have only the one that came with 12.8.
type ElapsedTime = unsafe extern "C" fn(*mut f32, sys::CUevent, sys::CUevent) -> CUresult;

fn elapsed_time() -> ElapsedTime {
    static CALL: OnceLock<ElapsedTime> = OnceLock::new();
    // SAFETY: the library is there, and the call has this type.
    let find =
        || unsafe { *sys::culib().get::<ElapsedTime>(b"cuEventElapsedTime\0").expect("every driver has it") };
    *CALL.get_or_init(find)
}

// SAFETY: the driver aligns memory to 256 bytes and more, and does with it what it is told.
unsafe impl Driver for CudaDriver {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn start(&self) -> Result<Duration, Error> {
        Ok(super::start()?.took + self.context()?.took)
    }

    fn free_memory(&self) -> Result<u64, Error> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: both are written.
        self.call("cuMemGetInfo", || unsafe { sys::cuMemGetInfo_v2(&mut free, &mut total) })?;
        Ok(free as u64)
    }

    fn alloc(&self, bytes: usize) -> Result<u64, Error> {
        let mut address = 0;
        // SAFETY: the address is written.
        match self.call("cuMemAlloc", || unsafe { sys::cuMemAlloc_v2(&mut address, bytes) }) {
            Ok(()) => Ok(address),
            Err(error) if is_out_of_memory(&error) => {
                Err(Error::OutOfMemory { needed: bytes as u64, available: self.free_memory()? })
            }
            Err(error) => Err(error),
        }
    }

    unsafe fn free(&self, address: u64) {
        // Waits for the work of the device. Nothing can be done about an error: it comes from work before.
        // SAFETY: the caller's.
        let _ = self.call("cuMemFree", || unsafe { sys::cuMemFree_v2(address) });
    }

    fn alloc_pinned(&self, bytes: usize) -> Result<*mut u8, Error> {
        let mut at = ptr::null_mut();
        // SAFETY: the pointer is written. Portable: pinned for all devices.
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
        // SAFETY: the caller's.
        let _ = self.call("cuMemFreeHost", || unsafe { sys::cuMemFreeHost(at.cast()) });
    }

    fn stream(&self) -> Result<u64, Error> {
        let flags = sys::CUstream_flags::CU_STREAM_NON_BLOCKING as u32;
        let mut stream = ptr::null_mut();
        // SAFETY: the handle is written.
        self.call("cuStreamCreate", || unsafe { sys::cuStreamCreate(&mut stream, flags) })?;
        Ok(stream as u64)
    }

    unsafe fn free_stream(&self, stream: u64) {
        // SAFETY: the caller's.
        let _ = self.call("cuStreamDestroy", || unsafe { sys::cuStreamDestroy_v2(stream as sys::CUstream) });
    }

    unsafe fn wait_stream(&self, stream: u64) -> Result<(), Error> {
        // SAFETY: the caller's.
        self.call("cuStreamSynchronize", || unsafe { sys::cuStreamSynchronize(stream as sys::CUstream) })
    }

    fn event(&self) -> Result<u64, Error> {
        let flags = sys::CUevent_flags::CU_EVENT_DEFAULT as u32;
        let mut event = ptr::null_mut();
        // SAFETY: the handle is written.
        self.call("cuEventCreate", || unsafe { sys::cuEventCreate(&mut event, flags) })?;
        Ok(event as u64)
    }

    unsafe fn free_event(&self, event: u64) {
        // SAFETY: the caller's.
        let _ = self.call("cuEventDestroy", || unsafe { sys::cuEventDestroy_v2(event as sys::CUevent) });
    }

    unsafe fn record(&self, event: u64, stream: u64) -> Result<(), Error> {
        // SAFETY: the caller's.
        self.call("cuEventRecord", || unsafe {
            sys::cuEventRecord(event as sys::CUevent, stream as sys::CUstream)
        })
    }

    unsafe fn stream_waits(&self, stream: u64, event: u64) -> Result<(), Error> {
        // SAFETY: the caller's.
        self.call("cuStreamWaitEvent", || unsafe {
            sys::cuStreamWaitEvent(stream as sys::CUstream, event as sys::CUevent, 0)
        })
    }

    unsafe fn wait_event(&self, event: u64) -> Result<(), Error> {
        // SAFETY: the caller's.
        self.call("cuEventSynchronize", || unsafe { sys::cuEventSynchronize(event as sys::CUevent) })
    }

    unsafe fn elapsed_ms(&self, from: u64, to: u64) -> Result<f32, Error> {
        let mut milliseconds = 0.0;
        // SAFETY: the caller's.
        self.call("cuEventElapsedTime", || unsafe {
            elapsed_time()(&mut milliseconds, from as sys::CUevent, to as sys::CUevent)
        })?;
        Ok(milliseconds)
    }

    unsafe fn copy_in(&self, to: u64, from: *const u8, bytes: usize, stream: u64) -> Result<(), Error> {
        // SAFETY: the caller's.
        self.call("cuMemcpyHtoDAsync", || unsafe {
            sys::cuMemcpyHtoDAsync_v2(to, from.cast(), bytes, stream as sys::CUstream)
        })
    }

    unsafe fn copy_out(&self, to: *mut u8, from: u64, bytes: usize, stream: u64) -> Result<(), Error> {
        // SAFETY: the caller's.
        self.call("cuMemcpyDtoHAsync", || unsafe {
            sys::cuMemcpyDtoHAsync_v2(to.cast(), from, bytes, stream as sys::CUstream)
        })
    }

    unsafe fn copy_within(&self, to: u64, from: u64, bytes: usize, stream: u64) -> Result<(), Error> {
        // SAFETY: the caller's.
        self.call("cuMemcpyDtoDAsync", || unsafe {
            sys::cuMemcpyDtoDAsync_v2(to, from, bytes, stream as sys::CUstream)
        })
    }

    fn is_linked_to(&self, other: &dyn Driver) -> Result<bool, Error> {
        let other: &CudaDriver = peer(other)?;
        let mut linked = 0;
        // SAFETY: both are the driver's, and the answer is written.
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
        // SAFETY: the caller's; both contexts are held until their devices are dropped.
        self.call("cuMemcpyPeerAsync", || unsafe {
            sys::cuMemcpyPeerAsync(to, own, from, theirs, bytes, stream as sys::CUstream)
        })
    }

    unsafe fn fill(&self, to: u64, byte: u8, bytes: usize, stream: u64) -> Result<(), Error> {
        // SAFETY: the caller's.
        self.call("cuMemsetD8Async", || unsafe {
            sys::cuMemsetD8Async(to, byte, bytes, stream as sys::CUstream)
        })
    }

    fn load(&self, program: &Program) -> Result<u64, Error> {
        let cubin = compiled::cubin(&Cache::of_user(), program, self.properties.compute_capability)?;
        let mut module = ptr::null_mut();
        // SAFETY: the handle is written; the cubin is whole, as the compiler made it, and copied by the call.
        self.call("cuModuleLoadData", || unsafe {
            sys::cuModuleLoadData(&mut module, cubin.as_ptr().cast())
        })
        .map_err(older_driver)?;
        Ok(module as u64)
    }

    unsafe fn unload(&self, module: u64) {
        // SAFETY: the caller's.
        let _ = self.call("cuModuleUnload", || unsafe { sys::cuModuleUnload(module as sys::CUmodule) });
    }

    unsafe fn function(&self, module: u64, name: &str) -> Result<u64, Error> {
        let text = CString::new(name).unwrap_or_default();
        let mut function = MaybeUninit::uninit();
        // SAFETY: the module is the caller's, and the handle is written when the call succeeds.
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
        arguments: &[*const c_void],
        stream: u64,
    ) -> Result<(), Error> {
        // More than fits is more than there is: the driver refuses it.
        let shared = u32::try_from(launch.shared).unwrap_or(u32::MAX);
        let arguments = arguments.as_ptr().cast_mut().cast();
        let (function, stream) = (function as sys::CUfunction, stream as sys::CUstream);
        // SAFETY: the caller's; the driver only reads the arguments.
        self.call("cuLaunchKernel", || unsafe {
            let (blocks, threads) = (launch.blocks, launch.threads);
            sys::cuLaunchKernel(
                function,
                blocks,
                1,
                1,
                threads,
                1,
                1,
                shared,
                stream,
                arguments,
                ptr::null_mut(),
            )
        })
    }
}

fn is_out_of_memory(error: &Error) -> bool {
    matches!(error, Error::Driver { code, .. } if *code == CUresult::CUDA_ERROR_OUT_OF_MEMORY as i32)
}

/// A module that the driver does not take comes from a compiler that is newer than it.
fn older_driver(error: Error) -> Error {
    extended(
        error,
        "the driver may be older than NVRTC: update it, or name the folder of an older NVRTC first",
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
