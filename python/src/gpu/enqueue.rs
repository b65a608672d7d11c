//! Sorts that are enqueued on the stream of an array's library.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytemuck::Pod;
use pyo3::prelude::*;
use sortie::dynamic;
use sortie::gpu::{DeviceSegments, DeviceTop, Gpu};
use sortie::request::Beside;
use sortie::{Bound, Error, Order, Ran, Report};
use sortie_device::{Stream, View};

use super::compiler;
use super::owner::{GpuArray, Memory};
use crate::call::run_here;
use crate::errors::of_sortie;
use crate::options::Options;

/// Evaluates an expression with `$key` as the type of the keys.
macro_rules! with_key {
    ($dtype:expr, $key:ident => $body:expr) => {
        with_key!($dtype, $key, $body, U8 u8, U16 u16, U32 u32, U64 u64, I8 i8, I16 i16, I32 i32, I64 i64, F16 half::f16, Bf16 half::bf16,
            F32 f32, F64 f64)
    };
    ($dtype:expr, $key:ident, $body:expr, $($name:ident $type:ty),*) => {
        match $dtype {
            $(sortie::dynamic::Dtype::$name => {
                type $key = $type;
                $body
            })*
            sortie::dynamic::Dtype::Bool => {
                type $key = u8;
                $body
            }
            other => Err(sortie::Error::Unsupported(format!("no library has GPU arrays of {other:?}"))),
        }
    };
}

pub(super) use with_key;

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
    /// The first keys of each row.
    First(First),
}

/// Where the first keys of each row, and their indices, are written.
#[derive(Clone, Copy)]
pub struct First {
    /// The address of the keys, or 0.
    pub keys: u64,
    pub indices: u64,
    /// Whether indices have 64 bits.
    pub wide: bool,
    /// The results of all rows.
    pub results: usize,
    /// Whether -0.0 equals 0.0, and all NaNs are equal.
    pub by_value: bool,
}

impl First {
    /// # Safety
    /// The addresses are of memory of the device for this many results.
    unsafe fn of<K: Pod, I: Pod>(self, keys: &Keys<'_>) -> DeviceTop<'static, K, I> {
        let row = keys.segments.map(|_| *keys.memory.shape.last().expect("rows are along an axis"));
        // SAFETY: the caller guarantees it.
        unsafe {
            let indices = View::from_raw(self.indices, self.results);
            let top = (self.keys != 0).then(|| View::from_raw(self.keys, self.results));
            DeviceTop { keys: top, row, by_value: self.by_value, ..DeviceTop::of(indices, keys.order) }
        }
    }
}

impl With {
    fn beside(self) -> Beside {
        match self {
            With::Nothing => Beside::Nothing,
            With::Payload(_, bytes) => Beside::Payload { bytes, stable: true },
            With::Narrow(_) | With::Wide(_) | With::First(_) => Beside::Indices { stable: true },
        }
    }
}

/// Enqueues a sort of `array`, whose memory the keys are in. Does not wait for it. Where the device has no room for scratch memory,
/// keys go through a network in place, if nothing that moves with them must stay in order.
///
/// # Safety
/// The addresses are of memory of the device that is as large as the keys ask for. Other work on it is in order with the
/// stream.
pub unsafe fn enqueue(array: &GpuArray<'_>, keys: &Keys<'_>, with: With, options: &Options) -> PyResult<()> {
    let py = array.object.py();
    compiler::prepare(py)?;
    let ordinal = keys.memory.device;
    let gpu = py.detach(|| Gpu::cuda(ordinal)).map_err(of_sortie)?;
    let network = keys.network(with, options);
    let (scratch, fits) = match Scratch::new(array, &gpu, keys, with) {
        Err(error) if network.is_some() && is_out_of_memory(py, &error)? => (Scratch::default(), false),
        scratch => (scratch?, true),
    };
    // SAFETY: the stream is used before the end of this call, where the scratch is given back.
    let stream = unsafe { scratch.stream(&gpu, keys.memory) };
    let job = Job { gpu, stream, keys, copy: scratch.copy, with };
    let enqueued = run_here(py, options, 0, |_| {
        let start = Instant::now();
        // SAFETY: as the caller states.
        let done = if fits { unsafe { job.enqueue() } } else { Err(NO_ROOM) };
        let Some(network) = network else { return Ok((done?, Report::default())) };
        match done {
            // Nothing has been enqueued.
            Err(Error::Memory { bound: Bound::Device, .. }) => {
                // SAFETY: as the caller states.
                unsafe { job.enqueue_network(network)? };
                Ok(((), by_network(start.elapsed())))
            }
            done => Ok((done?, Report::default())),
        }
    });
    drop(scratch.held);
    enqueued
}

/// What the engine says where a library has no room for the scratch.
const NO_ROOM: Error = Error::Memory { bound: Bound::Device, needed: 0, available: 0, hint: "" };

/// The report of a sort without scratch. Its time is that of the call.
fn by_network(time: Duration) -> Report {
    let mut report = Report::default();
    report.add("network, as the scratch does not fit", time, 0, 0);
    report.phases.iter_mut().for_each(|phase| phase.engine = Ran::Cuda);
    report
}

/// Whether torch or CuPy has raised its error for a device without room.
fn is_out_of_memory(py: Python<'_>, error: &PyErr) -> PyResult<bool> {
    Ok(error.get_type(py).name()? == "OutOfMemoryError")
}

/// Bytes of a payload that moves through a network.
const NETWORK_PAYLOADS: [usize; 3] = [4, 8, 16];

impl Keys<'_> {
    /// The address and the bytes of what a network would move with the keys, if it can sort them.
    fn network(&self, with: With, options: &Options) -> Option<(u64, usize)> {
        let moved = match with {
            With::Nothing => (0, 0),
            With::Payload(address, each)
                if options.stable == Some(false) && NETWORK_PAYLOADS.contains(&each) =>
            {
                (address, each)
            }
            _ => return None,
        };
        (self.segments.is_none() && !self.canonical).then_some(moved)
    }
}

