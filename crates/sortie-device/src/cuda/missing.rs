//! Why CUDA is not available, as precisely as the machine shows, and what to do about it.

use std::fs;
use std::path::Path;

use cudarc::driver::sys::CUresult;

use crate::Error;

const GET_DRIVER: &str =
    "NVIDIA's driver (https://www.nvidia.com/drivers, or the system's package nvidia-driver)";

/// Signs of a GPU on a machine without the driver's library.
struct Signs {
    /// Whether the kernel has loaded NVIDIA's module.
    module: bool,
    /// Whether there is an NVIDIA GPU on the bus.
    on_bus: bool,
}

/// The error if `libcuda` cannot be found.
pub fn driver() -> Error {
    Error::NoDriver { reason: reason(&Signs::of_machine()) }
}

fn reason(signs: &Signs) -> String {
    let absent = format!("its library, {}, was not found", library("cuda", "1"));
    if signs.module {
        format!(
            "{absent}, although NVIDIA's kernel module is loaded; if this runs in a container, start it with access \
             to the GPUs (docker run --gpus all), or else install the libraries of {GET_DRIVER}"
        )
    } else if signs.on_bus {
        format!("{absent}; the machine has an NVIDIA GPU, so install {GET_DRIVER}")
    } else {
        format!("{absent}, and no NVIDIA GPU was found; if there is one, install {GET_DRIVER}")
    }
}

impl Signs {
    fn of_machine() -> Signs {
        let is_gpu = |device: &Path| {
            let read = |name| fs::read_to_string(device.join(name)).unwrap_or_default();
            // The vendor is NVIDIA, and the class is a display controller.
            read("vendor").trim() == "0x10de" && read("class").starts_with("0x03")
        };
        let on_bus = fs::read_dir("/sys/bus/pci/devices")
            .is_ok_and(|mut devices| devices.any(|device| device.is_ok_and(|device| is_gpu(&device.path()))));
        Signs { module: Path::new("/proc/driver/nvidia/version").exists(), on_bus }
    }
}

/// The error if the driver's library exists but did not start.
pub fn start(result: CUresult, message: &str) -> Error {
    let told = format!("its library was found but does not start: {message} (error {})", result as i32);
    let hidden = std::env::var("CUDA_VISIBLE_DEVICES");
    match (result, hidden) {
        (CUresult::CUDA_ERROR_NO_DEVICE, Ok(visible)) => Error::NoDevice {
            reason: format!(
                "CUDA_VISIBLE_DEVICES is \"{visible}\", which leaves the driver no GPU; unset it to use all GPUs"
            ),
        },
        (CUresult::CUDA_ERROR_NO_DEVICE, Err(_)) => Error::NoDevice {
            reason:
                "the driver finds no GPU; if this runs in a container, start it with access to the GPUs (docker run \
                 --gpus all); nvidia-smi lists the GPUs"
                    .into(),
        },
        (CUresult::CUDA_ERROR_STUB_LIBRARY, _) => Error::NoDriver {
            reason: format!(
                "{told}; remove the toolkit's stubs from LD_LIBRARY_PATH and install {GET_DRIVER}"
            ),
        },
        (CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, _) => Error::NoDriver {
            reason: format!(
                "{told}; it was updated while its kernel module was in use, so restart the machine"
            ),
        },
        _ => Error::NoDriver {
            reason: format!("{told}; run nvidia-smi for details, or reinstall {GET_DRIVER}"),
        },
    }
}

/// The error if the driver is older than the calls that are needed.
pub fn recent_driver(found: (i32, i32), needed: (i32, i32)) -> Error {
    Error::NoDriver {
        reason: format!(
            "the installed driver supports CUDA {}.{}, but {}.{} is needed; install a newer version of {GET_DRIVER}",
            found.0, found.1, needed.0, needed.1
        ),
    }
}

/// The error if `libnvrtc` cannot be found.
pub fn compiler() -> Error {
    Error::NoCompiler {
        reason: format!(
            "NVRTC's library, {}, was not found; install it with the CUDA toolkit, or from PyPI (pip install \
             nvidia-cuda-nvrtc), and add its folder to {}",
            library("nvrtc", "13"),
            super::LIBRARY_PATH
        ),
    }
}

fn library(name: &str, version: &str) -> String {
    use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
    if cfg!(windows) {
        format!("nv{name}{DLL_SUFFIX}")
    } else {
        format!("{DLL_PREFIX}{name}{DLL_SUFFIX}.{version}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_machine_is_told_what_to_install() {
        let told = |module, on_bus| reason(&Signs { module, on_bus });
        assert!(told(true, true).contains("--gpus all"));
        assert!(told(false, true).contains("has an NVIDIA GPU, so install"));
        assert!(told(false, false).contains("no NVIDIA GPU was found"));
    }
}
