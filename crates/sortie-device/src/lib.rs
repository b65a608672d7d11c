//! Devices that run kernels, behind one small trait.
//!
//! [`Device`] and the types that it returns ([`Buffer`], [`Pinned`], [`Stream`], [`Event`], [`Module`], [`Kernel`],
//! [`Graph`]) are the safe interface, which is the same for every kind of device. A [`Driver`] implements a kind of
//! device; [`cuda`] is one. Neither building nor starting a program needs a CUDA library. Without one,
//! [`cuda::devices`] returns an error that says why there is no device.
//!
//! ```no_run
//! use sortie_device::{Launch, Program};
//!
//! # fn main() -> Result<(), sortie_device::Error> {
//! let device = sortie_device::cuda::device(0)?;
//! let program = Program {
//!     name: "double".into(),
//!     source: "extern \"C\" __global__ void twice(float *x, unsigned n) {
//!                  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
//!                  if (i < n) x[i] *= 2.0f;
//!              }",
//!     headers: &[],
//!     defines: vec![],
//!     overlaps: false,
//! };
//! let mut host = vec![1.0f32; 1000];
//! let stream = device.stream()?;
//! let data = device.alloc::<f32>(host.len())?;
//! let twice = device.load(&program)?.kernel("twice")?;
//! stream.copy_in(data.view(), &host)?;
//! // SAFETY: the arguments are the kernel's, in number and type, and it stays within `data`.
//! unsafe { twice.launch(&stream, Launch { blocks: 4, threads: 256, shared: 0 }, (&data, 1000u32))? };
//! stream.copy_out(&mut host, data.view())?;
//! # Ok(())
//! # }
//! ```

pub mod cache;
pub mod cuda;
mod device;
mod driver;
mod error;
mod graph;
mod kernel;
mod memory;
pub mod own;
mod queued;
pub mod rates;
mod stream;
mod workspace;

pub use device::Device;
pub use driver::{Driver, KEPT_PART, Launch, Program, Properties, WARP, peer};
pub use error::Error;
pub use graph::Graph;
pub use kernel::{Argument, Arguments, Kernel, Module};
pub use memory::{Buffer, Pinned, View};
pub use stream::{Event, Stream};
pub use workspace::WORKSPACE_ALIGNMENT;
