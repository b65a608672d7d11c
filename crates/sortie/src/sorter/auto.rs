//! Decides whether [`Engine::Auto`](crate::Engine::Auto) may use a GPU: only if the program has opted in, and only a GPU whose
//! rates are known. The [plan](crate::plan) decides whether the GPU is faster.

use std::sync::{Arc, Mutex, OnceLock};

use crate::compose::tuning::DEFAULT_SHARE;
use crate::gpu::Gpu;
use crate::plan::on_gpus::GPU_FROM_BYTES;
use crate::plan::{CpuRates, Machine, MachineGpu, Vectors};
use crate::rates;
use crate::request::Request;

/// What [`enable`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "without rates nothing has changed"]
pub enum Enabled {
    /// This machine was measured. [`Engine::Auto`](crate::Engine::Auto) now uses its first CUDA device if it predicts that to
    /// be faster.
    Measured,
    /// The machine was not measured. `Engine::Auto` uses the rates that [ship](crate::plan::shipped_gpus) for its GPU.
    Shipped,
    /// No rates of a GPU are known, so `Engine::Auto` stays on the CPU. To measure them, run `sortie devices --measure`, or
    /// call [`rates::measure`](crate::rates::measure) and `sortie_device::rates::measure`. Then call [`enable`] again.
    NotMeasured,
}

/// From now on and in this process, allows [`Engine::Auto`](crate::Engine::Auto) to use the first CUDA device for sorts of host
/// data, by a [`Sorter`](crate::Sorter) and by the free functions.
///
/// A sort uses the device if it is predicted to be faster, including both transfers and the start of the device. Inputs of less
/// than 4 MiB never use it. The prediction uses rates that were measured on this machine, or else rates that ship with the
/// library; nothing is measured here. If the device then fails, or has too little memory, the CPU engine sorts instead, and the
/// [`Report`](crate::Report) has a phase `abandoned` with the time that was lost. For that purpose, a copy of an array's keys
/// is kept on the host.
///
/// Reads a few small files, once. No GPU is touched before the first sort that is to run there. That sort waits until the
/// device has started, and the first sort of a kind on a machine waits until its kernels are compiled (seconds; compiled
/// kernels are kept).
pub fn enable() -> Enabled {
    let (found, known) = match Known::measured() {
        Some(known) => (Enabled::Measured, Some(known)),
        None => match Known::shipped() {
            Some(known) => (Enabled::Shipped, Some(known)),
            None => (Enabled::NotMeasured, None),
        },
    };
    set(known);
    found
}

/// This machine, once it is enabled.
static KNOWN: Mutex<Option<Arc<Known>>> = Mutex::new(None);

fn set(known: Option<Known>) {
    *KNOWN.lock().expect("no holder panics") = known.map(Arc::new);
}

/// What is known about the machine and about the one GPU that may be used.
#[derive(Debug)]
struct Known {
    machine: Machine,
    /// The engine on that GPU, set the first time that it is predicted to be faster. `None` if that GPU is no longer
    /// the first one.
    gpu: OnceLock<Option<Arc<Gpu>>>,
}

impl Known {
    fn measured() -> Option<Known> {
        let (cpu, properties) = rates::known_with_device()?;
        let rates = Some(sortie_device::rates::known_of(properties.kind, &properties.id)?);
        let free = properties.memory_total;
        Some(Known::of(cpu, MachineGpu { properties, free, rates, started: false, share: DEFAULT_SHARE }))
    }

    fn shipped() -> Option<Known> {
        let gpu = MachineGpu::shipped(&sortie_device::cuda::model()?, 0)?;
        Some(Known::of(rates::known().unwrap_or_else(|| CpuRates::shipped(Vectors::detect())), gpu))
    }

    fn of(cpu: CpuRates, gpu: MachineGpu) -> Known {
        let machine = Machine { vectors: Vectors::detect(), cpu, gpus: vec![gpu] };
        Known { machine, gpu: OnceLock::new() }
    }

