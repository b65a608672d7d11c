//! Loads libraries that g++ has built, and calls into them.

use std::collections::HashMap;
use std::ffi::{CStr, c_void};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use libloading::Library;
use sortie_device::{Error, Launch, Program};

use crate::compiler::{self, Build};
use crate::memory::Region;
use crate::{places, source};

/// The cost of a launch in the K-model, which counts accesses by whole warps.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Counts {
    /// Accesses to global memory, including atomics.
    pub global_accesses: u64,
    /// Segments that these accesses touched. Each is one transaction.
    pub transactions: u64,
    /// Accesses to shared memory.
    pub shared_accesses: u64,
    /// Additional rounds of these accesses, needed because they touched different words in one bank.
    pub conflicts: u64,
    /// Branches at which the lanes of a warp went different ways.
    pub divergent_branches: u64,
}

/// What the bench needs to call a kernel; also declared in `runtime/simt_bench.h`.
#[repr(C)]
struct Entry {
    call: unsafe extern "C" fn(*const *const c_void),
    threads: u32,
    sizes: *const u64,
}

/// `Request` in `runtime/machine.h`.
#[repr(C)]
struct Request {
    entry: *const Entry,
    arguments: *const *const c_void,
    regions: *const Region,
    region_count: u64,
    shared: u64,
    seed: u64,
    blocks: u32,
    threads: u32,
    resident_blocks: u32,
    segment_words: u32,
    race: u8,
    count: u8,
    overlaps: u8,
}

/// `Outcome` in `runtime/machine.h`.
#[repr(C)]
struct Outcome {
    counts: Counts,
    module_base: u64,
    failed: u32,
    message: [u8; 4096],
}

type Run = unsafe extern "C" fn(*const Request, *mut Outcome);

/// The runtime for one kind of build.
#[derive(Debug)]
pub struct Runtime {
    build: Build,
    path: PathBuf,
    library: Library,
}

impl Runtime {
    /// Loads the runtime once per process and keeps it loaded, because its stacks belong to threads of the process.
    pub fn of(build: Build) -> Result<Arc<Runtime>, Error> {
        static LOADED: OnceLock<Mutex<HashMap<Build, Arc<Runtime>>>> = OnceLock::new();
        let mut loaded = LOADED.get_or_init(Mutex::default).lock().expect("nothing panics while it is held");
        if let Some(runtime) = loaded.get(&build) {
            return Ok(runtime.clone());
        }
        let path = compiler::runtime(build)?;
        let runtime = Arc::new(Runtime { build, library: open(&path)?, path });
        loaded.insert(build, runtime.clone());
        Ok(runtime)
    }
}

/// The library of a program.
#[derive(Debug)]
pub struct Module {
    runtime: Arc<Runtime>,
    path: PathBuf,
    library: Library,
}

impl Module {
    pub fn new(runtime: &Arc<Runtime>, program: &Program) -> Result<Module, Error> {
        let path = compiler::program(program, runtime.build, &runtime.path)?;
        Ok(Module { runtime: runtime.clone(), library: open(&path)?, path })
    }

    /// The address of the kernel's entry; `None` if there is no such kernel.
    pub fn entry(&self, name: &str) -> Option<u64> {
        // SAFETY: entries are constants of this type.
        let symbol = unsafe { self.library.get::<*const Entry>(format!("{}{name}", source::ENTRY)) };
        symbol.ok().map(|entry| *entry as u64)
    }

    /// The size of each argument of a kernel in bytes.
    ///
    /// # Safety
    ///
    /// `entry` is from this module.
    pub unsafe fn argument_sizes(&self, entry: u64) -> Vec<usize> {
        let entry = entry as *const Entry;
        // SAFETY: the module is loaded, and the entry is a constant in it, whose list ends with 0.
        let size = |i: usize| unsafe { *(*entry).sizes.add(i) as usize };
        (0..).map(size).take_while(|&bytes| bytes > 0).collect()
    }

    /// Runs a kernel to its end. If it did something wrong, the error says what.
    ///
    /// # Safety
    ///
    /// `entry` is from this module, and the arguments are what the kernel takes.
    pub unsafe fn run(&self, entry: u64, job: &LaunchJob) -> Result<Counts, String> {
        let entry = entry as *const Entry;
        // SAFETY: the module is loaded, and the entry is a constant in it.
        let most = unsafe { (*entry).threads };
        if job.launch.threads > most {
            return Err(format!(
                "{} threads in a block, but the kernel allows at most {most}",
                job.launch.threads
            ));
        }
        let request = Request {
            entry,
            arguments: job.arguments.as_ptr(),
            regions: job.regions.as_ptr(),
            region_count: job.regions.len() as u64,
            shared: job.launch.shared as u64,
            seed: job.seed,
            blocks: job.launch.blocks,
            threads: job.launch.threads,
            resident_blocks: job.resident_blocks,
            segment_words: job.segment_words,
            race: job.race.into(),
            count: job.count.into(),
            overlaps: job.overlaps.into(),
        };
        let mut outcome =
            Outcome { counts: Counts::default(), module_base: 0, failed: 0, message: [0; 4096] };
        // SAFETY: the runtime has this function.
        let run = unsafe { self.runtime.library.get::<Run>("simt_launch") }.expect("the runtime has it");
        // SAFETY: both are laid out as the runtime expects; the caller guarantees the entry and the arguments.
        unsafe { run(&request, &mut outcome) };
        if outcome.failed == 0 {
            return Ok(outcome.counts);
        }
        let message = CStr::from_bytes_until_nul(&outcome.message).expect("the runtime ends its messages");
        Err(places::named(&message.to_string_lossy(), &self.path, outcome.module_base))
    }
}

/// A launch, and what to check in it.
pub struct LaunchJob<'a> {
    pub launch: Launch,
    pub arguments: &'a [*const c_void],
    pub regions: &'a [Region],
    pub seed: u64,
    pub resident_blocks: u32,
    pub segment_words: u32,
    pub race: bool,
    pub count: bool,
    /// Whether the kernel must call `await_turn`.
    pub overlaps: bool,
}

fn open(path: &Path) -> Result<Library, Error> {
    // SAFETY: this project built the library; its only initialisers are those of the C++ library and the sanitizers.
    unsafe { Library::new(path) }.map_err(|error| Error::NoCompiler {
        reason: format!(
            "the library that g++ built cannot be loaded; delete {} and try again: {error}",
            path.display()
        ),
    })
}
