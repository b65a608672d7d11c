//! How a [`Sorter`] runs a plan on GPUs. Without the feature `gpu`, `no_gpus.rs` replaces this file.

use std::iter;
use std::sync::Arc;

use sortie_device::rates::Rates;

use super::auto;
use super::{Sorter, SorterBuilder, machine_without_gpu};
use crate::compose;
use crate::compose::array::Chosen;
use crate::compose::segments::OfSegments;
use crate::compose::sorts::GpuSorts;
use crate::compose::tuning::DEFAULT_SHARE;
use crate::gpu::{self, Allowed, Gpu, HostArray};
use crate::key::Code;
use crate::plan::{self, CpuWay, GpuWay, Machine, MachineGpu, Plan, Route};
use crate::rates::share;
use crate::request::{Budget, KeyForm, Request};
use crate::{Bound, Engine, Error, Index, Report, Segments, cpu, scratch};

/// What carries out a plan: GPUs, the CPU, or the CPU if a GPU fails.
pub struct Planned {
    pub on_gpus: Option<OnGpus>,
    pub on_cpu: Option<CpuWay>,
}

/// The GPUs of a plan, its ways, and what they may take.
pub struct OnGpus {
    pub gpus: Vec<Arc<Gpu>>,
    ways: Vec<GpuWay>,
    pub budget: Budget,
    /// Bytes of indices on the host, as the plan counts them.
    held: u64,
    /// Whether the CPU sorts if a GPU fails.
    has_second_try: bool,
}

/// The known rates of a GPU.
fn known_rates(gpu: &Gpu) -> Option<Rates> {
    let properties = gpu.device().properties();
    let shipped = || MachineGpu::shipped(&properties.name, properties.ordinal)?.rates;
    sortie_device::rates::known(gpu.device()).or_else(shipped)
}

/// This machine, with what is known about the GPUs that the request may take, for [`Sorter::explain`].
pub(super) fn machine_to_explain(request: &Request) -> Result<Machine, Error> {
    let mut machine = machine(request, known_rates)?.unwrap_or_else(|| machine_without_gpu().clone());
    if let Some(measured) = crate::rates::known() {
        machine.cpu = measured;
    }
    Ok(machine)
}

/// Whether the request may go to a GPU, so that it is worth reading the lengths of its segments.
pub(super) fn may_take(request: &Request) -> bool {
    request.engine.has_gpu() || request.engine == Engine::Auto && auto::may_take(request)
}

/// What the plan of a request depends on, with these rates of the GPUs that the request names. `None` if there is only the CPU.
fn machine(request: &Request, rates: impl Fn(&Gpu) -> Option<Rates>) -> Result<Option<Machine>, Error> {
    let named: Vec<u32> = match request.engine {
        Engine::Auto => return Ok(auto::machine(request)),
        Engine::Cpu => return Ok(None),
        Engine::Cuda(ordinal) | Engine::Hybrid(ordinal) => vec![ordinal],
        Engine::CudaDevices(devices) => devices.numbers().collect(),
    };
    // This comes before the device is opened.
    plan::check(request)?;
    let mut machine = machine_without_gpu().clone();
    for ordinal in named {
        let gpu = Gpu::cuda(ordinal)?;
        machine = machine.with_gpu(MachineGpu { rates: rates(&gpu), ..gpu.for_plan(request)? });
    }
    Ok(Some(machine))
}

impl Gpu {
    /// What a plan depends on, without the rates, because measured rates are on a disk.
    fn for_plan(&self, request: &Request) -> Result<MachineGpu, Error> {
        let properties = self.device().properties();
        let share = match (request.engine, request.keys) {
            (Engine::Hybrid(_), KeyForm::Number { bytes, .. }) => {
                share::share(properties, request.budget.threads, bytes, request.beside.payload_bytes())
            }
            _ => DEFAULT_SHARE,
        };
        Ok(MachineGpu {
            properties: properties.clone(),
            free: self.device().free_memory()?,
            rates: None,
            started: self.has_worked(),
            share,
        })
    }
}

