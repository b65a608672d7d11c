//! The driver: what a device does, done at once and in order.

use std::collections::HashMap;
use std::ffi::c_void;
use std::fmt;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use sortie_device::{Driver, Error, Launch, Program, Properties, peer};

use crate::compiler::{self, Build};
use crate::memory::Memory;
use crate::runtime::{LaunchJob, Module, Runtime};
use crate::{LaunchCounts, Options, Sanitizer};

/// Threads that a multiprocessor holds, and a block.
const THREADS_PER_MULTIPROCESSOR: u32 = 2048;
const THREADS_PER_BLOCK: u32 = 1024;
/// Threads resident at once: each has a stack.
const RESIDENT_THREADS: u32 = 8192;

/// What launches cost.
#[derive(Debug, Default)]
pub struct Log(Mutex<Vec<LaunchCounts>>);

impl Log {
    pub fn take(&self) -> Vec<LaunchCounts> {
        std::mem::take(&mut *held(&self.0))
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
    memory: Memory,
    /// By handle; handles are never used again.
    modules: HashMap<u64, Module>,
    functions: HashMap<u64, Function>,
    events: HashMap<u64, Instant>,
    handles: u64,
    launches: u64,
    /// Launches, copies and fills so far.
    enqueued: u64,
}

struct Function {
    module: u64,
    entry: u64,
    name: String,
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
                reason: "AddressSanitizer and counts need builds of their own: ask for one of them".into(),
            });
        }
        if build == Build::Address && !compiler::under_address_sanitizer() {
            return Err(Error::NoDevice {
                reason: "AddressSanitizer has to be there when the process starts: \
                         start it with sortie_simt::address_sanitizer()"
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
            memory: Memory::new(options.memory, options.allocations, build != Build::Address),
            modules: HashMap::new(),
            functions: HashMap::new(),
            events: HashMap::new(),
            handles: 0,
            launches: 0,
            enqueued: 0,
        };
        Ok(Simulated { runtime: Runtime::of(build)?, options, properties, log, state: Mutex::new(state) })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        held(&self.state)
    }

    /// For a launch, a copy or a fill: fails where that was asked for.
    fn working(&self, call: &'static str) -> Result<MutexGuard<'_, State>, Error> {
        let mut state = self.state();
        state.enqueued += 1;
        if self.options.failing == Some(state.enqueued - 1) {
            return Err(Error::Driver { call, code: 0, message: "it was asked to fail".into() });
        }
        Ok(state)
    }

    /// Blocks that the device holds at a time.
    fn resident_blocks(&self, launch: &Launch) -> u32 {
        let by_threads = THREADS_PER_MULTIPROCESSOR / launch.threads;
        let by_shared = self.options.shared_per_block.checked_div(launch.shared).unwrap_or(usize::MAX);
        let on_one = by_threads.min(u32::try_from(by_shared).unwrap_or(u32::MAX)).max(1);
        (on_one * self.options.multiprocessors).min(RESIDENT_THREADS / launch.threads).max(1)
    }

    /// Whether a device would take a launch of that shape.
    fn check(&self, launch: &Launch) -> Result<(), String> {
        if launch.threads == 0 || launch.threads > THREADS_PER_BLOCK {
            return Err(format!("a block has 1 to {THREADS_PER_BLOCK} threads"));
        }
        if launch.shared > self.options.shared_per_block {
            return Err(format!(
                "a block has {} bytes of shared memory at most",
                self.options.shared_per_block
            ));
        }
        Ok(())
    }
}

/// What a panic elsewhere left behind is still whole: nothing here panics half-way.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
}

fn must_hold(memory: &Memory, address: u64, bytes: usize, what: &str) -> Result<(), Error> {
    if bytes == 0 || memory.holds(address, bytes) {
        return Ok(());
    }
    Err(Error::Fault(format!("{what} of {bytes} bytes at {address:#x}: no allocation holds all of them")))
}

// SAFETY: memory is of the size asked for, aligned to 256 bytes, and stays until it is freed; copies and fills are
// checked against it.
unsafe impl Driver for Simulated {
    fn properties(&self) -> &Properties {
        &self.properties
    }

    fn start(&self) -> Result<Duration, Error> {
        Ok(Duration::ZERO)
    }

    fn free_memory(&self) -> Result<u64, Error> {
        Ok(self.state().memory.available())
    }

    fn alloc(&self, bytes: usize) -> Result<u64, Error> {
        self.state().memory.alloc(bytes)
    }

    unsafe fn free(&self, address: u64) {
        assert!(self.state().memory.free(address), "{address:#x} is freed, and was not allocated");
    }

    fn alloc_pinned(&self, bytes: usize) -> Result<*mut u8, Error> {
        Ok(self.state().memory.alloc_pinned(bytes)? as *mut u8)
    }

    unsafe fn free_pinned(&self, at: *mut u8) {
        assert!(self.state().memory.free(at as u64), "{at:?} is freed, and was not allocated");
    }

    fn stream(&self) -> Result<u64, Error> {
        Ok(self.state().handle())
    }

    unsafe fn free_stream(&self, _stream: u64) {}

    unsafe fn wait_stream(&self, _stream: u64) -> Result<(), Error> {
        Ok(())
    }

    fn event(&self) -> Result<u64, Error> {
        Ok(self.state().handle())
    }

    unsafe fn free_event(&self, event: u64) {
        self.state().events.remove(&event);
    }

