//! The engine on one device, and what it keeps from call to call.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex};

use sortie_device::{Buffer, Device, Event, Kernel, Module, Stream};

use super::alloc::alloc;
use super::kernels::Instance;
use super::ring::Kept;
use crate::plan::KEPT_PART;
use crate::{Bound, Error};

/// The engines that [`Gpu::cuda`] has given out.
static ENGINES: LazyLock<Mutex<HashMap<u32, Arc<Gpu>>>> = LazyLock::new(Mutex::default);

/// The GPU engine on one device. It keeps the kernels that it has loaded, and from call to call its scratch, up to 32 MiB of
/// pinned memory for each sort that ran at the same time, and for sorts of large host arrays 6 MiB of it for each thread and
/// a sixth of the device's memory at most.
#[derive(Debug)]
pub struct Gpu {
    device: Device,
    kernels: Arc<Mutex<HashMap<Instance, Kernel>>>,
    /// Their programs, each with one of its instances.
    modules: Arc<Mutex<Vec<(Instance, Module)>>>,
    /// Scratch that is free.
    scratch: Mutex<Vec<Buffer<u32>>>,
    /// Pinned memory that is free.
    rings: Kept,
}

impl Gpu {
    /// The engine on a device. Allocates nothing there: the first sort compiles its kernels and gets its scratch.
    pub fn new(device: Device) -> Gpu {
        Gpu {
            device,
            kernels: Arc::default(),
            modules: Arc::default(),
            scratch: Mutex::default(),
            rings: Kept::default(),
        }
    }

    /// The engine on the CUDA device of this number, the same for all who ask.
    ///
    /// # Errors
    /// [`Error::Device`] where there is no such device, saying why.
    pub fn cuda(ordinal: u32) -> Result<Arc<Gpu>, Error> {
        let mut engines = ENGINES.lock().expect("no holder panics");
        if let Some(gpu) = engines.get(&ordinal) {
            return Ok(gpu.clone());
        }
        let gpu = Arc::new(Gpu::new(sortie_device::cuda::device(ordinal)?));
        engines.insert(ordinal, gpu.clone());
        Ok(gpu)
    }

    /// What [`Gpu::cuda`] has given out before.
    pub(crate) fn given_out(ordinal: u32) -> Option<Arc<Gpu>> {
        ENGINES.lock().expect("no holder panics").get(&ordinal).cloned()
    }

    /// Whether the device has started: it has loaded a kernel.
    pub(crate) fn has_worked(&self) -> bool {
        !self.kernels.lock().expect("no holder panics").is_empty()
    }

    /// The device that it sorts on.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The kernel of an instance, compiled at its first use.
    pub(crate) fn kernel(&self, instance: &Instance) -> Result<Kernel, Error> {
        if let Some(kernel) = self.kernels.lock().expect("no holder panics").get(instance) {
            return Ok(kernel.clone());
        }
        let kernel = self.module(instance)?.kernel(instance.kernel)?;
        Ok(self.kernels.lock().expect("no holder panics").entry(instance.clone()).or_insert(kernel).clone())
    }

    /// The program of an instance, loaded at its first use.
    fn module(&self, instance: &Instance) -> Result<Module, Error> {
        let loaded = |modules: &[(Instance, Module)]| {
            modules.iter().find(|(other, _)| other.is_beside(instance)).map(|(_, module)| module.clone())
        };
        if let Some(module) = loaded(&self.modules.lock().expect("no holder panics")) {
            return Ok(module);
        }
        // Compiled without the lock, so that several can be at a time.
        let module = self.device.load(&instance.program())?;
        let mut modules = self.modules.lock().expect("no holder panics");
        if loaded(&modules).is_none() {
            modules.push((instance.clone(), module.clone()));
        }
        Ok(module)
    }

    /// The kernels of several instances, their programs compiled at the same time.
    pub(crate) fn kernels(&self, instances: &[Instance]) -> Result<Vec<Kernel>, Error> {
        let mut missing: Vec<&Instance> = Vec::new();
        for instance in instances {
            let known = self.kernels.lock().expect("no holder panics").contains_key(instance);
            if !known && !missing.iter().any(|other| other.is_beside(instance)) {
                missing.push(instance);
            }
        }
        // To ask for the parallelism takes longer than some sorts.
        if !missing.is_empty() {
            let threads = std::thread::available_parallelism().map_or(1, |n| n.get()).min(missing.len());
            std::thread::scope(|scope| {
                for first in 0..threads {
                    let own = missing.iter().skip(first).step_by(threads);
                    // What is missing then, for want of a thread too, is asked for again below, and says why there.
                    let compile = move || own.map_while(|instance| self.module(instance).ok()).for_each(drop);
                    let _ = std::thread::Builder::new().spawn_scoped(scope, compile);
                }
            });
        }
        instances.iter().map(|instance| self.kernel(instance)).collect()
    }

