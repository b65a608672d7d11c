//! The bytes of a compressed file, and how far they have been read.

use std::io::{self, BufRead, ErrorKind, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// The number of bytes to read from the file at a time.
const BUFFER: usize = 64 << 10;
/// How far the file has been read, and why not further. Decoders hide errors of their source, or treat them as the end
/// of the data.
#[derive(Default)]
pub struct Reached {
    /// The number of bytes that decoders have consumed.
    pub taken: AtomicU64,
    pub is_cut: AtomicBool,
    /// Whether reading the file failed with an error of the system.
    pub has_failed: AtomicBool,
}

/// A buffered source that knows whether it may end at its current position.
pub struct Tap {
    source: Box<dyn Read + Send>,
    buffer: Vec<u8>,
    /// The bytes `buffer[start..end]` were read and are not consumed yet.
    start: usize,
    end: usize,
    /// Whether a member is being read, so that the file may not end here.
    pub is_within: bool,
    pub reached: Arc<Reached>,
}

impl Tap {
    /// A source at its beginning, between two members.
    ///
    /// # Errors
    /// If there is no memory for a small buffer.
    pub fn new(source: Box<dyn Read + Send>, reached: Arc<Reached>) -> io::Result<Tap> {
        let buffer = bytemuck::try_zeroed_vec(BUFFER).map_err(|()| ErrorKind::OutOfMemory)?;
        Ok(Tap { source, buffer, start: 0, end: 0, is_within: false, reached })
    }

    /// The next bytes: at least `least`, or all that are left.
    pub fn look_ahead(&mut self, least: usize) -> io::Result<&[u8]> {
        while self.end - self.start < least {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
            match self.source.read(&mut self.buffer[self.end..]) {
                Ok(0) => break,
                Ok(read) => self.end += read,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    self.reached.has_failed.store(true, Relaxed);
                    return Err(error);
                }
            }
        }
        Ok(&self.buffer[self.start..self.end])
    }

    /// Skips this number of bytes.
    pub fn skip(&mut self, mut bytes: u64) -> io::Result<()> {
        while bytes > 0 {
            let there = self.look_ahead(1)?.len() as u64;
            if there == 0 {
                let taken = self.reached.taken.load(Relaxed);
                return Err(damaged(format!(
                    "a frame without data is cut short after {taken} bytes; get the complete file"
                )));
            }
            let now = there.min(bytes);
            self.consume(now as usize);
            bytes -= now;
        }
        Ok(())
    }
}

impl BufRead for Tap {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.look_ahead(1)?.is_empty() && self.is_within {
            self.reached.is_cut.store(true, Relaxed);
            return Err(ErrorKind::UnexpectedEof.into());
        }
        Ok(&self.buffer[self.start..self.end])
    }

    fn consume(&mut self, bytes: usize) {
        self.start += bytes;
        self.reached.taken.fetch_add(bytes as u64, Relaxed);
    }
}

impl Read for Tap {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if into.is_empty() {
            return Ok(0);
        }
        let read = self.fill_buf()?.read(into)?;
        self.consume(read);
        Ok(read)
    }
}

/// The error for a file that is damaged.
pub fn damaged(why: String) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, why)
}