/// What carries out the plan of a request. A GPU of the plan that is not available is left out if the CPU can sort.
pub(super) fn planned(request: &Request) -> Result<Planned, Error> {
    // To make a plan, the CPU is asked for its vector instructions, which takes as long as a small sort.
    let Some(machine) = machine(request, |_| None)? else {
        plan::check(request)?;
        return Ok(Planned { on_gpus: None, on_cpu: Some(CpuWay::of(request)) });
    };
    let Plan { route, alternatives, .. } = plan::plan(request, &machine)?;
    let (mut on_cpu, mut ordinals, mut ways) = (None, Vec::new(), Vec::new());
    for route in iter::once(route).chain(alternatives) {
        match route {
            Route::Cpu(way) => on_cpu = Some(way),
            Route::Gpu(ordinal, way) => {
                ways.push(way);
                if ordinals.is_empty() {
                    ordinals.push(ordinal);
                }
            }
            // The first of them is that of the other routes.
            Route::Gpus(devices) => {
                ways.push(GpuWay::Chunks);
                ordinals = devices.numbers().collect();
            }
        }
    }
    let has_second_try = on_cpu.is_some();
    let gpus = match has_second_try {
        true if ways.is_empty() => Vec::new(),
        true => auto::gpu().into_iter().collect(),
        false => ordinals.into_iter().map(Gpu::cuda).collect::<Result<_, _>>()?,
    };
    let (budget, held) = (request.budget, request.held_for_device());
    let on_gpus = (!gpus.is_empty()).then_some(OnGpus { gpus, ways, budget, held, has_second_try });
    Ok(Planned { on_gpus, on_cpu })
}

impl OnGpus {
    /// Records a sort that failed and that the CPU will try again. A device that failed is not used again.
    pub fn abandon(&self, error: &Error) {
        if !matches!(error, Error::Memory { .. }) {
            auto::give_up();
        }
    }

    /// The budget, minus `held` bytes.
    pub fn allowed(&self, threads: usize, held: u64) -> Allowed {
        Allowed { threads, memory_limit: self.budget.left().saturating_sub(held) }
    }

    fn check_held(&self, needed: u64, hint: &'static str) -> Result<u64, Error> {
        let available = self.budget.left();
        if needed <= available {
            Ok(needed)
        } else {
            Err(Error::Memory { bound: Bound::Limit, needed, available, hint })
        }
    }

    /// Room for indices as they come from a GPU, if the limit allows it.
    fn hold_indices(&self, n: usize) -> Result<Vec<u32>, Error> {
        self.check_held(self.held, "a GPU writes indices of 32 bits; use the CPU engine")?;
        let mut indices = scratch::reserve(n)?;
        indices.resize(n, 0);
        Ok(indices)
    }

    /// The indices that move payloads of other sizes, if the limit allows them.
    fn hold_payload_indices(&self, n: usize) -> Result<Vec<usize>, Error> {
        let hint = "payloads of other than 4, 8 or 16 bytes are moved by their indices; use the CPU engine";
        self.check_held(self.held, hint)?;
        let mut indices = scratch::reserve(n)?;
        indices.extend(0..n);
        Ok(indices)
    }
}

impl Sorter {
    /// Sorts keys alone.
    pub(super) fn keys_on_gpus<B: GpuSorts>(
        &self,
        on: &OnGpus,
        keys: &mut [B],
        code: Code,
    ) -> Result<Report, Error> {
        self.array_on_gpus(on, HostArray::Sorted { keys, payload: None }, code, 0)
    }

