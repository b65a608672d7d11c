//! A test bench for kernels: a device that is not there.
//!
//! [`device`] gives a [`Device`] like any other, which runs the unmodified kernel source on a CPU. g++ compiles it against
//! `runtime/`: each thread is a fiber, the lanes of a warp wait for one another at its collectives, several blocks are
//! resident at once, and which thread runs next is drawn from a seed. Nothing here is fast; it is never a way to sort.
//!
//! A launch that does what it must not returns [`Error::Fault`], which names the kernel and the lines:
//!
//! - always: a barrier in divergent code, a warp collective with a lane missing, a shuffle from a lane outside the mask,
//!   a wait for what nobody will do, a write just past an allocation or past shared memory, a false `assume`;
//! - with [`Sanitizer::Race`] or counts: any access outside of the device's memory, and misaligned ones;
//! - with [`Sanitizer::Race`]: two accesses that race;
//! - with [`Sanitizer::Address`]: what AddressSanitizer and UndefinedBehaviorSanitizer find. They report on standard
//!   error and end the process.
//!
//! [`machine_code`] looks at what the same kernels become on GPUs.
//!
//! What it cannot show: reorderings of a weak memory model, and accesses that race with another stream's work.

mod compiler;
mod driver;
pub mod machine_code;
mod memory;
mod places;
mod runtime;
mod source;
mod work;

use std::sync::Arc;

use sortie_device::{Device, Error};

pub use compiler::address_sanitizer;
pub use runtime::Counts;

/// What device to be, and what to look for.
#[derive(Debug, Clone)]
pub struct Options {
    /// Another seed, another interleaving.
    pub seed: u64,
    /// Bytes of shared memory that a block can ask for; [`SHARED_48K`], [`SHARED_99K`] and [`SHARED_227K`] occur.
    pub shared_per_block: usize,
    pub multiprocessors: u32,
    /// Bytes of device memory.
    pub memory: u64,
    /// Allocations, of device and pinned memory, that there can be at a time; one more is refused.
    pub allocations: u64,
    /// The launch, copy or fill that fails, counted from 0; it does nothing, and those after it work again.
    pub failing: Option<u64>,
    pub sanitizer: Sanitizer,
    /// Whether [`Bench::counts`] has anything to tell.
    pub count: bool,
    /// Words of 4 bytes in a segment, the K-model's k: what one memory transaction transfers.
    pub segment_words: u32,
}

pub const SHARED_48K: usize = 48 << 10;
pub const SHARED_99K: usize = 99 << 10;
pub const SHARED_227K: usize = 227 << 10;

/// What to look for besides what is always found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sanitizer {
    None,
    /// The bench's own race detector, and bounds of every access.
    Race,
    /// AddressSanitizer and UndefinedBehaviorSanitizer. The process has to be started with the former's library, as
    /// [`address_sanitizer`] arranges.
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

/// A simulated device, and what its launches cost.
#[derive(Debug, Clone)]
pub struct Bench {
    device: Device,
    log: Arc<driver::Log>,
}

/// What one launch cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchCounts {
    pub kernel: String,
    pub blocks: u32,
    pub threads: u32,
    pub counts: Counts,
}

/// Calls of a device that may keep its callers waiting.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Calls {
    /// Those that wait for work: for a stream, for an event, or to free memory that is no stream's.
    pub waits: u64,
    /// Those that allocate device memory, of streams too.
    pub allocations: u64,
}

impl Bench {
    /// Fails where there is no GCC.
    pub fn new(options: Options) -> Result<Bench, Error> {
        let log = Arc::new(driver::Log::default());
        let device = Device::new(driver::Simulated::new(options, log.clone())?);
        Ok(Bench { device, log })
    }

    pub fn device(&self) -> &Device {
        &self.device
    }

    /// What each launch since the last call cost; nothing where it was not asked to count.
    pub fn counts(&self) -> Vec<LaunchCounts> {
        self.log.take()
    }

    /// Which calls there were so far.
    pub fn calls(&self) -> Calls {
        self.log.calls()
    }
}

/// A simulated device. Fails where there is no GCC.
pub fn device(options: Options) -> Result<Device, Error> {
    Ok(Bench::new(options)?.device)
}
