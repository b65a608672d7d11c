//! [`Vectors`]: the vector instructions that the CPU engine uses.

use crate::cpu::vector::Isa;

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
