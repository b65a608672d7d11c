//! Sorts one array on several devices.

use std::sync::Arc;

use rayon::prelude::*;
use sortie::gpu::Gpu;
use sortie::gpus::{Gpus, Share};
use sortie::{Error, Order};

use super::mixed;

/// Sorts `n` keys on each device: first random ones, then ones with few distinct values. Returns whether the parts
/// together are the sorted keys.
pub fn sort(gpus: &[Arc<Gpu>], n: usize) -> Result<bool, Error> {
    let together = Gpus::new(gpus.to_vec())?;
    let streams = gpus.iter().map(|gpu| gpu.device().stream()).collect::<Result<Vec<_>, _>>()?;
    // A part has at most a twentieth more keys than the mean; the memory is for a tenth more.
    let there =
        gpus.iter().map(|gpu| gpu.device().alloc::<u64>(n + n / 10)).collect::<Result<Vec<_>, _>>()?;
    let mut right = true;
    for dropped in [0, 60] {
        let mut expected: Vec<u64> =
            (0..n * gpus.len()).into_par_iter().map(|i| mixed(i as u64) >> dropped).collect();
        let mut shares = Vec::new();
        for ((keys, stream), there) in expected.chunks(n).zip(&streams).zip(&there) {
            stream.copy_in(there.range(0..n), keys)?;
            shares.push(Share { keys: there.view(), count: n });
        }
        // SAFETY: each share is on its own device, and nothing else uses it.
        unsafe { together.sort(&mut shares, Order::default())? };
        let mut found = Vec::with_capacity(expected.len());
        for ((share, stream), there) in shares.iter().zip(&streams).zip(&there) {
            let mut part = vec![0; share.count];
            stream.copy_out(&mut part, there.range(0..share.count))?;
            found.extend(part);
        }
        expected.par_sort_unstable();
        right &= found == expected;
    }
    Ok(right)
}
