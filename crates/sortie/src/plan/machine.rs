//! [`Machine`]: what a plan depends on besides the request. A test can make one up.

use sortie_device::Properties;
use sortie_device::rates::Rates;

use crate::cpu::vector::Isa;
use crate::rates::CpuRates;

/// What there is to sort with. How many threads may work is said by the request.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    /// The widest vector instructions that the CPU engine uses.
    pub vectors: Vectors,
    /// How fast the CPU engine is.
    pub cpu: CpuRates,
    /// The GPUs that a sort may take. [`Engine::Auto`](crate::Engine::Auto) takes one of them where it is faster.
    pub gpus: Vec<MachineGpu>,
}

/// A GPU of a [`Machine`].
#[derive(Debug, Clone, PartialEq)]
pub struct MachineGpu {
    /// What is known of it before any work.
    pub properties: Properties,
    /// Bytes of its memory that are free.
    pub free: u64,
    /// How fast it copies and is copied to, where that is known.
    pub rates: Option<Rates>,
    /// Whether the process has started it.
    pub started: bool,
    /// What part of the keys it has under [`Engine::Hybrid`](crate::Engine::Hybrid), where that was tuned; else all.
    pub share: f64,
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
    /// Those of this machine, unless `SORTIE_ISA` asks for less.
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
    /// A machine without a GPU, whose CPU is as fast as those that rates ship for.
    #[must_use]
    pub fn of_cpu(vectors: Vectors) -> Machine {
        Machine { vectors, cpu: CpuRates::shipped(vectors), gpus: Vec::new() }
    }

    /// The same machine with one more GPU.
    #[must_use]
    pub fn with_gpu(mut self, gpu: MachineGpu) -> Machine {
        self.gpus.push(gpu);
        self
    }
}

impl MachineGpu {
    /// A GPU of this name, as its maker writes it, with the number that it has on the machine. None where no rates ship for it,
    /// see [`shipped_gpus`](super::shipped_gpus).
    #[must_use]
    pub fn shipped(name: &str, ordinal: u32) -> Option<MachineGpu> {
        let gpu = super::shipped::GPUS.iter().find(|gpu| gpu.names.contains(&name))?;
        let properties = Properties {
            name: name.into(),
            kind: "cuda",
            ordinal,
            id: String::new(),
            compute_capability: gpu.compute_capability,
            multiprocessors: gpu.multiprocessors,
            shared_per_block: gpu.shared_per_block,
            memory_total: gpu.memory,
            l2_bytes: gpu.l2_bytes,
        };
        let free = gpu.memory;
        Some(MachineGpu {
            properties,
            free,
            rates: Some(gpu.rates),
            started: false,
            share: super::DEFAULT_SHARE,
        })
    }

    /// The name that a sort calls it by.
    pub(super) fn name(&self) -> String {
        format!("{}:{} ({})", self.properties.kind, self.properties.ordinal, self.properties.name)
    }
}
