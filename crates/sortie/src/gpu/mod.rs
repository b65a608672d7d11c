//! The GPU engine: sorts what lies in a device's memory, by kernels compiled for the device at hand.
//!
//! [`Gpu`] is the engine on one device. Its calls enqueue on a stream of the caller and do not wait; what they return
//! holds their scratch until they are done. [`Gpus`](crate::gpus::Gpus) is the engine on several, whose calls wait. A
//! [`Sorter`](crate::Sorter) with [`Engine::Cuda`](crate::Engine::Cuda) brings data from the host and back; so does one
//! with [`Engine::Auto`](crate::Engine::Auto), once [`enable_gpu`](crate::enable_gpu) was called, where that is predicted to be faster.
//!
//! ```no_run
//! use sortie::{Order, gpu};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let device = sortie_device::cuda::device(0)?;
//! let gpu = gpu::Gpu::new(device.clone());
//! let stream = device.stream()?;
//! let keys = device.alloc::<f32>(1000 * 4096)?;
//! stream.copy_in(keys.view(), &vec![0.5; keys.len()])?;
//! // SAFETY: nothing else uses the keys until the sort is done.
//! unsafe { gpu.sort_segments(&stream, keys.view(), gpu::DeviceSegments::Length(4096), Order::default())? }.wait()?;
//! # Ok(())
//! # }
//! ```

pub(crate) mod alloc;
mod array;
mod engine;
mod host;
pub(crate) mod kernels;
#[cfg(test)]
pub(crate) mod on_bench;
mod ring;
pub(crate) mod segments;
mod strings;
mod workspace;

pub(crate) use alloc::reserve;
pub use array::Compared;
pub(crate) use array::{Divided, Place};
pub use engine::{Gpu, Pending};
pub(crate) use host::*;
pub(crate) use ring::{Clock, Origin, Ring, Span, busy};
pub use segments::DeviceSegments;
pub(crate) use segments::{check_payload, code};
pub use strings::{Offsets, StoredStrings, StringViews, Strings, Ties};
