//! Plans for machines with GPUs: which of their ways suit a request, how long each is predicted to take, and whether
//! one of them beats the CPU.

mod machine;
mod predict;
mod scratch;
mod shipped;

pub use machine::MachineGpu;
pub use shipped::shipped_gpus;

use predict::on_gpu;

use super::predict::on_cpu;
use super::route::on_the_cpu;
use super::{CpuWay, GpuWay, Machine, Plan, Predicted, Reason, Route, Scratch};
use crate::capability::Capability;
use crate::compose::array::Outline;
use crate::gpu::alloc::available;
use crate::request::{KeyForm, Operation, Request};
use crate::{Bound, Devices, Engine, Error};

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
        Engine::Cuda(ordinal) => on_named(request, machine, &[machine.gpu(ordinal)?], Some(1.0), None),
        Engine::Hybrid(ordinal) => {
            on_named(request, machine, &[machine.gpu(ordinal)?], request.gpu_share, None)
        }
        Engine::CudaDevices(devices) => {
            let gpus: Vec<_> =
                devices.numbers().map(|number| machine.gpu(number)).collect::<Result<_, _>>()?;
            on_named(request, machine, &gpus, Some(1.0), Some(devices))
        }
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
        let Ok((ways, scratch)) = ways_on(request, &[gpu], Some(1.0)) else { continue };
        let Some(seconds) = on_gpu(request, &machine.cpu, gpu, ways[0]) else { continue };
        plan.predicted.push(Predicted { gpu: Some(gpu.name()), seconds });
        if plan.reason == Reason::DoesNotFit {
            plan.reason = Reason::CpuIsFaster;
        }
        if seconds < least && seconds * GPU_WINS_FROM < cpu_seconds {
            least = seconds;
            let on_cpu = Route::Cpu(CpuWay::of(request));
            let mut routes =
                ways.into_iter().map(|way| Route::Gpu(gpu.properties.ordinal, way)).chain([on_cpu]);
            plan.route = routes.next().expect("there is a way");
            plan.alternatives = routes.collect();
            (plan.scratch, plan.reason) = (scratch, Reason::GpuIsFaster);
        }
    }
    plan
}

/// Plans for GPUs that were named. Chunks go to all of them, everything else to the first.
fn on_named(
    request: &Request,
    machine: &Machine,
    gpus: &[&MachineGpu],
    share: Option<f64>,
    all: Option<Devices>,
) -> Result<Plan, Error> {
    let first = gpus[0];
    let (ways, scratch) = ways_on(request, gpus, share)?;
    let on_cpu = on_cpu(request, &machine.cpu).map(|seconds| Predicted { gpu: None, seconds });
    let on_gpu = on_gpu(request, &machine.cpu, first, ways[0]);
    let on_gpu = on_gpu.map(|seconds| Predicted { gpu: Some(first.name()), seconds });
    let mut routes = ways.into_iter().map(|way| match (way, all) {
        (GpuWay::Chunks, Some(devices)) => Route::Gpus(devices),
        _ => Route::Gpu(first.properties.ordinal, way),
    });
    Ok(Plan {
        route: routes.next().expect("there is a way"),
        alternatives: routes.collect(),
        scratch,
        predicted: on_cpu.into_iter().chain(on_gpu).collect(),
        reason: Reason::Named,
    })
}

/// How GPUs would sort: the first way for which there is memory, and those that take less. And what the first takes.
fn ways_on(
    request: &Request,
    gpus: &[&MachineGpu],
    share: Option<f64>,
) -> Result<(Vec<GpuWay>, Scratch), Error> {
    let first = gpus[0];
    check_size(request, first)?;
    match (&request.operation, request.keys) {
        (Operation::Segments(_), _) => Ok((vec![GpuWay::Segments], scratch::of_segments(request, first))),
        (Operation::Array, KeyForm::Number { bytes, .. }) => {
            ways_of_array(request, gpus, bytes, share.unwrap_or(first.share))
        }
        (Operation::Array, KeyForm::Strings) => {
            Ok((vec![GpuWay::Strings], scratch::of_strings(request, first)?))
        }
        (Operation::Lcps | Operation::TopK { .. } | Operation::Nth { .. }, _)
        | (Operation::Partition | Operation::Search, _)
        | (Operation::Array, KeyForm::Compound { .. } | KeyForm::Compared) => {
            unreachable!("the table has no such sort on a GPU")
        }
    }
}

fn ways_of_array(
    request: &Request,
    gpus: &[&MachineGpu],
    key_bytes: usize,
    share: f64,
) -> Result<(Vec<GpuWay>, Scratch), Error> {
    let (beside, algorithm) = (request.beside_on_device(), request.algorithm);
    let outline = Outline { n: request.n, key_bytes, beside, algorithm };
    let properties: Vec<_> = gpus.iter().map(|gpu| &gpu.properties).collect();
    let mut ways = outline.ways(share, &properties)?;
    // If the GPU fails, the CPU must find all data as it was; so no array is sorted in parts.
    let in_parts = |way: &GpuWay| matches!(way, GpuWay::Chunks | GpuWay::Ranges);
    ways.retain(|way| request.engine != Engine::Auto || !in_parts(way));
    let mut refused = None;
    for (i, &way) in ways.iter().enumerate() {
        match scratch::of_array(request, outline, gpus, way) {
            Ok(scratch) => return Ok((ways.split_off(i), scratch)),
            Err(error) => refused = Some(error.or_less(refused)),
        }
    }
    Err(refused.expect("there is a way"))
}

/// Refuses more keys than any memory holds, so that all sizes below fit in an address.
fn check_size(request: &Request, gpu: &MachineGpu) -> Result<(), Error> {
    let each = request.bytes_on_device().saturating_mul(MOST_COPIES);
    if request.n.saturating_mul(each) <= isize::MAX as usize {
        return Ok(());
    }
    let needed = (request.n as u64).saturating_mul(request.bytes_on_device() as u64);
    let hint = "no machine has that much memory; sort fewer keys";
    Err(Error::Memory { bound: Bound::Device, needed, available: available(gpu.free), hint })
}

impl Machine {
    fn gpu(&self, ordinal: u32) -> Result<&MachineGpu, Error> {
        let gpu = self.gpus.iter().find(|gpu| gpu.properties.ordinal == ordinal);
        gpu.ok_or_else(|| Error::Unsupported(format!("this machine has no device cuda:{ordinal}")))
    }
}
