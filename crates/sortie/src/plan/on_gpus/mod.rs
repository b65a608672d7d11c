//! Plans for machines with GPUs: which of their ways suit a request, how long each is predicted to take, and whether
//! one of them beats the CPU.

mod machine;
mod predict;
mod scratch;
mod shipped;

pub use machine::MachineGpu;
pub use shipped::shipped_gpus;

use crate::compose::tuning::HYBRID_FROM;
use crate::gpu::tuning::LEFT_FREE;
use predict::on_gpu;

use super::predict::on_cpu;
use super::route::on_the_cpu;
use super::{GpuWay, Machine, Plan, Predicted, Reason, Route, Scratch};
use crate::capability::Capability;
use crate::request::{Beside, KeyForm, Operation, Request};
use crate::{Algorithm, Bound, Devices, Engine, Error, gpu};

/// From this many bytes of keys on, a GPU is considered. One thread sorts as much in 2 to 4 ms (segments of 1000 f32,
/// and of mixed lengths), and several threads do it in less time than any GPU takes to start: there is nothing to
/// predict.
pub(crate) const GPU_FROM_BYTES: usize = 4 << 20;

/// From this predicted speed-up on, a GPU is used. Rates vary by some tenths from run to run, and a GPU that is not
/// needed remains free for others.
pub(crate) const GPU_WINS_FROM: f64 = 1.25;

/// More than the number of copies of a key, and of what moves with it, that any plan holds on a device and on the host.
const MOST_COPIES: usize = 64;

/// Plans a request that the capability table allows.
pub(super) fn plan(request: &Request, machine: &Machine, able: &Capability) -> Result<Plan, Error> {
    match request.engine {
        Engine::Cpu => Ok(on_the_cpu(request, machine, Reason::Named)),
        Engine::Auto => Ok(fastest(request, machine, able)),
        Engine::Cuda(ordinal) => on_one_gpu(request, machine, ordinal, Some(1.0)),
        Engine::Hybrid(ordinal) => on_one_gpu(request, machine, ordinal, request.gpu_share),
        Engine::CudaDevices(devices) => on_several_gpus(request, machine, devices),
    }
}

/// Plans for the CPU, unless a GPU wins.
fn fastest(request: &Request, machine: &Machine, able: &Capability) -> Plan {
    let cpu = |reason| on_the_cpu(request, machine, reason);
    if machine.gpus.is_empty() {
        return cpu(Reason::NoGpu);
    }
    if !able.is_on_a_gpu(request) {
        return cpu(Reason::NotOnGpu);
    }
    if request.bytes() < GPU_FROM_BYTES {
        return cpu(Reason::Few);
    }
    let mut plan = cpu(Reason::DoesNotFit);
    let Some(cpu_seconds) = on_cpu(request, &machine.cpu) else { return plan };
    let mut least = f64::INFINITY;
    for gpu in &machine.gpus {
        let Ok((way, scratch)) = way_on(request, gpu, Some(1.0)) else { continue };
        // If the GPU fails, the CPU must find all data as it was; so no array is sorted in parts.
        if matches!(way, GpuWay::Chunks | GpuWay::Ranges) {
            continue;
        }
        let Some(seconds) = on_gpu(request, &machine.cpu, gpu, way) else { continue };
        plan.predicted.push(Predicted { gpu: Some(gpu.name()), seconds });
        if plan.reason == Reason::DoesNotFit {
            plan.reason = Reason::CpuIsFaster;
        }
        if seconds < least && seconds * GPU_WINS_FROM < cpu_seconds {
            least = seconds;
            (plan.route, plan.scratch) = (Route::Gpu(gpu.properties.ordinal, way), scratch);
            plan.reason = Reason::GpuIsFaster;
        }
    }
    plan
}

fn on_one_gpu(request: &Request, machine: &Machine, ordinal: u32, share: Option<f64>) -> Result<Plan, Error> {
    let gpu = machine.gpu(ordinal)?;
    let (way, scratch) = way_on(request, gpu, share)?;
    let predicted = with_cpu(request, machine, gpu, way);
    Ok(Plan { route: Route::Gpu(ordinal, way), scratch, predicted, reason: Reason::Named })
}

