//! Whether [`Engine::Auto`](crate::Engine::Auto) takes a GPU: only when the program has opted in, and only where the
//! prediction from this machine's rates says that it is faster.

use std::sync::{Arc, Mutex, OnceLock};

use sortie_device::rates::Rates;

use super::GPU_FROM_BYTES;
use super::predict::{Work, gpu_wins};
use crate::gpu::Gpu;
use crate::rates::{CpuRates, Rival};
use crate::{Segments, rates};

/// What [`enable`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "without rates nothing has changed"]
pub enum Enabled {
    /// This machine was measured: [`Engine::Auto`](crate::Engine::Auto) now takes its first CUDA device where it predicts a
    /// win.
    Measured,
    /// It was not, so `Engine::Auto` stays on the CPU. `sortie devices --measure` measures, and so do
    /// [`rates::measure`](crate::rates::measure) and `sortie_device::rates::measure`; then call [`enable`] again.
    NotMeasured,
}

/// Lets [`Engine::Auto`](crate::Engine::Auto) take the first CUDA device, in this process and from now on, for sorts of
/// segments in host memory: [`Sorter::sort_segments`](crate::Sorter::sort_segments) and the free function
/// [`sort_segments`](crate::sort_segments). Other sorts take a GPU only where their engine is one.
///
/// A sort takes it where the rates that were measured on this machine predict a win, with both transfers and all else
/// that the device costs to start; inputs of less than 4 MiB never do. Where the device then fails, or has too little
/// memory, the CPU engine sorts instead; the [`Report`](crate::Report) has a phase `abandoned` with the time that was lost.
///
/// Costs two small files to read, once; no GPU is touched before the first sort that is to run there. That one waits for
/// the device to start, and the first of a kind on a machine for its kernels to be compiled (seconds; they are kept).
pub fn enable() -> Enabled {
    let machine = Machine::known();
    let found = if machine.is_some() { Enabled::Measured } else { Enabled::NotMeasured };
    set(machine);
    found
}

/// This machine, once it is enabled.
static MACHINE: Mutex<Option<Arc<Machine>>> = Mutex::new(None);

fn set(machine: Option<Machine>) {
    *MACHINE.lock().expect("no holder panics") = machine.map(Arc::new);
}

#[derive(Debug)]
struct Machine {
    cpu: CpuRates,
    device: Rates,
    rival: Rival,
    /// The engine on that device, from the first predicted win on; none where the device is not the first any more.
    gpu: OnceLock<Option<Arc<Gpu>>>,
}

impl Machine {
    fn known() -> Option<Machine> {
        let (cpu, rival) = rates::known_with_rival()?;
        let device = sortie_device::rates::known_of(&rival.kind, &rival.id)?;
        Some(Machine { cpu, device, rival, gpu: OnceLock::new() })
    }

    /// Whether the device has worked for this process, for whatever reason.
    fn started(&self) -> bool {
        match self.gpu.get() {
            Some(gpu) => gpu.as_ref().is_some_and(|gpu| gpu.has_worked()),
            None => Gpu::given_out(0).is_some_and(|gpu| gpu.has_worked()),
        }
    }

    fn gpu(&self) -> Option<Arc<Gpu>> {
        let is_rival = |gpu: &Arc<Gpu>| {
            let properties = gpu.device().properties();
            properties.kind == self.rival.kind && properties.id == self.rival.id
        };
        self.gpu.get_or_init(|| Gpu::cuda(0).ok().filter(is_rival)).clone()
    }
}

/// The GPU for segments of such keys, where it is predicted to win. `threads` says how many the CPU engine would have.
pub(crate) fn gpu_for(
    key_bytes: usize,
    keys: usize,
    segments: Segments<'_>,
    threads: impl FnOnce() -> usize,
) -> Option<Arc<Gpu>> {
    if keys.saturating_mul(key_bytes) < GPU_FROM_BYTES || !matches!(key_bytes, 1 | 2 | 4 | 8) {
        return None;
    }
    let machine = MACHINE.lock().expect("no holder panics").clone()?;
    let work = Work::of(key_bytes, keys, segments);
    let wins = gpu_wins(&work, &machine.cpu, &machine.device, threads(), machine.started());
    if wins { machine.gpu() } else { None }
}

/// After a failure that is no lack of memory: the device will not be asked again.
pub(crate) fn give_up() {
    set(None);
}

#[cfg(test)]
mod tests {
    use sortie_simt::Options;

    use super::*;
    use crate::{Algorithm, Engine, Ran, Report, Sorter};

    /// A machine whose GPU, the bench, is the faster one for whatever there is.
    fn machine(gpu: &Arc<Gpu>) -> Machine {
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
        let properties = gpu.device().properties();
        let rival = Rival { kind: properties.kind.into(), id: properties.id.clone() };
        Machine { cpu, device: rates, rival, gpu: OnceLock::from(Some(gpu.clone())) }
    }

    fn engines(report: &Report) -> Vec<(Ran, &'static str)> {
        report.phases.iter().map(|phase| (phase.engine, phase.name)).collect()
    }

    /// One test, since what is enabled is the process's.
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

        let bench = sortie_simt::device(Options::default());
        let Ok(device) = bench else { return println!("skipped: {bench:?}") };
        let gpu = Arc::new(Gpu::new(device));
        set(Some(machine(&gpu)));
        assert_eq!(sorted(auto(), keys.len() - 4), on_cpu, "too little to think of a GPU");
        assert_eq!(sorted(auto().engine(Engine::Cpu), keys.len()), on_cpu);
        assert_eq!(sorted(auto().algorithm(Algorithm::Radix), keys.len()), on_cpu, "a choice of the CPU's");
        assert!(!gpu.has_worked(), "nothing has touched it so far");
        assert_eq!(sorted(auto(), keys.len()), on_gpu);
        assert!(gpu.has_worked());

        // Not enough memory, and the CPU sorts; next time there may be.
        let abandoned = [vec![(Ran::Cuda, "abandoned")], on_cpu.clone()].concat();
        assert_eq!(sorted(auto().memory_limit(1 << 10), keys.len()), abandoned);
        assert_eq!(sorted(auto(), keys.len()), on_gpu);
        let slow = Machine { device: Rates { pinned_out: 1e3, ..machine(&gpu).device }, ..machine(&gpu) };
        set(Some(slow));
        assert_eq!(sorted(auto(), keys.len()), on_cpu, "predicted to lose");

        // A device on which nothing works: not asked twice.
        let useless = Options { shared_per_block: 16, ..Options::default() };
        let useless = Arc::new(Gpu::new(sortie_simt::device(useless).unwrap()));
        set(Some(machine(&useless)));
        assert_eq!(sorted(auto(), keys.len()), abandoned);
        assert_eq!(sorted(auto(), keys.len()), on_cpu);
        let mut free = keys.clone();
        set(Some(machine(&useless)));
        crate::sort_segments(&mut free, segments);
        assert!(free == expected, "the free function cannot fail");
        set(None);
    }
}
