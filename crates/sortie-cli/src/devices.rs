//! `sortie devices`: lists the GPUs, or says why none is found, and how fast they and the CPU are.

use std::fmt::Write;
use std::num::NonZeroUsize;

use sortie::Engine;
use sortie::gpu::Gpu;
use sortie::rates::{self as cpu, CpuRates, Share};
use sortie_device::rates::{self, Rates};
use sortie_device::{Device, Error, cuda};

use crate::cli::MemorySize;
use crate::explain::counted;
use crate::failure::Failure;
use crate::threads;

/// The segment length that represents all lengths in the listing.
const MEDIUM: usize = 512;

/// The text of the listing. Finding no device is not an error; a device that does not work is one.
pub fn list(measure: bool) -> Result<String, Error> {
    let mut text = String::new();
    match cuda::devices() {
        Err(error) => line(&mut text, error),
        Ok(devices) => {
            for device in &devices {
                describe(&mut text, device, measure)?;
            }
            // The rates of the CPU matter only for comparison with the first GPU.
            let cpu = if measure { devices.first().map(cpu::measure) } else { cpu::known() };
            cpu.iter().for_each(|rates| describe_cpu(&mut text, rates));
            let (major, minor) = cuda::driver_version()?;
            line(&mut text, format_args!("driver: for CUDA {major}.{minor}"));
        }
    }
    match cuda::compiler_version() {
        Ok((major, minor)) => line(&mut text, format_args!("NVRTC: {major}.{minor}")),
        Err(error) => line(&mut text, error),
    }
    Ok(text)
}

/// Lets `--engine auto` choose a GPU, and returns whether it may: a GPU with known rates exists, and `-S` is not given.
/// The CUDA driver does not respect `-S`.
pub fn may_be_chosen(engine: Engine, limit: Option<MemorySize>) -> bool {
    engine == Engine::Auto && limit.is_none() && sortie::enable_gpu() != sortie::Enabled::NotMeasured
}

/// Measures which share of the keys a GPU should get beside this many CPU threads, and describes the result.
pub fn tune(engine: Engine, threads: Option<NonZeroUsize>) -> Result<String, Failure> {
    let (Engine::Hybrid(ordinal) | Engine::Cuda(ordinal)) = engine else {
        return Err(Failure::new("tuning measures the share of a GPU; give --engine hybrid or hybrid:N"));
    };
    threads::start(threads, None)?;
    let shares = cpu::tune(&*Gpu::cuda(ordinal)?)?;
    if shares.is_empty() {
        return Err(Failure::new(
            "the GPU has too little free memory for tuning; try again when it has more",
        ));
    }
    let mut text = String::new();
    describe_shares(&mut text, &shares);
    Ok(text)
}

fn describe(text: &mut String, device: &Device, measure: bool) -> Result<(), Error> {
    let about = device.properties();
    let (major, minor) = about.compute_capability;
    let free = device.free_memory()?;
    line(
        text,
        format_args!("{}:{} {}, compute capability {major}.{minor}", about.kind, about.ordinal, about.name),
    );
    line(text, format_args!("  memory: {:.1} GiB, {:.1} GiB free", gib(about.memory_total), gib(free)));
    line(
        text,
        format_args!(
            "  multiprocessors: {}, {} KiB of shared memory a block, {} MiB of L2",
            about.multiprocessors,
            about.shared_per_block >> 10,
            about.l2_bytes >> 20
        ),
    );
    let rates = if measure { Some(rates::measure(device)?) } else { rates::known(device) };
    match rates {
        Some(rates) => describe_rates(text, &rates),
        None => line(
            text,
            "  rates: not measured yet; run sortie devices --measure. Until then, --engine auto knows the rates of some GPUs",
        ),
    }
    describe_shares(text, &cpu::known_shares(about, rayon::current_num_threads()));
    Ok(())
}

fn describe_rates(text: &mut String, rates: &Rates) {
    let rate = |bytes_a_second: f64| format!("{:.1} GB/s", bytes_a_second / 1e9);
    line(text, format_args!("  copy: {}, read and written", rate(rates.copy)));
    let way = |pinned, pageable| format!("{} pinned, {} pageable", rate(pinned), rate(pageable));
    line(text, format_args!("  host to device: {}", way(rates.pinned_in, rates.pageable_in)));
    line(text, format_args!("  device to host: {}", way(rates.pinned_out, rates.pageable_out)));
    line(text, format_args!("  both at once: {} pinned", rate(rates.pinned_both)));
    let pinned = rate(rates.pinned_alloc);
    line(text, format_args!("  start: {:.0} ms, pinned memory at {pinned}", rates.start * 1e3));
}

fn describe_shares(text: &mut String, shares: &[Share]) {
    for Share { key_bytes, payload_bytes, of_gpu } in shares {
        let beside = if *payload_bytes > 0 { " with as large a payload" } else { "" };
        let keys = format_args!("keys of {} bits{beside}", 8 * key_bytes);
        line(text, format_args!("  --engine hybrid: {:.1}% of {keys} to the GPU", 100.0 * of_gpu));
    }
}

fn describe_cpu(text: &mut String, rates: &CpuRates) {
    let sorts = |bytes| format!("{:.2} G/s of {} bits", rates.keys_a_second(bytes, MEDIUM) / 1e9, 8 * bytes);
    line(text, format_args!("cpu, {}", counted(rates.threads, "thread", "threads")));
    line(text, format_args!("  copy: {:.1} GB/s", rates.copy / 1e9));
    line(text, format_args!("  keys in segments of {MEDIUM}: {}, {}", sorts(4), sorts(8)));
}

fn gib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 30)
}

fn line(text: &mut String, what: impl std::fmt::Display) {
    writeln!(text, "{what}").expect("a string takes all that is written");
}
