//! CUDA devices. The libraries of the driver and of NVRTC are opened when first needed. If one is missing, an [`Error`]
//! says which one and how to install it.

mod compiled;
mod context;
mod driver;
mod missing;
mod model;
mod nvrtc;
mod pool;
mod result;

use std::sync::OnceLock;
use std::time::{Duration, Instant};

use cudarc::driver::sys::{self, CUresult};

use crate::{Device, Error, Program};
pub use model::model;
use result::message;

/// The oldest driver that has all calls that are used.
const NEEDED: (i32, i32) = (12, 0);

/// The environment variable with the folders to search for libraries.
const LIBRARY_PATH: &str = if cfg!(windows) { "PATH" } else { "LD_LIBRARY_PATH" };

/// All CUDA devices, in the driver's order. This does not start the devices; the first work on each does.
pub fn devices() -> Result<Vec<Device>, Error> {
    let count = start()?.devices;
    (0..count).map(|ordinal| Ok(Device::new(context::CudaDriver::new(ordinal)?))).collect()
}

/// The device with this number in the driver's order.
pub fn device(ordinal: u32) -> Result<Device, Error> {
    let count = start()?.devices;
    if ordinal >= count {
        let reason = format!("cuda:{ordinal} does not exist; the last one is cuda:{}", count - 1);
        return Err(Error::NoDevice { reason });
    }
    Ok(Device::new(context::CudaDriver::new(ordinal)?))
}

/// The CUDA version of the driver.
pub fn driver_version() -> Result<(i32, i32), Error> {
    Ok(start()?.version)
}

/// The version of NVRTC, the compiler.
pub fn compiler_version() -> Result<(i32, i32), Error> {
    nvrtc::version()
}

/// How many programs this process has compiled so far, and the total time of its threads for that. Programs from the
/// cache do not count.
pub fn compiled() -> (u64, Duration) {
    nvrtc::compiled()
}

/// Compiles to machine code (a cubin) for devices of this compute capability. Needs no device and no driver, and caches
/// nothing.
pub fn compile(program: &Program, capability: (u32, u32)) -> Result<Vec<u8>, Error> {
    nvrtc::compile(program, capability)
}

/// The PTX from which the machine code of [`compile`] is made, for tools that report on it. Needs no device and no
/// driver, and caches nothing.
pub fn ptx(program: &Program, capability: (u32, u32)) -> Result<Vec<u8>, Error> {
    nvrtc::ptx(program, capability)
}

/// The options with which [`ptx`] compiles a program.
pub fn ptx_options(program: &Program, capability: (u32, u32)) -> Vec<String> {
    nvrtc::ptx_options(program, capability)
}

/// What is known once the driver has started.
#[derive(Debug, Clone, Copy)]
struct Started {
    version: (i32, i32),
    /// At least one.
    devices: u32,
    took: Duration,
}

fn start() -> Result<Started, Error> {
    static STARTED: OnceLock<Result<Started, Error>> = OnceLock::new();
    STARTED.get_or_init(try_start).clone()
}

fn try_start() -> Result<Started, Error> {
    let begun = Instant::now();
    // SAFETY: the library is NVIDIA's; its initialisation has no preconditions.
    if !unsafe { sys::is_culib_present() } {
        return Err(missing::driver());
    }
    let mut version = 0;
    // SAFETY: the library is loaded, and the call has no other preconditions.
    let told = unsafe { sys::cuDriverGetVersion(&mut version) };
    let version = (version / 1000, version % 1000 / 10);
    if told == CUresult::CUDA_SUCCESS && version < NEEDED {
        return Err(missing::recent_driver(version, NEEDED));
    }
    // SAFETY: this is the first call, as required.
    let initialised = unsafe { sys::cuInit(0) };
    if initialised != CUresult::CUDA_SUCCESS {
        return Err(missing::start(initialised, &message(initialised)));
    }
    let mut count = 0;
    // SAFETY: the driver is initialised.
    let counted = unsafe { sys::cuDeviceGetCount(&mut count) };
    match (counted, u32::try_from(count)) {
        (CUresult::CUDA_SUCCESS, Ok(devices @ 1..)) => {
            Ok(Started { version, devices, took: begun.elapsed() })
        }
        (CUresult::CUDA_SUCCESS, _) => {
            let none = CUresult::CUDA_ERROR_NO_DEVICE;
            Err(missing::start(none, &message(none)))
        }
        _ => Err(missing::start(counted, &message(counted))),
    }
}
