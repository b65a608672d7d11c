//! Sorts that are enqueued on the stream of an array's library.

use std::sync::Arc;

use half::{bf16, f16};
use pyo3::prelude::*;
use sortie::dynamic::{self, Dtype};
use sortie::gpu::{DeviceSegments, Gpu};
use sortie::request::Beside;
use sortie::{Error, Order, Report};
use sortie_device::{Stream, View};

use super::compiler;
use super::owner::{GpuArray, Memory};
use crate::call::run_here;
use crate::errors::of_sortie;
use crate::options::Options;

/// Evaluates an expression with `$key` as the type of the keys.
macro_rules! with_key {
    ($dtype:expr, $key:ident => $body:expr) => {
        with_key!($dtype, $key, $body, U8 u8, U16 u16, U32 u32, U64 u64, I8 i8, I16 i16, I32 i32, I64 i64, F16 f16, Bf16 bf16,
            F32 f32, F64 f64)
    };
    ($dtype:expr, $key:ident, $body:expr, $($name:ident $type:ty),*) => {
        match $dtype {
            $(Dtype::$name => {
                type $key = $type;
                $body
            })*
            Dtype::Bool => {
                type $key = u8;
                $body
            }
            other => Err(Error::Unsupported(format!("no library has GPU arrays of {other:?}"))),
        }
    };
}

/// What is sorted.
pub struct Keys<'a> {
    pub memory: &'a Memory,
    /// Without segments, the keys are one array.
    pub segments: Option<DeviceSegments<'a>>,
    pub order: Order,
    /// Whether a copy is sorted in which equal floats have equal bits.
    pub canonical: bool,
}

/// What moves with the keys, or is written.
#[derive(Clone, Copy)]
pub enum With {
    Nothing,
    /// Payloads at an address, and the bytes of each.
    Payload(u64, usize),
    /// Indices of 32 bits at an address.
    Narrow(u64),
    /// Indices of 64 bits at an address.
    Wide(u64),
}

impl With {
    fn beside(self) -> Beside {
        match self {
            With::Nothing => Beside::Nothing,
            With::Payload(_, bytes) => Beside::Payload { bytes, stable: true },
            With::Narrow(_) | With::Wide(_) => Beside::Indices { stable: true },
        }
    }
}

/// Enqueues a sort of `array`, whose memory the keys are in. Does not wait for it.
///
/// # Safety
/// The addresses are of memory of the device that is as large as the keys ask for. Other work on it is in order with the
/// stream.
pub unsafe fn enqueue(array: &GpuArray<'_>, keys: &Keys<'_>, with: With, options: &Options) -> PyResult<()> {
    let py = array.object.py();
    compiler::prepare(py)?;
    let ordinal = keys.memory.device;
    let gpu = py.detach(|| Gpu::cuda(ordinal)).map_err(of_sortie)?;
    // SAFETY: the library's current stream lives longer than this call, and so does what is allocated from it here.
    let mut stream = unsafe { Stream::borrowed(gpu.device(), keys.memory.stream) };
    let scratch = Scratch::new(array, &gpu, keys, with)?;
    if let Some(workspace) = scratch.workspace {
        // SAFETY: the workspace is new, and used by work on the library's stream alone.
        stream = unsafe { stream.with_workspace(workspace) };
    }
    let job = Job { gpu, stream, keys, copy: scratch.copy, with };
    let enqueued = run_here(py, options, 0, |_| {
        // SAFETY: as the caller states.
        unsafe { job.enqueue()? };
        Ok(((), Report::default()))
    });
    drop(scratch.held);
    enqueued
}

/// Memory that is given back when a call has enqueued its work. The library's pool knows the stream, so what comes later is
/// enqueued behind that work.
struct Scratch<'py> {
    held: Option<GpuArray<'py>>,
    /// Room for a copy of the keys, if one is sorted.
    copy: Option<View<'static, u8>>,
    /// What a sort takes its scratch from. Without a pool, the engine allocates it.
    workspace: Option<View<'static, u8>>,
}

