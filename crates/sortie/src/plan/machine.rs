//! [`Machine`]: what a plan depends on besides the request. A test can invent one.

use super::CpuRates;
#[cfg(feature = "gpu")]
use super::MachineGpu;
use crate::cpu::vector::Isa;

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

/// Vector instructions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vectors {
    /// None that the engine has code for.
    Portable,
    /// AVX2.
    Avx2,
    /// AVX-512.
    Avx512,
}

impl Vectors {
    /// The instructions of this machine, unless `SORTIE_ISA` asks for fewer.
    pub(crate) fn detect() -> Vectors {
        match Isa::detect() {
            Isa::Portable => Vectors::Portable,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2 => Vectors::Avx2,
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512 => Vectors::Avx512,
        }
    }
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
}
