//! A limit on the memory for spectra, which is counted before it is allocated.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The memory that spectra and data derived from them may use together. Several threads can share it.
#[derive(Debug)]
pub struct Room {
    limit: u64,
    taken: AtomicU64,
}

/// The memory for spectra is not available. Sizes are in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoRoom {
    /// The limit does not allow it.
    #[error("{needed} bytes of memory are needed, but {limit} are allowed")]
    Limit { needed: u64, limit: u64 },

    /// The system refused it.
    #[error("the system has no memory for {needed} bytes")]
    System { needed: u64 },
}

impl Room {
    /// A limit of this many bytes.
    #[must_use]
    pub fn new(limit: u64) -> Room {
        Room { limit, taken: AtomicU64::new(0) }
    }

    /// No limit other than that of the system.
    #[must_use]
    pub fn unlimited() -> Room {
        Room::new(u64::MAX)
    }

    /// The limit in bytes.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The number of bytes in use.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.taken.load(Relaxed)
    }

    /// Counts `bytes` as taken.
    ///
    /// # Errors
    /// [`NoRoom::Limit`] if the limit does not allow them. They are not counted then.
    pub fn take(&self, bytes: u64) -> Result<(), NoRoom> {
        let add = |taken: u64| taken.checked_add(bytes).filter(|&taken| taken <= self.limit);
        match self.taken.fetch_update(Relaxed, Relaxed, add) {
            Ok(_) => Ok(()),
            Err(taken) => Err(NoRoom::Limit { needed: taken.saturating_add(bytes), limit: self.limit }),
        }
    }

    /// Checks whether `bytes` more can be taken, without counting them.
    ///
    /// # Errors
    /// [`NoRoom::Limit`] if the limit does not allow them.
    pub fn check(&self, bytes: u64) -> Result<(), NoRoom> {
        match self.taken().saturating_add(bytes) {
            needed if needed > self.limit => Err(NoRoom::Limit { needed, limit: self.limit }),
            _ => Ok(()),
        }
    }

    /// Counts `bytes` as free again.
    pub fn give_back(&self, bytes: u64) {
        self.taken.fetch_sub(bytes, Relaxed);
    }

    /// Reserves room in `items` for `more` items, and counts the memory. If the limit allows it, the capacity is
    /// doubled, so that appending many small pieces does not move the items each time.
    ///
    /// # Errors
    /// If the limit or the system does not allow it.
    pub fn reserve<T>(&self, items: &mut Vec<T>, more: usize) -> Result<(), NoRoom> {
        let (len, held) = (items.len(), items.capacity());
        let exactly = len.saturating_add(more);
        if exactly <= held {
            return Ok(());
        }
        let ample = exactly.max(held.saturating_mul(2));
        let new = match self.take(bytes_of::<T>(ample - held)) {
            Ok(()) => ample,
            Err(_) => self.take(bytes_of::<T>(exactly - held)).map(|()| exactly)?,
        };
        items.try_reserve_exact(new - len).map_err(|_| NoRoom::System { needed: bytes_of::<T>(new) })
    }
}

/// Appends to `text`. The memory must have been counted before.
///
/// # Errors
/// If the system cannot allocate the memory.
pub fn append(text: &mut Vec<u8>, more: &[u8]) -> Result<(), NoRoom> {
    text.try_reserve(more.len()).map_err(|_| NoRoom::System { needed: (text.len() + more.len()) as u64 })?;
    text.extend_from_slice(more);
    Ok(())
}

/// A writer into memory that fails with [`io::ErrorKind::OutOfMemory`] if there is no more memory.
#[derive(Debug, Default)]
pub struct Memory(pub Vec<u8>);

impl io::Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        append(&mut self.0, bytes).map_err(|_| io::Error::from(io::ErrorKind::OutOfMemory))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn bytes_of<T>(count: usize) -> u64 {
    (count as u64).saturating_mul(size_of::<T>() as u64)
}
