//! Counts documents whose name occurs more than once.

use std::hash::{DefaultHasher, Hasher};
use std::io::{BufReader, Read};

use crate::error::Error;
use crate::format::{NAME_ENDS, NAMES};
use crate::publish::Draft;

/// Counts the documents whose name an earlier document already has. Compares 64-bit hashes of the names: among 10^8
/// different names, the chance that any two are mistaken for equal is 1 in 3700.
///
/// Needs `memory` bytes, and reads all names once for each `memory / 16` documents.
pub fn repeated(draft: &mut Draft, documents: u64, memory: u64) -> Result<u64, Error> {
    let room = (memory / 16).clamp(1 << 12, 1 << 40);
    let parts = documents.div_ceil(room);
    let mut distinct = 0;
    for part in 0..parts {
        let mut hashes = Hashes { held: Vec::new(), room: room as usize };
        for_each_name(draft, documents, |hash| {
            let is_of_part = (u128::from(hash) * u128::from(parts)) >> 64 == u128::from(part);
            if is_of_part { hashes.push(hash) } else { Ok(()) }
        })?;
        distinct += hashes.distinct();
    }
    Ok(documents - distinct)
}

/// The hashes of some names. When there is no more room, duplicates are removed.
struct Hashes {
    held: Vec<u64>,
    room: usize,
}

impl Hashes {
    fn push(&mut self, hash: u64) -> Result<(), Error> {
        if self.held.len() == self.room {
            let distinct = self.distinct() as usize;
            // This part has by chance more different hashes than its share.
            if distinct > self.room / 4 * 3 {
                self.room *= 2;
            }
        }
        self.held.try_reserve(1).map_err(|_| Error::Memory { bytes: 8 * (self.held.len() as u64 + 1) })?;
        self.held.push(hash);
        Ok(())
    }

    /// The number of different hashes. Removes duplicates.
    fn distinct(&mut self) -> u64 {
        self.held.sort_unstable();
        self.held.dedup();
        self.held.len() as u64
    }
}

/// Calls `each` with the hash of every name.
fn for_each_name(
    draft: &mut Draft,
    documents: u64,
    mut each: impl FnMut(u64) -> Result<(), Error>,
) -> Result<(), Error> {
    draft.files[NAMES].write_held()?;
    draft.files[NAME_ENDS].write_held()?;
    let path = draft.files[NAMES].path();
    let mut names = BufReader::with_capacity(256 << 10, draft.files[NAMES].written());
    let mut ends = BufReader::with_capacity(64 << 10, draft.files[NAME_ENDS].written());
    let (mut start, mut end) = (0, [0; 8]);
    let mut name = Vec::new();
    for _ in 0..documents {
        ends.read_exact(&mut end).map_err(Error::file("read", path))?;
        let length = u64::from_le_bytes(end) - start;
        start += length;
        name.clear();
        names.by_ref().take(length).read_to_end(&mut name).map_err(Error::file("read", path))?;
        let mut hasher = DefaultHasher::new();
        hasher.write(&name);
        each(hasher.finish())?;
    }
    Ok(())
}
