//! Sorts pairs in GPU memory with payloads whose size is too unusual to be moved together with the keys.

use rayon::prelude::*;
use sortie::gpu::Gpu;
use sortie::{Error, Order};

use super::mixed;

/// Sorts `n` random keys, many of them equal, with payloads of 12 bytes. Returns whether the result is sorted, and
/// stable.
pub fn sorts(gpu: &Gpu, n: usize) -> Result<bool, Error> {
    let (device, stream) = (gpu.device(), gpu.device().stream()?);
    let row = |i: u32| [i, !i, i ^ 1];
    let mut pairs: Vec<(u32, [u32; 3])> =
        (0..n as u32).into_par_iter().map(|i| (mixed(u64::from(i)) as u32 >> 12, row(i))).collect();
    let (mut keys, mut payload): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
    let (keys_there, payload_there) = (device.alloc::<u32>(n)?, device.alloc::<[u32; 3]>(n)?);
    stream.copy_in(keys_there.view(), &keys)?;
    stream.copy_in(payload_there.view(), &payload)?;
    // SAFETY: nothing else uses keys and payload until the sort is done.
    unsafe { gpu.sort_pairs(&stream, keys_there.view(), payload_there.view(), Order::default())? }.wait()?;
    stream.copy_out(&mut keys, keys_there.view())?;
    stream.copy_out(&mut payload, payload_there.view())?;
    pairs.par_sort_by_key(|&(key, _)| key);
    Ok(pairs.into_iter().eq(keys.into_iter().zip(payload)))
}
