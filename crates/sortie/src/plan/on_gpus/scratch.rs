//! The most scratch that a plan for GPUs takes, by what their engine says of each way.

use crate::compose::array::Outline;
use crate::gpu::{self, alloc::available};
use crate::plan::MachineGpu;
use crate::plan::scratch::count;
use crate::request::{Beside, KeyForm, Lengths, Operation, Request};
use crate::ways::{GpuWay, Scratch};
use crate::{Engine, Error, Segments};

/// For an array of numbers that these GPUs sort in this way.
///
/// # Errors
/// [`Error::Memory`] if the limit or the GPUs have too little.
pub(super) fn of_array(
    request: &Request,
    outline: Outline,
    gpus: &[&MachineGpu],
    way: GpuWay,
) -> Result<Scratch, Error> {
    let devices: Vec<_> = gpus.iter().map(|gpu| (&gpu.properties, available(gpu.free))).collect();
    let (held, budget) = (held(request), request.budget);
    let left = budget.left().saturating_sub(held);
    let taken = outline.scratch(way, &devices, budget.threads, left);
    let taken = taken.map_err(|error| error.of_limit(budget.memory, budget.memory - left))?;
    Ok(Scratch { host: taken.host + held, ..taken })
}

/// Bytes on the host besides what a sort of an array takes: indices, and under [`Engine::Auto`] a copy of the keys, from which the
/// CPU sorts if the GPU fails.
fn held(request: &Request) -> u64 {
    let copy =
        if request.engine == Engine::Auto && !request.beside.is_indices() { request.bytes() } else { 0 };
    request.held_for_device().saturating_add(copy as u64)
}

/// For strings: words or bytes, and the references and their indices if those move. Bytes of the strings that are copied to the
/// GPU are not known before they are read, and come to it.
pub(super) fn of_strings(request: &Request, gpu: &MachineGpu) -> Result<Scratch, Error> {
    let words = gpu::words_scratch(request.n, &gpu.properties)?;
    let bytes = gpu::strings_scratch(request.n, 0, &gpu.properties)?;
    let moved = match request.beside {
        // They are moved by indices, with a bit for each that says which have moved.
        Beside::Payload { bytes, .. } => count(request.n) * count(bytes.saturating_add(size_of::<u32>() + 1)),
        _ => count(0),
    };
    let most = Scratch { host: words.host.max(bytes.host), device: words.device.max(bytes.device) };
    // With less memory, they are sorted in ranges.
    let host = most.host.saturating_add(moved.0).min(request.budget.left());
    let device = most.device.min(available(gpu.free)).min(request.budget.left() - host);
    Ok(Scratch { host, device })
}

/// For segments: chunks in flight. If not even one chunk fits, long segments are sorted as arrays, for which the CPU may be needed.
pub(super) fn of_segments(request: &Request, gpu: &MachineGpu) -> Scratch {
    let unknown = Lengths::of(0, Segments::Length(0));
    let lengths = match &request.operation {
        Operation::Segments(Some(lengths)) => lengths,
        _ => &unknown,
    };
    let KeyForm::Number { bytes, .. } = request.keys else {
        unreachable!("only numbers have segments on a GPU")
    };
    let (held, shared) = (request.held_for_device(), gpu.properties.shared_per_block);
    let (limit, available) = (request.budget.left().saturating_sub(held), available(gpu.free));
    let choices = gpu::segments_scratch(bytes, request.beside_on_device(), request.n, lengths, shared);
    let fits = |scratch: &Scratch| scratch.bytes() <= limit && scratch.device <= available;
    let taken =
        choices.reduce(|found, next| if fits(&found) { found } else { next }).expect("there is a plan");
    Scratch { host: taken.host.saturating_add(held), ..taken }
}
