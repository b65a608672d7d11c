//! A caller's memory, from which work on a stream is given its scratch memory.

use std::ops::Range;
use std::sync::Mutex;

use crate::Error;

/// The alignment of every piece of a workspace, in bytes; its size is a multiple of it too. Drivers align memory in the same way.
pub const WORKSPACE_ALIGNMENT: usize = 256;
const ALIGNMENT: u64 = WORKSPACE_ALIGNMENT as u64;

/// Memory that is returned can be reused at once, because its previous user is earlier on the same stream.
#[derive(Debug)]
pub(crate) struct Workspace {
    all: Range<u64>,
    /// The ranges in use, in ascending order.
    taken: Mutex<Vec<Range<u64>>>,
}

impl Workspace {
    pub fn new(address: u64, bytes: usize) -> Workspace {
        let end = address + bytes as u64;
        Workspace { all: address.next_multiple_of(ALIGNMENT).min(end)..end, taken: Mutex::default() }
    }

    /// The bytes in use.
    pub fn bytes(&self) -> usize {
        (self.all.end - self.all.start) as usize
    }

    /// The first free range that holds this many bytes.
    pub fn take(&self, bytes: usize) -> Result<u64, Error> {
        let mut taken = self.taken.lock().expect("no holder panics");
        let needed = (bytes as u64).saturating_add(ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
        let mut start = self.all.start;
        let mut largest = 0;
        for before in 0..=taken.len() {
            let room = taken.get(before).map_or(self.all.end, |next| next.start).saturating_sub(start);
            if needed <= room {
                taken.insert(before, start..start + needed);
                return Ok(start);
            }
            largest = largest.max(room);
            start = taken.get(before).map_or(start, |next| next.end);
        }
        Err(Error::OutOfMemory { needed, available: largest })
    }

    pub fn give_back(&self, address: u64) {
        self.taken.lock().expect("no holder panics").retain(|piece| piece.start != address);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_aligned_apart_and_used_again() {
        let workspace = Workspace::new(1000, 24 + 4 * 256);
        assert_eq!(workspace.take(1), Ok(1024));
        assert_eq!(workspace.take(257), Ok(1280));
        assert_eq!(workspace.take(257), Err(Error::OutOfMemory { needed: 512, available: 256 }));
        assert_eq!(workspace.take(256), Ok(1792));
        workspace.give_back(1280);
        assert_eq!(workspace.take(300), Ok(1280));
        workspace.give_back(1024);
        workspace.give_back(1280);
        assert_eq!(workspace.take(3 * 256), Ok(1024));
        assert_eq!(workspace.take(usize::MAX).map_err(drop), Err(()));
    }

    #[test]
    fn less_than_a_piece_is_nothing() {
        let workspace = Workspace::new(1000, 20);
        assert_eq!(workspace.take(1), Err(Error::OutOfMemory { needed: 256, available: 0 }));
    }
}
