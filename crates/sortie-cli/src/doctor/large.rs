//! Sorts more keys than 32 bits can count. They are generated and checked chunk by chunk, so the host never
//! holds all of them.

use rayon::prelude::*;
use sortie::gpu::Gpu;
use sortie::{Error, Order};

use super::mixed;

pub const KEYS: usize = (1 << 32) + 1;

/// Sorts `n` random keys in GPU memory. Returns whether the result has the same keys in order. Compares a sum of
/// hashes to see that the keys are the same.
pub fn sorts(gpu: &Gpu, n: usize, chunk: usize) -> Result<bool, Error> {
    let (stream, there) = (gpu.device().stream()?, gpu.device().alloc::<u32>(n)?);
    let chunks = || (0..n).step_by(chunk).map(|start| start..n.min(start + chunk));
    let mut keys: Vec<u32> = Vec::new();
    let mut drawn = 0u64;
    for range in chunks() {
        range.clone().into_par_iter().map(|i| mixed(i as u64) as u32).collect_into_vec(&mut keys);
        drawn = drawn.wrapping_add(checksum(&keys));
        stream.copy_in(there.range(range), &keys)?;
    }
    // SAFETY: nothing else uses the keys meanwhile.
    unsafe { gpu.sort(&stream, there.view(), Order::default())? }.wait()?;
    let (mut found, mut in_order, mut last) = (0u64, true, 0);
    for range in chunks() {
        keys.resize(range.len(), 0);
        stream.copy_out(&mut keys, there.range(range))?;
        found = found.wrapping_add(checksum(&keys));
        in_order &= last <= keys[0] && keys.par_windows(2).all(|pair| pair[0] <= pair[1]);
        last = keys[keys.len() - 1];
    }
    Ok(in_order && found == drawn)
}

fn checksum(keys: &[u32]) -> u64 {
    keys.par_iter().map(|&key| mixed(key.into())).reduce(|| 0, u64::wrapping_add)
}
