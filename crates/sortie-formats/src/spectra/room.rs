//! How much memory some spectra may take, counted before it is asked for.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The memory that spectra, and what is made of them, may take together. Several threads may take of it.
#[derive(Debug)]
pub struct Room {
    limit: u64,
    taken: AtomicU64,
}

/// What spectra need, in bytes, is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoRoom {
    /// It is more than is allowed.
    #[error("{needed} bytes of memory are needed, and {limit} allowed")]
    Limit { needed: u64, limit: u64 },

    /// The system has refused it.
    #[error("the system has no room for {needed} bytes")]
    System { needed: u64 },
}

impl Room {
    /// Room for so many bytes.
    #[must_use]
    pub fn new(limit: u64) -> Room {
        Room { limit, taken: AtomicU64::new(0) }
    }

    /// As much room as the system has.
    #[must_use]
    pub fn unlimited() -> Room {
        Room::new(u64::MAX)
    }

    /// The bytes that may be taken in all.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// The bytes that were taken.
    #[must_use]
    pub fn taken(&self) -> u64 {
        self.taken.load(Relaxed)
    }

    /// Counts `bytes` as taken.
    ///
    /// # Errors
    /// [`NoRoom::Limit`] if the limit does not allow them; then they are not counted.
    pub fn take(&self, bytes: u64) -> Result<(), NoRoom> {
        let add = |taken: u64| taken.checked_add(bytes).filter(|&taken| taken <= self.limit);
        match self.taken.fetch_update(Relaxed, Relaxed, add) {
            Ok(_) => Ok(()),
            Err(taken) => Err(NoRoom::Limit { needed: taken.saturating_add(bytes), limit: self.limit }),
        }
    }

    /// Whether `bytes` can be taken, without counting them.
    ///
    /// # Errors
    /// As [`Room::take`].
    pub fn check(&self, bytes: u64) -> Result<(), NoRoom> {
        match self.taken().saturating_add(bytes) {
            needed if needed > self.limit => Err(NoRoom::Limit { needed, limit: self.limit }),
            _ => Ok(()),
        }
    }

    /// Counts `bytes` that were taken as free again.
    pub fn give_back(&self, bytes: u64) {
        self.taken.fetch_sub(bytes, Relaxed);
    }

    /// Makes room in `items` for so many more, and counts what that takes. Where the limit allows it, there is as much
    /// room again, so that many small pieces are not moved each time.
    ///
    /// # Errors
    /// If limit or system do not allow it.
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

/// Appends to `text`, for which room was taken.
///
/// # Errors
/// If the system has none.
pub fn append(text: &mut Vec<u8>, more: &[u8]) -> Result<(), NoRoom> {
    text.try_reserve(more.len()).map_err(|_| NoRoom::System { needed: (text.len() + more.len()) as u64 })?;
    text.extend_from_slice(more);
    Ok(())
}

/// A writer into memory that fails where there is no more, with [`io::ErrorKind::OutOfMemory`].
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