    /// Sorts one array while `held` bytes are held.
    fn array_on_gpus<B: GpuSorts>(
        &self,
        on: &OnGpus,
        mut array: HostArray<'_, B>,
        code: Code,
        held: u64,
    ) -> Result<Report, Error> {
        let HostArray::Sorted { keys, .. } = &array else {
            return self.array_once(on, array, code, held);
        };
        if !on.has_second_try {
            return self.array_once(on, array, code, held);
        }
        // A device that fails while it copies keys back leaves some of them twice.
        let held = held + on.check_held(size_of_val(*keys) as u64, "a copy of the keys is kept")?;
        let mut before = scratch::reserve(keys.len())?;
        before.extend_from_slice(keys);
        let sorted = self.array_once(on, array.reborrow(), code, held);
        if let (Err(_), HostArray::Sorted { keys, .. }) = (&sorted, array) {
            keys.copy_from_slice(&before);
        }
        sorted
    }

    fn array_once<B: GpuSorts>(
        &self,
        on: &OnGpus,
        array: HostArray<'_, B>,
        code: Code,
        held: u64,
    ) -> Result<Report, Error> {
        let SorterBuilder { algorithm, order, .. } = self.choices;
        let chosen = Chosen { algorithm, order, ways: &on.ways };
        let mut report = self.in_pool(on.budget.threads, |threads| {
            B::sort_array(&on.gpus, array, code, chosen, on.allowed(threads, held))
        })?;
        report.scratch_peak += held;
        Ok(report)
    }

    /// Sorts keys with a payload of any size.
    pub(super) fn pairs_on_gpus<B: GpuSorts, V>(
        &self,
        on: &OnGpus,
        keys: &mut [B],
        payload: &mut [V],
        code: Code,
    ) -> Result<Report, Error> {
        let stable = !self.choices.unstable;
        // SAFETY: the sort leaves a permutation of the payload.
        if let Some(moved) = unsafe { gpu::HostPayload::of(payload) } {
            let array = HostArray::Sorted { keys, payload: Some((moved, stable)) };
            return self.array_on_gpus(on, array, code, 0);
        }
        let mut indices = on.hold_payload_indices(keys.len())?;
        let moved = gpu::HostPayload::of_pod(&mut indices).map(|moved| (moved, stable));
        let report = self.array_on_gpus(on, HostArray::Sorted { keys, payload: moved }, code, on.held)?;
        cpu::permute(payload, &mut indices);
        Ok(report)
    }

    /// Writes the indices of keys in order.
    pub(super) fn argsort_on_gpus<B: GpuSorts, I: Index>(
        &self,
        on: &OnGpus,
        keys: &[B],
        indices: &mut [I],
        code: Code,
    ) -> Result<Report, Error> {
        let mut found = on.hold_indices(keys.len())?;
        let array = HostArray::Argsorted { keys, indices: &mut found };
        let report = self.array_on_gpus(on, array, code, on.held)?;
        widen(indices, &found);
        Ok(report)
    }

    /// The same for each segment.
    pub(super) fn argsort_segments_on_gpu<B: GpuSorts, I: Index>(
        &self,
        on: &OnGpus,
        keys: &[B],
        indices: &mut [I],
        segments: Segments<'_>,
        code: Code,
    ) -> Result<Report, Error> {
        let mut found = on.hold_indices(keys.len())?;
        let array = HostArray::Argsorted { keys, indices: &mut found };
        let report = self.segments_on_gpu(on, array, segments, code, on.held)?;
        // Indices that belong to no segment stay.
        let within = match segments {
            Segments::Length(_) => 0..keys.len(),
            Segments::Offsets([]) => 0..0,
            Segments::Offsets(offsets) => offsets[0]..offsets[offsets.len() - 1],
        };
        widen(&mut indices[within.clone()], &found[within]);
        Ok(report)
    }

    /// Sorts segments of keys alone.
    pub(super) fn segments_of_keys_on_gpu<B: GpuSorts>(
        &self,
        on: &OnGpus,
        keys: &mut [B],
        segments: Segments<'_>,
        code: Code,
    ) -> Result<Report, Error> {
        self.segments_on_gpu(on, HostArray::Sorted { keys, payload: None }, segments, code, 0)
    }

