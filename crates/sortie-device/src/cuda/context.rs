//! One CUDA device, its primary context, and calls in that.

use std::collections::HashSet;
use std::ptr;
use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use cudarc::driver::sys::{self, CUdevice_attribute as Attribute, CUresult};

use super::pool::Pool;
use super::result::check;
use crate::{Driver, Error, Properties};

/// Results after which the context cannot be used any more: every further call in it fails.
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
pub struct Context {
    /// The context pointer.
    pub raw: usize,
    /// The time to start it.
    pub took: Duration,
    /// The pool from which streams allocate memory. `None` if the device has no pools.
    pub pool: Option<Pool>,
}

#[derive(Debug)]
pub struct CudaDriver {
    pub(super) properties: Properties,
    pub(super) device: sys::CUdevice,
    /// Started by the first work.
    pub(super) context: OnceLock<Context>,
    /// The numbers of devices that were checked for a link. If there is one, it is open.
    pub(super) peers: Mutex<HashSet<u32>>,
}

impl CudaDriver {
    /// The driver must have started and have this device.
    pub fn new(ordinal: u32) -> Result<CudaDriver, Error> {
        let mut device = 0;
        // SAFETY: the driver has started. This also holds for the calls below, whose results are only read on success.
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
}

impl CudaDriver {
    /// The context. The first call starts it.
    pub(super) fn context(&self) -> Result<&Context, Error> {
        if let Some(context) = self.context.get() {
            return Ok(context);
        }
        let begun = Instant::now();
        let mut raw = ptr::null_mut();
        // SAFETY: `device` is a device of the driver.
        self.check("cuDevicePrimaryCtxRetain", unsafe {
            sys::cuDevicePrimaryCtxRetain(&mut raw, self.device)
        })?;
        let pool = Pool::of(self.device, &self.properties);
        let context = |pool| Context { raw: raw as usize, took: begun.elapsed(), pool };
        let made = pool.map(|pool| self.context.set(context(pool)));
        if !matches!(made, Ok(Ok(()))) {
            // Another thread was faster and has retained the same context. The driver counts the references.
            // SAFETY: retained above.
            unsafe { sys::cuDevicePrimaryCtxRelease_v2(self.device) };
        }
        made?.ok();
        Ok(self.context.get().expect("set, here or there"))
    }

    /// Enables direct access to another device, once and if there is a link. Without one, the driver copies through the
    /// host.
    pub(super) fn open_link(&self, other: &CudaDriver) -> Result<(), Error> {
        let mut peers = self.peers.lock().expect("no holder panics");
        if peers.contains(&other.properties.ordinal) {
            return Ok(());
        }
        if self.is_linked_to(other)? {
            let context = other.context()?.raw as sys::CUcontext;
            // SAFETY: the context is retained until `other` is dropped.
            let open = || match unsafe { sys::cuCtxEnablePeerAccess(context, 0) } {
                // Another user of the context has enabled it. A device can only have a limited number of links.
                CUresult::CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED | CUresult::CUDA_ERROR_TOO_MANY_PEERS => {
                    CUresult::CUDA_SUCCESS
                }
                result => result,
            };
            self.call("cuCtxEnablePeerAccess", open)?;
            if let Some(pool) = other.context()?.pool {
                pool.open_to(self.device);
            }
        }
        peers.insert(other.properties.ordinal);
        Ok(())
    }

    /// Makes the context current for this thread until the guard is dropped, which restores the previous one.
    fn enter(&self) -> Result<Entered, Error> {
        let context = self.context()?.raw as sys::CUcontext;
        // SAFETY: the context is retained until `self` is dropped.
        self.check("cuCtxPushCurrent", unsafe { sys::cuCtxPushCurrent_v2(context) })?;
        Ok(Entered)
    }

    /// Makes a call in the context.
    pub(super) fn call(&self, name: &'static str, call: impl FnOnce() -> CUresult) -> Result<(), Error> {
        let _entered = self.enter()?;
        self.check(name, call())
    }

    pub(super) fn check(&self, call: &'static str, result: CUresult) -> Result<(), Error> {
        match check(call, result) {
            Err(Error::Driver { call, code, message }) if LOST.contains(&result) => {
                let device = format!("cuda:{} ({})", self.properties.ordinal, self.properties.name);
                Err(Error::DeviceLost { device, call, code, message })
            }
            other => other,
        }
    }

    /// Allocates memory by this call. If there is too little, tries again after the pool has released its unused
    /// memory.
    pub(super) fn alloc_by(
        &self,
        name: &'static str,
        bytes: usize,
        alloc: impl Fn(&mut u64) -> CUresult,
    ) -> Result<u64, Error> {
        let mut address = 0;
        let mut allocated = self.call(name, || alloc(&mut address));
        if let (Err(error), Some(pool)) = (&allocated, self.context()?.pool)
            && is_out_of_memory(error)
        {
            // Memory freed on a stream is only released when the earlier work is done.
            // SAFETY: the context is current.
            self.call("cuCtxSynchronize", || unsafe { sys::cuCtxSynchronize() })?;
            self.call("cuMemPoolTrimTo", || pool.trim())?;
            // Memory that graphs no longer use is cached separately.
            // SAFETY: `device` is a device of the driver.
            self.call("cuDeviceGraphMemTrim", || unsafe { sys::cuDeviceGraphMemTrim(self.device) })?;
            allocated = self.call(name, || alloc(&mut address));
        }
        match allocated {
            Ok(()) => Ok(address),
            Err(error) if is_out_of_memory(&error) => {
                Err(Error::OutOfMemory { needed: bytes as u64, available: self.free_memory()? })
            }
            Err(error) => Err(error),
        }
    }
}

/// While this exists, the context is current for the thread.
struct Entered;

impl Drop for Entered {
    fn drop(&mut self) {
        let mut left = ptr::null_mut();
        // SAFETY: `enter` pushed it.
        unsafe { sys::cuCtxPopCurrent_v2(&mut left) };
    }
}

fn is_out_of_memory(error: &Error) -> bool {
    matches!(error, Error::Driver { code, .. } if *code == CUresult::CUDA_ERROR_OUT_OF_MEMORY as i32)
}
