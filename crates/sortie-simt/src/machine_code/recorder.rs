//! A device with given limits that runs nothing, but records what a sort compiles and launches on it.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sortie_device::{Device, Driver, Error, Launch, Program, Properties};

/// A program that a sort asked for, and how it launched the program's kernels.
#[derive(Debug, Clone)]
pub struct Recorded {
    pub program: Program,
    /// The maximum dynamic shared memory of each kernel, in bytes.
    pub shared: BTreeMap<String, usize>,
}

/// The programs that a sort asks for on a device with these limits, in the order of their first launch.
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
    // Several modules may be loaded at a time, in any order. The order of launches is that of the sort.
    let mut modules: Vec<usize> = (0..log.recorded.len()).collect();
    modules.sort_by_key(|module| {
        log.launched.iter().position(|launched| launched == module).unwrap_or(usize::MAX)
    });
    modules.into_iter().map(|module| log.recorded[module].clone()).collect()
}

#[derive(Debug, Default)]
struct Log {
    /// Indexed by the module's handle.
    recorded: Vec<Recorded>,
    /// Module and name, indexed by the function's handle.
    functions: Vec<(u64, String)>,
    /// The module of each launched function, in the order of launches.
    launched: Vec<usize>,
    /// The bytes of memory that were handed out.
    taken: u64,
}

#[derive(Debug)]
struct Recorder {
    properties: Properties,
    log: Arc<Mutex<Log>>,
}

/// The address where its memory begins, which is never accessed, and the alignment of allocations.
const ADDRESS: u64 = 1 << 32;
const ALIGNMENT: u64 = 256;

impl Recorder {
    /// Returns a new address range for each allocation.
    fn take(&self, bytes: usize) -> u64 {
        let taken = &mut self.log.lock().unwrap().taken;
        let address = ADDRESS + *taken;
        *taken += (bytes as u64).next_multiple_of(ALIGNMENT);
        address
    }
}

// SAFETY: no work runs, so nothing accesses the memory that was handed out.
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
