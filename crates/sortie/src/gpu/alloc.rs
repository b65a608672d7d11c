//! Allocates memory on a device and on the host. If there is too little, the error says how much is missing.

use bytemuck::Pod;
use sortie_device::{Buffer, Device, Stream, WORKSPACE_ALIGNMENT};

use crate::gpu::tuning::LEFT_FREE;
use crate::{Bound, Error};

/// How many of a device's free bytes a sort may take.
pub(crate) fn available(free: u64) -> u64 {
    free - free / LEFT_FREE
}

/// Allocates device memory, or returns [`Error::Memory`] with the bytes needed and the bytes free.
pub(crate) fn alloc<T: Pod>(device: &Device, len: usize) -> Result<Buffer<T>, Error> {
    let needed = (len as u64).saturating_mul(size_of::<T>() as u64);
    let available = device.free_memory()?;
    if needed > available {
        return Err(too_little(needed, available));
    }
    device.alloc(len).map_err(|error| match error {
        sortie_device::Error::OutOfMemory { needed, available } => too_little(needed, available),
        other => other.into(),
    })
}

/// Allocates scratch memory of `words` words, with unspecified content, for work on the stream. Other streams may use
/// it too if their work comes after what is on this stream now; whoever drops it must first wait for them.
pub(crate) fn scratch(stream: &Stream, words: usize) -> Result<Buffer<u32>, Error> {
    // SAFETY: all callers keep to what is said above.
    unsafe { stream.alloc(words) }.map_err(|error| match error {
        sortie_device::Error::OutOfMemory { needed, available } => match stream.workspace_bytes() {
            Some(given) => too_small(needed, given),
            None => too_little(needed, available),
        },
        other => other.into(),
    })
}

/// Checks that the stream's workspace, if it has one, has room for pieces of these sizes, before any of them is
/// allocated.
pub(crate) fn check_workspace(stream: &Stream, words: impl FnOnce() -> Vec<usize>) -> Result<(), Error> {
    let Some(given) = stream.workspace_bytes() else { return Ok(()) };
    let needed = workspace_bytes(&words());
    if given < needed { Err(too_small(needed as u64, given)) } else { Ok(()) }
}

/// The bytes of a workspace for pieces of these sizes, in words.
pub(crate) fn workspace_bytes(words: &[usize]) -> usize {
    words.iter().map(|words| (size_of::<u32>() * words).next_multiple_of(WORKSPACE_ALIGNMENT)).sum()
}

/// Allocates scratch memory that serves as the workspace of a sort which takes pieces of these sizes, in words.
pub(crate) fn workspace(stream: &Stream, words: &[usize]) -> Result<Buffer<u32>, Error> {
    scratch(stream, workspace_bytes(words) / size_of::<u32>())
}

fn too_small(needed: u64, given: usize) -> Error {
    let hint = "compute its size for the same number of keys";
    Error::Memory { bound: Bound::Workspace, needed, available: given as u64, hint }
}

pub(super) fn too_little(needed: u64, available: u64) -> Error {
    Error::Memory { bound: Bound::Device, needed, available, hint: "sort in parts, or free some memory" }
}
