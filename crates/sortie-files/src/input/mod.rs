//! The inputs of a sort: files and standard input.

pub mod binary;
mod sequence;

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use rustix::fs::{Access, FileType, access, fstat, tell};
use sortie_formats::{lines, npy};

use crate::compression::{BGZF_END, Source, Way};
use crate::memory::prefer_large_pages;
use crate::{Error, compression, peek, quote, shortage};
pub use sequence::Inputs;

/// Smaller files are read by one thread.
pub const PARALLEL_FROM: usize = 16 << 20;
/// The number of bytes that one thread reads at a time from a larger file.
const PIECE: usize = 4 << 20;

/// One input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    place: Place,
    /// Whether its bytes are sorted as they are, whatever format they have.
    as_is: bool,
    /// Whether it is decompressed if its content says that it is compressed, and may then have any bytes.
    in_blocks: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    Stdin,
    File(PathBuf),
}

impl Input {
    /// The file `path`, or standard input for `-`.
    pub fn named(path: &Path) -> Input {
        let place = if path.as_os_str() == "-" { Place::Stdin } else { Place::File(path.to_owned()) };
        Input { place, as_is: false, in_blocks: false }
    }

    pub fn stdin() -> Input {
        Input { place: Place::Stdin, as_is: false, in_blocks: false }
    }

    /// The same input, whose bytes are sorted as they are, whatever format they have.
    pub fn as_is(self) -> Input {
        Input { as_is: true, ..self }
    }

    /// The same input, which is decompressed if its content says that it is compressed, and may then have any bytes.
    pub(crate) fn in_blocks(self) -> Input {
        Input { in_blocks: true, ..self }
    }

    /// Fails if the permissions of the file do not allow reading it.
    pub fn check_access(&self) -> Result<(), Error> {
        match &self.place {
            Place::Stdin => Ok(()),
            Place::File(path) => {
                access(path, Access::READ_OK).map_err(|error| Error::file("read", path)(error.into()))
            }
        }
    }

    pub fn is_stdin(&self) -> bool {
        self.place == Place::Stdin
    }

    /// The name for messages.
    pub fn name(&self) -> &Path {
        self.place.name()
    }

    /// Opens the input. Standard input continues at its current position.
    pub fn open(&self) -> Result<File, Error> {
        self.place.open()
    }

    /// A reader of the input's raw data, decompressed if its name also says that it is compressed.
    pub fn read_raw(&self) -> Result<Box<dyn Read + Send>, Error> {
        self.raw().map(Source::into_reader)
    }

    fn raw(&self) -> Result<Source, Error> {
        let open = if self.in_blocks { Source::open } else { Source::open_raw };
        open(self.open()?, self.name())
    }

    /// A reader of the input's text, decompressed if it is compressed. Refuses an input that is not text. Regular files were
    /// examined before.
    pub fn read_text(&self) -> Result<Box<dyn Read + Send>, Error> {
        if self.in_blocks {
            return self.read_raw();
        }
        let file = self.open()?;
        if self.as_is {
            return Ok(Box::new(file));
        }
        let mut source = Source::open(file, self.name())?;
        if self.stored().is_none() {
            let head = source.first(binary::HEAD).map_err(Error::file("read", self.name()))?;
            self.refuse_binary(&head, None, source.way())?;
        }
        Ok(source.into_reader())
    }

    /// Fails if it is a regular file that is not text. If it cannot be read, the error is reported when it is read.
    pub fn examine(&self) -> Result<(), Error> {
        if self.as_is || self.stored().is_none() {
            return Ok(());
        }
        let Ok(file) = self.open() else { return Ok(()) };
        match compression::head(&file, binary::HEAD) {
            Ok((head, None)) => self.refuse_binary(&head, Some(&file), None),
            Ok((head, way)) => self.refuse_binary(&head, None, way),
            Err(_) => Ok(()),
        }
    }

    /// Fails if it is a regular file in blocks of BGZF that does not end with the empty one.
    pub(crate) fn refuse_missing_blocks(&self) -> Result<(), Error> {
        let Some(bytes) = self.stored().filter(|_| !self.is_stdin()) else { return Ok(()) };
        // An error is reported when the file is read.
        let Ok(file) = self.open() else { return Ok(()) };
        let Ok((_, Some(Way::Bgzf))) = compression::head(&file, 1) else { return Ok(()) };
        let mut last = BGZF_END;
        let start = bytes.saturating_sub(last.len() as u64);
        if file.read_exact_at(&mut last, start).is_ok() && last != BGZF_END {
            return Err(Error::invalid(format!(
                "{} does not end with the empty block that ends BGZF, so it may be cut short; if it is whole, decompress it with gzip -dc",
                quote::name(self.name())
            )));
        }
        Ok(())
    }

    /// Fails if content that begins with `head`, decompressed, is not text. `way` says how the input is compressed.
    fn refuse_binary(&self, head: &[u8], file: Option<&File>, way: Option<Way>) -> Result<(), Error> {
        if way.is_some() && npy::begins(head) {
            // A job whose only input is such an array was recognised earlier, unless that is a pipe.
            return Err(Error::invalid(format!(
                "{} is a compressed .npy array; save it as a file and sort that file alone, or decompress it",
                quote::name(self.name())
            )));
        }
        let content = binary::Content { head, file, is_bgzf: way == Some(Way::Bgzf) };
        binary::refuse(&content, self.name())
    }

