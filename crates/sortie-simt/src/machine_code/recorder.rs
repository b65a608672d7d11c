//! A device that runs nothing: it has the limits of one, and records what a sort would compile and launch on it.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sortie_device::{Device, Driver, Error, Launch, Program, Properties};

/// A program that a sort asked for, and how it launched the kernels that it took from it.
#[derive(Debug, Clone)]
pub struct Recorded {
    pub program: Program,
    /// Each kernel's most bytes of dynamic shared memory.
    pub shared: BTreeMap<String, usize>,
}

/// What a sort asks for on a device of these limits, in that order.
pub fn record(
    compute_capability: (u32, u32),
    shared_per_block: usize,
    sort: impl FnOnce(Device),
) -> Vec<Recorded> {
    let log = Arc::new(Mutex::new(Log::default()));
    let properties = Properties {
        name: "a device that runs nothing".into(),
        kind: "recorder",
        ordinal: 0,
        id: "recorder".into(),
        compute_capability,
        multiprocessors: 100,
        shared_per_block,
        memory_total: 1 << 40,
        l2_bytes: 1 << 23,
    };
    sort(Device::new(Recorder { properties, log: log.clone() }));
    let log = log.lock().unwrap();
    // Several are loaded at a time, in any order; the order of launches is the sort's.
    let mut modules: Vec<usize> = (0..log.recorded.len()).collect();
    modules.sort_by_key(|module| {
        log.launched.iter().position(|launched| launched == module).unwrap_or(usize::MAX)
    });
    modules.into_iter().map(|module| log.recorded[module].clone()).collect()
}

#[derive(Debug, Default)]
struct Log {
    /// By the number that is the module's handle.
    recorded: Vec<Recorded>,
    /// Module and name, by the number that is the function's handle.
    functions: Vec<(u64, String)>,
    /// Modules, at each launch of their functions.
    launched: Vec<usize>,
    /// Bytes of memory that were handed out.
    taken: u64,
}

#[derive(Debug)]
struct Recorder {
    properties: Properties,
    log: Arc<Mutex<Log>>,
}

/// Where its memory is said to begin, which nobody looks at, and what each allocation is aligned to.
const ADDRESS: u64 = 1 << 32;
const ALIGNMENT: u64 = 256;

impl Recorder {
    /// Memory of its own for each allocation.
    fn take(&self, bytes: usize) -> u64 {
        let taken = &mut self.log.lock().unwrap().taken;
        let address = ADDRESS + *taken;
        *taken += (bytes as u64).next_multiple_of(ALIGNMENT);
        address
    }
}

// SAFETY: no work runs, so nothing reads or writes the memory that was handed out.
unsafe impl Driver for Recorder {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn start(&self) -> Result<Duration, Error> {
        Ok(Duration::ZERO)
    }

    fn free_memory(&self) -> Result<u64, Error> {
        Ok(self.properties.memory_total)
    }

    fn alloc(&self, bytes: usize) -> Result<u64, Error> {
        Ok(self.take(bytes))
    }

    unsafe fn free(&self, _address: u64) {}

    unsafe fn alloc_on(&self, bytes: usize, _stream: u64) -> Result<u64, Error> {
        Ok(self.take(bytes))
    }

    unsafe fn free_on(&self, _address: u64, _stream: u64) {}

    fn alloc_pinned(&self, needed: usize) -> Result<*mut u8, Error> {
        let reason = "nothing is copied here".into();
        Err(Error::OutOfPinned { needed: needed as u64, reason })
    }

    unsafe fn free_pinned(&self, _at: *mut u8) {}

    fn stream(&self) -> Result<u64, Error> {
        Ok(0)
    }

    unsafe fn free_stream(&self, _stream: u64) {}

    unsafe fn wait_stream(&self, _stream: u64) -> Result<(), Error> {
        Ok(())
    }

    fn event(&self) -> Result<u64, Error> {
        Ok(0)
    }

    unsafe fn free_event(&self, _event: u64) {}

    unsafe fn record(&self, _event: u64, _stream: u64) -> Result<(), Error> {
        Ok(())
    }

    unsafe fn stream_waits(&self, _stream: u64, _event: u64) -> Result<(), Error> {
        Ok(())
    }

    unsafe fn wait_event(&self, _event: u64) -> Result<(), Error> {
        Ok(())
    }

    unsafe fn elapsed_ms(&self, _from: u64, _to: u64) -> Result<f32, Error> {
        Ok(0.0)
    }

    unsafe fn copy_in(&self, _to: u64, _from: *const u8, _bytes: usize, _stream: u64) -> Result<(), Error> {
        Ok(())
    }

    unsafe fn copy_out(&self, _to: *mut u8, _from: u64, _bytes: usize, _stream: u64) -> Result<(), Error> {
        Ok(())
    }

    unsafe fn copy_within(&self, _to: u64, _from: u64, _bytes: usize, _stream: u64) -> Result<(), Error> {
        Ok(())
    }

    fn is_linked_to(&self, _other: &dyn Driver) -> Result<bool, Error> {
        Ok(true)
    }

    unsafe fn copy_from_peer(
        &self,
        _to: u64,
        _other: &dyn Driver,
        _from: u64,
        _bytes: usize,
        _stream: u64,
    ) -> Result<(), Error> {
        Ok(())
    }

    unsafe fn fill(&self, _to: u64, _byte: u8, _bytes: usize, _stream: u64) -> Result<(), Error> {
        Ok(())
    }

    unsafe fn begin_capture(&self, _stream: u64) -> Result<(), Error> {
        Ok(())
    }

    unsafe fn end_capture(&self, _stream: u64) -> Result<u64, Error> {
        Ok(0)
    }

    unsafe fn launch_graph(&self, _graph: u64, _stream: u64) -> Result<(), Error> {
        Ok(())
    }

    unsafe fn free_graph(&self, _graph: u64) {}

    fn load(&self, program: &Program) -> Result<u64, Error> {
        let recorded = &mut self.log.lock().unwrap().recorded;
        recorded.push(Recorded { program: program.clone(), shared: BTreeMap::new() });
        Ok(recorded.len() as u64 - 1)
    }

    unsafe fn unload(&self, _module: u64) {}

    unsafe fn function(&self, module: u64, name: &str) -> Result<u64, Error> {
        let functions = &mut self.log.lock().unwrap().functions;
        functions.push((module, name.into()));
        Ok(functions.len() as u64 - 1)
    }

    unsafe fn launch(
        &self,
        function: u64,
        launch: &Launch,
        _overlaps: bool,
        _arguments: &[*const c_void],
        _stream: u64,
    ) -> Result<(), Error> {
        let log = &mut *self.log.lock().unwrap();
        let (module, name) = &log.functions[function as usize];
        let most = log.recorded[*module as usize].shared.entry(name.clone()).or_default();
        *most = launch.shared.max(*most);
        log.launched.push(*module as usize);
        Ok(())
    }
}