    /// The pinned memory that is kept from sort to sort.
    pub(crate) fn rings(&self) -> &Kept {
        &self.rings
    }

    /// Scratch of at least so many words, its content unspecified.
    pub(crate) fn scratch(&self, words: usize) -> Result<Buffer<u32>, Error> {
        let mut free = self.scratch.lock().expect("no holder panics");
        // The smallest that fits, so that a large one is there for who needs it.
        let fits = (0..free.len()).filter(|&i| free[i].len() >= words).min_by_key(|&i| free[i].len());
        if let Some(fits) = fits {
            return Ok(free.swap_remove(fits));
        }
        // What is too small will not be asked for again.
        free.clear();
        alloc(&self.device, words)
    }

    /// The engine on the same device, with the same kernels and no scratch but this: nobody else can take that.
    pub(super) fn with_scratch(&self, scratch: Vec<Buffer<u32>>) -> Gpu {
        Gpu {
            device: self.device.clone(),
            kernels: self.kernels.clone(),
            modules: self.modules.clone(),
            scratch: Mutex::new(scratch),
            rings: self.rings.clone(),
        }
    }

    /// Keeps scratch for later calls.
    pub(crate) fn keep(&self, scratch: Buffer<u32>) {
        self.scratch.lock().expect("no holder panics").push(scratch);
    }

    /// Keeps what is dear to get for later calls, as long as it all is a small part of the device's memory.
    pub(super) fn keep_some(&self, buffers: impl Iterator<Item = Buffer<u32>>) {
        let part = self.device.properties().memory_total / KEPT_PART;
        let mut room = part.saturating_sub(self.kept_scratch());
        for buffer in buffers.filter(|buffer| !buffer.is_empty()) {
            let bytes = buffer.view().bytes() as u64;
            if bytes <= room {
                room -= bytes;
                self.keep(buffer);
            }
        }
    }

    /// Keeps all that another engine on the device has kept.
    pub(crate) fn keep_all_of(&self, other: Gpu) {
        other.into_scratch().into_iter().for_each(|scratch| self.keep(scratch));
    }

    /// The scratch that it has kept.
    pub(super) fn into_scratch(self) -> Vec<Buffer<u32>> {
        self.scratch.into_inner().expect("no holder panics")
    }

    /// Takes room on the device, if need be that of what was kept for later calls.
    pub(super) fn take_room<T>(&self, take: impl Fn() -> Result<T, Error>) -> Result<T, Error> {
        take().or_else(|error| match error {
            Error::Memory { bound: Bound::Device, .. } => {
                self.give_back_scratch();
                take()
            }
            other => Err(other),
        })
    }

    /// Bytes of the scratch that is free.
    pub(crate) fn kept_scratch(&self) -> u64 {
        self.scratch.lock().expect("no holder panics").iter().map(|kept| 4 * kept.len() as u64).sum()
    }

    /// Gives free scratch back to the device.
    pub(super) fn give_back_scratch(&self) {
        self.scratch.lock().expect("no holder panics").clear();
    }

    /// What has been enqueued on the stream, with the scratch that it uses.
    pub(crate) fn pending(
        &self,
        stream: &Stream,
        scratch: Option<Buffer<u32>>,
    ) -> Result<Pending<'_>, Error> {
        let done = self.device.event()?;
        stream.record(&done)?;
        Ok(Pending { gpu: self, done, scratch: scratch.into_iter().collect() })
    }
}

/// A sort that has been enqueued. Dropping it waits where it has scratch to give back.
#[must_use = "the sort may not be done, and its scratch is held until it is"]
#[derive(Debug)]
pub struct Pending<'gpu> {
    gpu: &'gpu Gpu,
    done: Event,
    scratch: Vec<Buffer<u32>>,
}

impl Pending<'_> {
    /// Waits until the sort is done.
    ///
    /// # Errors
    /// [`Error::Device`] where the device was lost meanwhile.
    pub fn wait(mut self) -> Result<(), Error> {
        self.finish()
    }

    /// Gives the scratch back before the sort is done: to whoever enqueues on the same stream after it, and to nobody else.
    pub(crate) fn release(mut self) {
        self.scratch.drain(..).for_each(|scratch| self.gpu.keep(scratch));
    }

    /// Holds more scratch, of what was enqueued on the same stream before.
    pub(crate) fn holding(mut self, scratch: Buffer<u32>) -> Self {
        self.scratch.push(scratch);
        self
    }

    /// Holds what an earlier one of the same stream held too.
    pub(crate) fn after(mut self, mut earlier: Pending<'_>) -> Self {
        self.scratch.append(&mut earlier.scratch);
        self
    }

    fn finish(&mut self) -> Result<(), Error> {
        self.done.wait()?;
        self.gpu.scratch.lock().expect("no holder panics").append(&mut self.scratch);
        Ok(())
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        // A lost device has no scratch to give back.
        if !self.scratch.is_empty() {
            let _ = self.finish();
        }
    }
}
