//! Raw arrays: elements one after another and nothing else. A file is read into one buffer of elements.

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Seek};

use bytemuck::Pod;
use rayon::prelude::*;

use crate::{Endian, Error, Kind};

/// The number of bytes that one thread reads at a time from a file.
const CHUNK_BYTES: usize = 8 << 20;
/// The initial size of the buffer if the length of the input is unknown.
const FIRST_BYTES: usize = 1 << 20;

/// A callback that receives the number of bytes just read. Any thread may call it.
pub type Note<'a> = &'a (dyn Fn(u64) + Sync);

/// A file, a pipe or another stream, read from start to end.
pub struct Input {
    source: Source,
}

enum Source {
    File {
        file: File,
        /// The position of the next byte, and the length.
        at: u64,
        len: u64,
    },
    Stream(Box<dyn Read + Send>),
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").field("remaining", &self.remaining()).finish_non_exhaustive()
    }
}

impl Input {
    /// Reads `file` from its current position.
    ///
    /// # Errors
    /// If the system cannot report the type, the length or the position of the file.
    pub fn new(mut file: File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        let source = match metadata.is_file() {
            true => Source::File { at: file.stream_position()?, len: metadata.len(), file },
            false => Source::Stream(Box::new(file)),
        };
        Ok(Input { source })
    }

    /// Reads a stream of unknown length.
    #[must_use]
    pub fn stream(stream: Box<dyn Read + Send>) -> Self {
        Input { source: Source::Stream(stream) }
    }

    /// The number of bytes still to be read, if known.
    #[must_use]
    pub fn remaining(&self) -> Option<u64> {
        match self.source {
            Source::File { at, len, .. } => Some(len.saturating_sub(at)),
            Source::Stream(_) => None,
        }
    }

    /// Reads the next bytes, as [`Read::read`] does.
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        match &mut self.source {
            Source::File { file, at, .. } => {
                let read = file.read(bytes)?;
                *at += read as u64;
                Ok(read)
            }
            Source::Stream(stream) => stream.read(bytes),
        }
    }

    /// Appends the next bytes to `head` until it holds `len`, or until the input ends. Allocates no more memory than
    /// there are bytes, because a header may claim any length.
    pub(crate) fn read_head(&mut self, head: &mut Vec<u8>, len: usize) -> io::Result<()> {
        while head.len() < len {
            let (held, wanted) = (head.len(), (len - head.len()).min(FIRST_BYTES));
            head.resize(held + wanted, 0);
            let filled = self.fill(&mut head[held..], &|_| {})?;
            head.truncate(held + filled);
            if filled < wanted {
                break;
            }
        }
        Ok(())
    }

    /// Reads the next `count` elements, which must be within [`Input::remaining`].
    pub(crate) fn read_known<T: Pod>(&self, count: usize, note: Note<'_>) -> Result<Vec<T>, Error> {
        let mut elements = zeroed(count)?;
        let (file, at) = match &self.source {
            Source::File { file, at, .. } => (file, *at),
            Source::Stream(_) => unreachable!("nothing is known of a stream"),
        };
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut elements);
        bytes.par_chunks_mut(CHUNK_BYTES).enumerate().try_for_each(|(i, chunk)| {
            read_exact_at(file, chunk, at + (i * CHUNK_BYTES) as u64).map_err(|e| match e.kind() {
                io::ErrorKind::UnexpectedEof => shorter(),
                _ => e,
            })?;
            note(chunk.len() as u64);
            Ok::<_, io::Error>(())
        })?;
        Ok(elements)
    }

    /// Fills `bytes` with the next bytes. Returns their number, which is smaller only at the end.
    pub(crate) fn fill(&mut self, bytes: &mut [u8], note: Note<'_>) -> io::Result<usize> {
        let mut filled = 0;
        while filled < bytes.len() {
            let end = bytes.len().min(filled + CHUNK_BYTES);
            match self.read(&mut bytes[filled..end]) {
                Ok(0) => break,
                Ok(read) => {
                    filled += read;
                    note(read as u64);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(filled)
    }

    /// Reads elements until the input ends or `most` bytes were read. Returns them and the number of bytes
    /// read.
    pub(crate) fn read_unknown<T: Pod>(&mut self, most: u64, note: Note<'_>) -> Result<(Vec<T>, u64), Error> {
        let mut elements: Vec<T> = Vec::new();
        let mut filled = 0;
        loop {
            if filled == size_of_val(elements.as_slice()) {
                grow(&mut elements)?;
            }
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut elements);
            let end = usize::try_from(most).map_or(bytes.len(), |most| most.min(bytes.len()));
            match self.read(&mut bytes[filled..end]) {
                Ok(0) => break,
                Ok(read) => {
                    filled += read;
                    note(read as u64);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e.into()),
            }
        }
        elements.truncate(filled / size_of::<T>());
        Ok((elements, filled as u64))
    }
}

/// The error if a file ends before its original length.
pub(crate) fn shorter() -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, "the file got shorter while it was read")
}

