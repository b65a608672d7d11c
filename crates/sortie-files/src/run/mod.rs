//! Runs on disk: files without a name, so that nothing is left of them however the program ends.
//!
//! The file of a run has only the sorted data. The checksums of its blocks stay in memory, where damage to the disk cannot
//! affect them. So a block that is damaged, lost or swapped with another is detected before any of it is used.

mod pages;
mod parts;
mod source;

use std::env;
use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{FallocateFlags, fallocate};

use crate::sink::Sink;
use crate::{Damaged, Error, Temporary, shortage};
pub use pages::Pages;
pub(crate) use parts::Merge;
pub use parts::{Merges, Part, Parts};
pub use source::Source;

/// The least and the most bytes of a block, which has one checksum of 4 bytes.
const BLOCK: (u64, u64) = (4 << 10, 256 << 10);
/// A memory budget has room for this many blocks, so two blocks for each of 256 runs take half of it.
const BLOCKS: u64 = 1 << 10;

/// The number of bytes of a run to read before their disk space is released.
const GIVEN_BACK: u64 = 8 << 20;
/// The maximum time for that. It takes longer on file systems that first write the data to be released, such as XFS, and
/// ext4 before Linux 6.14.
const GIVEN_BACK_WITHIN: Duration = Duration::from_millis(20);

/// The folders for runs, and the program that compresses them.
pub struct RunFolder {
    folders: Vec<PathBuf>,
    made: AtomicUsize,
    compressor: Option<PathBuf>,
    /// The bytes of a block in new runs.
    block: usize,
}

/// A sorted stretch on disk.
pub struct Run {
    file: File,
    folder: PathBuf,
    /// The number of bytes before compression.
    pub bytes: u64,
    sums: Sums,
    compressor: Option<PathBuf>,
}

impl RunFolder {
    /// For a sort with `budget` bytes of memory.
    pub fn new(temporary: &Temporary, budget: u64) -> RunFolder {
        RunFolder {
            folders: match &temporary.folders[..] {
                [] => vec![env::temp_dir()],
                given => given.to_owned(),
            },
            made: AtomicUsize::new(0),
            compressor: temporary.compress_program.clone(),
            block: (budget / BLOCKS).clamp(BLOCK.0, BLOCK.1) as usize,
        }
    }

    /// The folder of the first run and of other temporary files.
    pub fn first(&self) -> &Path {
        &self.folders[0]
    }

    /// The bytes of a block, which are best read together.
    pub fn block(&self) -> usize {
        self.block
    }

    /// The number of files that are open while a run is written, including an input that is being read.
    pub fn files_for_a_run(&self) -> usize {
        // With a program, also the pipes to it and the files that starting it needs.
        if self.compressor.is_some() { 8 } else { 2 }
    }

    /// Writes a run. `fill` receives the sink for its data.
    pub fn write(&self, fill: impl FnOnce(Sink<'_>) -> Result<(), Error>) -> Result<Run, Error> {
        let folder = &self.folders[self.made.fetch_add(1, Ordering::Relaxed) % self.folders.len()];
        let mut file =
            tempfile::tempfile_in(folder).map_err(Error::file("create a temporary file in", folder))?;
        let mut sums = Sums::of_blocks(self.block);
        let mut bytes = 0;
        match &self.compressor {
            None => fill(&mut |piece| {
                sums.add(piece)?;
                bytes += piece.len() as u64;
                file.write_all(piece).map_err(Error::file("write a temporary file in", folder))
            })?,
            Some(program) => {
                let to = file.try_clone().map_err(Error::file("write a temporary file in", folder))?;
                let mut compressor = Compressor::start(program, to)?;
                fill(&mut |piece| {
                    sums.add(piece)?;
                    bytes += piece.len() as u64;
                    compressor.write(piece)
                })?;
                compressor.finish()?;
            }
        }
        sums.end()?;
        file.rewind().map_err(Error::file("read a temporary file in", folder))?;
        Ok(Run { file, folder: folder.clone(), bytes, sums, compressor: self.compressor.clone() })
    }
}

/// The checksums of the data that is written, one for each block.
struct Sums {
    block: usize,
    /// The checksum of the current block, and the number of bytes in that block so far.
    open: crc32fast::Hasher,
    filled: usize,
    closed: Vec<u32>,
}

impl Sums {
    fn of_blocks(block: usize) -> Sums {
        Sums { block, open: crc32fast::Hasher::new(), filled: 0, closed: Vec::new() }
    }

