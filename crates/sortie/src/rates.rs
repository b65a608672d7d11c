//! How fast the CPU engine sorts and how fast this machine copies: [`measure`]d on request, and kept for the machine.
//!
//! The GPU's share under [`Engine::Hybrid`](crate::Engine::Hybrid) is kept too: see [`tune`].
//!
//! Together with the rates of a device, which `sortie_device::rates` measures, these are what
//! [`Engine::Auto`](crate::Engine::Auto) plans with.

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