    unsafe fn record(&self, event: u64, _stream: u64) -> Result<(), Error> {
        self.state().events.insert(event, Instant::now());
        Ok(())
    }

    unsafe fn stream_waits(&self, _stream: u64, _event: u64) -> Result<(), Error> {
        Ok(())
    }

    unsafe fn wait_event(&self, _event: u64) -> Result<(), Error> {
        Ok(())
    }

    unsafe fn elapsed_ms(&self, from: u64, to: u64) -> Result<f32, Error> {
        let state = self.state();
        let at = |event| {
            state.events.get(&event).copied().ok_or(Error::Driver {
                call: "elapsed_ms",
                code: 0,
                message: "the event was not recorded".into(),
            })
        };
        Ok(at(to)?.saturating_duration_since(at(from)?).as_secs_f32() * 1e3)
    }

    unsafe fn copy_in(&self, to: u64, from: *const u8, bytes: usize, _stream: u64) -> Result<(), Error> {
        let state = self.working("copy_in")?;
        must_hold(&state.memory, to, bytes, "a copy to the device")?;
        // SAFETY: the target is ours; the caller vouches for the source. They may be one, where it is pinned memory.
        unsafe { ptr::copy(from, to as *mut u8, bytes) };
        Ok(())
    }

    unsafe fn copy_out(&self, to: *mut u8, from: u64, bytes: usize, _stream: u64) -> Result<(), Error> {
        let state = self.working("copy_out")?;
        must_hold(&state.memory, from, bytes, "a copy from the device")?;
        // SAFETY: the source is ours; the caller vouches for the target.
        unsafe { ptr::copy(from as *const u8, to, bytes) };
        Ok(())
    }

    unsafe fn copy_within(&self, to: u64, from: u64, bytes: usize, _stream: u64) -> Result<(), Error> {
        let state = self.working("copy_within")?;
        must_hold(&state.memory, from, bytes, "a copy on the device")?;
        must_hold(&state.memory, to, bytes, "a copy on the device")?;
        if to.abs_diff(from) < bytes as u64 {
            return Err(Error::Fault(format!(
                "a copy of {bytes} bytes from {from:#x} to {to:#x} overlaps itself"
            )));
        }
        // SAFETY: both are ours, and apart.
        unsafe { ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, bytes) };
        Ok(())
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
        must_hold(&other.state().memory, from, bytes, "a copy from another device")?;
        let state = self.working("copy_from_peer")?;
        must_hold(&state.memory, to, bytes, "a copy from another device")?;
        // SAFETY: the target is this device's and the source the other's, which the caller keeps.
        unsafe { ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, bytes) };
        Ok(())
    }

    unsafe fn fill(&self, to: u64, byte: u8, bytes: usize, _stream: u64) -> Result<(), Error> {
        let state = self.working("fill")?;
        must_hold(&state.memory, to, bytes, "a fill")?;
        // SAFETY: the memory is ours.
        unsafe { ptr::write_bytes(to as *mut u8, byte, bytes) };
        Ok(())
    }

    fn load(&self, program: &Program) -> Result<u64, Error> {
        let module = Module::new(&self.runtime, program)?;
        let mut state = self.state();
        let handle = state.handle();
        state.modules.insert(handle, module);
        Ok(handle)
    }

    unsafe fn unload(&self, module: u64) {
        let mut state = self.state();
        state.functions.retain(|_, function| function.module != module);
        state.modules.remove(&module);
    }

    unsafe fn function(&self, module: u64, name: &str) -> Result<u64, Error> {
        let mut state = self.state();
        let entry = state.modules[&module].entry(name).ok_or_else(|| Error::Driver {
            call: "function",
            code: 0,
            message: format!("the program has no kernel {name}"),
        })?;
        let handle = state.handle();
        state.functions.insert(handle, Function { module, entry, name: name.into() });
        Ok(handle)
    }

    unsafe fn launch(
        &self,
        function: u64,
        launch: &Launch,
        arguments: &[*const c_void],
        _stream: u64,
    ) -> Result<(), Error> {
        let mut state = self.working("launch")?;
        state.launches += 1;
        let State { memory, modules, functions, launches, .. } = &mut *state;
        let Function { module, entry, name } = &functions[&function];
        self.check(launch).map_err(|message| Error::Driver { call: "launch", code: 0, message })?;
        let job = LaunchJob {
            launch: *launch,
            arguments,
            regions: &memory.regions(),
            // No two launches of a device are alike.
            seed: self.options.seed.wrapping_add(launches.wrapping_mul(0xD1B5_4A32_D192_ED03)),
            resident_blocks: self.resident_blocks(launch),
            segment_words: self.options.segment_words,
            race: self.options.sanitizer == Sanitizer::Race,
            count: self.options.count,
        };
        // SAFETY: the entry is of this module; the caller vouches for the arguments.
        let result = unsafe { modules[module].run(*entry, &job) };
        let fault = |message: String| Error::Fault(format!("kernel {name}: {message}"));
        let counts = result.map_err(fault)?;
        if let Some(damage) = memory.damage() {
            return Err(fault(damage));
        }
        if self.options.count {
            let (blocks, threads) = (launch.blocks, launch.threads);
            held(&self.log.0).push(LaunchCounts { kernel: name.clone(), blocks, threads, counts });
        }
        Ok(())
    }
}