    /// Whether it is a regular file that is compressed, or cannot be opened: the error is reported when it is read.
    pub fn is_compressed(&self) -> bool {
        let seen = |file: File| compression::is_compressed(&file).unwrap_or(true);
        !self.as_is && self.stored().is_some_and(|bytes| bytes > 0) && self.open().map_or(true, seen)
    }

    /// The number of bytes to read, if it is known before reading: for regular files that are not compressed.
    pub fn size(&self) -> Option<u64> {
        self.stored().filter(|_| !self.is_compressed())
    }

    /// As [`Input::size`], of raw data.
    pub fn raw_size(&self) -> Option<u64> {
        let bytes = self.stored()?;
        matches!(self.raw().ok()?, Source::File(_)).then_some(bytes)
    }

    /// Whether nothing can be read from it. Files that the system makes up, such as those in `/proc`, have no size, but have content.
    pub fn is_empty(&self) -> bool {
        self.open()
            .and_then(|file| peek::first(&file, 1).map_err(Error::file("read", self.name())))
            .is_ok_and(|first| first.is_empty())
    }

    /// The bytes that it takes on the disk, for regular files.
    pub fn stored(&self) -> Option<u64> {
        match &self.place {
            Place::Stdin => {
                let about = fstat(io::stdin()).ok()?;
                let is_file = FileType::from_raw_mode(about.st_mode).is_file();
                let at = is_file.then(|| tell(io::stdin()).ok()).flatten()?;
                Some((about.st_size as u64).saturating_sub(at))
            }
            Place::File(path) => path.metadata().ok().filter(|m| m.is_file()).map(|m| m.len()),
        }
    }

    /// Reads a whole input that is not compressed. The text ends with a terminator unless it is empty. `advance`
    /// receives the number of bytes as they are read.
    pub fn read_whole(&self, terminator: u8, advance: &(dyn Fn(u64) + Sync)) -> Result<Vec<u8>, Error> {
        let mut text = read_whole(&self.open()?, advance).map_err(Error::file("read", self.name()))?;
        lines::terminate(&mut text, terminator);
        Ok(text)
    }
}

impl Place {
    fn name(&self) -> &Path {
        match self {
            Place::Stdin => Path::new("-"),
            Place::File(path) => path,
        }
    }

    fn open(&self) -> Result<File, Error> {
        match self {
            Place::Stdin => io::stdin().as_fd().try_clone_to_owned().map(File::from),
            Place::File(path) => File::open(path),
        }
        .map_err(Error::file("read", self.name()))
    }
}

/// Reads a file from its current position to its end, with several threads if it is large.
fn read_whole(mut file: &File, advance: &(dyn Fn(u64) + Sync)) -> io::Result<Vec<u8>> {
    let metadata = file.metadata()?;
    let start = if metadata.is_file() { file.stream_position()? } else { 0 };
    let size = if metadata.is_file() { metadata.len().saturating_sub(start) as usize } else { 0 };
    let mut text = Vec::new();
    if size > 0 {
        // Reserves one byte more than the size, because only a read that returns nothing shows that the file has
        // ended. Zeroed pages cost nothing until they are touched.
        text = bytemuck::try_zeroed_vec(size + 1).map_err(|()| shortage::while_reading(size as u64))?;
        prefer_large_pages(&mut text);
    }
    if size < PARALLEL_FROM {
        let read = fill(&mut text, |rest, _| file.read(rest))?;
        text.truncate(read);
        if read <= size && size > 0 {
            return Ok(text);
        }
    } else {
        let read: Vec<usize> = text[..size]
            .par_chunks_mut(PIECE)
            .enumerate()
            .map(|(i, piece)| {
                advance(piece.len() as u64);
                let start = start + (i * PIECE) as u64;
                fill(piece, |rest, filled| file.read_at(rest, start + filled as u64))
            })
            .collect::<io::Result<_>>()?;
        // The file may have become shorter since its size was read.
        let whole = read.iter().take_while(|&&n| n == PIECE).count();
        text.truncate(whole * PIECE + read.get(whole).copied().unwrap_or(0));
        file.seek(SeekFrom::Start(start + text.len() as u64))?;
    }
    // Reads files that report no size, and data that was appended meanwhile. `take` keeps std from querying the
    // size again.
    file.take(u64::MAX).read_to_end(&mut text)?;
    Ok(text)
}

/// Fills `piece` with calls of `read`, which receives the number of bytes already filled. Stops early only at
/// the end of the file.
fn fill(piece: &mut [u8], mut read: impl FnMut(&mut [u8], usize) -> io::Result<usize>) -> io::Result<usize> {
    let mut filled = 0;
    while filled < piece.len() {
        match read(&mut piece[filled..], filled) {
            Ok(0) => break,
            Ok(n) => filled += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}
