//! Plans: where and how a sort will run, and why. [`plan`] decides from a [`Request`] and a [`Machine`] alone.
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
mod vectors;

pub use crate::capability::capabilities;
pub use crate::ways::{CpuWay, DeviceWay, GpuWay, Scratch};
pub use cpu_rates::CpuRates;
pub use machine::Machine;
#[cfg(feature = "gpu")]
pub use on_gpus::{MachineGpu, shipped_gpus};
pub use route::{Plan, Predicted, Reason, Route};
pub use vectors::Vectors;

use crate::Error;
use crate::capability::Capability;
use crate::request::Request;

/// Plans a sort. Reads no data, asks no device, and allocates no scratch.
///
/// ```
/// use sortie::plan::{Machine, MachineGpu, Route, Vectors, plan};
/// use sortie::request::{Beside, Budget, KeyForm, Operation};
/// use sortie::{Engine, Sorter};
///
/// # fn main() -> Result<(), sortie::Error> {
/// let h200 = MachineGpu::shipped("NVIDIA H200", 0).unwrap();
/// let machine = Machine::of_cpu(Vectors::Avx512).with_gpu(h200);
/// let request = Sorter::builder().build()?.request(Operation::Array, KeyForm::of::<u32>(), Beside::Nothing, 1 << 30);
/// let planned = plan(&sortie::Request { budget: Budget::of_threads(16), ..request }, &machine)?;
/// assert!(matches!(planned.route, Route::Gpu(0, _)), "{planned}");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// [`Error::Unsupported`] if no engine has the requested sort, see [`capabilities`].
/// [`Error::Memory`] if the data is larger than any memory, or if a GPU was named and there is too little memory for all of its ways.
pub fn plan(request: &Request, machine: &Machine) -> Result<Plan, Error> {
    let able = Capability::of(request)?;
    able.check(request)?;
    on_gpus::plan(request, machine, able)
}

/// Refuses what no machine could do.
pub(crate) fn check(request: &Request) -> Result<(), Error> {
    Capability::of(request)?.check(request)
}

#[cfg(test)]
mod tests;
