//! The devices under test, and keys for them.

use bytemuck::Pod;
use sortie::gpu::Gpu;
use sortie_device::Device;
use sortie_simt::{Options, Sanitizer, or_skip};

/// Runs a test on the test bench, with a check for races, and on the first CUDA device.
pub fn on_each(test: impl Fn(&Gpu)) {
    // With fewer multiprocessors, fewer keys count as many, which is faster.
    on_bench(Options { sanitizer: Sanitizer::Race, multiprocessors: 2, ..Options::default() }, &test);
    if let Some(device) = cuda() {
        test(&Gpu::new(device));
    }
}

pub fn on_bench(options: Options, test: impl Fn(&Gpu)) {
    if let Some(device) = or_skip(sortie_simt::device(options)) {
        test(&Gpu::new(device));
    }
}

pub fn cuda() -> Option<Device> {
    match sortie_device::cuda::device(0) {
        Ok(device) => Some(device),
        Err(why) => {
            println!("skipped on CUDA: {why}");
            None
        }
    }
}

/// Keys of a pattern: any bits, few distinct values, ascending, descending, all equal, the ends of the range, or a
/// narrow range with a few exceptions.
pub fn keys(pattern: &str, n: usize, seed: u64) -> Vec<u64> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..n as u64)
        .map(|i| match pattern {
            "random" => random.u64(..),
            "few" => random.u64(0..5).wrapping_mul(0x9E37_79B9_7F4A_7C15),
            "ascending" => i << 40 | i,
            "descending" => !(i << 40 | i),
            "equal" => 0x7FC0_0000_7FC0_0001,
            "ends" => {
                [0, u64::MAX, 1 << 63, (1 << 63) - 1, 0x8000_0000, 0x7FFF_FFFF_FFFF][random.usize(0..6)]
            }
            "crowded" if random.u8(0..50) == 0 => u64::MAX,
            "crowded" => random.u64(0..4096),
            _ => unreachable!("no such pattern: {pattern}"),
        })
        .collect()
}

/// The low bits of wide keys.
pub fn cut<K: Pod>(wide: &[u64]) -> Vec<K> {
    wide.iter().map(|key| bytemuck::pod_read_unaligned(&key.to_le_bytes()[..size_of::<K>()])).collect()
}

/// Keys of 128 bits in the order of these keys. They differ only in their upper halves, or only in their lower halves.
pub fn widen(wide: &[u64], is_high: bool) -> Vec<u128> {
    wide.iter()
        .map(|&key| if is_high { u128::from(key) << 64 | u128::from(!key) } else { u128::from(key) })
        .collect()
}

pub const PATTERNS: [&str; 7] = ["random", "few", "ascending", "descending", "equal", "ends", "crowded"];
