//! [`Machine`]: what a plan depends on besides the request. A test can invent one.

#[cfg(feature = "gpu")]
use super::MachineGpu;
use super::{CpuRates, Vectors};

/// The hardware that can sort. The request says how many threads may work.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Machine {
    /// The widest vector instructions that the CPU engine uses.
    pub vectors: Vectors,
    /// How fast the CPU engine is.
    pub cpu: CpuRates,
    /// The GPUs that a sort may use. [`Engine::Auto`](crate::Engine::Auto) uses one of them if that is faster.
    #[cfg(feature = "gpu")]
    pub gpus: Vec<MachineGpu>,
}

impl Machine {
    /// A machine without a GPU, with the CPU rates that ship with the library.
    #[must_use]
    pub fn of_cpu(vectors: Vectors) -> Machine {
        Machine {
            vectors,
            cpu: CpuRates::shipped(vectors),
            #[cfg(feature = "gpu")]
            gpus: Vec::new(),
        }
    }

    /// The same machine with one more GPU.
    #[cfg(feature = "gpu")]
    #[must_use]
    pub fn with_gpu(mut self, gpu: MachineGpu) -> Machine {
        self.gpus.push(gpu);
        self
    }
}
