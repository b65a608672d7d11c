//! Plans: where and how a sort will run, and why. [`plan`] decides from a [`Request`](crate::Request) and a [`Machine`] alone.
//! [`Sorter::explain`](crate::Sorter::explain) returns the plan for the current machine.
//!
//! What each engine can do is in one table, which [`capabilities`] returns. [`Engine::Auto`](crate::Engine::Auto) compares
//! times that are predicted from rates. The rates of [some GPUs](shipped_gpus) ship with the library.

pub(crate) mod cpu_rates;
mod machine;
#[cfg_attr(not(feature = "gpu"), path = "plan/no_gpus.rs")]
pub(crate) mod on_gpus;
mod predict;
mod route;
mod scratch;

pub use crate::capability::capabilities;
pub use crate::ways::{CpuWay, DeviceWay, GpuWay, Scratch};
pub use cpu_rates::CpuRates;
pub use machine::{Machine, Vectors};
#[cfg(feature = "gpu")]
pub use on_gpus::{MachineGpu, shipped_gpus};
pub(crate) use route::check;
pub use route::{Plan, Predicted, Reason, Route, plan};