    /// Sorts segments while `held` bytes are held.
    fn segments_on_gpu<B: GpuSorts>(
        &self,
        on: &OnGpus,
        array: HostArray<'_, B>,
        segments: Segments<'_>,
        code: Code,
        held: u64,
    ) -> Result<Report, Error> {
        let chosen = OfSegments { order: self.choices.order, long_as_arrays: !on.has_second_try };
        let mut report = self.in_pool(on.budget.threads, |threads| {
            B::sort_segments_on_gpu(&on.gpus[0], array, segments, code, chosen, on.allowed(threads, held))
        })?;
        report.scratch_peak += held;
        Ok(report)
    }

    /// Sorts segments with a payload of any size.
    pub(super) fn segments_of_pairs_on_gpu<B: GpuSorts, V>(
        &self,
        on: &OnGpus,
        keys: &mut [B],
        payload: &mut [V],
        segments: Segments<'_>,
        code: Code,
    ) -> Result<Report, Error> {
        // SAFETY: the sort leaves a permutation of the payload.
        if let Some(moved) = unsafe { gpu::HostPayload::of(payload) } {
            let array = HostArray::Sorted { keys, payload: Some((moved, true)) };
            return self.segments_on_gpu(on, array, segments, code, 0);
        }
        let mut indices = on.hold_payload_indices(keys.len())?;
        let moved = gpu::HostPayload::of_pod(&mut indices).map(|moved| (moved, true));
        let array = HostArray::Sorted { keys, payload: moved };
        let result = self.segments_on_gpu(on, array, segments, code, on.held);
        // Even after a failure: the keys that were sorted until then have their indices.
        cpu::permute(payload, &mut indices);
        result
    }

    /// Sorts strings on a GPU while this many bytes of scratch are held.
    pub(super) fn sort_strings_on_gpu<S: Send + Sync>(
        &self,
        on: &OnGpus,
        strings: &mut [S],
        bytes: &(impl Fn(&S) -> &[u8] + Sync),
        held: usize,
    ) -> Result<Report, Error> {
        let gathered = cpu::gather::scratch::<S>(strings.len());
        let mut indices = scratch::reserve(strings.len())?;
        let held = held.saturating_add(gathered).saturating_add(size_of::<u32>() * strings.len());
        indices.resize(strings.len(), 0u32);
        let mut report = self.strings_on_gpu(on, strings, bytes, &mut indices, held)?;
        let bytes = size_of_val(strings);
        self.in_pool(on.budget.threads, |threads| {
            report.phase("move", bytes, bytes, || cpu::gather::gather(strings, &indices, threads))
        })?;
        Ok(report)
    }

    /// Writes the indices of strings in order, on a GPU, while this many bytes of scratch are held.
    pub(super) fn strings_on_gpu<S: Sync, I: Index>(
        &self,
        on: &OnGpus,
        strings: &[S],
        bytes: &(impl Fn(&S) -> &[u8] + Sync),
        indices: &mut [I],
        held: usize,
    ) -> Result<Report, Error> {
        let (limit, held) = (on.budget.memory, held as u64 + on.budget.held);
        let memory_limit = limit.saturating_sub(held);
        let sorted = self.in_pool(on.budget.threads, |threads| {
            let allowed = Allowed { threads, memory_limit };
            compose::strings::argsort_strings(
                &on.gpus[0],
                strings,
                bytes,
                self.choices.order,
                indices,
                allowed,
            )
        });
        sorted
            .map(|report| Report { scratch_peak: report.scratch_peak + held, ..report })
            .map_err(|error| error.of_limit(limit, held))
    }
}

fn widen<I: Index>(indices: &mut [I], found: &[u32]) {
    indices.iter_mut().zip(found).for_each(|(index, &found)| *index = I::from_usize(found as usize));
}