impl<'py> Scratch<'py> {
    fn new(array: &GpuArray<'py>, gpu: &Gpu, keys: &Keys<'_>, with: With) -> PyResult<Scratch<'py>> {
        let of_copy = if keys.canonical { keys.memory.elements() * keys.memory.dtype.width() } else { 0 };
        let of_sort =
            if array.has_pool() { workspace_bytes(gpu, keys, with).map_err(of_sortie)? } else { 0 };
        let start = of_copy.next_multiple_of(ALIGNMENT);
        let end = start + of_sort;
        if end == 0 {
            return Ok(Scratch { held: None, copy: None, workspace: None });
        }
        // A library may align it to less.
        let held = array.empty(&[end + ALIGNMENT], "uint8")?;
        let address = held.address()?.next_multiple_of(ALIGNMENT as u64);
        // SAFETY: what is held has this size.
        let part = |from: usize, to: usize| unsafe { View::from_raw(address + from as u64, to - from) };
        let copy = (of_copy > 0).then(|| part(0, of_copy));
        let workspace = (of_sort > 0).then(|| part(start, end));
        Ok(Scratch { held: Some(held), copy, workspace })
    }
}

/// Where a workspace begins.
const ALIGNMENT: usize = 256;

/// Waits for all work on the stream of an array.
pub fn wait(py: Python<'_>, memory: &Memory) -> PyResult<()> {
    let (device, raw) = (memory.device, memory.stream);
    py.detach(|| {
        let gpu = Gpu::cuda(device)?;
        // SAFETY: the stream is the device's default one, which is never destroyed.
        unsafe { Stream::borrowed(gpu.device(), raw) }.wait().map_err(Error::from)
    })
    .map_err(of_sortie)
}

fn workspace_bytes(gpu: &Gpu, keys: &Keys<'_>, with: With) -> Result<usize, Error> {
    let (n, dtype) = (keys.memory.elements(), keys.memory.dtype);
    match keys.segments {
        None if matches!(with, With::Wide(_)) => {
            with_key!(dtype, K => gpu.workspace_bytes_of_argsort::<K, u64>(n))
        }
        None => dynamic::workspace_bytes(gpu, dtype, n, with.beside()),
        Some(segments) => {
            with_key!(dtype, K => gpu.workspace_bytes_of_segments::<K>(n, segments, with.beside()))
        }
    }
}

struct Job<'a> {
    gpu: Arc<Gpu>,
    stream: Stream,
    keys: &'a Keys<'a>,
    copy: Option<View<'a, u8>>,
    with: With,
}

impl Job<'_> {
    /// # Safety
    /// As [`enqueue`].
    unsafe fn enqueue(&self) -> Result<(), Error> {
        let (gpu, stream, order) = (&self.gpu, &self.stream, self.keys.order);
        let (n, dtype) = (self.keys.memory.elements(), self.keys.memory.dtype);
        // SAFETY: as the caller states.
        let pending = unsafe {
            let mut bytes = View::from_raw(self.keys.memory.address, n * dtype.width());
            if let Some(copy) = self.copy {
                with_key!(dtype, K => gpu.canonical_floats::<K>(stream, bytes.cast(), copy.cast()))?;
                bytes = copy;
            }
            let payload = |address, each| View::from_raw(address, n * each);
            match (self.with, self.keys.segments) {
                (With::Nothing, None) => dynamic::sort_on_device(gpu, stream, dtype, bytes, order),
                (With::Nothing, Some(segments)) => {
                    dynamic::sort_segments_on_device(gpu, stream, dtype, bytes, segments, order)
                }
                (With::Payload(address, each), None) => dynamic::sort_pairs_on_device(
                    gpu,
                    stream,
                    dtype,
                    bytes,
                    each,
                    payload(address, each),
                    order,
                ),
                (With::Narrow(address), None) => {
                    dynamic::argsort_on_device(gpu, stream, dtype, bytes, View::from_raw(address, n), order)
                }
                (With::Wide(address), None) => with_key!(dtype, K => {
                    gpu.argsort::<K, u64>(stream, bytes.cast(), View::from_raw(address, n), order)
                }),
                (With::Narrow(address), Some(segments)) => with_key!(dtype, K => {
                    gpu.argsort_segments::<K>(stream, bytes.cast(), View::from_raw(address, n), segments, order)
                }),
                (With::Wide(_) | With::Payload(..), Some(_)) => Err(Error::Unsupported(
                    "indices of segments on a GPU have 32 bits, and values do not move with segments".into(),
                )),
            }?
        };
        drop(pending);
        Ok(())
    }
}