    fn add(&mut self, mut bytes: &[u8]) -> Result<(), Error> {
        while !bytes.is_empty() {
            let (now, rest) = bytes.split_at(bytes.len().min(self.block - self.filled));
            self.open.update(now);
            self.filled += now.len();
            if self.filled == self.block {
                self.end()?;
            }
            bytes = rest;
        }
        Ok(())
    }

    /// Ends the current block, if it has begun.
    fn end(&mut self) -> Result<(), Error> {
        if self.filled > 0 {
            let more = size_of::<u32>();
            self.closed.try_reserve(1).map_err(|_| Error::Memory(more as u64))?;
            self.closed.push(std::mem::take(&mut self.open).finalize());
            self.filled = 0;
        }
        Ok(())
    }
}

impl Run {
    /// The bytes of a block, which are best read together.
    pub fn block(&self) -> usize {
        self.sums.block
    }

    /// Whether [`Run::pages`] can read the run.
    pub fn has_pages(&self) -> bool {
        self.compressor.is_none()
    }

    /// Reads the run at any position. It must not be compressed.
    pub fn pages(self) -> Pages {
        Pages {
            file: self.file,
            bytes: self.bytes,
            block: self.sums.block,
            sums: Some(self.sums.closed),
            doing: "read a temporary file in",
            name: self.folder,
        }
    }

    /// Reads the run from its start.
    pub fn read(self) -> Result<Content, Error> {
        let (source, doing, name) = match self.compressor {
            None => (Stored::File(Consumed::new(self.file)), "read a temporary file in", self.folder),
            Some(program) => {
                let source = Stored::Program(Decompressor::start(&program, self.file)?);
                (source, "decompress a temporary file with", program)
            }
        };
        let left = self.bytes;
        let Sums { block, closed, .. } = self.sums;
        let reader = Checked { source, left, block, sums: closed.into_iter(), read: Vec::new(), taken: 0 };
        Ok(Content { reader: Box::new(reader), doing, name })
    }
}

/// A reader of sorted data, with the action and the path for [`Error::file`] if a read fails.
pub struct Content {
    pub reader: Box<dyn Read + Send>,
    pub doing: &'static str,
    pub name: PathBuf,
}

/// Reads a run, and returns only data with the right checksum.
struct Checked {
    source: Stored,
    /// The number of bytes of the run that were not read yet.
    left: u64,
    block: usize,
    sums: std::vec::IntoIter<u32>,
    /// A block that did not fit in the caller's buffer, and the number of its bytes that were taken.
    read: Vec<u8>,
    taken: usize,
}

enum Stored {
    File(Consumed),
    Program(Decompressor),
}

/// A file that is read once. What was read is released, on disk and in the page cache, so that the output can use that
/// space.
struct Consumed {
    file: File,
    read: u64,
    /// The end of the part that was released. `None` if the file system cannot release it, or takes too long.
    given_back: Option<u64>,
}

impl Consumed {
    fn new(file: File) -> Consumed {
        Consumed { file, read: 0, given_back: Some(0) }
    }
}

impl Read for Consumed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(into)?;
        self.read += read as u64;
        if let Some(start) = self.given_back
            && self.read - start >= GIVEN_BACK
        {
            let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            let clock = Instant::now();
            let given_back = fallocate(&self.file, hole, start, self.read - start);
            let goes_on = given_back.is_ok() && clock.elapsed() <= GIVEN_BACK_WITHIN;
            self.given_back = goes_on.then_some(self.read);
        }
        Ok(read)
    }
}

impl Read for Checked {
    /// Reads whole blocks directly into `into` if it has room for any.
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.read.len() {
            if self.left == 0 {
                return self.source.end().map(|()| 0);
            }
            let whole = match usize::try_from(self.left) {
                Ok(left) if left <= into.len() => left,
                _ => into.len() - into.len() % self.block,
            };
            if whole > 0 {
                self.blocks(&mut into[..whole])?;
                return Ok(whole);
            }
            let length = self.left.min(self.block as u64) as usize;
            self.taken = 0;
            let mut read = std::mem::take(&mut self.read);
            read.try_reserve_exact(length.saturating_sub(read.len()))
                .map_err(|_| shortage::while_reading(length as u64))?;
            read.resize(length, 0);
            self.blocks(&mut read)?;
            self.read = read;
        }
        let rest = &self.read[self.taken..];
        let length = rest.len().min(into.len());
        into[..length].copy_from_slice(&rest[..length]);
        self.taken += length;
        Ok(length)
    }
}

