//! The driver: executes the operations of a device at once and in order.

use std::collections::HashMap;
use std::ffi::c_void;
use std::fmt;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use sortie_device::{Driver, Error, Launch, Program, Properties, peer};

use crate::compiler::{self, Build};
use crate::memory::Memory;
use crate::runtime::{Module, Runtime};
use crate::work::{Function, Held, Work, copied, must_hold};
use crate::{Calls, LaunchCounts, Options};

/// The costs of launches, and the number of calls.
#[derive(Debug, Default)]
pub struct Log {
    launches: Mutex<Vec<LaunchCounts>>,
    calls: Mutex<Calls>,
}

impl Log {
    pub fn take(&self) -> Vec<LaunchCounts> {
        std::mem::take(&mut *held(&self.launches))
    }

    pub fn calls(&self) -> Calls {
        *held(&self.calls)
    }
}

/// A device without concurrency between streams: work is done when it is enqueued.
pub struct Simulated {
    options: Options,
    properties: Properties,
    runtime: Arc<Runtime>,
    log: Arc<Log>,
    state: Mutex<State>,
}

struct State {
    held: Held,
    /// The time when each event was last recorded, by handle. `None` if it was recorded while its stream was captured.
    events: HashMap<u64, Option<Instant>>,
    /// The work captured so far, for each stream that is being captured.
    captures: HashMap<u64, Captured>,
    graphs: HashMap<u64, Captured>,
    handles: u64,
    /// The number of launches, copies and fills so far.
    enqueued: u64,
}

/// Captured work and the memory that it allocated, which it owns until it is freed.
#[derive(Debug, Default)]
struct Captured {
    work: Vec<Work>,
    memory: Vec<u64>,
    /// The error of a call that cannot be captured.
    refused: Option<Error>,
}

impl Captured {
    fn free(self, memory: &mut Memory) {
        self.memory.into_iter().for_each(|address| assert!(memory.free(address)));
    }
}

impl State {
    fn handle(&mut self) -> u64 {
        self.handles += 1;
        self.handles
    }
}

impl fmt::Debug for Simulated {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Simulated").field("options", &self.options).finish_non_exhaustive()
    }
}

