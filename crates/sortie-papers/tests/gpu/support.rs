//! The devices under test, and keys for them.

use sortie_device::Device;
use sortie_papers::Papers;
use sortie_simt::{Options, Sanitizer, or_skip};

/// Runs a test on the test bench, with the race detector, and on the first CUDA device.
pub fn on_each(test: impl Fn(&Papers)) {
    // With few multiprocessors, fewer keys suffice to reach the paths for many keys, and the test is faster.
    on_bench(Options { sanitizer: Sanitizer::Race, multiprocessors: 2, ..Options::default() }, &test);
    if let Some(device) = cuda() {
        test(&Papers::new(device));
    }
}

pub fn on_bench(options: Options, test: impl Fn(&Papers)) {
    if let Some(device) = or_skip(sortie_simt::device(options)) {
        test(&Papers::new(device));
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

/// Keys with a pattern: random bits, few distinct values, ascending, descending, all equal, the ends of the range, or a
/// narrow range except for a few keys.
pub fn keys(pattern: &str, n: usize, seed: u64) -> Vec<u32> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..n as u32)
        .map(|i| match pattern {
            "random" => random.u32(..),
            "few" => random.u32(0..5).wrapping_mul(0x9E37_79B9),
            "ascending" => i << 8 | i >> 16,
            "descending" => !(i << 8 | i >> 16),
            "equal" => 0x7FC0_0001,
            "ends" => [0, u32::MAX, 1 << 31, (1 << 31) - 1, 0x8000, 0x7F80_0000][random.usize(0..6)],
            "crowded" if random.u8(0..50) == 0 => u32::MAX,
            "crowded" => random.u32(0..4096),
            _ => unreachable!("no such pattern: {pattern}"),
        })
        .collect()
}

pub const PATTERNS: [&str; 7] = ["random", "few", "ascending", "descending", "equal", "ends", "crowded"];
