//! Captures a sort in a CUDA graph, and replays it with other keys.

use rayon::prelude::*;
use sortie::gpu::Gpu;
use sortie::request::Beside;
use sortie::{Error, Order};

use super::mixed;

/// Captures sorts of `n` random keys, one with scratch memory of the graph and one in a workspace, and replays each
/// twice. Returns whether all results are sorted.
pub fn sorts(gpu: &Gpu, n: usize) -> Result<bool, Error> {
    let (device, stream) = (gpu.device(), gpu.device().stream()?);
    let there = device.alloc::<u64>(n)?;
    let workspace = device.alloc::<u8>(gpu.workspace_bytes::<u64>(n, Beside::Nothing)?)?;
    // SAFETY: nothing else uses the workspace. It is dropped after the stream was waited for.
    let within = unsafe { stream.with_workspace(workspace.view()) };
    let mut right = true;
    for stream in [&stream, &within] {
        // SAFETY: nothing else uses the keys until the stream is waited for.
        let sort = || unsafe { gpu.sort(stream, there.view(), Order::default()) };
        // Compiles the kernels before the capture.
        sort()?.wait()?;
        let graph = stream.capture(|| sort().map(drop))?;
        for replay in 0..2 {
            let mut expected: Vec<u64> =
                (0..n).into_par_iter().map(|i| mixed((2 * i + replay) as u64)).collect();
            stream.copy_in(there.view(), &expected)?;
            // SAFETY: as above.
            unsafe { graph.launch(stream)? };
            let mut found = vec![0; n];
            stream.copy_out(&mut found, there.view())?;
            expected.par_sort_unstable();
            right &= found == expected;
        }
    }
    Ok(right)
}
