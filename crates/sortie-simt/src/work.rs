//! Work that is enqueued on a stream. It is done at once, or captured and done whenever its graph is launched.

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr;

use sortie_device::{Error, Launch};

use crate::memory::Memory;
use crate::runtime::{LaunchJob, Module};
use crate::{LaunchCounts, Options, Sanitizer};

/// The maximum number of threads on a multiprocessor, and in a block.
const THREADS_PER_MULTIPROCESSOR: u32 = 2048;
const THREADS_PER_BLOCK: u32 = 1024;
/// The maximum number of threads that run at a time. Each has a stack.
const RESIDENT_THREADS: u32 = 8192;

/// What work uses and changes.
pub struct Held {
    pub memory: Memory,
    /// By handle. Handles are never reused.
    pub modules: HashMap<u64, Module>,
    pub functions: HashMap<u64, Function>,
    launches: u64,
}

pub struct Function {
    pub module: u64,
    pub entry: u64,
    pub name: String,
}

impl Held {
    pub fn new(memory: Memory) -> Self {
        Held { memory, modules: HashMap::new(), functions: HashMap::new(), launches: 0 }
    }
}

/// One piece of work. Host addresses are stored as numbers.
#[derive(Debug, Clone)]
pub enum Work {
    CopyIn { to: u64, from: u64, bytes: usize },
    CopyOut { to: u64, from: u64, bytes: usize },
    CopyWithin { to: u64, from: u64, bytes: usize },
    Fill { to: u64, byte: u8, bytes: usize },
    Launch { function: u64, launch: Launch, overlaps: bool, arguments: Vec<Value> },
}

/// The bytes of an argument, aligned for every type.
type Value = Vec<u128>;

/// Copies arguments of the given sizes.
///
/// # Safety
/// Each argument points to as many bytes as its size says.
pub unsafe fn copied(arguments: &[*const c_void], sizes: &[usize]) -> Vec<Value> {
    let copy = |(&from, &bytes): (&*const c_void, &usize)| {
        let mut value = vec![0u128; bytes.div_ceil(size_of::<u128>())];
        // SAFETY: the value has room for the bytes; the caller guarantees the source.
        unsafe { ptr::copy_nonoverlapping(from.cast::<u8>(), value.as_mut_ptr().cast(), bytes) };
        value
    };
    arguments.iter().zip(sizes).map(copy).collect()
}

impl Work {
    pub fn name(&self) -> &'static str {
        match self {
            Work::CopyIn { .. } => "copy_in",
            Work::CopyOut { .. } => "copy_out",
            Work::CopyWithin { .. } => "copy_within",
            Work::Fill { .. } => "fill",
            Work::Launch { .. } => "launch",
        }
    }

    /// Does the work. Returns the cost of a launch if costs are counted.
    ///
    /// # Safety
    ///
    /// As for the method of [`Driver`](sortie_device::Driver) that enqueues it.
    pub unsafe fn run(&self, held: &mut Held, options: &Options) -> Result<Option<LaunchCounts>, Error> {
        let memory = &held.memory;
        match *self {
            Work::CopyIn { to, from, bytes } => {
                must_hold(memory, to, bytes, "a copy to the device")?;
                // SAFETY: the target is ours; the caller guarantees the source. They may overlap, because pinned memory
                // is also ours.
                unsafe { ptr::copy(from as *const u8, to as *mut u8, bytes) };
            }
            Work::CopyOut { to, from, bytes } => {
                must_hold(memory, from, bytes, "a copy from the device")?;
                // SAFETY: the source is ours; the caller guarantees the target.
                unsafe { ptr::copy(from as *const u8, to as *mut u8, bytes) };
            }
            Work::CopyWithin { to, from, bytes } => {
                must_hold(memory, from, bytes, "a copy on the device")?;
                must_hold(memory, to, bytes, "a copy on the device")?;
                if to.abs_diff(from) < bytes as u64 {
                    return Err(Error::Fault(format!(
                        "a copy of {bytes} bytes from {from:#x} to {to:#x} overlaps itself"
                    )));
                }
                // SAFETY: both are ours and do not overlap.
                unsafe { ptr::copy_nonoverlapping(from as *const u8, to as *mut u8, bytes) };
            }
            Work::Fill { to, byte, bytes } => {
                must_hold(memory, to, bytes, "a fill")?;
                // SAFETY: the memory is ours.
                unsafe { ptr::write_bytes(to as *mut u8, byte, bytes) };
            }
            Work::Launch { function, launch, overlaps, ref arguments } => {
                // SAFETY: the caller guarantees it.
                return unsafe { run_kernel(function, launch, overlaps, arguments, held, options) };
            }
        }
        Ok(None)
    }
}

/// # Safety
///
/// As for [`Driver::launch`](sortie_device::Driver::launch).
unsafe fn run_kernel(
    function: u64,
    launch: Launch,
    overlaps: bool,
    arguments: &[Value],
    held: &mut Held,
    options: &Options,
) -> Result<Option<LaunchCounts>, Error> {
    held.launches += 1;
    let Held { memory, modules, functions, launches } = held;
    let function = &functions[&function];
    check(&launch, options).map_err(|message| Error::Driver { call: "launch", code: 0, message })?;
    let arguments: Vec<*const c_void> = arguments.iter().map(|value| value.as_ptr().cast()).collect();
    let job = LaunchJob {
        launch,
        arguments: &arguments,
        regions: &memory.regions(),
        // Each launch of a device has a different seed.
        seed: options.seed.wrapping_add(launches.wrapping_mul(0xD1B5_4A32_D192_ED03)),
        resident_blocks: resident_blocks(&launch, options),
        segment_words: options.segment_words,
        race: options.sanitizer == Sanitizer::Race,
        count: options.count,
        overlaps,
    };
    let fault = |message: String| Error::Fault(format!("kernel {}: {message}", function.name));
    // SAFETY: the entry is from this module; the caller guarantees the arguments.
    let counts = unsafe { modules[&function.module].run(function.entry, &job) }.map_err(fault)?;
    if let Some(damage) = memory.damage() {
        return Err(fault(damage));
    }
    let Launch { blocks, threads, .. } = launch;
    Ok(options.count.then(|| LaunchCounts { kernel: function.name.clone(), blocks, threads, counts }))
}

/// The number of blocks that the device runs at a time.
fn resident_blocks(launch: &Launch, options: &Options) -> u32 {
    let by_threads = THREADS_PER_MULTIPROCESSOR / launch.threads;
    let by_shared = options.shared_per_block.checked_div(launch.shared).unwrap_or(usize::MAX);
    let on_one = by_threads.min(u32::try_from(by_shared).unwrap_or(u32::MAX)).max(1);
    (on_one * options.multiprocessors).min(RESIDENT_THREADS / launch.threads).max(1)
}

/// Checks that a device would accept a launch of this shape.
fn check(launch: &Launch, options: &Options) -> Result<(), String> {
    if launch.threads == 0 || launch.threads > THREADS_PER_BLOCK {
        return Err(format!("a block has 1 to {THREADS_PER_BLOCK} threads"));
    }
    if launch.shared > options.shared_per_block {
        return Err(format!("a block has at most {} bytes of shared memory", options.shared_per_block));
    }
    Ok(())
}

pub fn must_hold(memory: &Memory, address: u64, bytes: usize, what: &str) -> Result<(), Error> {
    if bytes == 0 || memory.holds(address, bytes) {
        return Ok(());
    }
    Err(Error::Fault(format!("{what} of {bytes} bytes at {address:#x}: no allocation holds all of them")))
}
