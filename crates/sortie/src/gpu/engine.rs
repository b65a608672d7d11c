//! The engine on one device, and what it keeps between calls.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::hash::Hash;
use std::marker::PhantomData;
use std::sync::{Arc, LazyLock, Mutex};

use sortie_device::{Device, Event, Kernel, Module, Stream};

use super::kernels::Instance;
use super::ring::Kept;
use crate::Error;

/// The engines that [`Gpu::cuda`] has given out.
static ENGINES: LazyLock<Mutex<HashMap<u32, Arc<Gpu>>>> = LazyLock::new(Mutex::default);

/// The kernels that a sort needs, named by what determines them: listing all instances takes longer than some sorts.
pub(crate) trait KernelSet: Clone + Eq + Hash + Send + 'static {
    /// The instances of each step.
    fn instances(&self) -> Vec<Vec<Instance>>;
}

/// The GPU engine on one device. It keeps the kernels that it has loaded. Between calls, it keeps up to 32 MiB of pinned memory
/// for each sort that ran at the same time, and for sorts of large host arrays 6 MiB for each thread. The device keeps the
/// scratch of all engines on it, up to a sixth of its memory.
#[derive(Debug)]
pub struct Gpu {
    device: Device,
    kernels: Mutex<HashMap<Instance, Kernel>>,
    /// For each type of a [`KernelSet`] its [`Sets`].
    sets: Mutex<HashMap<TypeId, Box<dyn Any + Send>>>,
    /// Their programs, each with one of its instances.
    modules: Mutex<Vec<(Instance, Module)>>,
    /// Pinned memory that is free.
    rings: Kept,
}

type Sets<S> = HashMap<S, Arc<[Vec<Kernel>]>>;

impl Gpu {
    /// The engine on a device. Allocates nothing on the device: the first sort compiles its kernels and gets its scratch.
    pub fn new(device: Device) -> Gpu {
        Gpu {
            device,
            kernels: Mutex::default(),
            sets: Mutex::default(),
            modules: Mutex::default(),
            rings: Kept::default(),
        }
    }

    /// The engine on the CUDA device with this number. All callers get the same one.
    ///
    /// # Errors
    /// [`Error::Device`] if there is no such device; the error says why.
    pub fn cuda(ordinal: u32) -> Result<Arc<Gpu>, Error> {
        let mut engines = ENGINES.lock().expect("no holder panics");
        if let Some(gpu) = engines.get(&ordinal) {
            return Ok(gpu.clone());
        }
        let gpu = Arc::new(Gpu::new(sortie_device::cuda::device(ordinal)?));
        engines.insert(ordinal, gpu.clone());
        Ok(gpu)
    }

    /// The engine that [`Gpu::cuda`] has returned before, if any.
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
        // Programs are compiled without the lock, so that several can be compiled at a time.
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
        // Asking for the parallelism takes longer than some sorts.
        if !missing.is_empty() {
            let threads = std::thread::available_parallelism().map_or(1, |n| n.get()).min(missing.len());
            std::thread::scope(|scope| {
                for first in 0..threads {
                    let own = missing.iter().skip(first).step_by(threads);
                    // If something is missing afterwards, perhaps because a thread could not start, it is requested again
                    // below, and the error appears there.
                    let compile = move || own.map_while(|instance| self.module(instance).ok()).for_each(drop);
                    let _ = std::thread::Builder::new().spawn_scoped(scope, compile);
                }
            });
        }
        instances.iter().map(|instance| self.kernel(instance)).collect()
    }

    /// The kernels of a set, step by step.
    pub(crate) fn kernel_set<S: KernelSet>(&self, set: &S) -> Result<Arc<[Vec<Kernel>]>, Error> {
        if let Some(known) = self.sets_of(|sets: &mut Sets<S>| sets.get(set).cloned()) {
            return Ok(known);
        }
        let steps = set.instances();
        let mut kernels = self.kernels(&steps.concat())?.into_iter();
        let kernels = steps.iter().map(|step| kernels.by_ref().take(step.len()).collect()).collect();
        Ok(self.sets_of(|sets| sets.entry(set.clone()).or_insert(kernels).clone()))
    }

    fn sets_of<S: KernelSet, R>(&self, work: impl FnOnce(&mut Sets<S>) -> R) -> R {
        let mut sets = self.sets.lock().expect("no holder panics");
        let own = sets.entry(TypeId::of::<S>()).or_insert_with(|| Box::new(Sets::<S>::new()));
        work(own.downcast_mut().expect("it is what was put there"))
    }

    /// The pinned memory that is kept from sort to sort.
    pub(crate) fn rings(&self) -> &Kept {
        &self.rings
    }

    /// What has been enqueued on the stream.
    pub(crate) fn pending(&self, stream: &Stream) -> Result<Pending<'_>, Error> {
        let done = self.device.event()?;
        stream.record(&done)?;
        Ok(Pending { engine: PhantomData, done })
    }
}

/// A sort that has been enqueued. Dropping it does not wait: the sort continues, and the promises to it must be kept until it
/// is done.
#[must_use = "call `wait` to learn when the sort is done and whether the device failed"]
#[derive(Debug)]
pub struct Pending<'gpu> {
    /// Its kernels run.
    engine: PhantomData<&'gpu Gpu>,
    done: Event,
}

impl Pending<'_> {
    /// Waits until the sort is done.
    ///
    /// # Errors
    /// [`Error::Device`] if the device was lost meanwhile, or if the sort was captured in a graph and is not running.
    pub fn wait(self) -> Result<(), Error> {
        Ok(self.done.wait()?)
    }
}
