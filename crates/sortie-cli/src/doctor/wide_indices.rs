//! Computes 64-bit indices of keys in GPU memory.

use rayon::prelude::*;
use sortie::gpu::Gpu;
use sortie::{Error, Order};

use super::mixed;

/// Computes the indices of `n` random keys, many of them equal. Returns whether they are in order, and stable.
pub fn sorts(gpu: &Gpu, n: usize) -> Result<bool, Error> {
    let (device, stream) = (gpu.device(), gpu.device().stream()?);
    let keys: Vec<u32> = (0..n).into_par_iter().map(|i| mixed(i as u64) as u32 >> 12).collect();
    let (keys_there, indices_there) = (device.alloc::<u32>(n)?, device.alloc::<u64>(n)?);
    stream.copy_in(keys_there.view(), &keys)?;
    // SAFETY: nothing else uses keys and indices until the sort is done.
    unsafe { gpu.argsort(&stream, keys_there.view(), indices_there.view(), Order::default())? }.wait()?;
    let mut found = vec![0; n];
    stream.copy_out(&mut found, indices_there.view())?;
    let mut expected: Vec<u64> = (0..n as u64).collect();
    expected.par_sort_by_key(|&i| keys[i as usize]);
    Ok(found == expected)
}