/// An array that fits in the memory of the first GPU is sorted by that GPU alone.
fn on_several_gpus(request: &Request, machine: &Machine, devices: Devices) -> Result<Plan, Error> {
    let mut numbers = devices.numbers();
    let first = numbers.next().expect("they are at least two");
    let plan = on_one_gpu(request, machine, first, Some(1.0))?;
    numbers.try_for_each(|number| machine.gpu(number).map(drop))?;
    Ok(match plan.route {
        Route::Gpu(_, GpuWay::Chunks | GpuWay::Ranges) => {
            let scratch = scratch::in_chunks(request, machine.gpu(first)?);
            Plan { route: Route::Gpus(devices), scratch, ..plan }
        }
        _ => plan,
    })
}

fn with_cpu(request: &Request, machine: &Machine, gpu: &MachineGpu, way: GpuWay) -> Vec<Predicted> {
    let on_cpu = on_cpu(request, &machine.cpu).map(|seconds| Predicted { gpu: None, seconds });
    let on_gpu = on_gpu(request, &machine.cpu, gpu, way);
    on_cpu.into_iter().chain(on_gpu.map(|seconds| Predicted { gpu: Some(gpu.name()), seconds })).collect()
}

/// How a GPU would sort, and with how much scratch.
fn way_on(request: &Request, gpu: &MachineGpu, share: Option<f64>) -> Result<(GpuWay, Scratch), Error> {
    match (&request.operation, request.keys) {
        (Operation::Segments(_), _) => Ok((GpuWay::Segments, scratch::of_segments(request))),
        (Operation::Array, KeyForm::Number { bytes, .. }) => {
            way_of_array(request, gpu, bytes, share.unwrap_or(gpu.share))
        }
        (Operation::Array, KeyForm::Strings) => Ok((GpuWay::Strings, scratch::of_strings(request))),
        (Operation::Lcps, _) | (Operation::Array, KeyForm::Compound { .. } | KeyForm::Compared) => {
            unreachable!("the table has no such sort on a GPU")
        }
    }
}

/// The first way for which there is memory.
fn way_of_array(
    request: &Request,
    gpu: &MachineGpu,
    key_bytes: usize,
    share: f64,
) -> Result<(GpuWay, Scratch), Error> {
    let (n, beside) = (request.n, request.beside_on_device());
    let held = request.held_for_device();
    let left = request.budget.left();
    let free = gpu.free - gpu.free / LEFT_FREE;
    // No way holds more copies of each key, so all sizes below fit in an address.
    let each = request.bytes_on_device().saturating_mul(MOST_COPIES);
    if n.saturating_mul(each) > isize::MAX as usize {
        let needed = (n as u64).saturating_mul(request.bytes_on_device() as u64);
        let hint = "no machine has that much memory; sort fewer keys";
        return Err(Error::Memory { bound: Bound::Device, needed, available: free, hint });
    }
    let any_way = matches!(request.algorithm, Algorithm::Auto | Algorithm::Radix);
    let ways =
        gpu::forecast(&gpu.properties, key_bytes, n, beside, request.algorithm, request.budget.threads);
    let ways = match ways {
        // Each chunk has few enough keys.
        Err(Error::Unsupported(_))
            if any_way && key_bytes <= 8 && matches!(request.engine, Engine::CudaDevices(_)) =>
        {
            Vec::new()
        }
        ways => ways?,
    };
    for (i, &(way, [device, host])) in ways.iter().enumerate() {
        let scratch = Scratch { host: host.saturating_add(held), device };
        if device <= free && scratch.bytes() <= left {
            let is_shared = i == 0
                && share < 1.0
                && any_way
                && matches!(key_bytes, 4 | 8)
                && n >= HYBRID_FROM
                && !beside.is_indices();
            let way = if is_shared { GpuWay::WithCpu(share) } else { GpuWay::Whole(way) };
            return Ok((way, scratch));
        }
    }
    if !any_way || key_bytes > 8 {
        // The allocation fails, and says how much memory is missing.
        let (way, [device, host]) = ways[ways.len() - 1];
        return Ok((GpuWay::Whole(way), Scratch { host: host + held, device }));
    }
    let chunks = scratch::in_chunks(request, gpu);
    Ok(match beside {
        Beside::Nothing if chunks.bytes() > left => (GpuWay::Ranges, scratch::in_ranges(request, gpu)),
        _ => (GpuWay::Chunks, chunks),
    })
}

impl Machine {
    fn gpu(&self, ordinal: u32) -> Result<&MachineGpu, Error> {
        let gpu = self.gpus.iter().find(|gpu| gpu.properties.ordinal == ordinal);
        gpu.ok_or_else(|| Error::Unsupported(format!("this machine has no device cuda:{ordinal}")))
    }
}
