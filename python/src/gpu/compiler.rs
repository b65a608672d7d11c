//! NVRTC, which compiles the kernels, in the wheels of NVIDIA that torch and CuPy bring along.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;

/// Where the wheels have the library, in the folder of the package `nvidia`.
const PLACES: [&str; 2] = ["cu13/lib/libnvrtc.so.13", "cuda_nvrtc/lib/libnvrtc.so.12"];

/// Loads the library from the first wheel that has it. The loader then knows it by its name, which is how it is opened later;
/// where no wheel has it, that looks in the folders of the system.
pub fn prepare(py: Python<'_>) -> PyResult<()> {
    static DONE: AtomicBool = AtomicBool::new(false);
    if DONE.swap(true, Ordering::Relaxed) {
        return Ok(());
    }
    let Ok(nvidia) = py.import("nvidia") else { return Ok(()) };
    for folder in nvidia.getattr("__path__")?.try_iter()? {
        let folder: PathBuf = folder?.extract()?;
        if let Some(library) = PLACES.iter().map(|place| folder.join(place)).find(|path| path.exists()) {
            let ctypes = py.import("ctypes")?;
            ctypes.call_method1("CDLL", (library, ctypes.getattr("RTLD_GLOBAL")?))?;
            return Ok(());
        }
    }
    Ok(())
}
