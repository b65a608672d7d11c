//! A test bench for kernels: a simulated GPU.
//!
//! [`device`] returns a [`Device`] like any other, which runs the unmodified kernel source on a CPU. g++ compiles it
//! against `runtime/`: each thread is a fiber, the lanes of a warp wait for one another at warp collectives, several
//! blocks are resident at once, and a seeded random number decides which thread runs next. It is slow, and only meant
//! for tests.
//!
//! A launch that does something wrong returns [`Error::Fault`], which names the kernel and the lines:
//!
//! - always: a barrier in divergent code, a warp collective that a lane does not reach, a shuffle from a lane outside
//!   the mask, a wait that can never end, a write just past an allocation or past shared memory, a false `assume`;
//! - with [`Sanitizer::Race`] or counts: any access outside the device's memory, and misaligned accesses;
//! - with [`Sanitizer::Race`]: two accesses that race;
//! - with [`Sanitizer::Address`]: errors that AddressSanitizer and UndefinedBehaviorSanitizer find. They report on
//!   standard error and end the process.
//!
//! [`or_skip`] says which failures to make a device may skip a test.
//!
//! [`machine_code`] checks the machine code of the same kernels for GPUs.
//!
//! The test bench cannot detect reorderings of a weak memory model, or races with work on another stream.

mod compiler;
mod driver;
pub mod machine_code;
mod memory;
mod places;
mod runtime;
mod skip;
mod source;
mod work;

use std::sync::Arc;

use sortie_device::{Device, Error};

pub use compiler::address_sanitizer;
pub use runtime::Counts;
pub use skip::or_skip;

/// The properties of the simulated device, and what to check.
#[derive(Debug, Clone)]
pub struct Options {
    /// The seed of the scheduler. Another seed gives another interleaving.
    pub seed: u64,
    /// The maximum shared memory of a block in bytes. Real devices have [`SHARED_48K`], [`SHARED_99K`] or
    /// [`SHARED_227K`].
    pub shared_per_block: usize,
    pub multiprocessors: u32,
    /// The device memory in bytes.
    pub memory: u64,
    /// The maximum number of allocations of device and pinned memory at a time. Further allocations are refused.
    pub allocations: u64,
    /// The index of a launch, copy or fill that fails, counted from 0. It does nothing. Later ones work again.
    pub failing: Option<u64>,
    pub sanitizer: Sanitizer,
    /// Whether [`Bench::counts`] returns the costs of launches.
    pub count: bool,
    /// The words of 4 bytes in a segment, the amount that one memory transaction transfers: the K-model's k.
    pub segment_words: u32,
}

pub const SHARED_48K: usize = 48 << 10;
pub const SHARED_99K: usize = 99 << 10;
pub const SHARED_227K: usize = 227 << 10;

/// What to check in addition to what is always checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sanitizer {
    None,
    /// The test bench's own race detector, and the bounds of every access.
    Race,
    /// AddressSanitizer and UndefinedBehaviorSanitizer. The process must be started with the library of
    /// AddressSanitizer, as [`address_sanitizer`] does.
    Address,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            seed: 0,
            shared_per_block: SHARED_48K,
            multiprocessors: 4,
            memory: 1 << 30,
            allocations: u64::MAX,
            failing: None,
            sanitizer: Sanitizer::None,
            count: false,
            segment_words: 32,
        }
    }
}

/// A simulated device, and the costs of its launches.
#[derive(Debug, Clone)]
pub struct Bench {
    device: Device,
    log: Arc<driver::Log>,
}

/// The cost of one launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchCounts {
    pub kernel: String,
    pub blocks: u32,
    pub threads: u32,
    pub counts: Counts,
}

/// The number of calls that may block the caller.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Calls {
    /// Calls that wait: for a stream, for an event, or to free memory that does not belong to a stream.
    pub waits: u64,
    /// Calls that allocate device memory, including those in stream order.
    pub allocations: u64,
}

impl Bench {
    /// Returns an error if there is no GCC.
    pub fn new(options: Options) -> Result<Bench, Error> {
        let log = Arc::new(driver::Log::default());
        let device = Device::new(driver::Simulated::new(options, log.clone())?);
        Ok(Bench { device, log })
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The cost of each launch since the last call. Empty unless [`Options::count`] is set.
    pub fn counts(&self) -> Vec<LaunchCounts> {
        self.log.take()
    }

    /// The number of calls so far.
    pub fn calls(&self) -> Calls {
        self.log.calls()
    }
}

/// A simulated device. Returns an error if there is no GCC.
pub fn device(options: Options) -> Result<Device, Error> {
    Ok(Bench::new(options)?.device)
}
