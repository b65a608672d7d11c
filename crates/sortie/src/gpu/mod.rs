//! The GPU engine: sorts arrays in GPU memory, by kernels that are compiled for the device.
//!
//! [`Gpu`] is the engine on one device. Its calls enqueue work on a stream of the caller and do not wait. They return a
//! [`Pending`], which can wait for that work; dropping it does not wait. [`Gpus`](crate::gpus::Gpus) is the engine on several
//! devices; its calls wait. For data in host memory, use a [`Sorter`](crate::Sorter) with
//! [`Engine::Cuda`](crate::Engine::Cuda). After [`enable_gpu`](crate::enable_gpu), a `Sorter` with
//! [`Engine::Auto`](crate::Engine::Auto) uses a GPU too, if that is predicted to be faster.
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
//!
//! # Scratch memory
//!
//! A call allocates its scratch memory on its stream (`cuMemAllocAsync`), from the device's default memory pool, and frees it
//! there. The pool keeps up to a sixth of the device's memory for the next calls. A caller can provide the memory instead: see
//! [`Gpu::workspace_bytes`]. On a device without memory pools, a call that needs scratch memory allocates it anew, and waits
//! until the device has finished with it.
//!
//! # CUDA graphs
//!
//! All calls can be captured in a graph and replayed with other keys of the same number, except [`Gpu::argsort_strings`] and
//! [`Gpu::argsort_beginnings`], which read back from the device what to do next. Before the capture, make a call of the same
//! kind, which compiles and loads the kernels. Keep the engine as long as the graph.
//!
//! ```no_run
//! # use sortie::{Order, gpu};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let device = sortie_device::cuda::device(0)?;
//! # let gpu = gpu::Gpu::new(device.clone());
//! # let stream = device.stream()?;
//! let keys = device.alloc::<f32>(1 << 16)?;
//! // SAFETY: nothing else uses the keys until the work on the stream is done.
//! let sort = || unsafe { gpu.sort(&stream, keys.view(), Order::default()) };
//! sort()?.wait()?;
//! let graph = stream.capture(|| sort().map(drop))?;
//! // SAFETY: as above; keys and engine are kept until then.
//! unsafe { graph.launch(&stream)? };
//! stream.wait()?;
//! # Ok(())
//! # }
//! ```

pub(crate) mod alloc;
mod array;
mod batch;
mod canonical;
pub(crate) mod copy;
mod engine;
mod groups;
mod histogram;
mod host;
pub(crate) mod kernels;
#[cfg(test)]
pub(crate) mod on_bench;
mod ring;
mod rows;
mod search;
pub(crate) mod segments;
mod strings;
pub(crate) mod threads;
mod top;
pub(crate) mod tuning;
mod workspace;

pub use array::Compared;
pub(crate) use array::{Divided, Place, device_ways};
pub use engine::{Gpu, Pending};
pub use groups::{DeviceGroups, Equality};
pub use histogram::DeviceHistogram;
pub(crate) use host::*;
pub(crate) use ring::{Clock, Origin, Ring, Span, busy};
pub(crate) use rows::{DevicePayload, check_payload_bytes};
pub use search::DeviceSearch;
pub use segments::DeviceSegments;
pub(crate) use segments::code;
pub use strings::{Offsets, StoredStrings, StringViews, Strings, Ties};
pub use top::{DeviceNth, DeviceTop};
