//! Runs on disk: files without a name, so that nothing is left of them however the program ends.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::cli::SortArgs;
use crate::failure::Failure;

/// Where runs go, and through which program.
pub struct RunFolder {
    folders: Vec<PathBuf>,
    made: AtomicUsize,
    compressor: Option<PathBuf>,
}

/// A sorted stretch of lines on disk.
pub struct Run {
    file: File,
    folder: PathBuf,
    /// Of text, before it was compressed.
    pub bytes: u64,
    compressor: Option<PathBuf>,
}

/// Text to be read, and what an error in it is about, as [`Failure::file`] wants it.
pub struct Text {
    pub reader: Box<dyn Read + Send>,
    pub doing: &'static str,
    pub name: PathBuf,
}

impl RunFolder {
    pub fn new(args: &SortArgs) -> RunFolder {
        RunFolder {
            folders: args.temporary_folders(),
            made: AtomicUsize::new(0),
            compressor: args.compress_program().map(Path::to_owned),
        }
    }

    /// Where the first run goes, and what else is temporary.
    pub fn first(&self) -> &Path {
        &self.folders[0]
    }

    /// How many files are open while a run is written, an input that it comes from among them.
    pub fn files_for_a_run(&self) -> usize {
        // With a program also the pipes to it, and those that starting one takes.
        if self.compressor.is_some() { 8 } else { 2 }
    }

    /// Writes a run; `fill` is given where to.
    pub fn write(
        &self,
        fill: impl FnOnce(&mut (dyn FnMut(&[u8]) -> Result<(), Failure> + Send)) -> Result<(), Failure>,
    ) -> Result<Run, Failure> {
        let folder = &self.folders[self.made.fetch_add(1, Ordering::Relaxed) % self.folders.len()];
        let mut file =
            tempfile::tempfile_in(folder).map_err(Failure::file("create a temporary file in", folder))?;
        let mut bytes = 0;
        match &self.compressor {
            None => fill(&mut |text| {
                bytes += text.len() as u64;
                file.write_all(text).map_err(Failure::file("write a temporary file in", folder))
            })?,
            Some(program) => {
                let to = file.try_clone().map_err(Failure::file("write a temporary file in", folder))?;
                let mut compressor = Compressor::start(program, to)?;
                fill(&mut |text| {
                    bytes += text.len() as u64;
                    compressor.write(text)
                })?;
                compressor.finish()?;
            }
        }
        file.rewind().map_err(Failure::file("read a temporary file in", folder))?;
        Ok(Run { file, folder: folder.clone(), bytes, compressor: self.compressor.clone() })
    }
}

impl Run {
    /// Its text, from the start.
    pub fn read(self) -> Result<Text, Failure> {
        match self.compressor {
            None => {
                Ok(Text { reader: Box::new(self.file), doing: "read a temporary file in", name: self.folder })
            }
            Some(program) => {
                let reader = Box::new(Decompressor::start(&program, self.file)?);
                Ok(Text { reader, doing: "decompress a temporary file with", name: program })
            }
        }
    }
}

/// A program that compresses what it is given into a file.
struct Compressor<'a> {
    program: &'a Path,
    child: Reaped,
    input: Option<ChildStdin>,
}

impl<'a> Compressor<'a> {
    fn start(program: &'a Path, to: File) -> Result<Self, Failure> {
        let mut command = Command::new(program);
        let child = command.stdin(Stdio::piped()).stdout(to).spawn();
        let mut child = child.map_err(Failure::file("start the compress program", program))?;
        let input = child.stdin.take();
        Ok(Compressor { program, child: Reaped(child), input })
    }

    fn write(&mut self, text: &[u8]) -> Result<(), Failure> {
        let input = self.input.as_mut().expect("open until finished");
        // A program that has stopped reading has failed; its status says more than the broken pipe.
        match input.write_all(text) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.close().and(Err(io::Error::other("it stopped reading before the end")))
            }
            written => written,
        }
        .map_err(Failure::file("run the compress program", self.program))
    }

    fn finish(mut self) -> Result<(), Failure> {
        self.close().map_err(Failure::file("run the compress program", self.program))
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
    fn start(program: &Path, from: File) -> Result<Self, Failure> {
        let child = Command::new(program).arg("-d").stdin(from).stdout(Stdio::piped()).spawn();
        let mut child = child.map_err(Failure::file("start the compress program", program))?;
        let output = child.stdout.take().expect("its output was asked for");
        Ok(Decompressor { child: Reaped(child), output })
    }
}

impl Read for Decompressor {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.output.read(into)?;
        if read == 0 && !into.is_empty() {
            self.child.succeeded()?;
        }
        Ok(read)
    }
}

/// A child that does not outlive its use.
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
