//! Memory on a device and on the host, or what is missing of it.

use bytemuck::Pod;
use sortie_device::{Buffer, Device};

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

pub(super) fn too_little(needed: u64, available: u64) -> Error {
    Error::Memory { bound: Bound::Device, needed, available, hint: "sort in parts, or free some" }
}

/// Room for so many items on the host, or what is missing.
pub(crate) fn reserve<T>(count: usize) -> Result<Vec<T>, Error> {
    let mut held = Vec::new();
    held.try_reserve_exact(count).map_err(|_| Error::Memory {
        bound: Bound::Host,
        needed: count.saturating_mul(size_of::<T>()) as u64,
        available: 0,
        hint: "sort in parts, or use the CPU engine",
    })?;
    Ok(held)
}
