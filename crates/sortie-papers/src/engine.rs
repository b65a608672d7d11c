//! What the published algorithms share: loading kernels on a device, and scratch memory.

use std::collections::HashMap;
use std::marker::PhantomData;
use std::sync::Mutex;

use sortie::{Bound, Error, internals};
use sortie_device::{Buffer, Device, Event, Kernel, Module, Program, Stream};

/// The published algorithms on one device. Keeps the kernels that it has loaded.
#[derive(Debug)]
pub struct Papers {
    device: Device,
    kernels: Mutex<HashMap<(File, &'static str), Kernel>>,
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
        Program { name: name.into(), source, headers: HEADERS, defines: vec![], overlaps: true }
    }
}

impl Papers {
    pub fn new(device: Device) -> Papers {
        Papers { device, kernels: Mutex::default() }
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The given kernels of a file. Compiled on first use.
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

    /// A handle that waits for everything enqueued on the stream so far.
    pub(crate) fn pending(&self, stream: &Stream) -> Result<Pending<'_>, Error> {
        let done = self.device.event()?;
        stream.record(&done)?;
        Ok(Pending { papers: PhantomData, done })
    }
}

/// Scratch memory for work on the stream: `words` words with unspecified content.
pub(crate) fn scratch(stream: &Stream, words: usize) -> Result<Buffer<u32>, Error> {
    // SAFETY: these algorithms use this memory on one stream only.
    unsafe { stream.alloc(words) }.map_err(|error| match error {
        sortie_device::Error::OutOfMemory { needed, available } => Error::Memory {
            bound: Bound::Device,
            needed,
            available,
            hint: "sort in parts, or free some memory",
        },
        other => other.into(),
    })
}

/// A sort that has been enqueued. Dropping it does not wait.
#[must_use = "call `wait` to learn when the sort is done and whether the device failed"]
#[derive(Debug)]
pub struct Pending<'papers> {
    /// Its kernels must stay loaded while the sort runs.
    papers: PhantomData<&'papers Papers>,
    done: Event,
}

impl Pending<'_> {
    /// Waits until the sort is done.
    ///
    /// # Errors
    /// [`Error::Device`] if the device was lost meanwhile.
    pub fn wait(self) -> Result<(), Error> {
        Ok(self.done.wait()?)
    }
}