    /// Whether the device has been used in this process, for whatever reason.
    fn started(&self) -> bool {
        match self.gpu.get() {
            Some(gpu) => gpu.as_ref().is_some_and(|gpu| gpu.has_worked()),
            None => Gpu::given_out(0).is_some_and(|gpu| gpu.has_worked()),
        }
    }

    fn gpu(&self) -> Option<Arc<Gpu>> {
        let known = &self.machine.gpus[0].properties;
        let is_it = |gpu: &Arc<Gpu>| {
            let found = gpu.device().properties();
            // For rates that ship with the library, only the name is known.
            let same_one = if known.id.is_empty() { found.name == known.name } else { found.id == known.id };
            found.kind == known.kind && same_one
        };
        self.gpu.get_or_init(|| Gpu::cuda(0).ok().filter(is_it)).clone()
    }
}

fn known() -> Option<Arc<Known>> {
    KNOWN.lock().expect("no holder panics").clone()
}

/// Whether the request is large enough for a GPU to be considered.
pub(crate) fn may_take(request: &Request) -> bool {
    request.bytes() >= GPU_FROM_BYTES && known().is_some()
}

/// The machine, with the GPU that the request may take.
pub(crate) fn machine(request: &Request) -> Option<Machine> {
    if request.bytes() < GPU_FROM_BYTES {
        return None;
    }
    let known = known()?;
    let mut machine = known.machine.clone();
    machine.gpus[0].started = known.started();
    Some(machine)
}

/// The GPU of that machine.
pub(crate) fn gpu() -> Option<Arc<Gpu>> {
    known()?.gpu()
}

/// To be called after a failure other than a lack of memory: the device will not be used again.
pub(crate) fn give_up() {
    set(None);
}

#[cfg(test)]
mod tests {
    use sortie_device::rates::Rates;
    use sortie_simt::{Options, or_skip};

    use super::*;
    use crate::{Algorithm, Engine, Ran, Report, Segments, Sorter};

    /// A machine whose GPU, the test bench, is always the faster engine.
    fn known(gpu: &Arc<Gpu>) -> Known {
        let rates = Rates {
            copy: 1e15,
            pinned_in: 1e15,
            pinned_out: 1e15,
            pinned_both: 1e15,
            pageable_in: 1e15,
            pageable_out: 1e15,
            pinned_alloc: 1e15,
            start: 0.0,
        };
        let cpu = CpuRates { threads: 1, copy: 1e15, seconds_a_key: [[1e-3; 3]; 4] };
        let properties = gpu.device().properties().clone();
        let free = properties.memory_total;
        let rates = Some(rates);
        let known = MachineGpu { properties, free, rates, started: false, share: DEFAULT_SHARE };
        Known { gpu: OnceLock::from(Some(gpu.clone())), ..Known::of(cpu, known) }
    }

    fn engines(report: &Report) -> Vec<(Ran, &'static str)> {
        report.phases.iter().map(|phase| (phase.engine, phase.name)).collect()
    }