/// Memory that is given back when a call has enqueued its work. The library's pool knows the stream, so what comes later is
/// enqueued behind that work.
#[derive(Default)]
pub struct Scratch<'py> {
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
        Scratch::of(array, of_copy, of_sort)
    }

    /// Room for a copy and for a workspace of these bytes.
    pub fn of(array: &GpuArray<'py>, of_copy: usize, of_sort: usize) -> PyResult<Scratch<'py>> {
        let start = of_copy.next_multiple_of(ALIGNMENT);
        let end = start + of_sort;
        if end == 0 {
            return Ok(Scratch::default());
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

    /// The stream on which work on an array is in order, with the workspace.
    ///
    /// # Safety
    /// Nothing is enqueued on it once the call that made it has ended, or the scratch is given back.
    pub unsafe fn stream(&self, gpu: &Gpu, array: &Memory) -> Stream {
        // SAFETY: the library's current stream lives longer than this call. The workspace is new, and used by work on that stream alone.
        unsafe {
            let stream = Stream::borrowed(gpu.device(), array.stream);
            match self.workspace {
                Some(workspace) => stream.with_workspace(workspace),
                None => stream,
            }
        }
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
    if let With::First(first) = with {
        // SAFETY: only sizes are looked at.
        return with_key!(dtype, K => unsafe {
            if first.wide {
                gpu.workspace_bytes_of_top_k(n, &first.of::<K, u64>(keys))
            } else {
                gpu.workspace_bytes_of_top_k(n, &first.of::<K, u32>(keys))
            }
        });
    }
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
    /// Enqueues a sort of keys by a bitonic network, with payloads at an address. Each has this many bytes.
    ///
    /// # Safety
    /// As [`enqueue`].
    unsafe fn enqueue_network(&self, (address, each): (u64, usize)) -> Result<(), Error> {
        let (gpu, stream, order) = (&self.gpu, &self.stream, self.keys.order);
        let (n, dtype) = (self.keys.memory.elements(), self.keys.memory.dtype);
        // SAFETY: as the caller states.
        let pending = unsafe {
            let keys = View::<u8>::from_raw(self.keys.memory.address, n * dtype.width());
            with_key!(dtype, K => match each {
                0 => gpu.sort_bitonic::<K>(stream, keys.cast(), order),
                4 => gpu.sort_pairs_bitonic(stream, keys.cast::<K>(), View::<u32>::from_raw(address, n), order),
                8 => gpu.sort_pairs_bitonic(stream, keys.cast::<K>(), View::<u64>::from_raw(address, n), order),
                _ => gpu.sort_pairs_bitonic(stream, keys.cast::<K>(), View::<[u64; 2]>::from_raw(address, n), order),
            })?
        };
        drop(pending);
        Ok(())
    }

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
                (With::First(first), _) => with_key!(dtype, K => if first.wide {
                    gpu.top_k(stream, bytes.cast(), first.of::<K, u64>(self.keys))
                } else {
                    gpu.top_k(stream, bytes.cast(), first.of::<K, u32>(self.keys))
                }),
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