impl Checked {
    /// Reads and checks the next blocks.
    fn blocks(&mut self, blocks: &mut [u8]) -> io::Result<()> {
        self.source.read_exact(blocks).map_err(|error| match error.kind() {
            io::ErrorKind::UnexpectedEof => Damaged("it is cut short").into(),
            _ => error,
        })?;
        for block in blocks.chunks(self.block) {
            if self.sums.next() != Some(crc32fast::hash(block)) {
                return Err(Damaged("the data read is not the data that was written").into());
            }
        }
        self.left -= blocks.len() as u64;
        Ok(())
    }
}

impl Stored {
    fn read_exact(&mut self, into: &mut [u8]) -> io::Result<()> {
        match self {
            Stored::File(file) => file.read_exact(into),
            Stored::Program(program) => match program.output.read_exact(into) {
                // The exit status of the program says more than that its output ended early.
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                    program.child.succeeded().and(Err(error))
                }
                read => read,
            },
        }
    }

    /// Checks that no data follows.
    fn end(&mut self) -> io::Result<()> {
        let mut more = [0];
        let read = match self {
            Stored::File(file) => file.read(&mut more)?,
            Stored::Program(program) => {
                let read = program.output.read(&mut more)?;
                if read == 0 {
                    program.child.succeeded()?;
                }
                read
            }
        };
        if read > 0 { Err(Damaged("it is longer than what was written").into()) } else { Ok(()) }
    }
}

/// A program that compresses its input into a file.
struct Compressor<'a> {
    program: &'a Path,
    child: Reaped,
    input: Option<ChildStdin>,
}

impl<'a> Compressor<'a> {
    fn start(program: &'a Path, to: File) -> Result<Self, Error> {
        let mut command = Command::new(program);
        let child = command.stdin(Stdio::piped()).stdout(to).spawn();
        let mut child = child.map_err(Error::file("start the compress program", program))?;
        let input = child.stdin.take();
        Ok(Compressor { program, child: Reaped(child), input })
    }

    fn write(&mut self, text: &[u8]) -> Result<(), Error> {
        let input = self.input.as_mut().expect("open until finished");
        // A program that has stopped reading has failed. Its exit status says more than the broken pipe.
        match input.write_all(text) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.close().and(Err(io::Error::other("it stopped reading before the end")))
            }
            written => written,
        }
        .map_err(Error::file("run the compress program", self.program))
    }

    fn finish(mut self) -> Result<(), Error> {
        self.close().map_err(Error::file("run the compress program", self.program))
    }

    fn close(&mut self) -> io::Result<()> {
        self.input = None;
        self.child.succeeded()
    }
}

/// The output of a program that decompresses a file.
struct Decompressor {
    child: Reaped,
    output: ChildStdout,
}

impl Decompressor {
    fn start(program: &Path, from: File) -> Result<Self, Error> {
        let child = Command::new(program).arg("-d").stdin(from).stdout(Stdio::piped()).spawn();
        let mut child = child.map_err(Error::file("start the compress program", program))?;
        let output = child.stdout.take().expect("its output was asked for");
        Ok(Decompressor { child: Reaped(child), output })
    }
}

/// A child process that does not outlive this value.
struct Reaped(Child);

impl Reaped {
    fn succeeded(&mut self) -> io::Result<()> {
        let status = self.0.wait()?;
        if status.success() { Ok(()) } else { Err(io::Error::other(format!("it ended with {status}"))) }
    }
}

impl Drop for Reaped {
    fn drop(&mut self) {
        // Both fail only for a child that has ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::*;

    #[test]
    fn what_was_read_is_given_back_to_the_disk() {
        let mut file = tempfile::tempfile().unwrap();
        let written: Vec<u8> = (0..3 * GIVEN_BACK).map(|i| (i / 777) as u8).collect();
        file.write_all(&written).unwrap();
        file.sync_all().unwrap();
        file.rewind().unwrap();
        let blocks = |file: &File| 512 * file.metadata().unwrap().blocks();
        let before = blocks(&file);

        let mut consumed = Consumed::new(file);
        let (first, rest) = written.split_at(2 * GIVEN_BACK as usize + 1000);
        let mut read = vec![0; first.len()];
        consumed.read_exact(&mut read[..500_000]).unwrap();
        assert_eq!(blocks(&consumed.file), before);
        consumed.read_exact(&mut read[500_000..]).unwrap();
        assert!(read == first);
        if consumed.given_back.is_none() {
            return println!("skipped: the file system cannot do that, or takes long");
        }
        assert!(before - blocks(&consumed.file) >= GIVEN_BACK, "{before}, {}", blocks(&consumed.file));
        read.clear();
        consumed.read_to_end(&mut read).unwrap();
        assert!(read == rest);
    }
}
