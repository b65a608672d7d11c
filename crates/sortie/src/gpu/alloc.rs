//! Memory on a device and on the host, or what is missing of it.

use bytemuck::Pod;
use sortie_device::{Buffer, Device, Stream, WORKSPACE_ALIGNMENT};

use crate::{Bound, Error};

/// Device memory, or [`Error::Memory`] with both numbers.
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

/// Scratch memory for work on the stream: `words` words, whose content is unspecified. Where other streams use it too, they
/// come after what is on this one now, and whoever drops it waits for them before.
pub(crate) fn scratch(stream: &Stream, words: usize) -> Result<Buffer<u32>, Error> {
    // SAFETY: as above, of all callers.
    unsafe { stream.alloc(words) }.map_err(|error| match error {
        sortie_device::Error::OutOfMemory { needed, available } => match stream.workspace_bytes() {
            Some(given) => too_small(needed, given),
            None => too_little(needed, available),
        },
        other => other.into(),
    })
}

/// Whether the stream's workspace, if it has one, has room for pieces of so many words, before any of them is had.
pub(crate) fn check_workspace(stream: &Stream, words: impl FnOnce() -> Vec<usize>) -> Result<(), Error> {
    let Some(given) = stream.workspace_bytes() else { return Ok(()) };
    let needed = workspace_bytes(&words());
    if given < needed { Err(too_small(needed as u64, given)) } else { Ok(()) }
}

/// Bytes of a workspace for pieces of so many words.
pub(crate) fn workspace_bytes(words: &[usize]) -> usize {
    words.iter().map(|words| (size_of::<u32>() * words).next_multiple_of(WORKSPACE_ALIGNMENT)).sum()
}

/// A piece of scratch that is the workspace of a sort which takes pieces of so many words.
pub(crate) fn workspace(stream: &Stream, words: &[usize]) -> Result<Buffer<u32>, Error> {
    scratch(stream, workspace_bytes(words) / size_of::<u32>())
}

fn too_small(needed: u64, given: usize) -> Error {
    let hint = "ask for its size with the same number of keys";
    Error::Memory { bound: Bound::Workspace, needed, available: given as u64, hint }
}

pub(super) fn too_little(needed: u64, available: u64) -> Error {
    Error::Memory { bound: Bound::Device, needed, available, hint: "sort in parts, or free some" }
}
