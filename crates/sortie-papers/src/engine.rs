//! What the published algorithms share: their kernels on a device, and scratch memory.

use std::collections::HashMap;
use std::sync::Mutex;

use sortie::{Bound, Error, internals};
use sortie_device::{Buffer, Device, Event, Kernel, Module, Program, Stream};

/// The published algorithms on one device. It keeps the kernels that it has loaded, and scratch from call to call.
#[derive(Debug)]
pub struct Papers {
    device: Device,
    kernels: Mutex<HashMap<(File, &'static str), Kernel>>,
    /// Scratch that is free.
    scratch: Mutex<Vec<Buffer<u32>>>,
}

/// A file of kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum File {
    ArraySort,
    Quicksort,
    SampleSort,
    RadixSort,
    ScanTable,
}

const HEADERS: &[(&str, &str)] = &[
    ("block.cuh", include_str!("../kernels/block.cuh")),
    ("code.cuh", internals::CODE_HEADER),
    ("scan.cuh", internals::SCAN_HEADER),
    ("simt.cuh", internals::SIMT_HEADER),
];

impl File {
    fn program(self) -> Program {
        let (name, source) = match self {
            File::ArraySort => ("array_sort", include_str!("../kernels/array_sort.cu")),
            File::Quicksort => ("quicksort", include_str!("../kernels/quicksort.cu")),
            File::SampleSort => ("sample_sort", include_str!("../kernels/sample_sort.cu")),
            File::RadixSort => ("radix_sort", include_str!("../kernels/radix_sort.cu")),
            File::ScanTable => ("scan_table", include_str!("../kernels/scan_table.cu")),
        };
        Program { name: name.into(), source, headers: HEADERS, defines: vec![] }
    }
}

impl Papers {
    pub fn new(device: Device) -> Papers {
        Papers { device, kernels: Mutex::default(), scratch: Mutex::default() }
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Kernels of a file, compiled at their first use.
    pub(crate) fn kernels<const N: usize>(
        &self,
        file: File,
        names: [&'static str; N],
    ) -> Result<[Kernel; N], Error> {
        let mut kernels = self.kernels.lock().expect("no holder panics");
        if names.iter().any(|&name| !kernels.contains_key(&(file, name))) {
            let module: Module = self.device.load(&file.program())?;
            for name in names {
                kernels.insert((file, name), module.kernel(name)?);
            }
        }
        Ok(names.map(|name| kernels[&(file, name)].clone()))
    }

    /// Scratch of at least so many words, its content unspecified.
    pub(crate) fn scratch(&self, words: usize) -> Result<Buffer<u32>, Error> {
        let mut free = self.scratch.lock().expect("no holder panics");
        if let Some(fits) = free.iter().position(|kept| kept.len() >= words) {
            return Ok(free.swap_remove(fits));
        }
        // What is too small will not be asked for again.
        free.clear();
        self.device.alloc(words).map_err(|error| match error {
            sortie_device::Error::OutOfMemory { needed, available } => {
                Error::Memory { bound: Bound::Device, needed, available, hint: "sort in parts, or free some" }
            }
            other => other.into(),
        })
    }

    /// What has been enqueued on the stream, with the scratch that it uses.
    pub(crate) fn pending(
        &self,
        stream: &Stream,
        scratch: Option<Buffer<u32>>,
    ) -> Result<Pending<'_>, Error> {
        let done = self.device.event()?;
        stream.record(&done)?;
        Ok(Pending { papers: self, done, scratch })
    }
}

/// A sort that has been enqueued. Dropping it waits where it has scratch to give back.
#[must_use = "the sort may not be done, and its scratch is held until it is"]
#[derive(Debug)]
pub struct Pending<'papers> {
    papers: &'papers Papers,
    done: Event,
    scratch: Option<Buffer<u32>>,
}

impl Pending<'_> {
    /// Waits until the sort is done.
    ///
    /// # Errors
    /// [`Error::Device`] where the device was lost meanwhile.
    pub fn wait(mut self) -> Result<(), Error> {
        self.finish()
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.done.wait()?;
        self.papers.scratch.lock().expect("no holder panics").extend(self.scratch.take());
        Ok(())
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        // A lost device has no scratch to give back.
        if self.scratch.is_some() {
            let _ = self.finish();
        }
    }
}
