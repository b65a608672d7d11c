//! How fast the CPU engine sorts and this machine copies: [`measure`]d when asked to, and kept for the machine.
//!
//! So is the GPU's share where [`Engine::Hybrid`](crate::Engine::Hybrid) has both sort: see [`tune`].
//!
//! With the rates of a device, which `sortie_device::rates` measures, this is what
//! [`Engine::Auto`](crate::Engine::Auto) plans from.

#[cfg(feature = "gpu")]
mod measured;
#[cfg(feature = "gpu")]
pub(crate) mod share;

pub use crate::plan::CpuRates;
#[cfg(feature = "gpu")]
pub use measured::{known, measure};
#[cfg(feature = "gpu")]
pub(crate) use measured::{known_with_device, random};
#[cfg(feature = "gpu")]
pub use share::{Share, known_shares, tune};