    /// One single test, because enabling applies to the whole process.
    #[test]
    fn auto_takes_the_gpu_that_wins_and_only_that() {
        let keys: Vec<u32> = (0..GPU_FROM_BYTES as u32 / 4).rev().collect();
        let segments = Segments::Length(4);
        let mut expected = keys.clone();
        expected.chunks_mut(4).for_each(<[u32]>::sort_unstable);
        let sorted = |builder: crate::SorterBuilder, count: usize| {
            let mut sorted = keys[..count].to_vec();
            let report = builder.build().unwrap().sort_segments(&mut sorted, segments).unwrap();
            assert!(sorted == expected[..count]);
            engines(&report)
        };
        let auto = Sorter::builder;
        let (on_cpu, on_gpu) = (vec![(Ran::Cpu, "finish")], vec![(Ran::Cuda, "finish")]);
        assert_eq!(sorted(auto(), keys.len()), on_cpu, "nobody has opted in");

        let Some(device) = or_skip(sortie_simt::device(Options::default())) else { return };
        let gpu = Arc::new(Gpu::new(device));
        set(Some(known(&gpu)));
        assert_eq!(sorted(auto(), keys.len() - 4), on_cpu, "too little to think of a GPU");
        assert_eq!(sorted(auto().engine(Engine::Cpu), keys.len()), on_cpu);
        assert_eq!(sorted(auto().algorithm(Algorithm::Radix), keys.len()), on_cpu, "a choice of the CPU's");
        assert!(!gpu.has_worked(), "nothing has touched it so far");
        assert_eq!(sorted(auto(), keys.len()), on_gpu);
        assert!(gpu.has_worked());

        // Every other sort of numbers runs on the GPU too, with the right result.
        let all = |expected_engine: Ran| {
            let sorter = Sorter::builder().threads(2).build().unwrap();
            let (mut sorted, mut payload) = (keys.clone(), keys.clone());
            let ran = |report: Report| {
                report.phases.iter().any(|phase| phase.engine == Ran::Cuda && phase.name == "sort")
            };
            let on_gpu = expected_engine == Ran::Cuda;
            assert_eq!(ran(sorter.sort(&mut sorted).unwrap()), on_gpu);
            assert!(sorted.is_sorted() && sorted.len() == keys.len());
            sorted.copy_from_slice(&keys);
            assert_eq!(ran(sorter.sort_pairs(&mut sorted, &mut payload).unwrap()), on_gpu);
            assert!(sorted.is_sorted() && payload == sorted);
            let mut indices = vec![0usize; keys.len()];
            assert_eq!(ran(sorter.argsort(&keys, &mut indices).unwrap()), on_gpu);
            assert!(indices.iter().rev().copied().eq(0..keys.len()));
            let report = sorter.argsort_segments(&keys, &mut indices, segments).unwrap();
            assert_eq!(report.phases.iter().any(|phase| phase.engine == Ran::Cuda), on_gpu);
            assert!(indices.chunks(4).all(|indices| indices == [3, 2, 1, 0]));
        };
        all(Ran::Cuda);

        // With too little memory, the CPU sorts; next time there may be enough.
        let abandoned = [vec![(Ran::Cuda, "abandoned")], on_cpu.clone()].concat();
        assert_eq!(sorted(auto().memory_limit(1 << 10), keys.len()), abandoned);
        assert_eq!(sorted(auto(), keys.len()), on_gpu);
        let mut slow = known(&gpu);
        slow.machine.gpus[0].rates.as_mut().unwrap().pinned_out = 1e3;
        set(Some(slow));
        assert_eq!(sorted(auto(), keys.len()), on_cpu, "predicted to lose");

        // A device on which nothing works is not tried twice.
        let useless = Options { shared_per_block: 16, ..Options::default() };
        let useless = Arc::new(Gpu::new(sortie_simt::device(useless).unwrap()));
        set(Some(known(&useless)));
        assert_eq!(sorted(auto(), keys.len()), abandoned);
        assert_eq!(sorted(auto(), keys.len()), on_cpu);
        // If a device fails in the middle, the keys are all left for the CPU.
        for failing in [0, 3] {
            let failing = Options { failing: Some(failing), ..Options::default() };
            set(Some(known(&Arc::new(Gpu::new(sortie_simt::device(failing).unwrap())))));
            let mut sorted = keys.clone();
            let report = Sorter::builder().build().unwrap().sort(&mut sorted).unwrap();
            assert_eq!(engines(&report)[0], (Ran::Cuda, "abandoned"), "{report}");
            assert!(sorted.iter().copied().eq(0..keys.len() as u32));
        }
        all(Ran::Cpu);
        let mut free = keys.clone();
        set(Some(known(&useless)));
        crate::sort_segments(&mut free, segments);
        assert!(free == expected, "the free function cannot fail");
        set(None);
    }
}
