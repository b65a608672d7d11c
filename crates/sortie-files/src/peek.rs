//! Looks at the first bytes of an open file without consuming them.

use std::fs::File;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{SeekFrom, seek};
use rustix::io::{pread, read};
use rustix::pipe::{PipeFlags, SpliceFlags, pipe_with, tee};

/// How long to wait before looking again, if a writer has sent less than was asked for.
const PATIENCE: Duration = Duration::from_millis(1);

/// The next `count` bytes of `file`, or fewer at its end. If `file` is a pipe, waits for them while `may_begin` holds for those that
/// are there. A terminal or a socket has none, because their bytes cannot be seen without being consumed.
pub fn head(file: &File, count: usize, may_begin: impl Fn(&[u8]) -> bool) -> io::Result<Vec<u8>> {
    match seek(file, SeekFrom::Current(0)) {
        Ok(_) => first(file, count),
        Err(_) => head_of_pipe(file, count, may_begin),
    }
}

/// The next `count` bytes of a file that has a position, or fewer at its end.
pub fn first(file: &File, count: usize) -> io::Result<Vec<u8>> {
    let mut first = Vec::with_capacity(count);
    Peeked::at_position_of(file)?.take(count as u64).read_to_end(&mut first)?;
    Ok(first)
}

/// Reads a file from its current position without moving that position.
pub struct Peeked<F> {
    file: F,
    at: u64,
}

impl<F: AsFd> Peeked<F> {
    /// Fails if the file is not seekable.
    pub fn at_position_of(file: F) -> io::Result<Self> {
        let at = seek(&file, SeekFrom::Current(0))?;
        Ok(Peeked { file, at })
    }
}

impl<F: AsFd> Read for Peeked<F> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = pread(&self.file, into, self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

fn head_of_pipe(file: &File, count: usize, may_begin: impl Fn(&[u8]) -> bool) -> io::Result<Vec<u8>> {
    let mut ended = false;
    loop {
        let mut seen = vec![0; count];
        let (copy, to) = pipe_with(PipeFlags::CLOEXEC)?;
        let teed = tee(file, &to, count, SpliceFlags::empty())?;
        let copied = if teed == 0 { 0 } else { read(&copy, &mut seen[..])? };
        seen.truncate(copied);
        if ended || seen.is_empty() || seen.len() == count || !may_begin(&seen) {
            return Ok(seen);
        }
        // A writer that has sent a part may send the rest, even just before it closes the pipe.
        let mut polled = [PollFd::new(file, PollFlags::IN)];
        poll(&mut polled, None)?;
        ended = polled[0].revents().contains(PollFlags::HUP);
        if !ended {
            thread::sleep(PATIENCE);
        }
    }
}