impl Simulated {
    pub fn new(options: Options, log: Arc<Log>) -> Result<Simulated, Error> {
        let build = Build::new(options.sanitizer, options.count);
        if build == Build::Address && options.count {
            return Err(Error::NoDevice {
                reason: "AddressSanitizer and counts need separate builds; choose one of them".into(),
            });
        }
        if build == Build::Address && !compiler::under_address_sanitizer() {
            return Err(Error::NoDevice {
                reason: "AddressSanitizer must be loaded when the process starts; start it with \
                         sortie_simt::address_sanitizer()"
                    .into(),
            });
        }
        let compute_capability = match options.shared_per_block {
            0..=0xFFFF => (7, 5),
            0x1_0000..=0x1_FFFF => (8, 9),
            _ => (9, 0),
        };
        let properties = Properties {
            name: "test bench".into(),
            kind: "simulated",
            ordinal: 0,
            id: format!("simulated-{}-{}", options.shared_per_block, options.multiprocessors),
            compute_capability,
            multiprocessors: options.multiprocessors,
            shared_per_block: options.shared_per_block,
            memory_total: options.memory,
            l2_bytes: 32 << 10,
        };
        let state = State {
            held: Held::new(Memory::new(options.memory, options.allocations, build != Build::Address)),
            events: HashMap::new(),
            captures: HashMap::new(),
            graphs: HashMap::new(),
            handles: 0,
            enqueued: 0,
        };
        Ok(Simulated { runtime: Runtime::of(build)?, options, properties, log, state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        held(&self.state)
    }

    /// Counts a launch, a copy or a fill. Fails if it is the one that was asked to fail.
    fn working(&self, state: &mut State, call: &'static str) -> Result<(), Error> {
        state.enqueued += 1;
        if self.options.failing == Some(state.enqueued - 1) {
            return Err(failed(call, "it was asked to fail"));
        }
        Ok(())
    }

    /// Does the work at once, or captures it.
    ///
    /// # Safety
    ///
    /// As for the method of [`Driver`] that enqueues it.
    unsafe fn enqueue(&self, work: Work, stream: u64) -> Result<(), Error> {
        let mut state = self.state();
        match state.captures.get_mut(&stream) {
            Some(captured) => captured.work.push(work),
            // SAFETY: the caller guarantees it.
            None => unsafe { self.run(&work, &mut state)? },
        }
        Ok(())
    }

    /// # Safety
    ///
    /// As for [`Work::run`].
    unsafe fn run(&self, work: &Work, state: &mut State) -> Result<(), Error> {
        self.working(state, work.name())?;
        // SAFETY: the caller guarantees it.
        let counts = unsafe { work.run(&mut state.held, &self.options)? };
        held(&self.log.launches).extend(counts);
        Ok(())
    }

    /// Counts a call that waits. `refused` is the error if captured work would be waited for, which never runs.
    fn waiting(&self, refused: Option<Error>) -> Result<(), Error> {
        held(&self.log.calls).waits += 1;
        refused.map_or(Ok(()), Err)
    }
}

fn failed(call: &'static str, message: &str) -> Error {
    Error::Driver { call, code: 0, message: message.into() }
}

/// Ignores poisoning: no code here panics while the data is inconsistent.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

// SAFETY: an allocation has the requested size, is aligned to 256 bytes, and stays until it is freed. Copies and fills
// are checked to lie within an allocation.
unsafe impl Driver for Simulated {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn start(&self) -> Result<Duration, Error> {
        Ok(Duration::ZERO)
    }

    fn free_memory(&self) -> Result<u64, Error> {
        Ok(self.state().held.memory.available())
    }

    fn alloc(&self, bytes: usize) -> Result<u64, Error> {
        held(&self.log.calls).allocations += 1;
        self.state().held.memory.alloc(bytes)
    }

    unsafe fn free(&self, address: u64) {
        held(&self.log.calls).waits += 1;
        assert!(self.state().held.memory.free(address), "{address:#x} is freed, but was not allocated");
    }

    unsafe fn alloc_on(&self, bytes: usize, stream: u64) -> Result<u64, Error> {
        let address = self.alloc(bytes)?;
        if let Some(captured) = self.state().captures.get_mut(&stream) {
            captured.memory.push(address);
        }
        Ok(address)
    }

    unsafe fn free_on(&self, address: u64, stream: u64) {
        let mut state = self.state();
        // A graph keeps the memory that it allocates, even if it frees it.
        if state.captures.get(&stream).is_none_or(|captured| !captured.memory.contains(&address)) {
            assert!(state.held.memory.free(address), "{address:#x} is freed, but was not allocated");
        }
    }

    fn alloc_pinned(&self, bytes: usize) -> Result<*mut u8, Error> {
        Ok(self.state().held.memory.alloc_pinned(bytes)? as *mut u8)
    }

    unsafe fn free_pinned(&self, at: *mut u8) {
        assert!(self.state().held.memory.free(at as u64), "{at:?} is freed, but was not allocated");
    }

    fn stream(&self) -> Result<u64, Error> {
        Ok(self.state().handle())
    }

    unsafe fn free_stream(&self, _stream: u64) {}

    unsafe fn wait_stream(&self, stream: u64) -> Result<(), Error> {
        let mut state = self.state();
        let refused = state.captures.get_mut(&stream).map(|captured| {
            let error = failed("wait_stream", "the stream is being captured");
            captured.refused.get_or_insert(error).clone()
        });
        self.waiting(refused)
    }

    fn event(&self) -> Result<u64, Error> {
        Ok(self.state().handle())
    }

    unsafe fn free_event(&self, event: u64) {
        self.state().events.remove(&event);
    }

    unsafe fn record(&self, event: u64, stream: u64) -> Result<(), Error> {
        let mut state = self.state();
        let now = (!state.captures.contains_key(&stream)).then(Instant::now);
        state.events.insert(event, now);
        Ok(())
    }

    unsafe fn stream_waits(&self, _stream: u64, _event: u64) -> Result<(), Error> {
        Ok(())
    }

    unsafe fn wait_event(&self, event: u64) -> Result<(), Error> {
        let is_captured = matches!(self.state().events.get(&event), Some(None));
        self.waiting(
            is_captured.then(|| failed("wait_event", "it was recorded while the stream was captured")),
        )
    }

    unsafe fn elapsed_ms(&self, from: u64, to: u64) -> Result<f32, Error> {
        let state = self.state();
        let at = |event| {
            state
                .events
                .get(&event)
                .copied()
                .flatten()
                .ok_or(failed("elapsed_ms", "the event was not recorded"))
        };
        Ok(at(to)?.saturating_duration_since(at(from)?).as_secs_f32() * 1e3)
    }

    unsafe fn copy_in(&self, to: u64, from: *const u8, bytes: usize, stream: u64) -> Result<(), Error> {
        // SAFETY: the caller guarantees it.
        unsafe { self.enqueue(Work::CopyIn { to, from: from as u64, bytes }, stream) }
    }

    unsafe fn copy_out(&self, to: *mut u8, from: u64, bytes: usize, stream: u64) -> Result<(), Error> {
        // SAFETY: the caller guarantees it.
        unsafe { self.enqueue(Work::CopyOut { to: to as u64, from, bytes }, stream) }
    }

    unsafe fn copy_within(&self, to: u64, from: u64, bytes: usize, stream: u64) -> Result<(), Error> {
        // SAFETY: the caller guarantees it.
        unsafe { self.enqueue(Work::CopyWithin { to, from, bytes }, stream) }
    }

    fn is_linked_to(&self, _other: &dyn Driver) -> Result<bool, Error> {
        Ok(true)
    }

    unsafe fn copy_from_peer(
        &self,
        to: u64,
        other: &dyn Driver,
        from: u64,
        bytes: usize,
        _stream: u64,
    ) -> Result<(), Error> {
        let other: &Simulated = peer(other)?;
        must_hold(&other.state().held.memory, from, bytes, "a copy from another device")?;
        let mut state = self.state();
        self.working(&mut state, "copy_from_peer")?;
        must_hold(&state.held.memory, to, bytes, "a copy from another device")?;
        // SAFETY: the target is in this device's memory and the source in the other's, which the caller keeps.
        unsafe { ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, bytes) };
        Ok(())
    }

    unsafe fn fill(&self, to: u64, byte: u8, bytes: usize, stream: u64) -> Result<(), Error> {
        // SAFETY: the caller guarantees it.
        unsafe { self.enqueue(Work::Fill { to, byte, bytes }, stream) }
    }

    unsafe fn begin_capture(&self, stream: u64) -> Result<(), Error> {
        match self.state().captures.insert(stream, Captured::default()) {
            None => Ok(()),
            Some(_) => Err(failed("begin_capture", "the stream is being captured")),
        }
    }

    unsafe fn end_capture(&self, stream: u64) -> Result<u64, Error> {
        let mut state = self.state();
        let no_capture = failed("end_capture", "the stream is not being captured");
        let mut captured = state.captures.remove(&stream).ok_or(no_capture)?;
        if let Some(refused) = captured.refused.take() {
            captured.free(&mut state.held.memory);
            return Err(refused);
        }
        let handle = state.handle();
        state.graphs.insert(handle, captured);
        Ok(handle)
    }

    unsafe fn launch_graph(&self, graph: u64, _stream: u64) -> Result<(), Error> {
        let mut state = self.state();
        let work = state.graphs[&graph].work.clone();
        // SAFETY: the caller guarantees it.
        work.iter().try_for_each(|work| unsafe { self.run(work, &mut state) })
    }

    unsafe fn free_graph(&self, graph: u64) {
        let mut state = self.state();
        let captured = state.graphs.remove(&graph);
        captured.into_iter().for_each(|captured| captured.free(&mut state.held.memory));
    }

    fn load(&self, program: &Program) -> Result<u64, Error> {
        let module = Module::new(&self.runtime, program)?;
        let mut state = self.state();
        let handle = state.handle();
        state.held.modules.insert(handle, module);
        Ok(handle)
    }

    unsafe fn unload(&self, module: u64) {
        let mut state = self.state();
        state.held.functions.retain(|_, function| function.module != module);
        state.held.modules.remove(&module);
    }

    unsafe fn function(&self, module: u64, name: &str) -> Result<u64, Error> {
        let mut state = self.state();
        let missing = || failed("function", &format!("the program has no kernel {name}"));
        let entry = state.held.modules[&module].entry(name).ok_or_else(missing)?;
        let handle = state.handle();
        state.held.functions.insert(handle, Function { module, entry, name: name.into() });
        Ok(handle)
    }

    unsafe fn launch(
        &self,
        function: u64,
        launch: &Launch,
        overlaps: bool,
        arguments: &[*const c_void],
        stream: u64,
    ) -> Result<(), Error> {
        let arguments = {
            let Held { modules, functions, .. } = &self.state().held;
            let Function { module, entry, .. } = &functions[&function];
            // SAFETY: the entry is from this module; the caller guarantees the arguments.
            unsafe { copied(arguments, &modules[module].argument_sizes(*entry)) }
        };
        // SAFETY: the caller guarantees it.
        unsafe { self.enqueue(Work::Launch { function, launch: *launch, overlaps, arguments }, stream) }
    }
}
