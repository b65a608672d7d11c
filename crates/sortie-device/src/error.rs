//! Why a device is not available, or did not do what was requested.

/// The messages say what was wrong and, if possible, what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The library that drives the devices is missing or does not work.
    #[error("no CUDA driver: {reason}")]
    NoDriver { reason: String },

    /// The driver works, but has no such device.
    #[error("no CUDA device: {reason}")]
    NoDevice { reason: String },

    /// A kernel has to be compiled, but its compiler is missing or does not work.
    #[error("no compiler for kernels: {reason}")]
    NoCompiler { reason: String },

    /// The compiler rejected a program.
    #[error("kernel program {program} does not compile: {log}")]
    Compile { program: String, log: String },

    /// There is not enough device memory. Sizes are in bytes.
    #[error("{needed} bytes of device memory are needed, but {available} are available")]
    OutOfMemory { needed: u64, available: u64 },

    /// The system refused to allocate pinned memory.
    #[error("{needed} bytes of pinned host memory could not be allocated: {reason}")]
    OutOfPinned { needed: u64, reason: String },

    /// A kernel could not be started.
    #[error(
        "kernel {kernel} ({blocks} blocks of {threads} threads, {shared} bytes of shared memory): {reason}"
    )]
    Launch { kernel: String, blocks: u32, threads: u32, shared: usize, reason: String },

    /// A kernel did something wrong, as found by a test bench.
    #[error("{0}")]
    Fault(String),

    /// An event was used with a device that cannot use it. The names are those of the devices.
    #[error("an event of {event_of} cannot be used on {device}; use an event of the same device")]
    ForeignEvent { event_of: String, device: String },

    /// A call into the driver failed.
    #[error("{call}: {message} (error {code})")]
    Driver { call: &'static str, code: i32, message: String },

    /// This process cannot use the device any more. The content of its memory is lost.
    #[error("{device} is lost: {call}: {message} (error {code}); start the program again to use it")]
    DeviceLost { device: String, call: &'static str, code: i32, message: String },
}