/// Reads all of `input` as little-endian elements of `kind`. `T` must be as wide as an element.
///
/// # Errors
/// [`Error::Uneven`] if the last element is incomplete, [`Error::Memory`], [`Error::Io`].
pub fn read<T: Pod>(input: &mut Input, kind: Kind, note: Note<'_>) -> Result<Vec<T>, Error> {
    let width = size_of::<T>();
    let uneven = |bytes| Error::Uneven { bytes, width, kind };
    let mut elements = match input.remaining() {
        Some(bytes) if !bytes.is_multiple_of(width as u64) => return Err(uneven(bytes)),
        Some(bytes) => input.read_known(elements_in(bytes, width)?, note)?,
        None => {
            let (elements, bytes) = input.read_unknown(u64::MAX, note)?;
            if !bytes.is_multiple_of(width as u64) {
                return Err(uneven(bytes));
            }
            elements
        }
    };
    reorder(&mut elements, Endian::Little);
    Ok(elements)
}

/// Converts elements from the given byte order to that of this machine, or back.
pub fn reorder<T: Pod>(elements: &mut [T], endian: Endian) {
    if endian == Endian::NATIVE {
        return;
    }
    match size_of::<T>() {
        2 => swap(bytemuck::cast_slice_mut(elements), u16::swap_bytes),
        4 => swap(bytemuck::cast_slice_mut(elements), u32::swap_bytes),
        8 => swap(bytemuck::cast_slice_mut(elements), u64::swap_bytes),
        _ => {}
    }
}

fn swap<W: Copy + Send>(words: &mut [W], swapped: impl Fn(W) -> W + Sync) {
    words
        .par_chunks_mut(CHUNK_BYTES)
        .for_each(|chunk| chunk.iter_mut().for_each(|word| *word = swapped(*word)));
}

/// The number of elements in `bytes` bytes, if it fits in a `usize`.
pub(crate) fn elements_in(bytes: u64, width: usize) -> Result<usize, Error> {
    usize::try_from(bytes / width as u64).map_err(|_| Error::Memory { bytes })
}

/// A vector of zeros, or an error if it cannot be allocated.
fn zeroed<T: Pod>(count: usize) -> Result<Vec<T>, Error> {
    bytemuck::try_zeroed_vec(count).map_err(|()| Error::Memory { bytes: (count * size_of::<T>()) as u64 })
}

/// Doubles the length of a vector.
fn grow<T: Pod>(elements: &mut Vec<T>) -> Result<(), Error> {
    let more = elements.len().max(FIRST_BYTES / size_of::<T>());
    let whole = elements.len() + more;
    elements.try_reserve_exact(more).map_err(|_| Error::Memory { bytes: (whole * size_of::<T>()) as u64 })?;
    elements.resize(whole, T::zeroed());
    Ok(())
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, at)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut bytes: &mut [u8], mut at: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, bytes, at)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            read => {
                bytes = &mut bytes[read..];
                at += read as u64;
            }
        }
    }
    Ok(())
}
