//! A file of an index on disk, read by position.
//!
//! Files are read, not mapped. If another program truncates a mapped file, SIGBUS kills this one. A read past the end
//! only returns an error.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// A file of an index, open for reading.
#[derive(Debug)]
pub struct Stored {
    file: File,
    path: PathBuf,
    bytes: u64,
}

/// The number of bytes to read at a time when reading a whole file.
pub const SCAN: usize = 64 << 10;

impl Stored {
    /// A file whose length must be `bytes`, as the header says.
    pub fn new(file: File, path: PathBuf, bytes: u64) -> Result<Stored, Error> {
        let found = file.metadata().map_err(Error::file("read", &path))?.len();
        if found != bytes {
            return Err(Error::damaged(&path, format!("{found} bytes, not {bytes}")));
        }
        Ok(Stored { file, path, bytes })
    }

    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The error for a file that does not hold what was written.
    pub fn damaged(&self, why: impl Into<String>) -> Error {
        Error::damaged(&self.path, why)
    }

    /// An empty window. Each read loads `ahead` bytes, or fewer at the end of the file.
    pub fn window(&self, ahead: usize) -> Window<'_> {
        Window { file: self, ahead: ahead as u64, buffer: Vec::new(), start: 0 }
    }

    /// The CRC-32 of the whole file.
    pub fn checksum(&self) -> Result<u32, Error> {
        let (mut window, mut hasher) = (self.window(SCAN), crc32fast::Hasher::new());
        let mut start = 0;
        while start < self.bytes {
            let end = self.bytes.min(start + SCAN as u64);
            hasher.update(window.bytes(start..end)?);
            start = end;
        }
        Ok(hasher.finalize())
    }

    /// Reads a part of the file into `buffer`, replacing its content.
    fn read(&self, part: Range<u64>, buffer: &mut Vec<u8>) -> Result<(), Error> {
        buffer.clear();
        let failed = Error::file("read", &self.path);
        let length = usize::try_from(part.end - part.start).unwrap_or(usize::MAX);
        // A sparse file may be far longer than its space on disk.
        if buffer.try_reserve(length).is_err() {
            return Err(failed(io::ErrorKind::OutOfMemory.into()));
        }
        buffer.resize(length, 0);
        let read = self.file.read_exact_at(buffer, part.start);
        read.map_err(|error| {
            buffer.clear();
            match error.kind() {
                io::ErrorKind::UnexpectedEof => self.damaged("it has become shorter since it was opened"),
                _ => failed(error),
            }
        })
    }
}

/// A part of a file in memory. It moves when another part is requested.
pub struct Window<'a> {
    file: &'a Stored,
    ahead: u64,
    buffer: Vec<u8>,
    /// The position in the file where the buffer begins.
    start: u64,
}

impl<'a> Window<'a> {
    pub fn file(&self) -> &'a Stored {
        self.file
    }

    /// A part of the file. Fails if the file is shorter.
    #[inline]
    pub fn bytes(&mut self, part: Range<u64>) -> Result<&[u8], Error> {
        let held = self.start..self.start + self.buffer.len() as u64;
        if part.start < held.start || part.end > held.end || part.start > part.end {
            self.move_to(&part)?;
        }
        Ok(&self.buffer[(part.start - self.start) as usize..(part.end - self.start) as usize])
    }

    #[cold]
    fn move_to(&mut self, part: &Range<u64>) -> Result<(), Error> {
        if part.start > part.end || part.end > self.file.bytes {
            let why = format!("it has no bytes {} to {}", part.start, part.end);
            return Err(self.file.damaged(why));
        }
        let end = part.end.max(part.start.saturating_add(self.ahead).min(self.file.bytes));
        self.start = part.start;
        self.file.read(part.start..end, &mut self.buffer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stored(bytes: &[u8]) -> (tempfile::TempDir, Stored) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, bytes).unwrap();
        let stored = Stored::new(File::open(&path).unwrap(), path, bytes.len() as u64).unwrap();
        (folder, stored)
    }

    proptest! {
        #[test]
        fn a_window_has_the_bytes_of_the_file_or_an_error(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            ahead in 0usize..100,
            parts in prop::collection::vec((0u64..220, 0u64..220), 1..20),
        ) {
            let (_folder, stored) = stored(&bytes);
            let mut window = stored.window(ahead);
            for (start, end) in parts {
                let expected = bytes.get(start as usize..end as usize);
                prop_assert_eq!(window.bytes(start..end).ok(), expected);
            }
            prop_assert!(window.bytes(u64::MAX - 1..u64::MAX).is_err());
            prop_assert_eq!(stored.checksum().unwrap(), crc32fast::hash(&bytes));
        }
    }

    #[test]
    fn a_file_that_becomes_shorter_is_an_error() {
        let (folder, stored) = stored(&[7; 3 * SCAN]);
        let mut window = stored.window(10);
        assert_eq!(window.bytes(5..9).unwrap(), [7; 4]);
        let file = File::options().write(true).open(folder.path().join("file")).unwrap();
        file.set_len(SCAN as u64).unwrap();
        for error in
            [window.bytes(2 * SCAN as u64..2 * SCAN as u64 + 4).unwrap_err(), stored.checksum().unwrap_err()]
        {
            assert!(matches!(&error, Error::Damaged { path, .. } if path == stored.path()), "{error}");
        }
        // Bytes that the file no longer has are not served from an earlier read.
        assert!(window.bytes(2 * SCAN as u64..2 * SCAN as u64 + 4).is_err());
        assert_eq!(window.bytes(5..9).unwrap(), [7; 4]);
    }
}
